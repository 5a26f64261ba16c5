// What does an agent extract in a day: always the unit that pays best per minute.
// Twin: reference_py/economy/extraction.py.
//
// A workgroup is an agent, a work-item a resource (several, if there are more resources than
// work-items). All work-items look at the resources and fill a tree of the largest gains (see
// best_t). Extracting a unit changes one leaf and the path above it, so one work-item then walks
// the day: log2(resources) steps a unit instead of a reduction of the whole workgroup with its
// barriers. All work-items store the day. Local memory: 24 bytes a leaf, and 20 a resource up to
// ROW_LIMIT resources; beyond it the agent's rows are in global memory (a slice of `rows` for each
// workgroup). With devices 60 more a resource.
#include "economy/curves.cl"
#include "economy/streams.cl"
#include "primitives/reduce.cl"

#if DEVICES
#include "economy/devices.cl"
#endif

// ---------------------------------------------------------------- the tree of gains

// What a node of the tree knows of the leaves below it: the largest gain, how many have it, and
// one that has it (the only one, if there is one).
typedef struct {
    real gain;
    uint ties;  // COUNT_ONE for each leaf that has the gain, and the number of one of them
} best_t;

#define COUNT_ONE 0x10000u
#define how_many(ties) ((ties) / COUNT_ONE)
#define one_of(ties) ((ties) % COUNT_ONE)

static best_t better_node(const best_t x, const best_t y)
{
    best_t z;
    z.gain = x.gain >= y.gain ? x.gain : y.gain;
    z.ties = x.gain >= y.gain ? x.ties : y.ties;
    z.ties += x.gain == y.gain ? y.ties - one_of(y.ties) : 0;
    return z;
}

// Node i has the children 2i and 2i + 1; the leaf of resource r is LEAVES + r.
#define TREE_PARAMETERS __local real *gain, __local uint *ties
#define TREE gain, ties

INLINED best_t read_node(TREE_PARAMETERS, const uint node)
{
    const best_t x = {gain[node], ties[node]};
    return x;
}

INLINED void write_node(TREE_PARAMETERS, const uint node, const best_t x)
{
    gain[node] = x.gain;
    ties[node] = x.ties;
}

// Give a leaf a new gain and return the root. The brothers on the way up are read first, all at
// once: what follows has nothing to wait for but itself.
INLINED best_t update(TREE_PARAMETERS, const uint resource, const real new_gain)
{
    best_t brothers[LEVELS];
#pragma unroll
    for (uint level = 0; level < LEVELS; ++level)
        brothers[level] = read_node(TREE, ((LEAVES + resource) >> level) ^ 1);
    best_t x = {new_gain, COUNT_ONE + resource};
    gain[LEAVES + resource] = new_gain;
#pragma unroll
    for (uint level = 0; level < LEVELS; ++level) {
        x = better_node(x, brothers[level]);
        write_node(TREE, (LEAVES + resource) >> (level + 1), x);
    }
    return x;
}

// Form all nodes above the leaves, level by level; `leaves` is LEAVES, hidden from the compiler.
COLLECTIVE void fill_tree(TREE_PARAMETERS, const uint leaves)
{
    uint level = leaves / 2;
    do {
        for (uint node = level + get_local_id(0); node < 2 * level; node += get_local_size(0))
            write_node(TREE, node,
                       better_node(read_node(TREE, 2 * node), read_node(TREE, 2 * node + 1)));
        barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above
        level /= 2;
    } while (level > 0);
}

// The pick-th (ascending) of the resources that have the largest gain.
INLINED uint pick_best(const __local real *gain, const __local uint *ties, uint pick)
{
    const real best = gain[1];
    uint node = 1;
    while (node < LEAVES) {
        node *= 2;
        const uint left = gain[node] == best ? how_many(ties[node]) : 0;
        if (pick >= left) {
            pick -= left;
            ++node;
        }
    }
    return node - LEAVES;
}

// How many resources are within a band below the largest gain, and the pick-th of them.
INLINED uint count_near_best(const __local real *gain, const real band)
{
    const real limit = gain[1] - band;
    uint count = 0;
    for (uint r = 0; r < RESOURCES; ++r)
        count += gain[LEAVES + r] >= limit && gain[LEAVES + r] >= 0.0;
    return count;
}

INLINED uint pick_near_best(const __local real *gain, const real band, uint pick)
{
    const real limit = gain[1] - band;
    for (uint r = 0; r < RESOURCES; ++r)
        if (gain[LEAVES + r] >= limit && gain[LEAVES + r] >= 0.0 && pick-- == 0) return r;
    return NONE;
}

