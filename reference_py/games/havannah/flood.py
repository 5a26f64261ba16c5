"""Which structures does a set of stones have? Winner test (a) of three: uses the stones alone.

Device twin: ``kernels/games/havannah/flood.cl``.
"""

from reference_py.games.havannah.board import OUTSIDE, reasons_of_mask
from reference_py.games.havannah.parameters import RING


def reached(board, allowed, start):
    """Return the cells that can be reached from some, through cells that are allowed."""
    found, todo = set(), [cell for cell in start if cell in allowed]
    while todo:
        cell = todo.pop()
        if cell not in found:
            found.add(cell)
            todo += [near for near in board.neighbours[cell] if near in allowed]
    return found


def hollow_ring(board, own):
    """Return whether stones enclose a cell that is not theirs: none from outside reaches it."""
    rest = set(range(board.cells)) - own
    border = [cell for cell in rest if OUTSIDE in board.neighbours[cell]]
    return reached(board, rest, border) != rest


def filled_ring(board, own):
    """Return whether a stone has six own neighbours."""
    return any(all(near in own for near in board.neighbours[cell]) for cell in own)


def reasons_of(board, own):
    """Return the structures that a set of cells has: `RING`, `BRIDGE` and `FORK`, added up."""
    reasons = RING if hollow_ring(board, own) or filled_ring(board, own) else 0
    seen = set()
    for cell in own:
        if cell not in seen:
            group = reached(board, own, [cell])
            seen |= group
            mask = 0
            for one in group:
                mask |= board.masks[one]
            reasons |= reasons_of_mask(mask)
    return reasons
