// What does an agent extract in a day: always the unit that pays best per minute.
// Twin: reference_py/economy/extraction.py. With few agents a GPU takes day_without_trade.cl or
// extraction_front.cl, with many extraction_in_step.cl; this is for those for whom these are not.
//
// A workgroup is an agent, a work-item a resource (several, if there are more resources than
// work-items). All work-items look at the resources and fill a tree of the largest gains (see
// best_t). Extracting a unit changes one leaf and the path above it, so one work-item then walks
// the day: log2(resources) steps a unit instead of a reduction of the whole workgroup with its
// barriers. All work-items store the day.
//
// One work-item that walks leaves the rest of its processor idle. Where there are many agents, a
// workgroup therefore takes several (`together`), SLOTS at a time, and their days are walked side
// by side: by a work-item each on a GPU, alternately by one work-item on a CPU, where a unit of one
// agent need not wait for that of another. A day depends on its agent alone, so the results are the
// same.
//
// Local memory of a slot: 24 bytes a leaf, 20 a source, and 20 a resource (with devices 32) up to
// ROW_LIMIT resources; beyond it the agent's rows are in global memory (a slice of `rows` for each
// agent). The minutes spent with each device are always in global memory: they are the longest row,
// no unit waits for them, and more agents fit the local memory of a GPU.
#include "economy/bits.cl"
#include "economy/curves.cl"
#include "economy/practice.cl"
#include "economy/streams.cl"
#include "primitives/group.cl"
#include "primitives/reduce.cl"

#if DEVICES
#include "economy/devices.cl"
#endif

// Agents whose days are walked side by side.
#if DEVICE_IS_CPU
#define SLOTS (EXTRACTION_SLOTS < 2 ? EXTRACTION_SLOTS : 2)
#else
#define SLOTS EXTRACTION_SLOTS
#endif

// ---------------------------------------------------------------- the tree of gains

// What a node of the tree knows of the leaves below it: the largest gain, and which of them have
// it, as bits, the lowest for the first of them. The root of a tree of 64 leaves is only its gain.
// Of a larger tree a node knows how many leaves have the gain, COUNT_ONE for each, and the number
// of one of them (the only one, if there is one).
#define MARKED (LEAVES <= 64)
typedef struct {
    real gain;
    uint ties;
} node_t;

// The same of the root.
typedef struct {
    real gain;
#if MARKED
    ulong ties;
#else
    uint ties;
#endif
} best_t;

#define COUNT_ONE 0x10000u
#define how_many(ties) ((ties) / COUNT_ONE)
#define one_of(ties) ((ties) % COUNT_ONE)

// Node i has the children 2i and 2i + 1; the leaf of resource r is LEAVES + r.
#define TREE_PARAMETERS __local real *gain, __local uint *ties
#define TREE gain, ties

INLINED node_t read_node(TREE_PARAMETERS, const uint node)
{
    const node_t x = {gain[node], ties[node]};
    return x;
}

INLINED void write_node(TREE_PARAMETERS, const uint node, const node_t x)
{
    gain[node] = x.gain;
    ties[node] = x.ties;
}

#if MARKED
#define leaf_ties(resource) 1u

// Of two nodes, or of what is known of two sets of the leaves of a node, the better.
static node_t better_node(const node_t x, const node_t y)
{
    const node_t z = {x.gain >= y.gain ? x.gain : y.gain,
                      (x.gain >= y.gain ? x.ties : 0) | (x.gain > y.gain ? 0 : y.ties)};
    return z;
}

INLINED best_t better_half(const node_t x, const node_t y)
{
    const best_t z = {x.gain >= y.gain ? x.gain : y.gain,
                      (x.gain >= y.gain ? (ulong)x.ties : 0) |
                          (x.gain > y.gain ? 0 : (ulong)y.ties << 32)};
    return z;
}

