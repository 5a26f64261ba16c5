"""Which keys does the YAML file of matches of Kalah have?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar, Literal

from reference_py.games.kalah.parameters import (
    BONZO,
    EXPANDED,
    LAYERS,
    MatchParameters,
    Parameters,
    Player,
)
from societies.config.model import Conflict, ListOf, Section, key
from societies.games.kalah.config import (
    MOST_NODES,
    KalahSearchConfig,
    split_conflicts,
    too_many_nodes,
    usual_split,
)
from societies.games.matches import MatchConfig, pair_of, player_name
from societies.workload.declare.naming import parameters_of

DEPTH, DEPTH_IN_TIME = 6, 40
"""Default depths of a player in plies: without a time, and the upper limit with one."""


class KalahPlayerConfig(Section):
    """A player of Kalah: its kind, and how far or how long it looks ahead."""

    kind: Literal["expanded", "layers", "bonzo", "random"] = key(
        "expanded",
        "A search, in one of its forms; bonzo, who takes the pit nearest to the own store whose "
        "stones reach exactly the store, or else the nearest that is not empty; or any move",
    )
    depth: int | None = key(
        None,
        "Plies that a search looks ahead; with seconds: at most; default: 6, or 40",
        "plies",
        ge=1,
        le=64,
    )
    seconds: float = key(
        0.0,
        "Time for a move: a search goes one ply deeper as long as that is likely to be done in "
        "time; 0: none",
        "s",
        ge=0.0,
        le=3600.0,
    )
    split: ListOf[int] | None = key(
        None,
        "Of layers: plies before, plies breadth first, levels of the parallel tree; default: 0, "
        "depth - 3, 4",
        "plies",
    )

    @property
    def plies(self) -> int:
        """Plies that the player looks ahead; an upper limit if it has a time."""
        return self.depth or (DEPTH_IN_TIME if self.seconds else DEPTH)

    def name(self) -> str:
        """Return the name of the player; with a time, its depth only if one was given."""
        usual = DEPTH if self.player().searches and not self.seconds else 0
        return player_name(self.kind, self.depth or usual, self.seconds)

    def player(self) -> Player:
        """Return the settings of the player that the reference takes."""
        return Player(self.kind, self.plies, self.seconds, usual_split(self.split, self.plies))


class KalahMatchConfig(KalahSearchConfig, MatchConfig):
    """Two players of Kalah and the games between them."""

    determined: ClassVar[Collection[str]] = (EXPANDED, LAYERS, BONZO)
    workload: Literal["kalah_match"] = key("kalah_match", "What the file configures")
    players: ListOf[KalahPlayerConfig] = pair_of(
        KalahPlayerConfig(), KalahPlayerConfig(kind="bonzo")
    )

    def parameters(self) -> MatchParameters:
        """Return the parameters that the reference takes."""
        return parameters_of(
            MatchParameters,
            self,
            players=(self.players[0].player(), self.players[1].player()),
            boards=self.boards_at_a_time,
            alone=self.alone_or_none,
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys: three players, a time for a player without a search, ..."""
        yield from KalahSearchConfig.conflicts(self)
        yield from MatchConfig.conflicts(self)
        for i, one in enumerate(self.players):
            path, searches = ("players", i), one.kind in (EXPANDED, LAYERS)
            if not searches:
                if one.depth or one.seconds or one.split:
                    yield Conflict(
                        (*path, "kind"), f"{one.kind} does not look ahead: no depth, seconds, split"
                    )
                continue
            rules = Parameters(self.pits, self.stones, self.empty_capture)
            if not one.seconds and (nodes := too_many_nodes(rules, one.plies)):
                yield Conflict(
                    (*path, "depth"),
                    f"{one.plies} plies are about {nodes:.1g} boards to look at; at most "
                    f"{MOST_NODES:.0g} are searched",
                    (("pits",),),
                )
            yield from split_conflicts(
                (*path, "split"), one.split, ("kind", one.kind), one.plies, self.pits
            )
