// What do economists measure of a day: prices, income, consumption, wealth, and their inequality.
// Twin: reference_py/economy/measures.py. Sums of real numbers over agents and resources run over
// the fixed tree of primitives/reduce.cl, those of a resource's prices in the order of the agents.
// Compiled only if the configuration asks for measures; no decision reads what is written here.
#include "economy/curves.cl"
#include "economy/order.cl"
#include "primitives/reduce.cl"
#if DEVICES
#include "economy/valuation.cl"
#endif

// Begin the accounts of a day. A workgroup is an agent, a work-item a resource. No local memory.
__kernel void begin_measures(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        priced_units(agent, r) = 0;
        priced_for(agent, r) = 0;
        priced_squares(agent, r) = 0.0;
    }
    if (get_local_id(0) == 0) {
        income_swaps(agent) = 0.0;
#if DEVICES
        income_sales(agent) = 0.0;
        spending_devices(agent) = 0.0;
#endif
    }
}

// Value what an agent has extracted today: the utility that it added. A workgroup is an agent, a
// work-item a resource. Local memory: 8 bytes a resource.
__kernel void measure_extraction(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    __local real *added = local_malloc(RESOURCES * sizeof(real));
    if (!alive(agent)) return;
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        const uint curve = utility_curve(agent, r);
        const real now = total_utility(TABLES, curve, held(agent, r));
        added[r] = now - total_utility(TABLES, curve, held(agent, r) - extracted(agent, r));
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // what all resources added, before it is summed
    const real total = reduce_sum_local(added, resources);
    if (get_local_id(0) == 0) income_extraction(agent) = total;
}

#if DEVICES
// Find what a minute brings the median agent. A workgroup is a society, a work-item an agent.
// `samples` and `works` have a row of AGENTS reals for each workgroup. Local memory: 4 bytes.
__kernel void value_minutes(STATE_PARAMETERS, __global real *samples, __global real *works)
{
    const size_t society = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __global real *sample = samples + society * AGENTS, *work = works + society * AGENTS;
    __local int living;

    for (uint i = lid; i < agents; i += lanes) work[i] = gain_per_minute(i);
    gather_living(STATE, society, work, sample, &living);
    __global const real *ordered = put_in_order(sample, work, agents);
    if (lid == 0) minute_value() = median(ordered, living);
}

// What the use that is left in an agent's devices is worth, by resource: a minute of use is worth
// what making a new device from resources by hand would cost the agent, over the device's lifetime.
// The minutes that making takes are valued at what one brings the median agent. By all work-items;
// `costs` has TYPES * RESOURCES reals. Local memory: none but `worth`.
COLLECTIVE void worth_of_devices(AGENT_PARAMETERS, __global real *costs, __local real *worth)
{
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) worth[r] = 0.0;
    uint level = 0;
    do {
        const uint device_type = bottom_up[level];
        for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
            const uint curve = making_curve(agent, r);
            real total = 0.0;
            if (has_recipe(STATE, society, device_type, r))
                total = making_effort(TABLES, curve, device_experience(agent, device_type, r)) *
                        minute_value();
            for (uint i = 0; i < COMPONENT_SLOTS; ++i) {  // ascending
                const int k = recipe(device_type, r, i);
                if (k < 0) break;
                total += device_type == TOOL ? value_of_last_unit(AGENT(agent), k)
                                             : costs[component_type[device_type] * RESOURCES + k];
            }
            costs[device_type * RESOURCES + r] = total;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);  // the costs of components, before what is made of them
        ++level;
    } while (level < TYPES);
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0))
        for (uint device_type = 0; device_type < TYPES; ++device_type)
            worth[r] += device_minutes(agent, device_type, r) / device_lifetime[device_type] *
                        costs[device_type * RESOURCES + r];
    barrier(CLK_LOCAL_MEM_FENCE);  // worth of the devices for all resources
}
#endif

