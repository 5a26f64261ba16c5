"""What does the workload that makes pictures by ray tracing declare?

The rules are in ``reference_py/physics/raytracer``, the kernels in ``kernels/physics/raytracer``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from reference_py.physics.raytracer.parameters import Parameters, Scene
from societies.physics.raytracer import figure
from societies.physics.raytracer.config import RaytracerConfig
from societies.physics.raytracer.layout import SphereArrays, layout
from societies.workload import Field, Phase, Source, Step, Workload, phase
from societies.workload.declare.view import shown_by

FOLDER = "physics/raytracer"
TILE = 16, 8
"""Columns and rows of a workgroup's pixels: one per work-item on a GPU; on a CPU one work-item has
all."""

LAUNCH_TESTS = 1 << 31
"""Approximate limit of intersection tests per launch: a third of a second on two
cores."""

TREE_TESTS = 64
"""Approximate number of intersection tests of a ray in a tree."""


class Raytracer(Workload[RaytracerConfig, Parameters]):
    """Frames of one size that are traced in parallel."""

    name = "raytracer"
    summary = "pictures of spheres and planes by ray tracing, with reflection and refraction"
    config = RaytracerConfig
    clock, copies, work = "sample", "frame", "ray"
    timed, part_is_phase, numbered = True, True, True
    derived = ("view_height",)
    numpy, twins, items = True, "reference_py.physics.raytracer", TILE[0] * TILE[1]
    figure = staticmethod(figure.figure)
    contents_class = "societies.physics.raytracer.picture:WithRenderedPicture"
    report_class = "societies.physics.picture_outputs:PictureReport"
    view = shown_by("societies.physics.raytracer.view:SceneView")
    step_arguments = ("row", "until", "number")

    def ticks(self, config: RaytracerConfig) -> int:
        """Return the number of samples of a pixel over all repetitions of the picture."""
        return config.samples**2 * config.repeats

    def sizes(self, p: Parameters) -> dict[str, int]:
        """Return the sides of a picture, the numbers of objects, and lengths of their rows."""
        return {
            "row": p.height,
            "column": p.width,
            "channel": 3,
            "sphere": len(p.scene.spheres),
            "plane": len(p.scene.planes),
            "object": p.scene.objects,
            "light": len(p.scene.lights),
            "vector": 4,
            "axis": 3,
            "centre_radius": 4,
            "point_normal": 6,
            "property": 6,
            "position_intensity": 4,
        }

    def fields(self, p: Parameters) -> Mapping[str, Field]:
        """Return the arrays of a frame: its scene, the sum of its samples, and its picture."""
        pixels, num = ("row", "column", "channel"), np.dtype(p.num).name

        def constant(dims: tuple[str, ...], meaning: str, made: Callable[[Any], Any]) -> Field:
            return Field(dims, num, "various", meaning, initial=made, constant=True, final=True)

        spheres = "centre (x, y, z) and radius of each sphere"
        planes = "a point (x, y, z) and the unit normal of each plane"
        materials = "red, green, blue, reflected and transmitted share, refractive index"
        lights = "position (x, y, z) and intensity of each light"
        view = "position of the camera, and the unit vectors forward, left and up"
        colours = "red, green and blue of a pixel"
        fields = {
            "spheres": constant(("sphere", "centre_radius"), spheres, lambda p: p.scene.spheres),
            "planes": constant(("plane", "point_normal"), planes, lambda p: p.planes),
            "materials": constant(("object", "property"), materials, lambda p: p.scene.materials),
            "lights": constant(("light", "position_intensity"), lights, lambda p: p.scene.lights),
            "view": constant(("vector", "axis"), view, lambda p: p.view),
            "sum": Field(pixels, num, "1", f"sum over samples of {colours}", within=(None, None)),
            "picture": Field(pixels, "uint8", "1", colours, checkpointed=False, final=True),
        }
        if p.float_image:
            mean = f"{colours} before they are cut to bytes"
            fields["mean"] = Field(pixels, num, "1", mean, checkpointed=False, final=True)
        return fields

    def phases(self, p: Parameters, copies: int) -> Mapping[str, Phase]:
        """Return the kernels of every phase."""
        counts = {
            "sphere_count": len(p.scene.spheres),
            "plane_count": len(p.scene.planes),
            "light_count": len(p.scene.lights),
            "group_count": len(laid_out(p).groups),
            "first_leaf": laid_out(p).first_leaf,
        }

        def groups(step: Mapping[str, int]) -> int:
            return copies * -(-p.width // TILE[0]) * -(-(step["until"] - step["row"]) // TILE[1])

        return {
            "trace": phase(f"{FOLDER}/trace.cl", groups, alone_on_cpu=True, arguments=counts),
            "show": phase(f"{FOLDER}/show.cl", global_size=3 * p.width * p.height * copies),
        }

    def schedule(self, p: Parameters, tick: int, seen: Any) -> Iterator[Step]:
        """Yield the phases of a sample, some rows at a time; tick 0 has none."""
        if tick:
            number = p.number(tick)
            yield from traced(p, number, rows_of_launch(p))
            if number == p.samples - 1:
                yield Step("show", arguments={"number": number})

    def source(self, p: Parameters) -> Source:
        """Return macros and the arguments of all rays; another scene needs no new kernels."""
        macros = {
            **self.macros(p, "shading", "form", "tile"),
            "KEEPS_MEAN": p.float_image,
            "NUM_IS_DOUBLE": p.precision == "double",
        }
        of = laid_out(p)
        arguments = {
            "groups": of.groups,
            "numbers": of.numbers,
            "boxes": of.boxes,
            "bounds": of.bounds,
            "offsets": np.array([p.offset(number) for number in range(p.samples)], p.num),
        }
        return Source(macros, header=self.lookups(p), arguments=arguments)

    def work_done(self, config: RaytracerConfig, ticks: int) -> float:
        """Return the number of rays that leave the camera."""
        return float(config.width * config.height * ticks * self.count(config))

    def require_outputs(self, config: RaytracerConfig, results: Path) -> None:
        """Refuse, before the run starts, to replace a file that Societies did not write."""
        from societies.physics.picture_outputs import require_pictures

        require_pictures(config, results, self.count(config))

    def plan_rows(self, config: RaytracerConfig, p: Parameters) -> list[tuple[str, str]]:
        """Return rows about the scene and the launches of a sample."""
        from societies.physics.raytracer.picture import seen

        launches = -(-p.height // rows_of_launch(p))
        return [
            ("scene", seen(p)),
            ("form", p.form),
            ("launches of a sample", f"{launches}, of {rows_of_launch(p)} rows"),
        ]


def laid_out(p: Parameters) -> SphereArrays:
    """Return the spheres in the layout that kernels read."""
    return _laid_out(p.scene, p.num, p.form == "tree")


@lru_cache(maxsize=4)
def _laid_out(scene: Scene, num: Any, tree: bool) -> SphereArrays:
    """Return the layout of a scene; it is cached, so moves of the camera do not repeat it."""
    return layout(scene.spheres.astype(num), tree=tree)


def traced(p: Parameters, number: int, rows: int) -> Iterator[Step]:
    """Yield the steps of a sample, ``rows`` rows at a time."""
    for row in range(0, p.height, rows):
        until = min(row + rows, p.height)
        of = {"row": row, "until": until, "number": number}
        yield Step("trace", f"rows {row} to {until - 1}", of)


def rows_of_launch(p: Parameters) -> int:
    """Return the number of rows per launch, so that no launch takes long."""
    tests = TREE_TESTS if p.form == "tree" else p.scene.objects + 1
    rays = 2 + len(p.scene.lights)
    if p.shading == "whitted":
        rays *= p.bounces + 1
    return max(1, min(p.height, LAUNCH_TESTS // (tests * rays * p.width)))


WORKLOAD = Raytracer()
