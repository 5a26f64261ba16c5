"""How are thousands of runs stored in one file so that no finished run is ever lost?

`societies.output.study_layout` describes the file. A run is written and flushed, then gets its
checksum, and then the status "done"; a run that a killed process left half written stays pending.
The events of a run follow those of the runs that were done before it, so a resumed sweep
overwrites the events of half-written runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from societies.errors import OutputError, option
from societies.output import lock, opening
from societies.output.disk import Disk
from societies.output.files import (
    MAKING,
    READING,
    explained,
    place,
    require_space,
    require_target,
)
from societies.output.layout import nothing
from societies.output.making import locked_target, made_study, removed_on_error
from societies.output.run_events import Columns, RunEvents
from societies.output.stored_seal import StudySeal
from societies.output.study_checks import DAMAGED, Checker, pending
from societies.output.study_layout import (
    CHECKSUM,
    DONE,
    ERROR,
    ERROR_BYTES,
    FAILED,
    PENDING,
    PLACES,
    RUN,
    STATUS,
    WALL_TIME,
    StudyLayout,
    read_study_layout,
)


class StudyFile:
    """A study that is open; make one with :meth:`create`, :meth:`resume` or :meth:`read`.

    Attributes
    ----------
    layout : what the file holds
    attributes : of the file
    points : of the whole study, as plain data
    definition : of the sweep, as plain data
    runs, point, replicate : (run,) int64
    status : (run,) int8, derived from the checksums; change it with :meth:`write`, :meth:`fail`
    events : tables of events by name
    damaged : rows of finished runs whose data had changed; they are pending again
    mended : whether a damaged status was restored from the checksums
    """

    def __init__(self, path: Path, disk: Disk, sealed: StudySeal, *, live: bool = False) -> None:
        self.path, self._disk, self._seal = path, disk, sealed
        self.damaged: list[int] = []
        self.mended = False
        layout = self.layout = read_study_layout(path)
        along = {one.name: one.values for one in layout.along}
        self.attributes: dict[str, Any] = dict(layout.attributes)
        self.runs, self.point, self.replicate = layout.runs, along["point"], along["replicate"]
        self.variables: list[str] = sorted(sealed.variables)
        self.points: list[dict[str, Any]] = [dict(one) for one in layout.points]
        self.definition: Any = layout.definition
        self.events = {
            name: RunEvents(disk, table, self.runs) for name, table in layout.tables.items()
        }
        self._checker = Checker(disk, sealed.variables, self.events, self.runs)
        self._found = self._checker.look(live=live)
        self.status: NDArray[np.int8] = self._found.state.copy()
        for one in self.events.values():
            one.continue_after(self._rows(DONE))

    @classmethod
    def create(cls, path: Path, layout: StudyLayout, *, overwrite: bool = False) -> Self:
        """Make a study without any results, and open it.

        Raises OutputError if the file exists, or cannot be made.
        """
        with explained(path, MAKING):
            require_target(path, layout.nbytes, overwrite=overwrite)
            lock.remove_stale(path)
        overwrite = overwrite and path.exists()
        target = locked_target(path) if overwrite else None
        try:
            temporary, disk, sealed = made_study(path, layout)
            with removed_on_error(temporary, disk):
                with explained(path, MAKING):
                    place(temporary, path, overwrite=overwrite)
                with explained(path, READING):
                    return cls(path, disk, sealed)
        finally:
            if target is not None:
                lock.release(target)

    @classmethod
    def resume(cls, path: Path) -> Self:
        """Open a study for further writing; runs whose data are damaged become pending.

        Half-written values of a killed sweep are replaced by fill values.

        Raises OutputError if the file is missing, no study, of an earlier layout, open in another
        process, or damaged in more than its runs; it is not touched then.
        """
        with explained(path, "write this file"):
            lock.remove_stale(path)
            descriptor = opening.locked(path)
        try:
            with explained(path, READING):
                file = cls(path, *_sealed(path, descriptor))
            with explained(path, "write this file"):
                file._tidy()
            return file
        except BaseException:
            lock.release(descriptor)
            raise

    @classmethod
    def read(cls, path: Path) -> Self:
        """Open an undamaged study for reading, while no sweep writes it.

        Raises OutputError if the file is missing, no study, of an earlier layout, being written, or
        damaged.
        """
        with explained(path, READING):
            descriptor = opening.descriptor_of(path)
            try:
                if not lock.acquire(descriptor, exclusive=False):
                    raise OutputError(
                        f"{path}: a sweep is writing it. Wait until it ends, then try again."
                    )
                file = cls(path, *_sealed(path, descriptor))
                if file._found.wrong:
                    raise file.damage()
                return file
            except BaseException:
                lock.release(descriptor)
                raise

    def damage(self) -> OutputError:
        """Return the error for a study with damaged runs."""
        return opening.damaged_runs(self.path, self._found.wrong, self._found.good)

    def grown(self, layout: StudyLayout) -> Self:
        """Replace the study by one with more runs and return it; its first runs are these."""
        with explained(self.path, MAKING):
            remedy = "Free some space: a study grows as a copy. It is as it was."
            tables = {
                name: table.longer(self.events[name].used) if name in self.events else table
                for name, table in layout.tables.items()
            }
            layout = replace(layout, tables=tables)
            require_space(self.path, layout.nbytes, remedy)
        with explained(self.path, READING):
            self._found = self._checker.look()  # copied runs get new checksums, so check the old
            if self._found.wrong:
                raise self.damage()
        temporary, disk, sealed = made_study(self.path, layout)
        with removed_on_error(temporary, disk), explained(self.path, MAKING):
            rows = slice(0, len(self.runs))
            for name in (*self.variables, STATUS, ERROR, WALL_TIME):
                old = self._disk.read(name)
                disk.write(name, old, rows, *(slice(0, length) for length in old.shape[1:]))
            for one in self.events.values():
                disk.write(PLACES.format(one.table.name), one.ranges, rows)
                for column in one.table.columns:
                    old = one.read(column.name, 0, one.used)
                    at = (slice(0, length) for length in old.shape)
                    disk.write(f"{one.table.group}/{column.name}", old, *at)
            new = type(self)(temporary, disk, sealed)
            for state in (DONE, FAILED):
                new._sum(self._rows(state), state)
            new.status[rows] = self.status
            new._continue()
            disk.sync()
            place(temporary, self.path, overwrite=True)
            new.path = self.path
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
        rows : ascending indices of runs in the file
        values : (run, ...) by variable; arrays shorter than the file's dimensions are padded
        seconds : wall time of each run
        events : columns by table, in the order of the runs; ``run`` is an index into ``rows``

        Raises
        ------
        OutputError
            If the file cannot be written; runs that were done before remain in it.
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
            self._withdraw(rows)
            for name, columns in found.items():
                self.events[name].add(rows, columns)
            at = np.array(rows, np.intp)
            for name, given in values.items():
                dtype = self._disk.extents[name].dtype
                if dtype.kind in "iu" and given.dtype.kind == "f":  # only some runs have NaN
                    given = np.where(np.isnan(given), nothing(dtype), given)
                self._disk.write_rows(name, at, given)
            self._disk.write_rows(ERROR, at, np.zeros(len(at), f"S{ERROR_BYTES}"))
            self._disk.write_rows(WALL_TIME, at, np.full(len(at), seconds))
            self._conclude(rows, DONE)

    def copy(self, other: StudyFile, rows: Mapping[int, int]) -> None:
        """Copy runs of another study of the same sweep; ``rows`` maps its rows to rows of this."""
        with explained(self.path, "write this file"):
            over = {old: new for old, new in rows.items() if other.status[old] in (DONE, FAILED)}
            for name in (*self.variables, ERROR, WALL_TIME):
                stored = other._disk.read(name)
                for old, new in over.items():
                    self._disk.write(name, stored[old], new)
            done = {old: new for old, new in rows.items() if other.status[old] == DONE}
            for name, one in self.events.items():
                one.take_over(other.events[name], done)
            for state in (DONE, FAILED):
                self._conclude([over[old] for old in over if other.status[old] == state], state)

    def fail(self, rows: Sequence[int], why: str, seconds: float) -> None:
        """Mark runs as failed, with the reason."""
        text = why.encode()[:ERROR_BYTES].decode(errors="ignore").encode()
        with explained(self.path, "write this file"):
            self._withdraw(rows)
            for row in rows:
                self._disk.write(ERROR, np.array(text, f"S{ERROR_BYTES}"), row)
                self._disk.write(WALL_TIME, seconds, row)
            self._conclude(rows, FAILED)

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
        """If a table has no room for ``count`` more events, lengthen it: the file is replaced.

        Its new length is what the whole study will probably need.
        """
        one = self.events[name]
        needed = one.used + count
        if needed <= one.table.rows:
            return
        done = len(self._rows(DONE)) + runs
        longer = one.table.longer(needed * len(self.runs) // done)
        damaged, mended = self.damaged, self.mended
        tables = {**self.layout.tables, name: longer}
        new = self.grown(replace(self.layout, tables=tables))
        vars(self).update(vars(new))
        self.damaged, self.mended = damaged, mended

    def _tidy(self) -> None:
        """Clear damaged and half-written runs, and set every status to that of its checksum."""
        found = self._found
        self.mended = any(one.what.startswith("status") for one in found.wrong)
        self.damaged = self._rows(DAMAGED)
        self._withdraw(self.damaged)
        for row in (*self.damaged, *np.flatnonzero(found.half).tolist()):
            for name, fill in self._seal.variables.items():
                extent = self._disk.extents[name].row(row)
                empty = np.frombuffer(bytes.fromhex(fill), extent.dtype)
                self._disk.write(name, np.broadcast_to(empty[0], extent.shape), row)
            self._disk.write(ERROR, np.zeros((), f"S{ERROR_BYTES}"), row)
            self._disk.write(WALL_TIME, np.nan, row)
        if found.damages:
            self._disk.write(STATUS, self.status)
        self._continue()
        self._disk.sync()

    def _continue(self) -> None:
        """Clear the events of all runs that are not done, and continue after the others."""
        for one in self.events.values():
            one.clear(self._rows(DONE))

    def _withdraw(self, rows: Sequence[int]) -> None:
        """Make finished runs pending before any of their values are overwritten."""
        over = [row for row in rows if self.status[row] != PENDING]
        if over:
            self._mark(over, PENDING)
            sums = pending(self._disk, self.runs[over])
            self._disk.write_rows(CHECKSUM, np.array(over, np.intp), sums)
            self._disk.sync()

    def _conclude(self, rows: Sequence[int], state: int) -> None:
        """Write the checksum of runs whose values are written, and then their status."""
        self._disk.sync()
        self._sum(rows, state)
        self._disk.sync()
        self._mark(rows, state)

    def _mark(self, rows: Sequence[int], state: int) -> None:
        self._disk.write_rows(STATUS, np.array(rows, np.intp), np.full(len(rows), state, np.int8))
        self._disk.sync()
        self.status[list(rows)] = state

    def _sum(self, rows: Sequence[int], state: int) -> None:
        at = np.array(rows, np.intp)
        self._disk.write_rows(CHECKSUM, at, self._checker.sums(at, state))


def _sealed(path: Path, descriptor: int) -> tuple[Disk, StudySeal]:
    """Return the raw file and the seal of an intact study of the newest layout."""
    found = opening.sealed_study(path, descriptor)
    if found is None:
        raise OutputError(
            f"{path}: is a study of layout 1, which can be read but not continued or merged.\n"
            "Use the version of societies that wrote it, or compute it again under another name "
            f"({option('out')})."
        )
    return found
