"""Which keys do the configurations of all node-by-node searches share?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field

from reference_py.games.ngtsg.parameters import Refinements, SearchParameters
from societies.config.model import (
    Auto,
    Conflict,
    Interval,
    ListOf,
    Section,
    WorkloadConfig,
    key,
    shape,
)
from societies.games.ngtsg.refinements import contradictions, idle, unpruned
from societies.workload.declare.config import checkpoints
from societies.workload.declare.naming import parameters_of

MOST_NODES = 1e13
MOST_SUPERSTEPS = 10**9
MOST_BATCH = 2**20
MOST_FEW = 2**16
"""Largest possible limit of small batches; the CPU allocates memory for such a batch."""

MOST_CHILDREN = 1000
MOST_DEEPENING = 32
MOST_LEVEL = 32
MOST_ASPIRATION = 10**9
MOST_POOL = 2**31 - 1
USUAL_POOL = 2**22
"""Default capacity of a game's tree in nodes. It is the same on every device, since the counts of
nodes may change if batches must become smaller."""

P = TypeVar("P", bound=SearchParameters)
Pool = Annotated[int, Field(ge=1, le=MOST_POOL)]
BatchSize = Annotated[int, Field(ge=1, le=MOST_BATCH)]
Children = Annotated[int, Field(ge=1, le=MOST_CHILDREN)]
Level = Annotated[int, Field(ge=1, le=MOST_LEVEL)]


ROUNDS: Any = shape(
    (),
    "After how many children of a node its window is looked at again, before the next ones "
    "are looked at; ascending. 1: the first child before its brothers; none: all at once, as "
    "published",
    "nodes",
)
ROUNDS_AT: Any = shape(
    (),
    "Levels that are gone through in rounds, from 1, the moves of the root, on; none: all. Rounds "
    "save nodes and cost supersteps, on deep levels more of them",
    "levels",
)
PRINCIPAL_VARIATION: Any = shape(
    False, "Whether the leftmost line is searched, a node at a time, before anything else"
)
DEEPENING: Any = shape(
    0,
    "Plies from one depth to the next where several are searched one after the other, the "
    "last of them depth, each in the order of the root's moves that the one before has found; "
    "0: depth alone",
    "plies",
    ge=0,
    le=MOST_DEEPENING,
)
ASPIRATION: Any = shape(
    0,
    "How far the value of a depth is expected to be from that of the depth before; where it is "
    "farther, that depth is searched again. 0: any value is",
    ge=0,
    le=MOST_ASPIRATION,
)
NEAR_ROOT: Any = shape(
    (),
    "Most other nodes of a batch of each level from the root's on, where these are to be fewer "
    "than branches",
    "nodes",
)


class SizesConfig(Section):
    """How many nodes are calculated at a time."""

    leaves: int = shape(4096, "Most leaves of a batch", "nodes", ge=1, le=MOST_BATCH)
    branches: int = shape(1024, "Most other nodes of a batch", "nodes", ge=1, le=MOST_BATCH)


def sizes_key(leaves: int, branches: int) -> Any:
    """Return the key of the sizes of batches by their defaults."""
    said = "How many nodes a search calculates at a time"
    return key(SizesConfig(leaves=leaves, branches=branches), said)


class BatchConfig(SizesConfig):
    """Sizes of batches, and which batches the CPU calculates instead of the run's device."""

    min_leaves: int = shape(
        0,
        "Batches of fewer leaves are calculated by the CPU's OpenCL device, with the same results",
        "nodes",
        ge=0,
        le=MOST_FEW,
    )
    min_branches: int = shape(
        0,
        "Batches of fewer other nodes are calculated by the CPU's OpenCL device, with the same "
        "results",
        "nodes",
        ge=0,
        le=MOST_FEW,
    )
    near_root: ListOf[BatchSize] = NEAR_ROOT


class SearchRecord(Section):
    """What is recorded in the file, and how often."""

    checkpoint: Interval = checkpoints("superstep", "the tree")


def capacities(branches: Sequence[int], width: int, pool: int) -> tuple[int, ...]:
    """Return the capacity of each level in nodes, from the root's level to that of the leaves.

    A level needs room for the children of a batch of the level above. ``branches`` holds the
    largest batch of each level from the root's to the last one above the leaves. If all levels
    together need more nodes than ``pool``, the largest levels get the same, smaller capacity;
    batches that do not fit become smaller. Every level has room for the children of one node.
    """
    needed = [1]
    for batch in branches:
        needed.append(min(batch, needed[-1]) * width)
    if sum(needed) <= pool:
        return tuple(needed)
    low, high = width, max(needed)
    while low < high:
        most = (low + high + 1) // 2
        if sum(min(one, most) for one in needed) <= pool:
            low = most
        else:
            high = most - 1
    return tuple(min(one, low) for one in needed)


