// What does every agent hold before the first day? Its endowment with each resource.
// Twin: reference_py/economy/endowment.py.
//
// A workgroup is an agent, a work-item a resource. No local memory, no barriers.
#include "economy/curves.cl"

__kernel void endow(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        const int units = endowment_table[of_resource(agent, r)];
        held(agent, r) = units;
        value(agent, r) = marginal_utility(TABLES, utility_curve(agent, r), units);
    }
}
