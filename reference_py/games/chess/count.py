"""What is counted below each position of the last level that is stored?

Device twin: ``kernels/games/chess/count.cl``, where a work-item takes a position.
"""

from reference_py.games.chess.perft import batch, perft, position_at


def count(p, game, tick, level, parents, skip, most, plies):
    """Count below every position of a batch."""
    for at in batch(game, level, parents, skip, most):
        game.tallies[:, at] = perft(position_at(game, at), plies, p.kinds)
