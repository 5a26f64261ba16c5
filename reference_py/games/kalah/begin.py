"""Where does a search begin? At the game's own board, the only one of level 0.

Device twin: ``kernels/games/kalah/begin.cl``.
"""

from reference_py.games.kalah.search import put


def begin(p, game, tick):
    """Place the first board, and count from nothing."""
    one = p.games[game.index % len(p.games)]
    put(game, 0, one.board, one.to_move)
    game.counts[:] = 0
    game.counts[0] = 1
    game.frontier = game.boards_per_launch = 0
