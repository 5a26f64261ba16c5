"""Who finds a move for a position, to a depth or in a time? A search, one ply deeper each time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reference_py.games.chess.fen import Board
from reference_py.games.chess.rules import Move
from reference_py.games.chess.search import MATE, decoded, words_of
from reference_py.games.ngtsg.parameters import NO_MOVE
from societies.games.chess.config import ChessConfig
from societies.games.ngtsg.config import BatchConfig
from societies.opencl import Device
from societies.workload import Workload
from societies.workload.devices import chosen_device
from societies.workload.engines import DeviceEngine, ReferenceEngine

GROWTH = 6.0
"""How much longer than the search before a search one ply deeper takes, as a rule: none is begun
that would not be done in time."""

MOST_DEPTH, MOST_MATE = 32, 1000
PREPARED = 6
"""Plies whose engines are there before a clock runs; deeper searches take longer than
it takes to make them."""

PAWN = 500
"""What a hundredth of a pawn is worth: 10 * 5000 / 100."""


@dataclass(frozen=True)
class Found:
    """What a search found: a move, what it is worth to the side to move, and at what cost."""

    move: Move
    value: int
    depth: int
    nodes: int
    seconds: float

    @property
    def score(self) -> str:
        """The value as UCI has it: hundredths of a pawn, or moves until a mate."""
        if abs(self.value) >= MATE - MOST_MATE:
            plies = MATE - abs(self.value)
            return f"mate {(plies + 1) // 2 if self.value > 0 else -(plies // 2)}"
        return f"cp {int(self.value / PAWN)}"


class Stopped(Exception):
    """Raised within a search that is to end at once."""


class Searcher:
    """A search whose engines stay, one for each depth; another position builds nothing.

    Parameters
    ----------
    workload, config : the search; its batches are used, its depth is not
    device : str or Device
    """

    def __init__(
        self, workload: Workload[Any, Any], config: ChessConfig, device: str | Device = "auto"
    ) -> None:
        self.workload, self.config = workload, config
        self.device, _, _ = chosen_device(device)
        self._engines: dict[int, DeviceEngine[Any] | ReferenceEngine[Any]] = {}

    def with_batch(self, leaves: int, branches: int) -> Searcher:
        """Return a search with other batches."""
        batch = BatchConfig(leaves=leaves, branches=branches)
        config = self.config.model_copy(update={"batch": batch})
        return Searcher(self.workload, config, self.device or "reference")

    def prepare(self, depth: int) -> None:
        """Build what searches of at most so many plies need, before a clock runs."""
        for plies in range(1, depth + 1):
            self._engine(plies)

    def find(
        self,
        board: Board,
        depth: int,
        *,
        seconds: float = 0.0,
        each: Callable[[Found], None] = lambda found: None,
        stop: Callable[[], bool] = lambda: False,
        only: bool = False,
    ) -> Found:
        """Return the best move of a position that has one.

        Parameters
        ----------
        depth : plies, with a time at most
        seconds : of the whole search; 0: none. One ply is always searched
        each : called with what each depth found
        stop : asked now and then whether to end with what is known
        only : whether that depth alone is searched, and not 1, 2, ... before
        """
        began, nodes = time.perf_counter(), 0
        known: Found | None = None
        for plies in range(depth if only else 1, depth + 1):
            before = time.perf_counter()

            def asked(known: Found | None = known) -> bool:
                late = seconds > 0 and time.perf_counter() - began >= seconds
                return known is not None and (late or stop())

            try:
                value, move, visited = self._searched(board, plies, asked)
            except Stopped:
                break
            now = time.perf_counter()
            nodes += visited
            known = Found(move, value, plies, nodes, now - began)
            each(known)
            late = seconds > 0 and now - began + GROWTH * (now - before) > seconds
            if late or stop() or abs(value) >= MATE - plies:
                break
        assert known is not None
        return known

    def _searched(
        self, board: Board, plies: int, stop: Callable[[], bool]
    ) -> tuple[int, Move, int]:
        """Return value, move and nodes of a search, unless it is stopped."""
        engine = self._engine(plies)
        root = tuple(words_of(board.position, board.side))
        engine.renew(replace(engine.parameters, roots=(root,)))
        engine.put({"ended": np.array([-1])})  # all else is set by the steps before the first tick
        for step in engine.steps(0):
            engine.step(step, 0)
        tick = 0
        while engine.ended() is None:
            tick += 1
            engine.run_ticks(tick, tick)
            if stop():
                raise Stopped
        found = engine.arrays("value", "move", "visited")
        code = int(found["move"][0])
        assert code != NO_MOVE, "a position without moves"
        return int(found["value"][0]), decoded(code), int(found["visited"].sum())

    def _engine(self, plies: int) -> DeviceEngine[Any] | ReferenceEngine[Any]:
        if plies not in self._engines:
            update = {"depth": plies, "rules": "legal", "fen": "start", "positions": ()}
            p = self.workload.parameters(self.config.model_copy(update=update))
            if self.device is None:
                self._engines[plies] = ReferenceEngine(self.workload, p)
            else:
                self._engines[plies] = DeviceEngine(self.workload, p, self.device)
        return self._engines[plies]
