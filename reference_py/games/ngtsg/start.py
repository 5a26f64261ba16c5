"""How does a game of a match begin? Nothing is recorded of it yet.

Device twin: ``kernels/games/ngtsg/start.cl``.
"""


def start(p, match, tick):
    """Forget the game before."""
    match.number = match.index
    match.moves[:] = [-1] * len(match.moves)
    match.moves_made = match.margin = match.end = 0
    match.searched[:] = [0, 0]
