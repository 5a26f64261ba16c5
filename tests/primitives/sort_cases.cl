// sort_cases.cl: one workgroup per case sorts keys of its own in both directions. Results are read
// by other work-items than those that put them there, so that a missing last barrier shows.
#include "primitives/sort.cl"

// sorted[case][2][capacity], carried[case][2][capacity]: ascending, descending
__kernel void sort_reals(__global const real *keys, __global const uint *payload,
                         __global const uint *sizes, const uint capacity, __global real *sorted,
                         __global uint *carried, __local real *k, __local uint *p)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group];
    uint descending = 0;
    do {
        const size_t from = group * capacity, to = (group * 2 + descending) * capacity;
        for (uint i = lid; i < n; i += lanes) {
            k[i] = keys[from + i];
            p[i] = payload[from + i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // keys and payload, before they are sorted
        sort_keys(k, p, n, descending);
        for (uint i = lid; i < n; i += lanes) {
            sorted[to + n - 1u - i] = k[n - 1u - i];
            carried[to + n - 1u - i] = p[n - 1u - i];
        }
        barrier(
            CLK_LOCAL_MEM_FENCE);  // all have read the order, before the arrays are filled again
    } while (++descending < 2);
}

__kernel void sort_words(__global const uint *keys, __global const uint *payload,
                         __global const uint *sizes, const uint capacity, __global uint *sorted,
                         __global uint *carried, __local uint *k, __local uint *p)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group];
    uint descending = 0;
    do {
        const size_t from = group * capacity, to = (group * 2 + descending) * capacity;
        for (uint i = lid; i < n; i += lanes) {
            k[i] = keys[from + i];
            p[i] = payload[from + i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // keys and payload, before they are sorted
        sort_keys_uint(k, p, n, descending);
        for (uint i = lid; i < n; i += lanes) {
            sorted[to + n - 1u - i] = k[n - 1u - i];
            carried[to + n - 1u - i] = p[n - 1u - i];
        }
        barrier(
            CLK_LOCAL_MEM_FENCE);  // all have read the order, before the arrays are filled again
    } while (++descending < 2);
}
