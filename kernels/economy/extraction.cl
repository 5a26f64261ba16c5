// What does an agent extract in a day: always the unit that pays best per minute.
// Twin: reference_py/economy/extraction.py.
//
// A workgroup is an agent, a work-item a resource (several, if there are more resources than
// work-items). All work-items fill a tree of the largest gains (see best_t); extracting a unit
// changes one leaf and the path above it, so one work-item then walks the day: log2(resources)
// steps a unit instead of a reduction of the whole workgroup with its barriers.
// Local memory: 24 bytes a leaf, and 20 a resource up to ROW_LIMIT resources; beyond it the agent's
// rows stay in global memory. With devices 60 more a resource: with what it is extracted, how long
// that lasts, and the minutes spent on it by source (by hand, or with a type of device).
#include "economy/curves.cl"
#include "economy/streams.cl"
#include "primitives/reduce.cl"

#if DEVICES
#include "economy/devices.cl"
#define ROW_LIMIT DEVICE_ROW_LIMIT
#else
#define ROW_LIMIT 512
#endif

// What a node of the tree knows of the leaves below it: the largest gain, how many have it, and
// one that has it (the only one, if there is one).
typedef struct {
    real gain;
    uint count, which;
} best_t;

static best_t better_node(const best_t x, const best_t y)
{
    best_t z;
    z.gain = x.gain >= y.gain ? x.gain : y.gain;
    z.count = (x.gain >= y.gain ? x.count : 0) + (y.gain >= x.gain ? y.count : 0);
    z.which = x.gain >= y.gain ? x.which : y.which;
    return z;
}

// Node i has the children 2i and 2i + 1; the leaf of resource r is LEAVES + r.
#define TREE __local real *gain, __local ushort *count, __local ushort *which

INLINED best_t read_node(TREE, const uint node)
{
    const best_t x = {gain[node], count[node], which[node]};
    return x;
}

INLINED void write_node(TREE, const uint node, const best_t x)
{
    gain[node] = x.gain;
    count[node] = x.count;
    which[node] = x.which;
}

// Give a leaf a new gain and return the root. The brothers on the way up are read first, all at
// once: what follows has nothing to wait for but itself.
INLINED best_t update(TREE, const uint resource, const real new_gain)
{
    best_t brothers[LEVELS];
#pragma unroll
    for (uint level = 0; level < LEVELS; ++level)
        brothers[level] = read_node(gain, count, which, ((LEAVES + resource) >> level) ^ 1);
    best_t x = {new_gain, 1, resource};
    gain[LEAVES + resource] = new_gain;
#pragma unroll
    for (uint level = 0; level < LEVELS; ++level) {
        x = better_node(x, brothers[level]);
        write_node(gain, count, which, (LEAVES + resource) >> (level + 1), x);
    }
    return x;
}

// The pick-th (ascending) of the resources that have the largest gain.
INLINED uint pick_best(const __local real *gain, const __local ushort *count, uint pick)
{
    const real best = gain[1];
    uint node = 1;
    while (node < LEAVES) {
        node *= 2;
        const uint left = gain[node] == best ? count[node] : 0;
        if (pick >= left) {
            pick -= left;
            ++node;
        }
    }
    return node - LEAVES;
}

// The same with a band below the largest gain: how many are in it, and the pick-th of them.
INLINED uint count_near_best(const __local real *gain)
{
    const real limit = gain[1] - P(near_best_band);
    uint count = 0;
    for (uint r = 0; r < RESOURCES; ++r)
        count += gain[LEAVES + r] >= limit && gain[LEAVES + r] >= 0.0;
    return count;
}

INLINED uint pick_near_best(const __local real *gain, uint pick)
{
    const real limit = gain[1] - P(near_best_band);
    for (uint r = 0; r < RESOURCES; ++r)
        if (gain[LEAVES + r] >= limit && gain[LEAVES + r] >= 0.0 && pick-- == 0) return r;
    return NONE;
}

#if DEVICES
#if RESOURCES <= ROW_LIMIT
#define ROW __local
#else
#define ROW __global
#endif

