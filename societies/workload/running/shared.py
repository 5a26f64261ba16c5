"""Which memory do the processes of a run on several devices share, and what does each compute?"""

from __future__ import annotations

import mmap
import os
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.workload.declare.protocol import Setup
from societies.workload.running.batches import OwnCopies
from societies.workload.running.engines import LOG_TICKS

LOG_AREAS = 2
"""Areas for logs, which take turns: the host may still read those of the block before."""


class SharedArrays:
    """Memory that several processes map: the logs of two blocks, and areas with a whole state each.

    An area is free again once no array in it is in use, so its arrays need not be copied. Areas are
    added to the open file as they are needed.
    """

    def __init__(self, descriptor: int, setup: Setup[Any, Any]) -> None:
        self._descriptor, self._copies = descriptor, setup.copies
        self._fields, self._sizes = setup.fields, setup.sizes
        self.logged = logged_fields(setup)
        self._starts, self._of_state = {}, 0
        for name, field in self._fields.items():
            self._starts[name] = self._of_state
            self._of_state += _aligned(setup.copies * field.nbytes(setup.sizes))
        self._of_state = _pages(self._of_state)
        self._of_logs = _pages(LOG_AREAS * self._log_bytes(self.logged))
        self._areas: dict[int, weakref.ref[mmap.mmap]] = {}
        if os.fstat(descriptor).st_size < self._of_logs:
            os.truncate(descriptor, self._of_logs)
        self._memory = mmap.mmap(descriptor, self._of_logs)

    def free_area(self) -> int:
        """Return the number of an area for a state that is not in use."""
        for number, memory in self._areas.items():
            if memory() is None:
                return number
        number = len(self._areas)
        os.truncate(self._descriptor, self._of_logs + (number + 1) * self._of_state)
        return number

    def state(self, name: str, area: int) -> NDArray[Any]:
        """Return the space for an array of the state, (copy, ...), in an area."""
        memory = self._areas[area]() if area in self._areas else None
        if memory is None:
            start = self._of_logs + area * self._of_state
            memory = mmap.mmap(self._descriptor, self._of_state, offset=start)
            self._areas[area] = weakref.ref(memory)
        field = self._fields[name]
        shape = (self._copies, *field.shape(self._sizes))
        return np.ndarray(shape, field.dtype, memory, self._starts[name])

    def log(self, name: str, area: int) -> NDArray[Any]:
        """Return the space for the log of a field in one of the areas, (tick, copy, ...)."""
        start = area * self._log_bytes(self.logged)
        start += self._log_bytes(self.logged[: self.logged.index(name)])
        field = self._fields[name]
        shape = (LOG_TICKS, self._copies, *field.shape(self._sizes))
        return np.ndarray(shape, field.dtype, self._memory, start)

    def _log_bytes(self, names: list[str]) -> int:
        each = (self._fields[name].nbytes(self._sizes) for name in names)
        return sum(_aligned(LOG_TICKS * self._copies * one) for one in each)


def logged_fields(setup: Setup[Any, Any]) -> list[str]:
    """Return the fields whose logs an engine returns."""
    fields, sizes = setup.fields, setup.sizes
    return [name for name, one in fields.items() if one.logged and one.nbytes(sizes)]


def _aligned(nbytes: int) -> int:
    return -(-nbytes // 64) * 64


def _pages(nbytes: int) -> int:
    """Return the bytes of the pages that hold ``nbytes``, at least one."""
    each = mmap.ALLOCATIONGRANULARITY
    return max(1, -(-nbytes // each)) * each


@dataclass(frozen=True)
class Order:
    """What a process is to compute.

    Attributes
    ----------
    workload, model : name of the workload, and its file if it has one
    config : bytes of the configuration, which can be read once the workload is known
    device : name of the device
    part : copies of this process
    batch : largest number of copies on the device at a time
    descriptor : open file of the shared memory
    """

    workload: str
    model: str | None
    config: bytes
    device: str
    part: OwnCopies
    batch: int
    descriptor: int
