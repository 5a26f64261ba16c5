"""Which keys does the YAML file of a picture have, with which units, ranges and meanings?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from reference_py.physics.raytracer.parameters import INDEX, Parameters, Scene, Vector, grid
from reference_py.physics.raytracer.vectors import dot, minus
from societies.config.model import (
    Conflict,
    From0,
    From1,
    Interval,
    ListOf,
    Section,
    WorkloadConfig,
    initial,
    key,
    shape,
    value,
)
from societies.physics import PRECISION, Precision
from societies.physics.picture_files import unwritable
from societies.workload.declare.config import (
    INTERVENTIONS,
    InterventionConfig,
    Numbers,
    changed_after,
    changed_copies,
    checkpoints,
)
from societies.workload.declare.naming import parameters_of
from societies.workload.running.points import intervention_conflicts

LARGEST_SIDE = 16_384
LARGEST_NUMBER = 1e9
"""Largest coordinate or radius: rays end at it, and squares of singles are finite."""

LEAST_RADIUS = 1e-9
MOST_OBJECTS = 2**20
MOST_IN_GRID = 101
"""Most spheres along a side of a grid: 101^3 spheres, the marker and the ground still fit."""

TREE_FROM = 64
"""Number of objects from which `auto` selects the tree."""

TILE = 128
VECTORS = (
    *("camera", "look_at", "up", "background"),
    *("centre", "point", "normal", "position", "colour"),
)
"""Keys that hold three numbers."""

SHORTEST = 1e-9
"""Length below which a direction counts as missing."""

Coordinate = Annotated[float, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
Level = Annotated[float, Field(ge=0, le=255)]
Share = Annotated[float, Field(ge=0, le=1)]


class MaterialConfig(Section):
    """Material of an object."""

    colour: ListOf[Level] = key((200.0, 200.0, 200.0), "Red, green and blue, 0 to 255")
    reflect: Share = key(0.0, "Share of light that is reflected; of seed, a mirror from above 0 on")
    transmit: Share = key(0.0, "Share of light that passes, of whitted shading")
    index: float = key(INDEX, "Refractive index", "1", ge=1, le=100)

    @property
    def row(self) -> tuple[float, ...]:
        """Numbers of the material, as `Scene.materials` has them."""
        return (*self.colour, self.reflect, self.transmit, self.index)


class SphereConfig(MaterialConfig):
    """A sphere."""

    centre: ListOf[Coordinate] = key(..., "Centre", "length", examples=[[0.0, 0.0, 0.0]])
    radius: float = key(..., "Radius", "length", ge=LEAST_RADIUS, le=LARGEST_NUMBER, examples=[1.0])


class PlaneConfig(MaterialConfig):
    """A plane without end."""

    point: ListOf[Coordinate] = key(..., "Any of its points", "length", examples=[[0.0, 0.0, 0.0]])
    normal: ListOf[Coordinate] = key(
        ..., "Vector at a right angle to it, of any length", examples=[[0.0, 0.0, 1.0]]
    )


class LightConfig(Section):
    """A point light."""

    position: ListOf[Coordinate] = key(..., "Position", "length", examples=[[0.0, 0.0, 0.0]])
    intensity: float = key(1.0, "Brightness, of whitted shading", "1", ge=0, le=1e6)


class SceneConfig(Section):
    """Objects and lights of a scene."""

    grid: int | None = key(
        None,
        "A cube with this many spheres a side over a ground plane, with a small sphere at the "
        "light, as in the published pictures",
        "spheres",
        ge=1,
        le=MOST_IN_GRID,
    )
    spheres: ListOf[SphereConfig] = key((), "Spheres, instead of a grid")
    planes: ListOf[PlaneConfig] = key((), "Planes, instead of a grid")
    lights: ListOf[LightConfig] | None = key(
        None, "Lights; default: none, and with a grid one at the origin"
    )

    def scene(self) -> Scene:
        """Return the scene as arrays."""
        lights = self.lights or ()
        if self.grid is not None:
            at = _three(lights[0].position) if lights else (0.0, 0.0, 0.0)
            made = grid(self.grid, at)
            if lights:
                made.lights[0, 3] = lights[0].intensity
            return made
        objects = (*self.spheres, *self.planes)
        return Scene(
            np.array([(*one.centre, one.radius) for one in self.spheres]).reshape(-1, 4),
            np.array([(*one.point, *one.normal) for one in self.planes]).reshape(-1, 6),
            np.array([one.row for one in objects]).reshape(-1, 6),
            np.array([(*one.position, one.intensity) for one in lights]).reshape(-1, 4),
        )


class RaytracerIntervention(InterventionConfig):
    """Values of frames that are changed, for good or for some time."""

    sample: int = changed_after("sample")
    frames: Numbers = changed_copies("frames")


class RaytracerRecord(Section):
    """What is recorded in the file, and how often."""

    float_image: bool = key(False, "Keep the picture before it is cut to bytes, too")
    checkpoint: Interval = checkpoints("sample", "the sum of the samples")


class RaytracerConfig(WorkloadConfig):
    """A picture of spheres and planes."""

    workload: Literal["raytracer"] = key("raytracer", "What the file configures")
    width: int = shape(700, "Columns of the picture", "pixels", ge=1, le=LARGEST_SIDE)
    height: int = shape(700, "Rows of the picture", "pixels", ge=1, le=LARGEST_SIDE)
    shading: Literal["seed", "whitted"] = shape(
        "seed",
        "How light is followed: as in the published program, one bounce and fog, or reflected and "
        "refracted up to a depth; glass casts a full shadow",
    )
    bounces: int = shape(
        4, "Of whitted: bounces of a ray, after which it sees the background", "1", ge=0, le=16
    )
    samples: int = shape(
        1, "Samples along a side of a pixel; a picture takes its square", "samples", ge=1, le=32
    )
    repeats: int = key(1, "How often the picture is computed, to time it", "1", ge=1, le=1000)
    precision: Precision = PRECISION
    camera: ListOf[Coordinate] = initial((0.0, 0.0, 0.0), "Position of the camera", "length")
    look_at: ListOf[Coordinate] | None = initial(
        None, "Point straight ahead of the camera; default: along the axis x", "length"
    )
    up: ListOf[Coordinate] = initial((0.0, 0.0, 1.0), "Which way is up in the picture")
    view_width: float = value(1.0, "Width of the view at distance 1", "length", ge=1e-6, le=1e6)
    scene: SceneConfig = shape(SceneConfig(grid=2), "Objects and lights; default: {grid: 2}")
    ambient: float | None = value(
        None, "Share of a colour that is seen without light; default: seed 0.5, whitted 0.2",
        ge=0, le=1e3,
    )  # fmt: skip
    background: ListOf[Level] | None = value(
        None, "Of whitted: what rays see that hit nothing; default: 90, 130, 180"
    )
    falloff: float | None = value(
        None, "Power of the distance with which light fades; default: seed 1.2, whitted 0.5",
        ge=0, le=16,
    )  # fmt: skip
    fog: float | None = value(
        None, "Of seed: share of the fog for each unit of distance; default: 0.03", ge=0, le=1e3
    )
    form: Literal["auto", "brute", "tree"] = shape(
        "auto",
        "Form of the kernels, with the same results: every sphere is tried, or a tree of boxes; "
        "auto: the tree from 64 objects on",
    )
    tile: Literal["auto"] | Annotated[int, Field(ge=8, le=512, multiple_of=8)] = shape(
        "auto",
        "Of brute, seed shading, on a GPU: spheres that a workgroup has in local memory at a time",
        "spheres",
    )
    replicates: From1 = key(
        1,
        "Pictures of the scene that are computed in parallel, which may differ in camera and light",
        "frames",
    )
    first_frame: From0 = key(0, "Number of the first frame", "index")
    interventions: ListOf[RaytracerIntervention] = INTERVENTIONS
    out: str | None = key(None, "File of the picture; default: that of the results, ending in .png")
    record: RaytracerRecord = key(RaytracerRecord, "What is recorded in the file, and how often")

    picture_endings: ClassVar[Collection[str]] = (".png",)

    def picture_path(self, results: Path, frame: int = 0) -> Path:
        """Return the file of a picture: ``out``, or the PNG next to the file of results."""
        path = Path(self.out) if self.out is not None else results.with_suffix(".png")
        return path if frame == 0 else path.with_stem(f"{path.stem}-{frame}")

    def parameters(self, scene: Scene | None = None) -> Parameters:
        """Return the reference's parameters; ``scene`` is the result of `SceneConfig.scene`."""
        seed = self.shading == "seed"
        scene = scene or self.scene.scene()
        form = self.form
        if form == "auto":
            form = "tree" if scene.objects >= TREE_FROM else "brute"
        return parameters_of(
            Parameters,
            self,
            scene=scene,
            side=self.samples,
            camera=_three(self.camera),
            look_at=None if self.look_at is None else _three(self.look_at),
            up=_three(self.up),
            ambient=_or(self.ambient, 0.5 if seed else 0.2),
            background=_three(
                self.background or ((0.0, 0.0, 0.0) if seed else (90.0, 130.0, 180.0))
            ),
            falloff=_or(self.falloff, 1.2 if seed else 0.5),
            fog=_or(self.fog, 0.03),
            form=form,
            tile=TILE if self.tile == "auto" else self.tile,
            float_image=self.record.float_image,
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Yield contradictory keys, invisible scenes, and pictures that cannot be written."""
        yield from intervention_conflicts(self)
        yield from self._of_vectors()
        yield from self._of_scene()
        if all(len(vector or (0, 0, 0)) == 3 for vector in (self.camera, self.look_at, self.up)):
            yield from self._of_camera()
        unused = "background" if self.shading == "seed" else "fog"
        if getattr(self, unused) is not None:
            message = f"{self.shading} shading has no {unused}"
            yield Conflict((unused,), message, (("shading",),))
        if self.out is not None and (
            problem := unwritable(Path(self.out), endings=self.picture_endings)
        ):
            yield Conflict(("out",), problem)

    def _of_vectors(self) -> Iterator[Conflict]:
        """Yield every vector and colour without exactly three numbers."""
        sections: list[tuple[tuple[str | int, ...], Section]] = [((), self)]
        for name in ("spheres", "planes", "lights"):
            for number, one in enumerate(getattr(self.scene, name) or ()):
                sections.append((("scene", name, number), one))
        for path, section in sections:
            for name in VECTORS:
                vector = getattr(section, name, None)
                if vector is not None and len(vector) != 3:
                    yield Conflict(
                        (*path, name), f"three numbers are needed; these are {len(vector)}"
                    )

    def _of_scene(self) -> Iterator[Conflict]:
        scene = self.scene
        if scene.grid is not None:
            for name in ("spheres", "planes"):
                if getattr(scene, name):
                    yield Conflict(("scene", name), "a grid has its own objects; leave out one")
            if scene.lights is not None and len(scene.lights) != 1:
                yield Conflict(
                    ("scene", "lights"), f"a grid has one light; these are {len(scene.lights)}"
                )
        objects = len(scene.spheres) + len(scene.planes)
        if objects > MOST_OBJECTS:
            yield Conflict(("scene",), f"{objects} objects; at most {MOST_OBJECTS} are seen")
        for name in ("spheres", "planes"):
            for number, one in enumerate(getattr(scene, name)):
                if one.reflect + one.transmit > 1:
                    yield Conflict(
                        ("scene", name, number, "transmit"),
                        f"{one.reflect} reflected and {one.transmit} transmitted are more than "
                        "all light",
                    )
        for number, plane in enumerate(scene.planes):
            if len(plane.normal) == 3 and length(plane.normal) < SHORTEST:
                message = f"a normal of length {length(plane.normal):g} has no direction"
                yield Conflict(("scene", "planes", number, "normal"), message)

    def _of_camera(self) -> Iterator[Conflict]:
        if self.look_at is None:
            return
        ahead = [p - c for p, c in zip(self.look_at, self.camera, strict=True)]
        if length(ahead) < SHORTEST:
            yield Conflict(("look_at",), "it is the position of the camera", (("camera",),))
        elif length(self.up) < SHORTEST:
            yield Conflict(("up",), f"a vector of length {length(self.up):g} has no direction")
        else:
            u, f = ([x / length(v) for x in v] for v in (self.up, ahead))
            if length(minus(u, [dot(u, f) * x for x in f])) < SHORTEST:
                yield Conflict(("up",), "the camera looks along it", (("look_at",), ("camera",)))


def length(vector: Any) -> float:
    """Return the length of a vector."""
    return math.hypot(*vector)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _three(vector: tuple[float, ...]) -> Vector:
    x, y, z = vector
    return (float(x), float(y), float(z))
