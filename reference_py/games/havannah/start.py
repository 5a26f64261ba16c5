"""How does a game of a match begin? Nothing is recorded of it yet.

Device twin: ``kernels/games/havannah/start.cl``.
"""


def start(p, match, tick):
    """Forget the game before."""
    match.number = match.index
    match.moves[:] = [-1] * p.most_moves
    match.moves_made = match.margin = 0