// One of the resources that pay best, each with equal chances; a single one needs no draw.
// NEAR_BEST_BAND says whether any society has a band in which others are as good.
INLINED uint choose(TREE_PARAMETERS, const best_t best, const real band, rng_t *rng)
{
#if NEAR_BEST_BAND
    if (band > 0.0) return pick_near_best(gain, band, rng_below(rng, count_near_best(gain, band)));
#endif
    const uint count = how_many(best.ties);
    return count == 1 ? one_of(best.ties) : pick_best(gain, ties, rng_below(rng, count));
}

// ---------------------------------------------------------------- the day of an agent

// An agent works in copies of its rows, a number for each resource, so that the state says what it
// held and knew this morning until the day is stored.
#if RESOURCES <= ROW_LIMIT
#define ROW __local
#define reduce_sum_row(x, n) reduce_sum_local(x, n)
#else
#define ROW __global
#define reduce_sum_row(x, n) reduce_sum_global(x, n)
#endif

// The rows: units held, experience, minutes that the next unit takes. With devices also: the source
// of the next unit, the minutes of use that are left of that device, and the minutes `spent` today,
// (source, resource); and for each source the units extracted today. A source is a type of device
// or, the first one, work by hand.
#if DEVICES
#define ROWS_PARAMETERS \
    ROW int *holding, ROW real *experienced, ROW real *minutes_next, ROW int *source, \
        ROW real *left, ROW real *spent, __local int *units_from
#define ROWS holding, experienced, minutes_next, source, left, spent, units_from
#define source_of(device_type) ((device_type) - BY_HAND)
#else
#define ROWS_PARAMETERS ROW int *holding, ROW real *experienced, ROW real *minutes_next
#define ROWS holding, experienced, minutes_next
#endif
#define WORK_PARAMETERS \
    STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent, ROWS_PARAMETERS
#define WORK STATE, TABLES, society, agent, ROWS

#if DEVICES
// Take up the best device that the agent has for the resource, if it has one.
INLINED void take_device(WORK_PARAMETERS, const uint resource)
{
    const int device_type = extracting_device(AGENT(agent), resource);
    source[resource] = source_of(device_type);
    left[resource] = device_type == BY_HAND ? 0.0 : device_minutes(agent, device_type, resource);
}

// Spend the minutes of the next unit; a device that is used up gives way to the next best.
INLINED void use_source(WORK_PARAMETERS, const uint resource)
{
    const int from = source[resource];
    const real taken = minutes_next[resource];
    spent[from * RESOURCES + resource] += taken;
    ++units_from[from];
    if (from == source_of(BY_HAND)) return;
    left[resource] = left[resource] > taken ? left[resource] - taken : 0.0;
    if (left[resource] > 0.0) return;
    device_minutes(agent, from - source_of(TOOL), resource) = 0.0;
    take_device(WORK, resource);
}
#endif

// How many times faster than by hand the next unit is extracted.
INLINED real source_factor(WORK_PARAMETERS, const uint resource)
{
#if DEVICES
    if (source[resource] != source_of(BY_HAND))
        return device_factor[source[resource] - source_of(TOOL)];
#endif
    return 1.0;
}

// See how long the next unit takes, and return what it brings per minute.
INLINED real look(WORK_PARAMETERS, const uint resource)
{
    const real by_hand = effort(TABLES, effort_curve(agent, resource), experienced[resource]);
    const real factor = source_factor(WORK, resource);
    minutes_next[resource] = by_hand / factor;
    return marginal_utility(TABLES, utility_curve(agent, resource), holding[resource]) / by_hand *
           factor;
}

// Copy the agent's rows, look at every resource and fill the tree. A resource that is gone has a
// gain below all others, as has a leaf that is no resource.
COLLECTIVE void look_at_all(WORK_PARAMETERS, TREE_PARAMETERS)
{
    for (uint r = get_local_id(0); r < leaves; r += get_local_size(0)) {
        real best = -1.0;
        if (r < RESOURCES) {
            holding[r] = held(agent, r);
            experienced[r] = experience(agent, r);
#if DEVICES
            for (uint from = 0; from < SOURCES; ++from) spent[from * RESOURCES + r] = 0.0;
            take_device(WORK, r);
#endif
            const real now = look(WORK, r);
            if (available(r)) best = now;
        }
        write_node(TREE, LEAVES + r, (best_t){best, COUNT_ONE + r});
    }
    // Leaves of all work-items, before their parents are formed; rows, before one work-item works.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    fill_tree(TREE, leaves);
}

