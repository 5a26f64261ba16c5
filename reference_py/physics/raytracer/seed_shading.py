"""What colour does a ray see by the rules of the published program: one bounce, shadows, fog?

Device twin: ``kernels/physics/raytracer/seed_shading.cl``.
"""

import numpy as np

from reference_py.physics.raytracer.nearest import NOTHING, first_seen
from reference_py.physics.raytracer.vectors import dot, faded, minus, over, plus, times

FOG_COLOUR = 128.0


def seed_colours(p, frame, origin, towards):
    """Return the colours that rays see, before they are cut to bytes.

    Parameters
    ----------
    origin : x, y and z, num
    towards : list of x, y and z, each (ray,) num

    Returns
    -------
    (ray, 3) num; black where nothing is hit, and where a mirror reflects nothing
    """
    num, seen = p.num, np.zeros((len(towards[0]), 3), p.num)
    none = np.full(len(towards[0]), NOTHING)
    distance, hit = first_seen(p, frame, origin, towards, none)
    rays = np.flatnonzero(hit != NOTHING)  # of these alone from here on
    distance, hit, towards = distance[rays], hit[rays], [x[rays] for x in towards]
    point = plus(origin, times(distance, towards))
    normal = normals(frame, hit, point)

    colour = frame.materials[hit, :3]
    mirror = frame.materials[hit, 3] > 0
    reflected = minus(towards, times(num(2.0) * dot(towards, normal), normal))
    _, behind = first_seen(p, frame, point, reflected, hit)
    colour = np.where(mirror[:, None], frame.materials[behind, :3], colour)
    black = mirror & (behind == NOTHING)

    part = num(p.fog) * distance
    fog = num(FOG_COLOUR) * np.where(part < 1, part, num(1.0))
    total = num(p.ambient) * colour
    for x, y, z, _ in frame.lights:
        g = light_share(p, frame, [x, y, z], point, normal, hit)
        total = np.where((g > 0)[:, None], total + colour * g[:, None], total)
    seen[rays] = np.where(black[:, None], num(0.0), total - fog[:, None])
    return seen


def normals(frame, hit, point):
    """Return the normal at points of objects that are hit; list of (ray,) num."""
    spheres = len(frame.spheres)
    ball = hit < spheres
    if spheres == 0:
        return list(frame.planes[hit, 3:].T)
    *centre, radius = frame.spheres[np.where(ball, hit, 0)].T
    normal = over(minus(point, centre), radius)
    if len(frame.planes):
        flat = frame.planes[np.where(ball, 0, hit - spheres), 3:].T
        normal = [np.where(ball, x, y) for x, y in zip(normal, flat, strict=True)]
    return normal


def light_share(p, frame, light, point, normal, hit):
    """Return how much of an object's colour a light adds at points of it, 0 in shadow; (ray,) num.

    Shadow rays go from the light to the point, and do not hit the object that the point is on.
    """
    with np.errstate(all="ignore"):  # where the light is at the point
        e = minus(light, point)
        distance = np.sqrt(dot(e, e))
        e = over(e, distance)
        away = [-x for x in e]
        between, blocker = first_seen(p, frame, light, away, hit)
        slope = dot(e, normal)
        lit = ~((blocker != NOTHING) & (between < distance)) & (slope >= 0)
        share = np.zeros_like(distance)
        for i in np.flatnonzero(lit):
            share[i] = (slope[i] * faded(distance[i], p.falloff)) / p.num(len(frame.lights))
    return share
