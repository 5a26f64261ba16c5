"""Chess for a search: what are a position's moves, its value, and the positions that follow?

Two trees can be searched. That of the published original has pseudo-legal moves: kings may be
captured, pawns become queens, no castling, no capture en passant. The other one has the legal
moves. In both, captures, moves of pawns and moves to the centre come first. A position is fifteen
words: two for each of the seven sets, the lower half first, and the colour of the side to move.
Device twin: ``kernels/games/chess/search.cl``.
"""

from dataclasses import dataclass

from reference_py.games.chess.board import (
    BLACK,
    RANK_3,
    RANK_8,
    Position,
)
from reference_py.games.chess.evaluation import CENTRE, worth
from reference_py.games.chess.rules import (
    QUEEN,
    UPWARDS,
    Move,
    in_check,
    moves,
    play,
    ray,
)
from reference_py.games.ngtsg.parameters import GameFunctions, SearchParameters

WORDS, HALF = 15, 2**32 - 1
MATE = 10**8
"""What it is worth to have mated at once; a ply less for each move until then."""

KNIGHT_JUMPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))
ROOK_LINES = ((1, 0), (-1, 0), (0, 1), (0, -1))
BISHOP_LINES = ((1, 1), (1, -1), (-1, 1), (-1, -1))
"""Files and ranks, as White sees them, in the order of the published original's moves."""


@dataclass(frozen=True)
class ChessParameters(SearchParameters):
    """A search of chess.

    Attributes
    ----------
    legal : whether it has the legal moves, or those of the published original
    """

    legal: bool = False


def words_of(position, side):
    """Return a position as a search has it."""
    return [*(half for one in position for half in (one & HALF, one >> 32)), side]


def position_of(words):
    """Return the position and the side to move."""
    sets = (low | high << 32 for low, high in zip(words[:-1:2], words[1::2], strict=True))
    return Position(*sets), words[-1]


def comes_first(position, move):
    """Return whether a move is ordered before the others."""
    start, end = 1 << move.start, 1 << move.end
    return bool(start & position.pawns or end & (position.other | CENTRE))


def ordered(position, found):
    """Return captures, moves of pawns and moves to the centre first, else in the order given."""
    first = [move for move in found if comes_first(position, move)]
    return first + [move for move in found if not comes_first(position, move)]


def pseudo_legal_moves(position, side):
    """Return the moves of the published original in its order: from a1, b1, ... to h8.

    Of a pawn captures towards the h-file and the a-file, then one step, then two; of other pieces
    direction by direction, outwards.
    """
    turn = 56 if side == BLACK else 0  # squares are gone through as White sees them
    found = []
    for number in (i ^ turn for i in range(64)):
        if position.own >> number & 1:
            found += [(number, end) for end in _ends(position, side, number)]
    return [
        Move(start, end, QUEEN if 1 << start & position.pawns and 1 << end & RANK_8 else 0)
        for start, end in found
    ]


def _ends(position, side, number):
    """Yield where the piece on a square can go, as the side to move sees the board."""
    square, occupied = 1 << number, position.own | position.other
    if square & position.pawns:
        captures = UPWARDS[number] & position.other
        yield from sorted(_numbers(captures), reverse=True)  # the h-file has the higher number
        one = square << 8 & ~occupied
        yield from _numbers(one)
        yield from _numbers((one & RANK_3) << 8 & ~occupied)
        return
    straight, slanting = square & position.orthogonals, square & position.diagonals
    king = not (straight or slanting or square & position.knights)
    if square & position.knights:
        lines = KNIGHT_JUMPS
    else:
        lines = (ROOK_LINES if straight or king else ()) + (
            BISHOP_LINES if slanting or king else ()
        )
    for file, rank in lines:
        step = (file, -rank if side == BLACK else rank)
        if square & position.knights or king:
            reached = _stepped(number, step)
        else:
            reached = ray(square, step, occupied)
        upwards = step[1] > 0 or step == (1, 0)
        yield from sorted(_numbers(reached & ~position.own), reverse=not upwards)


def _stepped(number, step):
    file, rank = number % 8 + step[0], number // 8 + step[1]
    return 1 << 8 * rank + file if 0 <= file < 8 and 0 <= rank < 8 else 0


def _numbers(squares):
    return [number for number in range(64) if squares >> number & 1]


def coded(move):
    """Return a move as a word."""
    return move.start | move.end << 6 | move.promotion << 12


def decoded(code):
    """Return the move that a word stands for."""
    return Move(code & 63, code >> 6 & 63, code >> 12)


def branch(p, words):
    """Return the moves of a position in their order."""
    position, side = position_of(words)
    found = moves(position) if p.legal else pseudo_legal_moves(position, side)
    return [coded(move) for move in ordered(position, found)]


def evaluate(p, words, ply):
    """Return what a position is worth to its side to move: mated, stalemate, or its evaluation."""
    position, _ = position_of(words)
    if p.legal and not moves(position):
        return ply - MATE if in_check(position) else 0
    return worth(position)


def make(p, words, move):
    """Return the position after a move."""
    position, side = position_of(words)
    after = play(position, decoded(move))
    return words_of(after if p.legal else after._replace(special=0), 1 - side)


GAME = GameFunctions(branch, evaluate, make)
