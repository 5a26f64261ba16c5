// What does an agent extract in a day, on a GPU that has many agents: a work-item for each.
// Twin: reference_py/economy/extraction.py.
//
// How many agents a GPU can hold at once decides, since each waits for most of its units. So local
// memory has only what every unit reads: the gain of each resource, the largest gain of each eight
// of them (GAIN_BLOCK), and the units extracted with each source. Which resources of a block have
// its largest gain are bits of a word. What else is known of a resource is one record of 32 bytes
// in global memory. A unit writes its gain, then looks at its block, then at all blocks; agents go
// through the same steps at the same time.
//
// Local memory of an agent: 8 bytes a resource and a block, 4 a source. For at most 64 resources,
// if no agent takes what pays nearly best (extraction_in_step, societies/economy/memory.py).
#include "economy/extraction.cl"

#if EXTRACTION_IN_STEP && !DEVICE_IS_CPU

#define GAIN_BLOCK 8u
#define GAIN_BLOCKS ((RESOURCES + GAIN_BLOCK - 1) / GAIN_BLOCK)
#define RESOURCE_GAINS (GAIN_BLOCK * GAIN_BLOCKS)
// An odd number: the same gain of several agents is then not in the same bank of local memory.
#define GAINS ((RESOURCE_GAINS + GAIN_BLOCKS) | 1)
#define GONE (-1.0)  // the gain of a resource that cannot be extracted
#define NO_GAIN (-2.0)  // the gain of what is no resource

#if DEVICES
#define HAND source_of(BY_HAND)
#define USED SOURCES
#else
#define HAND 0
#define USED 1
#endif

// What is known of the next unit: its minutes, units held, its source, and whether the agent learns
// nothing more by it; minutes that are left of the device, and that were spent with it today.
typedef struct __attribute__((aligned(32))) {
    real minutes;
    int holding, source;
    real left, spent;
} next_unit_t;
#define SKILLED 0x100
#define source_in(unit) ((unit).source & (SKILLED - 1))

#define STEP_PARAMETERS \
    STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent, \
        __global next_unit_t *units, __global real *spent, __local real *gain, \
        __local int *units_from
#define STEP_OF(slot) \
    STATE, TABLES, (size_t)((first + (slot)) / AGENTS), (first + (slot)) % AGENTS, \
        units + (size_t)(slot) * RESOURCES, spent + (size_t)(slot) * USED *RESOURCES, \
        gain + (slot) * GAINS, units_from + (slot) * (USED | 1)
#define STEP STATE, TABLES, society, agent, units, spent, gain, units_from

// Whether experience is so large that more of it changes nothing: neither what a unit takes nor
// what is remembered in the evening.
INLINED bool is_skilled(TABLE_PARAMETERS, const uint curve, const real known)
{
    return known >= (real)effort_last(curve) && known >= max_experience_table[curve];
}

INLINED void take_source(STEP_PARAMETERS, const uint resource, next_unit_t *unit)
{
#if DEVICES
    const int device_type = extracting_device(AGENT(agent), resource);
    unit->source = source_of(device_type);
    unit->left = device_type == BY_HAND ? 0.0 : device_minutes(agent, device_type, resource);
#else
    unit->source = HAND;
    unit->left = 0.0;
#endif
}

// Look at a resource in the morning.
INLINED void look_first(STEP_PARAMETERS, const uint resource)
{
    next_unit_t unit;
    const uint curve = effort_curve(agent, resource);
    const real known = experience(agent, resource);
    const real by_hand = effort(TABLES, curve, known);
    take_source(STEP, resource, &unit);
    const real factor = factor_of(STATE, TABLES, society, unit.source);
    unit.holding = held(agent, resource);
    unit.minutes = by_hand / factor;
    unit.spent = 0.0;
    const real now =
        marginal_utility(TABLES, utility_curve(agent, resource), unit.holding) / by_hand * factor;
    if (is_skilled(TABLES, curve, known)) unit.source |= SKILLED;
    units[resource] = unit;
    gain[resource] = available(resource) ? now : GONE;
#if DEVICES
    for (uint from = 0; from < SOURCES; ++from) spent[from * RESOURCES + resource] = 0.0;
#endif
}

