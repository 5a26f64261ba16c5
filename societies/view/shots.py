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
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.workload.declare.view import Frame

EACH = 256
"""Copies whose own series a page can show; of more, the mean and its band count all."""

LOW, HIGH = 0.1, 0.9
"""Quantiles over copies that limit the band."""


class History:
    """Series of all ticks computed so far; rows are only added, so threads may read the others.

    Attributes
    ----------
    serial : number of the history, which no other has; one begins wherever a past is changed
    rows : number of rows; row i belongs to tick i + 1
    copies : number of copies
    """

    _serials = itertools.count()

    def __init__(self, copies: int, names: Sequence[str], lags: Sequence[int], ticks: int) -> None:
        self.serial, self.rows, self.copies = next(self._serials), 0, copies
        self.names, self.lags = tuple(names), tuple(lags)
        self._all = np.full((ticks, 3, len(names)), np.nan, np.float32)
        self._each = np.full((ticks, min(copies, EACH), len(names)), np.nan, np.float64)

    def add(self, values: NDArray[Any]) -> None:
        """Add the series (copy, column) of a tick; a value with a lag belongs to an earlier one."""
        with warnings.catch_warnings():  # of series that have no value in any copy yet
            warnings.simplefilter("ignore", RuntimeWarning)
            bands = np.nanquantile(values, [LOW, HIGH], axis=0)
            mean = np.nanmean(values, axis=0)
        for column, lag in enumerate(self.lags):
            row = self.rows - lag
            if row >= 0:
                self._all[row, :, column] = mean[column], *bands[:, column]
                self._each[row, :, column] = values[: self._each.shape[1], column]
        self.rows += 1

    def before(self, rows: int) -> History:
        """Return a history with the first rows of this one."""
        made = History(self.copies, self.names, self.lags, 0)
        made._all, made._each = self._all.copy(), self._each.copy()
        made._all[rows:], made._each[rows:] = np.nan, np.nan
        made.rows = rows
        return made

    def part(self, first: int, last: int, copy: int) -> NDArray[np.float32]:
        """Return (row, mean low high own, column) of some rows, and of a chosen copy."""
        own = self._each[first:last, None, min(copy, self._each.shape[1] - 1)]
        return np.concatenate([self._all[first:last], own.astype(np.float32)], axis=1)

    def parted(self, other: History) -> int | None:
        """Return the first tick of which any number differs; None if all are equal so far."""
        rows = min(self.rows, other.rows)
        now = [i for i, lag in enumerate(self.lags) if not lag]  # others belong to a day before
        mine, its = (
            np.ascontiguousarray(one._each[:rows][..., now]).view(np.uint64)
            for one in (self, other)
        )
        different = np.flatnonzero((mine != its).any(axis=(1, 2)))
        return int(different[0]) + 1 if len(different) else None


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
        if (serial, copy) != (pane.history.serial, shot.facts["copy"]):
            rows = 0
        else:  # a value with a lag is known a tick later, so the last row is sent again
            rows = max(0, min(rows, pane.rows) - 1)
        series = pane.history.part(rows, pane.rows, shot.facts["copy"])
        parts = {"series": series, **pane.numbers}
        known[place] = (pane.history.serial, shot.facts["copy"], pane.rows)
        blocks += [np.ascontiguousarray(part, np.float32) for part in parts.values()]
        sizes = [[name, list(part.shape)] for name, part in parts.items()]
        panes.append({**pane.facts, "from": rows, "parts": sizes})
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
