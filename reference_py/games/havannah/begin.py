"""From which board do the playouts of a candidate start, and has the candidate move won?

Device twin: ``kernels/games/havannah/begin.cl``, which also prepares the boards of the playouts.
"""

from reference_py.games.havannah.board import board_of
from reference_py.games.havannah.forest import Forest
from reference_py.games.havannah.parameters import EMPTY
from reference_py.games.havannah.playout import WON, outcome


def forest_of(p, stones):
    """Return the stones of a board as a forest, and the reasons for which a side has won."""
    forest, reasons = Forest(board_of(p.size), p.find), 0
    for cell, what in enumerate(stones):
        if what != EMPTY:
            reasons |= forest.place(cell, what)
    return forest, reasons


def begin(p, game, tick):
    """Find which candidate moves win at once."""
    for i, stones in enumerate(game.board):
        _, reasons = forest_of(p, stones)
        game.empties[i] = sum(what == EMPTY for what in stones)
        game.settled[i] = outcome(0, reasons, WON) if reasons else 0
