"""Which moves are legal, and what becomes of the position?

Moves other than the king's are restricted by two things: in check they must end on the piece that
gives check or between it and the king, and a piece that is pinned stays on the line between the
king and the piece that pins it. Moves are in the order of their squares of origin, then of
their targets, as the side to move sees the board. Device twin:
``kernels/games/chess/rules.cl``.
"""

from dataclasses import dataclass
from typing import NamedTuple

from reference_py.games.chess.board import (
    ALL,
    CORNERS,
    RANK_1,
    RANK_3,
    RANK_4,
    RANK_6,
    RANK_8,
    Position,
    name_of,
    number_of,
    squares_of,
    turned,
)

KNIGHT, BISHOP, ROOK, QUEEN = 1, 2, 3, 4
"""What a pawn may become, in the order of moves; 0: no promotion."""

MOST_MOVES = 218
"""Most legal moves of any position that can arise in a game (Petrovic, 1964)."""

STRAIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0))
SLANTING = ((1, 1), (-1, 1), (-1, -1), (1, -1))
JUMPS = ((1, 2), (-1, 2), (2, 1), (-2, 1), (1, -2), (-1, -2), (2, -1), (-2, -1))

CASTLES = ((1 << 7, 0x60, 0x60, 1 << 6), (1 << 0, 0x0E, 0x0C, 1 << 2))
"""Of castling to each side: the rook, squares that must be empty, squares that may not be attacked,
where the king goes."""


class Move(NamedTuple):
    """A move: numbers of two squares as the side to move sees them, and what a pawn becomes."""

    start: int
    end: int
    promotion: int = 0

    def name(self, side):
        """Return the move in coordinates: e2e4, e7e8q."""
        ends = name_of(self.start, side) + name_of(self.end, side)
        return ends + ("", "n", "b", "r", "q")[self.promotion]


def _stepped(number, step):
    """Return the square that lies a step away, as a set; 0 beyond the edge."""
    file, rank = number % 8 + step[0], number // 8 + step[1]
    return 1 << 8 * rank + file if 0 <= file < 8 and 0 <= rank < 8 else 0


def _line(number, step):
    """Return the squares in a direction up to the edge."""
    found = 0
    while next_one := _stepped(number, step):
        found |= next_one
        number = number_of(next_one)
    return found


def _all_steps(steps):
    return [sum(_stepped(number, step) for step in steps) for number in range(64)]


KING_STEPS, KNIGHT_STEPS = _all_steps(STRAIGHT + SLANTING), _all_steps(JUMPS)
UPWARDS, DOWNWARDS = _all_steps(((1, 1), (-1, 1))), _all_steps(((1, -1), (-1, -1)))
"""Squares that a pawn on each square attacks: one that goes up, and one that goes down."""

LINES = {step: [_line(number, step) for number in range(64)] for step in STRAIGHT + SLANTING}


def ray(square, step, occupied):
    """Return the squares that a piece sees in a direction, with the first that is occupied."""
    lines = LINES[step]
    line = lines[number_of(square)]
    behind = line & occupied
    if not behind:
        return line
    upwards = step[1] > 0 or step == (1, 0)
    first = behind & -behind if upwards else 1 << number_of(behind)
    return line ^ lines[number_of(first)]


def seen_by(position, square, occupied, upwards=True):
    """Return the squares that the piece on a square attacks, whichever it is.

    ``upwards``: the direction of its pawns.
    """
    number = number_of(square)
    if square & position.pawns:
        return (UPWARDS if upwards else DOWNWARDS)[number]
    if square & position.knights:
        return KNIGHT_STEPS[number]
    steps = STRAIGHT if square & position.orthogonals else ()
    steps += SLANTING if square & position.diagonals else ()
    if not steps:
        return KING_STEPS[number]
    found = 0
    for step in steps:
        found |= ray(square, step, occupied)
    return found


def attacked(position, occupied):
    """Return the squares that the other side attacks, if these squares are occupied."""
    found = 0
    for square in squares_of(position.other):
        found |= seen_by(position, square, occupied, upwards=False)
    return found


@dataclass(frozen=True)
class Limits:
    """What restricts the moves of a position.

    Attributes
    ----------
    danger : squares that the other side attacks, the own king taken away: it may not go to
        them, nor step back along the line of a check
    checkers : pieces that give check
    targets : where a move of another piece than the king may end
    pins : for each own piece that is pinned, the squares to which it may go
    """

    danger: int
    checkers: int
    targets: int
    pins: dict[int, int]


