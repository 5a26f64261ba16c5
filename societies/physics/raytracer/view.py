"""How does a window show a scene while the mouse moves the camera and sliders move lights?"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.raytracer.parameters import Parameters, Scene, Vector
from societies.physics.raytracer.config import (
    SHORTEST,
    LightConfig,
    RaytracerConfig,
    length,
)
from societies.workload import Setup, Step
from societies.workload.declare.view import (
    LAUNCH_SECONDS,
    Button,
    Change,
    Choice,
    Control,
    Drag,
    Event,
    Frame,
    Mouse,
    Press,
    Slider,
    Wheel,
    after_change,
)
from societies.workload.running.engines import DeviceEngine, Engine, engine_on
from societies.workload.running.pace import paced

PER_PIXEL, PER_NOTCH = 0.01, 0.3
"""Movement of the camera per pixel of a drag, and per notch of the wheel."""

REACH, FINE = 30.0, 0.001
"""Range of the light's coordinates, and the step of their sliders."""

MOST_SAMPLES, MOST_IN_GRID = 32, 16
ENGINES = 4
"""Most cached engines, for scenes of different sizes and for both shadings."""

PREVIEWS = 6
"""Most cached engines of previews, one for each share; together they have as many pixels as one
whole picture."""


@dataclass(frozen=True)
class RaytracerLook:
    """The settings of the controls.

    Attributes
    ----------
    camera : position of the camera
    lights : position of each light
    light : index of the light that the sliders move
    shading, samples : as in the configuration
    grid : spheres along a side of the grid, None where the scene is a list
    """

    camera: Vector
    lights: tuple[Vector, ...]
    light: int
    shading: str
    samples: int
    grid: int | None


