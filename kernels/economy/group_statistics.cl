// What did the day bring each group of agents, and how much did it trade with others?
// Twin: reference_py/economy/statistics.py
#include "economy/curves.cl"
#include "economy/order.cl"
#include "primitives/reduce.cl"

#if GROUPS > 1
// Counts of an agent that are added up over its group. From OF_MADE on they are the devices made,
// by type.
#define OF_ALIVE 0
#define OF_GROUP_EXTRACTED 1
#define OF_GROUP_HELD 2
#define OF_GROUP_SOLD 3
#define OF_SOLD_OUTSIDE 4
#define OF_PAID 5
#define OF_PAID_OUTSIDE 6
#define OF_MADE 7
#if DEVICES
#define GROUP_COUNTS (OF_MADE + TYPES)
#else
#define GROUP_COUNTS OF_PAID
#endif

static int count_of(STATE_PARAMETERS, const size_t society, const uint quantity, const uint agent)
{
    switch (quantity) {
    case OF_ALIVE: return alive(agent);
    case OF_GROUP_EXTRACTED: return units_extracted(agent);
    case OF_GROUP_HELD: return units_held(agent);
    case OF_GROUP_SOLD: return units_sold(agent);
    case OF_SOLD_OUTSIDE: return units_sold_outside(agent);
#if DEVICES
    case OF_PAID: return units_paid(agent);
    case OF_PAID_OUTSIDE: return units_paid_outside(agent);
    default: return made_today(agent, quantity - OF_MADE);
#else
    default: return 0;
#endif
    }
}

static uint group_series(const uint quantity, const uint group)
{
    switch (quantity) {
    case OF_ALIVE: return series_of_group_agents_alive[group];
    case OF_GROUP_EXTRACTED: return series_of_group_units_extracted[group];
    case OF_GROUP_HELD: return series_of_group_units_held[group];
    case OF_GROUP_SOLD: return series_of_group_units_traded[group];
    case OF_SOLD_OUTSIDE: return series_of_group_units_traded_outside[group];
#if DEVICES
    case OF_PAID: return series_of_group_units_paid_for_devices[group];
    case OF_PAID_OUTSIDE: return series_of_group_units_paid_outside[group];
    default: return series_of_group_devices_made[group * TYPES + (quantity - OF_MADE)];
#else
    default: return 0;
#endif
    }
}

// Record the series of a group and reset its counts of trade with other groups. A workgroup is a
// group of a society; a work-item is first an agent, then a count. `utilities` has a row of AGENTS
// reals for each workgroup. Local memory: 4 bytes.
__kernel void group_statistics(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *utilities)
{
    const size_t society = get_group_id(0) / GROUPS;
    const uint group = get_group_id(0) % GROUPS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __global real *of_members = utilities + get_group_id(0) * AGENTS;
    __local int living;

    if (lid == 0) living = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is counted up
    for (uint i = lid; i < agents; i += lanes) {
        const bool is_member = group_of(i) == group;
        of_members[i] = is_member ? utility(i) : 0.0;
        if (is_member && alive(i)) atomic_inc(&living);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // utilities of all members
    const real total = reduce_sum_global(of_members, agents);
    const real count = (real)living;
    if (lid == 0) series(series_of_group_utility[group]) = living == 0 ? UNDEFINED : total / count;
    for (uint quantity = lid; quantity < GROUP_COUNTS; quantity += lanes) {
        long sum = 0;
        for (uint i = 0; i < agents; ++i)
            if (group_of(i) == group) sum += count_of(STATE, society, quantity, i);
        series(group_series(quantity, group)) = quantity == OF_ALIVE ? count
                                                : living == 0        ? UNDEFINED
                                                                     : (real)sum / count;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);  // counts have been read, before they are reset
    for (uint i = lid; i < agents; i += lanes)
        if (group_of(i) == group) {
            units_sold_outside(i) = 0;
#if DEVICES
            units_paid_outside(i) = 0;
#endif
        }
}
#endif