// A child, as the first or the second of two that have `leaves` leaves each.
INLINED node_t placed_node(node_t child, const uint second, const uint leaves)
{
    child.ties <<= second ? leaves : 0;
    return child;
}

#define parent_of(x, y, width) better_node(x, placed_node(y, 1, width))

INLINED best_t read_root(TREE_PARAMETERS)
{
#if LEAVES == 64
    return better_half(read_node(TREE, 2), read_node(TREE, 3));
#else
    const best_t x = {gain[1], ties[1]};
    return x;
#endif
}

// The siblings of the nodes on the way from a resource's leaf to the root.
#define ROOT_IN_HALVES (LEAVES == 64)
#define WHOLE_LEVELS (LEVELS - ROOT_IN_HALVES)
typedef struct {
    node_t below[LEVELS + 1];
} siblings_t;

// This is read before the leaf changes: what then depends on the new gain is one comparison.
INLINED siblings_t read_siblings(TREE_PARAMETERS, const uint resource)
{
    siblings_t siblings;
#pragma unroll
    for (uint level = 0; level < LEVELS; ++level) {
        const uint node = (LEAVES + resource) >> level;
        siblings.below[level] = read_node(TREE, node ^ 1);
    }
#pragma unroll
    for (uint level = 0; level < WHOLE_LEVELS; ++level) {
        const uint second = resource >> level & 1;
        siblings.below[level] = placed_node(siblings.below[level], !second, 1u << level);
        if (level > 0)
            siblings.below[level] = better_node(
                siblings.below[level], placed_node(siblings.below[level - 1], second, 1u << level));
    }
    return siblings;
}

// Give a leaf a new gain and return the root.
INLINED best_t update(TREE_PARAMETERS, const uint resource, const siblings_t siblings,
                      const real new_gain)
{
    gain[LEAVES + resource] = new_gain;
    node_t x = {new_gain, 1u};
#pragma unroll
    for (uint level = 0; level < WHOLE_LEVELS; ++level) {
        const node_t own = {new_gain, 1u << (resource & ((2u << level) - 1))};
        x = better_node(own, siblings.below[level]);
        write_node(TREE, (LEAVES + resource) >> (level + 1), x);
    }
#if ROOT_IN_HALVES
    const node_t y = siblings.below[LEVELS - 1];
    const best_t root = resource < LEAVES / 2 ? better_half(x, y) : better_half(y, x);
    gain[1] = root.gain;
#else
    const best_t root = {x.gain, x.ties};
#endif
    return root;
}
#else
#define leaf_ties(resource) (COUNT_ONE + (resource))

static node_t better_node(const node_t x, const node_t y)
{
    node_t z;
    z.gain = x.gain >= y.gain ? x.gain : y.gain;
    z.ties = x.gain >= y.gain ? x.ties : y.ties;
    z.ties += x.gain == y.gain ? y.ties - one_of(y.ties) : 0;
    return z;
}

#define parent_of(x, y, width) better_node(x, y)

INLINED best_t read_root(TREE_PARAMETERS)
{
    const best_t x = {gain[1], ties[1]};
    return x;
}

// The siblings on the way up are read first, all at once: what follows has nothing to wait for but
// itself.
typedef struct {
    node_t nodes[LEVELS];
} siblings_t;

INLINED siblings_t read_siblings(TREE_PARAMETERS, const uint resource)
{
    siblings_t siblings;
#pragma unroll
    for (uint level = 0; level < LEVELS; ++level)
        siblings.nodes[level] = read_node(TREE, ((LEAVES + resource) >> level) ^ 1);
    return siblings;
}

// Give a leaf a new gain and return the root.
INLINED best_t update(TREE_PARAMETERS, const uint resource, const siblings_t siblings,
                      const real new_gain)
{
    node_t x = {new_gain, COUNT_ONE + resource};
    gain[LEAVES + resource] = new_gain;
#pragma unroll
    for (uint level = 0; level < LEVELS; ++level) {
        x = better_node(x, siblings.nodes[level]);
        write_node(TREE, (LEAVES + resource) >> (level + 1), x);
    }
    const best_t root = {x.gain, x.ties};
    return root;
}
#endif

