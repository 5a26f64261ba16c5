"""What is the counting of moves given: the positions, how deep, how much at a time?"""

from dataclasses import dataclass

from reference_py.games.chess.fen import START, FenPosition, read_fen
from reference_py.games.chess.perft import KINDS


@dataclass(frozen=True)
class PerftParameters:
    """Positions below which sequences of moves are counted.

    Attributes
    ----------
    boards : positions to begin with; game g has number g modulo their number
    depth : plies of the last count
    detail : whether all kinds of last moves are counted, and not the nodes alone
    level_positions : most positions of one level of a game in memory at a time
    """

    boards: tuple[FenPosition, ...] = (read_fen(START),)
    depth: int = 5
    detail: bool = False
    level_positions: int = 2**18

    @property
    def kinds(self):
        """How many kinds of last moves are counted."""
        return len(KINDS) if self.detail else 1
