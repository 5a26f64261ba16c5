"""How are thousands of runs kept in one file, so that no run that is done is ever lost?

`societies.output.study_layout` says what the file holds. A run is written, flushed, given its
checksum, and then marked as done; what a killed process left half written is not done. Its events
stand after those of the runs that were done before it, so a process that goes on writes over what
another left there.

The module is long because one class owns the open file: a study survives a kill by the order in
which its methods write.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from societies.output import lock, opening
from societies.output.disk import Disk
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
from societies.output.layout import nothing
from societies.output.run_events import Columns, RunEvents, stretches
from societies.output.study_layout import (
    CHECKSUM,
    DEFINITION,
    DONE,
    ERROR,
    ERROR_BYTES,
    FAILED,
    PENDING,
    PLACES,
    POINTS,
    RUN,
    STATUS,
    WALL_TIME,
    StudyLayout,
    build_study,
    extents_of,
    read_study_layout,
    require_study,
)
from societies.output.tables import read_tables
from societies.output.trust import opened


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
    events : tables of events by name
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
            tables = read_tables(file)
        self.variables: list[str] = variables
        self.points: list[dict[str, Any]] = json.loads(bytes(disk.read(POINTS)))
        self.definition: Any = json.loads(bytes(disk.read(DEFINITION)))
        self.status: NDArray[np.int8] = disk.read(STATUS).copy()
        done = self._rows(DONE)
        self.events = {
            name: RunEvents(disk, table, self.runs, done) for name, table in tables.items()
        }

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
                for one in file.events.values():
                    one.clear(file._rows(DONE))
            return file
        except BaseException:
            lock.release(descriptor)
            raise

    def grown(self, layout: StudyLayout) -> Self:
        """Return a study with more runs, which has replaced this one; its first runs are these."""
        with explained(self.path, MAKING):
            remedy = "Free some space: a study grows as a copy. It is as it was."
            tables = {
                name: table.longer(self.events[name].used) if name in self.events else table
                for name, table in layout.tables.items()
            }
            layout = replace(layout, tables=tables)
            require_space(self.path, layout.nbytes, remedy)
        temporary, disk = _made(self.path, layout)
        try:
            with explained(self.path, MAKING):
                rows = slice(0, len(self.runs))
                for name in (*self.variables, STATUS, ERROR, WALL_TIME, CHECKSUM):
                    old = self._disk.read(name)
                    disk.write(name, old, rows, *(slice(0, length) for length in old.shape[1:]))
                for one in self.events.values():
                    disk.write(PLACES.format(one.table.name), one.places, rows)
                    for column in one.table.columns:
                        old = one.read(column.name, 0, one.used)
                        at = (slice(0, length) for length in old.shape)
                        disk.write(f"{one.table.place}/{column.name}", old, *at)
                new = type(self)(temporary, disk)
                new._sum(new._rows(DONE))
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
        self,
        rows: Sequence[int],
        values: Mapping[str, NDArray[Any]],
        seconds: float,
        events: Mapping[str, Columns] | None = None,
    ) -> None:
        """Write results of runs and mark them as done.

        Parameters
        ----------
        rows : ascending places in the file
        values : (run, ...) by variable; what is shorter than the file's dimensions is filled
        seconds : wall time of each
        events : columns by table, in the order of the runs; ``run`` is the place in ``rows``

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
        found = {name: one for name, one in (events or {}).items() if name in self.events}
        for name, columns in found.items():
            self._make_room(name, len(columns[RUN]), len(rows))
        with explained(self.path, "write this file"):
            for name, columns in found.items():
                self.events[name].add(rows, columns)
            for first, stop in stretches(rows):
                at = slice(rows[first], rows[first] + stop - first)
                for name, given in values.items():
                    inner = [slice(0, length) for length in given.shape[1:]]
                    part, dtype = given[first:stop], self._disk.extents[name].dtype
                    if dtype.kind in "iu" and part.dtype.kind == "f":  # other runs miss nothing
                        part = np.where(np.isnan(part), nothing(dtype), part)
                    self._disk.write(name, part, at, *inner)
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
            done = {old: new for old, new in rows.items() if other.status[old] == DONE}
            for name, one in self.events.items():
                one.take_over(other.events[name], done)
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
        return {row: bytes(texts[row]).decode(errors="replace") for row in self._rows(FAILED)}

    def close(self) -> None:
        """Close the file."""
        lock.release(self._disk.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _rows(self, state: int) -> list[int]:
        rows: list[int] = np.flatnonzero(self.status == state).tolist()
        return rows

    def _make_room(self, name: str, count: int, runs: int) -> None:
        """Make a table longer that has no room for the events of some runs: the file is replaced.

        It becomes as long as the study will probably need.
        """
        one = self.events[name]
        needed = one.used + count
        if needed <= one.table.rows:
            return
        done = len(self._rows(DONE)) + runs
        longer = one.table.longer(needed * len(self.runs) // done)
        layout, damaged = read_study_layout(self.path), self.damaged
        new = self.grown(replace(layout, tables={**layout.tables, name: longer}))
        vars(self).update(vars(new))
        self.damaged = damaged

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
        for name in sorted(self.events):
            sums = self.events[name].checksums(rows, sums)
        return np.array(sums, np.uint32)

    def wrong_rows(self) -> list[int]:
        """Return the rows that are done and whose data are not those that were written."""
        rows = self._rows(DONE)
        found = []
        for first, stop in stretches(rows, longest=1024):
            at = slice(rows[first], rows[first] + stop - first)
            wrong = self._sums(at) != self._disk.read(CHECKSUM, at)
            found += [at.start + int(i) for i in np.flatnonzero(wrong)]
        return found


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
            build_study(file, layout)
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
