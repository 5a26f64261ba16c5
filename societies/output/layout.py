"""What does a result file hold, and where?

Every dataset gets its final size, its place in the file and its fill values when the file is made
(contiguous, allocated early). From then on only raw data change, never HDF5's own structures; so
there is no moment at which a killed process leaves a file that HDF5 cannot open, and a disk that
is too small shows at the start of a run and not on its last day.

===========================  =====================================================================
``/<coordinate>``            dimension scale, one value per index
``/<variable>``              the series, dimension scales attached
``/days_committed``          int64; days up to this one are complete
``/events/<table>``          a group: columns of events, one value or row of values for each
``/checkpoint/{0,1}``        two slots of the full state: ``day``, ``checksum``, ``state/<array>``
``/provenance/sessions``     records of fixed length, one for every process that wrote days
===========================  =====================================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
from numpy.typing import DTypeLike, NDArray

from societies.errors import OutputError
from societies.output.tables import EVENT, EVENTS, Table, read_tables

Attribute = str | int | float
StateLayout = Mapping[str, tuple[tuple[int, ...], DTypeLike]]

LAYOUT_VERSION = 1
LAYOUT_ATTRIBUTE = "societies_layout"
COMMITTED = "days_committed"
SESSIONS = "provenance/sessions"
SESSION_RECORDS, SESSION_BYTES = 64, 1024
SLOTS = ("checkpoint/0", "checkpoint/1")
NO_DAY = -1
_RESERVED = {COMMITTED, "checkpoint", "provenance", EVENTS}

# xarray takes a variable with one of these units for a duration (timedelta64) and one with
# "since" for a date. The UDUNITS symbols mean the same and are left alone.
_TIME_UNITS = {"days": "day", "hours": "h", "minutes": "min", "seconds": "s"} | {
    f"{prefix}seconds": symbol
    for prefix, symbol in (("milli", "ms"), ("micro", "us"), ("nano", "ns"))
}


@dataclass(frozen=True, eq=False)
class Coordinate:
    """One dimension and the values along it.

    Parameters
    ----------
    name : str
        Name of the dimension.
    values : (n,) int64, float64 or str
        One value per index; other integers and floats are converted.
    units, long_name : str
        What xarray and a figure's axis show. No units means a pure number, ``"1"``.
    """

    name: str
    values: NDArray[Any]
    units: str = ""
    long_name: str = ""

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if values.ndim != 1:
            raise ValueError(f"coordinate '{self.name}' must have one dimension")
        if values.dtype.kind in "iu":
            values = values.astype(np.int64)
        elif values.dtype.kind == "f":
            values = values.astype(np.float64)
        else:
            values = values.astype(np.str_)
        object.__setattr__(self, "values", values)
        _check_name(self.name)
        _check_units(self.name, self.units)


@dataclass(frozen=True)
class Variable:
    """One series of the file.

    Parameters
    ----------
    name : str
        Name in the file and in xarray.
    dims : tuple of str
        Names of coordinates, outermost first, as in ``("society", "day")``.
    dtype : integer or float type
        Type in the file.
    units, long_name : str
        What xarray and a figure's axis show. No units means a pure number, ``"1"``.
    fill : float, int or None
        Value of what is not written yet. None: NaN for floats, -1 for signed integers, the
        largest value for unsigned ones.
    """

    name: str
    dims: tuple[str, ...]
    dtype: DTypeLike
    units: str
    long_name: str
    fill: float | int | None = None

    def __post_init__(self) -> None:
        dtype = np.dtype(self.dtype)
        if dtype.kind not in "iuf":
            raise ValueError(f"variable '{self.name}' must hold integers or floats, not {dtype}")
        fill = self.fill
        if fill is None:
            fill = np.iinfo(dtype).max if dtype.kind == "u" else -1 if dtype.kind == "i" else np.nan
        object.__setattr__(self, "dims", tuple(self.dims))
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "fill", np.array(fill, dtype=dtype).item())
        _check_name(self.name)
        _check_units(self.name, self.units)


@dataclass(frozen=True)
class Layout:
    """Everything that a file declares about itself, as handed in or as read back."""

    coordinates: dict[str, Coordinate]
    variables: dict[str, Variable]
    attributes: dict[str, Attribute]
    state: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
    tables: dict[str, Table] = field(default_factory=dict)

    @property
    def lengths(self) -> dict[str, int]:
        """Lengths of the dimensions."""
        return {name: len(coordinate.values) for name, coordinate in self.coordinates.items()}

    def shape(self, variable: Variable) -> tuple[int, ...]:
        """Return the lengths of the variable's dimensions."""
        return tuple(len(self.coordinates[dim].values) for dim in variable.dims)

    @property
    def nbytes_on_disk(self) -> int:
        """Bytes that the file takes, both checkpoint slots and a margin for structures included."""
        datasets = len(self.coordinates) + len(self.variables) + len(SLOTS) * len(self.state)
        datasets += sum(1 + len(table.columns) for table in self.tables.values())
        texts = sum(len(str(item).encode()) for pair in self.attributes.items() for item in pair)
        scales = sum(
            item.values.nbytes + 64 * item.values.size for item in self.coordinates.values()
        )
        series = sum(
            math.prod(self.shape(variable)) * np.dtype(variable.dtype).itemsize
            for variable in self.variables.values()
        )
        state = sum(math.prod(shape) * dtype.itemsize for shape, dtype in self.state.values())
        structures = 65536 + 2048 * (datasets + len(self.attributes)) + 2 * texts
        records = SESSION_RECORDS * SESSION_BYTES
        events = sum(table.nbytes(self.lengths) for table in self.tables.values())
        return series + scales + events + len(SLOTS) * state + records + structures


