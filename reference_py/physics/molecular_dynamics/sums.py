"""How are sums over all atoms taken? In double, over the fixed tree of reduce.py.

Device twin: ``kernels/physics/molecular_dynamics/sums.cl``, block by block.
"""

import numpy as np

from reference_py.primitives.reduce import reduce_sum


def sum_of_squares(v):
    """Return the sum over all atoms of the square of the velocity, (atom, axis)."""
    v = v.astype(np.float64)
    squares = (v[:, 0] * v[:, 0] + v[:, 1] * v[:, 1]) + v[:, 2] * v[:, 2]
    return reduce_sum(squares.tolist())
