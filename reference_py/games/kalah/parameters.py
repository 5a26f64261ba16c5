"""What is a search given: the board, the variant of the rules, how deep, in which form."""

from dataclasses import dataclass

TOP, BOTTOM = 0, 1
"""The two sides. TOP maximises the evaluation, BOTTOM minimises it."""


@dataclass(frozen=True)
class Position:
    """A board and whose turn it is.

    Attributes
    ----------
    board : stones of each cell: BOTTOM's pits, BOTTOM's store, TOP's pits, TOP's store
    to_move : `TOP` or `BOTTOM`
    """

    board: tuple[int, ...]
    to_move: int = TOP


@dataclass(frozen=True)
class Parameters:
    """A game and how its tree is searched.

    Attributes
    ----------
    pits : pits of a side, 1 to 8
    stones : of a pit at the start
    empty_capture : whether a last stone in an own empty pit is banked although the pit that faces
        it is empty
    positions : boards to search from; game g has number g modulo their number. Empty: the start
    depth : plies of the deepest search
    form : "expanded" (a work-item a board) or "layers" (a workgroup a board); same results
    split : of ``layers``, (PRE, SEQ, PAR): plies taken one board after the other, plies taken
        breadth first, and levels, one more than plies, of the tree in local memory
    plies : of ``expanded``, plies that a work-item searches depth first
    boards : most boards of one level of a game that are kept at a time
    """

    pits: int = 6
    stones: int = 4
    empty_capture: bool = False
    positions: tuple[Position, ...] = ()
    depth: int = 6
    form: str = "expanded"
    split: tuple[int, int, int] = (0, 3, 4)
    plies: int = 4
    boards: int = 2**18

    @property
    def cells(self) -> int:
        """Cells of a board: pits and stores of both sides."""
        return 2 * self.pits + 2

    @property
    def games(self) -> tuple[Position, ...]:
        """The boards to search from, at least one."""
        return self.positions or (Position(start_board(self.pits, self.stones)),)


def start_board(pits: int = 6, stones: int = 4) -> tuple[int, ...]:
    """Return the board on which a game begins."""
    return (*[stones] * pits, 0, *[stones] * pits, 0)
