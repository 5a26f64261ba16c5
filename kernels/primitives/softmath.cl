// softmath.cl: logarithm, exponential and power with the same bits on every device.
//
// Built from + - * / and integer operations on the bits of a double, nothing else; so the result
// is fixed by IEEE 754 arithmetic. Subnormal numbers are never an operand or a result of an
// operation that matters, so devices that flush them agree too: a subnormal argument is read
// exactly by its bits, a result below 2^-1022 is +0.
//
// soft_log, soft_exp: reduction and polynomials of fdlibm (Sun Microsystems, 1993, e_log.c,
// e_exp.c), error below 1 ulp. soft_pow: exp(y log x) with log x and the product carried in
// double-double, error below 1 ulp. One work-item, no memory, no barrier; about 25, 25 and 150
// operations.
//
// Twin: reference_py/primitives/softmath.py

#ifndef PRIMITIVES_SOFTMATH_CL
#define PRIMITIVES_SOFTMATH_CL

#include "primitives/real.cl"

#define SOFT_NAN as_double(0x7ff8000000000000ul)
#define SOFT_INFINITY as_double(0x7ff0000000000000ul)
#define SOFT_LN2_HIGH 0x1.62e42feep-1  // 32 bits: its product with an exponent is exact
#define SOFT_LN2_LOW 0x1.a39ef35793c76p-33  // ln 2 - high
#define SOFT_INV_LN2 0x1.71547652b82fep0

// ---------------------------------------------------------------- taking a double apart

// x = m 2^k with m in [sqrt(1/2), sqrt(2)), for x > 0 finite (also subnormal).
static int soft_split(double x, double *m)
{
    ulong bits = as_ulong(x);
    int k = -1023;
    if (bits < 0x0010000000000000ul) {  // subnormal: shift the leading one to bit 52
        const int shift = (int)clz(bits) - 11;
        bits <<= shift;
        k += 1 - shift;
        bits &= 0x000ffffffffffffful;
    } else {
        k += (int)(bits >> 52);
        bits &= 0x000ffffffffffffful;
    }
    // Fractions from sqrt(2) on go to [1/2, 1), so that log is small where k is 0.
    if (bits >= 0x0006a09e667f3bcdul) {
        *m = as_double(bits | 0x3fe0000000000000ul);
        return k + 1;
    }
    *m = as_double(bits | 0x3ff0000000000000ul);
    return k;
}

// ---------------------------------------------------------------- logarithm

// Natural logarithm. 0: -infinity; below 0 and NaN: NaN; +infinity: +infinity.
static real soft_log(real x)
{
    const ulong bits = as_ulong(x);
    if ((bits << 1) == 0ul) return -SOFT_INFINITY;
    if (bits > 0x7ff0000000000000ul)  // sign bit set, or NaN
        return SOFT_NAN;
    if (bits == 0x7ff0000000000000ul) return x;
    double m;
    const double k = (double)soft_split(x, &m);
    // log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f / (2 + f)
    const double f = m - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    const double w = z * z;
    const double even =
        w * (0x1.999999997fa04p-2 + w * (0x1.c71c51d8e78afp-3 + w * 0x1.39a09d078c69fp-3));
    const double odd =
        z * (0x1.5555555555593p-1 +
             w * (0x1.2492494229359p-2 + w * (0x1.7466496cb03dep-3 + w * 0x1.2f112df3e5244p-3)));
    const double half_square = 0.5 * f * f;
    const double correction = s * (half_square + (odd + even)) + k * SOFT_LN2_LOW;
    return k * SOFT_LN2_HIGH - ((half_square - correction) - f);
}

// ---------------------------------------------------------------- exponential

