// reduce.cl: sums and other totals of an array, the same bits for every workgroup size.
//
// A floating-point sum depends on the order of addition, so the order is fixed: a tree in which
// value i is leaf i, neighbours are added pairwise, and an odd last one is carried up unchanged.
// In place: at stride s = 1, 2, 4, ... entry p (a multiple of 2 s) stands for the leaves
// p .. p + s - 1 and takes in entry p + s, if there is one; if not, it is the odd last one.
//
// Contract of every function (but reduce_sum_alone): called by all work-items of a one-dimensional
// workgroup of any size L, with the same arguments. The caller has ordered its writes to x by a
// barrier. x is OVERWRITTEN unless const. Every work-item gets the result; the last barrier inside
// lets x be used again at once. Cost: n / L + log2(n) additions and log2(n) + 1 barriers; no other
// memory. On a CPU, where work-items take turns, one of them does the tree alone: n additions, 2
// barriers.
// No barrier is inside a condition or a loop that might not run (real.cl says why).
// (The bits of a NaN result are not defined, only that it is NaN.)
//
// Twin: reference_py/primitives/reduce.py

#ifndef PRIMITIVES_REDUCE_CL
#define PRIMITIVES_REDUCE_CL

#include "primitives/real.cl"

// One work-item does all of the tree instead (benchmarks/README.md has the measurement).
#ifndef REDUCE_SERIALLY
#define REDUCE_SERIALLY DEVICE_IS_CPU
#endif

// Reduce x[0 .. n-1] to x[0]; `join` takes x[p + stride] into x[p]. `index` is the type of
// indices.
#if REDUCE_SERIALLY
#define REDUCE_TREE(index, fence, join) \
    if (get_local_id(0) == 0) \
        for (index stride = 1; stride < n; stride *= 2) \
            for (index p = 0; p + stride < n; p += 2 * stride) join; \
    barrier(fence) /* the tree, before all read its root */
#else
#define REDUCE_TREE(index, fence, join) \
    index stride = 1; \
    do { \
        const index lid = get_local_id(0), lanes = get_local_size(0); \
        for (index p = lid * 2 * stride; p + stride < n; p += lanes * 2 * stride) join; \
        barrier(fence); /* this level, before the one above */ \
        stride *= 2; \
    } while (stride < n)
#endif

// ---------------------------------------------------------------- real sums, fixed tree

// Sum of x[0 .. n-1] in local memory; 0 for n = 0. n <= 2^30.
COLLECTIVE real reduce_sum_local(__local real *x, const uint n)
{
    REDUCE_TREE(uint, CLK_LOCAL_MEM_FENCE, x[p] += x[p + stride]);
    const real sum = n > 0u ? x[0] : 0.0;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the sum, before x is used again
    return sum;
}

// The same sum by one work-item alone, without barriers. It serves where one work-item does all
// the work (group.cl).
INLINED real reduce_sum_alone(__local real *x, const uint n)
{
    for (uint stride = 1; stride < n; stride *= 2)
        for (uint p = 0; p + stride < n; p += 2 * stride) x[p] += x[p + stride];
    return n > 0u ? x[0] : 0.0;
}

// The same tree in global memory, by one workgroup; indices are size_t, so any n.
COLLECTIVE real reduce_sum_global(__global real *x, const uint n)
{
    REDUCE_TREE(size_t, CLK_GLOBAL_MEM_FENCE, x[p] += x[p + stride]);
    const real sum = n > 0u ? x[0] : 0.0;
    barrier(CLK_GLOBAL_MEM_FENCE);  // all have read the sum, before x is used again
    return sum;
}

// ---------------------------------------------------------------- real extremes

// Of two reals the smaller (larger); of equal ones, also +0 and -0, the first; NaN only if both
// are. `largest` is a literal at every call. Associative, so the shape of the tree does not matter.
static real reduce_better(const real a, const real b, const bool largest)
{
    return isnan(a) || (largest ? b > a : b < a) ? b : a;
}

COLLECTIVE real reduce_extreme_local(__local real *x, const uint n, const bool largest)
{
    REDUCE_TREE(uint, CLK_LOCAL_MEM_FENCE, x[p] = reduce_better(x[p], x[p + stride], largest));
    const real extreme = n > 0u ? x[0] : largest ? -INFINITY : INFINITY;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the extreme, before x is used again
    return extreme;
}

COLLECTIVE real reduce_extreme_global(__global real *x, const uint n, const bool largest)
{
    REDUCE_TREE(size_t, CLK_GLOBAL_MEM_FENCE, x[p] = reduce_better(x[p], x[p + stride], largest));
    const real extreme = n > 0u ? x[0] : largest ? -INFINITY : INFINITY;
    barrier(CLK_GLOBAL_MEM_FENCE);  // all have read the extreme, before x is used again
    return extreme;
}

