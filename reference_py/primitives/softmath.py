"""What are logarithm, exponential and power, with the same bits on every device?

Built from + - * / and the bits of a double, nothing else. Results below 2**-1022 are 0 (no
subnormal results); subnormal arguments are read exactly. Polynomials of ``soft_log`` and
``soft_exp``: fdlibm (Sun Microsystems, 1993). Errors below 1 ulp.
Device twin: ``kernels/primitives/softmath.cl``, operation for operation.
"""

import struct

NAN = float("nan")
INFINITY = float("inf")
LN2_HIGH = float.fromhex("0x1.62e42feep-1")  # 32 bits: its product with an exponent is exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # ln 2 - high
INV_LN2 = float.fromhex("0x1.71547652b82fep0")

LOG_EVEN = [
    float.fromhex(h)
    for h in ("0x1.999999997fa04p-2", "0x1.c71c51d8e78afp-3", "0x1.39a09d078c69fp-3")
]
LOG_ODD = [
    float.fromhex(h)
    for h in (
        "0x1.5555555555593p-1",
        "0x1.2492494229359p-2",
        "0x1.7466496cb03dep-3",
        "0x1.2f112df3e5244p-3",
    )
]
EXP = [
    float.fromhex(h)
    for h in (
        "0x1.555555555553ep-3",
        "-0x1.6c16c16bebd93p-9",
        "0x1.1566aaf25de2cp-14",
        "-0x1.bbd41c5d26bf1p-20",
        "0x1.6376972bea4d0p-25",
    )
]
ATANH_TAIL = [1.0 / n for n in range(7, 28, 2)]
FIFTH = (float.fromhex("0x1.999999999999ap-3"), float.fromhex("-0x1.999999999999ap-57"))
THIRD = (float.fromhex("0x1.5555555555555p-2"), float.fromhex("0x1.5555555555555p-56"))

SIGN_BIT = 1 << 63
FRACTION = 0x000FFFFFFFFFFFFF
LEADING_ONE = 0x0010000000000000
ONE_BITS = 0x3FF0000000000000

Pair = tuple[float, float]  # an unevaluated sum high + low, about 106 bits


def bits_of(x: float) -> int:
    """The 64 bits of a double."""
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


def from_bits(bits: int) -> float:
    """The double with these 64 bits."""
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def polynomial(coefficients: list[float], x: float) -> float:
    """``c0 + x (c1 + x (c2 + ...))``, innermost first."""
    value = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = c + x * value
    return value


def split(x: float) -> tuple[int, float]:
    """(k, m) with ``x = m 2**k`` and m in [sqrt(1/2), sqrt(2)), for x > 0 finite."""
    bits = bits_of(x)
    k = -1023
    if bits < LEADING_ONE:  # subnormal: shift the leading one to bit 52
        shift = 53 - bits.bit_length()
        bits <<= shift
        k += 1 - shift
    else:
        k += bits >> 52
    bits &= FRACTION
    if bits >= 0x0006A09E667F3BCD:  # from sqrt(2) on: to [1/2, 1)
        return k + 1, from_bits(bits | 0x3FE0000000000000)
    return k, from_bits(bits | ONE_BITS)


def soft_log(x: float) -> float:
    """Natural logarithm. 0: -infinity; below 0 and NaN: NaN; infinity: infinity."""
    if x == 0.0:
        return -INFINITY
    if not x > 0.0:
        return NAN
    if x == INFINITY:
        return x
    exponent, m = split(x)
    k = float(exponent)
    # log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f / (2 + f)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * polynomial(LOG_EVEN, w)
    odd = z * polynomial(LOG_ODD, w)
    half_square = 0.5 * f * f
    correction = s * (half_square + (odd + even)) + k * LN2_LOW
    return k * LN2_HIGH - ((half_square - correction) - f)


def exp_sum(high: float, low: float) -> float:
    """exp(high + low), ``|low|`` far below ``|high|``; 0 below 2**-1022, infinity from 2**1024."""
    if high > 710.0:
        return INFINITY
    if high < -709.0:
        return 0.0
    k = int(high * INV_LN2 + (-0.5 if high < 0.0 else 0.5))
    a = high - float(k) * LN2_HIGH
    b = float(k) * LN2_LOW - low
    r = a - b
    t = r * r
    c = r - t * polynomial(EXP, t)
    y = 1.0 - ((b - (r * c) / (2.0 - c)) - a)  # exp(r), in (0.7, 1.42)
    exponent = (bits_of(y) >> 52) + k
    if exponent >= 2047:
        return INFINITY
    if exponent <= 0:
        return 0.0
    return from_bits((bits_of(y) & FRACTION) | (exponent << 52))


