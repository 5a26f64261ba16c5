"""How many nodes does the tree of a chess position have? An estimate from a sample of each ply.

The method is that of Kalah (`societies.games.kalah.estimate`), but with fewer positions and plies,
since every check of a configuration needs it. Plies below the sampled ones are assumed to grow by
the factor of the last sampled ply.
"""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace

from reference_py.games.chess.search import branch, make

SAMPLE = 24
"""Largest number of positions of a ply whose moves are counted."""

PLIES = 6
"""Largest number of plies that are sampled."""


@lru_cache(maxsize=64)
def estimated_nodes(root: tuple[int, ...], legal: bool, depth: int) -> float:
    """Return an estimate of the number of nodes of the tree of a position.

    Parameters
    ----------
    root : the words of the position
    legal : whether moves are legal, or those of the published original
    depth : plies of the tree

    Returns
    -------
    float
        Exact as long as no ply above the last one has more than `SAMPLE` positions.
    """
    rules = SimpleNamespace(legal=legal)
    sample, here, total, growth = [list(root)], 1.0, 1.0, 0.0
    for ply in range(depth):
        if ply < PLIES:
            step = max(1.0, len(sample) / SAMPLE)
            sample = [sample[int((i + 0.5) * step)] for i in range(int(len(sample) / step))]
            found = [(words, branch(rules, words)) for words in sample]
            growth = sum(len(moves) for _, moves in found) / len(sample)
            sample = [make(rules, words, move) for words, moves in found for move in moves]
        here *= growth
        total += here
        if not sample:
            break
    return total
