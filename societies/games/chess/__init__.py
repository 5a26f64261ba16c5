"""What does the workload that searches the game tree of chess declare?

The rules are in ``reference_py/games/chess``, the kernels in ``kernels/games/chess``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reference_py.games.chess.rules import in_check
from reference_py.games.chess.search import GAME, ChessParameters, decoded
from societies.games.chess.config import ChessConfig, boards_of
from societies.games.ngtsg.search import SearchWorkload
from societies.workload import Setup


class Chess(SearchWorkload[ChessConfig, ChessParameters]):
    """The tree of chess, of its legal moves or of those of the published original."""

    name = "chess"
    summary = "the game tree of chess, searched node by node in batches, with pruning or without"
    config = ChessConfig
    rules, file = GAME, "games/chess/search.cl"

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

    def play(
        self,
        config: ChessConfig,
        *,
        device: Any = "auto",
        moves: str = "",
        side: str = "white",
        seconds: str = "",
        save: Path | None = None,
        protocol: str = "",
        console: Any = None,
    ) -> str:
        """Play a game against the search, or let a program use it; return how it ended.

        Parameters
        ----------
        moves : str
            Your moves in order, instead of asking: e2e4,g1f3 or e4,Nf3; or a file of a
            saved game, game.pgn, to make the moves of both sides in it.
        side : str
            Which side is yours: white or black.
        seconds : str
            Time of the search for a move; without it looks as far ahead as the key depth says.
        save : Path or None
            File to write the game to, in portable game notation.
        protocol : str
            uci: speak the Universal Chess Interface instead, by which chess programs use engines.
        """
        from societies.errors import ConfigError, option
        from societies.games.chess import play, uci

        if protocol:
            if protocol != "uci":
                raise ConfigError(f"{option('protocol', protocol)}: uci")
            uci.Uci(Setup(self, config), device).run()
            return ""
        return play.play(Setup(self, config), device, moves, side, seconds, save, console)


WORKLOAD = Chess()
