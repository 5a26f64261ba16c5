// Numbers in ascending order, for medians and Gini coefficients. No local memory.
// Twin: reference_py/economy/statistics.py (Python's sorted).
#ifndef ECONOMY_ORDER_CL
#define ECONOMY_ORDER_CL

#include "primitives/real.cl"

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

#endif
