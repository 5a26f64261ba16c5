"""What is the mean of a pixel's four direct neighbours? The pixel itself has no part in it.

So a chessboard never fades: it flips with every pass. Arithmetic "seed" cuts off the fraction, and
the image darkens. Device twin: ``kernels/physics/blur/neighbours.cl``.
"""

import numpy as np

from reference_py.physics.blur.border import counted, shifted


def neighbours(p, image, tick):
    """Replace every pixel by the mean of those next to it, above and below it."""
    exact = np.int64 if p.whole else np.float32
    planes = image.planes.astype(exact)
    moves = ((1, 2), (-1, 2), (-1, 1), (1, 1))  # east, west, north, south
    east, west, north, south = (shifted(planes, by, axis, p.border) for by, axis in moves)
    total = ((east + west) + north) + south
    horizontal = counted(p.width, 1, p.border) - 1
    count = (horizontal[None, :] + (counted(p.height, 1, p.border) - 1)[:, None]).astype(exact)
    if p.border == "available" and p.width == p.height == 1:
        mean = planes  # it has no neighbours
    elif p.whole:
        mean = total // count
    else:
        mean = total / count
    image.planes, image.next = mean.astype(p.dtype), image.planes