// A source is a type of device, or no device; they are numbered from 0.
#define source_of(device_type) ((device_type) - BY_HAND)

static real source_speed(const uint source)
{
    return source == source_of(BY_HAND) ? 1.0 : device_factor[source - source_of(TOOL)];
}

// See with what the agent extracts the resource and how long that lasts.
INLINED void take_device(AGENT_PARAMETERS, const uint resource, ROW int *source, ROW real *left)
{
    const int device_type = extracting_device(AGENT(agent), resource);
    source[resource] = source_of(device_type);
    left[resource] = device_type == BY_HAND ? 0.0 : device_minutes(agent, device_type, resource);
}

// See how long a unit takes, and return what it brings per minute.
INLINED real look(AGENT_PARAMETERS, const uint resource, const real experienced, const int owned,
                  const uint source, ROW real *minutes)
{
    const real factor = source_speed(source);
    const real by_hand = effort(TABLES, effort_curve(agent, resource), experienced);
    minutes[resource] = by_hand / factor;
    return marginal_utility(TABLES, utility_curve(agent, resource), owned) / by_hand * factor;
}

#define EXTRACTION_PARAMETERS STATE_PARAMETERS, TABLE_PARAMETERS, __global real *rows
#else
#define EXTRACTION_PARAMETERS STATE_PARAMETERS, TABLE_PARAMETERS
#endif

