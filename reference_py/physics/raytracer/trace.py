"""What does one sample add to the picture? The colour that the ray of every pixel sees.

Device twin: ``kernels/physics/raytracer/trace.cl``.
"""

import numpy as np

from reference_py.physics.raytracer.camera import rays
from reference_py.physics.raytracer.seed_shading import seed_colours
from reference_py.physics.raytracer.whitted import whitted_colour


def trace(p, frame, tick, row, until, number):
    """Add a sample's colours to ``sum`` in the rows from ``row`` to before ``until``.

    The first sample of a picture replaces what the sum was.
    """
    origin, towards = rays(p, frame.view, number, row, until)
    towards = [x.ravel() for x in towards]
    with np.errstate(all="ignore"):  # spheres beyond all numbers are not hit
        if p.shading == "seed":
            seen = seed_colours(p, frame, origin, towards)
        else:
            ray = zip(*towards, strict=True)
            seen = np.array([whitted_colour(p, frame, origin, list(one)) for one in ray], p.num)
    seen = seen.reshape(until - row, p.width, 3)
    before = frame.sum[row:until] if number else np.zeros_like(seen)
    frame.sum[row:until] = before + seen
