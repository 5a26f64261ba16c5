"""Which memory do the processes of a run on several devices share, and what does each compute?"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from societies.workload.declare.protocol import Setup
from societies.workload.running.batches import OwnCopies
from societies.workload.running.engines import LOG_TICKS

LOG_AREAS = 2
"""Areas for logs, which take turns: the host may still read those of the block before."""


class SharedArrays:
    """Memory that several processes map: an array of the state, and the logs of two blocks.

    Parameters
    ----------
    descriptor : open file of at least `nbytes` bytes
    setup : Setup
    """

    def __init__(self, descriptor: int, setup: Setup[Any, Any]) -> None:
        self._copies, self._fields, self._sizes = setup.copies, setup.fields, setup.sizes
        self.logged = logged_fields(setup)
        self._memory = mmap.mmap(descriptor, nbytes_shared(setup))

    def state(self, name: str) -> NDArray[Any]:
        """Return the space for an array of the state, (copy, ...); all arrays have the same."""
        field = self._fields[name]
        return self._array(0, (self._copies, *field.shape(self._sizes)), field.dtype)

    def log(self, name: str, area: int) -> NDArray[Any]:
        """Return the space for the log of a field in one of the areas, (tick, copy, ...)."""
        field, start = self._fields[name], _state_bytes(self._fields, self._sizes, self._copies)
        start += area * self._log_bytes(self.logged)
        start += self._log_bytes(self.logged[: self.logged.index(name)])
        return self._array(start, (LOG_TICKS, self._copies, *field.shape(self._sizes)), field.dtype)

    def _log_bytes(self, names: list[str]) -> int:
        return _log_bytes(self._fields, self._sizes, self._copies, names)

    def _array(self, start: int, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        return np.ndarray(shape, dtype, self._memory, start)


def nbytes_shared(setup: Setup[Any, Any]) -> int:
    """Return the bytes of the memory that the processes of a run share."""
    of = (setup.fields, setup.sizes, setup.copies)
    return max(1, _state_bytes(*of) + LOG_AREAS * _log_bytes(*of, logged_fields(setup)))


def logged_fields(setup: Setup[Any, Any]) -> list[str]:
    """Return the fields of which an engine returns logs."""
    fields, sizes = setup.fields, setup.sizes
    return [name for name, one in fields.items() if one.logged and one.nbytes(sizes)]


def _state_bytes(fields: Mapping[str, Any], sizes: Mapping[str, int], copies: int) -> int:
    return _aligned(copies * max((one.nbytes(sizes) for one in fields.values()), default=0))


def _log_bytes(
    fields: Mapping[str, Any], sizes: Mapping[str, int], copies: int, names: list[str]
) -> int:
    return sum(_aligned(LOG_TICKS * copies * fields[name].nbytes(sizes)) for name in names)


def _aligned(nbytes: int) -> int:
    return -(-nbytes // 64) * 64


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
