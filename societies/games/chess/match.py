"""What does the workload that plays matches of chess declare?

The host plays the games by the definition in ``reference_py/games/chess/match.py``; the device
searches for moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from reference_py.games.chess import match as rules
from reference_py.games.chess.match import ENDS, MOST_PLIES, UCI, MatchParameters, Player
from reference_py.games.chess.search import decoded
from societies.games.chess.match_config import ChessMatchConfig
from societies.games.matches import played_games
from societies.games.ngtsg.match import SearchedMatch
from societies.opencl import Device
from societies.workload import Setup
from societies.workload.declare.optional import NamedProgram
from societies.workload.drawing.figure import require_copy


def write_pgn(results: Any, path: Path, *, match: int = 0) -> None:
    """Write the games of a match in portable game notation.

    Parameters
    ----------
    match : int
        Which match of the file, from 0.
    """
    from societies.games.chess.game import ChessGame, pgn

    require_copy(results, match)
    names = str(results.attrs["first_player"]), str(results.attrs["second_player"])
    texts = []
    for record in played_games(results, match):
        game = ChessGame(str(results.attrs["fen"]))
        for code in record.moves:
            game.push(decoded(code))
        white = record.beginner
        won = record.margin if white == 0 else -record.margin
        end = ENDS[int(results.end.isel(match=match).sel(game=record.game))]
        tags = [
            ("Event", str(results.attrs["title"])),
            ("Site", "?"),
            ("Date", "????.??.??"),
            ("Round", str(record.game)),
            ("White", names[white]),
            ("Black", names[1 - white]),
            ("Termination", end),
        ]
        texts.append(pgn(game, tags, {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[won]))
    path.write_text("".join(texts), encoding="utf-8")


class ChessMatch(SearchedMatch):
    """Two players and the games between them."""

    name = "chess_match"
    summary = "matches of chess between two players, which may be programs of others"
    config = ChessMatchConfig
    rules: ClassVar[ModuleType] = rules
    ends = rules.ENDS
    most_moves = MOST_PLIES
    moves = "moves as their side sees the board: square of origin + 64 * target + 4096 * promotion"
    export: ClassVar[Mapping[str, Callable[..., object]]] = {"pgn": write_pgn}

    def plays_otherwise(self, player: Any) -> str:
        """Return why a player may choose other moves in another run: external programs may, too."""
        if player.kind == UCI:
            return " is a program of others, which may play otherwise each time"
        return super().plays_otherwise(player)

    def programs(self, p: MatchParameters) -> list[NamedProgram]:
        """Return the players that are external programs."""
        return [
            NamedProgram(f"players.{i}.path", one.path, one.options)
            for i, one in enumerate(p.players)
            if one.kind == UCI
        ]

    def position(self, config: ChessMatchConfig) -> dict[str, str]:
        """Return the position at which games begin."""
        return {"fen": config.parameters().fen}

    def choice(self, p: MatchParameters, player: Player, device: Device | None) -> Any:
        """Return the function that chooses a player's moves; it may ask an external program."""
        if player.kind == UCI:
            from societies.games.chess.external import ExternalProgram

            return ExternalProgram(player, p.fen)
        return super().choice(p, player, device)

    def searching(self, player: Player, keys: Mapping[str, Any], device: Device | None) -> Any:
        """Return the function that chooses a player's moves by the search."""
        from societies.games.chess import WORKLOAD as CHESS
        from societies.games.chess.config import ChessConfig
        from societies.games.chess.searcher import PREPARED, ChessSearcher

        searcher = ChessSearcher(Setup(CHESS, ChessConfig(**keys), device))
        if player.seconds:
            searcher.prepare(min(player.depth, PREPARED))

        def found(boards: Any, made: Any) -> tuple[Any, int]:
            one = searcher.find(
                boards[-1], player.depth, seconds=player.seconds, only=not player.seconds
            )
            return one.move, one.nodes

        return found


WORKLOAD = ChessMatch()
