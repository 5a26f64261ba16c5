"""What was counted below the game's own position, and below each of its moves?

Device twin: ``kernels/games/chess/answer.cl``.
"""

from reference_py.games.chess.perft import position_at
from reference_py.games.chess.rules import moves


def answer(p, game, tick, children):
    """Keep what the first position was given, and the positions of level 1, one for each move.

    ``children`` is where these begin; 0: there are none, as each move is a sequence of its own.
    """
    game.nodes = game.tallies[0, 0]
    for i, row in enumerate(game.tallies[1:]):
        game.details[i] = row[0]
    game.root_moves[:] = game.divided[:] = 0
    for i, move in enumerate(moves(position_at(game, 0))):
        game.root_moves[i] = move.start | move.end << 6 | move.promotion << 12
        game.divided[i] = game.tallies[0, children + i] if children else 1
