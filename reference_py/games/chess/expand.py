"""Which positions follow those of a level? All moves of all of them, in order, level after level.

Device twin: ``kernels/games/chess/expand.cl``.
"""

from reference_py.games.chess.perft import batch, position_at, put_position
from reference_py.games.chess.rules import moves, play


def expand(p, game, tick, level, parents, children, skip, most):
    """Place what follows the positions of a batch; ``first`` says where that of each begins."""
    at = children
    for parent in batch(game, level, parents, skip, most):
        game.first[parent] = at - children
        position = position_at(game, parent)
        for move in moves(position):
            put_position(game, at, play(position, move))
            at += 1
    game.counts[level + 1] = at - children
