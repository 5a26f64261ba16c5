"""How many boards will a search of Kalah visit? An estimate from a sample of each level.

The number of moves of a board depends on the game and on how far it has gone: 5.8 near the usual
start, 4.8 ten plies later, and none when a game is over. So no constant is assumed. A small level
is counted completely; of a larger one every n-th board, in order, represents its neighbours, and
the next level is sampled from their children (the populations of P. C. Chen, "Heuristic sampling",
SIAM J. Comput. 21, 1992, with one class per level; a sample of one board is the method of D. E.
Knuth, "Estimating the efficiency of backtrack programs", Math. Comp. 29, 1975). The sample is not
random, so the estimate is always the same.
"""

from __future__ import annotations

from functools import lru_cache

from reference_py.games.kalah.parameters import Parameters
from reference_py.games.kalah.rules import is_over, moves, play

SAMPLE = 256
"""Largest sample of a level: with it all known counts are estimated within a tenth."""


@lru_cache(maxsize=64)
def estimated_nodes(rules: Parameters, depth: int) -> float:
    """Return the estimated number of boards that a search of ``rules.games`` visits.

    Parameters
    ----------
    rules : size and variant of the game, and the boards; other parameters are ignored
    depth : plies of the search

    Returns
    -------
    float
        Exact as long as no level has more than `SAMPLE` boards.
    """
    sample = [(list(one.board), one.to_move) for one in rules.games]
    here = total = float(len(sample))
    for _ in range(depth):
        step = max(1.0, len(sample) / SAMPLE)
        sample = [sample[int((i + 0.5) * step)] for i in range(int(len(sample) / step))]
        following = [
            play(rules, board, side, pit)[:2]
            for board, side in sample
            if not is_over(rules, board)
            for pit in moves(rules, board, side)
        ]
        if not following:
            break
        here *= len(following) / len(sample)
        total += here
        sample = following
    return total
