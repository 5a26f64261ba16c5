"""How is a launch that may take long divided into several short ones, on any device?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from societies.lazily import np
from societies.workload.declare.phases import Slices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from societies.opencl import BoundKernel

SLICE_SECONDS = 0.2
"""Intended seconds of a slice of a long launch. If a slice takes several times as long, because its
workgroups have more work than those before, it still ends within a second."""

SLOWEST, FASTER = 5e6, 8.0
"""Units of work per second that every device achieves; and the largest factor by which the speed is
assumed to grow from slice to slice. A slice of few workgroups underestimates a GPU's speed."""


def paced(done: int, seconds: float, aim: float, most: int, *, faster: int = 4) -> int:
    """Return the amount of work for the next part, so that it takes about ``aim`` seconds.

    Parameters
    ----------
    done : amount of work that took ``seconds``
    aim : intended seconds of the next part
    most : upper limit; at least 1 is returned
    faster : the next part is at most this many times as large as the last one
    """
    return max(1, min(most, faster * done, int(done * aim / max(seconds, 1e-9))))


class Busy:
    """The workgroups of a launch that have work: of the ``each`` of a copy the first ``busy``."""

    def __init__(self, each: int, busy: NDArray[Any]) -> None:
        self._each, self._busy = each, busy
        self._ends = np.concatenate([[0], np.cumsum(busy, dtype=np.int64)])

    def before(self, group: int) -> int:
        """Return how many workgroups before this one have work."""
        copy, at = divmod(group, self._each)
        if copy == len(self._busy):
            return int(self._ends[copy])
        return int(self._ends[copy] + min(at, self._busy[copy]))

    def until(self, first: int, most: int) -> int:
        """Return the end of the slice from workgroup ``first`` on.

        At most ``most`` of its workgroups have work. The last slice includes all that remain.
        """
        wanted = self.before(first) + most
        if wanted >= self._ends[-1]:
            return self._each * len(self._busy)
        copy = int(np.searchsorted(self._ends, wanted, side="right")) - 1
        return copy * self._each + wanted - int(self._ends[copy])


class Pace:
    """Enqueues a launch in slices, and measures the device's speed to choose their size.

    Parameters
    ----------
    slices : how the launch is divided
    items : work-items per workgroup
    wait : function that waits for all launches
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
        """Launch ``size`` work-items, undivided if they take at most the time of a slice."""

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
        """Return the workgroups that have work: all of them unless `Slices.busy` is given."""
        if self._slices.busy is None:
            return Busy(groups, np.array([groups]))
        return Busy(*self._slices.busy(values, self._arrays))
