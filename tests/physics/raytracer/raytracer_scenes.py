"""Scenes of the tests, and their pictures by each engine."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from reference_py.physics.raytracer.parameters import INDEX, Parameters, Scene, grid
from societies.physics.raytracer import WORKLOAD
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, ReferenceEngine

ORACLES = json.loads(
    (Path(__file__).resolve().parents[2] / "data" / "physics" / "raytracer.json").read_text()
)
WHITE = (255.0, 255.0, 255.0)


def scene(spheres=(), planes=(), lights=()):
    """Return a scene; an object is (numbers, colour, reflected, transmitted, index), or less."""
    rows = []
    for _, *material in (*spheres, *planes):
        defaults = [WHITE, 0.0, 0.0, INDEX]
        colour, *rest = [*material, *defaults[len(material) :]]
        rows.append((*colour, *rest))

    def table(numbers, columns):
        return np.array(list(numbers), np.float64).reshape(-1, columns)

    return Scene(
        table((one[0] for one in spheres), 4),
        table((one[0] for one in planes), 6),
        table(rows, 6),
        table(lights, 4),
    )


SCENE_A = scene(
    [
        ((4, 0, 0, 1), (200, 60, 40)),
        ((3, 1.2, -0.4, 0.6), WHITE, 0.9),
        ((2.5, -0.9, -0.5, 0.5), WHITE, 0.05, 0.9),
        ((5, -1.5, 0.8, 0.7), (60, 120, 220), 0.3),
    ],
    [((0, 0, -1, 0, 0, 1), (180, 180, 170), 0.1)],
    [(0, 3, 4, 1.5), (1, -4, 3, 0.8)],
)
FURNACE = scene([((3, 0, 0, 1), WHITE, 0.2, 0.8), ((4, 0.5, 0.3, 0.8), WHITE, 1.0)])
WHITTED = Parameters(
    FURNACE, 32, 32, "whitted", ambient=0.2, background=(90.0, 130.0, 180.0), falloff=0.5
)
"""What whitted shading has by default, in a small picture."""


def seed_picture(count, camera, light, width, height):
    """Return the parameters of a picture of the published program."""
    return Parameters(grid(count, light), width, height, camera=camera)


def picture_of_a(width, height, side, bounces):
    """Return the parameters of a picture of scene A."""
    return replace(
        WHITTED,
        scene=SCENE_A,
        width=width,
        height=height,
        side=side,
        bounces=bounces,
        camera=(-1.0, 0.0, 0.3),
    )


def furnace():
    """Return the parameters of a picture that must show nothing but its background."""
    return replace(WHITTED, bounces=8, background=(100.0, 150.0, 200.0))


def frame(p, device=None, samples=None, **more):
    """Return the state after all samples, or the first few; without a device by the reference."""
    p = replace(p, float_image=True)
    if device is None:
        engine = ReferenceEngine(WORKLOAD, p)
    else:
        engine = DeviceEngine(WORKLOAD, p, device, **more)
    engine.start()
    last = samples or p.samples
    for first in range(1, last + 1, LOG_TICKS):
        engine.run_ticks(first, min(last, first + LOG_TICKS - 1))
    return {name: array[0] for name, array in engine.state().items()}


def same(one, other):
    """Return whether two frames have the same bits in all that is computed."""
    return all(one[name].tobytes() == other[name].tobytes() for name in ("sum", "picture", "mean"))


def scene_at_random(rng):
    """Return a scene of up to 200 spheres: scattered, touching, nested, equal or huge ones."""
    count = int(rng.choice([0, 1, 3, 20, 70, 200]))
    centres = rng.normal((4, 0, 0), 2, (count, 3))
    radii = rng.uniform(0.05, 0.8, count)
    kind = ("scattered", "touching", "nested", "equal", "huge")[rng.integers(5)]
    if kind == "touching":
        centres, radii = np.round(centres), np.full(count, 0.5)
    elif kind in ("nested", "equal"):
        centres[1::2] = centres[::2][: count // 2]
        if kind == "equal":
            radii[1::2] = radii[::2][: count // 2]
    elif kind == "huge":
        radii[::7] = 10 ** rng.uniform(0, 8, len(radii[::7]))
    spheres = np.column_stack([centres, radii])
    planes = np.array([(0, 0, -1, 0, 0, 1), (0, 3, 0, 1, -2, 0.5)])[: rng.integers(3)]
    objects = count + len(planes)
    materials = np.column_stack(
        [
            rng.uniform(0, 255, (objects, 3)),
            rng.choice([0, 0, 0.3, 0.9], objects),
            rng.choice([0, 0, 0.1], objects),
            rng.choice([1, 1.5, 2.4], objects),
        ]
    )
    lights = np.abs(rng.normal(0, 4, (rng.integers(3), 4)))
    return Scene(spheres, planes.astype(float), materials, lights)


def picture_at_random(number):
    """Return the parameters of a small picture of `scene_at_random`; many rays follow the axes."""
    rng = np.random.default_rng(number)
    shading = ("seed", "whitted")[number % 2]
    return Parameters(
        scene_at_random(rng),
        int(rng.choice([1, 15, 24])),
        int(rng.choice([1, 9, 16])),
        shading,
        int(rng.integers(0, 6)),
        int(rng.integers(1, 3)),
        precision=("single", "double")[number // 2 % 2],
        camera=tuple(np.round(rng.normal(0, 2, 3))),
        look_at=(4.0, 0.0, 0.0) if rng.random() < 0.5 else None,
        background=(90.0, 130.0, 180.0) if shading == "whitted" else (0.0, 0.0, 0.0),
        view_width=float(rng.choice([0.01, 1, 3])),
    )
