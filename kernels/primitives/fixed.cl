// fixed.cl: real numbers as whole multiples of 2^-36, whose sums do not depend on the order.
//
// A sum of reals depends on the order in which they are added. Where an order cannot be fixed
// cheaply, as for the forces of all pairs of atoms, each term is made a whole number first; whole
// numbers may be added in any order, by any number of work-items. Terms must be below 2^20 in size
// (fixed_fits); then 2^7 terms of the largest size, or 2^27 of size 1, fit 64 bits.
//
// A product with a power of two is exact, so the only rounding is that to a whole number, to
// nearest, ties to even. No local memory, no barriers.
//
// Twin: reference_py/primitives/fixed.py

#ifndef PRIMITIVES_FIXED_CL
#define PRIMITIVES_FIXED_CL

#include "primitives/num.cl"

#define FIXED_SCALE 68719476736.0  // 2^36
#define FIXED_UNIT (1.0 / FIXED_SCALE)
#define FIXED_LIMIT 1048576.0  // 2^20

// Whether a number is small enough; NaN is not.
static bool fixed_fits(const num x)
{
    return -NUM(FIXED_LIMIT) < x && x < NUM(FIXED_LIMIT);
}

// Adding this to a double below 2^15 in size rounds it to a whole number of units, which are the
// bits of the sum less those of this.
#define FIXED_ROUNDS 98304.0  // 1.5 * 2^16

// A number in units of 2^-36; it must fit. Conversions are functions of many operations on CPUs;
// fabs is one that PoCL 3.0 calls.
static long fixed_of(const num x)
{
#if DEVICE_IS_CPU
    if (-NUM(32768.0) < x && x < NUM(32768.0))
        return as_long((double)x + FIXED_ROUNDS) - as_long(FIXED_ROUNDS);
#endif
    return convert_long_rte(x * NUM(FIXED_SCALE));
}

// A sum as a number: rounded to double, then to num.
static num fixed_value(const long whole)
{
    return (num)((double)whole * FIXED_UNIT);
}

#endif
