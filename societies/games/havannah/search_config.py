"""Which keys does the YAML file of a tree search of Havannah have?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from reference_py.games.havannah.grow import TreeParameters
from societies.config.model import (
    Conflict,
    From0,
    From1,
    Interval,
    ListOf,
    Section,
    key,
    shape,
    value,
)
from societies.games.havannah.config import FIRST_GAME, STREAMS, BoardConfig, board_size
from societies.words import counted
from societies.workload.declare.config import (
    INTERVENTIONS,
    SEED,
    InterventionConfig,
    Numbers,
    Seeded,
    changed_after,
    changed_copies,
    checkpoints,
)
from societies.workload.declare.naming import parameters_of
from societies.workload.running.points import intervention_conflicts

LIMIT = 2**40
"""Number of random streams of a game, one for each playout."""

MOST_BYTES = 2**34
"""Largest size of all trees together, in bytes."""

WEIGHT = "Of uct and trees: weight of the term that prefers moves with few playouts"
RAVE: Any = shape(
    0.0,
    "Of trees: number of playouts of a move at which they weigh as much as all games below its "
    "position that ended with a stone of its side in that cell; 0: those games do not count",
    "playouts",
    ge=0.0,
    le=1e9,
)
TREES: Any = shape(
    2,
    "Of trees: number of trees, each searched by a workgroup; their playouts are added up",
    "trees",
    ge=1,
    le=4096,
)
NODES: Any = shape(
    2**14,
    "Of trees: most positions of a tree, which no longer grows when it has them",
    "positions",
    ge=1,
    le=2**22,
)


def tree_bytes(size: int, nodes: int, rave: float) -> int:
    """Return the size of a tree in bytes."""
    return nodes * (3 * size * (size - 1) + 1) * (21 if rave else 13)


class BatchIntervention(InterventionConfig):
    """Values of games that are changed, for good or for some time."""

    batch: int = changed_after("batch")
    games: Numbers = changed_copies("games")


class HavannahSearchRecord(Section):
    """What is recorded in the file, and how often."""

    checkpoint: Interval = checkpoints("batch", "the trees")


class HavannahSearchConfig(Seeded, BoardConfig):
    """A position of Havannah whose best move is looked for by trees of moves."""

    workload: Literal["havannah_search"] = key("havannah_search", "What the file configures")
    size: int = board_size(6)
    batches: int = key(
        20, "Number of batches of leaves; what was found is recorded after each", ge=1, le=10**6
    )
    leaves: int = shape(
        512, "Leaves of each tree in a batch, which is a launch", "leaves", ge=1, le=2**20
    )
    each: int = shape(1, "Playouts of a leaf", "playouts", ge=1, le=4096)
    trees: int = TREES
    nodes: int = NODES
    exploration: float = value(0.2, WEIGHT, ge=0.0, le=1e2)
    rave: float = RAVE
    seed: int = SEED
    replicates: From1 = key(
        1, "Searches of the position in parallel, with different random numbers", "games"
    )
    first_game: From0 = FIRST_GAME
    interventions: ListOf[BatchIntervention] = INTERVENTIONS
    record: HavannahSearchRecord = key(
        HavannahSearchRecord, "What is recorded in the file, and how often"
    )

    def parameters(self) -> TreeParameters:
        """Return the parameters that the reference takes."""
        game = self.game()
        given = {"stones": game.stones, "to_move": game.side, "limit": LIMIT}
        return parameters_of(TreeParameters, self, **given)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys: more playouts than streams or counters allow, large trees."""
        yield from super().conflicts()
        yield from intervention_conflicts(self)
        playouts = self.batches * self.leaves * self.each
        if playouts >= 2**31:
            yield Conflict(
                ("batches",),
                f"{playouts:,} playouts of a tree; fewer than {2**31:,} are counted",
                (("leaves",), ("each",)),
            )
        games = self.first_game + self.replicates
        if games > STREAMS // LIMIT:
            yield Conflict(
                ("replicates",),
                f"{counted(games, 'game')} need more random streams than there are; "
                f"{STREAMS // LIMIT:,} games have some",
                (("first_game",),),
            )
        nbytes = self.replicates * self.trees * tree_bytes(self.size, self.nodes, self.rave)
        if nbytes > MOST_BYTES:
            yield Conflict(
                ("nodes",),
                f"the trees take {nbytes / 2**30:.1f} GiB; at most {MOST_BYTES >> 30} are allowed",
                (("trees",), ("size",), ("replicates",)),
            )