// Smallest value of x[0 .. n-1] in local memory, the first of equal ones (+0 and -0 are equal). NaN
// are passed over: NaN only if there is nothing else. +infinity for n = 0. n <= 2^30. The index of
// the value, and masks, are select.cl's.
COLLECTIVE real reduce_min_local(__local real *x, const uint n)
{
    return reduce_extreme_local(x, n, false);
}

// Largest value, likewise; -infinity for n = 0.
COLLECTIVE real reduce_max_local(__local real *x, const uint n)
{
    return reduce_extreme_local(x, n, true);
}

// The same in global memory, by one workgroup; any n.
COLLECTIVE real reduce_min_global(__global real *x, const uint n)
{
    return reduce_extreme_global(x, n, false);
}

COLLECTIVE real reduce_max_global(__global real *x, const uint n)
{
    return reduce_extreme_global(x, n, true);
}

// ---------------------------------------------------------------- whole numbers, any order

// Sum modulo 2^64 (two's complement: exact where it fits a long); 0 for n = 0.
COLLECTIVE long reduce_sum_long(__local long *x, const uint n)
{
    REDUCE_TREE(uint, CLK_LOCAL_MEM_FENCE,
                x[p] = as_long(as_ulong(x[p]) + as_ulong(x[p + stride])));
    const long sum = n > 0u ? x[0] : 0l;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the sum, before x is used again
    return sum;
}

// Smallest entry; 2^63 - 1 for n = 0.
COLLECTIVE long reduce_min_long(__local long *x, const uint n)
{
    REDUCE_TREE(uint, CLK_LOCAL_MEM_FENCE, x[p] = min(x[p], x[p + stride]));
    const long smallest = n > 0u ? x[0] : LONG_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the minimum, before x is used again
    return smallest;
}

// Largest entry; -2^63 for n = 0.
COLLECTIVE long reduce_max_long(__local long *x, const uint n)
{
    REDUCE_TREE(uint, CLK_LOCAL_MEM_FENCE, x[p] = max(x[p], x[p + stride]));
    const long largest = n > 0u ? x[0] : LONG_MIN;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the maximum, before x is used again
    return largest;
}

// The same three of 32-bit words: sum modulo 2^32; smallest, 2^32 - 1 for n = 0; largest, 0 for
// n = 0.
COLLECTIVE uint reduce_sum_uint(__local uint *x, const uint n)
{
    REDUCE_TREE(uint, CLK_LOCAL_MEM_FENCE, x[p] += x[p + stride]);
    const uint sum = n > 0u ? x[0] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the sum, before x is used again
    return sum;
}

COLLECTIVE uint reduce_min_uint(__local uint *x, const uint n)
{
    REDUCE_TREE(uint, CLK_LOCAL_MEM_FENCE, x[p] = min(x[p], x[p + stride]));
    const uint smallest = n > 0u ? x[0] : UINT_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the minimum, before x is used again
    return smallest;
}

COLLECTIVE uint reduce_max_uint(__local uint *x, const uint n)
{
    REDUCE_TREE(uint, CLK_LOCAL_MEM_FENCE, x[p] = max(x[p], x[p + stride]));
    const uint largest = n > 0u ? x[0] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the maximum, before x is used again
    return largest;
}

// ---------------------------------------------------------------- flags

// Number of flags that are not 0. Scratch: one word. n / L steps, one atomic addition a work-item
// (of whole numbers, so their order does not matter), 3 barriers.
COLLECTIVE uint reduce_count(const __local uchar *flags, uint n, __local uint *scratch)
{
    n = opaque(n);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    if (lid == 0u) scratch[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is added to
    uint mine = 0u;
    for (uint i = lid; i < n; i += lanes) mine += flags[i] != 0 ? 1u : 0u;
    if (mine > 0u) atomic_add(scratch, mine);
    barrier(CLK_LOCAL_MEM_FENCE);  // counts of all work-items, before the total is read
    const uint count = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the count, before scratch is used again
    return count;
}

// 1 if any flag is not 0; 0 for n = 0.
COLLECTIVE int reduce_any(const __local uchar *flags, const uint n, __local uint *scratch)
{
    return reduce_count(flags, n, scratch) > 0u ? 1 : 0;
}

// 1 if no flag is 0; 1 for n = 0.
COLLECTIVE int reduce_all(const __local uchar *flags, const uint n, __local uint *scratch)
{
    return reduce_count(flags, n, scratch) == n ? 1 : 0;
}

#endif
