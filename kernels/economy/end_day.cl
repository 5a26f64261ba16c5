// What does an agent remember at the end of the day: the marginal value of every resource, and how
// to make devices.
// Twin: reference_py/economy/end_day.py. A workgroup is an agent, a work-item a resource; where
// there are devices, on a CPU one work-item alone (group.cl). No local memory; barriers only where
// there are devices.
#include "economy/curves.cl"
#if DEVICES
#include "economy/knowledge.cl"
#include "primitives/group.cl"
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
// Take one experience for every device not made today, and the last one altogether. Whoever owns a
// device does not forget all about it. Each work-item serves its resources.
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
    group_barrier(CLK_GLOBAL_MEM_FENCE);  // what is left of all types, before components are known
    if (LANE == 0) know_components(STATE, society, agent);
#endif
    remember(STATE, TABLES);
}

// The same at the start of a market call (option trading.fresh_values).
__kernel void refresh_values(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    remember(STATE, TABLES);
}
