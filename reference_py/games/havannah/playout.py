"""How does a game end that continues at random, and how is its end written in 16 bits?

Device twin: ``kernels/games/havannah/playout.cl``.
"""

from reference_py.games.havannah import flood, offline
from reference_py.games.havannah.parameters import EMPTY, STREAM_GAP, other
from reference_py.primitives.rng import Rng

REASONS, RESULT = 9, 12
"""Where reasons and result begin in an outcome; below are the stones that were placed."""

DRAW, WON, LOST = 0, 1, 2
"""Results, as who made the candidate move sees them."""


def outcome(plies, reasons, result):
    """Return the end of a playout in one number."""
    return plies | reasons << REASONS | result << RESULT


def stream_of(p, game, number):
    """Return the random numbers of a playout: that of the number in the streams of a game."""
    return Rng.seed(p.stream_base, STREAM_GAP, game.index * p.cells * p.limit + number)


def drawn(empties, n, rng):
    """Take one of the first n empty cells at random; the last of them takes its place."""
    j = rng.below(n)
    cell = empties[j]
    empties[j] = empties[n - 1]
    return cell


def playout(p, forest, side, rng):
    """Play a game to its end from the stones of a forest; return its outcome.

    ``side`` moves next. The candidate move was made by the other side.
    """
    board = forest.board
    empties = [cell for cell, what in enumerate(forest.stones) if what == EMPTY]
    if p.winner == "offline":
        order = [drawn(empties, n, rng) for n in range(len(empties), 0, -1)]
        plies, winner, reasons = offline.earliest(board, forest.stones, order, side)
        return outcome(plies, reasons, _result(reasons, winner, side))
    forest, mover, plies = forest.copy(), side, 0
    for n in range(len(empties), 0, -1):
        cell = drawn(empties, n, rng)
        plies += 1
        reasons = forest.place(cell, mover)
        if p.winner == "flood":
            own = {cell for cell, what in enumerate(forest.stones) if what == mover}
            reasons = flood.reasons_of(board, own)
        if reasons:
            return outcome(plies, reasons, _result(reasons, mover, side))
        mover = other(mover)
    return outcome(plies, 0, DRAW)


def _result(reasons, winner, side):
    return DRAW if not reasons else LOST if winner == side else WON
