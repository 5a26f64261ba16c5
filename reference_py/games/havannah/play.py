"""How do some playouts of some candidates end?

Device twin: ``kernels/games/havannah/play.cl``.
"""

from reference_py.games.havannah.begin import forest_of
from reference_py.games.havannah.playout import playout, stream_of


def play(p, game, tick, first_candidate, candidates_now, skip, most):
    """Play ``most`` playouts of a batch, from number ``skip`` on, of some candidates."""
    for i in range(first_candidate, first_candidate + candidates_now):
        forest, _ = forest_of(p, game.board[i])
        for k in range(skip, skip + most):
            if game.settled[i]:
                game.outcomes[i][k] = game.settled[i]
                continue
            number = p.first_playout + (tick - 1) * p.batch + k
            rng = stream_of(p, game, game.streams[i] + number)
            game.outcomes[i][k] = playout(p, forest, game.next[i], rng)
