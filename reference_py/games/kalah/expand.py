"""Which boards follow those of a level? All moves of all of them, in order, level after level.

The order is that in which a walk depth first comes to the boards of a level. A board whose game is
over has no following ones. Device twin: ``kernels/games/kalah/expand.cl``.
"""

from reference_py.games.kalah.rules import is_over, moves, play
from reference_py.games.kalah.search import batch, position, put


def expand(p, game, tick, level, parents, children, skip, most):
    """Place what follows the boards of a batch; ``first`` says where those of each board begin."""
    at = children
    for parent in batch(game, level, parents, skip, most):
        game.first[parent] = at - children
        board, side = position(game, parent)
        if not is_over(p, board):
            for pit in moves(p, board, side):
                put(game, at, *play(p, board, side, pit)[:2])
                at += 1
    game.counts[level + 1] = at - children
