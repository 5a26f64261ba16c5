"""How are the events of each run of a study written into a table and found again?

The events of a run are consecutive rows; those of a later batch follow those of an earlier one. A
row of the table is valid if it belongs to a run that is done, like everything else in a study.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.output.disk import Disk
from societies.output.study_layout import PLACES, RUN
from societies.output.tables import EventTable

Columns = Mapping[str, NDArray[Any]]


class RunEvents:
    """One table of events of a study that is open.

    Parameters
    ----------
    disk : of the study
    table : with a column ``run``
    runs : (run,) int64, the numbers of the runs

    Attributes
    ----------
    ranges : (run, 2) int64, first row and number of rows of each run
    used : number of rows up to the last valid one; see `continue_after`
    """

    def __init__(self, disk: Disk, table: EventTable, runs: NDArray[np.int64]) -> None:
        self.table, self._disk, self._runs = table, disk, runs
        self.used = 0
        self.reload()

    def reload(self) -> None:
        """Read again from the disk which rows belong to each run."""
        self.ranges: NDArray[np.int64] = self._disk.read(PLACES.format(self.table.name)).copy()

    def read(self, column: str, first: int, stop: int) -> NDArray[Any]:
        """Return values of consecutive rows of the table."""
        return self._disk.read(f"{self.table.group}/{column}", slice(first, stop))

    def add(self, rows: Sequence[int], columns: Columns) -> None:
        """Write the events of some runs; the table must have room for them.

        Parameters
        ----------
        rows : rows of the runs in the study
        columns : of the table, in the order of the runs; ``run`` is an index into ``rows``
        """
        at = columns[RUN]
        count = np.bincount(at, minlength=len(rows)).astype(np.int64)
        first = self.used + np.cumsum(count) - count
        events = slice(self.used, self.used + len(at))
        for column in self.table.columns:
            if column.name in columns:  # runs of another shape may lack some
                values = self._runs[list(rows)][at] if column.name == RUN else columns[column.name]
                inner = [slice(0, length) for length in values.shape[1:]]
                self._disk.write(f"{self.table.group}/{column.name}", values, events, *inner)
        self.ranges[list(rows)] = np.stack([first, count], axis=1)
        at = np.array(rows, np.intp)
        self._disk.write_rows(PLACES.format(self.table.name), at, self.ranges[at])
        self.used = events.stop

    def take_over(self, other: RunEvents, rows: Mapping[int, int]) -> None:
        """Copy the events of runs of another study; ``rows`` maps its rows to rows of this one."""
        first, count = other.ranges[list(rows)].T
        run = np.repeat(np.arange(len(rows)), count)
        places = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(run))
        columns = {
            column.name: other.read(column.name, 0, other.used)[places]
            for column in self.table.columns
        }
        self.add(list(rows.values()), columns | {RUN: run})

    def checksums(self, rows: slice | NDArray[np.intp], sums: Sequence[int]) -> list[int]:
        """Return the CRC-32 of the events of each run in ``rows``, continued from ``sums``."""
        places = self.ranges[rows]
        found = [
            zlib.crc32(int(count).to_bytes(8, "little", signed=True), before)
            for count, before in zip(places[:, 1], sums, strict=True)
        ]
        filled = np.flatnonzero(self._possible(places) & (places[:, 1] > 0))
        ordered = filled[np.argsort(places[filled, 0], kind="stable")]
        in_order = places[ordered]  # a piece begins where events do not follow those before
        breaks = np.flatnonzero(in_order[1:, 0] != in_order[:-1].sum(axis=1)) + 1
        for piece in np.split(ordered, breaks):
            if not len(piece):
                continue
            begin, end = int(places[piece[0], 0]), int(places[piece[-1]].sum())
            for name in sorted(column.name for column in self.table.columns):
                block = np.ascontiguousarray(self.read(name, begin, end))
                for i in piece.tolist():
                    first, count = (int(one) for one in places[i])
                    own = block[first - begin : first - begin + count]
                    found[i] = zlib.crc32(own.reshape(-1).view(np.uint8).data, found[i])
        return found

    def chosen(self, rows: Sequence[int]) -> NDArray[np.int64]:
        """Return the rows of the table that hold the events of some runs, run after run."""
        places = self.ranges[list(rows)]
        parts = [np.arange(first, first + count) for first, count in places.tolist()]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def stale(self, over: Sequence[int]) -> list[int]:
        """Return the rows of the table that are not empty and belong to no run in ``over``."""
        places = self.ranges[list(over)]
        edges = np.zeros(self.table.rows + 1, np.int64)
        for first, count in places[self._possible(places)].tolist():
            edges[first] += 1
            edges[first + count] -= 1
        free = np.flatnonzero(np.cumsum(edges)[:-1] == 0).tolist()
        found: list[int] = []
        for start, stop in stretches(free, longest=1 << 16):
            first, end = free[start], free[start] + stop - start
            written = np.zeros(end - first, bool)
            for column in self.table.columns:
                values = self.read(column.name, first, end).reshape(end - first, -1)
                bits = f"u{values.dtype.itemsize}"
                empty = np.array(column.fill, values.dtype).view(bits)
                written |= (values.view(bits) != empty).any(axis=1)
            found += (first + np.flatnonzero(written)).tolist()
        return found

    def clear(self, over: Sequence[int]) -> None:
        """Clear the events of all runs but those in ``over``, and continue after theirs."""
        stale = self.stale(over)
        for start, stop in stretches(stale):
            events = slice(stale[start], stale[start] + stop - start)
            for column in self.table.columns:
                values = self.read(column.name, events.start, events.stop)
                empty = np.full(values.shape, column.fill, values.dtype)
                self._disk.write(f"{self.table.group}/{column.name}", empty, events)
        positions = np.zeros_like(self.ranges)
        positions[list(over)] = self.ranges[list(over)]
        if not np.array_equal(positions, self.ranges):
            self.ranges = positions
            self._disk.write(PLACES.format(self.table.name), positions)
        self.continue_after(over)

    def continue_after(self, done: Sequence[int]) -> None:
        """Write the next events after the last event of the runs in ``done``."""
        places = self.ranges[list(done)]
        self.used = int(places[self._possible(places)].sum(axis=1).max(initial=0))

    def _possible(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the rows of each run are within the table; in a damaged file they may not be."""
        first, count = places.T
        inside: NDArray[np.bool_] = (places >= 0).all(1) & (first <= self.table.rows - count)
        return inside


def stretches(rows: Sequence[int], longest: int = 1 << 30) -> Iterable[tuple[int, int]]:
    """Yield start and end index of every part of ``rows`` with consecutive numbers."""
    first = 0
    for i in range(1, len(rows) + 1):
        if i == len(rows) or rows[i] != rows[i - 1] + 1 or i - first >= longest:
            yield first, i
            first = i
