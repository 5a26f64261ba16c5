// Who meets whom in the resource market: a random permutation of all agents for every round.
// Twin: reference_py/economy/matching.py.
//
// A workgroup is a society; one work-item draws, since the draws of a stream have an order.
// Local memory: 4 bytes an agent up to ORDER_LIMIT agents, beyond it the permutation is made in
// global memory.
#include "economy/streams.cl"

#define ORDER_LIMIT 4096

__kernel void matching(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
#if AGENTS <= ORDER_LIMIT
    __local int order[AGENTS];
#endif
    rng_t rng = rng_load(stream(AGENTS, PURPOSE_RESOURCE_MATCHING));
    for (uint round = 0; round < ROUNDS; ++round) {
#if AGENTS > ORDER_LIMIT
        __global int *order = &partners(round, 0);
#endif
        for (uint i = lid; i < agents; i += lanes) order[i] = i;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // in order, before shuffling
        if (lid == 0) {
            for (uint i = AGENTS - 1; i > 0; --i) {
                const uint j = rng_below(&rng, i + 1);
                const int swapped = order[i];
                order[i] = order[j];
                order[j] = swapped;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // shuffled, before it is stored
#if AGENTS <= ORDER_LIMIT
        for (uint i = lid; i < agents; i += lanes) partners(round, i) = order[i];
        barrier(CLK_LOCAL_MEM_FENCE);  // it is stored, before the next round overwrites it
#endif
    }
    if (lid == 0) stream(AGENTS, PURPOSE_RESOURCE_MATCHING) = rng_pack(rng);
}
