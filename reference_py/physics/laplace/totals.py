"""What is reported of a plate at the end? The sum of its potentials, and how far it is off.

In double in both precisions, added over the fixed tree of reduce.py, row after row.
Device twin: ``kernels/physics/laplace/totals.cl``.
"""

import math

import numpy as np

from reference_py.primitives.reduce import reduce_sum


def totals(p, plate, tick):
    """Fill ``sum`` and ``residual``: the root of the sum of all cells' squared residuals."""
    plate.sum = reduce_sum(plate.phi.ravel().tolist())
    of_cell = residuals(plate)
    plate.residual = math.sqrt(reduce_sum((of_cell * of_cell).ravel().tolist()))


def residuals(plate):
    """Return by how much the mean of its neighbours exceeds a free cell, else 0; float64."""
    phi = plate.phi.astype(np.float64)
    east, south, west, north = phi[1:-1, 2:], phi[2:, 1:-1], phi[1:-1, :-2], phi[:-2, 1:-1]
    found = np.zeros_like(phi)
    found[1:-1, 1:-1] = 0.25 * (((east + west) + south) + north) - phi[1:-1, 1:-1]
    return np.where(plate.free, found, 0.0)
