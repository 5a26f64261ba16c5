// Which devices exist, which agents know, make and use them: statistics of a day with devices.
// Twin: reference_py/economy/statistics.py
#include "economy/devices.cl"
#include "primitives/group.cl"
#include "primitives/reduce.cl"

#if DEVICES
// Add up the devices of every living agent. A workgroup is a type of an agent, a work-item a
// resource. Local memory: 8 bytes a resource and 4 more.
__kernel void device_holdings(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0) / (AGENTS * TYPES);
    const uint agent = get_group_id(0) / TYPES % AGENTS, device_type = get_group_id(0) % TYPES;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real *left = local_malloc(RESOURCES * sizeof(real));
    __local int sum_made;
    if (!alive(agent)) return;

    if (lid == 0) sum_made = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is added to
    int my_made = 0;
    for (uint r = lid; r < resources; r += lanes) {
        left[r] = device_minutes(agent, device_type, r);
        my_made += devices_made(agent, device_type, r);
    }
    atomic_add(&sum_made, my_made);  // whole numbers: any order gives the same sum
    barrier(CLK_LOCAL_MEM_FENCE);  // minutes and counts of all work-items
    const real stock = reduce_sum_local(left, resources);
    if (lid == 0) {
        device_stock(agent, device_type) = stock;
        made_today(agent, device_type) = sum_made;
    }
}

// Count the agents that know how to make each device. A workgroup is a type of a society, a
// work-item a resource. No local memory.
__kernel void device_knowledge(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0) / TYPES;
    const uint device_type = get_group_id(0) % TYPES;
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        int knowing = 0;
        for (uint i = 0; i < agents; ++i) knowing += device_experience(i, device_type, r) > 0.0;
        agents_knowing(device_type, r) = knowing;
    }
}

// Quantities of an agent whose mean over agents is recorded: minutes of extraction by source,
// minutes of making by type, devices held by type, overtime. Each kind is numbered from its macro
// FIRST_... on, in the order of the columns of `series_of_device_means`. The differences are
// unsigned: a quantity before the first of its kind gives a number larger than any number of types.
static real amount_of(STATE_PARAMETERS, const size_t society, const uint quantity, const uint agent)
{
    if (quantity - FIRST_MINUTES_WITH < SOURCES)
        return minutes_with(agent, quantity - FIRST_MINUTES_WITH);
    if (quantity - FIRST_MAKING_MINUTES < TYPES)
        return making_minutes(agent, quantity - FIRST_MAKING_MINUTES);
    if (quantity - FIRST_DEVICE_STOCK < TYPES)
        return device_stock(agent, quantity - FIRST_DEVICE_STOCK);
    return overtime(agent);
}

// Record the means of the quantities above. A workgroup is a quantity of a society, a
// work-item an agent. `amounts` has a row of AGENTS reals for each workgroup.
// Local memory: 4 bytes.
__kernel void device_means(STATE_PARAMETERS, __global real *amounts)
{
    const size_t society = get_group_id(0) / DEVICE_MEANS;
    const uint quantity = get_group_id(0) % DEVICE_MEANS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __global real *amount = amounts + get_group_id(0) * AGENTS;
    __local int living;

    if (lid == 0) living = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is counted up
    for (uint i = lid; i < agents; i += lanes) {
        amount[i] = amount_of(STATE, society, quantity, i);  // 0 for a removed agent
        if (alive(i)) atomic_inc(&living);
    }
    // The amounts and the count of all agents, before they are read.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const real mean = reduce_sum_global(amount, agents) / (real)living;
    if (lid == 0) {
        // Only devices held have a type here. Their minutes of use become a number of devices.
        const uint device_type = quantity - FIRST_DEVICE_STOCK;
        series(series_of_device_means[quantity]) =
            device_type < TYPES ? mean / device_lifetime[device_type] : mean;
    }
}

static real share_of(const long part, const long whole)
{
    return whole > 0 ? (real)part / (real)whole : 0.0;
}

COLLECTIVE_WHOLE void describe_devices(STATE_PARAMETERS, const size_t society, const uint day)
{
    const uint lid = LANE, lanes = LANES;
    int living = 0;
    for (uint i = 0; i < agents; ++i) living += alive(i);
    const real count = (real)living;

    for (uint device_type = lid; device_type < TYPES; device_type += lanes) {
        long made = 0, sold = 0, fast = 0;
        int known = 0, invented = 0;
        for (uint i = 0; i < agents; ++i) {
            made += made_today(i, device_type);
            sold += devices_sold(i, device_type);
            fast += made_with_device(i, device_type);
        }
        for (uint r = 0; r < resources; ++r) {
            known += agents_knowing(device_type, r) > 0;
            invented += (uint)invented_on(device_type, r) == day;
        }
        series(series_of_devices_made[device_type]) = (real)made / count;
        series(series_of_devices_traded[device_type]) = (real)sold / count;
        series(series_of_devices_known[device_type]) = (real)known;
        series(series_of_inventions[device_type]) = (real)invented;
        if (device_type == TOOL) series(SERIES_device_maker_share_tools) = share_of(fast, made);
        if (device_type == MACHINE)
            series(SERIES_device_maker_share_machines) = share_of(fast, made);
    }

    if (lid == 0) {
        long paid = 0, all = 0, by_hand = 0;
        for (uint i = 0; i < agents; ++i) {
            paid += units_paid(i);
            by_hand += extracted_with(i, 0);
            for (uint source = 0; source < SOURCES; ++source) all += extracted_with(i, source);
        }
        series(SERIES_units_paid_for_devices) = (real)paid / count;
        series(series_of_extraction_share[0]) = share_of(by_hand, all);
        real interdependence = 0.0, contained = (real)RESOURCES_IN_TOOL;
        for (uint source = 1; source < SOURCES; ++source) {
            long units = 0;
            for (uint i = 0; i < agents; ++i) units += extracted_with(i, source);
            const real share = share_of(units, all);
            series(series_of_extraction_share[source]) = share;
            interdependence += share * contained;
            contained *= (real)COMPONENTS;
        }
        series(SERIES_interdependence) = interdependence;
    }
}

// Record the counts of devices and the shares of the units extracted by source. A workgroup is a
// society, a work-item a type. No local memory.
__kernel void device_statistics(STATE_PARAMETERS, const uint day)
{
    describe_devices(STATE, get_group_id(0), day);
}
#endif
