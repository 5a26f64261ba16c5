"""Which plies are taken breadth first, and where in memory are the positions of each level?

Whatever does not fit is done in batches: of a level so many positions are expanded at a time that
what follows them fits the next one, however many moves each has.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference_py.games.chess.parameters import PerftParameters
from reference_py.games.chess.rules import MOST_MOVES

DEPTH_FIRST = 2
"""Plies that a work-item takes depth first. The moves of the last one are counted without being
made, so this is one loop, which keeps neither stack nor list."""


@dataclass(frozen=True)
class Levels:
    """How the counting of some depth is cut.

    Attributes
    ----------
    batches : of each level that is expanded, how many positions are taken at a time
    starts : where the positions of each level begin, with the last level, which is not expanded
    bounds : the most positions of each level that are there at a time
    last : plies below the last level
    """

    batches: tuple[int, ...]
    starts: tuple[int, ...]
    bounds: tuple[int, ...]
    last: int

    @property
    def size(self) -> int:
        """Positions of all levels, for which there must be memory."""
        return self.starts[-1] + self.bounds[-1]


def levels(p: PerftParameters, depth: int) -> Levels:
    """Return how the counting of a depth is cut; from two plies on the first moves have a level."""
    expanded = max(min(1, depth - 1), depth - DEPTH_FIRST)
    batches, starts, bounds = [], [0], [1]
    for _ in range(expanded):
        batches.append(min(bounds[-1], max(1, p.kept // MOST_MOVES)))
        starts.append(starts[-1] + bounds[-1])
        bounds.append(batches[-1] * MOST_MOVES)
    return Levels(tuple(batches), tuple(starts), tuple(bounds), depth - expanded)
