"""Who finds a turn for a position, to a depth or in a time? Threats first, then a search."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_py.games.connect6.evaluate import WINS, sides
from reference_py.games.connect6.geometry import points_of
from reference_py.games.connect6.moves import turn_of
from reference_py.games.connect6.wins import shortest_win
from societies.workload.devices import chosen_device
from societies.workload.engines import DeviceEngine, ReferenceEngine

if TYPE_CHECKING:
    from societies.games.connect6.config import Connect6Config
    from societies.opencl import Device
    from societies.workload import Workload

GROWTH = 8.0
"""How much longer than the search before one that looks a turn further takes, as a rule."""


@dataclass(frozen=True)
class Found:
    """What was found: a turn, what it is worth to the side to move, and how far was looked."""

    turn: int
    value: int
    depth: int
    nodes: int
    proven: int = 0

    @property
    def text(self) -> str:
        """The value, in words."""
        if self.proven:
            return f"wins by threats in {self.proven}"
        return f"worth {self.value:,} after {self.depth} turns, {self.nodes:,} nodes"


class Searcher:
    """A search whose engines stay, one for each depth; another position builds nothing.

    Parameters
    ----------
    workload, config : the search; its depth is not used
    device : str or Device
    """

    def __init__(
        self, workload: Workload[Any, Any], config: Connect6Config, device: str | Device = "auto"
    ) -> None:
        self.workload, self.config = workload, config
        self.device, _, _ = chosen_device(device)
        self._engines: dict[int, DeviceEngine[Any] | ReferenceEngine[Any]] = {}

    def find(self, position: Sequence[int], depth: int, seconds: float = 0.0) -> Found:
        """Return the best turn of a position that has one.

        Parameters
        ----------
        depth : turns, with a time at most
        seconds : of the whole search; 0: none. One turn is always searched, and no deeper search
            is begun that would not be done in time
        """
        began = time.perf_counter()
        own, other = sides(position)
        if own and self.config.prover:
            turns, pair = shortest_win(own, other, self.config.prover)
            if turns is not None and pair.bit_count() == 2:
                return Found(turn_of(*points_of(pair)), WINS, 0, 0, turns)
        nodes = 0
        for turns in range(1, depth + 1) if seconds else (depth,):
            before = time.perf_counter()
            value, turn, visited = self._searched(position, turns)
            nodes += visited
            now = time.perf_counter()
            late = seconds > 0 and now - began + GROWTH * (now - before) > seconds
            if late or abs(value) >= WINS:
                break
        return Found(turn, value, turns, nodes)

    def _searched(self, position: Sequence[int], depth: int) -> tuple[int, int, int]:
        """Return value, turn and nodes of a search."""
        engine = self._engine(depth)
        engine.renew(replace(engine.parameters, roots=(tuple(position),)))
        engine.put({"ended": np.array([-1])})  # all else is set by the steps before the first tick
        for step in engine.steps(0):
            if step.phase != "classes":  # the start has made the table, which no position changes
                engine.step(step, 0)
        superstep = 0
        while engine.ended() is None:
            superstep += 1
            engine.run_ticks(superstep, superstep)
        found = engine.arrays("value", "move", "visited")
        return int(found["value"][0]), int(found["move"][0]), int(found["visited"].sum())

    def _engine(self, depth: int) -> DeviceEngine[Any] | ReferenceEngine[Any]:
        if depth not in self._engines:
            changes = {"depth": depth, "prover": 0, "positions": (), "form": "device"}
            p = self.workload.parameters(self.config.model_copy(update=changes))
            if self.device is None:
                self._engines[depth] = ReferenceEngine(self.workload, p)
            else:
                self._engines[depth] = DeviceEngine(self.workload, p, self.device)
            self._engines[depth].start()
        return self._engines[depth]
