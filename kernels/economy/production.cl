// Which devices does an agent make today, and what does making them take? It keeps every promise.
// Twin: reference_py/economy/production.py.
//
// A workgroup is an agent, a work-item a resource; on a CPU one work-item does it all (group.cl).
// Type by type, from tools upwards, each work-item makes the devices of its resources. Components
// are counted in any order, as they are whole numbers; minutes are added in the tree of reduce_sum.
// Local memory: 12 bytes a resource.
#include "economy/devices.cl"
#include "primitives/group.cl"
#include "primitives/reduce.cl"

#define MOVED 8  // numbers that a work-item moves at once

// Make the promised devices of one type and resource, one by one, and return the minutes that it
// took. `used` counts the components used up, by resource.
INLINED real make_all(AGENT_PARAMETERS, const uint device_type, const uint resource,
                      __local int *used)
{
    const int count = to_make(agent, device_type, resource);
    if (count <= 0) return 0.0;
    const int maker = maker_type[device_type];
    const uint curve = making_curve(agent, resource);
    const real learns = device_experience_for_making[device_type];
    real knows = device_experience(agent, device_type, resource), total = 0.0;
    real left = maker == BY_HAND ? 0.0 : device_minutes(agent, maker, resource);
    int with_maker = 0;
    for (int i = 0; i < count; ++i) {
        const bool aided = left > 0.0;
        const real speed = aided ? device_factor[maker] : 1.0;
        const real spent = making_effort(TABLES, curve, knows) / speed;
        total += spent;
        if (aided) {
            left = left > spent ? left - spent : 0.0;
            ++with_maker;
        }
        knows += learns / speed;
    }
    device_experience(agent, device_type, resource) = knows;
    if (with_maker > 0) {
        device_minutes(agent, maker, resource) = left;
        atomic_add(&made_with_device(agent, device_type), with_maker);
    }
    practised(agent, device_type, resource) = 1;
    recently_made(agent, device_type, resource, 0) += count;
    devices_made(agent, device_type, resource) += count;
    to_make(agent, device_type, resource) = 0;
    for (uint i = 0; i < COMPONENT_SLOTS; ++i) {
        const int k = recipe(device_type, resource, i);
        if (k < 0) break;
        atomic_add(&used[k], count);
    }
    return total;
}

// Use up the locked components. Those made for the purpose were never locked.
static void use_component(STATE_PARAMETERS, const size_t society, const uint agent,
                          const uint device_type, const uint component, const int count)
{
    if (device_type == TOOL) {
        set_aside(agent, component) -= count;
    } else {
        const int left = devices_set_aside(agent, component_type[device_type], component) - count;
        devices_set_aside(agent, component_type[device_type], component) = left > 0 ? left : 0;
    }
}

// Begin a day of what was made recently, and forget the oldest one. On a GPU neighbours move
// neighbouring numbers, from the last ones on: some are read, then these are written.
COLLECTIVE void begin_production_day(AGENT_PARAMETERS)
{
#if DEVICE_IS_CPU
    for (uint device_type = 0; device_type < TYPES; ++device_type)
        for (uint r = LANE; r < resources; r += LANES) {
            for (uint day = PRODUCTION_MEMORY - 1; day > 0; --day)
                recently_made(agent, device_type, r, day) =
                    recently_made(agent, device_type, r, day - 1);
            recently_made(agent, device_type, r, 0) = 0;
        }
#else
    __global int *made = &recently_made(agent, 0, 0, 0);
    uint end = TYPES * RESOURCES * PRODUCTION_MEMORY;
    do {
        const uint first = end > MOVED * LANES ? end - MOVED * LANES : 0;
        int moved[MOVED];
#pragma unroll
        for (uint j = 0; j < MOVED; ++j) {
            const uint i = first + j * LANES + LANE;
            moved[j] = i < end && i % PRODUCTION_MEMORY != 0 ? made[i - 1] : 0;
        }
        group_barrier(CLK_GLOBAL_MEM_FENCE);  // numbers are read, before others replace them
#pragma unroll
        for (uint j = 0; j < MOVED; ++j) {
            const uint i = first + j * LANES + LANE;
            if (i < end) made[i] = moved[j];
        }
        end = first;
    } while (end > 0);
    group_barrier(CLK_GLOBAL_MEM_FENCE);  // zeros of the new day, before they are added to
#endif
}

// All that a living agent makes in a day.
COLLECTIVE_WHOLE void produce(AGENT_PARAMETERS)
{
    __local real *spent = local_malloc(RESOURCES * sizeof(real));
    __local int *used = local_malloc(RESOURCES * sizeof(int));
    begin_production_day(AGENT(agent));

    uint place = 0;
    do {
        const uint device_type = bottom_up[place];
        for (uint r = LANE; r < resources; r += LANES) used[r] = 0;
        group_barrier(CLK_LOCAL_MEM_FENCE);  // zeros, before components are counted
        for (uint r = LANE; r < resources; r += LANES)
            spent[r] = make_all(AGENT(agent), device_type, r, used);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // all are made, before minutes and components
        for (uint k = LANE; k < resources; k += LANES)
            if (used[k] > 0) use_component(STATE, society, agent, device_type, k, used[k]);
        if (LANE == 0) {
            making_minutes(agent, device_type) = reduce_sum_alone(spent, resources);
            overtime(agent) += making_minutes(agent, device_type);
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // this type's totals are read, before the next one's
        ++place;
    } while (place < TYPES);
}

__kernel void production(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (!alive(agent)) return;
    produce(AGENT(agent));
}
