"""What is a product plus a number, rounded once, as a fused multiply-add does it?

Single precision: the product of two singles is exact in double. The sum in double is rounded to odd
(S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008) and then to single,
which rounds once in effect, as 53 digits are at least 2 more than 24. Double precision: exact
fractions, or `math.fma` where Python has it.
Device twin: ``kernels/primitives/fused.cl``.
"""

import math
from fractions import Fraction

import numpy as np


def muladd(a, b, c):
    """Return ``a * b + c``, rounded once to the type of the operands, float32 or float64."""
    a, b, c = np.broadcast_arrays(a, b, c)
    with np.errstate(all="ignore"):
        return _of_singles(a, b, c) if a.dtype == np.float32 else _of_doubles(a, b, c)


def num_inverse(b):
    """Return ``1 / b``, rounded once to the type of ``b``, float32 or float64."""
    return b.dtype.type(1) / b


def _of_singles(a, b, c):
    product, added = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + added
    part = total - product  # the error of the sum: D. E. Knuth's TwoSum
    error = (product - (total - part)) + (added - part)
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & (bits % 2 == 0)
    outwards = (error > 0) == (total > 0)
    odd = np.where(inexact, np.where(outwards, bits + 1, bits - 1), bits)
    return odd.view(np.float64).astype(np.float32)


def _of_doubles(a, b, c):
    fused = np.frompyfunc(getattr(math, "fma", fused_of_doubles), 3, 1)
    return np.asarray(fused(a, b, c), np.float64)


def fused_of_doubles(a, b, c):
    """Return ``a * b + c`` of three Python floats, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return a * b + c if not (a and b) else 0.0  # the sign of a sum of zeros; else +0
    try:
        return exact.numerator / exact.denominator  # which Python rounds correctly
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
