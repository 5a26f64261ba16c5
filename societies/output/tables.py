"""How are events kept, of which nobody knows beforehand how many there will be?

A table is a group ``/events/<name>``: columns along the dimension ``event``, rows in the order of
their tick, which the column with the clock's name holds (``day``). It is made with room for some
rows; unused ones have values that mean "nothing". When it is full, the whole file is made anew
with a table twice as long (`societies.output.resultfile`), so that no structure of a file ever
changes and a killed process leaves an intact one. Which rows count follows from their tick, as for
everything else in the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import h5py
import numpy as np
from numpy.typing import DTypeLike, NDArray

EVENTS = "events"
EVENT = "event"


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
    dtype : signed integer or float type
    units, long_name : str
        As of a variable.
    dim : str
        A coordinate of the file, if every row has a value for each of its positions.
    meanings : tuple of str
        What the values 0, 1, ... stand for, if they are a choice; one word each.
    """

    name: str
    dtype: DTypeLike
    units: str
    long_name: str
    dim: str = ""
    meanings: tuple[str, ...] = ()

    @property
    def fill(self) -> float | int:
        """Value of unused rows: NaN, or the smallest number, below every tick."""
        dtype = np.dtype(self.dtype)
        return float("nan") if dtype.kind == "f" else int(np.iinfo(dtype).min)


@dataclass(frozen=True)
class Table:
    """Events of one kind; one of the columns has the name of the clock and holds the tick.

    Attributes
    ----------
    name : str
    columns : tuple of Column
    rows : int, for how many there is room
    in_study : whether studies keep it: it is there because somebody asked for it, and has the
        events of every copy of a launch
    """

    name: str
    columns: tuple[Column, ...]
    rows: int
    in_study: bool = field(default=False, compare=False)

    @property
    def place(self) -> str:
        """Name of the table's group in the file."""
        return f"{EVENTS}/{self.name}"

    @property
    def places(self) -> list[str]:
        """Names of the datasets in the group."""
        return [EVENT, *(column.name for column in self.columns)]

    def shape(self, column: Column, lengths: Mapping[str, int]) -> tuple[int, ...]:
        """Return the shape of a column, given the lengths of the file's dimensions."""
        return (self.rows, lengths[column.dim]) if column.dim else (self.rows,)

    def nbytes(self, lengths: Mapping[str, int]) -> int:
        """Return the bytes of all rows."""
        sizes = [
            math.prod(self.shape(column, lengths)) * np.dtype(column.dtype).itemsize
            for column in self.columns
        ]
        return sum(sizes) + 8 * self.rows

    def longer(self, rows: int) -> Table:
        """Return the table with room for so many rows: doubled as often as it takes."""
        room = max(1, self.rows)
        while room < rows:
            room *= 2
        return replace(self, rows=room)


def address(dataset: h5py.Dataset) -> int:
    """Return where in the file an object lies; asking HDF5 for its name takes much longer."""
    return int(h5py.h5o.get_info(dataset.id).addr)


def scale_names(file: h5py.File) -> dict[int, str]:
    """Return the names of the file's coordinates by their address."""
    return {
        address(item): name
        for name, item in file.items()
        if isinstance(item, h5py.Dataset) and item.is_scale
    }


def read_tables(file: h5py.File) -> dict[str, Table]:
    """Return the tables of a file by name."""
    names = scale_names(file)
    return {
        name: Table(name, tuple(_columns(group, names)), len(group[EVENT]))
        for name, group in (file[EVENTS].items() if EVENTS in file else ())
    }


def rows_until(ticks: NDArray[Any], tick: int) -> int:
    """Return how many rows are of a tick up to this one, by the column of ticks."""
    return int(np.count_nonzero((ticks >= 0) & (ticks <= tick)))


def block(table: Table, columns: Mapping[str, NDArray[Any]]) -> int:
    """Check the values of some rows, one array for each column; return how many rows these are."""
    names = {column.name for column in table.columns}
    if columns.keys() != names:
        raise ValueError(f"table '{table.name}' has columns {sorted(names)}, not {sorted(columns)}")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"table '{table.name}': columns of {sorted(lengths)} rows")
    return lengths.pop()


def _columns(group: h5py.Group, names: Mapping[int, str]) -> Iterator[Column]:
    for name, dataset in group.items():
        if dataset.is_scale:
            continue
        attributes = dataset.attrs
        dim = names[address(dataset.dims[1][0])] if dataset.ndim == 2 else ""
        meanings = tuple(str(attributes.get("flag_meanings", "")).split())
        units, long_name = attributes["units"], attributes["long_name"]
        yield Column(name, dataset.dtype, units, long_name, dim, meanings)