// Extract one unit, learn by it, and return what the next one brings per minute.
INLINED real extract_unit(WORK_PARAMETERS, const uint resource)
{
    const real learned = 1.0 / source_factor(WORK, resource);
#if DEVICES
    use_source(WORK, resource);
#endif
    experienced[resource] += learned;
    holding[resource] += 1;
    return look(WORK, resource);
}

// Extract until the day is over, less the time that was spent making devices; by one work-item. If
// making took all of the day, its last minute brought what the devices did.
INLINED void work(WORK_PARAMETERS, TREE_PARAMETERS)
{
    real start = 0.0, last_gain = gain_per_minute(agent);
#if DEVICES
    for (uint from = 0; from < SOURCES; ++from) units_from[from] = 0;
    start = overtime(agent);
    overtime(agent) = start > P(day_length) ? start - P(day_length) : 0.0;
    if (start >= P(day_length)) last_gain = device_gain(agent) / start;
#endif
    rng_t rng = rng_load(stream(agent, PURPOSE_EXTRACTION));
    best_t best = read_node(TREE, 1);
    real time = start;
    while (time < P(day_length)) {
        const uint r = choose(TREE, best, P(near_best_band), &rng);
        time += minutes_next[r];
        last_gain = gain[LEAVES + r];
        best = update(TREE, r, extract_unit(WORK, r));
    }
    stream(agent, PURPOSE_EXTRACTION) = rng_pack(rng);
    minutes(agent) = time - start;
    gain_per_minute(agent) = last_gain;
}

// Store the units, and the experience: with every resource that was not extracted today it fades,
// and no more of it is kept than the most there is to know.
INLINED void practise(WORK_PARAMETERS)
{
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        const int today = holding[r] - held(agent, r);
        real known = experienced[r];
        if (today == 0) {
            known -= P(daily_experience_penalty);
            known = known > 0.0 ? known : 0.0;
        }
        const real most = max_experience_table[effort_curve(agent, r)];
        experience(agent, r) = known < most ? known : most;
        extracted(agent, r) = today;
        held(agent, r) = holding[r];
    }
}

#if DEVICES
// Store what is left of devices in use, and the day's units and minutes by source.
COLLECTIVE void store_sources(WORK_PARAMETERS)
{
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0))
        if (source[r] != source_of(BY_HAND))
            device_minutes(agent, source[r] - source_of(TOOL), r) = left[r];
    uint from = 0;
    do {
        const real total = reduce_sum_row(spent + from * RESOURCES, resources);
        if (get_local_id(0) == 0) {
            minutes_with(agent, from) = total;
            extracted_with(agent, from) = units_from[from];
        }
    } while (++from < SOURCES);
}
#endif

__kernel void extraction(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *rows)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    __local real *gain = local_malloc(2 * LEAVES * sizeof(real));
    __local uint *ties = local_malloc(2 * LEAVES * sizeof(uint));
#if RESOURCES <= ROW_LIMIT
    __local real *minutes_next = local_malloc(RESOURCES * sizeof(real));
    __local real *experienced = local_malloc(RESOURCES * sizeof(real));
    __local int *holding = local_malloc(RESOURCES * sizeof(int));
#if DEVICES
    __local real *spent = local_malloc(SOURCES * RESOURCES * sizeof(real));
    __local real *left = local_malloc(RESOURCES * sizeof(real));
    __local int *source = local_malloc(RESOURCES * sizeof(int));
#endif
#else
    __global real *minutes_next = rows + get_group_id(0) * EXTRACTION_ROWS * RESOURCES;
    __global real *experienced = minutes_next + RESOURCES;
    __global int *holding = (__global int *)(experienced + RESOURCES);
#if DEVICES
    __global real *left = experienced + 2 * RESOURCES;
    __global real *spent = left + RESOURCES;
    __global int *source = holding + RESOURCES;
#endif
#endif
#if DEVICES
    __local int *units_from = local_malloc(SOURCES * sizeof(int));
#endif
    if (!alive(agent)) return;
    look_at_all(WORK, TREE);
    if (get_local_id(0) == 0) work(WORK, TREE);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the day's units, before they are stored
    practise(WORK);
#if DEVICES
    store_sources(WORK);
#endif
}