// A tree's nodes, and one more: the same node of several trees is then not in the same bank of
// local memory.
#define TREE_NODES (2 * LEAVES + (SLOTS > 1))
#define TREE_OF(slot) gain + (slot) * TREE_NODES, ties + (slot) * TREE_NODES

INLINED void fill_level(TREE_PARAMETERS, const uint level)
{
    for (uint node = level + LANE; node < 2 * level; node += LANES)
        write_node(TREE, node,
                   parent_of(read_node(TREE, 2 * node), read_node(TREE, 2 * node + 1),
                             LEAVES / (2 * level)));
}

// Form all nodes above the leaves of several trees, level by level; `leaves` is LEAVES, hidden from
// the compiler.
COLLECTIVE void fill_trees(TREE_PARAMETERS, const uint trees, const uint leaves)
{
    uint level = leaves / 2;
    do {
        for (uint slot = 0; slot < trees; ++slot) fill_level(TREE_OF(slot), level);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above
        level /= 2;
    } while (level > 0);
}

#if MARKED
// The pick-th (ascending) of the resources that are marked.
INLINED uint pick_marked(ulong marks, const uint pick)
{
    for (uint i = 0; i < pick; ++i) marks &= marks - 1;
    return lowest_bit(marks);
}
#else
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
#endif

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
#if MARKED
    const uint count = popcount(best.ties);
    return pick_marked(best.ties, count == 1 ? 0 : rng_below(rng, count));
#else
    const uint count = how_many(best.ties);
    return count == 1 ? one_of(best.ties) : pick_best(gain, ties, rng_below(rng, count));
#endif
}

// ---------------------------------------------------------------- the day of an agent

// An agent works in copies of its rows, a number for each resource, so that the state says what it
// held and knew this morning until the day is stored.
#if RESOURCES <= ROW_LIMIT
#define ROW __local
#else
#define ROW __global
#endif

// The rows: units held, experience, minutes that the next unit takes. With devices also: the source
// of the next unit, the minutes of use that are left of that device, and the minutes `spent` today,
// (source, resource); and for each source the units extracted today, what one of them adds to the
// experience, and how many times faster than by hand it is extracted. A source is a type of device
// or, the first one, work by hand.
#if DEVICES
#define ROWS_PARAMETERS \
    ROW int *holding, ROW real *experienced, ROW real *minutes_next, ROW int *source, \
        ROW real *left, __global real *spent, __local int *units_from, __local real *learned, \
        __local real *speed
#define ROWS holding, experienced, minutes_next, source, left, spent, units_from, learned, speed
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

// Spend the minutes of the next unit; a device that is used up gives way to the next best. Returns
// whether the source is still the same.
INLINED bool use_source(WORK_PARAMETERS, const uint resource)
{
    const int from = source[resource];
    const real taken = minutes_next[resource];
    spent[from * RESOURCES + resource] += taken;
    ++units_from[from];
    if (from == source_of(BY_HAND)) return true;
    left[resource] = left[resource] > taken ? left[resource] - taken : 0.0;
    if (left[resource] > 0.0) return true;
    device_minutes(agent, from - source_of(TOOL), resource) = 0.0;
    take_device(WORK, resource);
    return false;
}
#endif

// How many times faster than by hand a unit is extracted with a source.
INLINED real factor_of(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const int from)
{
#if DEVICES
    if (from != source_of(BY_HAND)) return device_factor[from - source_of(TOOL)];
#endif
    return 1.0;
}

