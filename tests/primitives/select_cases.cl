// select_cases.cl: one workgroup per case runs every selection on values and mask of its own.
#include "primitives/select.cl"

COLLECTIVE void stage(__global const real *values, __global const uchar *mask, const uint n,
                      __local real *v, __local uchar *m)
{
    for (uint i = get_local_id(0); i < n; i += get_local_size(0)) {
        v[i] = values[i];
        m[i] = mask[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // values and mask, before they are searched
}

// extremes[case][4][work-item]; winners[case][2][most]; mask_after[case][2][capacity]
__kernel void select_cases(__global const real *values, __global const uchar *mask,
                           __global const uint *sizes, __global const uint *wanted,
                           const uint capacity, const uint most, __global uint *extremes,
                           __global uint *winners, __global uchar *mask_after, __local real *v,
                           __local uchar *m, __local uint *found, __local uint *scratch)
{
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
    for (uint i = lid; i < k; i += lanes) winners[group * 2 * most + i] = found[i];
    for (uint i = lid; i < n; i += lanes) mask_after[group * 2 * capacity + i] = m[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read found and mask, before they are filled again
    stage(values, mask, n, v, m);
    n_smallest(v, m, n, k, found, scratch);
    for (uint i = lid; i < k; i += lanes) winners[(group * 2 + 1) * most + i] = found[i];
    for (uint i = lid; i < n; i += lanes) mask_after[(group * 2 + 1) * capacity + i] = m[i];
}

// chosen[case][work-item] by what each case asks for. Only work-item 0 loads its stream.
__kernel void random_extremes(__global const real *values, __global const uchar *mask,
                              __global const uint *sizes, __global const uchar *masked,
                              __global const uchar *largest, const uint capacity,
                              __global ulong *states, __global uint *chosen, __local real *v,
                              __local uchar *m, __local uint *scratch)
{
    const size_t group = get_group_id(0);
    const uint n = sizes[group];
    stage(values + group * capacity, mask + group * capacity, n, v, m);
    rng_t rng;
    if (get_local_id(0) == 0) rng = rng_load(states[group]);
    chosen[get_global_id(0)] =
        select_random(&rng, v, m, masked[group] != 0, n, scratch, largest[group] != 0);
    if (get_local_id(0) == 0) states[group] = rng_pack(rng);
}

// chosen[4]: the four names, one after the other from one stream
__kernel void random_names(__global const real *values, __global const uchar *mask, const uint n,
                           __global ulong *state, __global uint *chosen)
{
    __local real v[64];
    __local uchar m[64];
    __local uint scratch[32];
    stage(values, mask, n, v, m);
    rng_t rng = rng_load(state[0]);
    chosen[0] = extreme_max_random(&rng, v, m, n, scratch);
    chosen[1] = extreme_min_random(&rng, v, m, n, scratch);
    chosen[2] = extreme_max_unmasked_random(&rng, v, n, scratch);
    chosen[3] = extreme_min_unmasked_random(&rng, v, n, scratch);
    barrier(CLK_GLOBAL_MEM_FENCE);  // all have loaded the stream, before it is stored
    if (get_local_id(0) == 0) state[0] = rng_pack(rng);
}
