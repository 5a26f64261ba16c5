"""How does NumPy compute whole arrays with twice the digits of a double?

A number is the unevaluated sum of two doubles, ``(high, low)``; ``high`` is the sum rounded to a
double. NumPy's elementwise + - x and / are those of IEEE 754, so every step is exact or has the
error stated here; u is 2**-53. Sources: T. J. Dekker, "A floating-point technique for extending the
available precision" (1971); M. Joldes, J.-M. Muller and V. Popescu, "Tight and rigorous error
bounds for basic building blocks of double-word arithmetic" (2017).
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

_SPLITTER = 134217729.0  # 2**27 + 1
_STEPS = 4096
"""Entries of the table of 2**(i / 4096); arguments of the series in `exp` are below 2**-13.5."""

LEAST = -700.0
"""Smallest argument of `exp`; its result, 1e-304, also stands for all smaller results."""


class DoubleDouble(NamedTuple):
    """Numbers as unevaluated sums of two arrays of doubles of one shape."""

    high: Doubles
    low: Doubles


def two_sum(a: Doubles, b: Doubles) -> DoubleDouble:
    """Return a + b without any error."""
    total = a + b
    part = total - a
    return DoubleDouble(total, (a - (total - part)) + (b - part))


def _quick_sum(a: Doubles, b: Doubles) -> DoubleDouble:
    """Return a + b without any error, for b not larger than a."""
    total = a + b
    return DoubleDouble(total, b - (total - a))


def _halves(a: Doubles) -> tuple[Doubles, Doubles]:
    far = _SPLITTER * a
    high = far - (far - a)
    return high, a - high


def two_product(a: Doubles, b: Doubles) -> DoubleDouble:
    """Return a x b without any error, below 1e290."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return DoubleDouble(product, error)


