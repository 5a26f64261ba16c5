"""Which keys does the YAML file of a search of chess have, and which errors has a position?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

from reference_py.games.chess.board import RANK_2, Position, number_of, squares_of, turned
from reference_py.games.chess.fen import START, FenError, FenPosition, read_fen
from reference_py.games.chess.rules import MOST_MOVES
from reference_py.games.chess.search import WORDS, branch, make, words_of
from societies.config.model import Conflict, ListOf, key, shape
from societies.config.problems import Path
from societies.errors import shortened
from societies.games.estimate import estimated_nodes
from societies.games.ngtsg.config import SearchConfig


def boards_of(fens: Sequence[str]) -> tuple[FenPosition, ...]:
    """Return the positions of some lines; ``start`` is where a game begins."""
    return tuple(read_fen(START if fen == "start" else fen) for fen in fens)


def position_conflicts(config: Any) -> Iterator[Conflict]:
    """Yield what is wrong with the keys ``fen`` and ``positions`` of a configuration."""
    yield from fen_conflicts(("fen",), config.fen)
    for i, fen in enumerate(config.positions):
        yield from fen_conflicts(("positions", i), fen)
    if config.positions and config.fen != "start":
        yield Conflict(("fen",), "positions are given as well", (("positions",),))


def fen_conflicts(path: Path, fen: str) -> Iterator[Conflict]:
    """Yield what is wrong with a line in Forsyth-Edwards notation."""
    try:
        boards_of([fen])
    except FenError as error:
        yield Conflict(path, shortened(str(error)))


MOST_OF_PIECE = {"knights": 8, "bishops": 13, "rooks": 14, "queens": 27, "king": 8, "pawns": 4}
"""Largest number of squares that a piece of each kind can move to."""


SAMPLE, PLIES = 24, 6
"""Largest sample of a ply for an estimate, and how many plies are sampled: every check of a
configuration needs an estimate."""


@lru_cache(maxsize=64)
def _estimated(root: tuple[int, ...], legal: bool, depth: int) -> float:
    """Return the estimated number of nodes of the tree of a position."""
    rules = SimpleNamespace(legal=legal)

    def children(words: list[int]) -> Iterator[list[int]]:
        return (make(rules, words, move) for move in branch(rules, words))

    return estimated_nodes([list(root)], children, depth, SAMPLE, PLIES)


FEN: Any = key("start", "The position: start, or a line in Forsyth-Edwards notation")


class ChessConfig(SearchConfig):
    """Positions of chess whose trees are searched."""

    workload: Literal["chess"] = key("chess", "What the file configures")
    fen: str = FEN
    positions: ListOf[str] = key(
        (), "Instead of one position, those of games that are searched in parallel"
    )
    rules: Literal["legal", "pseudo_legal"] = shape(
        "legal",
        "Rules of moves: legal moves, or those of the published original, where kings may be "
        "captured, pawns become queens, and no side castles or captures en passant",
    )

    words: ClassVar[int] = WORDS

    @property
    def fens(self) -> tuple[str, ...]:
        """The positions in Forsyth-Edwards notation."""
        return self.positions or (self.fen,)

    @property
    def most_moves(self) -> int:
        """Largest number of moves of any position of the tree."""
        if self.rules == "legal":
            return MOST_MOVES
        boards = [board.position for board in boards_of(self.fens)]
        # Before the last ply depth - 1 moves were made, half by each side, an odd one by the first.
        return max(
            most_moves(one, made)
            for board in boards
            for one, made in ((board, self.depth // 2), (turned(board), (self.depth - 1) // 2))
        )

    def nodes_estimate(self) -> float:
        """Return an estimate of the number of nodes of the first position's whole tree."""
        return _estimated(self.roots()[0], self.rules == "legal", self.depth)

    def roots(self) -> tuple[tuple[int, ...], ...]:
        """Return the words of the positions to search from."""
        special = {} if self.rules == "legal" else {"special": 0}
        return tuple(
            tuple(words_of(board.position._replace(**special), board.side))
            for board in boards_of(self.fens)
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Yield lines that describe no position, and conflicts of the search's keys."""
        wrong = list(position_conflicts(self))
        yield from wrong
        if not wrong:
            yield from super().conflicts()


def most_moves(position: Position, made: int) -> int:
    """Return an upper bound of the pseudo-legal moves after ``made`` moves of the same side."""
    own = position.own
    queens = own & position.diagonals & position.orthogonals
    kinds = {
        "knights": own & position.knights,
        "bishops": own & position.diagonals & ~queens,
        "rooks": own & position.orthogonals & ~queens,
        "queens": queens,
        "king": position.king,
    }
    total = 0
    for kind, squares in kinds.items():
        total += MOST_OF_PIECE[kind] * int(squares.bit_count())
    for square in squares_of(own & position.pawns):
        needed = 7 - number_of(square) // 8 - (1 if square & RANK_2 else 0)
        total += MOST_OF_PIECE["queens" if needed <= made else "pawns"]
    return total
