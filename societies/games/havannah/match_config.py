"""Which keys does the YAML file of matches of Havannah have?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from reference_py.games.havannah.match import (
    FLAT,
    GAME_STREAMS,
    RANDOM,
    TREES,
    MatchParameters,
    Strength,
)
from societies.config.model import Conflict, ListOf, Section, key
from societies.games.havannah.config import STREAMS, board_size, swap_rule
from societies.games.havannah.search_config import NODES, RAVE, WEIGHT
from societies.games.havannah.search_config import TREES as TREE_COUNT
from societies.games.matches import MatchConfig, pair_of
from societies.words import counted
from societies.workload.declare.naming import parameters_of


class HavannahPlayerConfig(Section):
    """A player of Havannah: its kind, and its playouts or time for a move."""

    kind: Literal["trees", "uct", "flat", "random"] = key(
        "uct",
        "trees: UCT, in trees of moves that the device keeps, whose leaves are played out one by "
        "one; uct: in a tree on the host, whose leaves are played out many at a time; flat Monte "
        "Carlo, as many playouts of each move; or any move",
    )
    playouts: int = key(10_000, "Playouts for a move", "playouts", ge=1, le=2**24)
    seconds: float = key(
        0.0, "Time for a move instead of a number of playouts; 0: none", "s", ge=0.0, le=3600.0
    )
    each: int | None = key(
        None,
        "Playouts of a leaf at a time; default: 1 of trees, else 8",
        "playouts",
        ge=1,
        le=4096,
    )
    leaves: int | None = key(
        None,
        "Leaves that are played out at a time, of trees in each of them; default: 256 of trees, "
        "else 32",
        "leaves",
        ge=1,
        le=4096,
    )
    exploration: float = key(0.2, WEIGHT, ge=0.0, le=1e2)
    trees: int = TREE_COUNT
    nodes: int = NODES
    rave: float = RAVE

    def strength(self) -> Strength:
        """Return the settings of the player that the reference takes."""
        each, leaves = (1, 256) if self.kind == TREES else (8, 32)
        return parameters_of(Strength, self, each=self.each or each, leaves=self.leaves or leaves)

    def name(self) -> str:
        """Return the name of the player."""
        if self.kind == RANDOM:
            return RANDOM
        effort = f"{self.seconds:g} s" if self.seconds else f"{self.playouts:,} playouts"
        kind = "flat Monte Carlo" if self.kind == FLAT else "UCT"
        if self.kind == TREES:
            kind = f"UCT in {counted(self.trees, 'tree')}{' with RAVE' if self.rave else ''}"
        return f"{kind}, {effort} a move"


class HavannahMatchConfig(MatchConfig):
    """Two players of Havannah and the games between them."""

    workload: Literal["havannah_match"] = key("havannah_match", "What the file configures")
    size: int = board_size(6)
    swap: bool = swap_rule(True)
    players: ListOf[HavannahPlayerConfig] = pair_of(
        HavannahPlayerConfig(), HavannahPlayerConfig(kind="flat")
    )

    def parameters(self) -> MatchParameters:
        """Return the parameters that the reference takes."""
        players = (self.players[0].strength(), self.players[1].strength())
        return parameters_of(MatchParameters, self, players=players)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys: three players, more games than random streams."""
        yield from super().conflicts()
        games = (self.first_match + self.replicates) * self.games
        if games > STREAMS // GAME_STREAMS:
            yield Conflict(
                ("games",),
                f"{games:,} games need more random streams than there are; "
                f"{STREAMS // GAME_STREAMS:,} games have some",
                (("replicates",), ("first_match",)),
            )
        for i, one in enumerate(self.players):
            if one.kind == RANDOM and one.seconds:
                yield Conflict(("players", i, "seconds"), "a random move takes no time")
