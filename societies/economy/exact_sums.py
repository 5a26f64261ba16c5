"""How are the running sums of a table computed, each exact and rounded once?"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from societies.economy.double_double import Doubles, two_sum

LARGEST_SHIFT = 32
"""Most binary places between the exponents of values that are added up in digits of 32 bits."""


def running_sums(values: Doubles) -> Doubles:
    """Return the sums of the first 1, 2, ... values above 0, each exact and rounded once.

    The values, of which a table has fewer than 2**21, are integer multiples of the last place of
    the smallest, written in digits of 32 bits. Sums of digits and their carries are integers. The
    three digits of a sum are added as doubles, the upper two without error, so only one rounding
    remains.
    """
    if not len(values):
        return values
    mantissa, exponent = np.frexp(values)
    last_place = int(exponent.min()) - 53
    shift = exponent - 53 - last_place
    if shift.max() > LARGEST_SHIFT:
        return _sums_of_any(values)
    whole, shift = np.ldexp(mantissa, 53).astype(np.uint64), shift.astype(np.uint64)
    low = np.cumsum((whole << shift) & _DIGIT)
    middle = np.cumsum((whole >> (_32 - shift)) & _DIGIT) + (low >> _32)
    top = np.cumsum(whole >> (_63 - shift) >> _1) + (middle >> _32)
    high = np.ldexp(top.astype(float), 64)
    upper, rest = two_sum(high, np.ldexp((middle & _DIGIT).astype(float), 32))
    sums: Doubles = np.ldexp(upper + (rest + (low & _DIGIT).astype(float)), last_place)
    return sums


_DIGIT = np.uint64(2**32 - 1)
_1, _32, _63 = np.uint64(1), np.uint64(32), np.uint64(63)


def _sums_of_any(values: Doubles) -> Doubles:
    """Return the same as `running_sums` for values of any ratio to each other (slower)."""
    shift = 1074  # every double is a whole number of 2 ** -1074
    ratios = (value.as_integer_ratio() for value in values.tolist())
    wholes = ((numerator << shift) // denominator for numerator, denominator in ratios)
    return np.array([total / (1 << shift) for total in accumulate(wholes)])
