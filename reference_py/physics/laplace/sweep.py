"""What does every free cell become in one step: its neighbours' mean, or what heat makes of it?

The five-point rule of Laplace's equation (Jacobi's iteration) and the explicit step of the heat
equation. With ratio 1/4 the two are the same in exact arithmetic and differ in their last digits.
Device twin: ``kernels/physics/laplace/sweep.cl``.
"""

import numpy as np


def sweep(p, plate, tick):
    """Fill ``next`` from ``phi``. All cells are computed from the old values, so order is free."""
    phi, middle = plate.phi, plate.phi[1:-1, 1:-1]
    east, south, west, north = phi[1:-1, 2:], phi[2:, 1:-1], phi[1:-1, :-2], phi[:-2, 1:-1]
    around = ((east + west) + south) + north
    if p.method == "jacobi":
        new = p.num(0.25) * around
    else:
        new = middle + p.num(p.ratio) * (around - p.num(4.0) * middle)
    following = phi.copy()
    following[1:-1, 1:-1] = np.where(plate.free[1:-1, 1:-1], new, middle)
    plate.next = following
