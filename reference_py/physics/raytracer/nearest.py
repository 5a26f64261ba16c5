"""What does a ray hit first?

A hit replaces the best only if it is nearer, in ascending order of the objects, so ties go to the
lower number. Seed shading is worked out for arrays of rays, whitted shading ray by ray; the two
differ in what counts as a hit.
Device twin: ``kernels/physics/raytracer/nearest.cl``.
"""

import numpy as np

from reference_py.physics.raytracer.vectors import dot, minus, over

FAR = 1e9
"""Where rays end."""

CLOSE = 2.0**-10
"""Of whitted shading: hits that are no farther are those of the object that the ray leaves."""

NOTHING = -1


def sphere_terms(origin, towards, centre, radius):
    """Return b and q: a ray enters and leaves a sphere at -b -+ sqrt(q), and misses if q < 0."""
    v = minus(origin, centre)
    b = dot(v, towards)
    return b, b * b - (dot(v, v) - radius * radius)


def plane_terms(origin, towards, point, normal):
    """Return numerator and denominator of the distance at which a ray meets a plane."""
    return dot(minus(point, origin), normal), dot(towards, normal)


def first_seen(p, frame, origin, towards, ignored):
    """Return what rays of seed shading hit; who is inside a sphere does not see it.

    Parameters
    ----------
    frame : has ``spheres`` (sphere, 4) and ``planes`` (plane, 6), num
    origin, towards : lists of x, y and z, numbers or arrays (ray,) num
    ignored : (ray,) int, the object that a ray never hits, or `NOTHING`

    Returns
    -------
    distance : (ray,) num, `FAR` where nothing is hit
    number : (ray,) int, `NOTHING` where nothing is hit
    """
    best, number = np.full(ignored.shape, FAR, p.num), np.full(ignored.shape, NOTHING)
    zero = p.num(0.0)
    with np.errstate(all="ignore"):
        for i, (*centre, radius) in enumerate(frame.spheres):
            b, q = sphere_terms(origin, towards, centre, radius)
            t = (-b) - np.sqrt(q)
            closer = (q >= zero) & (t > zero) & (t < best) & (ignored != i)
            best, number = np.where(closer, t, best), np.where(closer, i, number)
        for i, plane in enumerate(frame.planes, len(frame.spheres)):
            above, slope = plane_terms(origin, towards, plane[:3], plane[3:])
            t = above / slope
            closer = (above != zero) & (slope != zero) & (t > zero) & (t < best) & (ignored != i)
            best, number = np.where(closer, t, best), np.where(closer, i, number)
    return best, number


def first_hit(p, frame, origin, towards):
    """Return distance and number of what a ray of whitted shading hits, `NOTHING` if nothing.

    All objects are seen from both sides, from the distance `CLOSE` on.
    """
    best, number = p.num(FAR), NOTHING
    least, zero = p.num(CLOSE), p.num(0.0)
    for i, (*centre, radius) in enumerate(frame.spheres):
        b, q = sphere_terms(origin, towards, centre, radius)
        if q >= zero:
            root = np.sqrt(q)
            t = (-b) - root
            if not t > least:
                t = (-b) + root
            if least < t < best:
                best, number = t, i
    for i, plane in enumerate(frame.planes, len(frame.spheres)):
        above, slope = plane_terms(origin, towards, plane[:3], plane[3:])
        t = above / slope
        if least < t < best:
            best, number = t, i
    return best, number


def normal_at(frame, number, point):
    """Return the normal of an object at a point of it, away from a sphere's centre."""
    if number < len(frame.spheres):
        *centre, radius = frame.spheres[number]
        return over(minus(point, centre), radius)
    return list(frame.planes[number - len(frame.spheres)][3:])
