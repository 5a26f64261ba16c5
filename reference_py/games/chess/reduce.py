"""What is counted below the positions of a level, now that those which follow them are known?

Device twin: ``kernels/games/chess/reduce.cl``.
"""

from itertools import pairwise

from reference_py.games.chess.perft import batch


def reduce(p, game, tick, level, parents, children, skip, most):
    """Give each position of a batch the sum over those that follow it."""
    own = batch(game, level, parents, skip, most)
    begins = [children + int(game.first[at]) for at in own]
    begins.append(children + int(game.counts[level + 1]))
    for at, (begin, end) in zip(own, pairwise(begins), strict=True):
        for row in game.tallies:
            row[at] = sum(int(one) for one in row[begin:end])
