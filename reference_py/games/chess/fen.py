"""Which position does a line in Forsyth-Edwards notation describe, and the other way round?"""

from typing import NamedTuple

from reference_py.games.chess.board import (
    BLACK,
    RANK_1,
    RANK_5,
    RANK_8,
    WHITE,
    Position,
    flipped,
    turned,
)
from reference_py.games.chess.rules import in_check

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

FIELDS = (
    *("piece placement", "side to move", "castling", "en passant"),
    *("halfmove clock", "fullmove number"),
)
PIECES = "pnbrqk"
MOST_CLOCK = 9999
"""The largest halfmove clock and number of a move."""
AT_START = {"n": 2, "b": 2, "r": 2, "q": 1}
HOMES = {"K": (4, 7), "Q": (4, 0), "k": (60, 63), "q": (60, 56)}
"""Squares of king and rook for each castling."""


class FenError(ValueError):
    """Raised for a line that describes no position; it begins with the field that is wrong."""


class FenPosition(NamedTuple):
    """A position, and what is not seen in it.

    Attributes
    ----------
    position : as the side to move sees it
    side : `WHITE` or `BLACK`, who is to move
    halfmoves : moves of either side since a pawn moved or something was captured
    fullmove : number of the move, from 1
    """

    position: Position
    side: int
    halfmoves: int = 0
    fullmove: int = 1


def read_fen(line):
    """Return the `FenPosition` that a line describes; the two numbers at its end may be missing.

    Raises
    ------
    FenError
        Naming the field.
    """
    words = line.split()
    if len(words) not in (4, 6):
        names = ", ".join(FIELDS)
        raise FenError(f"{len(words)} fields; a position has six, or the first four: {names}")
    sets = _placement(words[0])
    if words[1] not in ("w", "b"):
        raise FenError(f"side to move: {words[1]}: w or b")
    side = WHITE if words[1] == "w" else BLACK
    castling = _castling(words[2], sets)
    clock, number = _counted(words[4:], 0, 0), _counted(words[4:], 1, 1)
    own, other = sets["white"], sets["black"]
    kinds = (sets["p"], sets["n"], sets["b"] | sets["q"], sets["r"] | sets["q"])
    position = Position(own, other, *kinds, castling)
    if side == BLACK:
        position = turned(position)
    square = _en_passant(words[3], position, side)
    position = position._replace(special=position.special | square)
    if in_check(turned(position)):
        raise FenError(f"{FIELDS[1]}: {words[1]}: it could capture the king of the other side")
    return FenPosition(position, side, clock, number)


def _placement(text):
    """Return the squares of each kind of piece and of both colours, as White sees them."""
    name = FIELDS[0]
    sets = dict.fromkeys((*PIECES, "white", "black"), 0)
    ranks = text.split("/")
    if len(ranks) != 8:
        raise FenError(f"{name}: {len(ranks)} ranks; a board has 8, with / between them")
    for i, row in enumerate(ranks):
        rank, file = 7 - i, 0
        for before, letter in zip(f" {row}", row, strict=False):
            if letter in "12345678":
                if before in "12345678":
                    raise FenError(f"{name}: {before}{letter} in {row}: no digit follows another")
                file += int(letter)
                continue
            if letter.lower() not in PIECES:
                raise FenError(f"{name}: {letter} in {row}: pieces are pnbrqkPNBRQK")
            if file < 8:
                square = 1 << 8 * rank + file
                sets[letter.lower()] |= square
                sets["white" if letter.isupper() else "black"] |= square
            file += 1
        if file != 8:
            raise FenError(f"{name}: {row} has {file} squares; rank {rank + 1} has 8")
    for colour in ("white", "black"):
        kings = (sets["k"] & sets[colour]).bit_count()
        if kings != 1:
            raise FenError(f"{name}: {colour} has {kings} kings; each side has one")
        pieces = {kind: (sets[kind] & sets[colour]).bit_count() for kind in PIECES}
        promoted = sum(max(0, pieces[kind] - most) for kind, most in AT_START.items())
        if pieces["p"] + promoted > 8:
            raise FenError(
                f"{name}: {colour} has {pieces['p']} pawns and {promoted} pieces more than at the "
                "start; both together are at most 8"
            )
    if sets["p"] & (RANK_1 | RANK_8):
        raise FenError(f"{name}: a pawn is on the first or the last rank")
    return sets


