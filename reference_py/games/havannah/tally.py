"""How often was a playout won, lost or drawn, for which reasons, after how many stones?

Device twin: ``kernels/games/havannah/tally.cl``.
"""

from reference_py.games.havannah.playout import DRAW, REASONS, RESULT, WON


def tally(p, game, tick):
    """Count the playouts of a batch; the candidate move is a stone of the game, too."""
    for i, ends in enumerate(game.outcomes):
        for end in ends:
            plies, reasons, result = end % 2**REASONS, end >> REASONS & 7, end >> RESULT
            counts = game.draws if result == DRAW else game.wins if result == WON else game.losses
            counts[i] += 1
            game.finishes[i][reasons] += 1
            game.lengths[i] += plies + 1
            game.squares[i] += (plies + 1) ** 2
