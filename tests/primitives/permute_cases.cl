// permute_cases.cl: one workgroup per case shuffles or pairs off as many as its case says. Only
// work-item 0 loads its stream. Results are read by other work-items than those that put them
// there, so that a missing last barrier shows.
#include "primitives/permute.cl"

// order[case][capacity], in_global[case][capacity]: one after the other from the same stream
__kernel void orders(__global ulong *states, __global const uint *sizes, const uint capacity,
                     __global uint *order, __global int *in_global, __local uint *x)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group];
    rng_t rng;
    if (lid == 0u) rng = rng_load(states[group]);
    random_permutation(&rng, x, n);
    for (uint i = lid; i < n; i += lanes) order[group * capacity + n - 1u - i] = x[n - 1u - i];
    random_permutation_global(&rng, in_global + group * capacity, n);
    if (lid == 0u) states[group] = rng_pack(rng);
}

// partner[case][capacity]
__kernel void matchings(__global ulong *states, __global const uint *sizes, const uint capacity,
                        __global uint *partner, __local uint *x, __local uint *y)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    const uint n = sizes[group];
    rng_t rng;
    if (lid == 0u) rng = rng_load(states[group]);
    random_matching(&rng, x, n, y);
    for (uint i = lid; i < n; i += lanes) partner[group * capacity + n - 1u - i] = x[n - 1u - i];
    if (lid == 0u) states[group] = rng_pack(rng);
}
