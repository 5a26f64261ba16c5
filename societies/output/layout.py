"""What does a result file hold, and at which paths?

Every dataset gets its final size, its position in the file and its fill values when the file is
made (contiguous, allocated early). From then on only raw data change, never HDF5's own structures.
So a process that is killed at any moment leaves a file that HDF5 can open, and a disk that is too
small is noticed at the start of a run and not at its end.

A file counts in *ticks*, which its attribute ``clock`` names (``day``), and holds several *copies*
of what is simulated, which its attribute ``copies`` names (``society``).

===========================  =====================================================================
``/<coordinate>``            dimension scale, one value per index; or values along other dimensions,
                             which the attribute ``coordinates`` names
``/<variable>``              the series, dimension scales attached
``/ticks_committed``         int64; ticks up to this one are complete
``/events/<table>``          a group: columns of events, one value or row of values for each
``/checkpoint/<n>``          slots of the full state: ``tick``, ``checksum``, ``state/<array>``
``/checksums/...``           checksums of committed data (`societies.output.checksums`)
``/provenance/sessions``     records of fixed length, one for every process that wrote ticks
``/provenance/ended``        a record that says why there are no more ticks, if a run ended early
``/provenance/seal/{0,1}``   checksums of all bytes that never change; positions of all others
===========================  =====================================================================

The reasons for this format: docs/design/file-format.md.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
from numpy.typing import DTypeLike, NDArray

from societies.errors import OutputError, option, shortened
from societies.output.tables import EVENTS, EventTable

A_STUDY = "is a study of `societies sweep`. Name the result of a run."
OTHER_VERSION = ". Use the version of societies that wrote it."
"""Parts of messages that the files of runs and of studies share."""

Attribute = str | int | float
StateLayout = Mapping[str, tuple[tuple[int, ...], DTypeLike]]

LAYOUT_VERSION = 3
SEALED = (2, 3)
"""Layouts with seals, which can be continued."""
LAYOUT_ATTRIBUTE, STUDY_ATTRIBUTE = "societies_layout", "societies_study"
CLOCK, COPIES, TICKS = "clock", "copies", "ticks"
COMMITTED = {1: "days_committed", 2: "ticks_committed", 3: "ticks_committed"}
"""Name of the counter of complete ticks by version of the layout."""
COUNTER = COMMITTED[LAYOUT_VERSION]
SESSIONS, ENDED = "provenance/sessions", "provenance/ended"
SESSION_RECORDS, SESSION_BYTES = 64, 1024
FILL = "_FillValue"
SEALS = ("provenance/seal/0", "provenance/seal/1")
CHECKSUMS = "checksums"
COMMITS = f"{CHECKSUMS}/commits"
NO_TICK = -1
RESERVED = {COUNTER, "checkpoint", "provenance", EVENTS, CHECKSUMS}
FURTHER = "coordinates"
"""Attribute that names, for xarray, the coordinates that are not dimensions themselves."""
RESERVED_ATTRIBUTES = {LAYOUT_ATTRIBUTE, CLOCK, COPIES, TICKS, FURTHER}

# xarray takes a variable with one of these units for a duration (timedelta64) and one with
# "since" for a date. The UDUNITS symbols mean the same and are left alone.
_TIME_UNITS = {"days": "day", "hours": "h", "minutes": "min", "seconds": "s"} | {
    f"{prefix}seconds": symbol
    for prefix, symbol in (("milli", "ms"), ("micro", "us"), ("nano", "ns"))
}


def nothing(dtype: DTypeLike) -> float | int:
    """Return the value of a type that means "not written"."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return float("nan")
    return int(np.iinfo(dtype).max if dtype.kind == "u" else np.iinfo(dtype).min)


