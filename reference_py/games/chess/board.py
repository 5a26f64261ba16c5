"""What is a position of chess, and how does it look from the other side of the board?

A set of squares is a whole number with a bit for each square: bit 8 * rank + file, file a and the
first rank of the side to move being 0. So pawns of the side to move always go up, and a position
is turned upside down after every move. Device twin: ``kernels/games/chess/board.cl``.
"""

from typing import NamedTuple

WHITE, BLACK = 0, 1
"""The two sides."""

ALL = 2**64 - 1
RANK_1, RANK_2, RANK_3, RANK_4, RANK_5, RANK_6, RANK_7, RANK_8 = (
    0xFF << 8 * rank for rank in range(8)
)
CORNERS = 0x8100000000000081
"""Squares of the rooks at the start."""


class Position(NamedTuple):
    """A position as the side to move sees it: sets of squares.

    Attributes
    ----------
    own, other : the pieces of the side to move, and those of the other side
    pawns, knights : of both sides
    diagonals : bishops and queens of both sides
    orthogonals : rooks and queens of both sides; what is in none of these four sets is a king
    special : of the corners, rooks with which a side may still castle; of the sixth rank, the
        square on which a pawn that has just moved two squares can be captured en passant. The
        latter is only set if a pawn stands where it could capture
    """

    own: int
    other: int
    pawns: int
    knights: int
    diagonals: int
    orthogonals: int
    special: int

    @property
    def king(self):
        """The king of the side to move."""
        return self.own & ~(self.pawns | self.knights | self.diagonals | self.orthogonals)


def flipped(squares):
    """Return a set of squares as it is seen from the other side: ranks in reverse order."""
    return int.from_bytes(squares.to_bytes(8, "little"), "big")


def turned(position):
    """Return the position as the other side sees it, who is then to move."""
    own, other, *rest = map(flipped, position)
    return Position(other, own, *rest)


def squares_of(squares):
    """Yield the squares of a set, the lowest first, each as a set of its own."""
    while squares:
        lowest = squares & -squares
        yield lowest
        squares ^= lowest


def number_of(square):
    """Return the number of a square, 0 to 63."""
    return square.bit_length() - 1


def name_of(number, side):
    """Return the name of a square, as ``e4``, that a side sees under a number."""
    number ^= 56 if side == BLACK else 0
    return "abcdefgh"[number % 8] + "12345678"[number // 8]
