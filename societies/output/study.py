"""How are thousands of runs kept in one file, so that no run that is done is ever lost?

A study is one HDF5 file with the dimension ``run``. Like the file of a single run it is made whole,
every dataset with its place, and from then on only raw data change. A run is written, flushed,
given its checksum, and then marked as done; what a killed process left half written is not done.

===========================  =====================================================================
``/run``                     numbers of the runs
``/point``, ``/replicate``   what a run is; further coordinates are the keys that vary
``/status``                  int8: 0 pending, 1 done, 2 failed
``/error``, ``/wall_time``   why a run failed, in UTF-8; seconds that it took
``/<variable>``              the results, the run first
``/study/checksum``          uint32 of each run: CRC-32 of its part of all variables, by name
``/study/points``            the points as JSON, UTF-8 bytes
``/study/definition``        what the sweep is, as JSON, UTF-8 bytes
===========================  =====================================================================

The module is long because one class owns the open file: a study survives a kill by the order in
which its methods write.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from societies.errors import OutputError, option
from societies.output import lock, opening
from societies.output.building import describe, reserve
from societies.output.disk import Disk, Extent
from societies.output.files import (
    MAKING,
    READING,
    abandon,
    explained,
    place,
    require_space,
    require_target,
    temporary_name,
)
from societies.output.layout import FILL, Coordinate, Variable, nothing
from societies.output.trust import opened

STUDY_ATTRIBUTE, STUDY_VERSION = "societies_study", 1
PENDING, DONE, FAILED = 0, 1, 2
STATES = ("pending", "done", "failed")
RUN, STATUS, ERROR, WALL_TIME = "run", "status", "error", "wall_time"
CHECKSUM, POINTS, DEFINITION = "study/checksum", "study/points", "study/definition"
ERROR_BYTES = 240
OWN = (RUN, "point", "replicate", "seed", STATUS, ERROR, WALL_TIME)
"""Names that no other coordinate or variable has."""

Attribute = str | int | float


@dataclass(frozen=True, eq=False)
class StudyLayout:
    """What a study holds.

    Attributes
    ----------
    runs : (run,) int64, their numbers
    along : coordinates along the runs
    coordinates : of the other dimensions
    variables : without the dimension ``run``, which is their first
    points : of the whole study, as plain data
    definition : of the sweep, as plain data
    attributes : of the file
    """

    runs: NDArray[np.int64]
    along: Sequence[Coordinate]
    coordinates: Mapping[str, Coordinate]
    variables: Mapping[str, Variable]
    points: Sequence[Mapping[str, Any]]
    definition: Any
    attributes: Mapping[str, Attribute]

    def shape(self, variable: Variable) -> tuple[int, ...]:
        """Return the lengths of a variable's dimensions, without the runs."""
        return tuple(len(self.coordinates[dim].values) for dim in variable.dims)

    @property
    def nbytes(self) -> int:
        """Bytes that the file takes, with a margin for structures."""
        cells = sum(
            int(np.prod(self.shape(one), dtype=np.int64)) * np.dtype(one.dtype).itemsize
            for one in self.variables.values()
        )
        words = sum(8 + (one.values.dtype.itemsize // 4) for one in self.along)
        points = len(json.dumps(list(self.points))) + len(json.dumps(self.definition))
        each = cells + words + ERROR_BYTES + 8 + 8 + 1 + 4
        return len(self.runs) * each + points + 2**17


class StudyFile:
    """A study, open for writing; make one with :meth:`create` or :meth:`resume`.

    Attributes
    ----------
    path : pathlib.Path
    attributes : of the file
    points : of the whole study, as plain data
    definition : of the sweep, as plain data
    runs, point, replicate : (run,) int64
    status : (run,) int8; change it with :meth:`write` and :meth:`fail`
    damaged : rows that were done and whose data are not those that were written; they are pending
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path, self._disk = path, disk
        self.damaged: list[int] = []
        with opened(path) as file:
            self.attributes: dict[str, Any] = {
                key: one.item() if hasattr(one, "item") else one for key, one in file.attrs.items()
            }
            self.runs, self.point, self.replicate = (
                file[name][...] for name in (RUN, "point", "replicate")
            )
            variables = json.loads(file.attrs["variables"])
        self.variables: list[str] = variables
        self.points: list[dict[str, Any]] = json.loads(bytes(disk.read(POINTS)))
        self.definition: Any = json.loads(bytes(disk.read(DEFINITION)))
        self.status: NDArray[np.int8] = disk.read(STATUS).copy()

    @classmethod
    def create(cls, path: Path, layout: StudyLayout, *, overwrite: bool = False) -> Self:
        """Make a study without any results, and open it.

        Raises
        ------
        OutputError
            If the file exists, or cannot be made there.
        """
        with explained(path, MAKING):
            require_target(path, layout.nbytes, overwrite=overwrite)
            lock.remove_stale(path)
        temporary, disk = _made(path, layout)
        try:
            with explained(path, MAKING):
                place(temporary, path, overwrite=overwrite)
            with explained(path, READING):
                return cls(path, disk)
        except BaseException:
            lock.release(disk.descriptor)
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise

    @classmethod
    def resume(cls, path: Path) -> Self:
        """Open a study to write on; runs whose data are damaged become pending.

        Raises
        ------
        OutputError
            If the file is missing, no study, or open in another process.
        """
        with explained(path, READING):
            require_study(path)
        with explained(path, "write this file"):
            lock.remove_stale(path)
            descriptor = opening.locked(path)
        try:
            with explained(path, READING):
                file = cls(path, Disk(descriptor, extents_of(path)))
                file.damaged = file.wrong_rows()
                for row in file.damaged:
                    file._mark([row], PENDING)
            return file
        except BaseException:
            lock.release(descriptor)
            raise

    def grown(self, layout: StudyLayout) -> Self:
        """Return a study with more runs, which has replaced this one; its first runs are these."""
        with explained(self.path, MAKING):
            remedy = "Free some space: a study grows as a copy. It is as it was."
            require_space(self.path, layout.nbytes, remedy)
        temporary, disk = _made(self.path, layout)
        try:
            with explained(self.path, MAKING):
                rows = slice(0, len(self.runs))
                for name in (*self.variables, STATUS, ERROR, WALL_TIME, CHECKSUM):
                    old = self._disk.read(name)
                    disk.write(name, old, rows, *(slice(0, length) for length in old.shape[1:]))
                new = type(self)(temporary, disk)
                new._sum(np.flatnonzero(new.status == DONE).tolist())
                disk.sync()
                place(temporary, self.path.resolve(), overwrite=True)
                new.path = self.path
        except BaseException:
            lock.release(disk.descriptor)
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        lock.release(self._disk.descriptor)
        return new

    def write(
        self, rows: Sequence[int], values: Mapping[str, NDArray[Any]], seconds: float
    ) -> None:
        """Write results of runs and mark them as done.

        Parameters
        ----------
        rows : ascending places in the file
        values : (run, ...) by variable; what is shorter than the file's dimensions is filled
        seconds : wall time of each

        Raises
        ------
        OutputError
            If the file cannot be written; what was done before is in it.
        ValueError
            If values do not fit the file.
        """
        for name, given in values.items():
            room = self._disk.extents[name].shape[1:]
            if len(given.shape) - 1 != len(room) or any(
                a > b for a, b in zip(given.shape[1:], room, strict=True)
            ):
                raise ValueError(f"{name} is {given.shape[1:]} in this run, {room} in the study")
        with explained(self.path, "write this file"):
            for first, stop in stretches(rows):
                at = slice(rows[first], rows[first] + stop - first)
                for name, given in values.items():
                    inner = [slice(0, length) for length in given.shape[1:]]
                    self._disk.write(name, given[first:stop], at, *inner)
                self._disk.write(ERROR, np.zeros(stop - first, f"S{ERROR_BYTES}"), at)
                self._disk.write(WALL_TIME, np.full(stop - first, seconds), at)
            self._disk.sync()
            self._sum(rows)
            self._disk.sync()
            self._mark(rows, DONE)

    def copy(self, other: StudyFile, rows: Mapping[int, int]) -> None:
        """Take over runs of another study of the same sweep, by their rows there and here."""
        with explained(self.path, "write this file"):
            for name in (*self.variables, ERROR, WALL_TIME):
                there = other._disk.read(name)
                for old, new in rows.items():
                    self._disk.write(name, there[old], new)
            self._disk.sync()
            for state in (DONE, FAILED):
                found = [new for old, new in rows.items() if other.status[old] == state]
                if state == DONE:
                    self._sum(found)
                self._mark(found, state)

    def fail(self, rows: Sequence[int], why: str, seconds: float) -> None:
        """Mark runs as failed, with the reason."""
        text = why.encode()[:ERROR_BYTES].decode(errors="ignore").encode()
        with explained(self.path, "write this file"):
            for row in rows:
                self._disk.write(ERROR, np.array(text, f"S{ERROR_BYTES}"), row)
                self._disk.write(WALL_TIME, seconds, row)
            self._disk.sync()
            self._mark(rows, FAILED)

    def errors(self) -> dict[int, str]:
        """Return the reason of every run that failed, by row."""
        texts = self._disk.read(ERROR)
        rows = np.flatnonzero(self.status == FAILED).tolist()
        return {row: bytes(texts[row]).decode(errors="replace") for row in rows}

    def close(self) -> None:
        """Close the file."""
        lock.release(self._disk.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _mark(self, rows: Sequence[int], state: int) -> None:
        for first, stop in stretches(rows):
            at = slice(rows[first], rows[first] + stop - first)
            self._disk.write(STATUS, np.full(stop - first, state, np.int8), at)
        self._disk.sync()
        self.status[list(rows)] = state

    def _sum(self, rows: Sequence[int]) -> None:
        for first, stop in stretches(rows):
            at = slice(rows[first], rows[first] + stop - first)
            self._disk.write(CHECKSUM, self._sums(at), at)

    def _sums(self, rows: slice) -> NDArray[np.uint32]:
        """Return the checksums of consecutive runs as they are in the file."""
        count = rows.stop - rows.start
        sums = [0] * count
        for name in self.variables:
            block = np.ascontiguousarray(self._disk.read(name, rows)).reshape(count, -1)
            for i, row in enumerate(block.view(np.uint8)):
                sums[i] = zlib.crc32(row.data, sums[i])
        return np.array(sums, np.uint32)

    def wrong_rows(self) -> list[int]:
        """Return the rows that are done and whose data are not those that were written."""
        rows = np.flatnonzero(self.status == DONE).tolist()
        found = []
        for first, stop in stretches(rows, longest=1024):
            at = slice(rows[first], rows[first] + stop - first)
            wrong = self._sums(at) != self._disk.read(CHECKSUM, at)
            found += [at.start + int(i) for i in np.flatnonzero(wrong)]
        return found


def stretches(rows: Sequence[int], longest: int = 1 << 30) -> Iterable[tuple[int, int]]:
    """Yield first and end of every part of ascending rows that follow each other."""
    first = 0
    for i in range(1, len(rows) + 1):
        if i == len(rows) or rows[i] != rows[i - 1] + 1 or i - first >= longest:
            yield first, i
            first = i


def is_study(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a study; False if it cannot be read."""
    damage = (OSError, KeyError, ValueError, RuntimeError)  # h5py raises any of them
    with suppress(*damage, OutputError), opened(path) as file:
        return STUDY_ATTRIBUTE in file.attrs
    return False


def require_study(path: Path) -> None:
    """Raise OutputError if a file is no study, or one of another layout."""
    with opened(path) as file:
        version = file.attrs.get(STUDY_ATTRIBUTE)
    if version is None:
        raise OutputError(f"{path}: is no study. Name a file that `societies sweep` wrote.")
    if version != STUDY_VERSION:
        raise OutputError(
            f"{path}: is a study of layout {version}; this version of societies reads "
            f"{STUDY_VERSION}. Open it with the version that wrote it, or name another file with "
            f"{option('out')}."
        )


def _made(path: Path, layout: StudyLayout) -> tuple[Path, Disk]:
    """Build the file under another name; it is locked from the start."""
    with explained(path, MAKING):
        temporary, descriptor = lock.create(lambda: temporary_name(path))
    file = None
    try:
        with explained(path, MAKING):
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, layout.nbytes)
            file = h5py.File(temporary, "w", libver="earliest", locking=False)
            _build(file, layout)
            file.close()
            lock.acquire(descriptor)  # where locks are the process's, HDF5 has ended it
            disk = Disk(descriptor, extents_of(temporary))
            disk.sync()
            return temporary, disk
    except BaseException:
        if file is not None:
            abandon(file)
        lock.release(descriptor)
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _build(file: h5py.File, layout: StudyLayout) -> None:
    runs = len(layout.runs)
    for key, value in layout.attributes.items():
        file.attrs[key] = value
    file.attrs[STUDY_ATTRIBUTE] = STUDY_VERSION
    file.attrs["variables"] = json.dumps(sorted(layout.variables))
    file.attrs["coordinates"] = " ".join(
        [*(one.name for one in layout.along), STATUS, ERROR, WALL_TIME]
    )
    for one in (
        Coordinate(RUN, layout.runs, "", "number of the run"),
        *layout.coordinates.values(),
    ):
        _values(file, one).make_scale(one.name)
    for one in layout.along:
        _values(file, one).dims[0].attach_scale(file[RUN])
    own = (
        Variable(STATUS, (), np.int8, "", "0 pending, 1 done, 2 failed", PENDING),
        Variable(WALL_TIME, (), np.float64, "s", "wall time of the run, in its batch's mean"),
    )
    for variable in (*own, *layout.variables.values()):
        dataset = reserve(
            file,
            variable.name,
            (runs, *layout.shape(variable)),
            np.dtype(variable.dtype),
            variable.fill,
        )
        dataset.dims[0].attach_scale(file[RUN])
        for axis, dim in enumerate(variable.dims, 1):
            dataset.dims[axis].attach_scale(file[dim])
        describe(dataset, variable.units, variable.long_name or variable.name)
        kind = np.dtype(variable.dtype)
        # All 256 values of a byte may be meant, as in a picture.
        if kind.kind in "iu" and kind.itemsize > 1 and variable.fill == nothing(kind):
            dataset.attrs[FILL] = np.array(variable.fill, kind)
    file[STATUS].attrs["flag_values"] = np.arange(len(STATES), dtype=np.int8)
    file[STATUS].attrs["flag_meanings"] = " ".join(STATES)
    texts = file.create_dataset(ERROR, (runs,), h5py.string_dtype("utf-8", ERROR_BYTES))
    texts[...] = b""
    texts.dims[0].attach_scale(file[RUN])
    texts.attrs["long_name"] = "why the run failed"
    file.create_group("study")
    file.create_dataset(CHECKSUM, data=np.zeros(runs, np.uint32))
    for name, data in ((POINTS, list(layout.points)), (DEFINITION, layout.definition)):
        file.create_dataset(name, data=np.frombuffer(json.dumps(data).encode(), np.uint8))


def _values(file: h5py.File, one: Coordinate) -> h5py.Dataset:
    text = one.values.dtype.kind == "U"
    dataset = file.create_dataset(
        one.name,
        data=one.values.astype(object) if text else one.values,
        dtype=h5py.string_dtype() if text else None,
    )
    describe(dataset, one.units, one.long_name or one.name)
    return dataset


def extents_of(path: Path) -> dict[str, Extent]:
    """Return where the raw data of everything lie that changes, and of the points."""
    found = {}
    with opened(path) as file:
        names = json.loads(file.attrs["variables"])
        for name in (*names, STATUS, ERROR, WALL_TIME, CHECKSUM, POINTS, DEFINITION):
            dataset = file[name]
            offset = dataset.id.get_offset()
            if offset is None and dataset.size:
                raise OSError(f"{name} has no place in the file")
            dtype = np.dtype(f"S{ERROR_BYTES}") if name == ERROR else dataset.dtype
            found[name] = Extent(offset or 0, dtype, dataset.shape)
    return found
