// What does an agent remember at the end of the day: the marginal value of every resource.
// Twin: reference_py/economy/end_day.py. A workgroup is an agent, a work-item a resource. No local
// memory, no barriers.
#include "economy/curves.cl"

static void remember(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (!alive(agent)) return;
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0))
        value(agent, r) = marginal_utility(TABLES, utility_curve(agent, r), held(agent, r));
}

__kernel void end_day(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    remember(STATE, TABLES);
}

// The same at the start of a market call (option trading.fresh_values).
__kernel void refresh_values(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    remember(STATE, TABLES);
}
