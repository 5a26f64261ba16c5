"""Who wins if all stones are placed first? Winner test (c) of three: finds the earliest structure.

A structure never disappears, so whether there is one after t stones is false up to some t and true
from t on, and that t is found by halving. Device twin: ``kernels/games/havannah/offline.cl``.
"""

from reference_py.games.havannah.flood import reasons_of
from reference_py.games.havannah.parameters import other


def earliest(board, stones, order, side):
    """Return after how many stones there is a structure, whose, and for which reasons.

    Parameters
    ----------
    stones : what each cell holds; not won yet
    order : cells of all further stones, of ``side`` and the other one in turn

    Returns
    -------
    (count, winner, reasons); the reasons are 0 if there is none on the full board
    """

    def has_won(count, one):
        own = {cell for cell, what in enumerate(stones) if what == one}
        own.update(order[:count][0 if one == side else 1 :: 2])
        return reasons_of(board, own)

    low, high = 0, len(order) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if has_won(middle, side) or has_won(middle, other(side)):
            high = middle
        else:
            low = middle
    if high > len(order):
        return len(order), side, 0
    winner = side if high % 2 else other(side)
    return high, winner, has_won(high, winner)