// Extract a unit by which the agent learns, or with which its device is used up; return what the
// next one brings per minute.
INLINED real learn_by_unit(STEP_PARAMETERS, const uint resource, next_unit_t unit)
{
    const uint curve = effort_curve(agent, resource);
    const int from = source_in(unit);
    const real before = experience(agent, resource);
    const real known = before + 1.0 / factor_of(STATE, TABLES, society, from);
    bool same = effort_level(TABLES, curve, known) == effort_level(TABLES, curve, before);
    unit.spent += unit.minutes;
    ++units_from[from];
    ++unit.holding;
#if DEVICES
    if (from != HAND) {
        unit.left = unit.left > unit.minutes ? unit.left - unit.minutes : 0.0;
        if (unit.left == 0.0) {
            spent[from * RESOURCES + resource] = unit.spent;
            device_minutes(agent, from - source_of(TOOL), resource) = 0.0;
            take_source(STEP, resource, &unit);
            unit.spent = 0.0;
            same = false;
        }
    }
#endif
    const real by_hand = effort(TABLES, curve, known);
    const int with = source_in(unit);
    const real factor = factor_of(STATE, TABLES, society, with);
    if (!same) unit.minutes = by_hand / factor;
    unit.source = with | (is_skilled(TABLES, curve, known) ? SKILLED : 0);
    experience(agent, resource) = known;
    units[resource] = unit;
    return marginal_of(TABLES, utility_curve(agent, resource), unit.holding) / by_hand * factor;
}

// Extract a unit and return what the next one brings per minute.
INLINED real extract_next(STEP_PARAMETERS, const uint resource, const next_unit_t unit)
{
    const int with = source_in(unit);
    const real remains = unit.left - unit.minutes;
    if (!(unit.source & SKILLED) || !(remains > 0.0 || with == HAND))
        return learn_by_unit(STEP, resource, unit);
    const int owned = unit.holding + 1;
    const uint curve = effort_curve(agent, resource);
    units[resource].holding = owned;
    units[resource].left = remains;  // by hand nothing reads it
    units[resource].spent = unit.spent + unit.minutes;
    ++units_from[with];
    return marginal_of(TABLES, utility_curve(agent, resource), owned) /
           effort_table[effort_start(curve) + effort_last(curve)] *
           factor_of(STATE, TABLES, society, with);
}

INLINED real larger(const real x, const real y)
{
    return x > y ? x : y;
}

// The largest gain of a block, and which of its resources have it, as bits.
INLINED real best_of_block(const __local real *gain, const uint block, uint *ties)
{
    real x[GAIN_BLOCK];
#pragma unroll
    for (uint i = 0; i < GAIN_BLOCK; ++i) x[i] = gain[block * GAIN_BLOCK + i];
    const real best = larger(larger(larger(x[0], x[1]), larger(x[2], x[3])),
                             larger(larger(x[4], x[5]), larger(x[6], x[7])));
    uint found = 0;
#pragma unroll
    for (uint i = 0; i < GAIN_BLOCK; ++i) found |= x[i] == best ? 1u << i : 0;
    *ties = found;
    return best;
}

// The largest gain of all blocks, and which resources have it, given those of each block.
INLINED best_t best_of_blocks(const __local real *gain, const ulong ties)
{
    const __local real *block_gain = gain + RESOURCE_GAINS;
    real x[GAIN_BLOCKS], best = NO_GAIN;
#pragma unroll
    for (uint i = 0; i < GAIN_BLOCKS; ++i) x[i] = block_gain[i];
#pragma unroll
    for (uint i = 0; i < GAIN_BLOCKS; ++i) best = larger(x[i], best);
    ulong marked = 0;
#pragma unroll
    for (uint i = 0; i < GAIN_BLOCKS; ++i)
        marked |= x[i] == best ? (ulong)((1u << GAIN_BLOCK) - 1) << GAIN_BLOCK * i : 0;
    const best_t found = {best, ties & marked};
    return found;
}

