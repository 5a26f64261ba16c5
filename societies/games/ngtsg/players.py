"""Which keys do all searching players of matches share, and which of them conflict?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reference_py.games.ngtsg.parameters import Refinements
from societies.config.model import Conflict, ListOf, Section
from societies.games.ngtsg.config import (
    ASPIRATION,
    DEEPENING,
    NEAR_ROOT,
    PRINCIPAL_VARIATION,
    ROUNDS,
    ROUNDS_AT,
    BatchSize,
    Children,
    Level,
)
from societies.games.ngtsg.refinements import contradictions, idle
from societies.workload.declare.naming import parameters_of

DEPTH, DEPTH_IN_TIME = 2, 32
"""Default depths of a player: without a time, and the upper limit with one."""

SEARCH = "search"
NO_KEYS = "no rounds, rounds_at, principal_variation, deepening, aspiration, near_root"


class SearchingPlayer(Section):
    """A player that searches: its depth or time, and the keys that save nodes."""

    kind: str
    depth: int | None
    seconds: float
    rounds: ListOf[Children] = ROUNDS
    rounds_at: ListOf[Level] = ROUNDS_AT
    principal_variation: bool = PRINCIPAL_VARIATION
    deepening: int = DEEPENING
    aspiration: int = ASPIRATION
    near_root: ListOf[BatchSize] = NEAR_ROOT

    @property
    def reach(self) -> int:
        """Depth to which the player looks ahead; an upper limit if it has a time."""
        return self.depth or (DEPTH_IN_TIME if self.seconds else DEPTH)

    @property
    def refinements(self) -> Refinements:
        """The keys that make the player's search visit fewer nodes."""
        return parameters_of(Refinements, self)


def player_conflicts(players: Sequence[SearchingPlayer], branches: int) -> Iterator[Conflict]:
    """Yield contradictory keys of the players; ``branches`` limits their batches."""
    for i, one in enumerate(players):
        if one.kind == SEARCH:
            at, near = ("players", i), ("near_root",)
            yield from contradictions(one.refinements, one.reach, branches, at, near)
        elif one.refinements != Refinements():
            yield Conflict(("players", i, "kind"), f"{one.kind} is not the search: {NO_KEYS}")


def player_warnings(players: Sequence[SearchingPlayer]) -> Iterator[Conflict]:
    """Yield keys of the players that have no effect because of other keys."""
    for i, one in enumerate(players):
        yield from idle(one.refinements, ("players", i))
