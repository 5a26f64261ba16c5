"""Which cells does a board have, which are neighbours, and which lie on a side or a corner?

A board of size S is a hexagon of cells with S cells on each side. Cells are counted row by row. In
axial coordinates a cell is (x, y): y is its row, and the six neighbours are at (1, 0), (1, 1),
(0, 1) and the opposite ones. Device twin: ``kernels/games/havannah/board.cl``.
"""

from dataclasses import dataclass
from functools import lru_cache

from reference_py.games.havannah.parameters import BRIDGE, FORK

DIRECTIONS = ((1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1))
"""From a cell to its neighbours, in circular order: each is a neighbour of the next."""

OUTSIDE = -1
"""The neighbour where the board ends."""

SIDES, CORNERS = 0, 6
"""Where the bits of the six sides begin in a mask, and where those of the six corners do."""


@dataclass(frozen=True)
class Board:
    """A board of some size.

    Attributes
    ----------
    size : cells of a side
    places : (x, y) of each cell
    neighbours : six cells of each cell, in circular order; `OUTSIDE` where there is none
    masks : of each cell, a bit for the side (0 to 5) or the corner (6 to 11) that it is on
    """

    size: int
    places: tuple[tuple[int, int], ...]
    neighbours: tuple[tuple[int, ...], ...]
    masks: tuple[int, ...]

    @property
    def cells(self) -> int:
        """Cells of the board."""
        return len(self.places)


@lru_cache(maxsize=16)
def board_of(size):
    """Return the board of a size."""
    last = 2 * size - 2
    places = tuple((x, y) for y in range(last + 1) for x in range(last + 1) if abs(x - y) < size)
    number = {place: cell for cell, place in enumerate(places)}
    neighbours = tuple(
        tuple(number.get((x + dx, y + dy), OUTSIDE) for dx, dy in DIRECTIONS) for x, y in places
    )
    corners = [cell for cell, around in enumerate(neighbours) if around.count(OUTSIDE) == 3]
    masks = []
    for cell, (x, y) in enumerate(places):
        if cell in corners:
            masks.append(1 << (CORNERS + corners.index(cell)))
        else:
            on_side = (y == 0, x - y == size - 1, x == last, y == last, y - x == size - 1, x == 0)
            masks.append(sum(on << (SIDES + side) for side, on in enumerate(on_side)))
    return Board(size, places, neighbours, tuple(masks))


def name_of(board, cell):
    """Return the text of a cell: the letter of its row, and its place in it from 1."""
    x, y = board.places[cell]
    return f"{chr(ord('A') + y)}{x - max(0, y - board.size + 1) + 1}"


def cell_of(board, name):
    """Return the cell of a text such as J10, None if the board has none."""
    letter, number = name[:1].upper(), name[1:]
    if not (name.isascii() and "A" <= letter <= "Z" and number.isdecimal() and len(number) < 3):
        return None
    y = ord(letter) - ord("A")
    place = (int(number) - 1 + max(0, y - board.size + 1), y)
    if number.startswith("0") or place not in board.places:
        return None
    return board.places.index(place)


def reasons_of_mask(mask):
    """Return what a group wins by that touches these sides and corners."""
    sides, corners = (mask & 63).bit_count(), (mask >> 6).bit_count()
    return (FORK if sides >= 3 else 0) | (BRIDGE if corners >= 2 else 0)
