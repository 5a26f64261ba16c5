"""Matches of chess: what is declared of them.

The games are played on the host, by the definition in ``reference_py/games/chess/match.py``; moves
are searched on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from reference_py.copies import Copy
from reference_py.games.chess import match as rules
from reference_py.games.chess import start
from reference_py.games.chess.match import ENDS, MOST_PLIES, RANDOM, UCI, MatchParameters, Player
from reference_py.games.chess.search import decoded
from societies.errors import ConfigError, option
from societies.games.chess.match_config import ChessMatchConfig
from societies.games.matches import MatchWorkload, records
from societies.workload import Field, Phase, Source, Step, phase

if TYPE_CHECKING:
    from societies.opencl import Device
    from societies.workload.protocol import Contents

FOLDER = "games/chess"


def write_pgn(results: Any, path: Path, *, match: int = 0) -> None:
    """Write the games of a match in portable game notation.

    Parameters
    ----------
    match : int
        Which match of the file, from 0.
    """
    from societies.games.chess.game import Game, pgn

    if not 0 <= match < results.sizes["match"]:
        last = results.sizes["match"] - 1
        raise ConfigError(f"{option('match', match)}: the matches are 0 to {last}")
    names = str(results.attrs["first_player"]), str(results.attrs["second_player"])
    texts = []
    for record in records(results, match):
        game = Game(str(results.attrs["fen"]))
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
    path.write_text("".join(texts))


class ChessMatch(MatchWorkload):
    """Two players and the games between them."""

    name = "chess_match"
    summary = "matches of chess between two players, which may be programs of others"
    config = ChessMatchConfig
    work = "node"
    counted_by, timed = "searched", True
    numpy = True
    export: ClassVar[Mapping[str, Callable[..., object]]] = {"pgn": write_pgn}

    def parameters(self, config: ChessMatchConfig) -> MatchParameters:
        """Return what the reference is handed of a match."""
        return config.parameters()

    def names(self, config: ChessMatchConfig) -> Sequence[str]:
        """Return what the two players are called."""
        return [one.name() for one in config.players]

    def not_repeatable(self, config: ChessMatchConfig) -> str:
        """Return why another run plays other games: a time for moves, or a program of others."""
        for i, one in enumerate(config.players):
            if one.kind == UCI:
                return f"players.{i} is a program of others, which may play otherwise each time"
            if one.seconds:
                return (
                    f"players.{i}.seconds is a time for each move, and how far a search looks "
                    "ahead in it differs from run to run"
                )
        return ""

    def sizes(self, p: MatchParameters) -> dict[str, int]:
        """Return the most moves of a game, and players."""
        return {"move": MOST_PLIES, "player": 2}

    def fields(self, p: MatchParameters) -> Mapping[str, Field]:
        """Return what is recorded of a game."""
        moves = (
            "moves as their side sees the board: square of origin + 64 * target + 4096 * "
            "promotion, -1 after the end"
        )
        ends = ", ".join(f"{i} {end}" for i, end in enumerate(ENDS))
        return {
            "number": Field((), "uint32", "index", "number of the match", kept=False),
            **self.record_fields("1", moves),
            "moves": Field(("move",), "int16", "1", moves, initial=-1, logged=True),
            "end": Field((), "uint8", "1", f"how the game ended: {ends}", logged=True),
            "searched": Field(("player",), "int64", "nodes", "nodes visited", logged=True),
        }

    def _choices(self, p: MatchParameters, device: Device | None) -> list[Any]:
        """Return who chooses the moves of both players, on a device or in plain Python."""
        return [self._choice(p, player, device) for player in p.players]

    def _choice(self, p: MatchParameters, player: Player, device: Device | None) -> Any:
        if player.kind == RANDOM:
            return None
        if player.kind == UCI:
            from societies.games.chess.external import Program

            return Program(player, p.fen)
        from societies.games.chess import WORKLOAD as CHESS
        from societies.games.chess.config import ChessConfig
        from societies.games.chess.searcher import Searcher
        from societies.games.ngtsg.config import BatchConfig

        batch = BatchConfig(leaves=p.leaves, branches=p.branches)
        searcher = Searcher(CHESS, ChessConfig(batch=batch), device or "reference")

        def found(boards: Any, made: Any) -> tuple[Any, int]:
            one = searcher.find(
                boards[-1], player.depth, seconds=player.seconds, only=not player.seconds
            )
            return one.move, one.nodes

        return found

    def phases(self, p: MatchParameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernel that begins a game, and the game, which is played on the host."""
        choices: list[Any] = []

        def play(arrays: Mapping[str, Any], tick: int) -> None:
            choices.extend([] if choices else self._choices(p, arrays["moves"].device))
            now = {name: arrays[name].get() for name in self.fields(p)}
            for place, number in enumerate(now["number"].tolist()):
                one = Copy(number, {name: array[place] for name, array in now.items()})
                rules.note(one, *rules.play_game(p, number, tick, choices))
                for name, array in now.items():
                    array[place] = getattr(one, name)
            for name, array in now.items():
                arrays[name].set(array)

        return {
            "start": phase(f"{FOLDER}/start.cl", global_size=copies),
            "game": Phase(host=play),
        }

    def schedule(self, p: MatchParameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the steps of a game."""
        if tick:
            yield Step("start")
            yield Step("game")

    def source(self, p: MatchParameters) -> Source:
        """Return the macro of the one kernel."""
        return Source({"MOST_PLIES": MOST_PLIES})

    def reference(self, p: MatchParameters) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase; searches are those of the reference, too."""
        choices: list[Any] = []

        def game(p: MatchParameters, copy: Any, tick: int) -> None:
            choices.extend([] if choices else self._choices(p, None))
            rules.note(copy, *rules.play_game(p, copy.index, tick, choices))

        return {"start": start.start, "game": game}

    def contents(self, config: ChessMatchConfig) -> Contents:
        """Return what the file holds: the games, and who played."""
        from societies.games.chess.match_contents import MatchContents

        return MatchContents(self, config)

    def plan_rows(self, config: ChessMatchConfig, p: MatchParameters) -> list[tuple[str, str]]:
        """Return who plays."""
        first, second = self.names(config)
        return [("players", f"{first} against {second}")]


WORKLOAD = ChessMatch()
