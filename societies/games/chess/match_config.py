"""Which keys does the YAML file of matches of chess have?"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import ClassVar, Literal

from reference_py.games.chess.fen import write_fen
from reference_py.games.chess.match import RANDOM, SEARCH, UCI, MatchParameters, Player
from societies.config.model import Conflict, ListOf, Section, key
from societies.config.problems import Path
from societies.games.chess.config import boards_of, fen_conflicts
from societies.games.chess.external import command_of, lack_of
from societies.games.matches import MatchConfig, pair_of, player_name
from societies.games.ngtsg.config import SizesConfig, sizes_key
from societies.games.ngtsg.players import SearchingPlayer, player_conflicts, player_warnings
from societies.games.ngtsg.refinements import refinements_text
from societies.workload.declare.naming import parameters_of


class OptionConfig(Section):
    """An option that is sent to an external program."""

    name: str = key(..., "Its name", examples=["Skill Level"])
    value: str = key(..., "Its value", examples=["0"])


def _no_option(given: OptionConfig) -> str:
    """Return why an option cannot be sent as one line of UCI; "" if it can."""
    if not (given.name.isprintable() and given.value.isprintable() and given.name.strip()):
        return "name and value are sent as one line of characters that can be printed"
    if "value" in given.name.lower().split():
        return "the word value ends a name in UCI, so no name may have it"
    return ""


class ChessPlayerConfig(SearchingPlayer):
    """A player of chess: its kind, and how far or how long it looks ahead."""

    kind: Literal["search", "random", "uci"] = key(
        "search", "The search; any legal move; or a program that speaks UCI"
    )
    depth: int | None = key(
        None, "Plies that it looks ahead; with seconds: at most; default: 2, or 32", ge=1, le=32
    )
    seconds: float = key(0.0, "Time for a move; 0: none", "s", ge=0.0, le=3600.0)
    path: str = key("", "Of uci: the program, and words that it is handed")
    options: ListOf[OptionConfig] = key((), "Options that are sent to the program, of uci")

    def player(self) -> Player:
        """Return the settings of the player that the reference takes."""
        options = tuple((one.name, one.value) for one in self.options)
        return parameters_of(Player, self, depth=self.reach, options=options)

    def name(self) -> str:
        """Return the name of the player."""
        depth = self.reach if self.kind != RANDOM else 0
        said = player_name(self.path if self.kind == UCI else self.kind, depth, self.seconds)
        options = ", ".join(f"{one.name} {one.value}" for one in self.options)
        return ", ".join([said, *refinements_text(self.refinements, "ply")]) + (
            f" ({options})" if options else ""
        )


class ChessMatchConfig(MatchConfig):
    """Two players of chess and the games between them."""

    determined: ClassVar[Collection[str]] = (SEARCH,)
    workload: Literal["chess_match"] = key("chess_match", "What the file configures")
    fen: str = key("start", "Position at which games begin: start, or a line in FEN")
    batch: SizesConfig = sizes_key(256, 32)
    players: ListOf[ChessPlayerConfig] = pair_of(
        ChessPlayerConfig(), ChessPlayerConfig(kind="random")
    )

    def parameters(self) -> MatchParameters:
        """Return the parameters that the reference takes."""
        return parameters_of(
            MatchParameters,
            self,
            players=(self.players[0].player(), self.players[1].player()),
            fen=write_fen(boards_of([self.fen])[0]),
            leaves=self.batch.leaves,
            branches=self.batch.branches,
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys, and programs that do not exist."""
        yield from super().conflicts()
        yield from fen_conflicts(("fen",), self.fen)
        yield from player_conflicts(self.players, self.batch.branches)
        for i, one in enumerate(self.players):
            path = ("players", i)
            if one.kind == UCI and not command_of(one.path):
                yield Conflict((*path, "path"), lack_of(one.path))
            if one.kind != UCI and (one.path or one.options):
                yield Conflict((*path, "kind"), f"{one.kind} is not a program: no path, no options")
            for j, given in enumerate(one.options):
                if why := _no_option(given):
                    yield Conflict((*path, "options", j), why)
            if one.kind == RANDOM and (one.depth or one.seconds):
                yield Conflict((*path, "kind"), "random does not look ahead: no depth, no seconds")

    def files(self) -> list[Path]:
        """Return the keys that name programs in a folder; others are looked up in PATH."""
        found = [("players", i, "path") for i, one in enumerate(self.players)]
        return [at for at in found if os.path.dirname(self.players[at[1]].path.partition(" ")[0])]

    def warnings(self) -> Iterator[Conflict]:
        """Yield a warning for games that only repeat, and for player keys without effect."""
        yield from super().warnings()
        yield from player_warnings(self.players)
