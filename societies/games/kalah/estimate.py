"""How many boards will a search look at? Counted level after level, from a sample of each.

The number of moves of a board depends on the game and on how far it has gone: 5.8 near the usual
start, 4.8 ten plies on, and none once a game is over. So nothing is assumed of it. The boards of a
level are looked at if there are few; else every so many-th of them, in order, stands for those
between, and so on from these (the populations of P. C. Chen, "Heuristic sampling", SIAM J. Comput.
21, 1992, with one class a level; D. E. Knuth, "Estimating the efficiency of backtrack programs",
Math. Comp. 29, 1975, is the case of a single board). No random numbers: it always says the same.
"""

from __future__ import annotations

from functools import lru_cache

from reference_py.games.kalah.parameters import Parameters
from reference_py.games.kalah.rules import is_over, moves, play

SAMPLE = 256
"""Most boards of a level that are looked at: all known counts are met within a tenth."""


@lru_cache(maxsize=64)
def estimated_nodes(rules: Parameters, depth: int) -> float:
    """Return about how many boards a search of the boards of ``rules.games`` looks at.

    Parameters
    ----------
    rules : size and variant of the game, and the boards; the rest says nothing here
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
