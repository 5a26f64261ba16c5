"""How is the best move of a position found to a depth or within a time? By iterative deepening.

Each depth has an engine that is reused for every position without building kernels again. With
``deepening`` a depth begins with the root's moves in the order of their values at the depth before,
and with ``aspiration`` also with a window around the value of that depth, as in one search of all
these depths (`reference_py.games.ngtsg.deepening`). This module is independent of any game.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from reference_py.games.ngtsg.parameters import NO_MOVE, NOTHING
from societies.games.ngtsg.config import BatchConfig, SearchConfig
from societies.games.ngtsg.search import at_once
from societies.workload import Setup
from societies.workload.running.engines import DeviceEngine, Engine, engine_on
from societies.workload.running.pace import paced

C = TypeVar("C", bound=SearchConfig)

LOOK_SECONDS = 0.01
"""Approximate seconds of the supersteps launched at once, hence the delay of a stop."""


@dataclass(frozen=True)
class Searched:
    """Result of a search: a move, its value for the side to move, and the cost of the search.

    ``nodes`` and ``seconds`` are those of all completed searches, ``depth`` that of the deepest.
    """

    move: int
    value: int
    depth: int
    nodes: int
    seconds: float


class SearchStopped(Exception):
    """Raised within a search that must end at once."""


class Searcher(Generic[C]):
    """A search with an engine for each depth, which is reused for every position.

    The configuration's own depth is not used.

    Attributes
    ----------
    growth : assumed ratio of the times of searches to depth d + 1 and d; a deeper search that
        would not end in time is not begun
    setup : workload, configuration and device
    always : values of keys that override the configuration in every search
    once : phases before the first superstep whose results do not depend on the position
    """

    growth: ClassVar[float]
    always: ClassVar[Mapping[str, Any]]
    once: ClassVar[Collection[str]] = ()

    def __init__(self, setup: Setup[C, Any]) -> None:
        self.setup, self.config = setup, setup.config
        self._engines: dict[tuple[int, bool], Engine] = {}

    def is_decided(self, value: int, plies: int) -> bool:
        """Return whether a deeper search is useless: the game is won or lost within the plies."""
        raise NotImplementedError

    def changed(self, **keys: Any) -> Self:
        """Return a search with other keys."""
        return type(self)(replace(self.setup, config=self.config.model_copy(update=keys)))

    def depths(self, depth: int) -> list[int]:
        """Return the depths that are searched one after the other; the last one is ``depth``."""
        return [*range(1, depth, self.config.deepening or 1), depth]

    def prepare(self, depth: int) -> None:
        """Build the engines for searches of up to ``depth`` plies, before a clock runs."""
        for plies in self.depths(depth):
            self._engine(plies, alone=False)

    def search(
        self,
        root: Sequence[int],
        depth: int,
        *,
        seconds: float = 0.0,
        each: Callable[[Searched], None] = lambda found: None,
        stop: Callable[[], bool] = lambda: False,
        alone: bool = False,
    ) -> Searched:
        """Return the best move of a position that has one.

        Parameters
        ----------
        root : words of the position
        depth : plies to search; an upper limit if a time is given
        seconds : time for the whole search; 0: no limit. One ply is always searched
        each : called with the result of each depth
        stop : called now and then; if it returns True, the search ends with its last result
        alone : whether to search this depth only, without smaller depths before it
        """
        carried: dict[str, NDArray[Any]] = {}
        before: tuple[Engine, int, int] | None = None

        def one(plies: int, asked: Callable[[], bool]) -> tuple[int, int, int]:
            nonlocal carried, before
            if before and self.config.deepening:
                carried = self._carried(*before)
            engine = self._engine(plies, alone)
            value, move, visited = self._searched(engine, root, carried, asked)
            before = engine, move, value
            return value, move, visited

        return self.deepened(one, depth, seconds=seconds, each=each, stop=stop, alone=alone)

    def deepened(
        self,
        one: Callable[[int, Callable[[], bool]], tuple[int, int, int]],
        depth: int,
        *,
        seconds: float,
        each: Callable[[Searched], None],
        stop: Callable[[], bool],
        alone: bool = False,
    ) -> Searched:
        """Search depth after depth while time remains; return the result of the last one.

        Parameters
        ----------
        one : function of a depth and a function ``asked``; raises `SearchStopped` when ``asked``
            returns True, else returns value, move and number of nodes
        depth, seconds, each, stop, alone : as for `search`
        """
        began, nodes = time.perf_counter(), 0
        known: Searched | None = None
        planned = [depth] if alone else self.depths(depth)
        for plies, following in zip(planned, [*planned[1:], depth], strict=True):
            before = time.perf_counter()

            def asked(known: Searched | None = known) -> bool:
                late = seconds > 0 and time.perf_counter() - began >= seconds
                return known is not None and (late or stop())

            try:
                value, move, visited = one(plies, asked)
            except SearchStopped:
                break
            now = time.perf_counter()
            nodes += visited
            known = Searched(move, value, plies, nodes, now - began)
            each(known)
            needed = self.growth ** (following - plies) * (now - before)
            late = seconds > 0 and now - began + needed > seconds
            if late or stop() or self.is_decided(value, plies):
                break
        assert known is not None
        return known

    def _searched(
        self,
        engine: Engine,
        root: Sequence[int],
        carried: Mapping[str, NDArray[Any]],
        stop: Callable[[], bool],
    ) -> tuple[int, int, int]:
        """Return value, move and number of nodes; raise `SearchStopped` if it is stopped."""
        engine.set_parameters(replace(engine.parameters, roots=(tuple(root),)))
        engine.put({"ended": np.array([-1])})  # the steps of tick 0 set everything else
        for step in engine.steps(0):
            if step.phase not in self.once:
                engine.step(step, 0)
        engine.put(carried)
        superstep, many, ended = 0, 1, engine.ended()
        while ended is None:
            began = time.perf_counter()
            engine.run_ticks(superstep + 1, superstep + many)
            ended = engine.ended()  # the only word that is read after these supersteps
            if stop():
                raise SearchStopped
            superstep += many
            many = paced(many, time.perf_counter() - began, LOOK_SECONDS, at_once(superstep))
        found = engine.arrays("value", "move", "visited")
        move = int(found["move"][0])
        assert move != NO_MOVE, "a position without moves"
        return int(found["value"][0]), move, int(found["visited"].sum())

    def _carried(self, engine: Engine, move: int, value: int) -> dict[str, NDArray[Any]]:
        """Return the arrays for the next depth: the order of the root's moves, and a window.

        Of moves with equal values the best move found comes first: the values of moves that were
        cut off are only bounds.
        """
        first, count = (
            int(_part(engine, name, 0, 1)[0]) for name in ("first_child", "child_count")
        )
        moves = _part(engine, "moves", first, count)
        best = _part(engine, "best", first, count).astype(np.int64)
        values = np.where(best == NOTHING, NOTHING, -best)
        ordered = np.full((1, engine.parameters.width), NO_MOVE, np.uint32)
        ordered[0, :count] = moves[np.lexsort((moves != move, -values))]
        carried: dict[str, NDArray[Any]] = {"root_moves": ordered}
        if aspiration := self.config.aspiration:
            low, high = max(value - aspiration, NOTHING), min(value + aspiration, -NOTHING)
            carried |= {"low": np.array([low], np.int32), "high": np.array([high], np.int32)}
        return carried

    def _engine(self, plies: int, alone: bool) -> Engine:
        """Return the engine of a depth that is searched alone or after smaller depths."""
        steps = self.config.deepening
        key = plies, alone and steps > 0
        if key not in self._engines:
            changes: dict[str, Any] = {**self.always, "depth": plies}
            if steps and not alone:
                changes["deepening"] = plies  # this depth only
            if not steps:
                changes["aspiration"] = 0  # no depth before, so no value
            p = self.setup.workload.parameters(self.config.model_copy(update=changes))
            engine = engine_on(self.setup.device, self.setup.workload, p)
            if self.once:
                engine.start()
            self._engines[key] = engine
        return self._engines[key]


def _part(engine: Engine, name: str, first: int, count: int) -> NDArray[Any]:
    """Return the entries of an array for consecutive nodes of the only game."""
    if isinstance(engine, DeviceEngine):
        return engine.run_step.arrays[name].get_part(first, count)
    return engine.arrays(name)[name][0, first : first + count]


def player_keys(player: Any, leaves: int, branches: int) -> dict[str, Any]:
    """Return the configuration keys of a player's search in batches of at most these sizes."""
    keys = asdict(player.refinements)
    batch = BatchConfig(leaves=leaves, branches=branches, near_root=keys.pop("near_root"))
    return {"depth": player.depth, "batch": batch, **keys}
