"""Who finds a move of chess for a position, to a depth or in a time, and what is it worth?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from reference_py.games.chess.fen import Board
from reference_py.games.chess.rules import Move
from reference_py.games.chess.search import MATE, decoded, words_of
from societies.games.chess.config import ChessConfig
from societies.games.ngtsg import searcher
from societies.games.ngtsg.searcher import Searched

MOST_DEPTH, MOST_MATE = 32, 1000
PREPARED = 6
"""Plies whose engines are there before a clock runs; deeper searches take longer than
it takes to make them."""

PAWN = 500
"""What a hundredth of a pawn is worth: 10 * 5000 / 100."""


@dataclass(frozen=True)
class Found:
    """What a search found: a move, what it is worth to the side to move, and at what cost."""

    move: Move
    value: int
    depth: int
    nodes: int
    seconds: float

    @property
    def score(self) -> str:
        """The value as UCI has it: hundredths of a pawn, or moves until a mate."""
        if abs(self.value) >= MATE - MOST_MATE:
            plies = MATE - abs(self.value)
            return f"mate {(plies + 1) // 2 if self.value > 0 else -(plies // 2)}"
        return f"cp {int(self.value / PAWN)}"


class Searcher(searcher.Searcher[ChessConfig]):
    """A search of legal moves whose engines stay; another position builds nothing."""

    growth = 6.0
    always: ClassVar[Mapping[str, Any]] = {"rules": "legal", "fen": "start", "positions": ()}

    def is_decided(self, value: int, plies: int) -> bool:
        """Return whether there is a mate within the plies."""
        return abs(value) >= MATE - plies

    def find(
        self,
        board: Board,
        depth: int,
        *,
        seconds: float = 0.0,
        each: Callable[[Found], None] = lambda found: None,
        stop: Callable[[], bool] = lambda: False,
        only: bool = False,
    ) -> Found:
        """Return the best move of a position that has one.

        Parameters
        ----------
        depth : plies, with a time at most
        seconds : of the whole search; 0: none. One ply is always searched
        each : called with what each depth found
        stop : asked now and then whether to end with what is known
        only : whether that depth alone is searched, and not 1, 2, ... before
        """
        root = words_of(board.position, board.side)
        found = self.search(
            root, depth, seconds=seconds, each=lambda one: each(_found(one)), stop=stop, alone=only
        )
        return _found(found)


def _found(one: Searched) -> Found:
    return Found(decoded(one.move), one.value, one.depth, one.nodes, one.seconds)