__kernel void extraction(EXTRACTION_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real *gain = local_malloc(2 * LEAVES * sizeof(real));
    __local ushort *count = local_malloc(2 * LEAVES * sizeof(ushort));
    __local ushort *which = local_malloc(2 * LEAVES * sizeof(ushort));
#if RESOURCES <= ROW_LIMIT
    __local real *minutes = local_malloc(RESOURCES * sizeof(real));
    __local real *know = local_malloc(RESOURCES * sizeof(real));
    __local int *units = local_malloc(RESOURCES * sizeof(int));
#else
    __global real *know = &experience(agent, 0);
    __global int *units = &held(agent, 0);
#endif
#if DEVICES
    __local int *units_with = local_malloc(SOURCES * sizeof(int));
#if RESOURCES <= ROW_LIMIT
    __local real *spent = local_malloc(SOURCES * RESOURCES * sizeof(real));
    __local real *left = local_malloc(RESOURCES * sizeof(real));
    __local int *source = local_malloc(RESOURCES * sizeof(int));
#else
    __global real *spent = rows + get_group_id(0) * EXTRACTION_ROWS * RESOURCES;
    __global real *left = spent + SOURCES * RESOURCES;
    __global real *minutes = left + RESOURCES;
    __global int *source = (__global int *)(minutes + RESOURCES);
#endif
#endif
    if (!alive(agent)) return;

    // Each work-item values its resources. A resource that is gone has a gain below all others.
    for (uint r = lid; r < leaves; r += lanes) {
        real g = -1.0;
        if (r < RESOURCES) {
            const int owned = held(agent, r);
            const real experienced = experience(agent, r);
#if RESOURCES <= ROW_LIMIT
            know[r] = experienced;
            units[r] = owned;
#endif
            extracted(agent, r) = owned;  // until the end of the day: units held this morning
#if DEVICES
            for (uint s = 0; s < SOURCES; ++s) spent[s * RESOURCES + r] = 0.0;
            take_device(AGENT(agent), r, source, left);
            const real now = look(AGENT(agent), r, experienced, owned, source[r], minutes);
            if (available(r)) g = now;
#else
            const real m = effort(TABLES, effort_curve(agent, r), experienced);
#if RESOURCES <= ROW_LIMIT
            minutes[r] = m;
#endif
            if (available(r)) g = marginal_utility(TABLES, utility_curve(agent, r), owned) / m;
#endif
        }
        gain[LEAVES + r] = g;
        count[LEAVES + r] = 1;
        which[LEAVES + r] = r;
    }
    // Leaves of all work-items, before their parents are formed; rows that were read from global
    // memory, before one work-item changes them.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // leaves and rows
    uint level = leaves / 2;
    do {
        for (uint node = level + lid; node < 2 * level; node += lanes)
            write_node(gain, count, which, node,
                       better_node(read_node(gain, count, which, 2 * node),
                                   read_node(gain, count, which, 2 * node + 1)));
        barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above
        level /= 2;
    } while (level > 0);

    if (lid == 0) {
        rng_t rng = rng_load(stream(agent, PURPOSE_EXTRACTION));
        real time = 0.0, last = gain_per_minute(agent);
#if DEVICES
        for (uint s = 0; s < SOURCES; ++s) units_with[s] = 0;
        const real start = overtime(agent);
        overtime(agent) = start > P(day_length) ? start - P(day_length) : 0.0;
        if (start >= P(day_length)) last = device_gain(agent) / start;  // the day went on making
        time = start;
#endif
        best_t best = read_node(gain, count, which, 1);
        while (time < P(day_length)) {
#if NEAR_BEST_BAND
            const uint r = pick_near_best(gain, rng_below(&rng, count_near_best(gain)));
#else
            const uint r =
                best.count == 1 ? best.which : pick_best(gain, count, rng_below(&rng, best.count));
#endif
#if DEVICES
            const uint s = source[r];
            const real m = minutes[r], factor = source_speed(s);
            time += m;
            last = gain[LEAVES + r];
            spent[s * RESOURCES + r] += m;
            ++units_with[s];
            if (s != source_of(BY_HAND)) {
                left[r] = left[r] > m ? left[r] - m : 0.0;
                if (!(left[r] > 0.0)) {
                    device_minutes(agent, s - source_of(TOOL), r) = 0.0;
                    take_device(AGENT(agent), r, source, left);
                }
            }
            know[r] += 1.0 / factor;
            units[r] += 1;
            best = update(gain, count, which, r,
                          look(AGENT(agent), r, know[r], units[r], source[r], minutes));
#else
#if RESOURCES <= ROW_LIMIT
            time += minutes[r];
#else
            time += effort(TABLES, effort_curve(agent, r), know[r]);
#endif
            last = gain[LEAVES + r];
            const real experienced = know[r] + 1.0;
            const int owned = units[r] + 1;
            know[r] = experienced;
            units[r] = owned;
            const real m = effort(TABLES, effort_curve(agent, r), experienced);
#if RESOURCES <= ROW_LIMIT
            minutes[r] = m;
#endif
            best = update(gain, count, which, r,
                          marginal_utility(TABLES, utility_curve(agent, r), owned) / m);
#endif
        }
#if DEVICES
        minutes(agent) = time - start;
#else
        minutes(agent) = time;
#endif
        gain_per_minute(agent) = last;
        stream(agent, PURPOSE_EXTRACTION) = rng_pack(rng);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the day's units, before they are stored

    // What was not worked on is partly forgotten; nobody keeps more than the most there is to know.
    for (uint r = lid; r < resources; r += lanes) {
        const int today = units[r] - extracted(agent, r);
        real experienced = know[r];
        if (today == 0) {
            experienced -= P(daily_experience_penalty);
            experienced = experienced > 0.0 ? experienced : 0.0;
        }
        const real most = max_experience_table[effort_curve(agent, r)];
        experience(agent, r) = experienced < most ? experienced : most;
        extracted(agent, r) = today;
        held(agent, r) = units[r];
#if DEVICES
        if (source[r] != source_of(BY_HAND))
            device_minutes(agent, source[r] - source_of(TOOL), r) = left[r];
#endif
    }
#if DEVICES
    uint from = 0;
    do {
#if RESOURCES <= ROW_LIMIT
        const real total = reduce_sum_local(spent + from * RESOURCES, resources);
#else
        const real total = reduce_sum_global(spent + from * RESOURCES, resources);
#endif
        if (lid == 0) {
            minutes_with(agent, from) = total;
            extracted_with(agent, from) = units_with[from];
        }
    } while (++from < SOURCES);
#endif
}
