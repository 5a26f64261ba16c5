// What does an agent remember at the end of the day? It remembers the marginal utility of every
// resource, and how to make devices.
// Twin: reference_py/economy/end_day.py.
//
// A workgroup is an agent, a work-item a resource; with devices one work-item alone does it on a
// CPU (group.cl). No local memory; barriers only with devices.
#include "economy/curves.cl"
#include "primitives/group.cl"
#if DEVICES
#include "economy/knowledge.cl"
#endif

static void remember(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (!alive(agent)) return;
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0))
        value(agent, r) = marginal_utility(TABLES, utility_curve(agent, r), held(agent, r));
}

#if DEVICES
// Take one unit of experience in every device that was not made today; the last unit goes as a
// whole. An agent that owns a device keeps some experience. Each work-item serves its resources.
static void forget(AGENT_PARAMETERS)
{
    for (uint device_type = 0; device_type < TYPES; ++device_type)
        for (uint r = LANE; r < resources; r += LANES) {
            real known = device_experience(agent, device_type, r);
            if (!practised(agent, device_type, r)) known -= 1.0;
            if (known <= 1.0) known = 0.0;
            const real most = max_making_experience_table[making_curve(agent, r)];
            if (most < known) known = most;
            if (device_minutes(agent, device_type, r) > 0.0 && known < P(min_held_experience))
                known = P(min_held_experience);
            device_experience(agent, device_type, r) = known;
            practised(agent, device_type, r) = 0;
        }
}
#endif

__kernel void end_day(STATE_PARAMETERS, TABLE_PARAMETERS)
{
#if DEVICES
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (!alive(agent)) return;
    forget(AGENT(agent));
    if (LANE == 0) reserved_minutes(agent) = overtime(agent);
    group_barrier(CLK_GLOBAL_MEM_FENCE);  // experience in all types, before components are known
    know_components(STATE, society, agent);
#endif
    remember(STATE, TABLES);
}

// Remember marginal utilities at the start of a market call too (trading.fresh_values).
__kernel void refresh_values(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    remember(STATE, TABLES);
}
