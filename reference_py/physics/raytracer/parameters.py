"""What determines a picture? The scene, the camera, and how light is followed, and how often."""

from dataclasses import dataclass, field
from math import gcd

import numpy as np
from numpy.typing import NDArray

from reference_py.physics.raytracer.camera import basis, direction
from reference_py.primitives.num import num_type

GRID_RADIUS, MARKER_RADIUS = 0.2, 0.1
MARKER_COLOUR, GROUND_COLOUR = (253.0, 204.0, 135.0), (235.0, 206.0, 198.0)
MIRROR_LAYER = 3
INDEX = 1.5
"""Refractive index where none is given: that of common glass."""

Vector = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Scene:
    """Objects, spheres first, each kind in the order in which it is given, and lights.

    Attributes
    ----------
    spheres : (sphere, 4) float64, centre and radius
    planes : (plane, 6) float64, a point and the normal, of any length but 0
    materials : (object, 6) float64: red, green and blue, 0 to 255; the shares of light that are
        reflected and transmitted; the refractive index
    lights : (light, 4) float64, position and intensity
    """

    spheres: NDArray[np.float64]
    planes: NDArray[np.float64]
    materials: NDArray[np.float64]
    lights: NDArray[np.float64]

    @property
    def objects(self) -> int:
        """How many spheres and planes there are."""
        return len(self.spheres) + len(self.planes)


@dataclass(frozen=True)
class Parameters:
    """A picture and how it is computed.

    Attributes
    ----------
    scene : Scene
    width, height : pixels
    shading : "seed" (one bounce, fog) or "whitted" (reflection and refraction to any depth)
    bounces : of whitted, after which a ray is given the background
    side : samples along a side of a pixel; a picture has its square
    repeats : how often the picture is computed; the last time counts
    precision : "single" or "double"
    camera : its position
    look_at, up : a point straight ahead, or None for the axis x; a vector that points upwards
    view_width : width of the view at distance 1
    ambient : share of an object's colour that is seen without a light
    background : colour that rays see which hit nothing
    falloff : power of the distance with which light fades
    fog : of seed, share of the fog per unit of distance
    form, tile : form of the kernels, which changes no result
    float_image : whether the picture is also recorded before it is cut to bytes
    """

    scene: Scene
    width: int = 700
    height: int = 700
    shading: str = "seed"
    bounces: int = 4
    side: int = 1
    repeats: int = 1
    precision: str = "single"
    camera: Vector = (0.0, 0.0, 0.0)
    look_at: Vector | None = None
    up: Vector = (0.0, 0.0, 1.0)
    view_width: float = 1.0
    ambient: float = 0.5
    background: Vector = (0.0, 0.0, 0.0)
    falloff: float = 1.2
    fog: float = 0.03
    form: str = "brute"
    tile: int = 64
    float_image: bool = field(default=False)

    @property
    def num(self):
        """The NumPy type of a number of the picture."""
        return num_type(self.precision)

    @property
    def samples(self) -> int:
        """Samples of a pixel."""
        return self.side * self.side

    @property
    def view_height(self) -> float:
        """Height of the view at distance 1, with square pixels; the seed's view is square."""
        if self.shading == "seed":
            return self.view_width
        return (self.view_width * self.height) / self.width

    @property
    def view(self):
        """The camera: position, forward, left and up; (4, 3) num."""
        return np.array([self.camera, *basis(self.camera, self.look_at, self.up)], self.num)

    @property
    def planes(self):
        """Point and unit normal of every plane; (plane, 6) num."""
        unit = [(*plane[:3], *direction(tuple(plane[3:]))) for plane in self.scene.planes.tolist()]
        return np.array(unit, self.num).reshape(-1, 6)

    def number(self, tick) -> int:
        """Return which sample of its picture a tick computes, from 0."""
        return (tick - 1) % self.samples

    def offset(self, number):
        """Return where in its pixels a sample lies, (across, down) num, from 0 to 1.

        Samples lie on a grid and are taken in a stirred order, so that the first few are spread.
        """
        if self.shading == "seed" and self.side == 1:
            return self.num(0.0), self.num(0.0)
        step = (618 * self.samples + 999) // 1000
        while gcd(step, self.samples) > 1:
            step += 1
        down, across = divmod(number * step % self.samples, self.side)
        sides = self.num(2 * self.side)
        return self.num(2 * across + 1) / sides, self.num(2 * down + 1) / sides


def grid(count, light=(0.0, 0.0, 0.0)) -> Scene:
    """Return the scene of the published pictures: ``count``^3 spheres over a ground plane.

    A small sphere marks the light; it cannot hide anything from it, as the light is inside.
    """
    spheres, materials = [(*light, MARKER_RADIUS)], [(*MARKER_COLOUR, 0.0, 0.0, INDEX)]
    for i in range(count):
        for j in range(count):
            for k in range(count):
                spheres.append((i, j, k, GRID_RADIUS))
                colour = (100 + 10 * i, 100 + 10 * k, 100 + 10 * j)
                materials.append((*colour, float(k == MIRROR_LAYER), 0.0, INDEX))
    materials.append((*GROUND_COLOUR, 0.0, 0.0, INDEX))
    return Scene(
        np.array(spheres, np.float64),
        np.array([(0, 0, -1, 0, 0, 1)], np.float64),
        np.array(materials, np.float64),
        np.array([(*light, 1.0)], np.float64),
    )
