"""How is a past that several copies share computed only once?

Copies with the same number draw the same random numbers, so a society and its twins are the same to
the last bit until their parameters differ: until the day of the shock. Until then only one of them
is computed. Its state is then copied to all of them, and each is computed from that tick on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.workload.declare.fields import State
from societies.workload.declare.protocol import Setup
from societies.workload.running.engines import Built, Engine
from societies.workload.running.ensembles import Points, points_of, removing

MOST_BRANCHES = 8
"""About how often copies may part at most. Each time the state is moved to the host and back, and
with shocks of random days some copies part on every day. So copies that would part soon after
others part together with them."""


@dataclass(frozen=True, eq=False)
class Past:
    """Copies that are computed in place of all copies for some ticks.

    Attributes
    ----------
    until : last of these ticks
    chosen : index in the ensemble of each copy that is computed
    of : (copy,) for each copy of the ensemble, the position in ``chosen`` of the one that it equals
    """

    until: int
    chosen: NDArray[np.intp]
    of: NDArray[np.intp]


def pasts_of(setup: Setup[Any, Any]) -> list[Past]:
    """Return which copies have to be computed, and until when; [] if all of them always differ."""
    workload, numbers = setup.workload, setup.config.numbers
    if numbers is None or not workload.numbered or workload.timed:
        return []
    points = points_of(workload, setup.config)
    if points is None:
        return []
    return _parted(_with_removals(points, setup.config, workload.clock), numbers, setup.ticks)


def _with_removals(points: Points, config: Any, clock: str) -> Points:
    """Return points that also differ once copies have removed different agents or resources.

    A removal that is drawn depends on all others of its copy, so from the first of these on copies
    are only the same if they have the same removals for the whole run.
    """
    removals = [(one, of) for one, of in removing(config) if of is not None]
    if not removals:
        return points
    tick, every = attrgetter(clock), (*getattr(config, "shocks", ()), *(r for r, _ in removals))
    drawn = min(
        (tick(one) for one in every if getattr(one, "index", None) == "random"), default=inf
    )
    before = {tick(one) - 1 for one in every}
    after = sorted({*points.after, *before})
    rows = []
    for at in (-1, *after):
        gone = [of for one, of in removals if min(tick(one), drawn) <= at + 1]
        kinds = np.stack([points.of[points.stretch(at + 1)], *gone], axis=1)
        rows.append(np.unique(kinds, axis=0, return_inverse=True)[1].reshape(-1))
    return Points(points.configs, np.array(rows), tuple(after))


def _parted(points: Points, numbers: NDArray[Any], ticks: int) -> list[Past]:
    """Return `pasts_of` copies with these numbers and parameters."""
    histories = []  # by stretch, the number of the history of each copy up to its end
    same = numbers
    for row in points.of:
        same = np.unique(np.stack([same, row]), axis=1, return_inverse=True)[1].reshape(-1)
        histories.append(same)
    counts = [int(one.max()) + 1 for one in histories]
    parts = [at for i, at in enumerate(points.after) if counts[i] < counts[i + 1] and at < ticks]
    ends: list[int] = []
    for at in parts:
        if at and (not ends or at >= ends[-1] + (ticks - parts[0]) / MOST_BRANCHES):
            ends.append(at)
    if not ends and counts[points.stretch(ticks)] == len(numbers):
        return []
    found = []
    for until in (*ends, ticks):
        own = histories[points.stretch(until)]
        _, chosen, of = np.unique(own, return_index=True, return_inverse=True)
        found.append(Past(until, chosen, of.reshape(-1)))
    return found


class SharedPasts(Engine):
    """An engine of all copies that computes copies with the same past once.

    Parameters
    ----------
    first : engine of the copies of the first past
    make : returns an engine of other copies, by their index; it may use the program of another
    pasts : as from `pasts_of`
    settled : as from `Workload.settled`
    """

    def __init__(
        self,
        first: Engine,
        make: Callable[[NDArray[np.intp], Built | None], Engine],
        pasts: Sequence[Past],
        settled: Mapping[str, tuple[int, ...]],
    ) -> None:
        self._make, self._pasts, self._settled = make, list(pasts), settled
        self.stops = {past.until for past in pasts}
        self._inner = first
        self.fields, self.parameters = self._inner.fields, self._inner.parameters
        self.built, self.block_seconds = self._inner.built, self._inner.block_seconds
        self.throttled = False

    def start(self) -> None:
        """Set all copies to their state before the first tick."""
        self._inner.start()
        self._began = self._inner.arrays(*self._settled)

    def run_ticks(self, first: int, last: int) -> None:
        """Run whole ticks, at most up to the next of ``stops``, and log them."""
        if first > self._pasts[0].until:
            self._part()
        self._inner.throttled = self.throttled
        self._inner.run_ticks(first, last)

    def _part(self) -> None:
        """Continue with the copies of the next past, each from the state of the one it equals."""
        before = self._pasts.pop(0)
        chosen = self._pasts[0].chosen
        state, rows = self._inner.checkpointed_state(), before.of[chosen]
        del self._inner  # its memory may be needed
        self._inner = self._make(chosen, self.built)
        self.block_seconds = self._inner.block_seconds
        state = {name: array[rows] for name, array in state.items()}
        if self._settled:
            began = {name: array[rows] for name, array in self._began.items()}
            self.start()
            for name, where in self._settled.items():
                part: Any = (slice(None), *where)
                now, own = state[name][part], self._began[name][part]
                state[name][part] = np.where(now == began[name][part], own, now)
        self._inner.load(state)

    def _all(self, found: Mapping[str, NDArray[Any]]) -> State:
        """Return arrays of all copies, given those of the copies that are computed."""
        return {name: array[self._pasts[0].of] for name, array in found.items()}

    def logs(self, *, borrowed: bool = False) -> State:
        """Return the logged fields of the last `run_ticks`: (copy, tick, ...)."""
        return self._all(self._inner.logs(borrowed=borrowed))

    def events(self) -> dict[str, NDArray[np.int32]]:
        """Return the events of the last `run_ticks`: a row has the copy's index and the columns."""
        of = self._pasts[0].of
        copies = np.argsort(of, kind="stable")
        count = np.bincount(of)
        begin = np.cumsum(count) - count
        found = {}
        for name, rows in self._inner.events().items():
            own = rows[:, 0]
            repeated = np.repeat(rows, count[own], axis=0)
            nth = np.arange(len(repeated)) - np.repeat(
                np.cumsum(count[own]) - count[own], count[own]
            )
            repeated[:, 0] = copies[begin[repeated[:, 0]] + nth]
            found[name] = repeated
        return found

    def finish(self) -> None:
        """Run the steps after the last tick."""
        self._inner.finish()

    def wait(self) -> None:
        """Wait until all launches and copies have completed."""
        self._inner.wait()

    def measured(self) -> State:
        """Return {}: a workload that is timed has no shared pasts."""
        return {}

    def arrays(self, *names: str) -> State:
        """Return copies of some arrays of the state."""
        return self._all(self._inner.arrays(*names))