// Close the accounts of an agent, after it has consumed. A workgroup is an agent, a work-item a
// resource. `costs` has a row of TYPES * RESOURCES reals for each workgroup (without devices none).
// Local memory: 8 bytes a resource (with devices 16) and 4 more.
__kernel void agent_measures(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *costs)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real *worth = local_malloc(RESOURCES * sizeof(real));
    __local int left;
    if (!alive(agent)) return;

    if (lid == 0) left = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is added to
    int my_left = 0;
    for (uint r = lid; r < resources; r += lanes) {
        my_left += held(agent, r);
        worth[r] = total_utility(TABLES, utility_curve(agent, r), held(agent, r));
    }
    atomic_add(&left, my_left);  // whole numbers: any order gives the same sum
    barrier(CLK_LOCAL_MEM_FENCE);  // worth and units of all resources
    const real stocks = reduce_sum_local(worth, resources);
#if DEVICES
    __local real *of_devices = local_malloc(RESOURCES * sizeof(real));
    worth_of_devices(AGENT(agent), costs + get_group_id(0) * TYPES * RESOURCES, of_devices);
    const real devices = reduce_sum_local(of_devices, resources);
#endif
    if (lid == 0) {
        units_consumed(agent) = units_held(agent) - left;
        utility_consumed(agent) = utility(agent) - stocks;
        const real earned = income_extraction(agent) + income_swaps(agent);
#if DEVICES
        income(agent) = earned + income_sales(agent);
        wealth_stocks(agent) = stocks;
        wealth_devices(agent) = devices;
        wealth(agent) = stocks + devices;
#else
        income(agent) = earned;
        wealth(agent) = stocks;
#endif
#if POLICIES
        disposable_income(agent) = income(agent) + redistributed(agent);
#endif
    }
}

// Quantities of an agent that are recorded, numbered MEASURED_... below QUANTITIES.
static real quantity_of(STATE_PARAMETERS, const size_t society, const uint quantity,
                        const uint agent)
{
    switch (quantity) {
    case MEASURED_INCOME: return income(agent);
    case MEASURED_CONSUMPTION: return utility_consumed(agent);
    case MEASURED_WEALTH: return wealth(agent);
    case MEASURED_UNITS_CONSUMED: return (real)units_consumed(agent);
    case MEASURED_INCOME_EXTRACTION: return income_extraction(agent);
#if POLICIES
    case MEASURED_DISPOSABLE_INCOME: return disposable_income(agent);
    case MEASURED_REDISTRIBUTED: return redistributed(agent);
#endif
#if DEVICES
    case MEASURED_INCOME_SALES: return income_sales(agent);
    case MEASURED_SPENDING_DEVICES: return spending_devices(agent);
    case MEASURED_WEALTH_STOCKS: return wealth_stocks(agent);
    case MEASURED_WEALTH_DEVICES: return wealth_devices(agent);
#endif
    default: return income_swaps(agent);
    }
}

// How much the agent of a rank (0: the richest) counts in the richest `room` agents.
static real weight_of(const int rank, const real room)
{
    const int whole = (int)room;
    return rank < whole ? 1.0 : rank == whole ? room - (real)whole : 0.0;
}

// Record the mean of a quantity and, if its inequality is recorded, median, Gini coefficient and
// top shares over the living agents. A workgroup is a quantity of a society, a work-item an agent.
// `samples` and `works` have a row of AGENTS reals for each workgroup. Local memory: 4 bytes.
__kernel void compare_agents(STATE_PARAMETERS, __global real *samples, __global real *works)
{
    const size_t society = get_group_id(0) / QUANTITIES;
    const uint quantity = get_group_id(0) % QUANTITIES;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __global real *sample = samples + get_group_id(0) * AGENTS;
    __global real *work = works + get_group_id(0) * AGENTS;
    __local int living;

    for (uint i = lid; i < agents; i += lanes) work[i] = quantity_of(STATE, society, quantity, i);
    gather_living(STATE, society, work, sample, &living);
    const real total = reduce_sum_global(work, agents);
    const real count = (real)living;
    if (lid == 0) measures(quantity) = total / count;
    if (quantity >= COMPARED) return;

    __global const real *ordered = put_in_order(sample, work, agents);
    __global real *free_row = ordered == sample ? work : sample;
    for (uint i = lid; i < (uint)living; i += lanes) free_row[i] = (real)(i + 1) * ordered[i];
    barrier(CLK_GLOBAL_MEM_FENCE);  // weighted numbers in order
    const real weighted = reduce_sum_global(free_row, living);
    if (lid == 0) {
        measures(FIRST_INCOME_MEDIAN + quantity) = median(ordered, living);
        measures(FIRST_GINI_INCOME + quantity) = gini(weighted, total, count);
    }
    uint top = 0;
    do {
        const real room = top_parts[top] * count;
        for (uint i = lid; i < (uint)living; i += lanes)
            free_row[i] = weight_of(living - 1 - (int)i, room) * ordered[i];
        barrier(CLK_GLOBAL_MEM_FENCE);  // weighted numbers of all agents, before they are summed
        const real share = reduce_sum_global(free_row, living);
        if (lid == 0)
            measures(FIRST_TOP_SHARE_INCOME_0 + quantity * TOPS + top) =
                total != 0.0 ? share / total : 0.0;
        ++top;
    } while (top < TOPS);
}

