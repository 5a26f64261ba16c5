"""What does the workload that searches the game tree of chess declare?

The rules are in ``reference_py/games/chess``, the kernels in ``kernels/games/chess``.
"""

from __future__ import annotations

from reference_py.games.chess.rules import in_check
from reference_py.games.chess.search import GAME, ChessParameters, decoded
from societies.games.chess.config import ChessConfig, boards_of
from societies.games.ngtsg.search import SearchWorkload
from societies.workload.declare.naming import Imported


class Chess(SearchWorkload[ChessConfig, ChessParameters]):
    """The tree of chess, of its legal moves or of those of the published original."""

    name = "chess"
    summary = "the game tree of chess, searched node by node in batches, with pruning or without"
    config = ChessConfig
    rules, file = GAME, "games/chess/search.cl"
    play = Imported("societies.games.chess.play:play", of_setup=True)

    def parameters(self, config: ChessConfig) -> ChessParameters:
        """Return the parameters of a search that the reference takes."""
        return config.search_parameters(ChessParameters, legal=config.rules == "legal")

    def game_macros(self, p: ChessParameters) -> dict[str, int | float | str | bool]:
        """Return the macro that selects legal or pseudo-legal moves."""
        return {"LEGAL": p.legal}

    def move_text(self, config: ChessConfig, move: int) -> str:
        """Return a move of the first game in coordinates."""
        return str(decoded(move).name(boards_of(config.fens)[0].side))

    def over_text(self, config: ChessConfig) -> str:
        """Return whether the first game is a checkmate or a stalemate."""
        if config.rules != "legal":
            return "no move: every piece is blocked"
        mated = in_check(boards_of(config.fens)[0].position)
        return f"no move: {'checkmate' if mated else 'stalemate'}"


WORKLOAD = Chess()
