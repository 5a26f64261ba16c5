"""How is a run shown picture by picture? In launches so short that new events are noticed.

The views of the physical workloads use it: each says what a picture is and when a run begins again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from societies.workload.declare.protocol import Setup
from societies.workload.declare.view import LAUNCH_SECONDS, Frame
from societies.workload.running.batches import engine_of
from societies.workload.running.devices import REFERENCE
from societies.workload.running.engines import LOG_TICKS, Engine
from societies.workload.running.pace import paced


class Stepwise:
    """A run that continues a few ticks at a time.

    Attributes
    ----------
    tick : ticks since the run has begun
    over : whether nothing follows
    """

    def __init__(self, setup: Setup[Any, Any]) -> None:
        self._setup = setup
        self._engine: Engine | None = None
        self._key: Any = None
        self.tick, self.over, self._chunk = 0, False, 1

    @property
    def engine(self) -> Engine:
        """The engine of the run."""
        assert self._engine is not None
        return self._engine

    def begin(self, config: Any, key: Any = None, *, again: bool = True) -> Engine:
        """Return the engine for a configuration, made again if ``key`` has changed.

        ``key`` decides about kernels and arrays. A run whose engine stays begins again if ``again``
        is True.
        """
        made = self._engine is None or key != self._key
        if made:
            device = self._setup.device or REFERENCE
            self._engine, _, _ = engine_of(replace(self._setup, config=config), device)
            self._key, self._chunk = key, 1
        if made or again:
            self.engine.start()
            self.restart()
        return self.engine

    def restart(self) -> None:
        """Count ticks from 0, without a change of the state."""
        self.tick, self.over = 0, False

    def pictures(
        self, last: int, steps: int, picture: Callable[[], Frame]
    ) -> Iterator[Frame | None]:
        """Yield the present picture, then one after every ``steps`` ticks; None after launches."""
        yield picture()
        while not self.over and self.tick < last:
            end = min(self.tick + steps, last)
            while not self.over and self.tick < end:
                self._run(min(self.tick + self._chunk, end))
                yield None
            yield picture()

    def _run(self, end: int) -> None:
        """Run the ticks up to ``end``; adapt the number of those of the next launch to the time."""
        began, ticks = time.perf_counter(), end - self.tick
        self.engine.run_ticks(self.tick + 1, end)
        self.engine.wait()
        ended = self.engine.ended()
        took = time.perf_counter() - began
        self._chunk = paced(ticks, took, LAUNCH_SECONDS, LOG_TICKS, faster=2)
        self.tick, self.over = (end, False) if ended is None else (ended, True)