@dataclass(frozen=True, eq=False)
class Coordinate:
    """One dimension and the values along it, or further values along dimensions.

    Parameters
    ----------
    name : name of the dimension
    values : (n,) int64, uint64, float64 or str
        One value per index; integers are int64 unless their type has larger ones.
    units, long_name : str
        What xarray and a figure's axis show. No units means a pure number, ``"1"``.
    along : dimensions of the values, if they do not make a dimension themselves
    """

    name: str
    values: NDArray[Any]
    units: str = ""
    long_name: str = ""
    along: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if values.ndim != max(1, len(self.along)):
            raise ValueError(f"coordinate '{self.name}' must have one dimension")
        if values.dtype == np.uint64:
            pass
        elif values.dtype.kind in "iu":
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
    name : name in the file and in xarray
    dims : names of coordinates, outermost first, as in ``("society", "day")``
    dtype : type in the file
    units, long_name : str
        What xarray and a figure's axis show. No units means a pure number, ``"1"``.
    fill : float, int or None
        Value that means "not written yet" or "no value". None: NaN for floats, the smallest value
        for signed integers, the largest for unsigned ones. Integers declare it as ``_FillValue``,
        so that xarray shows NaN; bytes declare it only in variables along the clock.
    lag : number of ticks after which the value of a tick is known (0: at the same tick)
    none : int, optional
        A number that stands for no value, such as -1 for no agent. It is the fill value as well,
        and the attribute ``missing_value`` (CF conventions).
    """

    name: str
    dims: tuple[str, ...]
    dtype: DTypeLike
    units: str
    long_name: str
    fill: float | int | None = None
    lag: int = 0
    none: int | None = None

    def __post_init__(self) -> None:
        dtype = np.dtype(self.dtype)
        if dtype.kind not in "iuf":
            raise ValueError(f"variable '{self.name}' must hold integers or floats, not {dtype}")
        fill = self.fill if self.none is None else self.none
        fill = nothing(dtype) if fill is None else fill
        object.__setattr__(self, "dims", tuple(self.dims))
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "fill", np.array(fill, dtype=dtype).item())
        _check_name(self.name)
        _check_units(self.name, self.units)


@dataclass(frozen=True)
class Layout:
    """Everything that a file declares about itself, for making it or read back from it.

    Attributes
    ----------
    clock, copies : names of a tick and of a replicate: day, society
    ticks : number of the last tick of a complete file
    slots : number of checkpoints
    version : of the file's layout
    """

    coordinates: dict[str, Coordinate]
    variables: dict[str, Variable]
    attributes: dict[str, Attribute]
    state: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
    tables: dict[str, EventTable] = field(default_factory=dict)
    clock: str = "day"
    copies: str = "society"
    ticks: int = 0
    slots: int = 2
    version: int = LAYOUT_VERSION

    @property
    def salt(self) -> int | None:
        """What all checksums of the file begin with: other values for other runs.

        It depends on the configuration and the coordinates alone, so it stays the same if the file
        is made again, and an interrupted run has that of a straight one.
        """
        if self.version < 3:
            return None
        value = zlib.crc32(str(self.attributes.get("configuration", "")).encode())
        for name, one in sorted(self.coordinates.items()):
            text = one.values.dtype.kind == "U"
            content = "\0".join(one.values).encode() if text else one.values.tobytes()
            value = zlib.crc32(content, zlib.crc32(name.encode(), value))
        return value

    @property
    def lengths(self) -> dict[str, int]:
        """Lengths of the dimensions."""
        return {name: len(one.values) for name, one in self.coordinates.items() if not one.along}

    @property
    def further(self) -> list[Coordinate]:
        """Coordinates that are not dimensions themselves."""
        return [one for one in self.coordinates.values() if one.along]

    def shape(self, variable: Variable) -> tuple[int, ...]:
        """Return the lengths of the variable's dimensions."""
        return tuple(len(self.coordinates[dim].values) for dim in variable.dims)

    def axis(self, variable: Variable) -> int | None:
        """Return the index of a variable's dimension along the clock, None if it has none."""
        axes = [i for i, dim in enumerate(variable.dims) if is_clock(dim, self.clock)]
        return axes[0] if axes else None

    @property
    def state_nbytes(self) -> int:
        """Bytes of the arrays of a checkpoint."""
        return sum(math.prod(shape) * dtype.itemsize for shape, dtype in self.state.values())

    @property
    def checksums(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the checksums: one per row along the clock or per event, else a pair."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name, variable in self.variables.items():
            axis = self.axis(variable)
            shapes[name] = (2,) if axis is None else (self.shape(variable)[axis],)
        return shapes | {table.group: (table.rows,) for table in self.tables.values()}

    @property
    def nbytes_on_disk(self) -> int:
        """Size of the file in bytes, with all checkpoints and a margin for HDF5's structures."""
        texts = sum(len(str(item).encode()) for pair in self.attributes.items() for item in pair)
        scales = sum(
            item.values.nbytes + 64 * item.values.size for item in self.coordinates.values()
        )
        series = sum(
            math.prod(self.shape(variable)) * np.dtype(variable.dtype).itemsize
            for variable in self.variables.values()
        )
        sums = sum(4 * math.prod(shape) for shape in self.checksums.values())
        structures = 65536 + 2048 * (len(self._places()) + len(self.attributes)) + 2 * texts
        records = (SESSION_RECORDS + 1) * SESSION_BYTES
        events = sum(table.nbytes(self.lengths) for table in self.tables.values())
        data = series + scales + events + self.slots * self.state_nbytes + sums
        return data + records + structures + 2 * self.seal_bytes

    @property
    def seal_bytes(self) -> int:
        """Bytes reserved for each of the two seals, which hold compressed names and numbers."""
        texts = sum(min(len(str(item).encode()), 1200) for item in self.attributes.values())
        texts += sum(64 + len(place.encode()) for place in self._places())
        return 4096 + texts + sum(16 + len(key.encode()) for key in self.attributes)

    def _places(self) -> list[str]:
        """Return the names of all datasets whose number varies; the margin covers the others."""
        state = [
            f"checkpoint/{slot}/state/{name}" for slot in range(self.slots) for name in self.state
        ]
        columns = [f"{t.group}/{name}" for t in self.tables.values() for name in t.datasets]
        sums = [f"{CHECKSUMS}/{name}" for name in self.checksums]
        return [*self.coordinates, *self.variables, *state, *columns, *sums]


def is_clock(dim: str, clock: str) -> bool:
    """Whether the positions of a dimension are ticks: ``day``, ``agent_day``."""
    return dim == clock or dim.endswith(f"_{clock}")


def is_open_ended(coordinates: Iterable[str], tables: Collection[str], clock: str) -> bool:
    """Whether only the tables of a file have ticks, so that its last tick is just a bound."""
    return bool(tables) and not any(is_clock(name, clock) for name in coordinates)


def declare(
    coordinates: Iterable[Coordinate],
    variables: Iterable[Variable],
    attributes: Mapping[str, Attribute],
    state: StateLayout,
    tables: Iterable[EventTable] = (),
    *,
    clock: str = "day",
    copies: str = "society",
    ticks: int | None = None,
    slots: int = 2,
) -> Layout:
    """Return the layout of a file with these parts, after checking that they fit each other.

    Raises ValueError if a name is used twice or reserved, or a dimension has no coordinate.

    Parameters
    ----------
    coordinates, variables : the dimensions of the variables are the coordinates
    attributes : attributes of the file (of the dataset, in xarray)
    state : shape and type of each array of a checkpoint
    tables : tables of events; each has a column named by the clock
    clock, copies : what a tick and a replicate are called: day, society. Dimensions named by the
        clock, or ending in it (``agent_day``), hold ticks
    ticks : last tick of the complete file; default: the last value of the clock's coordinate
    slots : number of checkpoints that the file holds; 0: a run can only start again from tick 0
    """
    coordinates, variables = list(coordinates), list(variables)
    names = [one.name for one in coordinates] + [one.name for one in variables]
    for name in names:
        if names.count(name) > 1 or name in RESERVED:
            raise ValueError(f"the name '{name}' is used twice or reserved")
    if clock in ("tick", "checksum"):  # a checkpoint's datasets: xarray would take them for ticks
        raise ValueError(f"the name '{clock}' of a clock is reserved")
    for name in attributes:
        if name in RESERVED_ATTRIBUTES:
            raise ValueError(f"the name '{name}' of an attribute is reserved")
    if ticks is None:
        last = [one.values[-1:].tolist() for one in coordinates if one.name == clock]
        ticks = int(last[0][0]) if last and last[0] else 0
    layout = Layout(
        {coordinate.name: coordinate for coordinate in coordinates},
        {variable.name: variable for variable in variables},
        dict(attributes),
        {name: (tuple(shape), np.dtype(dtype)) for name, (shape, dtype) in state.items()},
        {table.name: table for table in tables},
        clock,
        copies,
        ticks,
        slots,
    )
    for table in layout.tables.values():
        if clock not in (column.name for column in table.columns):
            raise ValueError(f"table '{table.name}' needs a column '{clock}'")
        for column in table.columns:
            _check_name(column.name)
            _check_units(column.name, column.units)
            if column.dim and column.dim not in layout.coordinates:
                raise ValueError(f"column '{column.name}': no coordinate '{column.dim}'")
    for coordinate in coordinates:
        if is_clock(coordinate.name, clock) and coordinate.values.dtype.kind != "i":
            raise ValueError(f"coordinate '{coordinate.name}' must hold ticks, whole numbers")
    for variable in variables:
        for dim in variable.dims:
            if dim not in layout.coordinates:
                raise ValueError(f"variable '{variable.name}': no coordinate '{dim}'")
    for coordinate in layout.further:
        lengths = tuple(layout.lengths.get(dim, -1) for dim in coordinate.along)
        if coordinate.values.shape != lengths:
            raise ValueError(f"coordinate '{coordinate.name}' does not fit {coordinate.along}")
        if any(char.isspace() for char in coordinate.name):
            raise ValueError(f"coordinate '{coordinate.name}': a list of names has spaces")
    for name, (_, dtype) in layout.state.items():
        _check_name(name)
        if dtype.kind not in "iufb":
            raise ValueError(f"state array '{name}' must hold numbers, not {dtype}")
    return layout


def require_ours(file: h5py.File, path: object, *known: int) -> int:
    """Return the layout of an open file.

    Raises OutputError if it is no result file, or of a layout that is unknown (or not in
    ``known``).
    """
    version = file.attrs.get(LAYOUT_ATTRIBUTE)
    if version is None:
        if STUDY_ATTRIBUTE in file.attrs:
            raise OutputError(f"{path}: {A_STUDY}")
        if "definition_sha256" in file.attrs:
            raise OutputError(
                f"{path}: is the file of a calibration, not the result of a run. "
                "`societies info` describes it, `societies calibrate` continues and draws it."
            )
        raise OutputError(
            f"{path}: not a result file of societies. Name a file that `societies run` or "
            "`societies sweep` wrote."
        )
    if isinstance(version, np.ndarray):  # as most programs write a number
        raise OutputError(
            f"{path}: is a copy that another program made, not the file that societies wrote. "
            "Name the original."
        )
    if not isinstance(version, int | np.integer) or int(version) not in COMMITTED:
        raise OutputError(
            f"{path}: has file layout {shortened(str(version))}, this version of societies knows "
            f"{LAYOUT_VERSION}{OTHER_VERSION}"
        )
    if known and version not in known:
        raise OutputError(
            f"{path}: has file layout {version}, which can be read but not continued.\n"
            "Continue it with the version of societies that wrote it, or run it again under "
            f"another name ({option('out')})."
        )
    return int(version)


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
