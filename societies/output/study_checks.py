"""Are the runs of a study as they were written, and which of them are done?

Each run has a CRC-32 over its number, its wall time, its error, its part of all variables, its
events, and its status. It is written when all of these are on the disk, and the status is written
after it. So the checksum alone determines the state of a run: done, failed, or pending, for which
it covers the number and the status alone. If the recorded status differs from this, either a killed
sweep had no time to write it (it is still ``pending``), or it is damaged. As a pending run has a
checksum of its own, runs that are swapped, copied or lost together with their checksums are
detected. In layout 2 checksums do not cover the number, and that of a pending run is 0.

Values of runs that are pending must be empty. If they are not, a killed sweep has left them half
written: they are not valid, readers do not see them, and resuming overwrites them.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.output.checksums import LOOKS
from societies.output.disk import Disk
from societies.output.positions import beginnings
from societies.output.run_events import RunEvents
from societies.output.seal import Damage, stretch
from societies.output.study_layout import (
    CHECKSUM,
    DONE,
    ERROR,
    FAILED,
    PENDING,
    RUN,
    STATES,
    STATUS,
    WALL_TIME,
)
from societies.words import ranges

AT_ONCE = 1 << 26
"""Most bytes of runs that are in memory at a time."""
DAMAGED = -1


@dataclass(frozen=True)
class Rows:
    """State of the runs of a study according to their checksums.

    Attributes
    ----------
    state : (run,) int8, status by checksum; `DAMAGED`: the checksum fits no status
    half : (run,) bool, whether a pending run has values
    damages : all damage, including unfinished writes
    """

    state: NDArray[np.int8]
    half: NDArray[np.bool_]
    damages: list[Damage] = field(default_factory=list)

    @property
    def wrong(self) -> list[Damage]:
        """Damage that cannot be an unfinished write of a killed sweep."""
        return [one for one in self.damages if not one.unfinished]

    @property
    def good(self) -> str:
        """Text that says how many runs can be relied on."""
        done, runs = int((self.state == DONE).sum()), len(self.state)
        return f"the results of {done} of {runs} runs"


@dataclass(frozen=True)
class Checker:
    """Compares the runs of an open study with their checksums.

    Attributes
    ----------
    disk : of the study
    fills : fill value of each variable, as hexadecimal digits of its bytes
    events : tables of events by name
    runs : (run,) int64, the numbers of the runs
    """

    disk: Disk
    fills: Mapping[str, str]
    events: Mapping[str, RunEvents]
    runs: NDArray[np.int64]

    @property
    def _parts(self) -> dict[str, bytes]:
        """Datasets that a checksum covers, in order and without events, with their fill values."""
        empty = {WALL_TIME: np.float64(np.nan).tobytes(), ERROR: b""}
        return empty | {name: bytes.fromhex(self.fills[name]) for name in sorted(self.fills)}

    def sums(self, rows: NDArray[np.intp], state: int) -> NDArray[np.uint32]:
        """Return the checksums of runs with their present values and this status."""
        found = np.empty(len(rows), np.uint32)
        for part in self._at_once(len(rows)):
            some = rows[part]
            parts = [self.disk.read_rows(name, some) for name in self._parts]
            found[part] = _of_state(self._sums(some, _joined(parts)), state)
        return found

    def _at_once(self, count: int) -> Iterator[slice]:
        """Yield the parts of ``count`` runs that are read at once."""
        each = sum(self.disk.extents[name].rows(0, 1).nbytes for name in self._parts)
        step = max(1, min(1024, AT_ONCE // max(1, each)))
        yield from (slice(low, min(low + step, count)) for low in range(0, count, step))

    def _sums(self, rows: slice | NDArray[np.intp], block: NDArray[np.uint8]) -> list[int]:
        """Return checksums of runs without their status; ``block`` has the bytes of their parts."""
        starts = beginnings(self.disk, RUN, self.runs[rows].tolist())
        sums = [zlib.crc32(row.data, start) for row, start in zip(block, starts, strict=True)]
        for name in sorted(self.events):
            sums = self.events[name].checksums(rows, sums)
        return sums

    def look(self, *, live: bool = False) -> Rows:
        """Compare all runs with their checksums.

        ``live`` says that a sweep is writing the study: apparent damage is then checked again.
        """
        found = self._look()
        for _ in range(LOOKS if live else 0):
            if not found.wrong:
                break
            time.sleep(0.05)
            again = self._look()
            still = {one.what for one in found.wrong} & {one.what for one in again.wrong}
            for row in np.flatnonzero(again.state == DAMAGED).tolist():
                if f"run {self.runs[row]}" not in still:  # it is just being overwritten
                    again.state[row] = PENDING
            remaining = [one for one in again.damages if one.unfinished or one.what in still]
            found = Rows(again.state, again.half, remaining)
        return found

    def _look(self) -> Rows:
        count = len(self.runs)
        # Status before checksum before values: the reverse of the order in which a sweep writes.
        status, given = self.disk.read(STATUS), self.disk.read(CHECKSUM)
        for events in self.events.values():
            events.reload()
        state, half = np.full(count, DAMAGED, np.int8), np.zeros(count, bool)
        for rows in self._at_once(count):
            sums, empty = self._bytes(rows)
            state[rows][given[rows] == pending(self.disk, self.runs[rows])] = PENDING
            for one in (DONE, FAILED):
                state[rows][given[rows] == _of_state(sums, one)] = one
            half[rows] = (state[rows] == PENDING) & ~empty
        return Rows(state, half, list(self._damages(status, state, half)))

    def _damages(
        self, status: NDArray[np.int8], state: NDArray[np.int8], half: NDArray[np.bool_]
    ) -> Iterator[Damage]:
        where = self.disk.extents[STATUS]
        for row in np.flatnonzero((state == DAMAGED) | (state != status)).tolist():
            run = f"run {self.runs[row]}"
            if state[row] == DAMAGED:
                yield Damage(run, "its results", harmless=True)
                continue
            said = STATES[status[row]] if 0 <= status[row] < len(STATES) else str(status[row])
            place = stretch(where.row(row).offset, where.row(row).end)
            which = f"which is '{said}' and not '{STATES[state[row]]}'"
            late = bool(status[row] == PENDING)
            yield Damage(f"status of {run}", place, which, harmless=True, unfinished=late)
        if half.any():
            yield Damage(ranges("run", self.runs[half].tolist()), "", unfinished=True)
        over = np.flatnonzero((state == DONE) | (state == FAILED)).tolist()
        for name, one in self.events.items():
            if stale := one.stale(over):
                yield Damage(f"events '{name}'", "", ranges("row", stale), unfinished=True)

    def _bytes(self, rows: slice) -> tuple[list[int], NDArray[np.bool_]]:
        """Return checksums of consecutive runs without their status, and which runs are empty."""
        parts = {name: self.disk.read(name, rows) for name in self._parts}
        block = _joined(parts.values())
        nothing = []
        for name, values in parts.items():
            each = self._parts[name].ljust(values.dtype.itemsize, b"\0")
            nothing.append(np.frombuffer(each * math.prod(values.shape[1:]), np.uint8))
        empty = (block == np.concatenate(nothing)).all(axis=1)
        for name in sorted(self.events):
            empty &= ~self.events[name].ranges[rows].any(axis=1)
        return self._sums(rows, block), empty


def _joined(parts: Iterable[NDArray[Any]]) -> NDArray[np.uint8]:
    """Return the bytes of the same runs in several arrays, (run, byte)."""
    each = [np.ascontiguousarray(one).reshape(len(one), -1).view(np.uint8) for one in parts]
    return np.concatenate(each, axis=1)


def pending(disk: Disk, runs: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the checksums of pending runs, by their numbers."""
    if disk.salt is None:
        return np.zeros(len(runs), np.uint32)
    return _of_state(beginnings(disk, RUN, runs.tolist()), PENDING)


def _of_state(sums: Iterable[int], state: int) -> NDArray[np.uint32]:
    """Return checksums continued over the status, with 1 in place of 0."""
    begin = bytes([state])
    return np.array([zlib.crc32(begin, one) or 1 for one in sums], np.uint32)


def old_wrong_rows(
    disk: Disk, variables: Sequence[str], events: Mapping[str, RunEvents], done: Sequence[int]
) -> list[int]:
    """Return damaged rows of a study of layout 1, of those in ``done``.

    In this layout checksums cover only variables and events.
    """
    wrong = []
    for row in done:
        sums = [0]
        for name in sorted(variables):
            values = np.ascontiguousarray(disk.read(name, slice(row, row + 1)))
            sums = [zlib.crc32(values.reshape(-1).view(np.uint8).data, sums[0])]
        for name in sorted(events):
            sums = events[name].checksums(slice(row, row + 1), sums)
        if sums[0] != int(disk.read(CHECKSUM, row)):
            wrong.append(row)
    return wrong