class SceneView:
    """A scene whose camera the mouse moves."""

    def __init__(self, setup: Setup[RaytracerConfig, Parameters]) -> None:
        config, p = setup.config, setup.p
        self._setup, self._config = setup, config
        self._engines: OrderedDict[Any, Engine] = OrderedDict()
        self._small: OrderedDict[Any, Engine] = OrderedDict()
        lights = tuple((x, y, z) for x, y, z, _ in p.scene.lights.tolist())
        self.initial = RaytracerLook(
            p.camera, lights, 0, config.shading, config.samples, config.scene.grid
        )
        self.title = f"{p.scene.objects:,} objects, {p.width} x {p.height} pixels"
        self._pixels = p.width * p.height // 16  # pixels per launch
        self._most = p.width * p.height
        self._scene: tuple[Any, Scene] | None = None
        self._engine(p)  # reports a kernel that does not build before the window opens

    def controls(self, state: RaytracerLook) -> list[Control]:
        """Return the controls of a state."""
        controls: list[Control] = [
            Mouse(drag="camera left, right, up, down", wheel="camera forward, back")
        ]
        if len(state.lights) > 1:
            words = [str(number + 1) for number in range(len(state.lights))]
            controls.append(Choice("light", "light to move", words[state.light], words))
        if state.lights:
            for name, at in zip("xyz", state.lights[state.light], strict=True):
                reach = max(REACH, abs(at))
                controls.append(Slider(name, f"light {name}", at, -reach, reach, FINE))
        if state.grid is not None:
            most = max(MOST_IN_GRID, self.initial.grid or 0)
            controls.append(
                Slider("grid", "spheres along a side of the grid", state.grid, 1, most, 1)
            )
        samples = "samples along a side of a pixel"
        return [
            *controls,
            Slider("samples", samples, state.samples, 1, MOST_SAMPLES, 1),
            Choice("shading", "shading", state.shading, ("seed", "whitted")),
            Button("reset", "Reset"),
        ]

    def take(self, state: RaytracerLook, event: Event[RaytracerLook]) -> RaytracerLook:
        """Return the state after an event."""
        match event:
            case Drag():
                _, y, z = event.began.camera
                x = state.camera[0]  # the wheel may turn during a drag
                return self._seen_from(
                    state, (x, y + PER_PIXEL * event.dx, z + PER_PIXEL * event.dy)
                )
            case Wheel():
                x, y, z = state.camera
                return self._seen_from(state, (x + PER_NOTCH * event.turns, y, z))
            case Change("light", str(word)):
                return replace(state, light=int(word) - 1)
            case Change("x" | "y" | "z" as name, float(value)):
                at = list(state.lights[state.light])
                at["xyz".index(name)] = round(value, 6)
                lights = list(state.lights)
                lights[state.light] = (at[0], at[1], at[2])
                return replace(state, lights=tuple(lights))
            case Press("reset"):
                return self.initial
        return after_change(state, event)

    def _seen_from(self, state: RaytracerLook, camera: Vector) -> RaytracerLook:
        """Return the state with a new camera, unless it would be at the point that it looks at."""
        x, y, z = (round(number, 6) for number in camera)
        ahead = self._config.look_at
        if ahead is not None:
            forward = [p - c for p, c in zip(ahead, (x, y, z), strict=True)]
            up = self._config.up
            aside = np.cross(up, forward)
            if length(forward) < SHORTEST or length(aside) < SHORTEST * length(forward) * length(
                up
            ):
                return state
        return replace(state, camera=(x, y, z))

    def frames(self, state: RaytracerLook) -> Iterator[Frame | None]:
        """Yield the picture after each sample, and None after each launch."""
        p = self._parameters(state)
        engine = self._engine(p)
        for number in range(p.samples):
            yield from self._sample(engine, p, number)
            yield Frame(_shown(engine), _caption(state, f"sample {number + 1} of {p.samples}"))

    def preview(self, state: RaytracerLook, share: float) -> Iterator[Frame | None]:
        """Yield the picture of the first sample with a share of the pixels."""
        whole = self._parameters(state)
        width, height = (max(1, round(side * share**0.5)) for side in (whole.width, whole.height))
        p = replace(whole, width=width, height=height)
        engine = self._engine(p, preview=True)
        yield from self._sample(engine, p, 0)
        caption = _caption(state, f"preview of {width} x {height} pixels")
        yield Frame(_shown(engine), caption, (whole.height, whole.width))

    def _parameters(self, state: RaytracerLook) -> Parameters:
        """Return the parameters of a state; the scene is rebuilt only if it has changed."""
        config, of = self.configuration(state), (state.grid, state.lights)
        if self._scene is None or self._scene[0] != of:
            self._scene = (of, config.scene.scene())
        return config.parameters(self._scene[1])

    def _sample(self, engine: Engine, p: Parameters, number: int) -> Iterator[None]:
        """Trace a sample in launches of about `LAUNCH_SECONDS` each."""
        row = 0
        while row < p.height:
            until = min(row + max(1, self._pixels // p.width), p.height)
            began = time.perf_counter()
            rows = {"row": row, "until": until, "number": number}
            engine.step(Step("trace", arguments=rows), number + 1)
            engine.wait()
            took, pixels = time.perf_counter() - began, (until - row) * p.width
            self._pixels = paced(pixels, took, LAUNCH_SECONDS, self._most)
            row = until
            yield None
        engine.step(Step("show", arguments={"number": number}), number + 1)

    def _engine(self, p: Parameters, *, preview: bool = False) -> Engine:
        """Return an engine that is about to trace the first sample.

        Only changed data are uploaded. Other sizes or kernels need a new engine; kernels are built
        only if no cached engine has them.
        """
        scene, cache = p.scene, self._small if preview else self._engines
        lengths = (len(scene.spheres), len(scene.planes), len(scene.lights))
        key = (p.shading, p.form, p.side, p.width, p.height, *lengths)
        if key not in cache:
            if len(cache) == (PREVIEWS if preview else ENGINES):
                cache.popitem(last=False)
            cache[key] = self._made(p)
        cache.move_to_end(key)
        engine = cache[key]
        engine.set_parameters(p)
        return engine

    def _made(self, p: Parameters) -> Engine:
        """Return a new engine; it reuses the kernels of a cached engine if they are the same."""
        alike = [
            one
            for one in (*self._engines.values(), *self._small.values())
            if isinstance(one, DeviceEngine)
            and (one.parameters.shading, one.parameters.form) == (p.shading, p.form)
        ]
        like = {"like": alike[-1].built} if alike else {}
        return engine_on(self._setup.device, self._setup.workload, p, **like)

    def configuration(self, state: RaytracerLook) -> RaytracerConfig:
        """Return the configuration of the picture of a state."""
        config = self._config
        scene: dict[str, Any] = {"grid": state.grid}
        if state.lights != self.initial.lights:
            old = config.scene.lights or (LightConfig(position=(0.0, 0.0, 0.0)),)
            scene["lights"] = tuple(
                one.model_copy(update={"position": at})
                for one, at in zip(old, state.lights, strict=True)
            )
        changed: dict[str, Any] = {
            "camera": state.camera,
            "scene": config.scene.model_copy(update=scene),
            "samples": state.samples,
            "shading": state.shading,
        }
        if state.shading != config.shading:  # only one of the shadings has these keys
            changed |= {"fog": None, "background": None}
        return config.model_copy(update=changed)


def _shown(engine: Engine) -> NDArray[np.uint8]:
    """Return the current picture, with alpha; (row, column, 4) uint8."""
    picture = engine.arrays("picture")["picture"][0]
    pixels = np.full((*picture.shape[:2], 4), 255, np.uint8)
    for channel in range(3):  # all three at once is several times slower in NumPy
        pixels[:, :, channel] = picture[:, :, channel]
    return pixels


def _caption(state: RaytracerLook, words: str) -> str:
    """Return a caption with the position of the camera and ``words``."""
    return f"camera ({', '.join(f'{x:g}' for x in state.camera)}), {words}"