def soft_exp(x: float) -> float:
    """e**x. NaN: NaN; results from 2**1024 on: infinity; results below 2**-1022: 0."""
    return NAN if x != x else exp_sum(x, 0.0)


def fast_sum(a: float, b: float) -> Pair:
    """The sum a + b exactly, for ``|a| >= |b|`` or a = 0 (Dekker 1971)."""
    high = a + b
    return high, b - (high - a)


def product(a: float, b: float) -> Pair:
    """The product a b exactly (Dekker 1971, Veltkamp's splitting)."""
    a_scaled = a * 134217729.0
    b_scaled = b * 134217729.0
    a1 = a_scaled - (a_scaled - a)
    b1 = b_scaled - (b_scaled - b)
    a2 = a - a1
    b2 = b - b1
    high = a * b
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2


def pair_times(a: Pair, b: Pair) -> Pair:
    """Product of two pairs."""
    high, low = product(a[0], b[0])
    return fast_sum(high, low + (a[0] * b[1] + a[1] * b[0]))


def pair_plus(constant: Pair, a: Pair) -> Pair:
    """Sum of two pairs, ``|constant| >= |a|``."""
    high, low = fast_sum(constant[0], a[0])
    return fast_sum(high, low + (constant[1] + a[1]))


def log_pair(x: float) -> Pair:
    """Natural logarithm as a pair, for x > 0 finite; relative error about 2**-68."""
    exponent, m = split(x)
    k = float(exponent)
    # s = (m - 1) / (m + 1) as a pair: quotient, then remainder over divisor
    f = m - 1.0
    d = fast_sum(1.0, m) if m < 1.0 else fast_sum(m, 1.0)
    quotient = f / d[0]
    back = product(quotient, d[0])
    s = fast_sum(quotient, (((f - back[0]) - back[1]) - quotient * d[1]) / d[0])
    # log m = 2 s (1 + z/3 + z^2/5 + z^3/7 + ...), z = s^2; a double holds the terms from z^3 on
    z = pair_times(s, s)
    total = product(polynomial(ATANH_TAIL, z[0]), z[0])
    total = pair_times(z, pair_plus(FIFTH, total))
    total = pair_times(z, pair_plus(THIRD, total))
    total = pair_plus((1.0, 0.0), total)
    log_m = pair_times((s[0] * 2.0, s[1] * 2.0), total)
    if k == 0.0:
        return log_m
    high, low = fast_sum(k * LN2_HIGH, log_m[0])
    return fast_sum(high, low + (log_m[1] + k * LN2_LOW))


def pow_positive(x: float, y: float) -> float:
    """x**y for x > 0 finite, y finite, neither x = 1 nor y = 0."""
    log_x = log_pair(x)
    estimate = y * log_x[0]
    if estimate > 710.0:
        return INFINITY
    if estimate < -709.0:
        return 0.0
    if -(2.0**-60) < estimate < 2.0**-60:
        return 1.0
    high, low = product(y, log_x[0])
    return exp_sum(*fast_sum(high, low + y * log_x[1]))


def soft_pow(x: float, y: float) -> float:
    """x**y with the special cases of IEEE 754 / C99 pow.

    ``x**0 = 1**y = 1`` even for NaN; a negative x needs an integer y, else NaN. Results from
    2**1024 on are infinite, results below 2**-1022 are 0, with the sign of the true result.
    """
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return NAN
    x_negative = bits_of(x) & SIGN_BIT != 0
    if abs(y) == INFINITY:
        if abs(x) == 1.0:
            return 1.0
        return INFINITY if (abs(x) > 1.0) == (y > 0.0) else 0.0
    y_integer = y == int(y)
    y_odd = y_integer and int(y) % 2 == 1
    if x == 0.0 or abs(x) == INFINITY:
        size = 0.0 if (x == 0.0) == (y > 0.0) else INFINITY
    elif x_negative and not y_integer:
        return NAN
    elif abs(x) == 1.0:
        size = 1.0
    else:
        size = pow_positive(abs(x), y)
    return -size if x_negative and y_odd else size
