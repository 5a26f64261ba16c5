"""What does the file of a study hold, and how is it built and read back?

A study is one HDF5 file with the dimension ``run``. Like the file of a single run, it is made with
its final structure and size, and from then on only raw data change. Everything that is final from
the start (names, attributes, coordinates, points, definition) is sealed (`societies.output.seal`).
Values that a sweep writes have one checksum per run (`societies.output.study_checks`).

===========================  =====================================================================
``/run``                     numbers of the runs
``/point``, ``/replicate``   what a run is; further coordinates are the keys that vary
``/status``                  int8: 0 pending, 1 done, 2 failed
``/error``, ``/wall_time``   why a run failed, in UTF-8; seconds that it took
``/<variable>``              the results, the run first
``/events/<table>``          a group: columns of events, with the number of the run of each
``/study/events/<table>``    int64 (run, 2): first row and number of rows of each run in the table
``/study/checksum``          uint32 of each run: CRC-32 of its number, its wall time, its error, its
                             part of all variables, by name, its rows of all tables, and its status;
                             of a pending run: of its number and its status
``/study/points``            the points as JSON, UTF-8 bytes
``/study/definition``        what the sweep is, as JSON, UTF-8 bytes
``/provenance/seal/{0,1}``   checksums of all that never changes, and the places of all that does
===========================  =====================================================================
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from societies.output.building import (
    along_dimension,
    build_table,
    build_variable,
    describe,
    read_coordinate,
    read_variable,
    reserve,
)
from societies.output.disk import Extent
from societies.output.files import READING, explained
from societies.output.layout import (
    SEALED,
    SEALS,
    STUDY_ATTRIBUTE,
    Coordinate,
    Variable,
    nothing,
)
from societies.output.tables import EVENT, EventTable, read_tables
from societies.output.trust import opened

STUDY_VERSION = SEALED[-1]
PENDING, DONE, FAILED = 0, 1, 2
STATES = ("pending", "done", "failed")
RUN, STATUS, ERROR, WALL_TIME = "run", "status", "error", "wall_time"
CHECKSUM, POINTS, DEFINITION = "study/checksum", "study/points", "study/definition"
PLACES = "study/events/{}"
"""Name of the array with the rows of a table that hold the events of each run."""
ERROR_BYTES = 240
OWN = (RUN, "point", "replicate", "seed", STATUS, ERROR, WALL_TIME)
"""Names that no other coordinate or variable may have."""

Attribute = str | int | float


@dataclass(frozen=True, eq=False)
class StudyLayout:
    """What a study holds.

    Attributes
    ----------
    runs : (run,) int64, numbers of the runs
    along : coordinates along the runs
    coordinates : of the other dimensions
    variables : without the dimension ``run``, which is their first
    points : of the whole study, as plain data
    definition : of the sweep, as plain data
    attributes : of the file
    tables : of events, each with a column ``run``
    """

    runs: NDArray[np.int64]
    along: Sequence[Coordinate]
    coordinates: Mapping[str, Coordinate]
    variables: Mapping[str, Variable]
    points: Sequence[Mapping[str, Any]]
    definition: Any
    attributes: Mapping[str, Attribute]
    tables: Mapping[str, EventTable] = field(default_factory=dict)

    def shape(self, variable: Variable) -> tuple[int, ...]:
        """Return the lengths of a variable's dimensions, without the runs."""
        return tuple(len(self.coordinates[dim].values) for dim in variable.dims)

    @property
    def salt(self) -> int:
        """What all checksums of the study begin with: other values for other sweeps."""
        return zlib.crc32(json.dumps(self.definition, sort_keys=True).encode())

    @property
    def lengths(self) -> dict[str, int]:
        """Length of every dimension but the runs."""
        return {dim: len(one.values) for dim, one in self.coordinates.items()}

    @property
    def nbytes(self) -> int:
        """Size of the file in bytes, with a margin for HDF5's structures."""
        cells = sum(
            int(np.prod(self.shape(one), dtype=np.int64)) * np.dtype(one.dtype).itemsize
            for one in self.variables.values()
        )
        words = sum(24 + one.values.dtype.itemsize for one in self.along)
        points = len(json.dumps(list(self.points))) + len(json.dumps(self.definition))
        each = cells + words + ERROR_BYTES + 8 + 8 + 1 + 4 + 16 * len(self.tables)
        events = sum(one.nbytes(self.lengths) for one in self.tables.values())
        return len(self.runs) * each + events + points + 2 * self.seal_bytes + 2**17

    @property
    def final(self) -> set[str]:
        """Datasets whose values never change."""
        events = {f"{table.group}/{EVENT}" for table in self.tables.values()}
        along = {one.name for one in self.along}
        return {RUN, POINTS, DEFINITION, *along, *self.coordinates, *events}

    @property
    def seal_bytes(self) -> int:
        """Bytes reserved for each of the two seals, which hold compressed names and numbers."""
        names = [*self.final, *self.variables, *OWN]
        names += [
            f"{table.group}/{name}" for table in self.tables.values() for name in table.datasets
        ]
        texts = sum(16 + len(key.encode()) for key in self.attributes)
        texts += sum(min(len(str(one).encode()), 1200) for one in self.attributes.values())
        return 4096 + texts + sum(96 + len(name.encode()) for name in names)


