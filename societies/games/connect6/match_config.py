"""Which keys does the YAML file of matches of Connect6 have?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar, Literal

from reference_py.games.connect6.match import RANDOM, SEARCH, MatchParameters, Player
from societies.config.model import Conflict, ListOf, key
from societies.games.connect6.config import TO_MOVE, WHITE, Connect6PositionConfig
from societies.games.matches import MatchConfig, pair_of
from societies.games.ngtsg.config import SizesConfig, sizes_key
from societies.games.ngtsg.players import SearchingPlayer, player_conflicts, player_warnings
from societies.games.ngtsg.refinements import refinements_text
from societies.words import counted
from societies.workload.declare.naming import parameters_of


class Connect6PlayerConfig(SearchingPlayer):
    """A player of Connect6: its kind, and how far or how long it looks ahead."""

    kind: Literal["search", "random"] = key(
        "search", "The search, or stones on any points that are at most three steps from another"
    )
    depth: int | None = key(
        None, "Turns that it looks ahead; with seconds: at most; default: 2, or 32", ge=1, le=32
    )
    seconds: float = key(0.0, "Time for a turn; 0: none", "s", ge=0.0, le=3600.0)
    width: int = key(16, "Most turns of a position that it tries", "turns", ge=1, le=120)
    prover: int = key(
        0,
        "Own turns in which it looks for a win by threats alone before the search; 0: it does not",
        "turns",
        ge=0,
        le=6,
    )

    def player(self) -> Player:
        """Return the settings of the player that the reference takes."""
        return parameters_of(Player, self, depth=self.reach)

    def name(self) -> str:
        """Return the name of the player."""
        if self.kind == RANDOM:
            return RANDOM
        said = [SEARCH, counted(self.reach, "turn"), f"width {self.width}"]
        said += [f"threats in {counted(self.prover, 'turn')}"] if self.prover else []
        said += [f"{self.seconds:g} s a turn"] if self.seconds else []
        return ", ".join([*said, *refinements_text(self.refinements, "turn")])


class Connect6MatchConfig(MatchConfig):
    """Two players of Connect6 and the games between them."""

    determined: ClassVar[Collection[str]] = (SEARCH,)
    workload: Literal["connect6_match"] = key("connect6_match", "What the file configures")
    black: str = key(
        "",
        "Points of Black's stones at the start of a game, with blanks: a letter A to S, a number "
        "1 to 19",
    )
    white: str = WHITE
    to_move: Literal["auto", "black", "white"] = TO_MOVE
    batch: SizesConfig = sizes_key(1024, 64)
    players: ListOf[Connect6PlayerConfig] = pair_of(
        Connect6PlayerConfig(), Connect6PlayerConfig(kind="random")
    )

    def position(self) -> Connect6PositionConfig:
        """Return the position at which games begin."""
        return Connect6PositionConfig(black=self.black, white=self.white, to_move=self.to_move)

    def parameters(self) -> MatchParameters:
        """Return the parameters that the reference takes."""
        return parameters_of(
            MatchParameters,
            self,
            players=(self.players[0].player(), self.players[1].player()),
            root=self.position().root(),
            leaves=self.batch.leaves,
            branches=self.batch.branches,
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys, and errors of the position."""
        yield from super().conflicts()
        for name, message in self.position().problems():
            yield Conflict((name,), message)
        yield from player_conflicts(self.players, self.batch.branches)
        for i, one in enumerate(self.players):
            if one.kind == RANDOM and (one.depth or one.seconds or one.prover):
                text = "random does not look ahead: no depth, no seconds, no prover"
                yield Conflict(("players", i, "kind"), text)

    def warnings(self) -> Iterator[Conflict]:
        """Yield a warning for games that only repeat, and for player keys without effect."""
        yield from super().warnings()
        yield from player_warnings(self.players)
