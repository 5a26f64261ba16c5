"""How are points and stones written? A column letter A to S, a row number 1 to 19."""

from reference_py.games.connect6.geometry import NONE, SIDE
from reference_py.games.connect6.parameters import WORDS_OF_A_SIDE


def point_of(text):
    """Return a point from its text, such as J10.

    Raises
    ------
    ValueError
        If there is no such point.
    """
    row = text[1:]
    is_point = text.isascii() and row.isdecimal() and len(row) < 3 and 1 <= int(row) <= SIDE
    column = ord(text[0].upper()) - ord("A") if is_point else SIDE
    if not 0 <= column < SIDE:
        raise ValueError(
            f"{text!r} is not a point: a letter A to S and a number 1 to 19, such as J10"
        )
    return SIDE * (int(row) - 1) + column


def text_of(point):
    """Return the text of a point."""
    return f"{chr(ord('A') + point % SIDE)}{point // SIDE + 1}"


def turn_text(move):
    """Return the text of a turn: one or two points."""
    return "".join(text_of(point) for point in (move & NONE, move >> 16) if point != NONE)


def words_of(own, other):
    """Return the words of a position from points of the side to move and of the other."""
    words = []
    for points in (own, other):
        stones = sum(1 << point for point in points)
        words += [stones >> 32 * i & 0xFFFFFFFF for i in range(WORDS_OF_A_SIDE)]
    return tuple(words)
