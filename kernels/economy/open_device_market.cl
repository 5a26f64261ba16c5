// What does the market for a type of device change when it opens? No agents have met yet, and the
// remembered gains of partners become a day older.
// Twin: reference_py/economy/open_device_market.py.
//
// A workgroup is a society (on a CPU one work-item alone, see group.cl), a work-item an agent, then
// a resource of an agent. No local memory but a word.
#include "economy/devices.cl"
#include "primitives/group.cl"

// Make the agent's remembered gains a day older. Who brought nothing lately is forgotten: the
// partners that are left move up and keep their order.
static void grow_older(STATE_PARAMETERS, const size_t society, const uint agent,
                       const uint device_type)
{
    uint left = 0, i = 0;
    for (; i < PARTNERS_REMEMBERED; ++i) {
        const int partner = remembered_partner(agent, device_type, i);
        if (partner == NO_AGENT) break;
        __global const real *gains = &partner_memory(agent, device_type, i, 0);
        bool gained = false;
        for (uint day = 0; day + 1 < PARTNER_MEMORY; ++day) gained |= gains[day] > 0.0;
        if (!gained) continue;
        __global real *older = &partner_memory(agent, device_type, left, 0);
        for (uint day = PARTNER_MEMORY - 1; day > 0; --day) older[day] = gains[day - 1];
        older[0] = 0.0;
        remembered_partner(agent, device_type, left) = partner;
        ++left;
    }
    for (; left < i; ++left) {
        remembered_partner(agent, device_type, left) = NO_AGENT;
        for (uint day = 0; day < PARTNER_MEMORY; ++day)
            partner_memory(agent, device_type, left, day) = 0.0;
    }
}

COLLECTIVE void open_market(STATE_PARAMETERS, const size_t society, const uint device_type)
{
    __local uint *open = local_malloc(sizeof(uint));
    if (LANE == 0) *open = 0;
    bool known = false;
    for (uint agent = LANE; agent < agents; agent += LANES) {
        for (uint round = 0; round < DEVICE_ROUND_SLOTS; ++round) met(agent, round) = NO_AGENT;
        grow_older(STATE, society, agent, device_type);
    }
    for (uint i = LANE; i < agents * resources; i += LANES)
        known |= device_experience(i / RESOURCES, device_type, i % RESOURCES) > 0.0;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // no device found yet, before some are
    if (known) atomic_or(open, 1u);
    group_barrier(CLK_LOCAL_MEM_FENCE);  // what all work-items found, before it is stored
    if (LANE == 0) market_open() = *open;
    local_free(sizeof(uint));
}

__kernel void open_device_market(STATE_PARAMETERS, const uint device_type)
{
    open_market(STATE, get_group_id(0), device_type);
}
