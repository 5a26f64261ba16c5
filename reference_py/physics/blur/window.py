"""What is added up along a row or a column? Weighted pixels, from the first to the last.

Pairs of the same weight are not added first, as that has other bits.
Device twin: ``kernels/physics/blur/window.cl``.
"""

import numpy as np

from reference_py.physics.blur.border import counted, shifted
from reference_py.physics.blur.weights import weights_of


def summed(p, planes, axis):
    """Return the sums along an axis, 2 for rows and 1 for columns; as ``planes``."""
    total = np.zeros_like(planes)
    for k, weight in enumerate(weights_of(p)):
        moved = shifted(planes, k - p.radius, axis, p.border)
        total = total + (weight * moved if p.kind == "gaussian" else moved)
    return total


def mean_of(p, total):
    """Return finished sums: those of a box are divided by the number of pixels."""
    if p.kind == "gaussian":
        return total
    across = counted(p.width, p.radius, p.border)
    count = across * counted(p.height, p.radius, p.border)[:, None]
    return total / count.astype(np.float32)
