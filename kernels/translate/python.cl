// python.cl: what Python means by its operators, for rules that are translated from Python.
//
// Whole numbers are 64-bit; a result that needs more is a mistake of the rule. With CHECKED 1 every
// operation is tested instead: the first mistake of a copy is noted by the number of its place.
// Everything here but log_bytes is called by one work-item alone; nothing needs local memory.

#ifndef TRANSLATE_PYTHON_CL
#define TRANSLATE_PYTHON_CL

#include "primitives/real.cl"
#include "primitives/rng.cl"
#include "primitives/softmath.cl"

#ifndef CHECKED
#define CHECKED 0
#endif

// A phase stays a function: its own kernel and that of all phases call it, and it is compiled once.
// PoCL also promises its optimiser that work-items do not depend on each other, which makes loops of
// a work-item over lists of its own go wrong unless they stay in a function.
#define WHOLE static __attribute__((noinline))

// Lists in scratch memory: of an item one after another on a CPU; interleaved on a GPU, where
// neighbouring work-items then read neighbouring words: with all others, or with those of its
// workgroup if that has few items. The last workgroup may have fewer items than the others.
#if DEVICE_IS_CPU
#define L(i) i
#define STRIDE(items) items
#define FIRST_WORD(item, words) (item * words)
#else
#define L(i) ((size_t)(i) * stride)
#define FIRST_OF_GROUP (get_group_id(0) * get_local_size(0))
#define FEW_ITEMS (get_local_size(0) < 32)
#define STRIDE(items) \
    (FEW_ITEMS ? min(get_local_size(0), (size_t)(items) - FIRST_OF_GROUP) : (size_t)(items))
#define FIRST_WORD(item, words) \
    (FEW_ITEMS ? FIRST_OF_GROUP * (words) + get_local_id(0) : (size_t)(item))
#endif

// The work-items of a workgroup that carries out all phases of a copy; on a CPU it has one. Between
// phases they wait for each other: what one has written into the state, lists or logs, others read.
#if DEVICE_IS_CPU
#define LANE 0
#define LANES 1
#define AFTER_PHASE
#else
#define LANE (long)get_local_id(0)
#define LANES (long)get_local_size(0)
#define AFTER_PHASE barrier(CLK_GLOBAL_MEM_FENCE)
#endif

// Bytes, which may be of any type, from the state into a log.
WHOLE void log_bytes(__global void *to, __global const void *from, const long n)
{
    for (long i = LANE; i < n; i += LANES) {
        ((__global uchar *)to)[i] = ((__global const uchar *)from)[i];
    }
}

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

// min and max return the first of equals; so with -0.0 and 0.0, and with NaN.
static long least_long(const long a, const long b)
{
    return b < a ? b : a;
}

static long most_long(const long a, const long b)
{
    return b > a ? b : a;
}

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

// ---------------------------------------------------------------- whole lists

// The numbers 0 .. n-1 in a random order. Twin: reference_py/primitives/permute.py
#define PERMUTE_ALONE(name, space, AT) \
    static void name(rng_t *rng, space long *order, const long n, const size_t stride) \
    { \
        for (long i = 0; i < n; ++i) order[AT(i)] = i; \
        for (long last = n - 1; last > 0; --last) { \
            const long place = rng_below(rng, (uint)last + 1u); \
            const long taken = order[AT(place)]; \
            order[AT(place)] = order[AT(last)]; \
            order[AT(last)] = taken; \
        } \
    }

// The whole numbers x[0 .. n-1] in ascending order: equal ones are the same. Runs of 8 are sorted
// by insertion and merged; y is room for as many numbers, and is not used for 8 or fewer. Two whole
// runs are merged from both ends at once: neither end waits for the other, or has a branch.
#define SORT_ALONE(name, space, AT) \
    static void name(space long *x, const long n, const size_t stride, space long *y) \
    { \
        for (long low = 0; low < n; low += 8) \
            for (long i = low + 1; i < low + 8 && i < n; ++i) { \
                const long moved = x[AT(i)]; \
                long j = i; \
                for (; j > low && x[AT((j - 1))] > moved; --j) x[AT(j)] = x[AT((j - 1))]; \
                x[AT(j)] = moved; \
            } \
        space long *from = x, *to = y; \
        for (long width = 8; width < n; width *= 2) { \
            for (long low = 0; low < n; low += 2 * width) { \
                const long mid = least_long(low + width, n), high = least_long(mid + width, n); \
                long i = low, j = mid, k = low; \
                if (high - mid == width) { \
                    long p = mid - 1, q = high - 1, last = high - 1; \
                    for (; k < mid; ++k, --last) { \
                        const long a = from[AT(i)], b = from[AT(j)]; \
                        const long c = from[AT(p)], d = from[AT(q)]; \
                        const int second = b < a, first = d < c; \
                        to[AT(k)] = second ? b : a; \
                        to[AT(last)] = first ? c : d; \
                        j += second; \
                        i += 1 - second; \
                        p -= first; \
                        q -= 1 - first; \
                    } \
                    continue; \
                } \
                while (i < mid && j < high) { \
                    const long a = from[AT(i)], b = from[AT(j)]; \
                    const int second = b < a; \
                    to[AT(k)] = second ? b : a; \
                    j += second; \
                    i += 1 - second; \
                    ++k; \
                } \
                for (; i < mid; ++i, ++k) to[AT(k)] = from[AT(i)]; \
                for (; j < high; ++j, ++k) to[AT(k)] = from[AT(j)]; \
            } \
            space long *const merged = to; \
            to = from; \
            from = merged; \
        } \
        if (from != x) \
            for (long i = 0; i < n; ++i) x[AT(i)] = from[AT(i)]; \
    }