// See how long the next unit takes, unless it takes the `same` time as the one before, and return
// what it brings per minute.
INLINED real look(WORK_PARAMETERS, const uint resource, const real known, const int units,
                  const bool same)
{
    const real by_hand = effort(TABLES, effort_curve(agent, resource), known);
#if DEVICES
    const real factor = factor_of(STATE, TABLES, society, source[resource]);
#else
    const real factor = 1.0;
#endif
    if (!same) minutes_next[resource] = by_hand / factor;
    return marginal_utility(TABLES, utility_curve(agent, resource), units) / by_hand * factor;
}

// Copy the agent's rows, look at every resource and write the tree's leaves. A resource that is
// gone has a gain below all others, as has a leaf that is no resource.
INLINED void look_at_all(WORK_PARAMETERS, TREE_PARAMETERS)
{
#if DEVICES
    for (int from = LANE; from < SOURCES; from += LANES) {
        speed[from] = factor_of(STATE, TABLES, society, from);
        learned[from] = 1.0 / speed[from];
    }
#endif
    for (uint r = LANE; r < leaves; r += LANES) {
        real best = -1.0;
        if (r < RESOURCES) {
            holding[r] = held(agent, r);
            experienced[r] = experience(agent, r);
#if DEVICES
            for (uint from = 0; from < SOURCES; ++from) spent[from * RESOURCES + r] = 0.0;
            take_device(WORK, r);
#endif
            const real now = look(WORK, r, experienced[r], holding[r], false);
            if (available(r)) best = now;
        }
        write_node(TREE, LEAVES + r, (node_t){best, leaf_ties(r)});
    }
}

// Extract one unit, learn by it, and return what the next one brings per minute.
INLINED real extract_unit(WORK_PARAMETERS, const uint resource)
{
    const real before = experienced[resource];
#if DEVICES
#if !DEVICE_IS_CPU
    // Late in a run nearly all units are extracted with full experience and with a device that
    // lasts for more: then a unit takes as long as the one before, and nothing is looked up.
    const int last = effort_last(effort_curve(agent, resource)), with = source[resource];
    const real taken = minutes_next[resource], remains = left[resource] - taken;
    if (before >= (real)last && (remains > 0.0 || with == source_of(BY_HAND))) {
        const int owned = holding[resource] + 1;
        experienced[resource] = before + learned[with];
        holding[resource] = owned;
        left[resource] = remains;  // by hand nothing reads it
        spent[with * RESOURCES + resource] += taken;
        ++units_from[with];
        return marginal_of(TABLES, utility_curve(agent, resource), owned) /
               effort_table[effort_start(effort_curve(agent, resource)) + last] * speed[with];
    }
#endif
    const real known = before + learned[source[resource]];
    const uint curve = effort_curve(agent, resource);
    const bool same = use_source(WORK, resource) &&
                      effort_level(TABLES, curve, known) == effort_level(TABLES, curve, before);
#else
    const real known = before + 1.0;
    const bool same = false;
#endif
    const int units = holding[resource] + 1;
    experienced[resource] = known;
    holding[resource] = units;
    return look(WORK, resource, known, units, same);
}

// An agent, and the units that it extracts with each source.
#if DEVICES
#define DAY_PARAMETERS AGENT_PARAMETERS, __local int *units_from
#define DAY AGENT(agent), units_from
#else
#define DAY_PARAMETERS AGENT_PARAMETERS
#define DAY AGENT(agent)
#endif

// An agent's day so far: its minutes, what the last of them brought, what pays best now.
typedef struct {
    real start, time, end, last_gain;
    best_t best;
    rng_t rng;
} day_t;

// The day begins after the time that was spent making devices. If making took all of the day, its
// last minute brought what the devices did. The dead have no day.
INLINED day_t morning(DAY_PARAMETERS)
{
    day_t day = {P(day_length), P(day_length), P(day_length), 0.0, {0.0, 0}, {0, 0}};
    if (!alive(agent)) return day;
    day.start = 0.0;
    day.last_gain = gain_per_minute(agent);
#if DEVICES
    for (uint from = 0; from < SOURCES; ++from) units_from[from] = 0;
    day.start = overtime(agent);
    overtime(agent) = day.start > P(day_length) ? day.start - P(day_length) : 0.0;
    if (day.start >= P(day_length)) day.last_gain = device_gain(agent) / day.start;
#endif
    day.time = day.start;
    day.rng = rng_load(stream(agent, PURPOSE_EXTRACTION));
    return day;
}

