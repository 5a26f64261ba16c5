// What is known of an agent's devices of one type: what one more brings, costs, and can it be made?
// Twin: reference_py/economy/valuation.py, which works everything out again each time.
//
// Most meetings of a market change nothing, so an agent's numbers are worked out once, when they
// are first requested, and forgotten when the agent buys, sells or promises a device, which are the
// only changes between the first meeting for a type and the end of own use. The host clears this
// memory when it replaces the state (`Scratch.cached`). A resource's entries are written by one
// work-item at a time. Local memory: `know_costs` takes 9 bytes a resource, a word, and what
// `costs` takes.
#ifndef ECONOMY_APPRAISALS_CL
#define ECONOMY_APPRAISALS_CL

#include "economy/benefit.cl"

// `known` has bits for each resource; entries without theirs are undefined.
#define BENEFIT_KNOWN 1
#define COST_KNOWN 2
#define MAKING_KNOWN 4
#define CAN_MAKE 8
#define STOCK_KNOWN 16
#define HAS_ENOUGH 32
typedef struct {
    real benefit[RESOURCES], cost[RESOURCES];
    uchar known[(RESOURCES + 7) / 8 * 8];
} appraisal_t;

#define APPRAISAL_PARAMETERS \
    AGENT_PARAMETERS, __global used_t *uses, __global appraisal_t *appraisals, \
        const uint device_type
#define APPRAISAL(agent) AGENT(agent), uses, appraisals, device_type
#define appraisal_of(agent) (appraisals + ((size_t)society * AGENTS + (agent)))

// Forget all of an agent.
INLINED void forget_appraisal(AGENT_PARAMETERS, __global appraisal_t *appraisals)
{
    for (uint r = LANE; r < resources; r += LANES) appraisal_of(agent)->known[r] = 0;
}

// The same as `benefit`.
static real known_benefit(APPRAISAL_PARAMETERS, const uint resource)
{
    __global appraisal_t *own = appraisal_of(agent);
    if (!(own->known[resource] & BENEFIT_KNOWN)) {
        own->benefit[resource] = benefit(AGENT(agent), uses, device_type, resource);
        own->known[resource] |= BENEFIT_KNOWN;
    }
    return own->benefit[resource];
}

#if !DEVICE_IS_CPU
// What each device of a type would bring each agent, before the first round of its market: a
// work-item for each, so that many are worked out at a time. In a meeting a work-item or two of a
// group would do so while all others wait.
__kernel void appraise(STATE_PARAMETERS, TABLE_PARAMETERS, __global used_t *uses,
                       __global appraisal_t *appraisals, const uint all_agents,
                       const uint device_type)
{
    const size_t owner = get_global_id(0) / RESOURCES, society = owner / AGENTS;
    const uint agent = owner % AGENTS, r = get_global_id(0) % RESOURCES;
#ifndef RULE_DEVICE_WORTH  // which is asked of those devices only that are for sale
    if (owner >= all_agents || !market_open() || !alive(agent)) return;
    if (has_recipe(STATE, society, device_type, r)) known_benefit(APPRAISAL(agent), r);
#endif
}
#endif

// The same as `can_make`.
INLINED bool known_to_make(APPRAISAL_PARAMETERS, const uint resource, __local count_t *rows)
{
    __global appraisal_t *own = appraisal_of(agent);
    if (!(own->known[resource] & MAKING_KNOWN)) {
        const bool can = can_make(AGENT(agent), device_type, resource, rows);
        own->known[resource] |= can ? MAKING_KNOWN | CAN_MAKE : MAKING_KNOWN;
    }
    return (own->known[resource] & CAN_MAKE) != 0;
}

// Whether the agent owns so much of the device that it does not make more for itself.
INLINED bool known_enough(APPRAISAL_PARAMETERS, const uint resource)
{
    __global appraisal_t *own = appraisal_of(agent);
    if (!(own->known[resource] & STOCK_KNOWN)) {
        const bool enough = !(stock(STATE, society, agent, device_type, resource) <
                              P(days_to_hold) * P(day_length));
        own->known[resource] |= enough ? STOCK_KNOWN | HAS_ENOUGH : STOCK_KNOWN;
    }
    return (own->known[resource] & HAS_ENOUGH) != 0;
}

// See to it that the costs of all wanted devices are known (`costs`). By all work-items; `wanted`
// has been ordered by a barrier, the costs are.
COLLECTIVE void know_costs(APPRAISAL_PARAMETERS, const __local uchar *wanted)
{
    __global appraisal_t *own = appraisal_of(agent);
    __local uint *any = local_malloc(sizeof(uint));
    __local uchar *missing = local_malloc(RESOURCES * sizeof(uchar));
    __local real *cost = local_malloc(RESOURCES * sizeof(real));
    if (LANE == 0) *any = 0;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // none is missing, before one is
    uint some = 0;
    for (uint r = LANE; r < resources; r += LANES) {
        missing[r] = wanted[r] && !(own->known[r] & COST_KNOWN);
        some |= missing[r];
    }
    if (some) atomic_or(any, 1u);
    group_barrier(CLK_LOCAL_MEM_FENCE);  // what is missing, before it is worked out
    const uint all = *any;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all have read it, before its memory is used again
    if (!all) return;
    costs(AGENT(agent), device_type, missing, cost);
    for (uint r = LANE; r < resources; r += LANES) {
        if (DEVICE_IS_CPU && !missing[r]) continue;  // other devices work out all costs
        own->cost[r] = cost[r];
        own->known[r] |= COST_KNOWN;
    }
    // Costs, before other work-items read them and before the memory is used again.
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

#endif