// exp(high + low), |low| far below |high|. Below 2^-1022: +0; from 2^1024 on: +infinity.
static double soft_exp_sum(double high, double low)
{
    if (high > 710.0) return SOFT_INFINITY;
    if (high < -709.0) return 0.0;
    // high + low = k ln 2 + (a - b), |a - b| <= about ln(2) / 2; a is exact.
    const int k = (int)(high * SOFT_INV_LN2 + (high < 0.0 ? -0.5 : 0.5));
    const double a = high - (double)k * SOFT_LN2_HIGH;
    const double b = (double)k * SOFT_LN2_LOW - low;
    const double r = a - b;
    const double t = r * r;
    const double c = r - t * (0x1.555555555553ep-3 +
                              t * (-0x1.6c16c16bebd93p-9 +
                                   t * (0x1.1566aaf25de2cp-14 +
                                        t * (-0x1.bbd41c5d26bf1p-20 + t * 0x1.6376972bea4d0p-25))));
    const double y = 1.0 - ((b - (r * c) / (2.0 - c)) - a);  // exp(r), in (0.7, 1.42)
    const int exponent = (int)(as_ulong(y) >> 52) + k;
    if (exponent >= 2047) return SOFT_INFINITY;
    if (exponent <= 0) return 0.0;
    return as_double((as_ulong(y) & 0x000ffffffffffffful) | ((ulong)exponent << 52));
}

// e^x. NaN: NaN; results from 2^1024 on: +infinity; results below 2^-1022: +0.
static real soft_exp(real x)
{
    if ((as_ulong(x) << 1) > 0xffe0000000000000ul) return SOFT_NAN;
    return soft_exp_sum(x, 0.0);
}

// ---------------------------------------------------------------- double-double arithmetic

// An unevaluated sum high + low, |low| <= ulp(high) / 2: about 106 bits.
typedef struct {
    double high, low;
} soft_pair;

// a + b exactly, for |a| >= |b| or a = 0 (Dekker 1971).
static soft_pair soft_fast_sum(double a, double b)
{
    soft_pair r;
    r.high = a + b;
    r.low = b - (r.high - a);
    return r;
}

// a b exactly (Dekker 1971, Veltkamp's splitting); no part may overflow or become subnormal.
static soft_pair soft_product(double a, double b)
{
    const double a_scaled = a * 134217729.0;  // 2^27 + 1
    const double b_scaled = b * 134217729.0;
    const double a1 = a_scaled - (a_scaled - a);
    const double b1 = b_scaled - (b_scaled - b);
    const double a2 = a - a1;
    const double b2 = b - b1;
    soft_pair r;
    r.high = a * b;
    r.low = ((a1 * b1 - r.high) + a1 * b2 + a2 * b1) + a2 * b2;
    return r;
}

