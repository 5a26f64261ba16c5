"""Tic-tac-toe for a search: what are a position's moves, its value, and those that follow?

A position is two words: the squares of the side to move, and those of the other side; square s is
bit s, row by row. Device twin: ``kernels/games/tictactoe/search.cl``.
"""

from reference_py.games.ngtsg.parameters import GameFunctions

LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
"""Rows, columns and diagonals; a digit is a row."""

SQUARES = 9


def has_line(squares):
    """Return whether a side has three in a row."""
    return any(squares & line == line for line in LINES)


def branch(p, position):
    """Return the free squares in order; none once the other side has won."""
    own, other = position
    if has_line(other):
        return []
    return [square for square in range(SQUARES) if not (own | other) >> square & 1]


def evaluate(p, position, ply):
    """Return minus what is left of ten moves if the other side has won, else 0."""
    return ply - 10 if has_line(position[1]) else 0


def make(p, position, move):
    """Return the position after a move: the sides have changed."""
    own, other = position
    return [other, own | 1 << move]


GAME = GameFunctions(branch, evaluate, make)
