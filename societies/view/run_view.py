"""What does a page show of any run: its series, agents and networks, and what can be changed?

A state of the view says which tick is shown, whether the run goes on, and what was changed on the
way; its frames are scenes (`Shot`). "Branch here" adds a second course with the same past, so that
both go on side by side and only one gets the next change.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError
from societies.opencl import Device
from societies.view.course import Change, Course, with_changes
from societies.view.shots import NO_PIXELS, Pane, Shot
from societies.words import plural
from societies.workload import Setup
from societies.workload.declare.fields import file_values
from societies.workload.declare.scene import MOST_NODES, Grid, Scene, as_numbers, spread_fields
from societies.workload.declare.varying import (
    NotVarying,
    field_of,
    unit_and_meaning,
    value_at,
    varying,
)
from societies.workload.declare.view import Button, Choice, Control, Press, Slider
from societies.workload.declare.view import Change as Moved

PACES = {"1 a second": 1.0, "5 a second": 5.0, "20 a second": 20.0, "as fast as possible": np.inf}
FRAME = 0.04
"""Seconds of computing after which a picture is shown, if ticks are quicker than that."""


@dataclass(frozen=True)
class Panes:
    """A state of the page.

    Attributes
    ----------
    playing : whether the run goes on
    asked : tick that is to be shown while it does not
    pace : word of `PACES`
    changes : what was changed on the way, in the course that was there first
    branched : whether there is a second course
    other : changes of the second course
    key : key of the slider
    spread : field whose distribution is drawn
    copy : place of the copy that is shown
    """

    playing: bool = False
    asked: int = 0
    pace: str = "20 a second"
    changes: tuple[Change, ...] = ()
    branched: bool = False
    other: tuple[Change, ...] = ()
    key: str = ""
    spread: str = ""
    copy: int = 0


class RunView:
    """The page of a run of any workload with series, a `View` whose frames are scenes.

    Parameters
    ----------
    setup : what is run
    device : str or Device

    Raises
    ------
    ConfigError
        If the workload has no series, or its ticks are not known before.
    """

    def __init__(self, setup: Setup[Any, Any], device: str | Device = "auto") -> None:
        workload, config = setup.workload, setup.config
        if workload.open_ended or not workload.series(setup.p):
            raise ConfigError(
                f"workload {workload.name} cannot be viewed: it defines neither a view nor "
                "a series with a value for each tick"
            )
        self._config, self._data = config, config.model_dump(mode="json")
        self._setup = Setup(workload, workload.watched(config))
        self._scene = workload.scene(self._setup.p)
        self._keys = _steerable(config, self._data, self._scene)
        self._spread = spread_fields(self._setup.fields, self._scene)
        first = [key for key in self._scene.steer if key in self._keys]
        self._course = Course(self._setup, device, ready=first or tuple(self._keys))
        if self._scene.network:
            self._course.linked = self._scene.network.taker, self._scene.network.weight
        self._other: Course | None = None
        self.ticks, self._copies = setup.ticks, setup.copies

    @property
    def title(self) -> str:
        """The workload, and where it is computed."""
        return f"{self._setup.workload.name}: {self._setup.workload.summary}"

    @property
    def initial(self) -> Panes:
        """The state before the first tick."""
        return Panes(key=next(iter(self._keys), ""), spread=self._spread[0] if self._spread else "")

    # --------------------------------------------------------------------------------- controls

    def controls(self, state: Panes) -> Sequence[Control]:
        """Return the controls, with the values of a state."""
        words = self._setup.workload.clock, self._setup.workload.copies
        found = playing_controls(state, *words, self.ticks, self._copies, self._spread)
        if self._keys:
            least, most, step = self._keys[state.key]
            found += [
                Choice("key", "Key to change", state.key, tuple(self._keys)),
                Slider("value", self._label(state.key), self._value(state), least, most, step),
                Button("undo", "Undo the last change"),
                Button("branch", "Close the branch" if state.branched else "Branch here"),
            ]
        return found

    def _label(self, key: str) -> str:
        unit, meaning = unit_and_meaning(type(self._config), key)
        return f"{meaning} ({unit})" if unit and unit != "1" else meaning

    def _value(self, state: Panes) -> Any:
        """Return the value of the chosen key after all changes of the course that is steered."""
        of = [value for _, key, value in _steered(state) if key == state.key]
        return of[-1] if of else value_at(self._data, state.key)

    def take(self, state: Panes, event: Any) -> Panes:
        """Return the state after an event."""
        if isinstance(event, Press):
            return self._pressed(state, event.name)
        if not isinstance(event, Moved):
            return state
        if event.name == "tick":
            return replace(state, playing=False, asked=int(event.value))
        if event.name == "value":
            return self._changed(state, event.value)
        chosen: dict[str, Any] = {event.name: event.value}
        return replace(state, **chosen)

    def _now(self, state: Panes) -> int:
        """Return the tick that is shown, or will be: clicks come faster than ticks are computed."""
        return self._course.tick if state.playing else state.asked

    def _pressed(self, state: Panes, name: str) -> Panes:
        now = self._now(state)
        if name == "play":
            return replace(state, playing=not state.playing, asked=now)
        if name in ("one", "ten"):
            to = min(now + (1 if name == "one" else 10), self.ticks)
            return replace(state, playing=False, asked=to)
        if name == "branch":
            other = () if state.branched else state.changes
            return replace(state, branched=not state.branched, other=other)
        if state.branched:
            others = state.other[:-1] if len(state.other) > len(state.changes) else state.other
            return replace(state, other=others)
        return replace(state, changes=state.changes[:-1])

    def _changed(self, state: Panes, value: Any) -> Panes:
        """Return the state with a change after the present tick, which replaces one made there."""
        now = self._now(state)
        if now >= self.ticks:
            raise ConfigError(
                f"the run has ended: go back to {self._setup.workload.clock} "
                f"{self.ticks - 1} or earlier to change what follows"
            )
        name = "other" if state.branched else "changes"
        kept = [one for one in _steered(state) if one[:2] != (now, state.key) and one[0] <= now]
        changed: dict[str, Any] = {name: (*kept, (now, state.key, value))}
        return replace(state, **changed)

    def configuration(self, state: Panes) -> Any:
        """Return the configuration whose run has the results of the course that is steered."""
        return with_changes(Setup(self._setup.workload, self._config), _steered(state))

    # ----------------------------------------------------------------------------------- frames

    def frames(self, state: Panes) -> Iterator[Shot | None]:
        """Yield scenes: of the asked tick, or one after another while the run goes on."""
        courses = self._prepared(state)
        if not state.playing:
            for course in courses:
                for _ in course.steps_to(state.asked):
                    yield None
        yield self._shot(state, courses)
        pace, began, done = PACES[state.pace], time.perf_counter(), 0
        shown = began
        while state.playing and not all(course.ended for course in courses):
            for course in courses:
                if not course.ended:
                    course.step()
            done += 1
            yield None
            while time.perf_counter() < began + done / pace:
                time.sleep(min(0.01, max(0.0, began + done / pace - time.perf_counter())))
                yield None
            now = time.perf_counter()
            if now - shown >= FRAME or all(course.ended for course in courses):
                shown = now
                yield self._shot(state, courses)

    def _prepared(self, state: Panes) -> list[Course]:
        """Return the courses of a state, with its changes."""
        self._course.change(state.changes)
        if not state.branched:
            self._other = None
            return [self._course]
        if self._other is None:
            self._other = self._course.branch()
        self._other.change(state.other)
        self._other.go(self._course.tick)
        return [self._course, self._other]

    def _shot(self, state: Panes, courses: Sequence[Course]) -> Shot:
        panes = tuple(self._pane(state, course) for course in courses)
        clock = self._setup.workload.clock
        facts: dict[str, Any] = {
            "clock": clock,
            "ticks": self.ticks,
            "names": list(courses[0].history.names),
            "units": courses[0].units,
            "meanings": courses[0].meanings,
            "first": list(self._scene.series),
            "copies": self._copies,
            "copy": state.copy,
        }
        if len(courses) == 2:
            facts["parted"] = courses[0].history.parted(courses[1].history)
        tick = courses[0].tick
        caption = f"{clock} {tick} of {self.ticks}"
        return Shot(NO_PIXELS, caption, tick=tick, panes=panes, facts=facts)

    def _pane(self, state: Panes, course: Course) -> Pane:
        """Return what is shown of a course now."""
        found, fields = course.state(), self._setup.fields
        copy = min(state.copy, self._copies - 1)
        facts: dict[str, Any] = {
            "sha256": course.sha256(found),
            "ended": course.ended,
            "changes": [[tick, key, value] for tick, key, value in course.changes],
        }
        numbers: dict[str, NDArray[Any]] = {}
        if state.spread:
            about = fields[state.spread]
            facts["spread"] = {"name": state.spread, "unit": about.unit, "meaning": about.meaning}
            values = as_numbers(about, file_values(fields, state.spread, found)[copy])
            if self._scene.alive:
                values = values[found[self._scene.alive][copy] != 0]
            numbers["spread"] = np.sort(values[np.isfinite(values)]).astype(np.float32)
        if self._scene.grid:
            facts["grid"], numbers["grid"] = self._cells(self._scene.grid, found, copy)
        if self._scene.network:
            facts["network"] = self._scene.network.title
            numbers |= self._nodes(course, found, copy)
        return Pane(course.history, course.history.rows, facts, numbers)

    def _cells(self, grid: Grid, found: Any, copy: int) -> tuple[dict[str, Any], NDArray[Any]]:
        cells = np.asarray(found[grid.field][copy], np.float64)
        columns = grid.columns or cells.shape[1]
        cells = cells.reshape(len(cells), -1).sum(1) if grid.columns else cells.reshape(-1)
        return {"title": grid.title, "columns": columns}, cells.astype(np.float32)

    def _nodes(self, course: Course, found: Any, copy: int) -> dict[str, NDArray[Any]]:
        """Return size and colour of each node, and giver, taker and weight of each link."""
        net = self._scene.network
        assert net is not None
        size, colour = found[net.size][copy], found[net.colour][copy]
        count = len(size)
        if count > MOST_NODES:
            return {}
        sizes = size.reshape(count, -1).sum(1)
        colours = colour.reshape(count, -1).argmax(1) if colour.ndim > 1 else colour
        table = np.zeros((count, count))
        for one in course.links():
            takers, weights = one[net.taker][copy], one[net.weight][copy]
            givers = np.broadcast_to(np.arange(count)[:, None], takers.shape)
            real = takers >= 0
            np.add.at(table, (givers[real], takers[real]), weights[real])
        givers, takers = np.nonzero(table)
        links = np.stack([givers, takers, table[givers, takers]], axis=1)
        alive = found[self._scene.alive][copy] if self._scene.alive else np.ones(count)
        return {
            "nodes": np.stack([sizes, colours, alive], axis=1).astype(np.float32),
            "links": links.astype(np.float32),
        }


def _steered(state: Panes) -> tuple[Change, ...]:
    """Return the changes of the course that sliders change: the second one, if there is one."""
    return state.other if state.branched else state.changes


def playing_controls(
    state: Any, clock: str, copies: str, ticks: int, count: int, spreads: Sequence[str]
) -> list[Control]:
    """Return the controls that each page of a run has.

    Parameters
    ----------
    state : with ``playing``, ``pace``, ``asked``, ``copy`` and ``spread``
    clock, copies : words for a tick and a copy
    ticks, count : numbers of both
    spreads : what can be drawn of agents
    """
    many = plural(clock)
    found: list[Control] = [
        Button("play", "Pause" if state.playing else "Play"),
        Button("one", f"One {clock}"),
        Button("ten", f"Ten {many}"),
        Choice("pace", f"Speed in {many}", state.pace, tuple(PACES)),
        Slider("tick", f"{clock.capitalize()} shown", state.asked, 0, ticks, 1),
    ]
    if count > 1:
        found.append(Slider("copy", f"{copies.capitalize()} shown", state.copy, 0, count - 1, 1))
    if len(spreads) > 1:
        found.append(Choice("spread", "Spread of", state.spread, tuple(spreads)))
    return found


def _steerable(config: Any, data: dict[str, Any], scene: Scene) -> dict[str, tuple[Any, Any, Any]]:
    """Return least, most and step of the value keys that can change on the way, by key."""
    if "interventions" not in type(config).model_fields:
        return {}
    found = {}
    for key in _leaves(data):
        try:
            varying(type(config), data, key, later=True)
        except NotVarying:
            continue
        value = value_at(data, key)
        if type(value) in (int, float) and (scale := _scale(config, key, value)):
            found[key] = scale
    first = [key for key in scene.steer if key in found]
    return {key: found[key] for key in [*first, *found]}


def _leaves(data: dict[str, Any], before: str = "") -> Iterator[str]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def _scale(config: Any, key: str, value: float) -> tuple[Any, Any, Any] | None:
    """Return least, most and step of a slider: within limits; None if there is no other value."""
    *path, last = key.split(".")
    section = config
    for part in path:
        section = getattr(section, part)
    limits: dict[str, float] = {}
    for one in type(section).model_fields[last].metadata:
        limits |= {n: getattr(one, n) for n in ("ge", "gt", "le", "lt") if hasattr(one, n)}
    most = min(max(3 * abs(value), 1.0), limits.get("le", np.inf), limits.get("lt", np.inf))
    least = max(limits.get("ge", -np.inf), limits.get("gt", -np.inf))
    least = least if np.isfinite(least) and least >= value - 3 * abs(value) - 1 else -most
    if field_of(type(config), key) is int:
        least = int(least) + ("gt" in limits and least == limits.get("gt"))
        return least, max(int(most), least + 1), 1
    if most <= least:  # the limits leave no other value
        return None
    step = 10.0 ** np.floor(np.log10((most - least) / 100))
    least += step if limits.get("gt") == least else 0.0
    most -= step if limits.get("lt") == most else 0.0
    return float(least), float(most), float(step)
