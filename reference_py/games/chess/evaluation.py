"""What is a position worth? Material, and how the pieces of both sides control squares (CH-E1).

It is the evaluation of the published original in whole numbers: 10,000 stand for one of its units.
Device twin: ``kernels/games/chess/evaluation.cl``.
"""

from reference_py.games.chess.board import squares_of, turned
from reference_py.games.chess.rules import seen_by

VALUES = {"pawns": 10, "knights": 30, "bishops": 32, "rooks": 50, "queens": 90, "kings": 3000}
PAWN_CONTROL = 12
"""What a pawn adds to a square where it can capture; other pieces add 1 to each they can move to,
and a square of an own piece counts for nothing."""

CENTRE = 0x1818000000
"""The squares d4, e4, d5 and e5."""

BY_MATERIAL, BY_CONTROL = 5000, 333


def value_of(position, square):
    """Return what the piece on a square is worth."""
    for kind in ("pawns", "knights"):
        if square & getattr(position, kind):
            return VALUES[kind]
    straight, slanting = square & position.orthogonals, square & position.diagonals
    if straight and slanting:
        return VALUES["queens"]
    return VALUES["rooks" if straight else "bishops" if slanting else "kings"]


def control(position):
    """Return by square how much the side to move controls it: a dictionary."""
    found, occupied = {}, position.own | position.other
    for square in squares_of(position.own):
        pawn = square & position.pawns
        ends = seen_by(position, square, occupied) & ~position.own
        for end in squares_of(ends & position.other if pawn else ends):
            found[end] = found.get(end, 0) + (PAWN_CONTROL if pawn else 1)
    return found


def gain(position):
    """Return what the control of the side to move is worth: attacked pieces, and the centre."""
    total = 0
    for square, amount in control(position).items():
        if square & position.other:
            total += 10 * amount + value_of(position, square)
        if square & CENTRE:
            total += 10 * amount
    return total


def material(position):
    """Return the value of the pieces of the side to move minus that of the other's."""
    own = sum(value_of(position, square) for square in squares_of(position.own))
    return own - sum(value_of(position, square) for square in squares_of(position.other))


def worth(position):
    """Return what a position is worth to the side to move."""
    controlled = gain(position) - gain(turned(position))
    return BY_MATERIAL * material(position) + BY_CONTROL * controlled