def limits_of(position):
    """Return what restricts the moves of a position."""
    king, occupied = position.king, position.own | position.other
    number = number_of(king)
    checkers = position.other & (
        KNIGHT_STEPS[number] & position.knights | UPWARDS[number] & position.pawns
    )
    between, pins = checkers, {}
    for steps, sliders in ((STRAIGHT, position.orthogonals), (SLANTING, position.diagonals)):
        for step in steps:
            near = ray(king, step, occupied)
            if near & position.other & sliders:
                checkers |= near & position.other & sliders
                between |= near
            elif piece := near & position.own:
                far = ray(piece, step, occupied)
                if far & position.other & sliders:
                    pins[piece] = near | far
    targets = ALL if not checkers else between if checkers & checkers - 1 == 0 else 0
    danger = attacked(position, occupied & ~king)
    return Limits(danger, checkers, targets & ~position.own, pins)


def in_check(position):
    """Return whether the king of the side to move is attacked."""
    return bool(attacked(position, position.own | position.other) & position.king)


def captures_en_passant(position, square):
    """Return whether the pawn on a square may capture en passant.

    Both pawns leave the rank at once, so no mask says it: the king may not be attacked afterwards.
    """
    end = position.special & RANK_6
    if not UPWARDS[number_of(square)] & end:
        return False
    taken = end >> 8
    after = position._replace(
        own=position.own ^ square | end,
        other=position.other & ~taken,
        pawns=position.pawns & ~(square | taken) | end,
    )
    return not in_check(after)


def castles(position, limits):
    """Return the squares to which the king may castle."""
    found, occupied = 0, position.own | position.other
    for rook, empty, safe, end in CASTLES:
        free = not occupied & empty and not limits.danger & safe
        if position.special & rook and free and not limits.checkers:
            found |= end
    return found


def targets_of(position, limits, square):
    """Return the squares to which the piece on a square may go."""
    occupied, number = position.own | position.other, number_of(square)
    if square & position.king:
        steps = KING_STEPS[number] & ~position.own & ~limits.danger
        return steps | castles(position, limits)
    allowed = limits.targets & limits.pins.get(square, ALL)
    if not square & position.pawns:
        return seen_by(position, square, occupied) & allowed
    found = UPWARDS[number] & position.other
    one = square << 8 & ~occupied
    found |= one | (one & RANK_3) << 8 & ~occupied
    found &= allowed
    if captures_en_passant(position, square):
        found |= position.special & RANK_6
    return found


def moves(position):
    """Return the legal moves."""
    found, limits = [], limits_of(position)
    for square in squares_of(position.own):
        for end in squares_of(targets_of(position, limits, square)):
            last = square & position.pawns and end & RANK_8
            for promotion in (KNIGHT, BISHOP, ROOK, QUEEN) if last else (0,):
                found.append(Move(number_of(square), number_of(end), promotion))
    return found


def count_moves(position):
    """Return how many legal moves there are."""
    return len(moves(position))


def play(position, move):
    """Return what a move makes of a position, as the other side sees it."""
    start, end = 1 << move.start, 1 << move.end
    sets = {
        name: squares & ~end | (end if squares & start else 0)
        for name, squares in position._asdict().items()
    }
    own, other = sets["own"] & ~start, sets["other"] & ~end
    pawns, knights = sets["pawns"] & ~start, sets["knights"] & ~start
    diagonals, orthogonals = sets["diagonals"] & ~start, sets["orthogonals"] & ~start
    special = position.special & CORNERS & ~(start | end)
    if start & position.pawns:
        if end & position.special & RANK_6:
            other, pawns = other & ~(end >> 8), pawns & ~(end >> 8)
        adjacent = (end << 1 | end >> 1) & RANK_4 & position.other & position.pawns
        if end == start << 16 and adjacent:
            special |= start << 8
        if move.promotion:
            pawns &= ~end
            knights |= end if move.promotion == KNIGHT else 0
            diagonals |= end if move.promotion in (BISHOP, QUEEN) else 0
            orthogonals |= end if move.promotion in (ROOK, QUEEN) else 0
    if start & position.king:
        special &= ~RANK_1
        if end in (start << 2, start >> 2):  # it castles, and the rook goes to its other side
            rook, adjacent = (end << 1, end >> 1) if end > start else (end >> 2, end << 1)
            own, orthogonals = own & ~rook | adjacent, orthogonals & ~rook | adjacent
    return turned(Position(own, other, pawns, knights, diagonals, orthogonals, special))
