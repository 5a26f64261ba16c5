"""What does a picture of a course show, and which of its arrays must be read for that?

Arrays are read first, so that the next ticks can be computed while the picture is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.view.controls import windows
from societies.view.course import WEEK, Course
from societies.view.lives import Lives
from societies.view.networks import largest, network, network_facts, summed
from societies.view.shots import Pane, evenly
from societies.workload.declare.fields import Field, State
from societies.workload.declare.scene import Grid, Links, Scene
from societies.workload.running.state import file_values


@dataclass(frozen=True)
class Seen:
    """Arrays of a course that a picture shows.

    Attributes
    ----------
    arrays : of the chosen copy, (1, ...)
    links : its links by tick
    sha256 : hash of the state, "" while the run continues
    """

    arrays: State
    links: Mapping[int, State]
    sha256: str


class Drawing:
    """Reads courses and draws their panes."""

    def __init__(
        self, scene: Scene, clock: str, copies: int, agents: int, lives: Lives | None
    ) -> None:
        self._scene, self._clock, self._lives = scene, clock, lives
        self._copies, self._agents = copies, agents

    def seen(self, state: Any, course: Course, *, hashed: bool = True) -> Seen:
        """Read what is shown of a course now; the whole state is read only where it stops."""
        fields, scene, copy = course.setup.fields, self._scene, min(state.copy, self._copies - 1)
        wanted = {state.spread, scene.alive, *self._network_fields(state)} - {""}
        wanted |= {scene.grid.field} if scene.grid else set()
        wanted |= {fields[one].present for one in wanted} - {""}
        week = scene.network and state.window != windows(self._clock)[0]
        return Seen(
            course.arrays(sorted(wanted), copy),
            course.links(copy, 1, WEEK if week else 1),
            course.sha256() if hashed and (not state.playing or course.ended) else "",
        )

    def pane(self, state: Any, course: Course, seen: Seen) -> Pane:
        """Return what is shown of a course."""
        fields, scene, found = course.setup.fields, self._scene, seen.arrays
        facts: dict[str, Any] = {"sha256": seen.sha256, "ended": course.ended}
        numbers: dict[str, NDArray[Any]] = {}
        if state.spread:
            about = fields[state.spread]
            facts["spread"] = {"name": state.spread, "unit": about.unit, "meaning": about.meaning}
            values = as_numbers(about, file_values(fields, state.spread, found)[0])
            if scene.alive and about.dims == fields[scene.alive].dims:
                values = values[found[scene.alive][0] != 0]
            numbers["spread"] = evenly(values)
        if scene.grid:
            facts["grid"], numbers["grid"] = self._cells(scene.grid, found)
        if scene.network:
            drawn = self._network(scene.network, state, seen)
            facts["network"] = network_facts(scene.network, state, self._agents, drawn)
            numbers |= drawn
        if self._lives and state.agent >= 0:
            facts["life"] = self._lives.text(course, state.agent, state.copy, playing=state.playing)
        return Pane(course.history, course.history.rows, facts, numbers)

    def _cells(self, grid: Grid, found: State) -> tuple[dict[str, Any], NDArray[Any]]:
        cells = np.asarray(found[grid.field][0], np.float64)
        columns = grid.columns or cells.shape[1]
        cells = cells.reshape(len(cells), -1).sum(1) if grid.columns else cells.reshape(-1)
        return {"title": grid.title, "columns": columns}, cells.astype(np.float32)

    def _network_fields(self, state: Any) -> set[str]:
        """Return the fields from which circles of the network are drawn."""
        net = self._scene.network
        colour = net.colours[state.colour] if net else ""
        return ({net.size} if net else set()) | ({colour} if isinstance(colour, str) else set())

    def _network(self, net: Links, state: Any, seen: Seen) -> dict[str, NDArray[Any]]:
        """Return circles and lines of the network of a copy."""
        colour, found = net.colours[state.colour], seen.arrays
        values = found[colour][0] if isinstance(colour, str) else np.asarray(colour)
        alive = found[self._scene.alive][0] if self._scene.alive else np.ones(self._agents)
        links = []
        for one in seen.links.values():
            takers, weights = one[net.taker][0], one[net.weights[state.links]][0]
            givers = np.broadcast_to(np.arange(len(takers))[:, None], takers.shape)
            real = takers >= 0
            links.append((givers[real], takers[real], weights[real]))
        return network(links, summed(found[net.size][0]), largest(values), alive)


def spread_fields(fields: Mapping[str, Field], scene: Scene) -> list[str]:
    """Return the fields whose distribution can be drawn: one number for each of several agents."""
    if scene.spread:
        return list(scene.spread)
    first = next((one.dims[0] for one in fields.values() if len(one.dims) == 1), "")
    return [
        name
        for name, one in fields.items()
        if one.dims == (first,) and one.dtype != "uint64" and not one.constant and not one.logged
    ]


def as_numbers(field: Field, values: Any) -> Any:
    """Return the values of a field as real numbers, NaN where the field declares no value."""
    numbers = np.asarray(values, np.float64)
    return numbers if field.none is None else np.where(values == field.none, np.nan, numbers)
