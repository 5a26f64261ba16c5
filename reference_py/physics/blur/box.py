"""What is the mean of all pixels of a window, rounded to a whole number?

The sum is exact, so every way to add it up gives the same. Halves, which occur with an even number
of pixels alone (at an "available" border), are rounded up.
Device twin: ``kernels/physics/blur/box.cl``.
"""

import numpy as np

from reference_py.physics.blur.border import counted, shifted


def box(p, image, tick):
    """Replace every pixel by the mean of the (2 radius + 1)^2 around it."""
    total = image.planes.astype(np.int64)
    for axis in (2, 1):
        moved = (shifted(total, k, axis, p.border) for k in range(-p.radius, p.radius + 1))
        total = sum(moved, np.zeros_like(total))
    count = counted(p.width, p.radius, p.border) * counted(p.height, p.radius, p.border)[:, None]
    image.planes, image.next = ((2 * total + count) // (2 * count)).astype(np.uint8), image.planes
