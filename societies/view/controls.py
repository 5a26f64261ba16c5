"""Which controls does the page of a run or of a result have, and in which range is a slider?"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from societies.config.model import LARGEST_INTEGER, LARGEST_REAL, USUAL
from societies.view.course import WEEK
from societies.words import plural
from societies.workload.declare.scene import Links, Scene
from societies.workload.declare.view import Button, Choice, Control, Slider
from societies.workload.running.points import without_effect
from societies.workload.running.varying import (
    NotVarying,
    kinds,
    last_field,
    leaves,
    takes_whole_numbers,
    value_at,
    varying,
)

LATE = 0.5
"""Seconds by which ticks may be late and are made up for; what a longer pause has cost is not."""

PACES = {"1 a second": 1.0, "5 a second": 5.0, "20 a second": 20.0, "as fast as possible": np.inf}


class Speed:
    """When is the next tick due?

    With an infinite ``rate`` (ticks a second) a tick is always due.
    """

    def __init__(self, rate: float) -> None:
        self._rate, self._due = rate, time.perf_counter()

    @property
    def left(self) -> float:
        """Seconds until the next tick is due; 0 or less: it is due."""
        return self._due - time.perf_counter()

    def done(self, ticks: int = 1) -> None:
        """Record that ticks were shown."""
        self._due = max(self._due + ticks / self._rate, time.perf_counter() - LATE)


@dataclass(frozen=True)
class Playing:
    """What of a run a page shows, and whether it plays.

    Attributes
    ----------
    playing : whether the run continues
    asked : tick that is to be shown while it does not
    pace : word of `PACES`
    spread : field whose distribution is drawn
    copy : place of the copy that is shown
    links, window, colour : what the network shows
    replays : how many times the run was played again from its beginning
    """

    playing: bool = False
    asked: int = 0
    pace: str = "20 a second"
    spread: str = ""
    copy: int = 0
    links: str = ""
    window: str = ""
    colour: str = ""
    replays: int = 0


P = TypeVar("P", bound=Playing)


def after_button(state: P, name: str, now: int, last: int, *, over: bool) -> P:
    """Return the state after one of the buttons that each page of a run has.

    Parameters
    ----------
    now, last : tick that is shown, and the last one
    over : whether nothing follows, so that the run is played again from its beginning
    """
    if name == "play" and over:
        return replace(state, playing=True, asked=0, replays=state.replays + 1)
    if name == "play":
        return replace(state, playing=not state.playing, asked=now)
    to = min(now + (1 if name == "one" else 10), last)
    return replace(state, playing=False, asked=to)


def playing_controls(
    state: Playing, clock: str, copies: str, ticks: int, count: int, spreads: Sequence[str]
) -> list[Control]:
    """Return the controls that each page of a run has.

    ``clock`` and ``copies`` are words for a tick and a copy, ``ticks`` and ``count`` their numbers;
    ``spreads`` can be drawn of agents.
    """
    many = plural(clock)
    found: list[Control] = [
        Button("play", "Play"),  # the page calls it "Pause" while frames say that it plays
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


def windows(clock: str) -> tuple[str, str]:
    """Return the words for links of the tick that is shown, and for those of the last ones."""
    return f"this {clock}", f"the last {WEEK} {plural(clock)}"


def network_controls(state: Playing, clock: str, net: Links) -> list[Control]:
    """Return the controls of a network."""
    found: list[Control] = [
        Choice("window", "Network of", state.window, windows(clock)),
        Choice("colour", "Colour of an agent", state.colour, tuple(net.colours)),
    ]
    if len(net.weights) > 1:
        found.insert(0, Choice("links", "Lines of the network", state.links, tuple(net.weights)))
    return found


@dataclass(frozen=True)
class Scale:
    """Which numbers can a key be given?

    Attributes
    ----------
    least, most, step : those of the slider, multiples of its step
    limits : least and largest number that may be typed
    """

    least: float
    most: float
    step: float
    limits: tuple[float, float]


def steerable(config: Any, data: dict[str, Any], scene: Scene) -> dict[str, Scale]:
    """Return the scales of the value keys that can act if they change, by key."""
    if "interventions" not in type(config).model_fields:
        return {}
    found = {}
    for key in leaves(data):
        try:
            varying(type(config), data, key, later=True)
        except NotVarying:
            continue
        value = value_at(data, key)
        if type(value) in (int, float) and (scale := _scale(config, key, value)):
            found[key] = scale
    for key in without_effect(config.idle(), found):
        del found[key]
    first = [key for key in scene.steer if key in found]
    return {key: found[key] for key in [*first, *found]}


def _scale(config: Any, key: str, value: float) -> Scale | None:
    """Return the scale of a key; None if it can have no other value.

    A slider has the usual range of its key. If there is none, or if the value is not in it, it
    reaches from 0 to three times the value, or to a limit that is at most twice as far.
    """
    field, whole = last_field(type(config), key), takes_whole_numbers(type(config), key)
    limits: dict[str, float] = {}
    for part in (field, *kinds(field.annotation)):  # a number, or a list of such numbers
        for one in getattr(part, "metadata", ()):
            limits |= {n: getattr(one, n) for n in ("ge", "gt", "le", "lt") if hasattr(one, n)}
    far = LARGEST_INTEGER if whole else LARGEST_REAL
    lowest = max(limits.get("ge", -far), limits.get("gt", -far))
    highest = min(limits.get("le", far), limits.get("lt", far))
    usual = (field.json_schema_extra or {}).get(USUAL)
    if usual and isinstance(usual[1], str):
        highest = getattr(config, usual[1]) - 1
        usual = usual[0], highest
    if usual and (usual[0] <= value <= usual[1] or value == field.default):
        least, most = max(usual[0], lowest), min(usual[1], highest)
    else:
        size = 3 * abs(value) or (10 if whole else 1.0)
        least = lowest if lowest >= -2 * size else -size
        most = highest if highest <= 2 * size else size
    if most <= least:
        return None
    if whole:
        return Scale(int(least), int(most), 1, (int(lowest), int(highest)))
    digits = 2 - math.floor(math.log10(most - least))
    step = round(10.0**-digits, max(0, digits))
    first, last = math.ceil(round(least / step, 6)), math.floor(round(most / step, 6))
    first += first * step < lowest or first * step == limits.get("gt")
    last -= last * step == limits.get("lt")
    least, most = (round(k * step, max(0, digits)) for k in (first, last))
    return Scale(least, most, step, (float(lowest), float(highest)))