// The sum in the fixed tree, which changes the list. Twin: reference_py/primitives/reduce.py
#define REDUCE_SUM_ALONE(name, space, AT) \
    static real name(space real *x, const long n, const size_t stride) \
    { \
        for (long step = 1; step < n; step *= 2) \
            for (long p = 0; p + step < n; p += 2 * step) x[AT(p)] += x[AT((p + step))]; \
        return n > 0 ? x[AT(0)] : 0.0; \
    }

#define PLAIN(i) i
PERMUTE_ALONE(permute_alone_private, __private, PLAIN)
PERMUTE_ALONE(permute_alone_scratch, __global, L)
SORT_ALONE(sort_alone_private, __private, PLAIN)
SORT_ALONE(merge_alone_scratch, __global, L)

#if DEVICE_IS_CPU
#define BINS 256
#define FULL 24  // numbers in a bin, from which merging takes less time than insertion

// As `merge_alone_scratch`, which takes more time where numbers are spread evenly, as words are:
// they are put into bins of equal width, then each bin is sorted.
static void sort_alone_scratch(__global long *x, const long n, const size_t stride,
                               __global long *y)
{
    if (n <= 32) {
        merge_alone_scratch(x, n, stride, y);
        return;
    }
    long least = x[0], most = x[0];
    for (long i = 1; i < n; ++i) {
        least = least_long(least, x[i]);
        most = most_long(most, x[i]);
    }
    const ulong range = (ulong)most - (ulong)least;
    const int shift = range < BINS ? 0 : 64 - 8 - (int)clz(range);
    long ends[BINS];
    for (int bin = 0; bin < BINS; ++bin) ends[bin] = 0;
    for (long i = 0; i < n; ++i) ++ends[((ulong)x[i] - (ulong)least) >> shift];
    long first = 0;
    for (int bin = 0; bin < BINS; ++bin) {
        const long count = ends[bin];
        ends[bin] = first;
        first += count;
    }
    for (long i = 0; i < n; ++i) y[ends[((ulong)x[i] - (ulong)least) >> shift]++] = x[i];
    first = 0;
    for (int bin = 0; shift > 0 && bin < BINS; ++bin) {
        const long end = ends[bin];
        if (end - first > FULL)
            merge_alone_scratch(y + first, end - first, stride, x);
        else
            for (long i = first + 1; i < end; ++i) {
                const long moved = y[i];
                long j = i;
                for (; j > first && y[j - 1] > moved; --j) y[j] = y[j - 1];
                y[j] = moved;
            }
        first = end;
    }
    for (long i = 0; i < n; ++i) x[i] = y[i];
}
#else
#define sort_alone_scratch merge_alone_scratch
#endif
REDUCE_SUM_ALONE(reduce_sum_alone_private, __private, PLAIN)
REDUCE_SUM_ALONE(reduce_sum_alone_scratch, __global, L)

// ---------------------------------------------------------------- the same, tested

#if CHECKED
static void fail(const int site, __global int *fault)
{
    if (fault[0] == 0) fault[0] = site;
}

static long checked_add(const long a, const long b, const int site, __global int *fault)
{
    const long sum = (long)((ulong)a + (ulong)b);
    if (((a ^ sum) & (b ^ sum)) < 0) fail(site, fault);
    return sum;
}

static long checked_sub(const long a, const long b, const int site, __global int *fault)
{
    const long difference = (long)((ulong)a - (ulong)b);
    if (((a ^ b) & (a ^ difference)) < 0) fail(site, fault);
    return difference;
}

static long checked_mul(const long a, const long b, const int site, __global int *fault)
{
    const long low = (long)((ulong)a * (ulong)b);
    if (mul_hi(a, b) != (low < 0 ? -1 : 0)) fail(site, fault);
    return low;
}

static long checked_shift(const long a, const long b, const int site, __global int *fault)
{
    const long shifted = shift_left(a, b);
    if (b < 0 || (a != 0 && (b > 62 || shifted >> b != a))) fail(site, fault);
    return b < 0 ? 0 : shifted;
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

// Real numbers have 53 bits: where Python compares and divides whole numbers exactly, beyond that
// a device does not.
static long checked_exact(const long a, const int site, __global int *fault)
{
    if (a > 9007199254740992L || a < -9007199254740992L) fail(site, fault);
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
    if (x > -9.2e18 && x < 9.2e18) return (long)x;
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
