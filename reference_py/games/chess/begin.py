"""Where does the counting of a depth begin? At the game's own position, the only one of level 0.

Device twin: ``kernels/games/chess/begin.cl``.
"""

from reference_py.games.chess.perft import put_position


def begin(p, game, tick):
    """Place the first position."""
    put_position(game, 0, p.boards[game.index % len(p.boards)].position)
    game.counts[:] = 0
    game.counts[0] = 1
