"""What is a rating given: size, position, candidates, how many playouts, in which form?"""

from dataclasses import dataclass

EMPTY, WHITE, BLACK = 0, 1, 2
"""What a cell holds. White moves first."""

RING, BRIDGE, FORK = 1, 2, 4
"""Reasons of a win; a stone may complete several, and then they are added up."""

STREAM_GAP = 1024
"""Draws between the starts of neighbouring random streams: a playout draws at most 270 numbers
and the few that are rejected, and an overrun would only repeat numbers of a neighbour."""


@dataclass(frozen=True)
class Parameters:
    """A position and how its moves are rated.

    Attributes
    ----------
    size : cells of a side of the board, 3 to 10
    stones : what each cell holds, by index
    to_move : WHITE or BLACK, who makes the candidate moves
    candidates : cells on which a move is rated
    batch : playouts of each candidate in a tick
    first_playout : number of the first playout of each candidate
    limit : most playouts that a candidate may ever have; streams are counted by it
    stream_base : where the streams of the seed begin
    winner : "forest", "offline" or "flood": how the end of a playout is found; same results
    find : of ``forest``: "halving", "plain" or "compression"
    record_game : playout whose moves are recorded, -1: none
    runner : "modern", "resident", "chunk" or "each": what is launched and copied when; same results
    memory : "private", "local" or "global": where a device keeps the board of a playout
    neighbours : "computed" or "table": how a device finds the neighbours of a cell
    active, together : candidates and playouts of each in a launch of runners but ``modern``
    """

    size: int
    stones: tuple[int, ...]
    to_move: int
    candidates: tuple[int, ...]
    batch: int
    first_playout: int = 0
    limit: int = 2**40
    stream_base: int = 0
    winner: str = "forest"
    find: str = "halving"
    record_game: int = -1
    runner: str = "modern"
    active: int = 8
    together: int = 1
    memory: str = "private"
    neighbours: str = "computed"

    @property
    def cells(self) -> int:
        """Cells of the board."""
        return 3 * self.size * (self.size - 1) + 1


def other(side):
    """Return the other side."""
    return WHITE + BLACK - side
