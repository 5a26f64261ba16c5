// python.cl: what Python means by its operators, for rules that are translated from Python.
//
// Whole numbers are 64-bit; a result that needs more is a mistake of the rule. With CHECKED 1 every
// operation is tested instead: the first mistake of a copy is noted by the number of its place.
// Everything here is called by one work-item alone; nothing needs local memory or a barrier.

#ifndef TRANSLATE_PYTHON_CL
#define TRANSLATE_PYTHON_CL

#include "primitives/real.cl"
#include "primitives/rng.cl"
#include "primitives/softmath.cl"
#include "translate/lists.cl"

#ifndef CHECKED
#define CHECKED 0
#endif

#define NOTHING ((long)(-9223372036854775807L - 1))  // Python's None where a whole number may be

// ---------------------------------------------------------------- whole numbers

// Python rounds a quotient down, and the remainder has the sign of the divisor. A quotient or a
// remainder by 0 or of the least number by -1 is 0 here: on some processors it ends the program.
static long floor_div(const long a, const long b)
{
    if (b == 0 || b == -1) return b == 0 ? 0 : (long)(0ul - (ulong)a);
    const long quotient = a / b, rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
}

static long floor_mod(const long a, const long b)
{
    if (b == 0 || b == -1) return 0;
    const long rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static long shift_left(const long a, const long b)
{
    return b > 63 ? 0 : (long)((ulong)a << (ulong)b);
}

static long shift_right(const long a, const long b)
{
    return a >> (b > 63 ? 63 : b);
}

static long distance_from_0(const long a)
{
    return a < 0 ? -a : a;
}

// min and max return the first of equals; so with -0.0 and 0.0, and with NaN (lists.cl has those of
// whole numbers).
static real least_real(const real a, const real b)
{
    return b < a ? b : a;
}

static real most_real(const real a, const real b)
{
    return b > a ? b : a;
}

// ---------------------------------------------------------------- real numbers

// PoCL calls a function for what is one instruction of the processor.
#if DEVICE_IS_CPU && defined(POCL_DEVICE_ADDRESS_BITS)
#define sqrt_real(a) __builtin_sqrt(a)
#define fabs_real(a) __builtin_fabs(a)
#define floor_real(a) __builtin_floor(a)
#define ceil_real(a) __builtin_ceil(a)
#define trunc_real(a) __builtin_trunc(a)
#define rint_real(a) __builtin_rint(a)
#else
#define sqrt_real(a) sqrt(a)
#define fabs_real(a) fabs(a)
#define floor_real(a) floor(a)
#define ceil_real(a) ceil(a)
#define trunc_real(a) trunc(a)
#define rint_real(a) rint(a)
#endif

// Below, at or above 0 as a whole number is below, at or above a real one; NaN if that is NaN. The
// whole number is rounded to 53 bits only where the other one is not the rounded number itself.
static real order_of(const long a, const real b)
{
    const real near = (real)a;
    if (near != b) return near - b;
    return b < 9223372036854775808.0 ? (real)(a - (long)b) : -1.0;
}

// ---------------------------------------------------------------- places in lists

// A negative index counts from the end.
static long wrapped(const long i, const long n)
{
    return i < 0 ? i + n : i;
}

// A bound of a slice lies within the list.
static long slice_bound(const long i, const long n)
{
    const long from = i < 0 ? i + n : i;
    return from < 0 ? 0 : from > n ? n : from;
}

// ---------------------------------------------------------------- random streams

// A word of 0, of a stream that was never begun, would give 0 for ever, and some draws never end.
static rng_t stream_load(const ulong word)
{
    return rng_load(word == 0 ? 1ul : word);
}

static long stream_below(rng_t *rng, const long n)
{
    return n <= 1 ? 0 : (long)rng_below(rng, (uint)n);
}

// Unlike rng_bernoulli, for a threshold of 2^32 as well.
static int stream_bernoulli(rng_t *rng, const long threshold)
{
    return (long)rng_next(rng) < threshold;
}

static long stream_binomial(rng_t *rng, const long n, const long threshold)
{
    return threshold <= 0 || n <= 0 ? 0 : (long)rng_binomial(rng, (uint)n, (ulong)threshold);
}

// ---------------------------------------------------------------- the same, tested

#if CHECKED
static void fail(const int site, __global int *fault)
{
    if (fault[0] == 0) fault[0] = site;
}

static long checked_add(const long a, const long b, const int site, __global int *fault)
{
    const long sum = (long)((ulong)a + (ulong)b);
    if (((a ^ sum) & (b ^ sum)) < 0 || sum == NOTHING) fail(site, fault);
    return sum;
}

static long checked_sub(const long a, const long b, const int site, __global int *fault)
{
    const long difference = (long)((ulong)a - (ulong)b);
    if (((a ^ b) & (a ^ difference)) < 0 || difference == NOTHING) fail(site, fault);
    return difference;
}

static long checked_mul(const long a, const long b, const int site, __global int *fault)
{
    const long low = (long)((ulong)a * (ulong)b);
    if (mul_hi(a, b) != (low < 0 ? -1 : 0) || low == NOTHING) fail(site, fault);
    return low;
}

static long checked_shift(const long a, const long b, const int site, __global int *fault)
{
    const long shifted = shift_left(a, b);
    if (b < 0 || (a != 0 && (b > 62 || shifted >> b != a || shifted == NOTHING))) fail(site, fault);
    return b < 0 ? 0 : shifted;
}

// Of lists that `zip(..., strict=True)` goes through, some have another entry, or all of them.
static int checked_strict(const int more, const int lists, const int site, __global int *fault)
{
    if (more != 0 && more != lists) fail(site, fault);
    return more == lists;
}

static long checked_divisor(const long b, const int site, __global int *fault)
{
    if (b == 0) fail(site, fault);
    return b;
}

static real checked_real_divisor(const real b, const int site, __global int *fault)
{
    if (b == 0.0) fail(site, fault);
    return b;
}

// Python divides whole numbers exactly; a device only those that a real number can have.
static long checked_exact(const long a, const int site, __global int *fault)
{
    const real near = (real)a;
    if (near >= 9223372036854775808.0 || (long)near != a) fail(site, fault);
    return a;
}

static long checked_index(const long i, const long n, const int site, __global int *fault)
{
    const long from = i < 0 ? i + n : i;
    if (from >= 0 && from < n) return from;
    fail(site, fault);
    return 0;
}

static long checked_present(const long x, const int site, __global int *fault)
{
    if (x == NOTHING) fail(site, fault);
    return x;
}

static long checked_within(const long x, const long low, const long high, const int site,
                           __global int *fault)
{
    if (x < low || x > high) fail(site, fault);
    return x < low ? low : x > high ? high : x;
}

static long checked_whole(const real x, const int site, __global int *fault)
{
    if (x > -9223372036854775808.0 && x < 9223372036854775808.0) return (long)x;
    fail(site, fault);
    return 0;
}

static real checked_real(const real x, const real low, const int site, __global int *fault)
{
    if (x < low) fail(site, fault);
    return x;
}
#endif

#endif
