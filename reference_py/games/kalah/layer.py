"""Where in the table is a board, and in which order do the boards of a layer get their value?

The table has the boards as the side to move sees them, without stores: its own pits, then the other
side's, in the order of sowing. A layer has the boards with as many stones in the pits; the layers
stand one after another, within a layer boards in increasing order of their cells. n stones fall
into k cells in ``comb(n + k - 1, k - 1)`` ways. Device twin: ``kernels/games/kalah/layer.cl``.
"""

from math import comb

from reference_py.games.kalah.parameters import BOTTOM
from reference_py.games.kalah.rules import play, store_of


def layer_boards(cells, stones):
    """Return how many boards have ``stones`` stones in ``cells`` cells."""
    return comb(stones + cells - 1, cells - 1)


def rank(board):
    """Return the number of a board within its layer."""
    left, number = sum(board), 0
    for i, stones in enumerate(board):
        after = len(board) - i - 1
        # Boards that are alike up to here and have fewer stones in this cell.
        number += comb(left + after, after) - comb(left - stones + after, after)
        left -= stones
    return number


def unrank(number, cells, stones):
    """Return the board of a layer that has this number."""
    board = []
    for i in range(cells - 1):
        after, here = cells - i - 1, 0
        while (smaller := comb(stones - here + after - 1, after - 1)) <= number:
            number -= smaller
            here += 1
        board.append(here)
        stones -= here
    return [*board, stones]


def place(board):
    """Return where in the table a board is: after all boards with fewer stones."""
    stones, cells = sum(board), len(board)
    return (comb(stones + cells - 1, cells) if stones else 0) + rank(board)


def potential(board):
    """Return a number that falls with every move that banks nothing.

    Only such a move leaves the layer's boards to the same layer, with the other side to move. Its
    stones come from a pit with so few that they stay in the own row, and go to pits further on:
    what is added up is, of every such pit, how far its stones are from the last one. A pit that
    has more stones never gets fewer without banking one.
    """
    pits = len(board) // 2
    rows = (board[:pits], board[pits:])
    to_last = range(pits - 1, -1, -1)
    return sum(s * far for row in rows for s, far in zip(row, to_last, strict=True) if s <= far)


def most_potential(pits, stones):
    """Return the largest potential that a board of a layer may have."""
    return min(stones * (pits - 1), 2 * sum(far * far for far in range(pits)))


def sow(p, board, i):
    """Return the board after a move as its mover sees it, stones banked, whether it goes again."""
    whole = [*board[: p.pits], 0, *board[p.pits :], 0]
    after, side, _ = play(p, whole, BOTTOM, i)
    store = store_of(p, BOTTOM)
    return after[:store] + after[store + 1 : -1], after[store], side == BOTTOM


def flipped(board):
    """Return the board as the other side sees it."""
    half = len(board) // 2
    return board[half:] + board[:half]
