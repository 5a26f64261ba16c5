"""What may a player do, what becomes of the board, and what is it worth?

A board is a list of ``2 * pits + 2`` cells: 0 .. pits - 1 are BOTTOM's pits, then BOTTOM's store,
then TOP's pits, then TOP's store. Stones are sown upwards, and the first cell follows the last.
Device twin: ``kernels/games/kalah/rules.cl``.
"""

from reference_py.games.kalah.parameters import TOP

AGAIN, CAPTURE, PLAIN = "again", "capture", "plain"
"""What a move was: it ended in the own store, it captured, or neither."""


def pits_of(p, side):
    """Return the cells of a side's pits, in the order in which stones are sown."""
    first = p.pits + 1 if side == TOP else 0
    return range(first, first + p.pits)


def store_of(p, side):
    """Return the cell of a side's store, the one after its last pit."""
    return pits_of(p, side).stop


def facing(p, pit):
    """Return the pit on the other side of the board."""
    return 2 * p.pits - pit


def moves(p, board, side):
    """Return the pits that a side may empty, in increasing order."""
    return [pit for pit in pits_of(p, side) if board[pit]]


def is_over(p, board):
    """Return whether either side has no stones in its pits, whichever is to move."""
    return any(not moves(p, board, side) for side in (TOP, 1 - TOP))


def play(p, board, side, pit):
    """Sow the stones of a pit; return the board, who moves next, and what kind of move it was.

    The store of the other side is left out; the emptied pit is not. A last stone in the own store
    gives another turn. A last stone that is alone in an own pit captures what faces it, and is
    banked with it; if nothing does, it stays, unless the rules have ``empty_capture``.
    """
    board, own, store = list(board), pits_of(p, side), store_of(p, side)
    stones, board[pit] = board[pit], 0
    at = pit
    while stones:
        at = (at + 1) % p.cells
        if at != store_of(p, 1 - side):
            board[at] += 1
            stones -= 1
    if at == store:
        return board, side, AGAIN
    if at in own and board[at] == 1 and (board[facing(p, at)] or p.empty_capture):
        board[store] += board[facing(p, at)] + 1
        board[at] = board[facing(p, at)] = 0
        return board, 1 - side, CAPTURE
    return board, 1 - side, PLAIN


def evaluate(p, board):
    """Return what a board is worth to TOP: 5 for each stone banked, 1 for each in a pit.

    A finished game is worth no more than any other board with these stones.
    """
    banked = board[store_of(p, TOP)] - board[store_of(p, 1 - TOP)]
    waiting = sum(board[pit] for pit in pits_of(p, TOP))
    return 5 * banked + waiting - sum(board[pit] for pit in pits_of(p, 1 - TOP))


def totals(p, board):
    """Return what TOP and BOTTOM own once the game is over: pits and store of each."""
    return tuple(
        board[store_of(p, side)] + sum(board[pit] for pit in pits_of(p, side))
        for side in (TOP, 1 - TOP)
    )