INLINED day_t begin_day(WORK_PARAMETERS, TREE_PARAMETERS)
{
    day_t day = morning(DAY);
    day.best = read_root(TREE);
    return day;
}

// Extract one unit more.
INLINED void work_on(WORK_PARAMETERS, TREE_PARAMETERS, day_t *day)
{
    const uint r = choose(TREE, day->best, P(near_best_band), &day->rng);
    day->time += minutes_next[r];
    day->last_gain = gain[LEAVES + r];
    const siblings_t siblings = read_siblings(TREE, r);
    day->best = update(TREE, r, siblings, extract_unit(WORK, r));
}

INLINED void evening(AGENT_PARAMETERS, const day_t day)
{
    if (!alive(agent)) return;
    stream(agent, PURPOSE_EXTRACTION) = rng_pack(day.rng);
    minutes(agent) = day.time - day.start;
    gain_per_minute(agent) = day.last_gain;
}

INLINED void end_of_work(WORK_PARAMETERS, const day_t day)
{
    evening(AGENT(agent), day);
}

INLINED void practise(WORK_PARAMETERS)
{
    if (!alive(agent)) return;
    for (uint r = LANE; r < resources; r += LANES)
        keep_practice(STATE, TABLES, society, agent, r, holding[r], experienced[r]);
}

#if DEVICES
// Store what is left of devices in use.
INLINED void store_devices(WORK_PARAMETERS)
{
    if (!alive(agent)) return;
    for (uint r = LANE; r < resources; r += LANES)
        if (source[r] != source_of(BY_HAND))
            device_minutes(agent, source[r] - source_of(TOOL), r) = left[r];
}

// Store the day's units and minutes with a source, given all its minutes.
INLINED void store_source(WORK_PARAMETERS, const uint from, const real total)
{
    if (LANE != 0 || !alive(agent)) return;
    minutes_with(agent, from) = total;
    extracted_with(agent, from) = units_from[from];
}
#endif

// Where the agent of a slot has its rows.
#if DEVICES
#define ROWS_OF(slot) \
    holding + (slot) * RESOURCES, experienced + (slot) * RESOURCES, \
        minutes_next + (slot) * RESOURCES, source + (slot) * RESOURCES, left + (slot) * RESOURCES, \
        spent + (slot) * SOURCES *RESOURCES, units_from + (slot) * SOURCES, \
        learned + (slot) * SOURCES, speed + (slot) * SOURCES
#else
#define ROWS_OF(slot) \
    holding + (slot) * RESOURCES, experienced + (slot) * RESOURCES, \
        minutes_next + (slot) * RESOURCES
#endif
#define WORK_OF(slot) \
    STATE, TABLES, (size_t)((first + (slot)) / AGENTS), (first + (slot)) % AGENTS, ROWS_OF(slot)

