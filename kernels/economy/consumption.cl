// How much is used up overnight? Every held unit disappears with probability 1 / lifetime. Every
// device loses some minutes of use, a partly used one in proportion.
// Twin: reference_py/economy/consumption.py.
//
// A workgroup is an agent, a work-item a resource; on a CPU one work-item does it all (group.cl).
// Each resource draws from a stretch of its own in the agent's stream: after the most that the
// resources before it could draw (a scan). Local memory: 4 bytes a resource, on a CPU none.
#include "economy/streams.cl"
#include "economy/curves.cl"
#include "primitives/group.cl"
#include "primitives/scan.cl"

#if DEVICES
// Let devices decay; minutes that are fewer than a day's decay vanish. Each work-item serves its
// resources.
static void depreciate(STATE_PARAMETERS, const size_t society, const uint agent)
{
    for (uint device_type = 0; device_type < TYPES; ++device_type)
        for (uint r = LANE; r < resources; r += LANES) {
            const real owned = device_minutes(agent, device_type, r);
            real left = 0.0;
            if (owned > P(daily_decay)) {
                left = owned - P(daily_decay) * (owned / device_lifetime[device_type]);
                left = left > 0.0 ? left : 0.0;
            }
            device_minutes(agent, device_type, r) = left;
        }
}
#endif

// Each held unit is used up or not, by chance.
#if DEVICE_IS_CPU
// By one work-item alone, from resource to resource.
COLLECTIVE_WHOLE void consume(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society,
                              const uint agent)
{
    rng_t rng = rng_load(stream(agent, PURPOSE_CONSUMPTION));
    for (uint r = 0; r < RESOURCES; ++r) {
        const int units = held(agent, r);
        if (units == 0) continue;
        const ulong threshold = consumption_threshold_table[of_resource(agent, r)];
        held(agent, r) = units - (int)rng_binomial_spaced(&rng, units, threshold);
    }
    stream(agent, PURPOSE_CONSUMPTION) = rng_pack(rng);
}
#else
// By all work-items. Local memory: 4 bytes a resource.
COLLECTIVE void consume(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent)
{
    __local uint *offset = local_malloc(RESOURCES * sizeof(uint));
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0))
        offset[r] = rng_binomial_reserve(held(agent, r));
    barrier(CLK_LOCAL_MEM_FENCE);  // draws needed by all resources, before they are added up
    const uint total = scan_exclusive(offset, resources);

    const rng_t start = rng_load(stream(agent, PURPOSE_CONSUMPTION));
    barrier(CLK_GLOBAL_MEM_FENCE);  // all work-items have read the stream, before it moves on
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        const int units = held(agent, r);
        if (units > 0) {
            rng_t rng = start;
            rng_skip(&rng, offset[r]);
            const ulong threshold = consumption_threshold_table[of_resource(agent, r)];
            held(agent, r) = units - (int)rng_binomial(&rng, units, threshold);
        }
    }
    if (get_local_id(0) == 0) {
        rng_t rng = start;
        rng_skip(&rng, total);
        stream(agent, PURPOSE_CONSUMPTION) = rng_pack(rng);
    }
}
#endif

#if SYNCHRONIZES
// By all work-items, each resource from its own part of the day's stream. No local memory.
static void consume_parts(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society,
                          const uint agent)
{
    for (uint r = LANE; r < resources; r += LANES) {
        const int units = held(agent, r);
        if (units == 0) continue;
        rng_t rng = rng_of_part(stream(agent, PURPOSE_CONSUMPTION), r, RESOURCES);
        const ulong threshold = consumption_threshold_table[of_resource(agent, r)];
        held(agent, r) = units - (int)rng_binomial(&rng, units, threshold);
    }
}
#endif

__kernel void consumption(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (LANE == 0) {
        units_sold(agent) = 0;  // the counters of tomorrow begin at 0
        deals(agent) = 0;
    }
    if (!alive(agent)) return;

#if SYNCHRONIZES
    if (P(synchronized_draws)) {
        consume_parts(STATE, TABLES, society, agent);
#if DEVICES
        depreciate(STATE, society, agent);
#endif
        return;
    }
#endif
    consume(STATE, TABLES, society, agent);
#if DEVICES
    depreciate(STATE, society, agent);
#endif
}
