"""What colour does a ray see if it is reflected and refracted (T. Whitted, 1980)?

"An improved illumination model for shaded display", Communications of the ACM 23 (6). The share
that glass reflects is C. Schlick's approximation of Fresnel's formula (1994). Rays wait in a
stack, the refracted one is followed first.
Device twin: ``kernels/physics/raytracer/whitted.cl``.
"""

import numpy as np

from reference_py.physics.raytracer.nearest import NOTHING, first_hit, normal_at
from reference_py.physics.raytracer.vectors import dot, faded, minus, over, plus, times, unit


def whitted_colour(p, frame, origin, towards):
    """Return the colour that a ray sees, before it is cut to bytes: list of red, green, blue, num.

    A ray of more than ``bounces`` bounces is given the background, so that no light is lost.
    """
    num = p.num
    one, two = num(1.0), num(2.0)
    background = [num(x) for x in p.background]
    seen, rays = [num(0.0)] * 3, [(origin, towards, one, 0)]
    while rays:
        origin, towards, weight, depth = rays.pop()
        t, hit = (p.num(0.0), NOTHING)
        if depth <= p.bounces:
            t, hit = first_hit(p, frame, origin, towards)
        if hit == NOTHING:
            seen = plus(seen, times(weight, background))
            continue
        point = plus(origin, times(t, towards))
        normal = normal_at(frame, hit, point)
        slope = dot(towards, normal)
        leaving = slope > 0
        if leaving:
            normal, slope = [-x for x in normal], -slope
        *colour, reflect, transmit, index = frame.materials[hit]
        diffuse = (one - reflect) - transmit
        reflected, refracted = reflect, num(0.0)
        if transmit > 0:
            eta = index if leaving else one / index
            ci = -slope
            m = one - (eta * eta) * (one - ci * ci)
            if m < 0:
                reflected = reflect + transmit  # total reflection
            else:
                ct = np.sqrt(m)
                r0 = (one - index) / (one + index)
                r0 = r0 * r0
                x = one - (ct if leaving else ci)
                x2 = x * x
                share = r0 + (one - r0) * ((x2 * x2) * x)
                reflected = reflect + transmit * share
                refracted = transmit - transmit * share
                through = unit(plus(times(eta, towards), times(eta * ci - ct, normal)))
        if diffuse > 0:
            local = lit(p, frame, point, normal, colour)
            seen = plus(seen, times(weight * diffuse, local))
        if reflected > 0:
            back = unit(minus(towards, times(two * slope, normal)))
            rays.append((point, back, weight * reflected, depth + 1))
        if refracted > 0:
            rays.append((point, through, weight * refracted, depth + 1))
    return seen


def lit(p, frame, point, normal, colour):
    """Return an object's colour under all lights that are not hidden; list of num."""
    local = times(p.num(p.ambient), colour)
    for x, y, z, intensity in frame.lights:
        e = minus([x, y, z], point)
        distance = np.sqrt(dot(e, e))
        if not distance > 0:
            continue  # the light is at the point
        e = over(e, distance)
        slope = dot(e, normal)
        if slope > 0:
            between, blocker = first_hit(p, frame, point, e)
            if blocker == NOTHING or not between < distance:
                g = (intensity * slope) * faded(distance, p.falloff)
                local = plus(local, times(g, colour))
    return local
