"""Which arrays, phases and steps do all workloads share that search a game tree node by node?

A game's workload is a `SearchWorkload` that names its kernel file and its three functions
(docs/write-a-search.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference_py.games.ngtsg import (
    append,
    begin,
    branch,
    close,
    deepening,
    evaluate,
    make,
    select,
)
from reference_py.games.ngtsg.parameters import (
    NO_LEVEL,
    NO_MOVE,
    NOTHING,
    GameFunctions,
    SearchParameters,
)
from societies.games.ngtsg.groups import FOLDER, ITEMS, by_groups, over_nodes
from societies.games.ngtsg.host import on_host
from societies.games.ngtsg.small_batches import Few
from societies.workload import Field, Phase, Scratch, Source, Step, Workload, phase
from societies.workload.running.engines import LOG_TICKS

if TYPE_CHECKING:
    from societies.games.ngtsg.config import SearchConfig

BEGIN = Step("begin"), Step("first_depth")
"""Steps before the first superstep; the second only in a search of several depths."""

SHARING = 32
"""Most work-items that share the moves of a node (kernels/games/ngtsg/make.cl)."""

MOST_GROUPS = 1024
"""Most workgroups of a launch that makes children: enough to fill a GPU, and few enough that a
launch without work costs little."""

SUPERSTEP = tuple(
    Step(phase) for phase in ("select", "branch", "append", "make", "evaluate", "close")
)
"""Phases of a superstep. The device decides which kind of batch a superstep has, how large it is
and whether the search is over; a kernel without work returns at once. So the host can launch many
supersteps without reading anything in between."""

_TREE: dict[str, Callable[..., None]] = {
    "select": select.select_batch,
    "append": append.append_children,
    "close": close.close_batch,
}
_NODES: dict[str, Callable[..., None]] = {
    "branch": branch.branch_batch,
    "make": make.make_children,
    "evaluate": evaluate.evaluate_batch,
}
_FEW: dict[str, Callable[..., None]] = {
    "branch_few": branch.branch_few,
    "evaluate_few": evaluate.evaluate_few,
}

C = TypeVar("C", bound="SearchConfig")
P = TypeVar("P", bound=SearchParameters)


def at_once(superstep: int) -> int:
    """Return how many supersteps to launch before the host checks whether a search is over.

    A check costs about as much as a needless superstep after the end, so for a search of s
    supersteps an interval of sqrt(2 s) wastes least. As s is not known in advance, the number of
    supersteps so far is used for it.
    """
    return min(LOG_TICKS, max(4, math.isqrt(2 * superstep)))


class SearchWorkload(Workload[C, P]):
    """Base of the workloads that search the trees of one or several games in parallel.

    Attributes
    ----------
    rules : the game's functions in the reference
    file : kernel file with their twins, which includes those of the search
    together : whether a GPU uses a workgroup, not a work-item, for the moves of a position
    """

    clock, copies, work = "superstep", "game", "node"
    counted_by, timed, open_ended = "nodes_taken", True, True
    numpy, items = True, 256
    contents_class = "societies.games.ngtsg.results:SearchContents"
    report_class = "societies.games.ngtsg.results:SearchReport"
    rules: ClassVar[GameFunctions]
    file: ClassVar[str]
    together: ClassVar[bool] = False

    def game_macros(self, p: P) -> dict[str, int | float | str | bool]:
        """Return the macros of the game's kernels."""
        return {}

    def game_arguments(self, p: P) -> dict[str, Any]:
        """Return further arguments of the game's functions by name."""
        return {}

    def game_scratch(self, p: P) -> dict[str, Scratch]:
        """Return tables that the game's own phases compute and its functions read."""
        return {}

    def small(self, p: P, nodes: int) -> P:
        """Return parameters for a CPU that calculates batches of up to ``nodes`` nodes of ``p``."""
        rooms = (nodes + 1, *[0] * p.depth)
        sizes: dict[str, Any] = {
            "most_leaves": nodes,
            "most_branches": nodes,
            "min_leaves": 0,
            "min_branches": 0,
            "rounds": (),
            "rounds_at": (),
            "deepening": 0,
            "aspiration": 0,
        }
        return replace(p, capacities=rooms, form="device", **sizes)

    def move_text(self, config: C, move: int) -> str:
        """Return a move in the notation of the game."""
        return str(move)

    def over_text(self, config: C) -> str:
        """Return how the first game ended, if its root has no moves."""
        return "the game is over"

    def found_rows(self, config: C, found: Any) -> list[tuple[str, str]]:
        """Return further rows of the report, from the file's variables of one game."""
        return []

    def count(self, config: C) -> int:
        """Return the number of games: that of the roots, unless ``replicates`` is given."""
        return int(getattr(config, "replicates", len(config.roots())))

    def sizes(self, p: P) -> dict[str, int]:
        """Return the numbers of nodes, words of a position, levels, batch slots and moves."""
        return {
            "node": p.nodes,
            "word": p.words,
            "level": p.depth + 1,
            "slot": p.batch,
            "choice": p.width,
        }

    def fields(self, p: P) -> Mapping[str, Field]:
        """Return the tree, the batch, the counts and the result."""
        node, level, slot = ("node",), ("level",), ("slot",)
        at_node: dict[str, Any] = {"within": (0, "nodes - 1")}
        of_level: dict[str, Any] = {"within": (0, "nodes")}
        found: dict[str, Any] = {"final": True}
        at_end = {**found, "present": "ended"}
        passing: dict[str, Any] = {"checkpointed": False}
        logged: dict[str, Any] = {"checkpointed": False, "logged": True}
        by_level = "nodes of each level"
        few, many = partial(Field, (), "uint32"), partial(Field, (), "int64")
        further = {
            "round": Field(
                level, "uint32", "1", "times that each level was gone through before",
                within=(0, "rounds"),
            ),
            "low": Field((), "int32", "1", "what the value of the root is more than"),
            "high": Field((), "int32", "1", "what the value of the root is less than"),
            "horizon": few(
                "index", "level of the leaves", logged=True, initial=p.depths[0],
                within=(0, "depth"),
            ),
            "root_moves": Field(("choice",), "uint32", "1", "the root's moves, best first"),
            "repeated": many(
                "searches", "searches of a depth again, as its window was missed", **found
            ),
        }  # fmt: skip
        names = (
            *(("round",) if p.rounds else ()),
            *(("low", "high") if p.aspiration else ()),
            *(("horizon", "root_moves", "repeated") if p.deepening else ()),
        )
        return {
            **{name: further[name] for name in names},
            "positions": Field((*node, "word"), "uint32", "1", "position of each node"),
            "moves": Field(node, "uint32", "1", "move that led to it"),
            "parents": Field(node, "uint32", "index", "parent", **at_node),
            "best": Field(node, "int32", "1", "what its side to move is sure of"),
            "states": Field(node, "uint8", "1", "pending, expanded, ..., cut", within=(0, 4)),
            "first_child": Field(node, "uint32", "index", "its first child", **at_node),
            "child_count": Field(node, "uint32", "nodes", "its children", **of_level),
            "open_children": Field(node, "uint32", "nodes", "those that are not closed"),
            "counts": Field(level, "uint32", "nodes", f"{by_level} in memory", **of_level),
            "taken": Field(level, "uint32", "nodes", f"{by_level} gone through", **of_level),
            "level": few("index", "level of the next batch, or none"),
            "batch": Field(slot, "uint32", "index", "nodes of the batch", **passing),
            "batch_size": few("nodes", "how many these are", **passing),
            "batch_first": few("index", "first node gone through", **passing),
            "batch_end": few("index", "node after the last one", **passing),
            "batch_moves": Field((*slot, "choice"), "uint32", "1", "their moves", **passing),
            "batch_counts": Field(slot, "uint32", "moves", "how many of each", **passing),
            "batch_offsets": Field(slot, "uint32", "moves", "those before", **passing),
            "batch_leaves": few("nodes", "nodes without children", **passing),
            "batch_level_of": few("index", "level of the batch", **logged),
            "nodes_taken": few("nodes", "nodes of the batch", compared=False, **logged),
            "children": few("nodes", "children that they have", **logged),
            "visited": Field(level, "int64", "nodes", f"{by_level} visited", **found),
            "leaves": many("nodes", "nodes evaluated", **found),
            "branch_batches": many("batches", "batches of other nodes", **found),
            "leaf_batches": many("batches", "batches of leaves", **found),
            "shortened": many("batches", "batches made smaller, as the pool was full", **found),
            "peak": many("nodes", "most nodes in memory at a time", **found),
            "value": Field((), "int32", "1", "value of the root to its side to move", **at_end),
            "move": few("1", "its first best move, or none", none=NO_MOVE, **at_end),
            "as_good": few("moves", "moves that are surely best", **at_end),
            "perhaps_as_good": few("moves", "moves cut off that may be as good", **at_end),
            "ended": many(
                "superstep", "superstep that closed the root, or -1", initial=-1, none=-1, **found
            ),
        }  # fmt: skip

    def phases(self, p: P, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase, or its function on the host."""
        scratch, most = self.game_scratch(p), max(1, MOST_GROUPS // copies)
        many, nodes = most * self.together, partial(over_nodes, self.file, scratch=scratch)
        making = copies * min(-(-p.most_branches * _sharing(p) // ITEMS), most)
        without = self._without(p, copies)
        tree = {
            name: phase(
                f"{FOLDER}/{name}.cl",
                copies,
                kernel=twin.__name__,
                alone_on_cpu=True,
                scratch=without[name],
            )
            for name, twin in _TREE.items()
        }
        tree |= by_groups(p, copies, tree)
        if p.form == "host":
            tree = {name: Phase(host=on_host(name, _TREE[name], p)) for name in tree}
        few = {name: Phase(host=function) for name, function in Few(self, p).phases().items()}
        first = {"first_depth": phase(f"{FOLDER}/deepening.cl", global_size=copies)}
        return {
            **few,
            "begin": phase(f"{FOLDER}/begin.cl", kernel="begin_search", global_size=copies),
            **(first if p.deepening else {}),
            "select": tree["select"],
            "branch": nodes("branch_batch", copies, p.most_branches, many),
            "append": tree["append"],
            "make": phase(self.file, making, kernel="make_children", items=ITEMS, scratch=scratch),
            "evaluate": nodes("evaluate_batch", copies, p.batch, 4 * many),
            "close": tree["close"],
        }

    def _without(self, p: P, copies: int) -> dict[str, dict[str, Scratch]]:
        """Return placeholders for arrays of refinements that are off.

        Without rounds every level stays in round 0, and no kernel writes to the array.
        """
        rounds = {"round": Scratch((copies * (p.depth + 1),), "uint32", shared="round")}
        order = {"root_moves": Scratch((copies * p.width,), "uint32", shared="root_moves")}
        repeated = {"repeated": Scratch((copies,), "int64")}
        log = {"horizon_log": Scratch((1,), "uint32")}
        no_rounds = {} if p.rounds else rounds
        found: dict[str, dict[str, Scratch]] = {name: dict(no_rounds) for name in _TREE}
        if not p.deepening:
            found["select"] |= {**order, **repeated}
            found["append"] |= {**order, **log}
        return found

    def schedule(self, p: P, tick: int, seen: Any) -> Iterable[Step]:
        """Return the phases of a superstep; all of them, unless the host takes part in it.

        The host reads every batch if it selects and closes nodes itself (form ``host``), or if
        the CPU calculates small batches.
        """
        if not tick:
            return BEGIN[: 2 if p.deepening else 1]
        return self._seen(p, seen) if self._is_seen(p) else SUPERSTEP

    def _is_seen(self, p: P) -> bool:
        """Return whether the host reads every batch."""
        return p.form == "host" or bool(p.min_branches or p.min_leaves)

    def timed_together(self, p: P) -> bool:
        """Return whether the host reads nothing between supersteps."""
        return not self._is_seen(p)

    def _seen(self, p: P, seen: Any) -> Iterator[Step]:
        """Yield the phases of a superstep that have work."""
        if p.form == "host" and (seen["level"] == NO_LEVEL).all():
            return
        yield Step("select")
        levels = seen["level"]
        leaf = seen["horizon"] if p.deepening else p.depth
        inner, leaves = levels < leaf, levels == leaf
        few = np.zeros((2, len(levels)), bool)
        if p.min_branches or p.min_leaves:  # else the host need not read the size
            few = seen["batch_size"] < np.array([[p.min_branches], [p.min_leaves]])
        if (inner & ~few[0]).any():
            yield Step("branch")
        if (inner & few[0]).any():
            yield Step("branch_few")
        yield Step("append")
        if inner.any():
            yield Step("make")
        if (inner | leaves & ~few[1]).any():
            yield Step("evaluate")
        if (leaves & few[1]).any():
            yield Step("evaluate_few")
        yield Step("close")

    def source(self, p: P) -> Source:
        """Return the game's macros and arguments; another position needs no new kernels."""
        arguments = {
            "given": len(p.roots),
            "given_roots": np.array(p.roots, np.uint32),
            "level_starts": np.array(p.starts, np.uint32),
            "level_rooms": np.array(p.capacities, np.uint32),
            "level_most": np.array(p.most_by_level, np.uint32),
            "ranks": np.array(p.ranks, np.uint32),
            "last_rounds": np.array(p.last_rounds, np.uint32),
            "least_depth": p.depths[0],
            "sharing": _sharing(p),
            **self.game_arguments(p),
        }
        return Source(self.game_macros(p), arguments=arguments)

    def parameters_of_copies(self, p: P, tick: int) -> Mapping[str, NDArray[Any]]:
        """Return constants in place of arrays that only some searches have in their state."""
        level = np.array([p.depth], np.uint32)
        low, high = (np.array([one], np.int32) for one in (NOTHING, -NOTHING))
        return {
            **({} if p.deepening else {"horizon": level}),
            **({} if p.aspiration else {"low": low, "high": high}),
        }

    def reference(self, p: P) -> Mapping[str, Callable[..., None]]:
        """Return the twin of every phase."""
        few = {name: _FEW[name] for name in Few(self, p).phases()}
        nodes = {**_NODES, **few}
        own = {name: partial(function, self.rules) for name, function in nodes.items()}
        return {
            "begin": begin.begin_search,
            **_TREE,
            **own,
            **({"first_depth": deepening.first_depth} if p.deepening else {}),
        }

    def limits(self, p: P, tick: int) -> Mapping[str, ArrayLike]:
        """Return the upper limits of nodes, rounds and depth."""
        return {"nodes": p.nodes, "rounds": len(p.rounds), "depth": p.depth}

    def why_ended(self, config: C, state: Mapping[str, Any]) -> str:
        """Return the reason of the end: the root is closed."""
        return "the root is closed"

    def plan_rows(self, config: C, p: P) -> list[tuple[str, str]]:
        """Return rows with the capacities of levels and the estimated size of the tree."""
        needed = config.capacities
        room, depths = (", ".join(f"{one:,}" for one in of) for of in (needed, p.depths))
        return [
            ("supersteps", f"until the root is closed, at most {self.ticks(config):,}"),
            *([("depths searched one after the other", depths)] if p.deepening else []),
            ("nodes of each level", room),
            ("nodes in memory", config.capacity_text(p.nodes)),
            ("nodes of the whole tree, roughly", f"{config.nodes_estimate():.1g}"),
        ]


def _sharing(p: SearchParameters) -> int:
    """Return how many work-items share the moves of a node: a power of two, none of them idle."""
    return 1 << (min(p.width, SHARING).bit_length() - 1)