def read_study_layout(path: Path) -> StudyLayout:
    """Return the layout of a study, as it was passed to `StudyFile.create`.

    Raises OutputError if the file is missing or was not written by a sweep; its seal is not
    checked.
    """
    with explained(path, READING), opened(path) as file:
        own = (STATUS, ERROR, WALL_TIME)
        names = [one for one in str(file.attrs["coordinates"]).split(" ") if one not in own]
        along = [read_coordinate(file[name], (RUN,)) for name in names]
        variables = {}
        dims: dict[str, None] = {}
        for name in json.loads(file.attrs["variables"]):
            of = file[name]
            inner = tuple(of.dims[i][0].name.lstrip("/") for i in range(1, of.ndim))
            dims |= dict.fromkeys(inner)
            variables[name] = read_variable(of, inner)
        points, definition = (json.loads(bytes(file[one][...])) for one in (POINTS, DEFINITION))
        _require_points(points, definition, file["point"][...])
        left_out = {"coordinates", "variables", STUDY_ATTRIBUTE}
        dims |= dict.fromkeys(
            column.dim
            for table in read_tables(file).values()
            for column in table.columns
            if column.dim
        )
        return StudyLayout(
            file[RUN][...],
            along,
            {dim: read_coordinate(file[dim]) for dim in dims},
            variables,
            points,
            definition,
            {
                key: one.item() if hasattr(one, "item") else one
                for key, one in file.attrs.items()
                if key not in left_out
            },
            read_tables(file),
        )


def _require_points(points: Any, definition: Any, point: NDArray[np.int64]) -> None:
    """Raise ValueError unless every run has a point, and all points have the same keys."""
    fits = isinstance(definition, dict) and isinstance(points, list) and len(points) > 0
    fits = fits and all(isinstance(one, dict) and one.keys() == points[0].keys() for one in points)
    if not fits or not ((point >= 0) & (point < len(points))).all():
        raise ValueError("the list of its points is none")


def build_study(file: h5py.File, layout: StudyLayout) -> None:
    """Write all structures and fill values of ``layout`` into the empty ``file``."""
    runs = len(layout.runs)
    file.create_group("provenance/seal")
    reserve(file, SEALS[0], (layout.seal_bytes,), np.dtype(np.uint8))
    for key, value in layout.attributes.items():
        file.attrs[key] = value
    file.attrs[STUDY_ATTRIBUTE] = STUDY_VERSION
    file.attrs["variables"] = json.dumps(sorted(layout.variables))
    file.attrs["coordinates"] = " ".join(
        [*(one.name for one in layout.along), STATUS, ERROR, WALL_TIME]
    )
    number = Coordinate(RUN, layout.runs, "", "number of the run")
    for one in (number, *layout.coordinates.values()):
        _values(file, one).make_scale(one.name)
    for one in layout.along:
        _values(file, one).dims[0].attach_scale(file[RUN])
    own = (
        Variable(STATUS, (), np.int8, "", "0 pending, 1 done, 2 failed", PENDING),
        Variable(WALL_TIME, (), np.float64, "s", "wall time of the run, in its batch's mean"),
    )
    for variable in (*own, *layout.variables.values()):
        kind = np.dtype(variable.dtype)
        # All 256 values of a byte may be meant, as in a picture.
        missing = kind.itemsize > 1 and variable.fill == nothing(kind)
        shape = (runs, *layout.shape(variable))
        build_variable(file, variable, shape, missing=missing, first=(RUN,))
    file[STATUS].attrs["flag_values"] = np.arange(len(STATES), dtype=np.int8)
    file[STATUS].attrs["flag_meanings"] = " ".join(STATES)
    texts = file.create_dataset(ERROR, (runs,), h5py.string_dtype("utf-8", ERROR_BYTES))
    texts[...] = b""
    texts.dims[0].attach_scale(file[RUN])
    texts.attrs["long_name"] = "why the run failed"
    for table in layout.tables.values():
        build_table(file, table, layout.lengths)
    file.create_group("study")
    for name in layout.tables:
        file.require_group(PLACES.format("").rstrip("/"))
        reserve(file, PLACES.format(name), (runs, 2), np.dtype(np.int64), 0)
    reserve(file, CHECKSUM, (runs,), np.dtype(np.uint32), 0)
    for name, data in ((POINTS, list(layout.points)), (DEFINITION, layout.definition)):
        file.create_dataset(name, data=np.frombuffer(json.dumps(data).encode(), np.uint8))
    reserve(file, SEALS[1], (layout.seal_bytes,), np.dtype(np.uint8))


def _values(file: h5py.File, one: Coordinate) -> h5py.Dataset:
    dataset = along_dimension(file, one)
    describe(dataset, one.units, one.long_name or one.name)
    return dataset


def extents_of(path: Path) -> dict[str, Extent]:
    """Return the extents of the points, the definition, and all datasets that a sweep writes."""
    found = {}
    with opened(path) as file:
        names = json.loads(file.attrs["variables"])
        for table in read_tables(file).values():
            names += [f"{table.group}/{column.name}" for column in table.columns]
            names.append(PLACES.format(table.name))
        for name in (*names, STATUS, ERROR, WALL_TIME, CHECKSUM, POINTS, DEFINITION):
            dataset = file[name]
            offset = dataset.id.get_offset()
            if offset is None and dataset.size:
                raise OSError(f"{name} has no place in the file")
            dtype = np.dtype(f"S{ERROR_BYTES}") if name == ERROR else dataset.dtype
            found[name] = Extent(offset or 0, dtype, dataset.shape)
    return found