class SearchConfig(WorkloadConfig):
    """Base of the configurations of searches: depth, pruning and batches."""

    depth: int = shape(4, "Plies from the root to the leaves", "plies", ge=0, le=32)
    pruning: Literal["none", "alpha_beta"] = shape(
        "alpha_beta", "Whether nodes are left out whose value cannot change that of the root"
    )
    rounds: ListOf[Children] = ROUNDS
    rounds_at: ListOf[Level] = ROUNDS_AT
    principal_variation: bool = PRINCIPAL_VARIATION
    deepening: int = DEEPENING
    aspiration: int = ASPIRATION
    form: Literal["device", "host"] = shape(
        "device",
        "Who selects and closes nodes, with the same results: the device, or the host while the "
        "device calculates moves and values",
    )
    batch: BatchConfig = key(BatchConfig, "How many nodes are calculated at a time")
    pool: Auto[Pool] = shape(
        "auto",
        "Most nodes of a game in memory at a time; if they do not suffice for the children of a "
        "batch, the batch becomes smaller; auto: as many as the batches need, at most 4,194,304",
        "nodes",
    )
    supersteps: int = key(
        MOST_SUPERSTEPS,
        "Most supersteps; a search that is not over by then has found nothing",
        "superstep",
        ge=1,
        le=MOST_SUPERSTEPS,
    )
    record: SearchRecord = key(SearchRecord, "What is recorded in the file, and how often")

    words: ClassVar[int]
    """Number of words of a position."""

    @property
    def most_moves(self) -> int:
        """Largest number of moves of a position."""
        raise NotImplementedError

    def nodes_estimate(self) -> float:
        """Return an estimate of the number of nodes of the whole tree."""
        return float(sum(float(self.most_moves) ** ply for ply in range(self.depth + 1)))

    def roots(self) -> tuple[tuple[int, ...], ...]:
        """Return the words of the positions to search from."""
        raise NotImplementedError

    @property
    def refinements(self) -> Refinements:
        """Keys that make the search visit fewer nodes."""
        return parameters_of(Refinements, self, near_root=self.batch.near_root)

    @property
    def _near_root(self) -> tuple[int, ...]:
        """Limits of batches of the first levels, at most ``batch.branches``."""
        return tuple(min(one, self.batch.branches) for one in self.batch.near_root[: self.depth])

    def rooms(self, pool: int) -> tuple[int, ...]:
        """Return the capacity of each level if a tree has at most ``pool`` nodes."""
        near = self._near_root
        most = (*near, *[self.batch.branches] * (self.depth - len(near)))
        return capacities(most, self.most_moves, pool)

    def capacity_text(self, nodes: int) -> str:
        """Return text with the capacity of a tree, and what full batches need if that is more."""
        full = sum(self.rooms(2**63))
        smaller = f"; full batches need {full:,}, so a full level takes smaller ones"
        return f"at most {nodes:,} of a game{smaller if full > nodes else ''}"

    @property
    def capacities(self) -> tuple[int, ...]:
        """Capacity of each level."""
        return self.rooms(USUAL_POOL if self.pool == "auto" else self.pool)

    def search_parameters(self, kind: type[P], **own: Any) -> P:
        """Return the parameters of a search, in the class of a game, with its own keys."""
        return parameters_of(
            kind,
            self,
            prune=self.pruning == "alpha_beta",
            most_leaves=self.batch.leaves,
            most_branches=self.batch.branches,
            min_leaves=self.batch.min_leaves,
            min_branches=self.batch.min_branches,
            width=self.most_moves,
            words=self.words,
            roots=self.roots(),
            near_root=self._near_root,
            **own,
        )

    def warnings(self) -> Iterator[Conflict]:
        """Yield keys that have no effect because of other keys."""
        yield from super().warnings()
        yield from idle(self.refinements)

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys, a tree that is too large, a pool that is too small."""
        if self.pruning == "none":
            yield from unpruned(self.refinements)
        yield from contradictions(self.refinements, self.depth, self.batch.branches)
        nodes = self.nodes_estimate()
        if self.pruning == "none" and nodes > MOST_NODES:
            yield Conflict(
                ("depth",),
                f"{self.depth} plies are about {nodes:.1g} nodes; without pruning at most "
                f"{MOST_NODES:.0g} are searched",
                (("pruning",),),
            )
        least = 1 + self.depth * self.most_moves
        if self.pool != "auto" and self.pool < least:
            yield Conflict(
                ("pool",),
                f"{self.pool} nodes; {self.depth} levels with the children of a node each, and the "
                f"root, are {least}",
                (("depth",),),
            )
