"""What does a copy of a workload remember? Arrays, declared once, by name, in one table.

From this table come the arrays on a device, the lists of the reference, the checkpoint, what
`verify` compares and the hash of a state.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from societies.output.ranges import Within

State = dict[str, NDArray[Any]]

SERIES = "series"
"""The array, and its dimension, that holds the series of a tick."""


@dataclass(frozen=True)
class Field:
    """One array of the state; its first dimension is always the copy (society, game, plate).

    Attributes
    ----------
    dims : dimensions after the copy
    dtype : NumPy type on host and device
    unit, meaning : what the numbers are
    within : least and largest value, each a number, None or one of the names ``"agents - 1"`` (so
        for every dimension), ``"last state"`` (of a random stream, which begins at 1) and those of
        `Workload.limits`. A checkpoint with others is not resumed: give it for all that kernels
        take for indices or loop bounds
    initial : value before the first tick, or a function of the parameters that gives it: a number
        or an array that broadcasts to the shape of one copy, or has a row for each of them; copies
        after the last row begin as it does
    checkpointed : whether the array is part of a checkpoint. What one phase passes to the next
        within a tick is not; at the start of every tick its values are of no importance.
    constant : whether the array never changes after tick 0. It is no part of a checkpoint either:
        whoever resumes makes it again
    compared : whether `verify` and the golden hashes look at it; arrays that are filled in free
        order are not compared
    final : whether the file has its value after the last tick (and the steps of `finish`)
    logged : whether its value at the end of every tick is recorded: it is copied to a log on the
        device, which the host reads once for many ticks. If a kernel has a parameter ``<name>_log``
        (row, copy, ...), nothing is copied: in every tick it writes row ``log_row`` of it
    recorded : whether ``record.detail`` writes it to the file every so many ticks
    some : whether each copy has an entry that is not 0
    present : name of a field along the first dimensions of this one that is 0 where entries stand
        for nothing, such as those of a removed agent: recorded and final values of them are missing
    """

    dims: tuple[str, ...]
    dtype: str
    unit: str
    meaning: str
    within: Within | None = None
    initial: float | Callable[[Any], Any] = 0
    checkpointed: bool = True
    constant: bool = False
    compared: bool = True
    final: bool = False
    logged: bool = False
    recorded: bool = False
    some: bool = False
    present: str = ""

    @property
    def file_dtype(self) -> str:
        """NumPy type in files, where whole numbers cannot be missing."""
        return "float64" if self.present else self.dtype

    @property
    def saved(self) -> bool:
        """Whether a checkpoint holds the array."""
        return self.checkpointed and not self.constant

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the shape of one copy's array."""
        for dim in self.dims:
            if dim not in sizes:
                raise NotImplementedError(
                    f"the field '{self.meaning}' has the dimension '{dim}', of which the workload "
                    f"says no length; it has {', '.join(sizes)}"
                )
        return tuple(sizes[dim] for dim in self.dims)

    def nbytes(self, sizes: Mapping[str, int]) -> int:
        """Return the bytes of one copy's array."""
        return math.prod(self.shape(sizes)) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Series:
    """One real number per copy and tick.

    ``lag`` is 1 for what is known only a tick later: the value written at tick t is that of t - 1.
    """

    unit: str
    meaning: str
    lag: int = 0


@dataclass(frozen=True)
class Events:
    """A list of events of unknown length, which kernels append to in any order.

    Kernels get ``<name>_log`` (rows, copy, column) int32, ``<name>_count`` (copy,) uint32 and
    ``<name>_rows``, the capacity; a copy of the reference has a list ``<name>`` of rows. The host
    empties both at the start of every block of ticks.

    Attributes
    ----------
    columns : int32 numbers of a row, the first of which is the tick
    rows : most events of one copy in a tick
    """

    columns: int
    rows: int


def file_values(fields: Mapping[str, Field], name: str, state: State) -> NDArray[Any]:
    """Return an array of the state as files hold it: NaN for entries that stand for nothing.

    Parameters
    ----------
    state : with the array and the one that says which of its entries are present
    """
    values, flags = state[name], fields[name].present
    if not flags:
        return values
    present = state[flags].astype(bool)
    present = present.reshape(present.shape + (1,) * (values.ndim - present.ndim))
    return np.where(present, values.astype(np.float64), np.nan)


def initial_state(
    fields: Mapping[str, Field],
    sizes: Mapping[str, int],
    copies: int,
    parameters: Any,
    place: int = 0,
) -> State:
    """Return every array as it is before the first phase, the copy first.

    Parameters
    ----------
    place : of the first copy, in the whole ensemble
    """
    return {
        name: np.broadcast_to(value, (copies, *fields[name].shape(sizes))).copy()
        for name, value in initial_values(fields, parameters, copies, place).items()
    }


def initial_values(
    fields: Mapping[str, Field], parameters: Any, copies: int, place: int = 0
) -> State:
    """Return what each array consists of before the first phase: a number, or part of the array."""
    given = {
        name: field.initial(parameters) if callable(field.initial) else field.initial
        for name, field in fields.items()
    }
    values = {name: np.asarray(value, fields[name].dtype) for name, value in given.items()}
    return {
        name: _rows(value, copies, place) if value.ndim > len(fields[name].dims) else value
        for name, value in values.items()
    }


def _rows(of_all: NDArray[Any], copies: int, place: int) -> NDArray[Any]:
    """Return the rows of some copies; after the last row it is repeated."""
    if place + copies <= len(of_all):
        return of_all[place : place + copies]
    return of_all[np.minimum(np.arange(place, place + copies), len(of_all) - 1)]


def kept(fields: Mapping[str, Field], state: Mapping[str, NDArray[Any]]) -> State:
    """Return the part of a state that a checkpoint holds, in the order of the table."""
    return {name: state[name] for name, field in fields.items() if field.saved and name in state}


def state_hash(fields: Mapping[str, Field], state: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of the kept state: names, types, shapes and little-endian bytes."""
    hashed = hashlib.sha256()
    for name, array in kept(fields, state).items():
        hash_array(hashed, fields, name, array)
    return hashed.hexdigest()


def hash_array(hashed: Any, fields: Mapping[str, Field], name: str, array: NDArray[Any]) -> None:
    """Add an array of the state to a hash, if it is one that is kept and compared."""
    if not (fields[name].saved and fields[name].compared):
        return
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    hashed.update(f"{name} {little.dtype.str} {little.shape}\n".encode())
    hashed.update(little.reshape(-1).view(np.uint8).data)


def series_macros(series: Mapping[str, Series]) -> dict[str, int]:
    """Return ``SERIES``, how many there are, and ``SERIES_name``, the place of each, as macros."""
    return {"SERIES": len(series)} | {f"SERIES_{name}": i for i, name in enumerate(series)}
