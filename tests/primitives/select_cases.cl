// select_cases.cl: one workgroup per case runs every selection on values and mask of its own.
#include "primitives/select.cl"

static void stage(__global const real *values, __global const uchar *mask, const uint n,
                  __local real *v, __local uchar *m) {
    for (uint i = get_local_id(0); i < n; i += get_local_size(0)) {
        v[i] = values[i];
        m[i] = mask[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE); // values and mask, before they are searched
}

// extremes[case][4][work-item]; winners[case][2][most]; mask_after[case][2][capacity]
__kernel void select_cases(__global const real *values, __global const uchar *mask,
                           __global const uint *sizes, __global const uint *wanted,
                           const uint capacity, const uint most, __global uint *extremes,
                           __global uint *winners, __global uchar *mask_after,
                           __local real *v, __local uchar *m, __local uint *found,
                           __local uint *scratch) {
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group], k = wanted[group];
    values += group * capacity;
    mask += group * capacity;
    stage(values, mask, n, v, m);
    // No barrier between the calls: each leaves its scratch free for the next.
    extremes[(group * 4 + 0) * lanes + lid] = extreme_max(v, m, n, scratch);
    extremes[(group * 4 + 1) * lanes + lid] = extreme_min(v, m, n, scratch);
    extremes[(group * 4 + 2) * lanes + lid] = extreme_max_unmasked(v, n, scratch);
    extremes[(group * 4 + 3) * lanes + lid] = extreme_min_unmasked(v, n, scratch);
    n_largest(v, m, n, k, found, scratch);
    for (uint i = lid; i < k; i += lanes)
        winners[group * 2 * most + i] = found[i];
    for (uint i = lid; i < n; i += lanes)
        mask_after[group * 2 * capacity + i] = m[i];
    barrier(CLK_LOCAL_MEM_FENCE); // all have read found and mask, before they are filled again
    stage(values, mask, n, v, m);
    n_smallest(v, m, n, k, found, scratch);
    for (uint i = lid; i < k; i += lanes)
        winners[(group * 2 + 1) * most + i] = found[i];
    for (uint i = lid; i < n; i += lanes)
        mask_after[(group * 2 + 1) * capacity + i] = m[i];
}
