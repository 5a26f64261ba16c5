"""Chess, searched: what is declared of it.

The rules are in ``reference_py/games/chess``, the kernels in ``kernels/games/chess``.
"""

from __future__ import annotations

from reference_py.games.chess.search import GAME, ChessParameters, decoded
from reference_py.games.ngtsg.parameters import NO_MOVE
from societies.games.chess.config import ChessConfig
from societies.games.chess.positions import boards_of
from societies.games.ngtsg.search import SearchWorkload


class Chess(SearchWorkload[ChessConfig, ChessParameters]):
    """The tree of chess, of its legal moves or of those of the published original."""

    name = "chess"
    summary = "the game tree of chess, searched node by node in batches, with pruning or without"
    config = ChessConfig
    rules, file = GAME, "games/chess/search.cl"

    def parameters(self, config: ChessConfig) -> ChessParameters:
        """Return what the reference is handed of a search."""
        return ChessParameters(**config.search_values(), legal=config.rules == "legal")

    def game_macros(self, p: ChessParameters) -> dict[str, int | float | str | bool]:
        """Return which moves there are."""
        return {"LEGAL": p.legal}

    def move_text(self, config: ChessConfig, move: int) -> str:
        """Return the move in coordinates, of the first game."""
        if move == NO_MOVE:
            return "none"
        return str(decoded(move).name(boards_of(config.fens)[0].side))


WORKLOAD = Chess()
