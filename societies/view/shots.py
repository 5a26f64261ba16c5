"""What is drawn of a run in one tick, and how is it sent to a page?

A `Shot` refers to the series of its courses, which only grow; each page is sent the rows that it
lacks, and the numbers of the one tick that is shown.
"""

from __future__ import annotations

import itertools
import json
import struct
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.view.networks import packed_links
from societies.words import counted
from societies.workload.declare.view import Frame

EACH = 256
"""Copies whose own series a page can show; of more, the mean and its band count all."""

ROOM = 64
"""Rows for which a history has room at first; it doubles when they are full."""

LOW, HIGH = 0.1, 0.9
"""Quantiles over copies that limit the band."""


@dataclass(frozen=True)
class Line:
    """A column of the series.

    Attributes
    ----------
    series : name of the series; its columns are drawn in one chart
    name : name of the column
    unit, meaning : of the series
    lag : ticks by which its values are later than the tick that they belong to
    """

    series: str
    name: str
    unit: str = "1"
    meaning: str = ""
    lag: int = 0


MOST_BYTES = 12_000
"""Bytes of the series in a message, after which the next picture is sent; with all else a message
then stays below 50 kB."""

MOST_VALUES = 1001
"""Values of a spread that are sent; of more, as many that are evenly spaced in the sorted list."""


class History:
    """Series of all ticks computed so far; rows are only added, so threads may read the others.

    Attributes
    ----------
    serial : number of the history, which no other has; one begins wherever a past is changed
    rows : number of rows; row i belongs to tick i + 1
    copies : number of copies
    lines : its columns
    """

    _serials = itertools.count()

    def __init__(self, copies: int, lines: Sequence[Line], room: int = ROOM) -> None:
        self.serial, self.rows, self.copies = next(self._serials), 0, copies
        self.lines = tuple(lines)
        self._all = np.full((room, 3, len(lines)), np.nan, np.float32)
        self._each = np.full((room, min(copies, EACH), len(lines)), np.nan, np.float64)

    def add(self, values: NDArray[Any]) -> None:
        """Add the series (copy, column) of a tick; a value with a lag belongs to an earlier one."""
        shown = np.repeat(values, 3, axis=0)
        if len(values) > 1:
            shown = np.stack([values.mean(axis=0), *np.quantile(values, [LOW, HIGH], axis=0)])
            if (some := np.isnan(values).any(axis=0)).any():  # slow, so for these columns only
                with warnings.catch_warnings():  # of series that have no value in any copy yet
                    warnings.simplefilter("ignore", RuntimeWarning)
                    shown[0, some] = np.nanmean(values[:, some], axis=0)
                    shown[1:, some] = np.nanquantile(values[:, some], [LOW, HIGH], axis=0)
        if self.rows == len(self._all):  # another thread may read the arrays of before
            self._all, self._each = (
                np.concatenate([one, np.full_like(one, np.nan)]) for one in (self._all, self._each)
            )
        lags = np.array([line.lag for line in self.lines])
        for lag in np.unique(lags):
            row, which = self.rows - lag, lags == lag
            if row >= 0:
                self._all[row][:, which] = shown[:, which]
                self._each[row][:, which] = values[: self._each.shape[1], which]
        self.rows += 1

    def begins(self, lines: Sequence[Line], values: NDArray[Any]) -> bool:
        """Return whether its rows but the last are the first of these (copy, row, column).

        The last row may lack values that have a lag.
        """
        mine = self._each[: max(0, self.rows - 1)].swapaxes(0, 1)
        theirs = values[: mine.shape[0], : mine.shape[1]]
        return (
            self.lines == tuple(lines)
            and self.copies == len(values)
            and np.array_equal(mine, theirs, equal_nan=True)
        )

    def before(self, rows: int, lines: Sequence[Line]) -> History:
        """Return a history with these columns and the first rows of this one."""
        made = History(self.copies, lines, len(self._all))
        names = [line.name for line in self.lines]
        for column, line in enumerate(lines):
            if line.name in names:
                own = names.index(line.name)
                known = max(0, rows - line.lag)
                made._all[:known, :, column] = self._all[:known, :, own]
                made._each[:known, :, column] = self._each[:known, :, own]
        made.rows = rows
        return made

    @property
    def row_bytes(self) -> int:
        """Bytes of a row in a message."""
        return 4 * len(self.lines) * (1 if self.copies == 1 else 4)

    def part(self, first: int, last: int, copy: int) -> NDArray[np.float32]:
        """Return (row, mean low high own, column) of some rows, and of a chosen copy."""
        own = self._each[first:last, None, min(copy, self._each.shape[1] - 1)]
        return np.concatenate([self._all[first:last], own.astype(np.float32)], axis=1)

    def parted(self, other: History, first: int = 0) -> int | None:
        """Return the first tick after ``first`` with another number; None if there is none."""
        rows = slice(first, min(self.rows, other.rows))
        its = [line.name for line in other.lines]
        both = [  # values with a lag belong to a tick before
            (column, its.index(line.name))
            for column, line in enumerate(self.lines)
            if not line.lag and line.name in its
        ]
        mine, others = (
            np.ascontiguousarray(one._each[rows][..., list(columns)]).view(np.uint64)
            for one, columns in zip((self, other), zip(*both, strict=True), strict=True)
        )
        different = np.flatnonzero((mine != others).any(axis=(1, 2)))
        return first + int(different[0]) + 1 if len(different) else None


