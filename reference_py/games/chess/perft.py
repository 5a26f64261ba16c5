"""How many sequences of moves exist, and of which kinds are the last moves?

Device twin: ``kernels/games/chess/perft.cl``.
"""

from reference_py.games.chess.board import RANK_6, Position
from reference_py.games.chess.rules import in_check, moves, play

KINDS = ("nodes", "captures", "en_passant", "castles", "promotions", "checks", "mates")
"""What is counted of the last moves; without ``detail`` the first alone. A capture en passant is a
capture, too, and a mate a check."""

SETS = len(Position._fields)


def kinds_of(position, move):
    """Return 1 for each of `KINDS` that a move belongs to, else 0."""
    start, end = 1 << move.start, 1 << move.end
    passing = bool(start & position.pawns and end & position.special & RANK_6)
    castle = bool(start & position.king) and end in (start << 2, start >> 2)
    after = play(position, move)
    check = in_check(after)
    capture = passing or bool(end & position.other)
    mate = check and not moves(after)
    return [1, *map(int, (capture, passing, castle, move.promotion > 0, check, mate))]


def perft(position, plies, kinds=1):
    """Return the number of sequences of ``plies`` legal moves, and of the other kinds.

    ``kinds``: how many of `KINDS` are counted. That of the nodes alone takes no last moves back:
    they are counted as they are generated.
    """
    total = [0] * kinds
    if plies == 0:
        total[0] = 1
        return total
    found = moves(position)
    if plies == 1 and kinds == 1:
        return [len(found)]
    for move in found:
        below = (
            kinds_of(position, move)
            if plies == 1
            else perft(play(position, move), plies - 1, kinds)
        )
        total = [a + b for a, b in zip(total, below, strict=True)]
    return total


def position_at(game, at):
    """Return a position of the arrays."""
    return Position(*(int(one[at]) for one in game.sets))


def put_position(game, at, position):
    """Place a position in the arrays."""
    for row, squares in zip(game.sets, position, strict=True):
        row[at] = squares


def batch(game, level, parents, skip, most):
    """Return where the positions lie that a step takes: after ``skip``, at most ``most``."""
    count = min(max(int(game.counts[level]) - skip, 0), most)
    return range(parents + skip, parents + skip + count)