// Walk the days of the agents from `first` on: on a GPU each by a work-item, on a CPU all by one,
// which extracts a unit for one agent after the other.
INLINED void walk_days(STATE_PARAMETERS, TABLE_PARAMETERS, ROWS_PARAMETERS, TREE_PARAMETERS,
                       const uint first, const uint slots)
{
#if DEVICE_IS_CPU
    day_t days[SLOTS];
    for (uint slot = 0; slot < SLOTS; ++slot) {
        days[slot].time = days[slot].end = 0.0;
        if (slot < slots) days[slot] = begin_day(WORK_OF(slot), TREE_OF(slot));
    }
    bool going;
    do {
        going = false;
#pragma unroll
        for (uint slot = 0; slot < SLOTS; ++slot) {
            if (!(days[slot].time < days[slot].end)) continue;
            work_on(WORK_OF(slot), TREE_OF(slot), &days[slot]);
            going = true;
        }
    } while (going);
    for (uint slot = 0; slot < slots; ++slot) end_of_work(WORK_OF(slot), days[slot]);
#else
    // Two agents need not share the work-items that a GPU runs in step; more of them should.
    const uint apart = slots > 2 ? 1 : max(1u, LANES / slots);
    for (uint slot = LANE / apart; slot < slots; slot += max(1u, LANES / apart)) {
        if (LANE % apart != 0) continue;
        day_t day = begin_day(WORK_OF(slot), TREE_OF(slot));
        while (day.time < day.end) work_on(WORK_OF(slot), TREE_OF(slot), &day);
        end_of_work(WORK_OF(slot), day);
    }
#endif
}

// The days of the agents from `first` on, up to `end`.
COLLECTIVE_WHOLE void extract(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *rows, uint first,
                              const uint end)
{
    __local real *gain = local_malloc(SLOTS * TREE_NODES * sizeof(real));
    __local uint *ties = local_malloc(SLOTS * TREE_NODES * sizeof(uint));
#if RESOURCES <= ROW_LIMIT
    __local real *minutes_next = local_malloc(SLOTS * RESOURCES * sizeof(real));
    __local real *experienced = local_malloc(SLOTS * RESOURCES * sizeof(real));
    __local int *holding = local_malloc(SLOTS * RESOURCES * sizeof(int));
#if DEVICES
    __local real *left = local_malloc(SLOTS * RESOURCES * sizeof(real));
    __local int *source = local_malloc(SLOTS * RESOURCES * sizeof(int));
#endif
#endif
#if DEVICES
    __local real *learned = local_malloc(SLOTS * SOURCES * sizeof(real));
    __local real *speed = local_malloc(SLOTS * SOURCES * sizeof(real));
    __local int *units_from = local_malloc(SLOTS * SOURCES * sizeof(int));
#endif
    do {
        const uint slots = SLOTS == 1 ? 1 : min((uint)SLOTS, end - first);
#if RESOURCES > ROW_LIMIT
        __global real *minutes_next = rows + (size_t)first * EXTRACTION_ROWS * RESOURCES;
        __global real *experienced = minutes_next + RESOURCES;
        __global int *holding = (__global int *)(experienced + RESOURCES);
#if DEVICES
        __global real *left = experienced + 2 * RESOURCES;
        __global real *spent = left + RESOURCES;
        __global int *source = holding + RESOURCES;
#endif
#elif DEVICES
        __global real *spent = rows + (size_t)first * SOURCES * RESOURCES;
#endif
        for (uint slot = 0; slot < slots; ++slot) look_at_all(WORK_OF(slot), TREE_OF(slot));
        // All leaves, before their parents are formed; rows, before one work-item works.
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        fill_trees(TREE, slots, leaves);
        walk_days(STATE, TABLES, ROWS, TREE, first, slots);
        // units of the days, before they are stored
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint slot = 0; slot < slots; ++slot) practise(WORK_OF(slot));
#if DEVICES
        for (uint slot = 0; slot < slots; ++slot) store_devices(WORK_OF(slot));
        uint row = 0;
        do {
            const real total = reduce_sum_global(spent + row * RESOURCES, resources);
            store_source(WORK_OF(row / SOURCES), row % SOURCES, total);
        } while (++row < slots * SOURCES);
#endif
        // these days, before the memory is used again
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        first += slots;
    } while (first < end);
}

// `all_agents`: of all societies; `together`: of a workgroup.
__kernel void extraction(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *rows,
                         const uint all_agents, const uint together)
{
    const uint first = get_group_id(0) * together;
    extract(STATE, TABLES, rows, first, min(first + together, all_agents));
}