def evenly(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return the sorted finite values of a spread, at most `MOST_VALUES` of them."""
    found = np.sort(values[np.isfinite(values)])
    if len(found) > MOST_VALUES:
        found = found[np.linspace(0, len(found) - 1, MOST_VALUES).round().astype(np.int64)]
    return found.astype(np.float32)


@dataclass(frozen=True)
class Pane:
    """What is shown of a course: the text and the numbers of one tick."""

    history: History
    rows: int
    facts: dict[str, Any]
    numbers: dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Shot(Frame):
    """A scene of a state, one or two courses side by side, which a page draws by itself."""

    tick: int = 0
    panes: tuple[Pane, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def hash_comment(self) -> str:
        """Return a comment with the hash of the steered state, for its YAML; "": it has none."""
        sha256 = self.panes[-1].facts["sha256"]
        if not sha256 or not self.tick:
            return ""
        return (
            f"# state sha256 after {self.facts['clock']} {self.tick}: {sha256}\n"
            f"# (a run of this file with {counted(self.tick, self.facts['clock'])} ends with it)\n"
        )


NO_PIXELS = np.zeros((0, 0, 4), np.uint8)


def message(
    shot: Shot, *, number: int, state: int, known: dict[int, tuple[int, int, int]]
) -> bytes:
    """Return a scene as it is sent to a page: rows of series that it does not have, and numbers.

    Parameters
    ----------
    shot : what is drawn
    number : number of the frame
    state : number of the state that it shows, -1 if it is not the newest state
    known : serial, copy and rows of the series that the page has, by pane; changed to what it has
        when it has received this
    """
    blocks: list[NDArray[np.float32]] = []
    panes = []
    for place, pane in enumerate(shot.panes):
        serial, copy, rows = known.get(place, (-1, 0, 0))
        facts = pane.facts
        if serial != pane.history.serial:
            facts = {**facts, "lines": [asdict(line) for line in pane.history.lines]}
        if (serial, copy) != (pane.history.serial, shot.facts["copy"]):
            rows = 0
        else:  # a value with a lag is known a tick later, so the last row is sent again
            rows = max(0, min(rows, pane.rows) - 1)
        series = pane.history.part(rows, pane.rows, shot.facts["copy"])
        if pane.history.copies == 1:  # mean and band are those of the only copy
            series = series[:, -1:]
        parts = {"series": series, **pane.numbers}
        if "links" in parts:
            parts["links"] = packed_links(parts["links"], len(parts["nodes"]))
        known[place] = (pane.history.serial, shot.facts["copy"], pane.rows)
        blocks += [np.ascontiguousarray(part, np.float32) for part in parts.values()]
        sizes = [[name, list(part.shape)] for name, part in parts.items()]
        panes.append({**facts, "from": rows, "parts": sizes})
    header = {
        **shot.facts,
        "scene": True,
        "number": number,
        "state": state,
        "tick": shot.tick,
        "caption": shot.caption,
        "panes": panes,
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    return b"".join((struct.pack("<I", len(text)), text, *(block.tobytes() for block in blocks)))
