"""How many nodes has the tree of a game? An estimate from a sample of each ply.

The number of moves of a position depends on the game and on how far it has gone: 5.8 near the usual
start of Kalah, 4.8 ten plies later, and none when a game is over. So no constant is assumed. A
small ply is counted completely; of a larger one every n-th position, in order, represents its
neighbours, and the next ply is sampled from their children (the populations of P. C. Chen,
"Heuristic sampling", SIAM J. Comput. 21, 1992, with one class per level; a sample of one position
is the method of D. E. Knuth, "Estimating the efficiency of backtrack programs", Math. Comp. 29,
1975). The sample is not random, so the estimate is always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

N = TypeVar("N")


def estimated_nodes(
    roots: Iterable[N], children: Callable[[N], Iterable[N]], depth: int, most: int, plies: int
) -> float:
    """Return the estimated number of nodes of the trees of some positions.

    Parameters
    ----------
    roots : positions
    children : function that returns the positions after each move
    depth : plies of the tree
    most : largest number of positions of a ply whose moves are counted
    plies : plies that are sampled; deeper ones are assumed to grow by the factor of the last

    Returns
    -------
    float
        Exact as long as no ply above the last one has more than ``most`` positions.
    """
    sample, growth = list(roots), 0.0
    here = total = float(len(sample))
    for ply in range(depth):
        if ply < plies:
            step = max(1.0, len(sample) / most)
            sample = [sample[int((i + 0.5) * step)] for i in range(int(len(sample) / step))]
            following = [child for one in sample for child in children(one)]
            growth, sample = len(following) / len(sample), following
        here *= growth
        total += here
        if not sample:
            break
    return total
