"""Which controls does the page of a run or of a result have, and in which range is a slider?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from societies.view.course import WEEK
from societies.words import plural
from societies.workload.declare.scene import Links, Scene
from societies.workload.declare.view import Button, Choice, Control, Slider
from societies.workload.running.varying import (
    NotVarying,
    field_of,
    kinds,
    leaves,
    value_at,
    varying,
)

LATE = 0.5
"""Seconds by which ticks may be late and are made up for; what a longer pause has cost is not."""

PACES = {"1 a second": 1.0, "5 a second": 5.0, "20 a second": 20.0, "as fast as possible": np.inf}


class Speed:
    """When is the next tick due?

    Parameters
    ----------
    rate : ticks a second; infinity: a tick is always due
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


def playing_controls(
    state: Any, clock: str, copies: str, ticks: int, count: int, spreads: Sequence[str]
) -> list[Control]:
    """Return the controls that each page of a run has.

    Parameters
    ----------
    state : with ``pace``, ``asked``, ``copy`` and ``spread``
    clock, copies : words for a tick and a copy
    ticks, count : numbers of both
    spreads : what can be drawn of agents
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


def network_controls(state: Any, clock: str, net: Links) -> list[Control]:
    """Return the controls of a network; ``state`` has ``links``, ``window`` and ``colour``."""
    found: list[Control] = [
        Choice("window", "Network of", state.window, windows(clock)),
        Choice("colour", "Colour of an agent", state.colour, tuple(net.colours)),
    ]
    if len(net.weights) > 1:
        found.insert(0, Choice("links", "Lines of the network", state.links, tuple(net.weights)))
    return found


def steerable(config: Any, data: dict[str, Any], scene: Scene) -> dict[str, tuple[Any, Any, Any]]:
    """Return least, most and step of the value keys that can act if they change, by key."""
    if "interventions" not in type(config).model_fields:
        return {}
    found = {}
    for key in leaves(data):
        if any(f"{key}.".startswith(f"{one}.") for one in scene.idle):
            continue
        try:
            varying(type(config), data, key, later=True)
        except NotVarying:
            continue
        value = value_at(data, key)
        if type(value) in (int, float) and (scale := _scale(config, key, value)):
            found[key] = scale
    first = [key for key in scene.steer if key in found]
    return {key: found[key] for key in [*first, *found]}


def _scale(config: Any, key: str, value: float) -> tuple[Any, Any, Any] | None:
    """Return least, most and step of a slider: within limits; None if there is no other value."""
    *path, last = key.split(".")
    section = config
    for name in path:
        section = getattr(section, name)
    limits: dict[str, float] = {}
    field = type(section).model_fields[last]
    for part in (field, *kinds(field.annotation)):  # a number, or a list of such numbers
        for one in getattr(part, "metadata", ()):
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
