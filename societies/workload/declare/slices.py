"""How does work that may take long become several short parts, on any device?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from societies.opencl import BoundKernel

SLICE_SECONDS = 0.2
"""Seconds that a slice of a long launch is to take. One that turns out to be several times as
long, because its workgroups have more to do than those before, still ends within a second."""

SLOWEST, FASTER = 5e6, 8.0
"""Units of work a second that any device does, and how much faster than the slice before the next
one is taken to be at most: a few workgroups do not keep a GPU busy, and say little of many."""


def paced(done: int, seconds: float, aim: float, most: int, *, faster: int = 4) -> int:
    """Return how much to do next, so that it takes about as long as it should.

    Parameters
    ----------
    done : how much took ``seconds``
    aim : seconds that the next part is to take
    most : upper limit; at least 1 is returned
    faster : how many times as much as the last part the next one is at most
    """
    return max(1, min(most, faster * done, int(done * aim / max(seconds, 1e-9))))


@dataclass(frozen=True)
class Slices:
    """How a launch that may take long becomes several, each of some of its workgroups.

    Displays freeze, and drivers give up, where a launch takes seconds. How many workgroups a slice
    has follows from the time that those before took on this device; the results do not depend on
    it.

    Attributes
    ----------
    parameter : name of the kernel's parameter that gets the number of the slice's first workgroup
    work : most work of a workgroup, from the step's arguments, in units of which every device does
        `SLOWEST` a second
    busy : where many workgroups may find nothing to do: from the step's arguments and the arrays
        of the state on the device, how many workgroups each copy has, and how many of these, from
        the first on, have something; (copy,). It is asked only of launches that are divided. Speed
        is then measured, and slices are cut, by these alone: a slice of idle workgroups would say
        that the device is fast, and the next one would take too long.
    """

    parameter: str
    work: Callable[[Mapping[str, int]], float]
    busy: Callable[[Mapping[str, int], Mapping[str, Any]], tuple[int, NDArray[Any]]] | None = None


class Busy:
    """Which workgroups of a launch have something to do: of each copy the first few.

    Parameters
    ----------
    each : workgroups of a copy
    busy : how many of them have something to do; (copy,)
    """

    def __init__(self, each: int, busy: NDArray[Any]) -> None:
        self._each, self._busy = each, busy
        self._ends = np.concatenate([[0], np.cumsum(busy, dtype=np.int64)])

    def before(self, group: int) -> int:
        """Return how many workgroups before this one have something to do."""
        copy, at = divmod(group, self._each)
        if copy == len(self._busy):
            return int(self._ends[copy])
        return int(self._ends[copy] + min(at, self._busy[copy]))

    def until(self, first: int, most: int) -> int:
        """Return where a slice from a workgroup on ends that has at most so many, idle ones aside.

        The last slice has all that are left.
        """
        wanted = self.before(first) + most
        if wanted >= self._ends[-1]:
            return self._each * len(self._busy)
        copy = int(np.searchsorted(self._ends, wanted, side="right")) - 1
        return copy * self._each + wanted - int(self._ends[copy])


class Pace:
    """How fast a device does the work of a sliced launch, as far as it was seen.

    Parameters
    ----------
    slices : how the launch is divided
    items : work-items of a workgroup
    wait : returns when everything asked for is done
    arrays : the state on the device, by name
    """

    def __init__(
        self,
        slices: Slices,
        items: int,
        wait: Callable[[], None],
        arrays: Mapping[str, Any],
    ) -> None:
        self._slices, self._items, self._wait, self._arrays = slices, items, wait, arrays
        self._rate = SLOWEST

    def launch(
        self,
        kernel: BoundKernel,
        size: int,
        changed: Mapping[str, int],
        values: Mapping[str, int],
    ) -> None:
        """Launch so many work-items, at once if they take less than a slice is to take."""

        def launch(first: int, until: int) -> None:
            arguments = {**changed, self._slices.parameter: first}
            kernel.launch(global_size=((until - first) * self._items,), **arguments)

        groups, first = size // self._items, 0
        work = max(1.0, self._slices.work(values))
        if groups * work <= self._rate * SLICE_SECONDS:
            launch(0, groups)
            return
        self._wait()
        busy = self._busy(groups, values)
        while first < groups:
            until = busy.until(first, max(1, int(self._rate * SLICE_SECONDS / work)))
            began = time.perf_counter()
            launch(first, until)
            self._wait()
            seconds = max(time.perf_counter() - began, 1e-9)
            done, first = busy.before(until) - busy.before(first), until
            if done:
                self._rate = min(FASTER * self._rate, done * work / seconds)

    def _busy(self, groups: int, values: Mapping[str, int]) -> Busy:
        """Return which workgroups have something to do: all, if it is not said."""
        if self._slices.busy is None:
            return Busy(groups, np.array([groups]))
        return Busy(*self._slices.busy(values, self._arrays))
