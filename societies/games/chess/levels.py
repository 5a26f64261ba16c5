"""Which plies does perft count breadth first, and where in memory are the positions of each level?

Levels that do not fit are expanded in batches. A batch is so small that its children fit the next
level even if every position has the largest possible number of moves.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference_py.games.chess.parameters import PerftParameters
from reference_py.games.chess.rules import MOST_MOVES

DEPTH_FIRST = 2
"""Plies that a work-item counts depth first. The moves of the last ply are counted without being
made, so a single loop is enough, without a stack or a list of moves."""


@dataclass(frozen=True)
class CountLevels:
    """How the count of one depth is divided into levels and batches.

    Attributes
    ----------
    batches : number of positions expanded at a time, for each level that is expanded
    starts : index of the first position of each level, the last level (not expanded) included
    bounds : largest number of positions of each level that are in memory at a time
    last : number of plies below the last level
    """

    batches: tuple[int, ...]
    starts: tuple[int, ...]
    bounds: tuple[int, ...]
    last: int

    @property
    def size(self) -> int:
        """Number of positions of all levels, for which memory is allocated."""
        return self.starts[-1] + self.bounds[-1]


def count_levels(p: PerftParameters, depth: int) -> CountLevels:
    """Return how the count of a depth is divided; from depth 2 on the first ply is a level."""
    expanded = max(min(1, depth - 1), depth - DEPTH_FIRST)
    batches, starts, bounds = [], [0], [1]
    for _ in range(expanded):
        batches.append(min(bounds[-1], max(1, p.level_positions // MOST_MOVES)))
        starts.append(starts[-1] + bounds[-1])
        bounds.append(batches[-1] * MOST_MOVES)
    return CountLevels(tuple(batches), tuple(starts), tuple(bounds), depth - expanded)
