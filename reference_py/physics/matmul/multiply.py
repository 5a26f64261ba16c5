"""What is the product of two matrices, bit by bit? Every entry is one sum, in the order of k.

No sum is split, so there is one accumulator for each entry, and the order of its products is that
of their index. Device twins: ``kernels/physics/matmul/multiply.cl`` and, for GPUs,
``kernels/physics/matmul/blocked.cl``.
"""

import numpy as np

from reference_py.primitives.fused import muladd

BAND = 64
"""Rows that are computed at a time, so that what is needed of them stays in a processor's cache."""


def multiply(p, product, tick):
    """Set C to A B."""
    step = muladd if p.arithmetic == "fused" else separate
    product.C = np.zeros((p.rows, p.columns), p.num)
    for first in range(0, p.rows, BAND):
        band = slice(first, first + BAND)
        sums = product.C[band]
        for k in range(p.inner):
            sums = step(product.A[band, k, None], product.B[None, k, :], sums)
        product.C[band] = sums


def separate(a, b, c):
    """Return ``c + a * b``, the product rounded and then the sum."""
    with np.errstate(all="ignore"):
        return c + a * b
