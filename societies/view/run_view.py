"""What does a page show of any run: its series, agents and networks, and what can be changed?

A state of the view says which tick is shown, whether the run continues, and what was changed on the
way; its frames are scenes (`Shot`). "Branch here" adds a second course with the same past, so that
both continue side by side and only one gets the next change.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from societies.errors import ConfigError
from societies.opencl import Device
from societies.view.controls import (
    PACES,
    Playing,
    Speed,
    after_button,
    network_controls,
    playing_controls,
    steerable,
    windows,
)
from societies.view.course import REMOVE, Change, Course, with_changes
from societies.view.drawing import Drawing, Seen, spread_fields
from societies.view.lives import Lives
from societies.view.shots import MOST_BYTES, NO_PIXELS, History, Shot
from societies.view.steering import in_force, number_of, page_notes, value_slider
from societies.workload import Setup
from societies.workload.declare.view import Button, Choice, Control, Press, Slider
from societies.workload.declare.view import Change as Moved

FRAME = 0.04
"""Seconds after which a picture is shown, if ticks are quicker than that."""

SELDOM = 0.5
"""The same as fast as possible: drawing a picture costs as much as computing two to four ticks."""


@dataclass(frozen=True)
class Panes(Playing):
    """A state of the page.

    Attributes
    ----------
    changes : what was changed on the way, in the course that existed first
    branched : whether there is a second course
    other : changes of the second course
    before, other_before : what the changes of each course were before each change, oldest first
    key : key of the slider
    agent : the agent whose life is shown; -1: none
    number : number that policies concern
    """

    changes: tuple[Change, ...] = ()
    branched: bool = False
    other: tuple[Change, ...] = ()
    before: tuple[tuple[Change, ...], ...] = ()
    other_before: tuple[tuple[Change, ...], ...] = ()
    key: str = ""
    agent: int = -1
    number: int = 0


class RunView:
    """The page of a run of any workload with series, a `View` whose frames are scenes.

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
        base = Setup(workload, config)
        self._configured = lru_cache(32)(lambda changes: with_changes(base, changes))
        self._notes = lru_cache(32)(
            lambda changes: page_notes(config, self._configured(changes), workload, changes)
        )
        self._setup = Setup(workload, workload.watched(config))
        self._scene = workload.scene(self._setup.p)
        self._keys = steerable(config, config.model_dump(mode="json"), self._scene)
        self._spread = spread_fields(self._setup.fields, self._scene)
        first = [key for key in self._scene.steer if key in self._keys]
        net, fields = self._scene.network, self._setup.fields
        linked = (net.taker, *net.weights.values()) if net else ()
        ready = first or tuple(self._keys)
        self._course = Course(self._setup, device, ready=ready, linked=linked)
        self._other: Course | None = None
        self.ticks, self._copies = setup.ticks, setup.copies
        self._lives = Lives(setup, device) if net and Lives.supported(workload) else None
        self._agents = self._setup.sizes[fields[net.taker].dims[0]] if net else 0
        words = workload.clock, self._copies, self._agents
        self._drawing = Drawing(self._scene, *words, self._lives)
        self._replays = 0
        self._checked: tuple[int, int, int, int | None] = (-1, -1, 0, None)

    @property
    def title(self) -> str:
        """The workload, and where it is computed."""
        return f"{self._setup.workload.name}: {self._setup.workload.summary}"

    @property
    def initial(self) -> Panes:
        """The state before the first tick."""
        net = self._scene.network
        return Panes(
            key=next(iter(self._keys), ""),
            spread=self._spread[0] if self._spread else "",
            links=next(iter(net.weights)) if net else "",
            window=windows(self._setup.workload.clock)[1],
            colour=next(iter(net.colours)) if net else "",
        )

    # --------------------------------------------------------------------------------- controls

    def controls(self, state: Panes) -> Sequence[Control]:
        """Return the controls, with the values of a state."""
        clock = self._setup.workload.clock
        words = clock, self._setup.workload.copies
        found = playing_controls(state, *words, self.ticks, self._copies, self._spread)
        if net := self._scene.network:
            found += network_controls(state, clock, net)
            if self._lives:
                label = "Agent whose life is shown (-1: none)"
                found.append(Slider("agent", label, state.agent, -1, self._agents - 1, 1))
        if self._keys:
            now = self._in_force(state, _steered(state), self._now(state))
            label, slider = "Key to change", value_slider(state.key, now, self._keys[state.key])
            label += "" if slider else " (now a list of numbers, which has no slider)"
            found.append(Choice("key", label, state.key, tuple(self._keys)))
            found += [slider] if slider else []
            counts = [one.count for one in self._scene.policies.values()]
            if any(counts):
                label = f"{self._scene.numbered.capitalize()} of the buttons below"
                found.append(Slider("number", label, state.number, 0, max(counts) - 1, 1))
            found += [
                Button(f"policy-{name}", one.label.format(state.number))
                for name, one in self._scene.policies.items()
            ]
            found += [
                Button("undo", "Undo the last change"),
                Button("branch", "Close the branch" if state.branched else "Branch here"),
            ]
        return found

    def _in_force(self, state: Panes, changes: tuple[Change, ...], tick: int) -> Any:
        """Return the configuration of the copy that is shown on the tick that follows, if any."""
        config, copy = self._configured(changes), min(state.copy, self._copies - 1)
        return in_force(config, min(tick + 1, self.ticks), copy)

    def take(self, state: Panes, event: Any) -> Panes:
        """Return the state after an event."""
        if isinstance(event, Press):
            return self._pressed(state, event.name)
        if not isinstance(event, Moved):
            return state
        if event.name == "tick":
            return replace(state, playing=False, asked=int(event.value))
        if event.name == "value":
            return self._possible(self._changed(state, {state.key: event.value}))
        chosen: dict[str, Any] = {event.name: event.value}
        return replace(state, **chosen)

    def _now(self, state: Panes) -> int:
        """Return the tick that is shown, or will be: clicks come faster than ticks are computed."""
        return self._course.heading if state.playing else state.asked

    def _over(self, state: Panes) -> bool:
        """Whether the last tick is shown, so that nothing follows."""
        courses = [self._course, *([self._other] if self._other else ())]
        ended = all(course.ended for course in courses)
        return ended and (state.playing or state.asked >= self._course.tick)

    def _pressed(self, state: Panes, name: str) -> Panes:
        now = self._now(state)
        if name in ("play", "one", "ten"):
            return after_button(state, name, now, self.ticks, over=self._over(state))
        if name.startswith("policy-"):
            policy = self._scene.policies[name.removeprefix("policy-")]
            values = {k: state.number if v is None else v for k, v in policy.values.items()}
            key = next((key for key in values if key in self._keys), state.key)
            return self._possible(self._changed(replace(state, key=key), values))
        if name == "branch":
            other = () if state.branched else state.changes
            return replace(state, branched=not state.branched, other=other, other_before=())
        before = _before(state)
        return _steer(state, before[-1], before[:-1]) if before else state

    def _changed(self, state: Panes, values: Mapping[str, Any]) -> Panes:
        """Return the state with changes after the present tick, which replace those made then."""
        now = self._now(state)
        if now >= self.ticks:
            raise ConfigError(
                f"the run has ended: go back to {self._setup.workload.clock} "
                f"{self.ticks - 1} or earlier to change what follows"
            )
        new = tuple((now, key, value) for key, value in values.items())
        same = [(now, key) for key in values if not key.startswith(REMOVE)]
        was = _steered(state)
        unchanged = [one for one in was if one[:2] not in same and one[0] <= now and one not in new]
        before = _before(state)
        again = [one[:2] for one in was[len(was) - len(new) :]] == same  # a slider is being moved
        if (*unchanged, *new) != was and not (before and again):
            before = (*before, was)
        return _steer(state, (*unchanged, *new), before)

    def _possible(self, state: Panes) -> Panes:
        """Return the state; raise ConfigError if its changes are not possible together."""
        self.configuration(state)
        return state

    def configuration(self, state: Panes) -> Any:
        """Return the configuration whose run has the results of the course that is steered."""
        return self._configured(_steered(state))

    # ----------------------------------------------------------------------------------- frames

    def frames(self, state: Panes) -> Iterator[Shot | None]:
        """Yield scenes: of the asked tick, or one after another while the run continues."""
        courses = yield from self._prepared(state)
        if state.replays != self._replays:
            self._replays = state.replays
            for course in courses:
                yield from course.steps_to(0)
        if not state.playing:
            for course in courses:
                for _ in course.steps_to(state.asked):
                    yield None
            if any(course.large for course in courses):
                yield self._shot(state, courses, hashed=False)
        yield self._shot(state, courses)
        self._course.prepare()
        if self._lives and state.agent >= 0 and not state.playing:
            for course in courses:
                yield from self._lives.computed(course, state.agent, state.copy)
            yield self._shot(state, courses)
        if state.playing:
            try:
                yield from self._played(state, courses)
            finally:
                for course in courses:
                    course.finish()

    def _played(self, state: Panes, courses: Sequence[Course]) -> Iterator[Shot | None]:
        """Yield scenes one after another, until all courses end.

        As fast as possible the next ticks are begun before a scene is drawn and sent.
        """
        fast, pace = np.isinf(PACES[state.pace]), Speed(PACES[state.pace])
        shown, apart = time.perf_counter(), SELDOM if fast else FRAME
        most = max(1, MOST_BYTES // sum(course.history.row_bytes for course in courses))
        until = courses[0].tick + most
        going = _begun(courses, until if fast else courses[0].tick + 1)
        while going:
            before = going[0].tick
            for course in going:
                course.finish()
                yield from course.steps_to(going[0].tick)
            pace.done(going[0].tick - before)
            yield None
            while (left := pace.left) > 0:
                time.sleep(min(0.01, left))
                yield None
            now, tick = time.perf_counter(), going[0].tick
            drawn = tick >= until or now - shown >= apart or all(one.ended for one in courses)
            seen = [self._drawing.seen(state, one) for one in courses] if drawn else []
            if drawn:
                until = tick + most
            if fast:
                going = _begun(courses, until)
            if drawn:
                yield self._drawn(state, courses, seen)
                shown = time.perf_counter()
            if not fast:
                going = _begun(courses, tick + 1)

    def _prepared(self, state: Panes) -> Generator[None, None, list[Course]]:
        """Return the courses of a state, with its changes; yield after each computed tick."""
        yield from self._course.change(state.changes)
        if not state.branched:
            self._other = None
            return [self._course]
        if self._other is None:
            self._other = self._course.branch()
        yield from self._other.change(state.other)
        yield from self._other.steps_to(self._course.tick)
        return [self._course, self._other]

    def _shot(self, state: Panes, courses: Sequence[Course], *, hashed: bool = True) -> Shot:
        seen = [self._drawing.seen(state, one, hashed=hashed) for one in courses]
        return self._drawn(state, courses, seen)

    def _drawn(self, state: Panes, courses: Sequence[Course], seen: Sequence[Seen]) -> Shot:
        """Return a scene of what was read of each course."""
        panes = tuple(self._drawing.pane(state, *both) for both in zip(courses, seen, strict=True))
        for pane, course in zip(panes, courses, strict=True):
            pane.facts.update(self._notes(course.changes))
            if state.key:
                now = self._in_force(state, course.changes, course.tick)
                pane.facts["value"] = number_of(now, state.key)
        clock = self._setup.workload.clock
        facts: dict[str, Any] = {
            "clock": clock,
            "playing": state.playing and not all(course.ended for course in courses),
            "ticks": self.ticks,
            "first": list(self._scene.series),
            "living": self._scene.living,
            "copies": self._copies,
            "copy": state.copy,
            "agent": state.agent,
            "key": state.key,
        }
        if len(courses) == 2:
            facts["parted"] = self._parted(*(course.history for course in courses))
        tick = courses[0].tick
        caption = f"{clock} {tick} of {self.ticks}"
        return Shot(NO_PIXELS, caption, tick=tick, panes=panes, facts=facts)

    def _parted(self, one: History, other: History) -> int | None:
        """Return the first tick at which two histories differ; each row is compared once."""
        *serials, rows, found = self._checked
        if serials != [one.serial, other.serial]:
            rows, found = 0, None
        if found is None:
            found = one.parted(other, rows)
        self._checked = (one.serial, other.serial, min(one.rows, other.rows), found)
        return found


def _begun(courses: Sequence[Course], last: int) -> list[Course]:
    """Begin to compute the next ticks up to ``last``; return the courses that have not ended."""
    going = [course for course in courses if not course.ended]
    for course in going:
        course.begin(last)
        last = going[0].heading
    return going


def _steered(state: Panes) -> tuple[Change, ...]:
    """Return the changes of the course that sliders change: the second one, if there is one."""
    return state.other if state.branched else state.changes


def _before(state: Panes) -> tuple[tuple[Change, ...], ...]:
    """Return what these changes were before each change."""
    return state.other_before if state.branched else state.before


def _steer(
    state: Panes, changes: tuple[Change, ...], before: tuple[tuple[Change, ...], ...]
) -> Panes:
    """Return the state with other changes of that course, and what they were before."""
    if state.branched:
        return replace(state, other=changes, other_before=before)
    return replace(state, changes=changes, before=before)
