// What does the market for a type of device change when it opens? No agents have met yet, and the
// remembered gains of partners become a day older.
// Twin: reference_py/economy/open_device_market.py.
//
// A workgroup is a society (on a CPU one work-item alone, see group.cl), a work-item a pair of
// agents, then a resource of an agent. No local memory but a word.
#include "economy/devices.cl"
#include "primitives/group.cl"

__kernel void open_device_market(STATE_PARAMETERS, const uint device_type)
{
    const size_t society = get_group_id(0);
    __local uint open;
    if (LANE == 0) open = 0;
    for (size_t pair = LANE; pair < (size_t)agents * agents; pair += LANES) {
        const uint agent = pair / AGENTS, partner = pair % AGENTS;
        met(agent, partner) = 0;
        __global real *memory = &partner_memory(agent, device_type, partner, 0);
        bool gained = false;
        for (uint day = 0; day < PARTNER_MEMORY; ++day) gained |= memory[day] > 0.0;
        if (gained) {
            for (uint day = PARTNER_MEMORY - 1; day > 0; --day) memory[day] = memory[day - 1];
            memory[0] = 0.0;
        }
    }
    bool known = false;
    for (uint i = LANE; i < agents * resources; i += LANES)
        known |= device_experience(i / RESOURCES, device_type, i % RESOURCES) > 0.0;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // no device found yet, before some are
    if (known) atomic_or(&open, 1u);
    group_barrier(CLK_LOCAL_MEM_FENCE);  // what all work-items found, before it is stored
    if (LANE == 0) market_open() = open;
}
