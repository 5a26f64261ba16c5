"""How long did each tick take, and how many kernels did it launch? For workloads that are timed.

Both differ between runs and devices, and in a run that was resumed. They are in the file, marked
as measured, but not in the state, and hashes and comparisons ignore them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakMethod

import numpy as np

from societies.workload.declare.fields import State

DIFFERS = "; measured, differs from run to run"
"""End of the ``long_name`` of variables in a file that are no results, because they may differ when
a run is repeated or resumed."""

MEASURED = {
    "seconds": (
        "float64",
        "s",
        f"time that the tick took, all copies together; of ticks done together the mean{DIFFERS}",
    ),
    "launches": ("int64", "1", f"kernels that the tick launched{DIFFERS}"),
}
"""Measured variables of a tick (`Workload.timed`): dtype, unit, meaning."""

MEASURED_TABLE = "measured"
"""Table with these variables, for workloads whose number of ticks is not known in advance."""


class Stopwatch:
    """Measures time and launches of ticks.

    Parameters
    ----------
    on : whether anything is measured
    wait : method that waits for all launches
    launched : method that returns the number of kernels launched so far
    """

    def __init__(self, on: bool, wait: Callable[[], None], launched: Callable[[], int]) -> None:
        self._on = on
        # Methods of the engine that owns the stopwatch: a reference cycle would delay freeing its
        # arrays.
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
        """Remove all ticks."""
        self._ticks.clear()
        self._block = None

    @contextmanager
    def tick(self) -> Iterator[None]:
        """Measure the tick that the block runs, and wait for its end."""
        if not self._on:
            yield
            return
        before, began = self._launched(), time.perf_counter()
        yield
        self._wait()
        self._ticks.append((time.perf_counter() - began, self._launched() - before))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Measure the ticks that the block runs, and wait for their end.

        The caller calls `launched_tick` after each of them.
        """
        self._before, began = self._launched(), time.perf_counter()
        yield
        self._wait()
        self._block = time.perf_counter() - began

    def launched_tick(self) -> None:
        """Record the launches of a tick without waiting for it."""
        now = self._launched()
        self._ticks.append((0.0, now - self._before))
        self._before = now

    def measured(self, running: int | None = None) -> State:
        """Return the measured variables, with an entry per tick; {} if nothing is measured.

        Ticks that were measured together get equal shares of the time. If all copies had ended
        after the first ``running`` of them, the later ones get 0.
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
