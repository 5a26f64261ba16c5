// The Boltzmann wealth model, phase by phase. Twin: my_model/reference.py.
//
// A workgroup is a society, of any number of work-items; a work-item serves every LANES-th agent
// or pair. Macros: AGENTS, LANES, SERIES_..., and P(name) for keys that are declared as values; it
// reads `value_table`, in which `society` has a row.
// The bounds of shared loops are parameters too: PoCL 3.0 miscompiles a loop up to a constant 1
// before a barrier (docs/design/parallel-form.md).
#include "primitives/permute.cl"
#include "primitives/reduce.cl"
#include "primitives/sort.cl"

// Give every society a random stream of its own, by its number. No local memory, no barriers.
__kernel void seed_streams(__global ulong *stream, __global const uint *society_numbers,
                           const ulong stream_base, const ulong stream_gap)
{
    const size_t society = get_group_id(0);
    if (get_local_id(0) == 0)
        stream[society] = rng_pack(rng_seed(stream_base, stream_gap, society_numbers[society]));
}

// Pair the agents at random; the first of a pair pays the second, if it can. Local memory: 4 bytes
// an agent.
__kernel void exchange(__global int *money, __global ulong *stream, const uint agents,
                       __global const real *value_table)
{
    const size_t society = get_group_id(0);
    const int amount = P(amount);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __global int *own = money + society * agents;
    __local uint *order = local_malloc(AGENTS * sizeof(uint));

    rng_t rng;  // of work-item 0, which draws: the draws of a stream have an order
    if (lid == 0) rng = rng_load(stream[society]);
    random_permutation(&rng, order, agents);
    if (lid == 0) stream[society] = rng_pack(rng);

    // The pairs have no agent in common, so they exchange all at once.
    for (uint pair = lid; pair < agents / 2; pair += lanes) {
        const uint payer = order[2 * pair], payee = order[2 * pair + 1];
        if (own[payer] >= amount) {
            own[payer] -= amount;
            own[payee] += amount;
        }
    }
}

// Fill the day's series. Whole numbers are added, so their order does not matter. Local memory: 8
// bytes an agent and 8 a work-item.
__kernel void statistics(__global const int *money, __global real *series, const uint agents,
                         __global const real *value_table)
{
    const size_t society = get_group_id(0);
    const uint amount = P(amount);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __global const int *own = money + society * agents;
    __global real *result = series + society * SERIES;
    __local uint *sorted = local_malloc(AGENTS * sizeof(uint));
    __local uint *holder = local_malloc(AGENTS * sizeof(uint));
    __local long *of_lane = local_malloc(LANES * sizeof(long));

    for (uint i = lid; i < agents; i += lanes) {
        sorted[i] = own[i];
        holder[i] = i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the money of all agents, before it is sorted
    sort_keys_uint(sorted, holder, agents, false);

    // The i-th from 0 is the greater one in i pairs and the lesser one in agents - 1 - i.
    long differences = 0, total = 0, poor = 0;
    for (uint i = lid; i < agents; i += lanes) {
        differences += (2 * (long)i + 1 - (long)agents) * sorted[i];
        total += sorted[i];
        poor += sorted[i] < amount;
    }
    of_lane[lid] = differences;
    barrier(CLK_LOCAL_MEM_FENCE);  // the part of every work-item, before they are added
    differences = reduce_sum_long(of_lane, lanes);
    of_lane[lid] = total;
    barrier(CLK_LOCAL_MEM_FENCE);  // the part of every work-item, before they are added
    total = reduce_sum_long(of_lane, lanes);
    of_lane[lid] = poor;
    barrier(CLK_LOCAL_MEM_FENCE);  // the part of every work-item, before they are added
    poor = reduce_sum_long(of_lane, lanes);

    if (lid == 0) {
        result[SERIES_gini] = (real)differences / ((real)agents * (real)total);
        result[SERIES_richest] = (real)sorted[agents - 1];
        result[SERIES_poor] = (real)poor;
        result[SERIES_total] = (real)total;
    }
}
