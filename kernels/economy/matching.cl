// Who meets whom in the resource market: a random permutation of all agents for every round.
// Twin: reference_py/economy/matching.py.
//
// A workgroup is a society; one work-item draws, since the draws of a stream have an order.
// Local memory: 4 bytes an agent up to ORDER_LIMIT agents, beyond it the permutation is made in
// global memory.
#include "economy/streams.cl"
#include "primitives/permute.cl"

#define ORDER_LIMIT 4096

__kernel void matching(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
#if AGENTS <= ORDER_LIMIT
    __local uint *order = local_malloc(AGENTS * sizeof(uint));
#endif
    rng_t rng;  // work-item 0 draws
    if (lid == 0) rng = rng_load(stream(AGENTS, PURPOSE_RESOURCE_MATCHING));
    for (uint round = 0; round < ROUNDS; ++round) {
#if AGENTS <= ORDER_LIMIT
        random_permutation(&rng, order, agents);
        for (uint i = lid; i < agents; i += lanes) partners(round, i) = order[i];
        barrier(CLK_LOCAL_MEM_FENCE);  // it is stored, before the next round overwrites it
#else
        random_permutation_global(&rng, &partners(round, 0), agents);
#endif
    }
    if (lid == 0) stream(AGENTS, PURPOSE_RESOURCE_MATCHING) = rng_pack(rng);
}
