"""How does a window show a picture while it is blurred, pass after pass?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.blur.parameters import Parameters
from societies.physics.blur.config import BlurConfig
from societies.workload import Setup
from societies.workload.declare.view import (
    Button,
    Control,
    Event,
    Frame,
    Press,
    Slider,
    after_change,
)
from societies.workload.running.stepwise import Stepwise

MOST_RADIUS, MOST_SIGMA, MOST_PASSES = 40, 10.0, 100
"""Largest values of the sliders; a configuration may have larger ones."""


@dataclass(frozen=True)
class BlurLook:
    """The settings of the controls. ``radius`` and ``sigma`` are in pixels."""

    passes: int
    radius: int
    sigma: float


class BlurView:
    """A picture that is being blurred; of several frames, the first."""

    def __init__(self, setup: Setup[BlurConfig, Parameters]) -> None:
        config = setup.config
        self._config, self._run = config, Stepwise(setup)
        height, width = config.source.planes.shape[2:]
        self.title = f"{config.kind}, a picture of {width} x {height} pixels"
        self.initial = BlurLook(config.passes, config.window, config.deviation)

    def controls(self, state: BlurLook) -> list[Control]:
        """Return the controls of a state."""
        kind = self._config.kind
        found: list[Control] = [Slider("passes", "passes", state.passes, 0, MOST_PASSES, 1)]
        if kind == "box":
            found.append(Slider("radius", "radius [pixels]", state.radius, 0, MOST_RADIUS, 1))
        if kind == "gaussian":
            found.append(Slider("sigma", "sigma [pixels]", state.sigma, 0.1, MOST_SIGMA, 0.1))
        return [*found, Button("reset", "Reset")]

    def take(self, state: BlurLook, event: Event[BlurLook]) -> BlurLook:
        """Return the state after an event."""
        return self.initial if event == Press("reset") else after_change(state, event)

    def frames(self, state: BlurLook) -> Iterator[Frame | None]:
        """Yield the original picture, then the picture after every pass."""
        config = self.configuration(state)
        self._run.begin(config, config.model_copy(update={"passes": 0}))
        yield from self._run.pictures(state.passes, 1, lambda: self._frame(state))

    def _frame(self, state: BlurLook) -> Frame:
        """Return the picture after the last pass."""
        done = self._run.tick
        shown = f"pass {done} of {state.passes}" if done else "before the first pass"
        return Frame(_pixels(self._run.engine.state()["planes"][0]), shown)

    def configuration(self, state: BlurLook) -> BlurConfig:
        """Return the configuration with the window and passes of a state."""
        changed: dict[str, Any] = {"passes": state.passes}
        if self._config.kind == "box":
            changed["radius"] = state.radius
        if self._config.kind == "gaussian":
            changed["sigma"] = state.sigma
        return self._config.model_copy(update=changed)


def _pixels(planes: NDArray[Any]) -> NDArray[np.uint8]:
    """Return planes (channel, row, column) as pixels (row, column, 4) uint8."""
    shown = np.clip(np.rint(planes), 0, 255).astype(np.uint8)
    colours = shown if len(shown) == 3 else np.repeat(shown[:1], 3, axis=0)
    opaque = np.full_like(colours[:1], 255)
    return np.ascontiguousarray(np.moveaxis(np.concatenate([colours, opaque]), 0, 2))
