"""How does a window show a plate while it is solved, and what can be changed meanwhile?

The potentials of the edges can be changed, and conductors can be drawn with the mouse. The plate
continues from its current potentials. The count of steps begins again, since a run that gives the
same plate begins with the new edges and conductors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.laplace import plate
from reference_py.physics.laplace.parameters import Parameters
from societies.physics.laplace.config import ConductorConfig, LaplaceConfig
from societies.physics.laplace.figure import SEED_COLOURS
from societies.workload import Setup
from societies.workload.declare.view import (
    Button,
    Change,
    Control,
    Drag,
    Event,
    Frame,
    Mouse,
    Press,
    Slider,
    after_change,
)
from societies.workload.running.stepwise import Stepwise

EDGES = ("top", "bottom", "left", "right")
MOST_STEPS = 1000
"""Steps from one picture to the next, at most."""


@dataclass(frozen=True)
class Controls:
    """The settings of the controls.

    Attributes
    ----------
    border : potentials of the edges, in the order of `EDGES`
    drawn : conductors in addition to those of the configuration
    pen : potential of the next drawn conductor
    steps : number of steps from one picture to the next
    restarts : how often the plate was restarted
    """

    border: tuple[float, ...]
    drawn: tuple[ConductorConfig, ...] = ()
    pen: float = 1.0
    steps: int = 10
    restarts: int = 0


class PlateView:
    """A plate that is being solved; of several, the first."""

    def __init__(self, setup: Setup[LaplaceConfig, Parameters]) -> None:
        config = setup.config
        self._setup, self._config = setup, config
        rows, columns = config.shape
        kind = "heat on" if config.method == "heat" else "the potential of"
        self.title = f"{kind} a plate of {rows} x {columns} cells"
        self.initial = Controls(setup.p.border)
        self._most = max(1.0, *map(abs, config.held))
        self._run = Stepwise(setup)
        self._run.begin(config)
        self._applied = self.initial

    def controls(self, state: Controls) -> list[Control]:
        """Return the controls of a state."""
        volts = (-self._most, self._most, self._most / 100)
        edges = zip(EDGES, state.border, strict=True)
        return [
            Mouse(drag="a conductor"),
            *(Slider(name, f"{name} edge [V]", value, *volts) for name, value in edges),
            Slider("pen", "conductor that is drawn [V]", state.pen, *volts),
            Slider("steps", "steps from one picture to the next", state.steps, 1, MOST_STEPS, 1),
            Button("restart", "Restart"),
            Button("clear", "Remove what is drawn"),
            Button("reset", "Reset"),
        ]

    def take(self, state: Controls, event: Event[Controls]) -> Controls:
        """Return the state after an event."""
        match event:
            case Drag():
                return self._drawn(event)
            case Change(name, float(value)) if name in EDGES:
                place = EDGES.index(name)
                border = (*state.border[:place], value, *state.border[place + 1 :])
                return replace(state, border=border)
            case Press("restart"):
                return replace(state, restarts=state.restarts + 1)
            case Press("clear"):
                return replace(state, drawn=())
            case Press("reset"):
                return replace(self.initial, restarts=state.restarts + 1)
        return after_change(state, event)

    def _drawn(self, drag: Drag[Controls]) -> Controls:
        """Return the state with a rectangle from the drag's beginning to the mouse."""
        rows, columns = self._config.shape
        inside = []
        for at, way, length in ((drag.y, drag.dy, rows), (drag.x, drag.dx, columns)):
            ends = sorted(min(max(int(place // 1), 1), length - 2) for place in (at, at + way))
            inside.append((ends[0], ends[1]))
        one = ConductorConfig(rows=inside[0], columns=inside[1], value=drag.began.pen)
        return replace(drag.began, drawn=(*drag.began.drawn, one))

    def frames(self, state: Controls) -> Iterator[Frame | None]:
        """Yield the current plate, then the plate after every `steps` steps until it ends."""
        self._apply(state)
        yield from self._run.pictures(self._setup.ticks, state.steps, lambda: self._frame(state))

    def _apply(self, state: Controls) -> None:
        """Give the plate the edges and conductors of a state."""
        before, self._applied = self._applied, state
        if state == replace(before, pen=state.pen, steps=state.steps):
            return
        p = replace(self._setup, config=self.configuration(state)).p
        engine = self._run.engine
        engine.parameters = p
        if state.restarts != before.restarts:
            engine.start()
        else:
            now = engine.state()
            held, free = plate.potentials(p), plate.free_cells(p)
            phi = np.where(free, now["phi"], held).astype(now["phi"].dtype)
            ended = np.full_like(now["ended"], plate.RUNNING)
            engine.load({**now, "phi": phi, "ended": ended})
        self._run.restart()

    def _frame(self, state: Controls) -> Frame:
        """Return the plate in colours."""
        now = self._run.engine.state()
        caption = f"step {self._run.tick:,}"
        if self._run.tick:
            caption += f", largest change {float(now['change'][0]):.2g} V"
        if self._run.over:
            caption += ": the tolerance is met"
        held = self.configuration(state).held
        return Frame(coloured(now["phi"][0], min(held), max(held)), caption)

    def configuration(self, state: Controls) -> LaplaceConfig:
        """Return the configuration of a plate with these edges and conductors."""
        border = state.border if len(set(state.border)) > 1 else state.border[0]
        changed: dict[str, Any] = {"border": border}
        if state.drawn:
            changed["conductor"] = (*self._config.rectangles, *state.drawn)
        return self._config.model_copy(update=changed)


def coloured(potential: NDArray[Any], least: float, most: float) -> NDArray[np.uint8]:
    """Return potentials in colours: blue for the least, green for the middle, red for the greatest.

    Parameters
    ----------
    potential : (row, column) float, V
    least, most : potentials, V

    Returns
    -------
    (row, column, 4) uint8
    """
    span = most - least
    scaled = (potential.astype(np.float64) - least) / (span if span > 0 else 1.0)
    places = np.clip(scaled * 255, 0, 255).astype(np.uint8)
    return _PALETTE[places]


def _palette() -> NDArray[np.uint8]:
    """Return 256 colours, linear between those of the original program; (colour, 4) uint8."""
    at = np.linspace(0, len(SEED_COLOURS) - 1, 256)
    parts = [
        np.interp(at, range(len(SEED_COLOURS)), part) for part in zip(*SEED_COLOURS, strict=True)
    ]
    return np.round(255 * np.stack([*parts, np.ones(256)], axis=1)).astype(np.uint8)


_PALETTE = _palette()
