"""Which boards does a player search? Those of the matches in which it is asked for a move.

Device twin: ``kernels/games/kalah/ask.cl``.
"""

from reference_py.games.kalah.match import FIRST, SECOND
from reference_py.games.kalah.search import put


def ask(p, match, tick, player):
    """Place the board of a match at the root of the search; where it is another's turn, none."""
    match.counts[:] = 0
    if match.asked == (FIRST, SECOND)[player]:
        put(match, 0, match.board, match.to_move)
        match.counts[0] = 1
    match.frontier = match.boards_per_launch = 0
