// Which counts are reset every morning? Those of devices, and the gains of their makers.
// Twin: reference_py/economy/start_day.py.
//
// A workgroup is an agent, a work-item a resource; on a CPU one work-item does it all (group.cl).
// No local memory, no barriers.
#include "economy/devices.cl"
#include "primitives/group.cl"

__kernel void start_day(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (LANE == 0) {
        if (overtime(agent) < P(day_length)) device_gain(agent) = 0.0;
        units_paid(agent) = 0;
        for (uint device_type = 0; device_type < TYPES; ++device_type) {
            devices_sold(agent, device_type) = 0;
            made_with_device(agent, device_type) = 0;
            making_minutes(agent, device_type) = 0.0;
        }
    }
    for (uint device_type = 0; device_type < TYPES; ++device_type)
        for (uint r = LANE; r < resources; r += LANES) devices_made(agent, device_type, r) = 0;
}
