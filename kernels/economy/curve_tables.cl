// curve_tables.cl: the tables of many utility curves, before the first day of a large ensemble.
//
// What a host computes with NumPy (societies/economy/curves.py), entry by entry: a number is the
// unevaluated sum of two doubles, with twice the digits of one, and an error bound. An entry of
// which the rounding is not certain, or which may be the one at the floor, is written as NaN: the
// host makes the tables of its curve. The other bits are those of the definition.
//
// Twin: reference_py/economy/tables.py
#ifndef ECONOMY_CURVE_TABLES_CL
#define ECONOMY_CURVE_TABLES_CL

#include "primitives/real.cl"

#define TABLE_BLOCK 64u
#define POWERS 4096

typedef struct {
    double high, low;
} Pair;

static Pair two_sum(const double a, const double b)
{
    const double total = a + b, part = total - a;
    const Pair sum = {total, (a - (total - part)) + (b - part)};
    return sum;
}

// For b not larger than a.
static Pair quick_sum(const double a, const double b)
{
    const double total = a + b;
    const Pair sum = {total, b - (total - a)};
    return sum;
}

static double upper_half(const double a)
{
    const double far = 134217729.0 * a;
    return far - (far - a);
}

static Pair two_product(const double a, const double b)
{
    const double product = a * b, a_high = upper_half(a), b_high = upper_half(b);
    const double a_low = a - a_high, b_low = b - b_high;
    const double error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high);
    const Pair found = {product, error + a_low * b_low};
    return found;
}

static Pair add_pairs(const Pair a, const Pair b)
{
    const Pair high = two_sum(a.high, b.high), low = two_sum(a.low, b.low);
    const Pair sum = quick_sum(high.high, high.low + low.high);
    return quick_sum(sum.high, sum.low + low.low);
}

static Pair times_double(const Pair a, const double b)
{
    const Pair product = two_product(a.high, b);
    return quick_sum(product.high, product.low + a.low * b);
}

static Pair times_pair(const Pair a, const Pair b)
{
    const Pair product = two_product(a.high, b.high);
    return quick_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// 2**n, for n from -1022 to 1023.
static double power_of_two(const int n)
{
    return as_double((ulong)(n + 1023) << 52);
}

// e**x for x from 0 to 700; as `exp` in societies/economy/double_double.py. step: ln 2 / 4096 in
// three parts, and its reciprocal; powers: 2**(i / 4096), high parts, then low parts.
static Pair exp_of_pair(const Pair x, const __global double *step, const __global double *powers)
{
    const double k = rint(x.high * step[3]);
    const Pair first = two_sum(x.high, -k * step[0]);
    const Pair second = two_sum(first.high, -k * step[1]);
    const Pair arm = quick_sum(second.high, (first.low + second.low) + (x.low - k * step[2]));
    const double s = arm.high;
    const Pair sixth = {1.0 / 6.0, 1.0 / 108086391056891904.0};
    Pair third = times_pair(arm, sixth);
    third.low += s * s * (1.0 / 24.0 + s * (1.0 / 120.0 + s * (1.0 / 720.0 + s / 5040.0)));
    Pair half_of = quick_sum(0.5, third.high);
    half_of.low += third.low;
    const Pair rest = add_pairs(arm, times_pair(times_pair(arm, arm), half_of));
    const int whole = (int)k, place = whole % POWERS;
    const Pair power = {powers[place], powers[POWERS + place]};
    const Pair change = times_pair(power, rest);
    const Pair sum = quick_sum(power.high, change.high);
    const Pair all_of_it = quick_sum(sum.high, sum.low + (power.low + change.low));
    const double scale = power_of_two(whole / POWERS);
    const Pair found = {all_of_it.high * scale, all_of_it.low * scale};
    return found;
}

// What `units` units are worth, and in `error` the bound of its error; logs: ln n of n = 1, 2, ...,
// high parts, then low parts of `most` numbers.
static Pair worth(const uint units, const __global double *curve, const __global double *step,
                  const __global double *logs, const uint most, const __global double *powers,
                  double *error)
{
    const uint place = units == 0u ? 0u : units - 1u;
    const Pair log_of = {logs[place], logs[most + place]}, root = {curve[1], curve[2]};
    const Pair power = times_pair(log_of, root);
    Pair above = times_double(exp_of_pair(power, step, powers), curve[0]);
    if (units == 0u) above.high = above.low = 0.0;
    *error = above.high * ((fabs(power.high) + 4.0) * 0x1p-100);
    return above;
}

// Marginal utility of the units 1, 2, ... of some curves. A group of TABLE_BLOCK work-items has
// TABLE_BLOCK entries of one curve: blocks[2 i] is its number, blocks[2 i + 1] its first entry.
// curves: scale, 1 / exponent as a pair, floor; start and room: first index and number of entries.
__kernel void marginal_utility(const __global uint *blocks, const __global double *curves,
                               const __global uint *start, const __global uint *room,
                               const __global double *step, const __global double *logs,
                               const uint most, const __global double *powers,
                               __global double *marginal)
{
    const uint block = (uint)get_group_id(0), curve = blocks[2u * block];
    const uint entry = blocks[2u * block + 1u] + (uint)get_local_id(0);
    if (entry >= room[curve]) return;
    double error, error_before;
    const __global double *of = curves + 4u * curve;
    const Pair above = worth(entry + 1u, of, step, logs, most, powers, &error);
    const Pair before = worth(entry, of, step, logs, most, powers, &error_before);
    const Pair minus = {-before.high, -before.low};
    const Pair unit = add_pairs(above, minus);
    const double bound = error + error_before + unit.high * 0x1p-100;
    const double over = (unit.high - of[3]) + unit.low;
    const int decided =
        unit.high + (unit.low + bound) == unit.high && unit.high + (unit.low - bound) == unit.high;
    const int sure = decided && unit.high != of[3] && fabs(over) > 2.0 * bound;
    marginal[start[curve] + entry] = sure ? unit.high : as_double(0x7ff8000000000000UL);
}

// Sums of the first 1, 2, ... entries of each curve, exact and rounded once: whole numbers of
// 2**last_place of 128 bits. The sum of no entries stands first, so a curve has one sum more.
__kernel void total_utility_tables(const __global double *marginal, const __global uint *start,
                                   const __global uint *length, const __global int *last_place,
                                   __global double *total, const uint curves)
{
    const uint curve = (uint)get_global_id(0);
    if (curve >= curves) return;
    const int last = last_place[curve];
    const uint from = start[curve], to = from + curve;
    ulong high = 0ul, low = 0ul;
    total[to] = 0.0;
    for (uint i = 0u; i < length[curve]; ++i) {
        const ulong bits = as_ulong(marginal[from + i]);
        const ulong digits = (bits & 0xffffffffffffful) | 0x10000000000000ul;
        const uint shift = (uint)((int)(bits >> 52) - 1075 - last);
        const ulong added = digits << shift;
        low += added;
        high += (low < added ? 1ul : 0ul) + (shift == 0u ? 0ul : digits >> (64u - shift));
        // The upper 64 bits, the last of them set if any below is: rounded as the whole number is.
        const uint zeros = high == 0ul ? 64u : (uint)clz(high);
        ulong upper = low;
        if (zeros < 64u) {
            upper = zeros == 0u ? high : (high << zeros) | (low >> (64u - zeros));
            upper |= low << zeros ? 1ul : 0ul;
        }
        total[to + i + 1u] = (double)upper * power_of_two(last + 64 - (int)zeros);
    }
}

#endif
