"""Which arrays are the state of a copy? Each is declared once, in a table of fields by name.

The arrays on a device, the lists of the reference, checkpoints, the comparisons of `verify` and the
hash of a state follow from this table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from societies.lazily import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from societies.output.ranges import Within

State = dict[str, "NDArray[Any]"]

SERIES = "series"
"""Name of the array that holds the series of a tick, and of its dimension."""


@dataclass(frozen=True)
class Field:
    """One array of the state; its first dimension is always the copy (society, game, plate).

    Attributes
    ----------
    dims : dimensions after the copy
    dtype : NumPy type on host and device
    unit, meaning : unit and description of the numbers
    within : least and largest value: each a number, None, or one of the names ``"agents - 1"`` (the
        same for every dimension), ``"last state"`` (of a random stream, which begins at 1) and
        those of `Workload.limits`. A checkpoint with other values is not resumed. Required for all
        numbers that kernels use as indices or loop bounds
    initial : value before the first tick, or a function of the parameters that returns it: a number
        or an array that broadcasts to the shape of one copy, or has a row for each copy; the last
        row is repeated for further copies
    checkpointed : whether checkpoints contain the array. False for arrays that pass values between
        phases of a tick and whose values at the start of a tick do not matter
    constant : whether the array never changes after tick 0. Then checkpoints do not contain it
        either: it is computed again when a run is resumed
    compared : whether `verify` compares it and hashes include it; False for arrays that kernels
        fill in an undefined order
    final : whether the file has its value after the last tick (and the steps of `finish`)
    logged : whether its value at the end of every tick is recorded: it is copied to a log on the
        device, which the host reads once for many ticks. If a kernel has a parameter ``<name>_log``
        (row, copy, ...), it writes row ``log_row`` itself in every tick, and nothing is copied
    recorded : whether the file has its value every ``record.detail`` ticks
    some : whether every copy must have an entry that is not 0
    present : name of a field along the first dimensions of this one that is 0, or its ``none``, for
        entries without meaning, such as those of a removed agent: their recorded and final values
        are missing
    none : number that stands for no value, such as -1 for no agent; files declare it, so that
        readers take it for missing
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
    none: int | None = None

    @property
    def file_dtype(self) -> str:
        """NumPy type in files: float64 if values may be missing, which integers cannot express."""
        return "float64" if self.present else self.dtype

    @property
    def file_none(self) -> int | None:
        """Number that stands for no value in files; None if NaN does."""
        return None if self.present else self.none

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
    """Real numbers that are recorded for every copy and tick.

    Attributes
    ----------
    unit, meaning : unit and description of the numbers
    dims : dimensions after the copy and tick; none: one number
    lag : 1 if the value is known only a tick later: tick t then writes the value of t - 1
    log : logged array that holds the numbers of several series, one series after another
    """

    unit: str
    meaning: str
    dims: tuple[str, ...] = ()
    lag: int = 0
    log: str = SERIES


@dataclass(frozen=True)
class Events:
    """A list of events of unknown length, in the order in which they are appended.

    Kernels get ``<name>_log`` (rows, copy, column) int32, ``<name>_count`` (copy,) uint32 and
    ``<name>_rows``, the capacity; a copy of the reference has a list ``<name>`` with the method
    ``append``, which takes a tuple. The host empties both at the start of every block of ticks.

    Attributes
    ----------
    columns : number of int32 columns; the first one is the tick
    rows : largest number of events of one copy in a tick; more are an error
    named : unit and meaning of every further column by its name, in order, as files have them;
        empty: ``column_1`` and so on
    """

    columns: int
    rows: int
    named: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def further(self) -> Mapping[str, tuple[str, str]]:
        """Unit and meaning of every column after the tick, by name."""
        unnamed = {f"column_{i}": ("", f"number {i} of a row") for i in range(1, self.columns)}
        return self.named or unnamed


def series_columns(
    series: Mapping[str, Series], entries: Mapping[str, Sequence[object]], log: str = SERIES
) -> dict[str, list[str]]:
    """Return the names of the columns of the array ``log`` that each of its series has.

    A series without dimensions has one column of its name; otherwise ``NAME_ENTRY`` stands for each
    entry of its dimensions.
    """
    return {
        name: ["_".join(map(str, (name, *of))) for of in product(*(entries[d] for d in one.dims))]
        for name, one in series.items()
        if one.log == log
    }


def series_macros(columns: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the macros ``SERIES``, number of columns, and ``SERIES_name``, index of each."""
    names = [*chain.from_iterable(columns.values())]
    return {"SERIES": len(names)} | {f"SERIES_{name}": i for i, name in enumerate(names)}
