"""Which data does a rating copy to the device and back, and when? Several runners, equal results.

``modern`` plays all candidates at once. The others are those of a published measurement (Werner,
HTWK Leipzig 2012): they take ``active`` candidates at a time, and ``together`` playouts of each in
a launch. ``resident`` copies nothing between launches; ``chunk`` copies positions before the first
launch of some candidates and results after the last one; ``each`` copies both at every launch.
The host counts results that are copied back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.games.havannah.parameters import Parameters
from reference_py.games.havannah.playout import DRAW, LOST, REASONS, RESULT, WON

MODERN, CHUNK, EACH = "modern", "chunk", "each"
COPYING = (CHUNK, EACH)

PART = 64
"""Playouts per workgroup: one per work-item on a GPU; on a CPU one work-item runs all."""

MOST_HELD = 2**16
"""Most playouts of a game per launch with boards in global memory: 134 MB on the board of ten."""

RECORD = ("spots", "rows", "parents", "empties", "settled", "next", "streams")
"""Arrays whose entries for a candidate describe its position."""


def launches(p: Parameters) -> Iterator[dict[str, int]]:
    """Yield the arguments of every launch of a batch: its range of candidates and of playouts."""
    whole = len(p.candidates)
    active, together = (whole, p.batch) if p.runner == MODERN else (p.active, p.together)
    if p.memory == "global":
        together = min(together, max(1, MOST_HELD // min(active, whole) // PART) * PART)
    for first in range(0, whole, active):
        some = {"first_candidate": first, "candidates_now": min(active, whole - first)}
        for skip in range(0, p.batch, together):
            yield {**some, "skip": skip, "most": min(together, p.batch - skip)}


class Transfers:
    """Copies positions to the device and results back, and counts the results on the host."""

    def __init__(self, p: Parameters) -> None:
        self._p = p
        self._records: dict[str, NDArray[Any]] = {}
        self._ends = np.zeros((0, len(p.candidates), p.batch), np.uint16)

    def copy_in(self, arrays: Mapping[str, Any], tick: int, **now: int) -> None:
        """Copy the positions of some candidates to the device, before a launch."""
        first, skip = now["first_candidate"], now["skip"]
        if first == 0 and skip == 0:
            self._records = {name: arrays[name].get() for name in RECORD}
            self._ends = np.zeros(arrays["outcomes"].shape, np.uint16)
        if self._p.runner == CHUNK and skip:
            return
        for name, whole in self._records.items():
            for game, records in enumerate(whole):
                part = records[first : first + now["candidates_now"]]
                start = (game * len(records) + first) * part[0].size
                arrays[name].set_part(start, part)

    def copy_out(self, arrays: Mapping[str, Any], tick: int, **now: int) -> None:
        """Copy the results of some candidates to the host, after a launch."""
        first, count, end = now["first_candidate"], now["candidates_now"], now["skip"] + now["most"]
        if self._p.runner == CHUNK and end < self._p.batch:
            return
        begin = 0 if self._p.runner == CHUNK else now["skip"]
        for game, ends in enumerate(self._ends):
            start = (game * len(ends) + first) * self._p.batch
            found = arrays["outcomes"].get_part(start, count * self._p.batch)
            found = found.reshape(count, self._p.batch)
            ends[first : first + count, begin:end] = found[:, begin:end]

    def tally(self, arrays: Mapping[str, Any], tick: int) -> None:
        """Count the results of a batch on the host, as ``tally.cl`` does on the device."""
        ends = self._ends
        lengths = (ends & ((1 << REASONS) - 1)).astype(np.int64) + 1
        reasons = ends >> REASONS & 7
        results = {"draws": DRAW, "wins": WON, "losses": LOST}
        found = {name: (ends >> RESULT == result).sum(-1) for name, result in results.items()}
        found["finishes"] = np.stack([(reasons == kind).sum(-1) for kind in range(8)], axis=-1)
        found |= {"lengths": lengths.sum(-1), "squares": (lengths**2).sum(-1)}
        for name, more in found.items():
            arrays[name].set(arrays[name].get() + more)