def add(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """Return a + b with a relative error below 3.1 u**2, even if a and b nearly cancel."""
    high, error = two_sum(a.high, b.high)
    low, rest = two_sum(a.low, b.low)
    high, error = _quick_sum(high, error + low)
    return _quick_sum(high, error + rest)


def subtract(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """Return a - b; see `add`."""
    return add(a, DoubleDouble(-b.high, -b.low))


def times(a: DoubleDouble, b: Doubles) -> DoubleDouble:
    """Return the product of a pair and doubles with a relative error below 3 u**2."""
    high, error = two_product(a.high, b)
    return _quick_sum(high, error + a.low * b)


def multiply(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """Return the product of two pairs with a relative error below 5 u**2."""
    high, error = two_product(a.high, b.high)
    return _quick_sum(high, error + (a.high * b.low + a.low * b.high))


def divide(a: DoubleDouble, b: Doubles) -> DoubleDouble:
    """Return the quotient of a pair and doubles with a relative error below 4 u**2."""
    quotient = a.high / b
    product, error = two_product(quotient, b)
    return _quick_sum(quotient, ((a.high - product) - error + a.low) / b)


def sqrt(a: Doubles) -> DoubleDouble:
    """Return the square root with a relative error below 4 u**2."""
    root = np.sqrt(a)
    square, error = two_product(root, root)
    return _quick_sum(root, ((a - square) - error) / (2.0 * root))


_SIXTH = DoubleDouble(np.array(1 / 6), np.array(1 / 108086391056891904))
"""1/6: the rounding error of its double is 2**-54 / 6."""


def exp(x: DoubleDouble) -> DoubleDouble:
    """Return e**x with a relative error below (abs(x) + 4) x 2**-101, for x from -700 to 700.

    With x = k ln 2 / 4096 + s the result is 2**(k / 4096) (1 + s + s**2 (1/2 + s/6 + s**2 (...)));
    for the last bracket doubles are enough. The multiples of ln 2 / 4096 are exact except for their
    last part, so only parts below abs(x) 2**-53 of s are rounded: an error below abs(x) 2**-103.
    The products add less than 2**-101 together. tests/parity/test_curve_tables.py finds errors of
    at most a thirtieth of the bound.
    """
    (c1, c2, c3), powers = ln2_step(), powers_of_two()
    k = np.rint(x.high * (1.0 / (c1 + c2)))
    s, error = two_sum(x.high, -k * c1)
    s, more = two_sum(s, -k * c2)
    arm = _quick_sum(s, (error + more) + (x.low - k * c3))
    s = arm.high
    third = multiply(arm, _SIXTH)
    third = DoubleDouble(
        third.high, third.low + s * s * (1 / 24 + s * (1 / 120 + s * (1 / 720 + s / 5040)))
    )
    half = _quick_sum(np.full_like(s, 0.5), third.high)
    half = DoubleDouble(half.high, half.low + third.low)
    rest = add(arm, multiply(multiply(arm, arm), half))
    whole = k.astype(np.int64)
    power = DoubleDouble(powers.high[whole % _STEPS], powers.low[whole % _STEPS])
    change = multiply(power, rest)
    high, error = _quick_sum(power.high, change.high)
    high, low = _quick_sum(high, error + (power.low + change.low))
    return DoubleDouble(np.ldexp(high, whole // _STEPS), np.ldexp(low, whole // _STEPS))


@cache
def ln2_step() -> tuple[float, float, float]:
    """Return ln 2 / 4096 as a sum of three parts; the first two have 30 bits each."""
    context, parts = Context(prec=60), []
    left = context.divide(context.ln(Decimal(2)), Decimal(_STEPS))
    for bits in (30, 30, 53):
        mantissa, exponent = math.frexp(float(left))
        part = math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)
        parts.append(part)
        left = context.subtract(left, Decimal(part))
    return parts[0], parts[1], parts[2]


@cache
def powers_of_two() -> DoubleDouble:
    """Return 2**(i / 4096) for i from 0 to 4095."""
    context, bits = Context(prec=90), 256
    step = context.power(Decimal(2), context.divide(Decimal(1), Decimal(_STEPS)))
    one, factor = 1 << bits, int(context.multiply(step, Decimal(1 << bits)))
    powers = [one]  # whole numbers, which Python multiplies faster than Decimal
    for _ in range(1, _STEPS):
        powers.append(powers[-1] * factor >> bits)
    high = [power / one for power in powers]
    exact = (int(math.ldexp(part, 52)) << (bits - 52) for part in high)
    low = [(power - part) / one for power, part in zip(powers, exact, strict=True)]
    return DoubleDouble(np.array(high), np.array(low))


@cache
def _logarithms(count: int) -> DoubleDouble:
    """Return the natural logarithms of 1 to ``count``, with an absolute error below 2**-98.

    One step of Newton's method from the logarithm y in doubles: ln n = y + ln(n e**-y), where
    n e**-y is nearly 1.
    """
    numbers = np.arange(1.0, count + 1.0)
    near = np.log(numbers)
    ratio = times(exp(DoubleDouble(-near, np.zeros_like(near))), numbers)
    error = (ratio.high - 1.0) + ratio.low
    return _quick_sum(near, error - error * error / 2.0)


def logarithms(count: int) -> DoubleDouble:
    """Return the natural logarithms of 1 to ``count``; they are computed once and cached."""
    room = 1 << max(14, (count - 1).bit_length())
    all_of_them = _logarithms(room)
    return DoubleDouble(all_of_them.high[:count], all_of_them.low[:count])


def decided(number: DoubleDouble, error: Doubles) -> NDArray[np.bool_]:
    """Return True where ``high`` is certainly the exact number rounded to a double.

    The exact number differs from ``high + low`` by at most ``error``.

    Ziv's test: both ends of the interval round to the same double.
    """
    up, down = number.high + (number.low + error), number.high + (number.low - error)
    same: NDArray[np.bool_] = (up == number.high) & (down == number.high)
    return same
