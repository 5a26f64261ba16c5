"""How long did each tick take, and how many kernels did it launch? For workloads that are timed.

Both differ from run to run, from device to device, and in a run that was resumed. They are in the
file, which says so, and in no state, hash or comparison.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakMethod

import numpy as np

from societies.workload.declare.fields import State

DIFFERS = "; measured, differs from run to run"
"""End of the ``long_name`` of whatever in a file is no result and may differ when a run is repeated
or resumed."""

MEASURED = {
    "seconds": (
        "float64",
        "s",
        f"time that the tick took, all copies together; of ticks done together the mean{DIFFERS}",
    ),
    "launches": ("int64", "1", f"kernels that the tick launched{DIFFERS}"),
}
"""What is measured of a tick (`Workload.timed`): dtype, unit, meaning."""

MEASURED_TABLE = "measured"
"""Name of the table that has it where nobody knows beforehand how many ticks there will be."""


class Stopwatch:
    """What was measured of some ticks; nothing is, unless it is on.

    Parameters
    ----------
    on : whether anything is measured
    wait : method that returns when everything asked for is done
    launched : method that returns how many kernels were launched so far
    """

    def __init__(self, on: bool, wait: Callable[[], None], launched: Callable[[], int]) -> None:
        self._on = on
        # They are of the engine that has the stopwatch: in a cycle its arrays would stay for long.
        self._weak_wait, self._weak_launched = WeakMethod(wait), WeakMethod(launched)
        self._ticks: list[tuple[float, int]] = []
        self._block: float | None = None
        self._before = 0

    def _wait(self) -> None:
        wait = self._weak_wait()
        assert wait is not None
        wait()

    def _launched(self) -> int:
        launched = self._weak_launched()
        assert launched is not None
        return launched()

    def reset(self) -> None:
        """Forget all ticks."""
        self._ticks.clear()
        self._block = None

    @contextmanager
    def tick(self) -> Iterator[None]:
        """Measure what happens meanwhile, and wait for its end."""
        if not self._on:
            yield
            return
        before, began = self._launched(), time.perf_counter()
        yield
        self._wait()
        self._ticks.append((time.perf_counter() - began, self._launched() - before))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Measure what happens meanwhile, some ticks, and wait for its end.

        `launched_tick` is called after each of them.
        """
        self._before, began = self._launched(), time.perf_counter()
        yield
        self._wait()
        self._block = time.perf_counter() - began

    def launched_tick(self) -> None:
        """Note the launches of a tick that is not waited for."""
        now = self._launched()
        self._ticks.append((0.0, now - self._before))
        self._before = now

    def measured(self, running: int | None = None) -> State:
        """Return an array of each quantity, an entry a tick; {} if nothing is measured.

        Parameters
        ----------
        running : ticks of the block before all copies had ended; None: all of them. Ticks that were
            done together share the time alike, and those after the end took none of it.
        """
        if not self._on:
            return {}
        columns = zip(*self._ticks, strict=True) if self._ticks else ((), ())
        found = {
            name: np.array(column, MEASURED[name][0])
            for name, column in zip(MEASURED, columns, strict=True)
        }
        if self._block is not None:
            many = len(self._ticks) if running is None else max(1, running)
            found["seconds"][:many] = self._block / many
        return found
