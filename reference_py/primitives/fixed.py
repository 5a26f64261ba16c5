"""Which sums of real numbers do not depend on the order of addition? Those of multiples of 2^-36.

A term must be below 2^20 in size; then 2^7 terms of the largest size, or 2^27 of size 1, fit 64
bits. Device twin: ``kernels/primitives/fixed.cl``.
"""

import numpy as np

SCALE = 2.0**36
"""Units of a whole number in 1."""

LIMIT = 2.0**20
"""Terms must be smaller in size."""


def fits(value):
    """Return whether a ``num``, or each of an array, is small enough; NaN is not."""
    return np.abs(value) < value.dtype.type(LIMIT)


def fixed_of(value):
    """Return a ``num`` in units of 2^-36, rounded once, ties to even; int64."""
    return np.rint(value * value.dtype.type(SCALE)).astype(np.int64)


def fixed_value(whole, num):
    """Return a whole number (int64) of units as a ``num``: rounded to double, then to ``num``."""
    return (whole.astype(np.float64) * (1.0 / SCALE)).astype(num)
