"""Which lines run through a point, and what is on them?

Point 19 * row + column is the bit of this number; a line is numbered within its direction and has
its points by column (rows), or else by row. Device twin: ``kernels/games/connect6/geometry.cl``.
"""

from functools import cache

SIDE = 19
POINTS = SIDE * SIDE
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Steps of rows and columns: along rows, columns and both diagonals."""

LINES = (SIDE, SIDE, 2 * SIDE - 1, 2 * SIDE - 1)
"""How many lines each direction has."""

NONE = 0xFFFF
"""The second point of a turn that places one stone: the first one of a game."""


@cache
def line_of(point, direction):
    """Return number and length of the line through a point, and the place of the point on it."""
    row, column = divmod(point, SIDE)
    if direction == 0:
        return row, SIDE, column
    if direction == 1:
        return column, SIDE, row
    if direction == 2:
        number = column - row + SIDE - 1
        return number, SIDE - abs(column - row), min(row, column)
    number = row + column
    return number, SIDE - abs(number - (SIDE - 1)), row - max(0, number - (SIDE - 1))


def point_at(direction, number, place):
    """Return the point at a place of a line."""
    if direction == 0:
        return number * SIDE + place
    if direction == 1:
        return place * SIDE + number
    if direction == 2:
        row = max(0, SIDE - 1 - number) + place
        return row * SIDE + row + number - (SIDE - 1)
    row = max(0, number - (SIDE - 1)) + place
    return row * SIDE + number - row


def edge_distance(point):
    """Return the distance of a point to the nearest edge, 0 to 9."""
    row, column = divmod(point, SIDE)
    return min(row, column, SIDE - 1 - row, SIDE - 1 - column)


def points_of_bits(stones):
    """Return the points of a set of bits, ascending."""
    found = []
    while stones:
        low = stones & -stones
        found.append(low.bit_length() - 1)
        stones ^= low
    return found


def lines_with(stones):
    """Return for each direction the masks of its lines: a bit for each stone on them."""
    lines = [[0] * count for count in LINES]
    for point in points_of_bits(stones):
        put_stone(lines, point)
    return lines


def put_stone(lines, point):
    """Add a stone to the lines through its point, or take it away."""
    for direction in range(len(DIRECTIONS)):
        number, _, place = line_of(point, direction)
        lines[direction][number] ^= 1 << place


def segment(own, other, direction, point):
    """Return the points around one that a side may yet fill: first place, length, its stones.

    ``own`` and ``other`` are the lines of both sides; there is no stone of the other side on the
    point itself.
    """
    number, length, place = line_of(point, direction)
    return segment_at(own[direction][number], other[direction][number], length, place)


def segment_at(own, other, length, place):
    """Return the same of masks of a line and a place on it."""
    below = other & ((1 << place) - 1)
    above = other >> place
    first = below.bit_length()
    end = min(length, place + (above & -above).bit_length() - 1) if above else length
    return first, end - first, own >> first & ((1 << (end - first)) - 1)