def declare(
    coordinates: Iterable[Coordinate],
    variables: Iterable[Variable],
    attributes: Mapping[str, Attribute],
    state: StateLayout,
    tables: Iterable[Table] = (),
) -> Layout:
    """Put the parts together and check that they fit each other.

    Raises
    ------
    ValueError
        If a name is used twice or reserved, or a dimension has no coordinate.
    """
    coordinates, variables = list(coordinates), list(variables)
    names = [coordinate.name for coordinate in coordinates]
    names += [variable.name for variable in variables]
    for name in names:
        if names.count(name) > 1 or name in _RESERVED:
            raise ValueError(f"the name '{name}' is used twice or reserved")
    layout = Layout(
        {coordinate.name: coordinate for coordinate in coordinates},
        {variable.name: variable for variable in variables},
        dict(attributes),
        {name: (tuple(shape), np.dtype(dtype)) for name, (shape, dtype) in state.items()},
        {table.name: table for table in tables},
    )
    for table in layout.tables.values():
        for column in table.columns:
            _check_name(column.name)
            _check_units(column.name, column.units)
            if column.dim and column.dim not in layout.coordinates:
                raise ValueError(f"column '{column.name}': no coordinate '{column.dim}'")
    for variable in variables:
        for dim in variable.dims:
            if dim not in layout.coordinates:
                raise ValueError(f"variable '{variable.name}': no coordinate '{dim}'")
    for name, (_, dtype) in layout.state.items():
        _check_name(name)
        if dtype.kind not in "iufb":
            raise ValueError(f"state array '{name}' must hold numbers, not {dtype}")
    return layout


def build(file: h5py.File, layout: Layout) -> list[h5py.Dataset]:
    """Write all structures and fill values of ``layout`` into the empty ``file``.

    Returns
    -------
    list of h5py.Dataset
        To be kept until the file is flushed: a dataset that fails to write when it is closed
        before says nothing.
    """
    for key, value in layout.attributes.items():
        file.attrs[key] = value
    file.attrs[LAYOUT_ATTRIBUTE] = LAYOUT_VERSION
    datasets = [_reserve(file, COMMITTED, (), np.dtype(np.int64))]
    _describe(datasets[0], "day", "days complete in this file")

    for coordinate in layout.coordinates.values():
        text = coordinate.values.dtype.kind == "U"
        scale = file.create_dataset(
            coordinate.name,
            data=coordinate.values.astype(object) if text else coordinate.values,
            dtype=h5py.string_dtype() if text else None,
        )
        datasets.append(scale)
        scale.make_scale(coordinate.name)
        _describe(scale, coordinate.units, coordinate.long_name or coordinate.name)
    for variable in layout.variables.values():
        dtype = np.dtype(variable.dtype)
        dataset = _reserve(file, variable.name, layout.shape(variable), dtype, variable.fill)
        datasets.append(dataset)
        for axis, dim in enumerate(variable.dims):
            dataset.dims[axis].attach_scale(file[dim])
        _describe(dataset, variable.units, variable.long_name or variable.name)
    for table in layout.tables.values():
        datasets += _build_table(file, table, layout.lengths)

    for slot in SLOTS:
        state = file.create_group(f"{slot}/state")
        datasets.append(_reserve(file[slot], "day", (), np.dtype(np.int64), NO_DAY))
        datasets.append(_reserve(file[slot], "checksum", (), np.dtype(np.uint32)))
        for name, (shape, dtype) in layout.state.items():
            datasets.append(_reserve(state, name, shape, dtype))
    records = np.dtype(f"S{SESSION_BYTES}")
    provenance = file.create_group("provenance")
    datasets.append(_reserve(provenance, "sessions", (SESSION_RECORDS,), records))
    return datasets


