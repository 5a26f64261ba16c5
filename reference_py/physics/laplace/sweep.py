"""What does every free cell become in one step: its neighbours' mean, or what heat makes of it?

The five-point rule of Laplace's equation (Jacobi's iteration) and the explicit step of the heat
equation. With ratio 1/4 the two are the same in exact arithmetic and differ in their last digits.
Of successive over-relaxation it is the first half of the step, of the red cells (black.py).
Device twin: ``kernels/physics/laplace/sweep.cl``.
"""

import numpy as np

from reference_py.physics.laplace.rule import neighbours, ruled


def sweep(p, plate, tick):
    """Fill ``next`` from ``phi``. All cells are computed from the old values, so order is free."""
    plate.next = stepped(p, plate.phi, plate.free & red(p) if p.method == "sor" else plate.free)


def stepped(p, phi, free):
    """Return the potentials after a step of the cells that are free."""
    following = phi.copy()
    middle = phi[1:-1, 1:-1]
    new = ruled(p, middle, neighbours(phi))
    following[1:-1, 1:-1] = np.where(free[1:-1, 1:-1], new, middle)
    return following


def red(p):
    """Return which cells are red: their row and column add up to an even number."""
    return np.indices((p.rows, p.columns)).sum(0) % 2 == 0
