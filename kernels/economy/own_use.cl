// Which devices does an agent decide to make for itself?
// Twin: reference_py/economy/own_use.py.
//
// A workgroup is an agent, a work-item a resource; on a CPU one work-item does it all (group.cl).
// As long as some device is worth more than it costs, the agent promises to make the best of them:
// all pick it and work-item 0 sets aside its components. Values that this changes are worked out
// again. Local memory: 19 bytes a resource, and what `know_costs` (appraisals.cl) or rows for needs
// (valuation.cl) take.
#define SELECT_MOST RESOURCES
#include "economy/appraisals.cl"
#include "economy/promises.cl"
#include "primitives/select.cl"

#ifndef ECONOMY_OWN_USE_CL
#define ECONOMY_OWN_USE_CL

// Put a price event first and forget the oldest. By one work-item.
static void remember_price(STATE_PARAMETERS, const size_t society, const uint agent,
                           const uint device_type, const uint resource, const real price)
{
    for (uint i = PRICE_MEMORY - 1; i > 0; --i)
        prices(agent, device_type, resource, i) = prices(agent, device_type, resource, i - 1);
    prices(agent, device_type, resource, 0) = price;
}

// Work out the benefit of each device that the agent knows and has too few of, 0 for all others;
// `wanted` marks those above 0. Returns to every work-item whether there are any.
COLLECTIVE bool benefits(APPRAISAL_PARAMETERS, __local real *gain, __local uchar *wanted)
{
    __local uint *any = local_malloc(sizeof(uint));
#ifdef RULE_DEVICE_WORTH
    __local count_t *rows = local_malloc(NEED_ROWS * NEED_ROW * sizeof(count_t));
#endif
    if (LANE == 0) *any = 0;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // none is wanted, before some are
    uint some = 0;
    if (LANE < NEED_ROWS)
        for (uint r = LANE; r < resources; r += NEED_LANES) {
            bool counts = device_experience(agent, device_type, r) >= 1.0 &&
                          !known_enough(APPRAISAL(agent), r);
#ifdef RULE_DEVICE_WORTH  // which the definition asks of a device only if it can be made
            counts = counts && known_to_make(APPRAISAL(agent), r, rows + LANE * NEED_ROW);
#endif
            gain[r] = counts ? known_benefit(APPRAISAL(agent), r) : 0.0;
            wanted[r] = gain[r] > 0.0;
            some |= wanted[r];
        }
    if (some) atomic_or(any, 1u);
    // All benefits, before they are read; what is known, before it is added to.
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const bool found = *any;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all have read it, before its memory is used again
    return found;
}

