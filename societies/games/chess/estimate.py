"""How many nodes has the tree of a position of chess? Counted ply after ply, from a sample of each.

As for Kalah (`societies.games.kalah.estimate`), but of fewer positions and plies, since every check
of a configuration asks for it: the last growth that was looked at is that of all further plies.
"""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace

from reference_py.games.chess.search import branch, make

SAMPLE = 24
"""Most positions of a ply that are looked at."""

PLIES = 6
"""Most plies that are."""


@lru_cache(maxsize=64)
def estimated_nodes(root: tuple[int, ...], legal: bool, depth: int) -> float:
    """Return about how many nodes the tree of a position has.

    Parameters
    ----------
    root : the words of the position
    legal : whether it has the legal moves, or those of the published original
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