def _castling(text, sets):
    """Return the corners whose rooks may still castle, as White sees them."""
    found = 0
    if text == "-":
        return found
    for letter in text:
        if letter not in HOMES or text.count(letter) > 1:
            raise FenError(f"{FIELDS[2]}: {text}: some of KQkq, each once, or -")
        king, rook = (1 << number for number in HOMES[letter])
        colour = sets["white" if letter.isupper() else "black"]
        if not sets["k"] & colour & king or not sets["r"] & colour & rook:
            raise FenError(f"{FIELDS[2]}: {letter}: king or rook is not where it was at the start")
        found |= rook
    return found


def _en_passant(text, position, side):
    """Return the square behind a pawn that has just moved, if it can be captured on it."""
    name = FIELDS[3]
    if text == "-":
        return 0
    if len(text) != 2 or text[0] not in "abcdefgh" or text[1] not in "12345678":
        raise FenError(f"{name}: {text}: a square such as e3, or -")
    expected = "6" if side == WHITE else "3"
    if text[1] != expected:
        raise FenError(f"{name}: {text}: it is on rank {expected} if this side is to move")
    square = 1 << 40 + "abcdefgh".index(text[0])
    empty = ~(position.own | position.other)
    pawn = square >> 8
    if not position.other & position.pawns & pawn:
        raise FenError(f"{name}: {text}: no pawn has just moved over it")
    if not empty & square or not empty & square << 8:
        raise FenError(f"{name}: {text}: the pawn cannot have moved over a taken square")
    adjacent = (pawn << 1 | pawn >> 1) & RANK_5
    return square if adjacent & position.own & position.pawns else 0


def _counted(words, place, least):
    """Return one of the numbers at the end of a line."""
    if not words:
        return least
    word = words[place]
    digits = word.isascii() and word.isdecimal() and len(word) < 9
    if not digits or not least <= int(word) <= MOST_CLOCK:
        expected = f"a whole number from {least} to {MOST_CLOCK}"
        raise FenError(f"{FIELDS[4 + place]}: {word}: {expected}")
    return int(word)


def piece_on(board, number):
    """Return the letter of the piece on a square, as White numbers squares; "." if it is empty."""
    position = board.position
    if board.side == BLACK:
        number ^= 56
    square = 1 << number
    if not (position.own | position.other) & square:
        return "."
    if position.pawns & square:
        letter = "p"
    elif position.knights & square:
        letter = "n"
    elif position.diagonals & square:
        letter = "q" if position.orthogonals & square else "b"
    else:
        letter = "r" if position.orthogonals & square else "k"
    white = bool(position.own & square) == (board.side == WHITE)
    return letter.upper() if white else letter


def write_fen(board):
    """Return the line for a board; en passant is noted only where a pawn can capture so."""
    rows = []
    for rank in reversed(range(8)):
        row = "".join(piece_on(board, 8 * rank + file) for file in range(8))
        for empty in range(8, 0, -1):
            row = row.replace("." * empty, str(empty))
        rows.append(row)
    position, side = board.position, board.side
    corners = position.special & ~(0xFF << 40)
    corners = corners if side == WHITE else flipped(corners)
    castling = "".join(one for one, (_, rook) in HOMES.items() if corners >> rook & 1) or "-"
    square = position.special & 0xFF << 40
    passing = "-"
    if square:
        passing = "abcdefgh"[(square.bit_length() - 1) % 8] + ("6" if side == WHITE else "3")
    placed = "/".join(rows)
    return f"{placed} {'wb'[side]} {castling} {passing} {board.halfmoves} {board.fullmove}"
