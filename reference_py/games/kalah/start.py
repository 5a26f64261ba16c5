"""How does a game of a match begin? At the start position, TOP to move.

Device twin: ``kernels/games/kalah/start.cl``.
"""

from reference_py.games.kalah.match import asked_next, stream_of
from reference_py.games.kalah.parameters import TOP, start_board


def start(p, match, tick):
    """Place the start position; nothing is recorded yet."""
    match.board[:] = start_board(p.pits, p.stones)
    match.to_move = TOP
    match.moves[: match.moves_made] = -1  # those of the game before; there is nothing after them
    match.moves_made = match.margin = 0
    match.searched[:] = [0, 0]
    match.stream = stream_of(p, match, tick)
    match.asked = asked_next(p, match, tick)
