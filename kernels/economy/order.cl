// Numbers in ascending order, and what is read from them: medians and Gini coefficients.
// Twin: reference_py/economy/statistics.py (Python's sorted).
#ifndef ECONOMY_ORDER_CL
#define ECONOMY_ORDER_CL

#include "primitives/real.cl"

// What is read from no numbers: the quiet NaN that Python makes.
#define UNDEFINED as_double(0x7ff8000000000000UL)

// Put n numbers in ascending order, by merges of runs of 1, 2, 4, ... from one array into the
// other: an entry's place is its own place in its run and the number of entries of the other run
// that come before it, which is found by bisection. Returns the array that has the order; the other
// is free. Cost: n log2(n)^2 / 2 comparisons, shared by the work-items, and log2(n) barriers.
COLLECTIVE __global real *put_in_order(__global real *from, __global real *to, const uint n)
{
    uint run = 1;
    do {
        for (uint i = get_local_id(0); i < n; i += get_local_size(0)) {
            const uint first = i / (2 * run) * (2 * run), second = min(first + run, n);
            const bool in_second = i >= second;
            const real own = from[i];
            const uint other = in_second ? first : second;
            uint low = other, high = in_second ? second : min(second + run, n);
            while (low < high) {
                const uint middle = low + (high - low) / 2;
                if (from[middle] < own || (in_second && from[middle] == own))
                    low = middle + 1;
                else
                    high = middle;
            }
            to[i - (in_second ? run : 0) + (low - other)] = own;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);  // runs of twice the length, before they are merged
        __global real *merged = to;
        to = from;
        from = merged;
        run *= 2;
    } while (run < n);
    return from;
}

// Put the numbers of the living agents into `sample` to be ordered, with infinity for the removed
// ones, which then come last. Entry i of `work` is the number of agent i, written by the work-item
// that has i here; afterwards all may read it. `living` becomes the number of those alive. It is in
// local memory, as it bounds shared loops: returned, it made PoCL's Gini coefficients wrong.
COLLECTIVE void gather_living(STATE_PARAMETERS, const size_t society, __global const real *work,
                              __global real *sample, __local int *living)
{
    if (get_local_id(0) == 0) *living = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is counted up
    for (uint i = get_local_id(0); i < agents; i += get_local_size(0)) {
        sample[i] = alive(i) ? work[i] : (real)INFINITY;
        if (alive(i)) atomic_inc(living);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // numbers and count of all agents
}

// The median of `count` numbers in order.
static real median(__global const real *ordered, const int count)
{
    return (ordered[(count - 1) / 2] + ordered[count / 2]) / 2.0;
}

// The Gini coefficient of numbers in order, of which the i-th from 1 counts i times in `weighted`;
// 0 where their total is 0, and where rounding makes it less.
static real gini(const real weighted, const real total, const real count)
{
    const real index = 2.0 * weighted / (count * total) - (count + 1.0) / count;
    return total != 0.0 && index > 0.0 ? index : 0.0;
}

#endif
