"""What is in a random matrix? Uniform numbers of 24 bits between -1 and 1, a stream for each row.

They are exact in both precisions, so products in single and in double have the same factors.
Device twin: ``kernels/physics/matmul/fill.cl``.
"""

import numpy as np

from reference_py.primitives.rng import Rng


def fill_a(p, product, tick):
    """Fill A; row r has stream 2 r."""
    product.A = _random(p, product.index, 0, p.rows, p.inner)


def fill_b(p, product, tick):
    """Fill B; row r has stream 2 r + 1."""
    product.B = _random(p, product.index, 1, p.inner, p.columns)


def _random(p, number, odd, rows, columns):
    matrix = np.zeros((rows, columns), p.num)
    for row in range(rows):
        rng = Rng.seed(p.stream_base, p.stream_gap, number * p.streams + 2 * row + odd)
        for column in range(columns):
            matrix[row, column] = (rng.next() >> 8) * 2.0**-23 - 1.0
    return matrix