#if GROUPS > 1
// Record the mean of a quantity over the living members of a group. A workgroup is a group and a
// quantity of a society, a work-item an agent. `works` has a row of AGENTS reals for each
// workgroup. Local memory: 4 bytes.
__kernel void compare_groups(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *works)
{
    const size_t society = get_group_id(0) / (COMPARED_OF_GROUPS * GROUPS);
    const uint column = get_group_id(0) % (COMPARED_OF_GROUPS * GROUPS);
    const uint group = column % GROUPS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __global real *work = works + get_group_id(0) * AGENTS;
    __local int living;

    if (lid == 0) living = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is counted up
    for (uint i = lid; i < agents; i += lanes) {
        const bool is_member = group_of(i) == group;
        work[i] = is_member ? quantity_of(STATE, society, column / GROUPS, i) : 0.0;
        if (is_member && alive(i)) atomic_inc(&living);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // numbers of all members
    const real total = reduce_sum_global(work, agents);
    if (lid == 0)
        measures(FIRST_GROUP_INCOME_0 + column) = living == 0 ? UNDEFINED : total / (real)living;
}
#endif

// Record the prices of a society. A workgroup is a society, a work-item a resource. Local memory:
// 32 bytes a resource and 4 more.
__kernel void market_prices(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real *means = local_malloc(RESOURCES * sizeof(real));
    __local real *spreads = local_malloc(RESOURCES * sizeof(real));
    __local real *weights = local_malloc(RESOURCES * sizeof(real));
    __local real *work = local_malloc(RESOURCES * sizeof(real));
    __local int priced;

    if (lid == 0) priced = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is counted up
    for (uint r = lid; r < resources; r += lanes) {
        long units = 0, taken = 0;
        real squares = 0.0;
        for (uint i = 0; i < agents; ++i) {
            units += priced_units(i, r);
            taken += priced_for(i, r);
            squares += priced_squares(i, r);
        }
        const real given = (real)units;
        const real mean = units > 0 ? (real)taken / given : 0.0;
        const real variance = units > 0 ? squares / given - mean * mean : 0.0;
        const real spread = units > 0 ? sqrt(variance > 0.0 ? variance : 0.0) / mean : 0.0;
        means[r] = work[r] = mean;
        weights[r] = given;
        spreads[r] = given * spread;
        resource_units_priced(r) = given;
        resource_price(r) = units > 0 ? mean : UNDEFINED;
        resource_price_dispersion(r) = units > 0 ? spread : UNDEFINED;
        if (units > 0) atomic_inc(&priced);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // prices and counts of all resources
    const real count = (real)priced;
    const real mean = reduce_sum_local(work, resources) / count;
    for (uint r = lid; r < resources; r += lanes)
        work[r] = weights[r] > 0.0 ? (means[r] - mean) * (means[r] - mean) : 0.0;
    barrier(CLK_LOCAL_MEM_FENCE);  // squares of all resources, before they are summed
    const real variance = reduce_sum_local(work, resources) / count;
    const real within = reduce_sum_local(spreads, resources) / reduce_sum_local(weights, resources);
    if (lid == 0) {
        measures(FIRST_PRICE_MEAN) = priced > 0 ? mean : UNDEFINED;
        measures(FIRST_PRICE_MEAN + 1) = priced > 0 ? sqrt(variance) / mean : UNDEFINED;
        measures(FIRST_PRICE_MEAN + 2) = priced > 0 ? within : UNDEFINED;
    }
}
