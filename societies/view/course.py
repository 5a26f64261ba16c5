"""How is a run computed tick by tick, taken back to any tick, and continued with other values?

A `Course` is one run of a page: its series so far, and snapshots of its state. Going back loads the
nearest snapshot and computes the ticks after it again, so that the bits are those of the run. A
value that is changed on the way is an intervention of the configuration, like one in a file.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.background import in_background
from societies.config.problems import Path
from societies.errors import DeviceError
from societies.opencl import Device
from societies.signals import COMPUTING
from societies.view.shots import History, Line
from societies.workload import Setup
from societies.workload.declare.fields import State, series_columns
from societies.workload.running.batches import engine_of
from societies.workload.running.branch import with_interventions, with_values
from societies.workload.running.devices import chosen_device
from societies.workload.running.engines import LOG_TICKS, Built, Engine, build
from societies.workload.running.pace import paced
from societies.workload.running.varying import changed, value_at

Change = tuple[int, str, Any]
"""A value that changes at the end of a tick: tick, key, value."""

EVERY = 10
"""Ticks between snapshots at first; twice as many whenever there are more than `MOST`."""

MOST = 32
"""Most snapshots; fewer if they are large (`Engine.room`)."""

BLOCK = 0.25
"""Intended seconds of the ticks that are computed together: a new event is noticed after them."""

LARGE = 1 << 26
"""Bytes of a state whose hash takes longer than a picture should wait: some 50 ms."""

PAUSE = 50.0
"""Least time between snapshots, as a multiple of the time that the last one took, during which a
device may have nothing to do: that of 1000 societies with all devices takes an H100 34 ms."""

WEEK = 7
"""Most ticks whose links a network adds up."""

REMOVE = "remove."
"""Keys that begin so remove something by an intervention, instead of setting a value."""


class Course:
    """A run that can be continued, taken back and changed.

    Parameters
    ----------
    setup : the configuration without changes, with what a scene needs recorded
    device : where it is computed
    ready : keys of which `prepare` builds the program that can change them
    linked : fields whose values of the last `WEEK` ticks `links` returns

    Attributes
    ----------
    tick : tick of the present state
    ended : whether no tick follows it
    heading : the last of the ticks that are being computed, or the present one
    changes : what was changed on the way
    """

    def __init__(
        self,
        setup: Setup[Any, Any],
        device: str | Device,
        *,
        ready: Sequence[str] = (),
        linked: Sequence[str] = (),
    ) -> None:
        chosen = chosen_device(device)[0]  # once, so that courses share the device and its program
        self._base, self._device, self._ready = setup, chosen or device, tuple(ready)
        self._linked = tuple(linked)
        self._steered = False  # whether kernels read the keys in `ready` from tables
        self._prepared: Future[Built | None] | None = None
        self.changes: tuple[Change, ...] = ()
        self.ticks = setup.ticks
        self._setup, self._engine = self._made((), None)
        self._history = self._empty()
        self._waiting: list[tuple[int, NDArray[Any]]] = []  # first tick, series that it lacks
        self._engine.start()
        self._arrived(0)
        self._began: float | None = None  # when the ticks after the present one were begun
        self._snapshots: dict[int, Mapping[str, Any]] = {}
        self._every, self._most, self._next = EVERY, MOST, 0.0  # `_next`: earliest time of one
        self._chunk = 1  # ticks that take about `BLOCK` seconds
        self._until = 0  # tick to which a change has to be computed again
        self._begun = 0  # tick after which the engine has computed all ticks up to the present one
        self._links: dict[int, State] = {}  # of ticks up to `_begun`

    def _empty(self) -> History:
        """Return a history without rows, with the series of the present changes."""
        workload, p = self._setup.workload, self._setup.p
        about, entries = workload.series(p), workload.entries(p)
        return History(
            self._setup.copies,
            [
                Line(one, name, about[one].unit, about[one].meaning, about[one].lag)
                for log in self._logs
                for one, columns in series_columns(about, entries, log).items()
                for name in columns
            ],
        )

    @property
    def _logs(self) -> list[str]:
        """The logged arrays that hold series."""
        series = self._setup.workload.series(self._setup.p)
        return list(dict.fromkeys(one.log for one in series.values()))

    @property
    def setup(self) -> Setup[Any, Any]:
        """What is run, with all changes."""
        return self._setup

    def _made(
        self, changes: Sequence[Change], like: Built | None
    ) -> tuple[Setup[Any, Any], Engine]:
        ready = self._ready if self._steered else ()
        setup = Setup(self._base.workload, with_changes(self._base, changes, ready))
        engine = engine_of(setup, self._device, like=like)[0]
        if self._linked:
            engine.remember(self._linked, WEEK)
        return setup, engine

    def prepare(self) -> None:
        """Begin to build the program of the first change in another thread.

        Until then keys are constants of the program: reading them from tables costs a GPU a fifth.
        """
        if self._prepared is None and isinstance(self._device, Device):
            self._prepared = in_background(self._tabled, self._device, name=COMPUTING)

    def _tabled(self, device: Device) -> Built | None:
        """Return the program whose kernels read the keys in `ready` from tables."""
        config = with_changes(self._base, (), self._ready)
        if config is self._base.config:
            return None
        setup = Setup(self._base.workload, config).on(device)
        return build(setup.workload, setup.p, device, setup.copies)[0]

    def _like(self) -> Built | None:
        """Return a program that may be that of a change; the first of all waits for it."""
        steered, self._steered = self._steered, True
        if steered or self._prepared is None or self._prepared.exception():
            return self._engine.built
        return self._prepared.result() or self._engine.built

    def change(self, changes: tuple[Change, ...]) -> Iterator[None]:
        """Take other changes; what was computed after the first that differs is forgotten.

        Yields after each tick that has to be computed again. If it is closed before its end, it has
        to be called again.
        """
        if changes != self.changes:
            differing = set(changes) ^ set(self.changes)
            at = min((tick for tick, _, _ in differing), default=self.tick)
            at = min(at, self.history.rows)
            # What is removed is drawn before the first tick, so that the past is computed again.
            again = any(key.startswith(REMOVE) for _, key, _ in differing)
            if not again:
                yield from self.steps_to(at)
            self._take(changes, at, again=again)
        yield from self.steps_to(max(self.tick, self._until))
        self._until = 0

    def _take(self, changes: tuple[Change, ...], at: int, *, again: bool) -> None:
        """Replace the engine by one with other changes, at the present tick or at the beginning."""
        before, links = self._engine, self.links(0, self._setup.copies)
        self._setup, self._engine = self._made(changes, self._like())
        self._engine.start()
        past = {} if again else {k: v for k, v in self._snapshots.items() if k <= at}
        self.changes, self._until = changes, at
        self._snapshots = {tick: one for tick, one in past.items() if self._fits(one)}
        self._history = self.history.before(at, self._empty().lines)
        self._links, self._begun, now = {}, 0, 0
        if at and not again:  # what only the new changes need has its value before the first tick
            self._engine.adopt(before, self._common(before))
            self._links, self._begun, now = links, at, at
        self._arrived(now)
        self._snapshot()

    def _fits(self, snapshot: Mapping[str, Any]) -> bool:
        """Whether the engine has the arrays of a snapshot that was made before the last change."""
        saved = {name: field for name, field in self._engine.fields.items() if field.saved}
        return saved.keys() == snapshot.keys() and all(
            snapshot[name].shape[1:] == field.shape(self._engine.sizes)
            for name, field in saved.items()
        )

    def _common(self, before: Engine) -> list[str]:
        """Return the arrays that change with time, and have the same shape in another engine."""
        return [
            name
            for name, field in self._engine.fields.items()
            if name in before.fields
            and not field.constant
            and field.shape(self._engine.sizes) == before.fields[name].shape(before.sizes)
        ]

    def _snapshot(self) -> None:
        """Store the present state; leave out every second snapshot if there are too many."""
        if not self.tick:
            return
        began = time.perf_counter()
        try:
            now = self._engine.snapshot()
        except DeviceError:  # the device has no room for it: days back are computed from earlier
            self._next = np.inf
            return
        made = time.perf_counter()
        self._next = made + PAUSE * (made - began)
        size = sum(one.nbytes for one in now.values())
        self._most = max(1, min(MOST, self._engine.room // max(size, 1)))
        self._snapshots[self.tick] = now
        while len(self._snapshots) > self._most:
            self._every *= 2
            apart: dict[int, Mapping[str, Any]] = {}
            for at, one in sorted(self._snapshots.items()):
                if at >= max(apart, default=0) + self._every:
                    apart[at] = one
            self._snapshots = apart or {self.tick: now}

    def branch(self) -> Course:
        """Return another course with the same past."""
        self.prepare()
        made = object.__new__(Course)
        made.__dict__.update(self.__dict__)
        made._history = self.history.before(self.history.rows, self.history.lines)
        made._waiting = []
        made._snapshots = dict(self._snapshots)
        made._links, made._begun = self.links(0, self._setup.copies), self.tick
        made._setup, made._engine = made._made(made.changes, self._engine.built)
        made._engine.adopt(self._engine, tuple(self._engine.fields))
        return made

    @property
    def history(self) -> History:
        """The series of all ticks that were computed, up to the present one or a later one."""
        self._record()
        return self._history

    def _record(self) -> None:
        """Add the series that were computed to the history."""
        for first, series in self._waiting:
            for tick in range(max(first, self._history.rows + 1), first + series.shape[1]):
                self._history.add(series[:, tick - first])
        self._waiting.clear()

    def _arrived(self, tick: int) -> None:
        """Note that the engine has the state of a tick, or of an earlier one at which it ended."""
        ended = self._engine.ended()
        self.tick = self.heading = tick if ended is None else ended
        self.ended = tick >= self.ticks or ended is not None

    def begin(self, last: int) -> None:
        """Begin to compute the next ticks up to ``last``, or as many as take `BLOCK` seconds.

        Until `finish`, the state must not be read, but the rest is that of the present tick. The
        host waits for a block of ticks only once; while a device computes it, the series of the
        block before are added to the history.
        """
        first, began = self.tick + 1, time.perf_counter()
        self.heading = max(first, min(last, self.ticks, self.tick + self._chunk))
        self._engine.run_ticks(first, self.heading)
        self._began = began
        self._record()

    def finish(self) -> None:
        """Wait for the ticks that were begun, if any; make a snapshot if one is due."""
        if self._began is None:
            return
        began, self._began = self._began, None
        first, rows = self.tick + 1, self._history.rows
        series = np.concatenate([self._engine.log(name) for name in self._logs], axis=2)
        took = time.perf_counter() - began
        self._chunk = paced(self.heading - self.tick, took, BLOCK, LOG_TICKS, faster=2)
        self._arrived(self.heading)
        self._waiting.append((first, series[:, : self.tick - first + 1]))
        due = self.tick > rows and self.tick >= max(self._snapshots, default=0) + self._every
        if due and time.perf_counter() >= self._next:
            self._snapshot()

    def steps_to(self, tick: int) -> Iterator[None]:
        """Go to a tick, and yield after each block of ticks that is computed."""
        if tick < self.tick:
            # A state that is loaded lacks what each tick computes, such as links: begin before it.
            wanted = max(0, tick - (WEEK if self._linked else 1))
            self._load(max((one for one in self._snapshots if one <= wanted), default=0))
        while self.tick < tick and not self.ended:
            self.begin(tick)
            self.finish()
            yield

    def _load(self, tick: int) -> None:
        if tick:
            self._engine.restore(self._snapshots[tick])
        else:
            self._engine.start()
        self._links, self._begun = {}, tick
        self._arrived(tick)

    def arrays(self, names: Collection[str], copy: int) -> State:
        """Return some arrays of the present state of one copy: (1, ...)."""
        return self._engine.part(names, copy, 1)

    @property
    def large(self) -> bool:
        """Whether the hash of the state takes longer than a picture should wait."""
        engine = self._engine
        each = sum(one.nbytes(engine.sizes) for one in engine.fields.values() if one.saved)
        return engine.copies * each > LARGE

    def links(self, first: int, copies: int, ticks: int = WEEK) -> dict[int, State]:
        """Return the links of some copies by tick, of the last ticks up to the present one."""
        if not self._linked:
            return {}
        wanted = range(max(1, self.tick - ticks + 1), self.tick + 1)
        earlier = {
            tick: {name: array[first : first + copies] for name, array in state.items()}
            for tick, state in self._links.items()
            if tick in wanted and tick <= self._begun
        }
        later = [tick for tick in wanted if tick > self._begun]
        return earlier | self._engine.remembered(later, first, copies)

    def sha256(self) -> str:
        """Return the hash of the present state, as `run` reports it."""
        return self._engine.hash()


def with_changes(
    setup: Setup[Any, Any], changes: Sequence[Change], ready: Sequence[str] = ()
) -> Any:
    """Return the configuration of a setup with changes.

    Those before the first tick are values of keys, the others interventions; so are those of keys
    that an intervention or a table sets before the first tick. Keys in ``ready`` are
    set before the last tick to what they are then, so that kernels read them from a table from the
    beginning, and all changes of them need the same program.
    """
    config, clock = setup.config, setup.workload.clock
    timed: dict[int, dict[str, Any]] = {}
    removed = []
    for tick, key, value in changes:
        if key.startswith(REMOVE):
            removed.append({clock: tick, "remove": key.removeprefix(REMOVE), "index": value})
        else:
            timed.setdefault(tick, {})[key] = value
    config = with_interventions(config, removed) if removed else config
    at_first = {key for one in config.interventions if not getattr(one, clock) for key in one.set}
    at_first |= {*config.table.columns} if config.table is not None else set()
    first = {key: timed[0].pop(key) for key in [*timed.get(0, ())] if key not in at_first}
    if first:
        paths: dict[Path, Any] = {tuple(key.split(".")): one for key, one in first.items()}
        table, config = config.table, changed(type(config), config.model_dump(mode="json"), paths)
        config._table = table
    if timed := {tick: values for tick, values in timed.items() if values}:
        config = with_values(config, timed)
    if ready and setup.ticks > 1 and not setup.config.interventions:
        data, now = config.model_dump(mode="json"), {key: value for _, key, value in changes}
        same = {key: now.get(key, value_at(data, key)) for key in ready}
        config = with_values(config, {setup.ticks - 1: same})
    return config
