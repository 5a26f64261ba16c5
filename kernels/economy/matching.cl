// Who meets whom in the resource market: a random permutation of all agents for every round.
// Twin: reference_py/economy/matching.py.
//
// A workgroup is a society; one work-item draws, since the draws of a stream have an order.
// Local memory: 4 bytes an agent up to ORDER_LIMIT agents, beyond it the permutation is made in
// global memory.
//
// On a GPU that work-item draws for all rounds, and then each round's agents are put in order by a
// work-item of its own. Local memory: 8 bytes an agent and round, up to ROUNDS_LIMIT.
//
// A rule of a user, which gives every agent a number, puts the agents of a round in the order of
// their numbers.
#include "economy/streams.cl"
#include "primitives/group.cl"
#include "primitives/permute.cl"

#define ORDER_LIMIT 4096
#define ROUNDS_LIMIT 2048
#define ROUNDS_AT_ONCE (!DEVICE_IS_CPU && ROUNDS > 0 && AGENTS * ROUNDS <= ROUNDS_LIMIT)

// Entries from one round to the next: the same places of two are not in the same bank.
#define ORDER_ROW (AGENTS | 1)

#ifdef RULE_TRADING_MEETING
#include "economy/curves.cl"

#define NUMBER_OF(agent) rule_trading_meeting(agent, agents, group_of(agent), round FAULT_OF(fault))

// Sort the agents of a round by their numbers; equal ones stay in the random order. One work-item
// inserts one agent after the other.
static void sort_round(__global int *order, const uint agents, const uint round,
                       __global const int *group_of_agent_table FAULT_PARAMETER)
{
    for (uint sorted = 1; sorted < agents; ++sorted) {
        const int agent = order[sorted];
        const long number = NUMBER_OF(agent);
        uint place = sorted;
        for (; place > 0 && NUMBER_OF(order[place - 1]) > number; --place)
            order[place] = order[place - 1];
        order[place] = agent;
    }
}

#define RULED_TABLES , TABLE_PARAMETERS
#define RULED_PARAMETERS , __global const int *group_of_agent_table
#define RULED_ARGUMENTS , group_of_agent_table
#else
#define RULED_TABLES
#define RULED_PARAMETERS
#define RULED_ARGUMENTS
#endif

// Make the pairs of all rounds of a society's market.
COLLECTIVE_WHOLE void order_agents(STATE_PARAMETERS RULED_PARAMETERS, const size_t society)
{
    const uint lid = get_local_id(0), lanes = get_local_size(0);
#if ROUNDS_AT_ONCE
    __local uint *orders = local_malloc(ROUNDS * ORDER_ROW * sizeof(uint));
    __local uint *places = local_malloc(ROUNDS * ORDER_ROW * sizeof(uint));
    const uint all = ROUNDS * agents;

    for (uint i = lid; i < all; i += lanes)
        orders[i / AGENTS * ORDER_ROW + i % AGENTS] = i % AGENTS;
    if (lid == 0) {
        rng_t rng = rng_load(stream(AGENTS, PURPOSE_RESOURCE_MATCHING));
        for (uint round = 0; round < ROUNDS; ++round)
            for (uint last = agents; last > 1u; --last)
                places[round * ORDER_ROW + last - 1u] = rng_below(&rng, last);
        stream(AGENTS, PURPOSE_RESOURCE_MATCHING) = rng_pack(rng);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // agents in place and all draws, before they are shuffled
    // the steps of random_permutation(), of a round each
    for (uint i = lid * agents; i < all; i += lanes * agents) {
        __local uint *order = orders + i / AGENTS * ORDER_ROW;
        for (uint last = agents; last > 1u; --last) {
            const uint place = places[i / AGENTS * ORDER_ROW + last - 1u];
            const uint taken = order[place];
            order[place] = order[last - 1u];
            order[last - 1u] = taken;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all rounds, before they are stored
    for (uint i = lid; i < all; i += lanes)
        partners(i / AGENTS, i % AGENTS) = orders[i / AGENTS * ORDER_ROW + i % AGENTS];
#else
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
#endif
#ifdef RULE_TRADING_MEETING
    barrier(CLK_GLOBAL_MEM_FENCE);  // the random orders, before they are sorted
    for (uint round = lid; round < ROUNDS; round += lanes)
        sort_round(&partners(round, 0), agents, round,
                   group_of_agent_table FAULT_OF(&python_fault()));
#endif
}

__kernel void matching(STATE_PARAMETERS RULED_TABLES)
{
    order_agents(STATE RULED_ARGUMENTS, get_group_id(0));
}