// The day of an agent, by one work-item.
INLINED void walk_in_step(STEP_PARAMETERS)
{
    day_t day = morning(DAY);
    if (!DEVICES) units_from[HAND] = 0;
    ulong ties = 0;
    for (uint block = 0; block < GAIN_BLOCKS; ++block) {
        uint found;
        gain[RESOURCE_GAINS + block] = best_of_block(gain, block, &found);
        ties |= (ulong)found << GAIN_BLOCK * block;
    }
    day.best = best_of_blocks(gain, ties);
    while (day.time < day.end) {
        const uint count = popcount(day.best.ties);
        const uint r = pick_marked(day.best.ties, count == 1 ? 0 : rng_below(&day.rng, count));
        const next_unit_t unit = units[r];
        day.time += unit.minutes;
        day.last_gain = day.best.gain;
        gain[r] = extract_next(STEP, r, unit);
        const uint block = r / GAIN_BLOCK;
        uint found;
        gain[RESOURCE_GAINS + block] = best_of_block(gain, block, &found);
        ties &= ~((ulong)((1u << GAIN_BLOCK) - 1) << GAIN_BLOCK * block);
        ties |= (ulong)found << GAIN_BLOCK * block;
        day.best = best_of_blocks(gain, ties);
    }
    evening(AGENT(agent), day);
}

// Store what was learned of a resource and what is left of its device.
INLINED void store_resource(STEP_PARAMETERS, const uint r)
{
    if (!alive(agent)) return;
    const next_unit_t unit = units[r];
    keep_practice(STATE, TABLES, society, agent, r, unit.holding, experience(agent, r));
#if DEVICES
    const int with = source_in(unit);
    spent[with * RESOURCES + r] = unit.spent;
    if (with != HAND) device_minutes(agent, with - source_of(TOOL), r) = unit.left;
#endif
}

#if DEVICES
// Store what an agent's units with a source took, added up in the place of gains.
INLINED void store_spent(STEP_PARAMETERS, const uint from)
{
    if (!alive(agent)) return;
    minutes_with(agent, from) = reduce_sum_alone(gain, RESOURCES);
    extracted_with(agent, from) = units_from[from];
}

INLINED void copy_spent(STEP_PARAMETERS, const uint from)
{
    for (uint r = LANE; r < resources; r += LANES) gain[r] = spent[from * RESOURCES + r];
}
#endif

// The days of the agents from `first` on.
COLLECTIVE void extract_in_step(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *rows,
                                const uint all_agents, const uint first, const uint count)
{
    __local real *gain = local_malloc(EXTRACTION_IN_STEP * GAINS * sizeof(real));
    __local int *units_from = local_malloc(EXTRACTION_IN_STEP * (USED | 1) * sizeof(int));
    __global next_unit_t *units = (__global next_unit_t *)rows + (size_t)first * RESOURCES;
    __global real *spent = rows + ((size_t)all_agents * 4 + (size_t)first * USED) * RESOURCES;
    for (uint slot = 0; slot < count; ++slot)
        for (uint r = LANE; r < RESOURCE_GAINS; r += LANES) {
            if (r < RESOURCES)
                look_first(STEP_OF(slot), r);
            else
                gain[slot * GAINS + r] = NO_GAIN;
        }
    // All resources of an agent, before its work-item walks the day.
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint slot = LANE; slot < count; slot += LANES) walk_in_step(STEP_OF(slot));
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the days, before they are stored
    for (uint slot = 0; slot < count; ++slot)
        for (uint r = LANE; r < resources; r += LANES) store_resource(STEP_OF(slot), r);
#if DEVICES
    uint from = 0;
    do {
        // minutes of the resources are stored, the sums before are read
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint slot = 0; slot < count; ++slot) copy_spent(STEP_OF(slot), from);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // all of a row, before it is added up
        for (uint slot = LANE; slot < count; slot += LANES) store_spent(STEP_OF(slot), from);
    } while (++from < SOURCES);
#endif
}

// `all_agents`: of all societies; `together`: of a workgroup.
__kernel void extraction_in_step(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *rows,
                                 const uint all_agents, const uint together)
{
    const uint first = get_group_id(0) * together;
    extract_in_step(STATE, TABLES, rows, all_agents, first, min(together, all_agents - first));
}
#endif
