"""Which moves were those of a playout?

Device twin: ``kernels/games/havannah/replay.cl``.
"""

from reference_py.games.havannah.begin import forest_of
from reference_py.games.havannah.parameters import EMPTY
from reference_py.games.havannah.playout import REASONS, drawn, playout, stream_of


def replay(p, game, tick):
    """Keep the moves of playout ``record_game`` of every candidate, the candidate move first."""
    for i, candidate in enumerate(game.candidate):
        moves = [candidate]
        if not game.settled[i]:
            forest, _ = forest_of(p, game.board[i])
            number = game.streams[i] + p.record_game
            plies = playout(p, forest, game.next[i], stream_of(p, game, number)) % 2**REASONS
            left = [cell for cell, what in enumerate(forest.stones) if what == EMPTY]
            rng = stream_of(p, game, number)
            moves += [drawn(left, len(left) - k, rng) for k in range(plies)]
        game.moves[i][:] = moves + [-1] * (p.cells - len(moves))