static soft_pair soft_pair_times(soft_pair a, soft_pair b)
{
    const soft_pair p = soft_product(a.high, b.high);
    return soft_fast_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

// constant (high, low) + a, |constant| >= |a|
static soft_pair soft_pair_plus(double high, double low, soft_pair a)
{
    const soft_pair s = soft_fast_sum(high, a.high);
    return soft_fast_sum(s.high, s.low + (low + a.low));
}

// log x as a pair, for x > 0 finite; relative error about 2^-68.
static soft_pair soft_log_pair(double x)
{
    double m;
    const double k = (double)soft_split(x, &m);
    // s = (m - 1) / (m + 1) as a pair: quotient, then remainder over divisor
    const double f = m - 1.0;  // exact
    const soft_pair d = m < 1.0 ? soft_fast_sum(1.0, m) : soft_fast_sum(m, 1.0);
    soft_pair s;
    s.high = f / d.high;
    const soft_pair back = soft_product(s.high, d.high);
    s.low = (((f - back.high) - back.low) - s.high * d.low) / d.high;
    s = soft_fast_sum(s.high, s.low);
    // log m = 2 s (1 + z/3 + z^2/5 + z^3/7 + ...), z = s^2 <= 0.0295: terms from z^3 on are below
    // 2^-18 of the sum, so a double holds them; terms from z^14 on are below 2^-75.
    const soft_pair z = soft_pair_times(s, s);
    const double zz = z.high;
    // clang-format off: Horner's scheme, which the formatter would indent term by term
    const double tail = 1.0 / 7.0 + zz * (1.0 / 9.0 + zz * (1.0 / 11.0 + zz * (1.0 / 13.0
                      + zz * (1.0 / 15.0 + zz * (1.0 / 17.0 + zz * (1.0 / 19.0 + zz * (1.0 / 21.0
                      + zz * (1.0 / 23.0 + zz * (1.0 / 25.0 + zz * (1.0 / 27.0))))))))));
    // clang-format on
    soft_pair sum = soft_product(tail, zz);
    sum = soft_pair_plus(0x1.999999999999ap-3, -0x1.999999999999ap-57, sum);  // 1/5
    sum = soft_pair_times(z, sum);
    sum = soft_pair_plus(0x1.5555555555555p-2, 0x1.5555555555555p-56, sum);  // 1/3
    sum = soft_pair_times(z, sum);
    sum = soft_pair_plus(1.0, 0.0, sum);
    s.high *= 2.0;
    s.low *= 2.0;
    const soft_pair log_m = soft_pair_times(s, sum);
    if (k == 0.0) return log_m;
    // |k ln2_high| >= 0.69 > 0.35 >= |log m|
    const soft_pair total = soft_fast_sum(k * SOFT_LN2_HIGH, log_m.high);
    return soft_fast_sum(total.high, total.low + (log_m.low + k * SOFT_LN2_LOW));
}

// ---------------------------------------------------------------- power

// 0: y is no integer, 1: odd integer, 2: even integer; for finite y != 0.
static int soft_integer_kind(double y)
{
    const ulong bits = as_ulong(y);
    const int exponent = (int)((bits >> 52) & 0x7fful) - 1023;
    if (exponent < 0) return 0;
    if (exponent > 52) return 2;
    const ulong unit = 1ul << (52 - exponent);  // the bit worth 1
    const ulong mantissa = (bits & 0x000ffffffffffffful) | 0x0010000000000000ul;
    if (mantissa & (unit - 1ul)) return 0;
    return (mantissa & unit) ? 1 : 2;
}

// x^y for x > 0 finite, y finite, neither x = 1 nor y = 0
static double soft_pow_positive(double x, double y)
{
    const soft_pair log_x = soft_log_pair(x);
    const double product = y * log_x.high;
    if (product > 710.0) return SOFT_INFINITY;
    if (product < -709.0) return 0.0;
    // Rounds to 1 either way; and below, the parts of soft_product stay clear of subnormals.
    if (product < 0x1p-60 && product > -0x1p-60) return 1.0;
    const soft_pair p = soft_product(y, log_x.high);
    const soft_pair exact = soft_fast_sum(p.high, p.low + y * log_x.low);
    return soft_exp_sum(exact.high, exact.low);
}

// x^y with the special cases of IEEE 754 / C99 pow: x^0 = 1^y = 1 even for NaN; a negative x needs
// an integer y, else NaN. Results from 2^1024 on: infinity; results below 2^-1022: 0 (with the
// sign of the true result).
static real soft_pow(real x, real y)
{
    const ulong ax = as_ulong(x) & 0x7ffffffffffffffful;
    const ulong ay = as_ulong(y) & 0x7ffffffffffffffful;
    const ulong infinity = 0x7ff0000000000000ul;
    const ulong one = 0x3ff0000000000000ul;
    const bool x_negative = as_ulong(x) >> 63;
    const bool y_negative = as_ulong(y) >> 63;
    if (ay == 0ul || as_ulong(x) == one) return 1.0;
    if (ax > infinity || ay > infinity) return SOFT_NAN;
    if (ay == infinity) {
        if (ax == one) return 1.0;
        return (ax > one) != y_negative ? SOFT_INFINITY : 0.0;
    }
    const int kind = x_negative ? soft_integer_kind(y) : 2;
    double size;
    if (ax == 0ul || ax == infinity)
        size = (ax == 0ul) != y_negative ? 0.0 : SOFT_INFINITY;
    else if (kind == 0)
        return SOFT_NAN;
    else if (ax == one)
        size = 1.0;
    else
        size = soft_pow_positive(as_double(ax), y);
    return (x_negative && kind == 1) ? -size : size;
}

#endif
