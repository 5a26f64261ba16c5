"""How does a run write its result file, and where does it continue after it was killed?

Whether a file survives a kill depends on the order in which the methods of `ResultFile` write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from societies.background import for_each, in_background, threads_for
from societies.errors import OutputError
from societies.output import checkpoints, checksums, lock, opening, sessions, tables
from societies.output.building import read_layout
from societies.output.checkpoints import Sums
from societies.output.disk import Disk
from societies.output.files import MAKING, READING, explained, place, require_target
from societies.output.layout import (
    CHECKSUMS,
    COMMITS,
    COUNTER,
    ENDED,
    SEALED,
    SESSION_RECORDS,
    SESSIONS,
    Attribute,
    Coordinate,
    Layout,
    Variable,
    is_open_ended,
    require_ours,
)
from societies.output.making import locked_target, made, removed_on_error
from societies.output.positions import beginnings
from societies.output.seal import Damage
from societies.output.stored_seal import Seal
from societies.output.tables import EventTable
from societies.output.trust import opened


class _Piece(NamedTuple):
    """A block of a variable, and where it is written."""

    name: str
    values: NDArray[Any]
    selection: list[int | slice]
    axis: int | None
    """Axis of the clock; None: not along it."""
    whole: bool
    """Whether the block has all values of its ticks."""


class ResultFile:
    """One result file, open for writing; make one with :meth:`create` or :meth:`resume`.

    The order of calls for a tick, or a block of ticks::

        write(...), write(...), ...     values of ticks that are not committed yet
        append(table, columns)          events of these ticks
        commit(tick)                    flush the data, then the counter: the ticks are valid now
        checkpoint(tick, state)         now and then; after the commit of the same tick

    A process may die between or inside any of these calls. Ticks up to :attr:`ticks_committed` are
    complete, and :meth:`latest_checkpoint` returns a complete state of one of these ticks. A
    resumed run starts at that state and writes the later ticks again. It must compute the same
    values; the counter does not move back meanwhile.

    Other processes may read the file at any time: HDF5 has it open only while it is made. Another
    thread may close it: a call that is writing finishes first, and the next call is refused. A call
    that cannot write the file closes it and raises OutputError; committed ticks and the previous
    checkpoint remain.

    Attributes
    ----------
    path : the file's name
    damages : damage that was found when the file was opened and that does not prevent resuming
    """

    def __init__(self, path: Path, disk: Disk, sealed: Seal, layout: Layout) -> None:
        self.path = path
        self.damages: list[Damage] = []
        self._disk, self._seal, self._layout = disk, sealed, layout
        self._open = True
        self._in_use = RLock()  # prevents one thread from closing the file while another writes
        self._begun: dict[int, tuple[int, Future[None]]] = {}  # by slot: tick and writing thread
        self._unplaced: Path | None = None
        self._target: int | None = None
        self._commits = checksums.commits(disk, sealed)
        self._committed = self._commits.tick
        self._sound = set(checkpoints.ticks(disk, layout.slots, self._committed))
        self._partly: dict[str, set[int]] = {}
        self._summed: dict[str, int] = {}  # rows from the first on that have checksums
        self._withdrawn: set[str] = set()
        self._rows = dict.fromkeys(layout.tables, 0)
        self.rewind(self._committed)

    @classmethod
    def create(cls, path: str | PathLike[str], layout: Layout, *, overwrite: bool = False) -> Self:
        """Make a complete file without any tick in it, and open it for writing.

        The file is built under another name (``*.partial``) in the same folder and renamed in one
        step, so ``path`` never names an incomplete file. A file that it replaces stays until the
        first commit.

        Raises OutputError if the file exists, or cannot be made at this path; nothing is left
        behind then.

        Parameters
        ----------
        path : name of the file; its folder must exist
        layout : what the file holds
        overwrite : replace an existing file, which is not touched otherwise
        """
        path = Path(path)
        with explained(path, MAKING):
            require_target(path, layout.nbytes_on_disk, overwrite=overwrite)
            lock.remove_stale(path)
        # If there is no file, the new one gets its name at once, and no other run replaces it.
        overwrite = overwrite and path.exists()
        target = locked_target(path) if overwrite else None
        try:
            temporary, disk, sealed = made(path, layout)
            with removed_on_error(temporary, disk):
                if not overwrite:
                    with explained(path, MAKING):
                        place(temporary, path, overwrite=False)
                with explained(path, READING):
                    file = cls(path, disk, sealed, layout)
        except BaseException:
            if target is not None:
                lock.release(target)
            raise
        if overwrite:
            file._unplaced, file._target = temporary, target
        return file

    @classmethod
    def resume(cls, path: str | PathLike[str]) -> Self:
        """Open an existing file for further writing, after checking everything in it.

        Raises OutputError if the file is missing, not ours, damaged, or open in another process; it
        is not touched then.
        """
        path = Path(path)
        with explained(path, "write this file"):
            lock.remove_stale(path)
            descriptor = opening.locked(path)
        try:
            with explained(path, READING):
                found = opening.sealed(path, descriptor, *SEALED)
                assert found is not None  # refused above
                with opened(path) as content:
                    require_ours(content, path, *SEALED)
                    layout = read_layout(content)
                disk, sealed = found
                # Records of commits count the rows of tables in the order of the seal; HDF5 lists
                # tables by name.
                in_order = {name: layout.tables[name] for name in sealed.tables}
                layout = replace(layout, tables=in_order)
                _, wrong = opening.require_sound(path, disk, sealed)
                file = cls(path, disk, sealed, layout)
            file.damages = wrong
            bad = {one.what for one in wrong}
            file._sound = {slot for slot in file._sound if f"checkpoint {slot}" not in bad}
            return file
        except BaseException:
            lock.release(descriptor)
            raise

    @property
    def attributes(self) -> dict[str, Attribute]:
        """Attributes given at creation."""
        return dict(self._layout.attributes)

    @property
    def coordinates(self) -> dict[str, Coordinate]:
        """Dimensions of the file."""
        return dict(self._layout.coordinates)

    @property
    def variables(self) -> dict[str, Variable]:
        """Series of the file."""
        return dict(self._layout.variables)

    @property
    def tables(self) -> dict[str, EventTable]:
        """Tables of events of the file."""
        return dict(self._layout.tables)

    @property
    def ticks_committed(self) -> int:
        """Ticks up to this one are complete."""
        return self._committed

    @property
    def slots(self) -> int:
        """Number of checkpoints that the file can hold."""
        return self._layout.slots

    def checkpoint_interval(self, asked: int | str) -> int:
        """Return the ticks between two checkpoints, 0 for none; see `checkpoints.interval`."""
        return checkpoints.interval(asked, self._layout.state_nbytes) if self._layout.slots else 0

    @property
    def open_ended(self) -> bool:
        """Whether the last tick is only a bound; see `is_open_ended`."""
        return is_open_ended(self._layout.coordinates, self._layout.tables, self._layout.clock)

    @property
    def writable(self) -> bool:
        """Whether the file is open; it is closed after a write that failed."""
        return self._open

    @property
    def placed(self) -> bool:
        """Whether the file has its final name; if it replaces another, from the first commit on."""
        return self._unplaced is None

    def remove_if_empty(self) -> None:
        """Remove the file if it has no tick, so that the next run finds its name free."""
        if self.placed and not self._committed:
            with suppress(OSError):  # such as a folder that became read-only
                self.path.unlink()

    @property
    def sessions(self) -> list[str]:
        """Records of all processes that wrote ticks, oldest first."""
        with explained(self.path, READING):
            records = self._disk.read(SESSIONS).tolist()
        return [sessions.unpacked(record) for record in records if record]

    def write(self, name: str, values: ArrayLike, **index: int | slice) -> None:
        """Write a block of one variable; it is valid after the next :meth:`commit`.

        Parameters
        ----------
        name : the variable
        values : of the shape that the index selects; dimensions with a single position are left out
        **index : int or slice of step 1
            Positions (from 0, not coordinate values) by dimension; other dimensions: all positions.

        Raises
        ------
        KeyError, ValueError, TypeError
            If there is no such variable, dimension or position, or the values do not fit.
        """
        self.write_each([(name, values, index)])

    def write_each(self, parts: Iterable[tuple[str, ArrayLike, Mapping[str, int | slice]]]) -> None:
        """Write a block of each of several variables, as `write` does with name, values and index.

        Large blocks are written by several threads, each a variable at a time.
        """
        pieces = [self._piece(*part) for part in parts]
        threads = threads_for(sum(piece.values.nbytes for piece in pieces))
        with self._writing():
            for_each(self._put, pieces, threads=threads)

    def _piece(self, name: str, values: ArrayLike, index: Mapping[str, int | slice]) -> _Piece:
        """Return a block as it is written, once name, index and values were checked."""
        variable = self._layout.variables[name]
        if unknown := index.keys() - set(variable.dims):
            raise KeyError(f"'{name}' has no dimension {', '.join(sorted(unknown))}")
        selection: list[int | slice] = []
        shape: list[int] = []
        axis, whole = self._layout.axis(variable), True
        for i, (dim, size) in enumerate(
            zip(variable.dims, self._layout.shape(variable), strict=True)
        ):
            at = index.get(dim, slice(None))
            if isinstance(at, slice):
                start, stop = at.start or 0, size if at.stop is None else at.stop
                if not 0 <= start <= stop <= size or at.step not in (None, 1):
                    raise ValueError(f"'{name}': {at} does not lie within {size} of '{dim}'")
                selection.append(slice(start, stop))
                shape.append(stop - start)
                whole &= i == axis or stop - start == size
            else:
                if not 0 <= at < size:
                    raise ValueError(f"'{name}': {at} is not one of {size} positions of '{dim}'")
                selection.append(int(at))
                whole &= i == axis or size == 1
        block = np.asarray(values)
        if block.shape != tuple(shape):
            raise ValueError(f"'{name}': values {block.shape}, the index selects {tuple(shape)}")
        if not np.can_cast(block.dtype, np.dtype(variable.dtype), "same_kind"):
            raise TypeError(f"'{name}' is {variable.dtype}, not {block.dtype}")
        block = block.astype(np.dtype(variable.dtype), copy=False)
        return _Piece(name, block, selection, axis, whole)

    def _put(self, piece: _Piece) -> None:
        """Write a block and its checksums."""
        name, block, selection, axis, whole = piece
        if not block.size:
            return
        if axis is None and name not in self._withdrawn:
            # A variable whose checksum a killed run withdrew may be torn until this write.
            mark = checksums.withdrawn(self._disk, name)
            self._disk.write(f"{CHECKSUMS}/{name}", mark)
            self._disk.sync()
            self._withdrawn.add(name)
        self._disk.write(name, block, *selection)
        if axis is None:
            return
        slices = [slice(one, one + 1) if isinstance(one, int) else one for one in selection]
        rows = slices[axis]
        if whole:
            values = block.reshape([one.stop - one.start for one in slices])
            self._sum(name, rows, values, axis)
        else:
            self._partly.setdefault(name, set()).update(range(rows.start, rows.stop))

    def append(self, table: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """Append rows to a table; they are valid after the next commit.

        Ticks must not decrease from row to row. A table that is full is doubled: the whole file is
        made again and replaced in one step, so the disk must have room for both files.

        Parameters
        ----------
        columns : mapping of name to array (rows) or (rows, positions)

        Raises
        ------
        KeyError, ValueError
            If there is no such table or column, or the values do not fit.
        """
        space = self._layout.tables[table]
        first, count = self._rows[table], tables.count_rows(space, columns)
        if first + count > space.rows:
            self._lengthen(space.longer(first + count))
        if count:
            rows = slice(first, first + count)
            with self._writing():
                for name, values in columns.items():
                    self._disk.write(f"{space.group}/{name}", values, rows)
                whole = [self._disk.read(f"{space.group}/{name}", rows) for name in sorted(columns)]
                sums = checksums.event_sums(self._disk, space.group, first, whole)
                self._disk.write(f"{CHECKSUMS}/{space.group}", sums, rows)
        self._rows[table] = first + count

    def rewind(self, tick: int) -> None:
        """Continue every table after its last row of ``tick``, from which a run is resumed.

        Rows of later ticks are written again and must have the same values.
        """
        with explained(self.path, READING):
            for name, table in self._layout.tables.items():
                ticks = self._disk.read(f"{table.group}/{self._layout.clock}")
                self._rows[name] = tables.rows_until(ticks, tick)

    def shorten(self) -> None:
        """Cut an open-ended file to the ticks of its run, if the run has ended.

        An open-ended file was made for more ticks than any run needs. Afterwards its tables have no
        unused rows, and its number of ticks is that of the run. The whole file is made again, as in
        `append`; if the disk has no room for both files, it stays as it is.
        """
        layout = self._layout
        used = {name: replace(one, rows=self._rows[name]) for name, one in layout.tables.items()}
        short = replace(layout, tables=used, ticks=self._committed)
        if not self._commits.ended or not self.open_ended or short == layout:
            return
        with self._in_use:
            self._flush_all()
            with suppress(OutputError):
                self._make_again(short)

    def _lengthen(self, table: EventTable) -> None:
        with self._in_use:
            self._flush_all()
            longer = {**self._layout.tables, table.name: table}
            self._make_again(replace(self._layout, tables=longer))

    def _flush_all(self) -> None:
        """Flush pending writes and wait for writing threads before the file is replaced."""
        self._let_begun_end()  # their checkpoints are written again, into the new file
        with self._writing():
            self._disk.sync()

    def _make_again(self, layout: Layout) -> None:
        """Replace the file by one of another layout with the same values; no thread is writing."""
        temporary, disk, sealed = made(self.path, layout, self._disk)
        if self._unplaced is not None:
            self._unplaced.unlink(missing_ok=True)
            self._unplaced = temporary
        else:
            with removed_on_error(temporary, disk), explained(self.path, MAKING):
                place(temporary, self.path, overwrite=True)
        lock.release(self._disk.descriptor)
        self._disk, self._seal, self._layout = disk, sealed, layout

    def commit(self, tick: int) -> None:
        """Declare every value up to ``tick`` complete: data, flush, counter, flush.

        The counter never moves back; a tick below it is flushed and otherwise ignored.
        """
        with self._writing():
            self._commit(tick, ended=self._commits.ended)

    def end(self, tick: int, why: str) -> None:
        """Commit the last tick of a run that ends early; the file is complete then.

        ``why`` says in a few words which tolerance is met, or that a tree is closed.
        """
        with self._writing():
            sessions.write(self._disk, ENDED, 0, why)
            self._commit(tick, ended=True)

    @property
    def ended(self) -> str:
        """Why the run ended before the file's last tick; empty if it did not."""
        if not self._commits.ended:
            return ""
        with explained(self.path, READING):
            return sessions.unpacked(self._disk.read(ENDED).item())

    def _commit(self, tick: int, *, ended: bool) -> None:
        self._sum_what_is_partly_written()
        self._sum_what_is_never_written(tick)
        further = tick > self._committed or ended != self._commits.ended
        tick, newest = max(int(tick), self._committed), 1 - self._commits.newest
        if further:
            record = checksums.record(self._disk, tick, ended, self._rows.values())
            self._disk.write(COMMITS, record, newest)
        self._disk.sync()
        self._give_checksums()
        if further:
            self._disk.write(COUNTER, tick)
            self._committed = self._commits.tick = tick
            self._commits.newest, self._commits.ended = newest, ended
        self._disk.sync()
        complete = ended or self._committed >= self._layout.ticks  # at once, if it has no ticks
        if complete:
            self._settle()
        if self._unplaced is not None and (complete or self._committed > 0):
            self._place()

    def _settle(self) -> None:
        """Make both records of commits equal, so that the file does not depend on which ticks were
        committed.

        The counter is on the disk already, so this write needs no flush of its own.
        """
        records = self._disk.read(COMMITS)
        newest = self._commits.newest
        if not np.array_equal(records[newest], records[1 - newest]):
            self._disk.write(COMMITS, records[newest], 1 - newest)

    def _place(self) -> None:
        """Replace the old file. It is locked, so no other process writes it."""
        assert self._unplaced is not None
        place(self._unplaced, self.path, overwrite=True)
        self._unplaced = None
        if self._target is not None:
            lock.release(self._target)
            self._target = None

    def _sum(self, name: str, rows: slice, values: NDArray[Any], axis: int) -> None:
        start = beginnings(self._disk, name, range(rows.start, rows.stop))
        sums = checksums.nonzero(checksums.row_sums(values, axis, start))
        self._disk.write(f"{CHECKSUMS}/{name}", sums, rows)

    def _sum_what_is_partly_written(self) -> None:
        """Store the checksums of rows that were written in several pieces."""
        for name, rows in self._partly.items():
            axis = self._layout.axis(self._layout.variables[name])
            assert axis is not None
            for row in sorted(rows):
                self._sum_from_disk(name, row, axis)
        self._partly.clear()

    def _sum_from_disk(self, name: str, row: int, axis: int) -> None:
        part = slice(row, row + 1)
        values = self._disk.read(name, *[slice(None)] * axis, part)
        self._sum(name, part, values, axis)

    def _sum_what_is_never_written(self, tick: int) -> None:
        """Store checksums of all rows up to a tick that the run has not written."""
        if self._disk.salt is None:
            return
        for name, variable in self._layout.variables.items():
            axis = self._layout.axis(variable)
            if axis is None:
                continue
            ticks = self._layout.coordinates[variable.dims[axis]].values
            first = self._summed.get(name, 0)
            stop = max(first, int((ticks <= tick - variable.lag).sum()))
            given = self._disk.read(f"{CHECKSUMS}/{name}", slice(first, stop))
            for row in (first + np.flatnonzero(given == 0)).tolist():
                self._sum_from_disk(name, row, axis)
            self._summed[name] = stop

    def _give_checksums(self) -> None:
        """Store again the checksums that were withdrawn; the data have been flushed."""
        for name in sorted(self._withdrawn):
            self._disk.write(f"{CHECKSUMS}/{name}", checksums.whole_sum(self._disk, name))
        self._withdrawn.clear()

    def checkpoint(
        self,
        tick: int,
        state: Mapping[str, NDArray[Any]],
        number: int | None = None,
        keep: int | None = None,
        sums: Sums | None = None,
    ) -> None:
        """Write a checkpoint: the full state at the end of a committed tick.

        Parameters
        ----------
        tick : not above :attr:`ticks_committed`; 0 is the state before the first tick
        state : exactly the arrays declared at creation
        number : int, optional
            Number of the checkpoint, counted by the caller. It selects one of the rotating slots,
            so that an interrupted run ends with the same slots as an uninterrupted one. None: the
            oldest slot.
        keep : number of a permanent slot, counted from 0 after the rotating ones, to write instead
        sums : callable, optional
            Returns the CRC-32 of the bytes of each array, if the caller computes them; it may
            wait for them. Default: they are computed here.

        Raises
        ------
        ValueError
            If the tick is not committed, or the arrays are not those declared.
        """
        if not 0 <= tick <= self._committed:
            raise ValueError(f"tick {tick} is not committed (ticks committed: {self._committed})")
        if not self._layout.slots:
            raise ValueError("the file has no room for checkpoints")
        self._require_declared(state)
        with self._writing():
            if self._withdrawn:
                self._disk.sync()
                self._give_checksums()
            turns = checkpoints.ROTATING
            for slot in self._slots_to_write(number) if keep is None else [turns + keep]:
                if self._filled(slot, int(tick)):
                    checkpoints.mark(self._disk, slot, int(tick))
                else:
                    checkpoints.store(self._disk, slot, int(tick), state, sums)
                self._sound.add(slot)

    def begin_checkpoint(
        self,
        tick: int,
        state: Mapping[str, NDArray[Any]],
        number: int,
        sums: Sums | None = None,
    ) -> None:
        """Let another thread write a state before its tick is committed, if a slot is empty.

        The checkpoint is valid only after :meth:`checkpoint` was called with the same tick, which
        then need not write the arrays. A call with another tick discards it. The arrays must not
        change before that call; they may still be arriving (`checkpoints.Arriving`). The arguments
        are those of :meth:`checkpoint`.

        Raises ValueError if the arrays are not those declared.
        """
        if not isinstance(state, checkpoints.Arriving):
            self._require_declared(state)
        with self._in_use:
            if not self._open or not self._layout.slots:
                return
            with explained(self.path, READING):
                slot, *others = self._slots_to_write(number)
                if others or slot in self._begun or not checkpoints.empty(self._disk, slot):
                    return
            filling = in_background(checkpoints.fill, self._disk, slot, int(tick), state, sums)
            self._begun[slot] = int(tick), filling

    def _filled(self, slot: int, tick: int) -> bool:
        """Wait for the thread that fills a slot; return whether it wrote the state of ``tick``."""
        if slot not in self._begun:
            return False
        of_tick, filling = self._begun[slot]
        wait([filling])
        del self._begun[slot]  # only now: if this wait is interrupted, a later one waits again
        try:
            filling.result()
        except checkpoints.NotArrived:
            return False
        return of_tick == tick

    def _let_begun_end(self) -> None:
        """Wait for threads that fill slots, and ignore whether they failed."""
        wait([filling for _, filling in self._begun.values()])
        self._begun.clear()

    def _require_declared(self, state: Mapping[str, NDArray[Any]]) -> None:
        given = {name: (array.shape, array.dtype) for name, array in state.items()}
        if given != self._layout.state:
            raise ValueError(f"state is {given}, declared was {self._layout.state}")

    def _slots_to_write(self, number: int | None) -> list[int]:
        """Return the slots for the next checkpoint; the only sound slot is never the first."""
        stored = checkpoints.ticks(self._disk, self._layout.slots, self._committed)
        turns = range(min(checkpoints.ROTATING, self._layout.slots))
        newest_last = [slot for slot in stored if slot in self._sound and slot in turns]
        others = [slot for slot in turns if slot not in newest_last]
        oldest = [*others, *newest_last][0]
        if number is None:
            return [oldest]
        slot = number % len(turns)
        # Before the second checkpoint, the only one that can be lost is that of an interruption.
        # This costs no more work than there is between two checkpoints.
        only = newest_last == [slot] and oldest != slot and number > 1
        return [oldest, slot] if only else [slot]

    def latest_checkpoint(self) -> tuple[int, dict[str, NDArray[Any]]] | None:
        """Return tick and arrays of the newest intact checkpoint, or None if there is none.

        Raises OutputError if the file cannot be read.
        """
        with explained(self.path, READING):
            found = checkpoints.latest(self._disk, self._layout.slots, self._committed)
        return None if found is None else found[1:]

    def log_session(self, text: str) -> None:
        """Append one record, such as the device and the first tick, and flush it.

        The table holds 64 records of 1024 bytes in UTF-8; a longer text is cut, and when the table
        is full its last record is replaced.

        Raises OutputError if the file cannot be written.
        """
        with self._writing():
            position = min(len(self.sessions), SESSION_RECORDS - 1)
            sessions.write(self._disk, SESSIONS, position, text)
            self._disk.sync()

    def close(self) -> None:
        """Close the file; values that are not committed stay in it but are not valid.

        A file that was to replace another one and has no tick yet is removed.
        """
        with self._in_use:
            if not self._open:
                return
            with self._writing():
                if self._withdrawn:
                    self._disk.sync()
                    self._give_checksums()
                self._disk.sync()
            self._abandon()

    def _abandon(self) -> None:
        """Close the file as it is."""
        with self._in_use:
            if not self._open:
                return
            self._let_begun_end()
            self._open = False
            if self._unplaced is not None:
                with suppress(OSError):
                    self._unplaced.unlink(missing_ok=True)
            lock.release(self._disk.descriptor)
            if self._target is not None:
                lock.release(self._target)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn a failure into an OutputError, and close the file at once as it is."""
        with self._in_use, explained(self.path, "write this file"):
            if not self._open:
                raise OutputError(f"{self.path}: is closed. Open it again to write.")
            try:
                yield
            except (OSError, RuntimeError, ValueError):
                self._abandon()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
