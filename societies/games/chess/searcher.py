"""How is the best move of a chess position found, to a depth or within a time?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from reference_py.games.chess.fen import FenPosition
from reference_py.games.chess.rules import Move, moves, play
from reference_py.games.chess.search import MATE, coded, decoded, evaluate, ordered, words_of
from societies.games.chess.config import ChessConfig
from societies.games.ngtsg import searcher
from societies.games.ngtsg.searcher import Searched, SearchStopped

MOST_DEPTH, MOST_MATE = 32, 1000
PREPARED = 6
"""Plies whose engines are built before a clock runs; deeper searches take longer than building
their engines."""

PAWN = 500
"""Value of a hundredth of a pawn: 10 * 5000 / 100."""


@dataclass(frozen=True)
class FoundMove:
    """Result of a search: a move, its value for the side to move, and the cost of the search."""

    move: Move
    value: int
    depth: int
    nodes: int
    seconds: float

    @property
    def score(self) -> str:
        """The value in the format of UCI: hundredths of a pawn, or moves until mate."""
        if abs(self.value) >= MATE - MOST_MATE:
            plies = MATE - abs(self.value)
            return f"mate {(plies + 1) // 2 if self.value > 0 else -(plies // 2)}"
        return f"cp {int(self.value / PAWN)}"


class ChessSearcher(searcher.Searcher[ChessConfig]):
    """A search of legal moves whose engines are reused for every position."""

    growth = 6.0
    always: ClassVar[Mapping[str, Any]] = {"rules": "legal", "fen": "start", "positions": ()}

    def is_decided(self, value: int, plies: int) -> bool:
        """Return whether the value means a mate within the plies."""
        return abs(value) >= MATE - plies

    def find(
        self,
        board: FenPosition,
        depth: int,
        *,
        seconds: float = 0.0,
        each: Callable[[FoundMove], None] = lambda found: None,
        stop: Callable[[], bool] = lambda: False,
        only: bool = False,
    ) -> FoundMove:
        """Return the best move of a position that has one; see `Searcher.search`.

        With ``only`` this depth is searched alone.
        """
        root = words_of(board.position, board.side)
        found = self.search(
            root, depth, seconds=seconds, each=lambda one: each(_found(one)), stop=stop, alone=only
        )
        return _found(found)

    def find_among(
        self,
        board: FenPosition,
        among: Collection[Move],
        depth: int,
        *,
        seconds: float = 0.0,
        each: Callable[[FoundMove], None] = lambda found: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> FoundMove:
        """Return the best of some legal moves; the position after each is searched one ply less.

        This takes longer than `find`, which prunes moves that cannot be better than others.

        ``among`` has at least one move; the other parameters are those of `find`.
        """
        tried = [move for move in ordered(board.position, moves(board.position)) if move in among]

        def one(plies: int, asked: Callable[[], bool]) -> tuple[int, int, int]:
            found: list[tuple[int, int]] = []
            for move in tried:
                if asked():
                    raise SearchStopped
                found.append(self._after(board, move, plies - 1, asked))
            values = [value for value, _ in found]
            best = values.index(max(values))
            return values[best], coded(tried[best]), sum(visited for _, visited in found)

        found = self.deepened(
            one, depth, seconds=seconds, each=lambda one: each(_found(one)), stop=stop
        )
        return _found(found)

    def _after(
        self, board: FenPosition, move: Move, plies: int, stop: Callable[[], bool]
    ) -> tuple[int, int]:
        """Return the value of a move for the side that makes it, and the count of nodes."""
        position = play(board.position, move)
        words = words_of(position, 1 - board.side)
        if not plies or not moves(position):
            value = evaluate(self._engine(1, alone=False).parameters, words, 1)
            return -value, 1
        value, _, visited = self._searched(self._engine(plies, alone=False), words, {}, stop)
        if abs(value) >= MATE - MOST_MATE:
            value += -1 if value > 0 else 1  # the mate is a ply farther away
        return -value, visited


def _found(one: Searched) -> FoundMove:
    return FoundMove(decoded(one.move), one.value, one.depth, one.nodes, one.seconds)
