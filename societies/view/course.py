"""How is a run computed tick by tick, taken back to any tick, and continued with other values?

A `Course` is one run of a page: its series so far, and snapshots of its state. Going back loads the
nearest snapshot and computes the ticks after it again, so that the bits are those of the run. A
value that is changed on the way is an intervention of the configuration, like one in a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from societies.config.problems import Path
from societies.opencl import Device
from societies.view.shots import History
from societies.workload import Setup
from societies.workload.declare.fields import SERIES, State, state_hash
from societies.workload.declare.varying import changed, value_at
from societies.workload.running.branch import with_values
from societies.workload.running.engines import Built, Engine
from societies.workload.running.run import engine_of

Change = tuple[int, str, Any]
"""A value that changes at the end of a tick: tick, key, value."""

EVERY = 10
"""Ticks between snapshots at first; twice as many whenever there are more than `MOST`."""

MOST = 32
WEEK = 7
"""Ticks whose links a network adds up."""


class Course:
    """A run that can be continued, taken back and changed.

    Parameters
    ----------
    setup : the configuration without changes, with what a scene needs recorded
    device : where it is computed
    ready : keys whose change must not need another program

    Attributes
    ----------
    tick : tick of the present state
    changes : what was changed on the way
    """

    def __init__(
        self,
        setup: Setup[Any, Any],
        device: str | Device,
        *,
        ready: Sequence[str] = (),
    ) -> None:
        self._base, self._device, self._ready = setup, device, tuple(ready)
        self.changes: tuple[Change, ...] = ()
        self.ticks = setup.ticks
        columns = setup.workload.columns(setup.p)
        series = setup.workload.series(setup.p)
        lags = [series[one].lag for one in columns for _ in columns[one]]
        names = [name for one in columns for name in columns[one]]
        self.units = [series[one].unit for one in columns for _ in columns[one]]
        self.meanings = [series[one].meaning for one in columns for _ in columns[one]]
        self.history = History(setup.copies, names, lags, self.ticks)
        self._engine = self._made((), None)
        self._engine.start()
        self.tick = 0
        self._snapshots: dict[int, State] = {0: self._engine.kept()}
        self._every = EVERY
        self._links: dict[int, State] = {}
        self.linked: tuple[str, ...] = ()

    def _made(self, changes: Sequence[Change], like: Built | None) -> Engine:
        setup = Setup(self._base.workload, with_changes(self._base, changes, self._ready))
        return engine_of(setup, self._device, like=like)[0]

    def change(self, changes: tuple[Change, ...]) -> None:
        """Take other changes; what was computed after the first that differs is forgotten."""
        if changes == self.changes:
            return
        differing = set(changes) ^ set(self.changes)
        at = min((tick for tick, _, _ in differing), default=self.tick)
        at = min(at, self.history.rows)
        self.go(at)
        whole = self._engine.state()
        self._engine = self._made(changes, self._engine.built)
        self._engine.start()
        if at:
            fields = self._engine.fields
            self._engine.put({k: v for k, v in whole.items() if not fields[k].constant})
        self.tick, self.changes = at, changes
        self.history = self.history.before(at)
        self._snapshots = {tick: one for tick, one in self._snapshots.items() if tick < at}
        self._snapshots[at] = self._engine.kept()
        self._links = {tick: one for tick, one in self._links.items() if tick <= at}

    def branch(self) -> Course:
        """Return another course with the same past."""
        made = object.__new__(Course)
        made.__dict__.update(self.__dict__)
        made.history = self.history.before(self.history.rows)
        made._snapshots, made._links = dict(self._snapshots), dict(self._links)
        made._engine = made._made(made.changes, self._engine.built)
        made._engine.put(self._engine.state())
        return made

    @property
    def ended(self) -> bool:
        """Whether no tick follows the present one."""
        return self.tick >= self.ticks or self._engine.ended() is not None

    def step(self) -> None:
        """Compute the next tick."""
        tick = self.tick + 1
        self._engine.run_ticks(tick, tick)
        self.tick = tick
        if self.linked:
            self._links[tick] = self._engine.arrays(*self.linked)
            self._links.pop(tick - WEEK, None)
        if tick > self.history.rows:
            self.history.add(self._engine.logs()[SERIES][:, 0])
            if tick % self._every == 0:
                self._snapshots[tick] = self._engine.kept()
                self._thin()

    def _thin(self) -> None:
        """Leave out every second snapshot if there are too many."""
        if len(self._snapshots) > MOST:
            self._every *= 2
            self._snapshots = {
                tick: one for tick, one in self._snapshots.items() if tick % self._every == 0
            }

    def steps_to(self, tick: int) -> Iterator[None]:
        """Go to a tick, and yield after each that is computed."""
        if tick < self.tick:
            # A state that is loaded lacks what each tick computes, such as links: begin before it.
            wanted = max(0, tick - (WEEK if self.linked else 1))
            self._load(max(one for one in self._snapshots if one <= wanted))
        while self.tick < tick and not self.ended:
            self.step()
            yield

    def go(self, tick: int) -> None:
        """Go to a tick."""
        for _ in self.steps_to(tick):
            pass

    def _load(self, tick: int) -> None:
        self._links = {}
        if tick:
            self._engine.load(self._snapshots[tick])
        else:
            self._engine.start()
        self.tick = tick

    def state(self) -> State:
        """Return every array of the present state."""
        return self._engine.state()

    def links(self) -> list[State]:
        """Return the links of the last ticks up to the present one."""
        return [self._links[one] for one in sorted(self._links) if one <= self.tick]

    def sha256(self, state: State) -> str:
        """Return the hash of a state, as `run` reports it."""
        return state_hash(self._engine.fields, state)


def with_changes(
    setup: Setup[Any, Any], changes: Sequence[Change], ready: Sequence[str] = ()
) -> Any:
    """Return the configuration of a setup with changes.

    Those before the first tick are values of keys, the others interventions. Keys in ``ready`` are
    set before the last tick to what they are then, so that kernels read them from a table from the
    beginning, and a change needs no other program.
    """
    config = setup.config
    by_tick: dict[int, dict[str, Any]] = {}
    for tick, key, value in changes:
        by_tick.setdefault(tick, {})[key] = value
    if first := by_tick.pop(0, None):
        paths: dict[Path, Any] = {tuple(key.split(".")): one for key, one in first.items()}
        table, config = config.table, changed(config, config.model_dump(mode="json"), paths)
        config._table = table
    for tick, values in by_tick.items():
        config = with_values(config, tick, values)
    if ready and setup.ticks > 1 and not setup.config.interventions:
        data, now = config.model_dump(mode="json"), {key: value for _, key, value in changes}
        same = {key: now.get(key, value_at(data, key)) for key in ready}
        config = with_values(config, setup.ticks - 1, same)
    return config
