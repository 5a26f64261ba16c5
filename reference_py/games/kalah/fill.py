"""By how many stones does the side to move win from a board, if both play as well as they can?

Only what is in the pits counts: what is banked already is added by the caller. Device twin:
``kernels/games/kalah/fill.cl``.
"""

from reference_py.games.kalah.layer import (
    flipped,
    layer_boards,
    place,
    potential,
    sow,
    unrank,
)


def is_decided(board):
    """Return whether a side has no stones in its pits; the other then owns all of its own."""
    half = len(board) // 2
    return not any(board[:half]) or not any(board[half:])


def best_margin(p, board, value_of):
    """Return by how many stones the side to move wins; ``value_of`` gives the same of a board."""
    half = p.pits
    if is_decided(board):
        return sum(board[:half]) - sum(board[half:])
    margins = []
    for i in range(half):
        if board[i]:
            after, banked, again = sow(p, board, i)
            below = value_of(after) if again else -value_of(flipped(after))
            margins.append(banked + below)
    return max(margins)


def fill(p, game, tick, wanted, most):
    """Give all boards with ``tick`` stones and the wanted potential their value."""
    rules, values = p.games[game.index % len(p.games)], game.values
    cells = 2 * rules.pits

    def value_of(board):
        return int(values[place(board)])

    if tick > p.layers(rules.pits):
        return
    for number in range(layer_boards(cells, tick)):
        board = unrank(number, cells, tick)
        if potential(board) == wanted:
            values[place(board)] = best_margin(rules, board, value_of)
