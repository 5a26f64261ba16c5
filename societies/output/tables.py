"""How are events stored if their number is unknown when the file is made?

A table is a group ``/events/<name>``: columns along the dimension ``event``, rows in the order of
their tick, which is in the column with the clock's name (``day``). It is made with an initial
number of rows; unused rows hold fill values. When it is full, the whole file is made again with a
table twice as long (`societies.output.resultfile`). So the structure of a file never changes, and a
killed process leaves an intact file. A row is valid if its tick is committed, like everything
else in the file.
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
NONE = "missing_value"
"""Attribute (CF conventions) with the number that stands for no value."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    dtype : signed integer or float type
    units, long_name : as in a `Variable`
    dim : coordinate of the file along which every row has values; "": a row has one value
    meanings : tuple of str
        One word for each of the values 0, 1, ... if the column holds codes.
    none : a number that stands for no value, such as -1 after the last component of a recipe
    """

    name: str
    dtype: DTypeLike
    units: str
    long_name: str
    dim: str = ""
    meanings: tuple[str, ...] = ()
    none: int | None = None

    @property
    def fill(self) -> float | int:
        """Value of unused rows: `none` if set, else NaN or the least integer (below every tick)."""
        if self.none is not None:
            return self.none
        dtype = np.dtype(self.dtype)
        return float("nan") if dtype.kind == "f" else int(np.iinfo(dtype).min)


@dataclass(frozen=True)
class EventTable:
    """Events of one kind; one of the columns has the name of the clock and holds the tick.

    Attributes
    ----------
    rows : int, capacity
    in_study : whether studies record it, which needs two things: the configuration asks for the
        table, and the table has the events of every copy of a launch
    """

    name: str
    columns: tuple[Column, ...]
    rows: int
    in_study: bool = field(default=False, compare=False)

    @property
    def group(self) -> str:
        """Name of the table's group in the file."""
        return f"{EVENTS}/{self.name}"

    @property
    def datasets(self) -> list[str]:
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

    def longer(self, rows: int) -> EventTable:
        """Return the table doubled until it has room for ``rows`` rows."""
        room = max(1, self.rows)
        while room < rows:
            room *= 2
        return replace(self, rows=room)


def address(dataset: h5py.Dataset) -> int:
    """Return an object's address in the file; asking HDF5 for its name takes much longer."""
    return int(h5py.h5o.get_info(dataset.id).addr)


def scale_names(file: h5py.File) -> dict[int, str]:
    """Return the names of the file's coordinates by their address."""
    return {
        address(item): name
        for name, item in file.items()
        if isinstance(item, h5py.Dataset) and item.is_scale
    }


def read_tables(file: h5py.File) -> dict[str, EventTable]:
    """Return the tables of a file by name."""
    names = scale_names(file)
    return {
        name: EventTable(name, tuple(_columns(group, names)), len(group[EVENT]))
        for name, group in (file[EVENTS].items() if EVENTS in file else ())
    }


def rows_until(ticks: NDArray[Any], tick: int) -> int:
    """Return the number of rows with a tick up to ``tick``, given the column of ticks."""
    return int(np.count_nonzero((ticks >= 0) & (ticks <= tick)))


def count_rows(table: EventTable, columns: Mapping[str, NDArray[Any]]) -> int:
    """Return the number of new rows, given as one array for each column, after checking them."""
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
        yield Column(name, dataset.dtype, units, long_name, dim, meanings, none_of(dataset))


def none_of(dataset: h5py.Dataset) -> int | None:
    """Return the number that stands for no value in a dataset of a file, if it has one."""
    found = dataset.attrs.get(NONE)
    return None if found is None else int(found)
