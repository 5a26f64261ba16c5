"""How does a game of a match begin? Nothing is recorded of it yet.

Device twin: ``kernels/games/chess/start.cl``.
"""

from reference_py.games.chess.match import MOST_PLIES


def start(p, match, tick):
    """Forget the game before."""
    match.number = match.index
    match.moves[:] = [-1] * MOST_PLIES
    match.moves_made = match.margin = match.end = 0
    match.searched[:] = [0, 0]
