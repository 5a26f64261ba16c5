"""How does a window show moving atoms, and what can be changed meanwhile?

The temperature and density at the start, which restart the box, and the side from which the box is
seen, which has no effect on the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.molecular_dynamics.parameters import NONE, WIDER, Parameters
from societies.physics.molecular_dynamics.config import MolecularDynamicsConfig
from societies.physics.molecular_dynamics.picture import picture
from societies.workload import Setup
from societies.workload.declare.view import (
    Button,
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

MOST_STEPS = 100
"""Steps from one picture to the next, at most."""

MOST_TEMPERATURE, LEAST_DENSITY, MOST_DENSITY = 5.0, 0.01, 1.2
"""Ranges of the sliders, in epsilon and 1/sigma^3; a configuration may go beyond them."""

TURN = 0.01
"""Radians by which the box turns while the mouse moves by a pixel."""


@dataclass(frozen=True)
class MolecularDynamicsLook:
    """The settings of the controls.

    Attributes
    ----------
    temperature, density : at the start
    steps : number of steps from one picture to the next
    around, over : angles from which the box is seen, in radians
    restarts : how often the box was restarted
    """

    temperature: float
    density: float
    steps: int = 5
    around: float = 0.4
    over: float = 0.3
    restarts: int = 0


class AtomsView:
    """A box of atoms that move; of several, the first."""

    def __init__(self, setup: Setup[MolecularDynamicsConfig, Parameters]) -> None:
        config = setup.config
        self._setup, self._config = setup, config
        self.title = f"{config.number_of_atoms:,} atoms in a periodic box"
        self.initial = MolecularDynamicsLook(config.temperature, config.density)
        self._run = Stepwise(setup)
        self._restarts = 0

    def controls(self, state: MolecularDynamicsLook) -> list[Control]:
        """Return the controls of a state without those that have no effect on these atoms."""
        found: list[Control] = [Mouse(drag="the box around its centre")]
        if self._config.velocities == "normal":
            least = 0.01 if self._config.thermostat == "rescale" else 0.0
            most = max(MOST_TEMPERATURE, self.initial.temperature)
            found.append(
                Slider("temperature", "temperature [epsilon]", state.temperature, least, most, 0.01)
            )
        if self._config.atoms is None:
            density = (LEAST_DENSITY, self._densest(), 0.001)
            found.append(Slider("density", "density [1/sigma^3]", state.density, *density))
        return [
            *found,
            Slider("steps", "steps from one picture to the next", state.steps, 1, MOST_STEPS, 1),
            Button("restart", "Restart"),
            Button("reset", "Reset"),
        ]

    def _densest(self) -> float:
        """Return the density of the smallest box that is two cutoffs, or three cells, long."""
        config = self._config
        least = 2.0 * config.cutoff
        if config.variant not in ("auto", "all_pairs"):
            least = 3.0 * WIDER * self._setup.p.reach
        fits = np.floor(config.number_of_atoms / (least * (1.0 + 1e-9)) ** 3 * 1000.0) / 1000.0
        return max(min(MOST_DENSITY, float(fits)), self.initial.density)

    def take(
        self, state: MolecularDynamicsLook, event: Event[MolecularDynamicsLook]
    ) -> MolecularDynamicsLook:
        """Return the state after an event."""
        match event:
            case Drag(began, _, _, dx, dy):
                around, over = began.around + TURN * dx, began.over + TURN * dy
                return replace(state, around=around, over=over)
            case Press("restart"):
                return replace(state, restarts=state.restarts + 1)
            case Press("reset"):
                return replace(self.initial, restarts=state.restarts + 1)
        return after_change(state, event)

    def frames(self, state: MolecularDynamicsLook) -> Iterator[Frame | None]:
        """Yield the current atoms, then the atoms after every `steps` steps until the last one."""
        config = self.configuration(state)
        start = state.temperature, state.density  # with others the box begins again
        self._run.begin(config, start, again=state.restarts != self._restarts)
        self._restarts = state.restarts
        yield from self._run.pictures(self._setup.ticks, state.steps, lambda: self._frame(state))

    def _frame(self, state: MolecularDynamicsLook) -> Frame:
        """Return the picture of the atoms."""
        now = self._run.engine.state()
        x, v = (now[name][0].astype(np.float64) for name in "xv")
        p = replace(self._setup, config=self.configuration(state)).p
        caption = f"step {self._run.tick:,}, temperature {temperature(v, p.degrees):.4g}"
        if now["overlap"][0] != NONE:
            self._run.over = True
            caption += f": atom {now['overlap'][0]} is too close to another one"
        speeds = np.sqrt((v**2).sum(axis=1))
        return Frame(picture(x, speeds, p.length, state.around, state.over), caption)

    def configuration(self, state: MolecularDynamicsLook) -> MolecularDynamicsConfig:
        """Return the configuration of a box that begins with this temperature and density."""
        start = {"temperature": state.temperature, "density": state.density}
        changed = {name: one for name, one in start.items() if one != getattr(self.initial, name)}
        return self._config.model_copy(update=changed)


def temperature(v: NDArray[np.float64], degrees: int) -> float:
    """Return the temperature, in epsilon, of atoms with velocities (atom, axis), for display."""
    return float((v**2).sum()) / max(degrees, 1)
