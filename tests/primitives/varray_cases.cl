// varray_cases.cl: one workgroup per case registers flagged ids and chooses one of them.
#include "primitives/varray.cl"

// chosen[case][work-item]; items[case][capacity]; facts[case][2]: length, overflow
__kernel void choices(__global const uchar *flags, __global const uint *sizes, const uint stride,
                      const uint capacity, __global ulong *states, __global uint *chosen,
                      __global uint *items, __global uint *facts, __local uint *list)
{
    const size_t group = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local uint count;
    __local uint scratch[2];
    rng_t rng;
    if (lid == 0u) rng = rng_load(states[group]);
    varray_reset(&count);
    for (uint i = lid; i < sizes[group]; i += lanes)
        if (flags[group * stride + i]) varray_append(&count, list, capacity, i);
    const uint n = varray_length(&count, list, capacity);
    for (uint i = lid; i < n; i += lanes) items[group * capacity + i] = list[i];
    chosen[group * lanes + lid] = choose_among(&rng, list, n, scratch);
    if (lid == 0u) {
        facts[group * 2] = n;
        facts[group * 2 + 1] = varray_overflow(&count, capacity);
        states[group] = rng_pack(rng);
    }
}