// What each wanted device brings more than it costs, 0 for one that is not worth it or that the
// agent cannot make: few are worth it, so only these are asked whether they can be made.
COLLECTIVE void net_benefits(APPRAISAL_PARAMETERS, const __local real *gain,
                             const __local uchar *wanted, __local real *net)
{
    __local count_t *rows = local_malloc(NEED_ROWS * NEED_ROW * sizeof(count_t));
    const __global real *cost = appraisal_of(agent)->cost;
    if (LANE < NEED_ROWS)
        for (uint r = LANE; r < resources; r += NEED_LANES) {
            const real more = wanted[r] ? gain[r] - cost[r] : 0.0;
            const bool makes =
                more > 0.0 && known_to_make(APPRAISAL(agent), r, rows + LANE * NEED_ROW);
            net[r] = makes ? more : 0.0;
        }
    // All net benefits, before the largest is looked for; what is known, before it is added to.
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

// Forget what a promise has changed. A tool takes no other devices: only the tool itself and its
// resources are worth something else now, tools with the same resources cost something else, and
// for all others there is less time.
INLINED void forget_promised(APPRAISAL_PARAMETERS, const uint pick)
{
    __global appraisal_t *own = appraisal_of(agent);
    ulong changed[COUNT_WORDS];
    for (uint word = 0; word < COUNT_WORDS; ++word) changed[word] = 0;
    for (uint i = 0; i < COMPONENT_SLOTS; ++i) {
        const int k = recipe(TOOL, pick, i);
        if (k < 0) break;
        changed[k / 64] |= 1UL << k % 64;
    }
    for (uint r = LANE; r < resources; r += LANES) {
        const uchar known = own->known[r];
        bool alike = device_type == TOOL && r != pick;
        uchar same = alike ? STOCK_KNOWN | HAS_ENOUGH : 0;
        if (alike && !(changed[r / 64] >> r % 64 & 1)) same |= BENEFIT_KNOWN;
#if COMPONENT_SLOTS <= SHORT_LOOP
#pragma unroll
#else
#pragma unroll 1
#endif
        for (uint i = 0; i < COMPONENT_SLOTS; ++i) {  // all are read at once
            const int k = recipe(TOOL, r, i);
            if (COMPONENT_SLOTS > SHORT_LOOP && k < 0) break;
            alike = alike && (k < 0 || !(changed[max(k, 0) / 64] >> max(k, 0) % 64 & 1));
        }
        if (alike) same |= COST_KNOWN | MAKING_KNOWN;
        if (alike && known & CAN_MAKE &&
            reserved_minutes(agent) + making_time(AGENT(agent), TOOL, r) < P(day_length))
            same |= CAN_MAKE;
        own->known[r] = known & same;
    }
}

// As long as some device is worth more than it costs, promise to make the best of them, the lowest
// resource among equals.
COLLECTIVE void decide_each(APPRAISAL_PARAMETERS, __local real *gain, __local uchar *wanted)
{
    do {
        if (!benefits(APPRAISAL(agent), gain, wanted)) return;
        know_costs(APPRAISAL(agent), wanted);
        __local real *net = local_malloc(RESOURCES * sizeof(real));
        __local uint *scratch = local_malloc((RESOURCES + 1) / 2 * sizeof(uint));
        net_benefits(APPRAISAL(agent), gain, wanted, net);
        const uint pick = extreme_max_unmasked(net, resources, scratch);
        if (!(net[pick] > 0.0)) return;
        const real price = appraisal_of(agent)->cost[pick];
        if (LANE == 0) remember_price(STATE, society, agent, device_type, pick, -price);
        for (uint r = LANE; r < resources; r += LANES) wanted[r] = r == pick;
        // What to look at and the price event, before its minutes.
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        local_free((RESOURCES + 1) / 2 * sizeof(uint));
        local_free(RESOURCES * sizeof(real));
        __local real *spent = local_malloc(RESOURCES * sizeof(real));
        expected_minutes(AGENT(agent), device_type, wanted, spent);
        if (LANE == 0) {
            const real time = spent[pick] * gain_per_minute(agent);
            device_gain(agent) += gain[pick] - (price - time);
        }
        local_free(RESOURCES * sizeof(real));
        __local count_t *rows = local_malloc(NEED_ROW * sizeof(count_t));
        group_barrier(CLK_LOCAL_MEM_FENCE);  // minutes are read, before their memory is used again
        if (LANE == 0) {
            reserve(AGENT(agent), device_type, pick, rows);
            device_minutes(agent, device_type, pick) += device_lifetime[device_type];
        }
        local_free(NEED_ROW * sizeof(count_t));
        // Promises and stock, before what follows from them is forgotten; rows are read.
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        forget_promised(APPRAISAL(agent), pick);
        group_barrier(CLK_GLOBAL_MEM_FENCE);  // what is not known any more, before it is worked out
    } while (1);
}

// The same with local memory of its own. Afterwards nothing is known, for the next market.
COLLECTIVE_WHOLE void decide(APPRAISAL_PARAMETERS)
{
    __local real *gain = local_malloc(RESOURCES * sizeof(real));
    __local uchar *wanted = local_malloc(RESOURCES * sizeof(uchar));
    decide_each(APPRAISAL(agent), gain, wanted);
    forget_uses(AGENT(agent), uses);
    forget_appraisal(AGENT(agent), appraisals);
}

__kernel void own_use(STATE_PARAMETERS, TABLE_PARAMETERS, __global used_t *uses,
                      __global appraisal_t *appraisals, const uint device_type)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (!alive(agent)) return;
    decide(APPRAISAL(agent));
}

#endif