def _build_table(file: h5py.File, table: Table, lengths: Mapping[str, int]) -> list[h5py.Dataset]:
    group = file.create_group(table.place)
    scale = group.create_dataset(EVENT, data=np.arange(table.rows, dtype=np.int64))
    scale.make_scale(EVENT)
    _describe(scale, "", "number of the event")
    datasets = [scale]
    for column in table.columns:
        shape, dtype = table.shape(column, lengths), np.dtype(column.dtype)
        dataset = _reserve(group, column.name, shape, dtype, column.fill)
        dataset.dims[0].attach_scale(scale)
        if column.dim:
            dataset.dims[1].attach_scale(file[column.dim])
        _describe(dataset, column.units, column.long_name)
        if column.meanings:
            dataset.attrs["flag_values"] = np.arange(len(column.meanings), dtype=dtype)
            dataset.attrs["flag_meanings"] = " ".join(column.meanings)
        datasets.append(dataset)
    return datasets


def read_layout(file: h5py.File) -> Layout:
    """Read back what :func:`build` wrote; a KeyError means that something is missing."""
    coordinates, variables = {}, {}
    for name, dataset in file.items():
        if not isinstance(dataset, h5py.Dataset) or name == COMMITTED:
            continue
        units, long_name = dataset.attrs["units"], dataset.attrs["long_name"]
        if dataset.is_scale:
            text = h5py.check_string_dtype(dataset.dtype) is not None
            values = dataset.asstr()[()] if text else dataset[()]
            coordinates[name] = Coordinate(name, values, units, long_name)
        else:
            dims = tuple(dim[0].name.removeprefix("/") for dim in dataset.dims)
            fill = dataset.fillvalue.item()
            variables[name] = Variable(name, dims, dataset.dtype, units, long_name, fill)
    attributes = {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in file.attrs.items()
        if key != LAYOUT_ATTRIBUTE
    }
    arrays = file[SLOTS[0]]["state"]
    state = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    return Layout(coordinates, variables, attributes, state, read_tables(file))


def difference(there: Layout, here: Layout) -> str | None:
    """Say in a few words what differs between two layouts, attributes aside; None if they fit."""
    for name in sorted(there.coordinates.keys() | here.coordinates.keys()):
        old, new = there.coordinates.get(name), here.coordinates.get(name)
        if old is None or new is None:
            return f"dimension '{name}' is only {'here' if old is None else 'in the file'}"
        if len(old.values) != len(new.values):
            return (
                f"dimension '{name}' has {len(old.values)} values in the file, "
                f"{len(new.values)} are asked for"
            )
        if not np.array_equal(old.values, new.values):
            return f"dimension '{name}' has other values in the file"
    series = [
        {name: (variable.dims, variable.dtype) for name, variable in layout.variables.items()}
        for layout in (there, here)
    ]
    for what, old_items, new_items in (
        ("variable", series[0], series[1]),
        ("state array", there.state, here.state),
    ):
        for name in sorted(old_items.keys() | new_items.keys()):
            if old_items.get(name) != new_items.get(name):
                return (
                    f"{what} '{name}' is {_declared(old_items.get(name))} in the file, "
                    f"{_declared(new_items.get(name))} is asked for"
                )
    return None


def require_ours(file: h5py.File, path: object) -> None:
    """Raise OutputError unless the open file is one of ours, of a layout that we know."""
    version = file.attrs.get(LAYOUT_ATTRIBUTE)
    if version is None:
        raise OutputError(f"{path}: not a result file of societies. Name a file that it wrote.")
    if version != LAYOUT_VERSION:
        raise OutputError(
            f"{path}: has file layout {version}, this version of societies knows {LAYOUT_VERSION}. "
            "Use the version of societies that wrote it."
        )


def _reserve(
    group: h5py.Group,
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    fill: float | None = None,
) -> h5py.Dataset:
    """Make a contiguous dataset; HDF5 writes its fill values (zeros) now, a buffer at a time.

    By h5py's low-level calls, as ``create_dataset`` drops the allocation time of scalars.
    """
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_layout(h5py.h5d.CONTIGUOUS)
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plan.set_fill_time(h5py.h5d.FILL_TIME_ALLOC)
    if fill is not None:
        plan.set_fill_value(np.array(fill, dtype=dtype))
    plan.set_obj_track_times(False)
    kind = h5py.h5t.py_create(dtype, logical=True)
    space = h5py.h5s.create_simple(shape) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
    return h5py.Dataset(h5py.h5d.create(group.id, name.encode(), kind, space, dcpl=plan))


def _describe(dataset: h5py.Dataset, units: str, long_name: str) -> None:
    dataset.attrs["units"] = units or "1"
    dataset.attrs["long_name"] = long_name


def _declared(item: tuple[Any, ...] | None) -> str:
    return "missing" if item is None else f"{item[1]} {item[0]}"


def _check_name(name: str) -> None:
    if not name or "/" in name or name.startswith("."):
        raise ValueError(f"'{name}' cannot be the name of a dataset")


def _check_units(name: str, units: str) -> None:
    if units in _TIME_UNITS:
        raise ValueError(
            f"'{name}': xarray would turn the unit '{units}' into durations; "
            f"write '{_TIME_UNITS[units]}'"
        )
    if " since " in units:
        raise ValueError(f"'{name}': xarray would turn the unit '{units}' into dates")
