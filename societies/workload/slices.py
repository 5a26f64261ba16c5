"""How does work that may take long become several short parts, on any device?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """

    parameter: str
    work: Callable[[Mapping[str, int]], float]


class Pace:
    """How fast a device does the work of a sliced launch, as far as it was seen.

    Parameters
    ----------
    slices : how the launch is divided
    items : work-items of a workgroup
    wait : returns when everything asked for is done
    """

    def __init__(self, slices: Slices, items: int, wait: Callable[[], None]) -> None:
        self._slices, self._items, self._wait = slices, items, wait
        self._rate = SLOWEST

    def launch(
        self,
        kernel: BoundKernel,
        size: int,
        changed: Mapping[str, int],
        values: Mapping[str, int],
    ) -> None:
        """Launch so many work-items, at once if they take less than a slice is to take."""
        groups, first = size // self._items, 0
        work = max(1.0, self._slices.work(values))
        many = groups * work > self._rate * SLICE_SECONDS
        if many:
            self._wait()
        while first < groups:
            now = min(groups - first, max(1, int(self._rate * SLICE_SECONDS / work)))
            began = time.perf_counter()
            arguments = {**changed, self._slices.parameter: first}
            kernel.launch(global_size=(now * self._items,), **arguments)
            first += now
            if many:
                self._wait()
                seconds = max(time.perf_counter() - began, 1e-9)
                self._rate = min(FASTER * self._rate, now * work / seconds)
