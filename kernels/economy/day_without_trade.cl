// An agent's extraction without waiting from unit to unit; and what the agent then does by itself,
// in the same launch (end_day.py and statistics.py of the reference).
// Twin: reference_py/economy/extraction.py
//
// One society leaves a GPU idle, and units extracted one after another wait for each other: for a
// way through the tree of gains, for two look-ups and a division. But what the next units of a
// resource bring depends on that resource alone. So all work-items look UNITS_AHEAD units of every
// resource ahead, and put all of them in the order in which they will be extracted:
//
//   The unit that pays best is always next. A unit that pays more than the one before it of the
//   same resource follows that at once; so a unit has the RANK of the smallest gain up to it, and
//   units are extracted in descending order of ranks. Units of one resource with the same rank
//   follow each other. Where several resources have the same rank, draws decide, one for each unit
//   for which more than one resource has that gain: the only part in which units are looked at
//   one by one.
//
// One work-item then adds up minutes, in that order, until the day is over or a resource has no
// unit left that was looked at: then all look ahead again. Without devices, for up to 64 resources,
// and if no agent takes what pays nearly best (EXTRACTION_AHEAD, societies/economy/memory.py).
#include "economy/bits.cl"
#include "economy/curves.cl"
#include "economy/end_day.cl"
#include "economy/practice.cl"
#include "economy/statistics.cl"
#include "economy/streams.cl"
#include "primitives/group.cl"

#if EXTRACTION_AHEAD

// A unit in the order: its resource, and what else is to be known when it is extracted.
#define OF_RESOURCE 63u
#define FIRST_OF_RANK 64u  // it is the first of all units with its rank
#define NO_OTHER 128u  // no other resource has this rank
#define LAST_AHEAD 256u  // the next unit of the resource has not been looked at
#define TAKEN 512u  // it has been extracted, out of turn

#define UNITS (RESOURCES * UNITS_AHEAD)
#define ORDER_PARAMETERS __local uint *order, __local real *its_minutes, __local real *its_gain
#define ORDER order, its_minutes, its_gain

// How far a day has come.
typedef struct {
    real time, last_gain;
    uint taken;  // units of the order that have been extracted, from the first on
    bool again;  // the day continues, but with what has not been looked at
    rng_t rng;
} walk_t;

// See what the units ahead bring and how long they take. Unit k of resource r has the number
// r * UNITS_AHEAD + k. Those of a resource that is gone pay less than all others.
INLINED void look_ahead(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent,
                        const __local int *holding, const __local real *experienced,
                        __local real *gain, __local real *minutes_of)
{
    for (uint i = LANE; i < UNITS; i += LANES) {
        const uint r = i / UNITS_AHEAD, ahead = i % UNITS_AHEAD;
        real known = experienced[r];
        for (uint k = 0; k < ahead; ++k) known += 1.0;
        const real by_hand = effort(TABLES, effort_curve(agent, r), known);
        const real worth =
            marginal_utility(TABLES, utility_curve(agent, r), holding[r] + (int)ahead);
        gain[i] = available(r) ? worth / by_hand : -1.0;
        minutes_of[i] = by_hand;
    }
}

// Find all ranks, and clear the order.
INLINED void find_ranks(const __local real *gain, __local real *rank, __local uint *order)
{
    for (uint i = LANE; i < UNITS; i += LANES) {
        const uint first = i / UNITS_AHEAD * UNITS_AHEAD;
        real least = gain[i];
        for (uint j = first; j < i; ++j) least = gain[j] < least ? gain[j] : least;
        rank[i] = least;
    }
    for (uint i = LANE; i <= UNITS; i += LANES) order[i] = FIRST_OF_RANK;
}

// How many of a resource's ranks are larger; they descend.
INLINED uint larger_ranks(const __local real *ranks, const real rank)
{
    uint count = 0;
#pragma unroll
    for (uint step = (UNITS_AHEAD + 1) / 2; step > 0; step /= 2)
        count += ranks[count + step - 1] > rank ? step : 0;
    return count;
}

// Put the units in order: by rank, then by resource, then as they follow each other. Those that
// come after the end of what was looked at of some resource are left out, and have the place NONE.
INLINED void put_units_in_order(const __local real *gain, const __local real *rank,
                                const __local real *minutes_of, __local uint *place,
                                ORDER_PARAMETERS)
{
    real least = -1.0;  // rank at which the first resource ends
    for (uint r = 0; r < RESOURCES; ++r) {
        const real last = rank[r * UNITS_AHEAD + UNITS_AHEAD - 1];
        least = last > least ? last : least;
    }
    for (uint i = LANE; i < UNITS; i += LANES) {
        const real own = rank[i];
        place[i] = NONE;
        if (own < least) continue;
        const uint r = i / UNITS_AHEAD, ahead = i % UNITS_AHEAD;
        uint larger = 0;
        ulong equal = 0;  // resources that have the same rank
#pragma unroll 4
        for (uint other = 0; other < RESOURCES; ++other) {
            const __local real *ranks = rank + other * UNITS_AHEAD;
            const uint count = larger_ranks(ranks, own);
            larger += count;
            equal |= (ulong)(count < UNITS_AHEAD && ranks[min(count, UNITS_AHEAD - 1u)] == own)
                     << other;
        }
        const bool alone = equal == 1ul << r;
        uint before = 0;
        while (equal != 0) {
            const uint other = lowest_bit(equal);
            const __local real *ranks = rank + other * UNITS_AHEAD;
            equal &= equal - 1;
            if (other > r) continue;
            for (uint k = 0; k < UNITS_AHEAD; ++k)
                before += ranks[k] == own && (other < r || k < ahead);
        }
        const uint at = larger + before;
        place[i] = at;
        its_minutes[at] = minutes_of[i];
        its_gain[at] = gain[i];
        order[at] = r | (before == 0 ? FIRST_OF_RANK : 0u) | (alone ? NO_OTHER : 0u) |
                    (ahead == UNITS_AHEAD - 1u ? LAST_AHEAD : 0u);
    }
}

// Extract units of several resources that have the same rank, the first at place `at`: of the
// resources whose next unit pays just that, any with equal chances, and whatever pays more after
// it. Returns the place after them, or `at` if the day does not get that far.
INLINED uint extract_by_chance(ORDER_PARAMETERS, __local uint *next, walk_t *day, const uint at)
{
    const real rank = its_gain[at];
    ulong open = 0;
    uint after = at, resource = NONE;
    do {
        const uint r = order[after] & OF_RESOURCE;
        if (r != resource) {
            open |= 1ul << r;
            next[r] = after;
            resource = r;
        }
        ++after;
    } while ((order[after] & FIRST_OF_RANK) == 0);
    do {
        const uint count = popcount(open);
        const uint pick = count == 1 ? 0 : rng_below(&day->rng, count);
        ulong marks = open;
        for (uint i = 0; i < pick; ++i) marks &= marks - 1;
        const uint r = lowest_bit(marks);
        uint unit = next[r];
        bool follows;
        do {
            day->time += its_minutes[unit];
            day->last_gain = its_gain[unit];
            day->again = (order[unit] & LAST_AHEAD) != 0;
            order[unit] |= TAKEN;
            ++unit;
            follows = (order[unit] & (FIRST_OF_RANK | OF_RESOURCE)) == r;
        } while (follows && its_gain[unit] > rank && day->time < P(day_length));
        if (follows)
            next[r] = unit;
        else
            open &= ~(1ul << r);
    } while (open != 0 && day->time < P(day_length) && !day->again);
    return open == 0 ? after : at;
}

// Extract units in their order until the day is over, or one was not looked at.
INLINED void walk_on(ORDER_PARAMETERS, __local uint *next, walk_t *day)
{
    uint at = 0;
    day->again = false;
    while (day->time < P(day_length) && !day->again) {
        uint unit = order[at];
        if ((unit & NO_OTHER) == 0) {
            at = extract_by_chance(ORDER, next, day, at);
            continue;
        }
        real minutes_now = its_minutes[at], gain_now = its_gain[at];
        do {  // what comes next is read before it is needed
            ++at;
            const uint unit_after = order[at];
            const real minutes_after = its_minutes[at], gain_after = its_gain[at];
            day->time += minutes_now;
            day->last_gain = gain_now;
            day->again = (unit & LAST_AHEAD) != 0;
            unit = unit_after;
            minutes_now = minutes_after;
            gain_now = gain_after;
        } while ((unit & NO_OTHER) != 0 && day->time < P(day_length) && !day->again);
    }
    day->taken = at;
}

// The day of a living agent.
COLLECTIVE void extract_at_once(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society,
                                const uint agent)
{
    __local real *gain = local_malloc(UNITS * sizeof(real));
    __local real *rank = local_malloc(UNITS * sizeof(real));
    __local real *minutes_of = local_malloc(UNITS * sizeof(real));
    __local real *its_gain = local_malloc((UNITS + 1) * sizeof(real));
    __local real *its_minutes = local_malloc((UNITS + 1) * sizeof(real));
    __local real *experienced = local_malloc(RESOURCES * sizeof(real));
    __local uint *order = local_malloc((UNITS + 1) * sizeof(uint));
    __local uint *place = local_malloc(UNITS * sizeof(uint));
    __local uint *next = local_malloc(RESOURCES * sizeof(uint));
    __local int *holding = local_malloc(RESOURCES * sizeof(int));
    __local uint *shared = local_malloc(2 * sizeof(uint));  // of walk_t: taken, again

    for (uint r = LANE; r < resources; r += LANES) {
        holding[r] = held(agent, r);
        experienced[r] = experience(agent, r);
    }
    walk_t day = {0.0, 0.0, 0, false, {0, 0}};  // work-item 0 goes through it
    if (LANE == 0) {
        day.last_gain = gain_per_minute(agent);
        day.rng = rng_load(stream(agent, PURPOSE_EXTRACTION));
    }
    uint going;
    do {
        // Holdings and experience of all resources; all know whether the day continues.
        group_barrier(CLK_LOCAL_MEM_FENCE);
        look_ahead(STATE, TABLES, society, agent, holding, experienced, gain, minutes_of);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // gains, before the least of them are found
        find_ranks(gain, rank, order);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // ranks, before they are compared; no order
        put_units_in_order(gain, rank, minutes_of, place, ORDER);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // the order, before one work-item goes through it
        if (LANE == 0) {
            walk_on(ORDER, next, &day);
            shared[0] = day.taken;
            shared[1] = day.again && day.time < P(day_length);
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // what was extracted, before it is counted
        for (uint r = LANE; r < resources; r += LANES) {
            int units = 0;
            for (uint i = r * UNITS_AHEAD; i < (r + 1) * UNITS_AHEAD; ++i)
                units +=
                    place[i] < shared[0] || (place[i] != NONE && (order[place[i]] & TAKEN) != 0);
            for (int i = 0; i < units; ++i) experienced[r] += 1.0;
            holding[r] += units;
        }
        going = shared[1];
    } while (going);

    if (LANE == 0) {
        stream(agent, PURPOSE_EXTRACTION) = rng_pack(day.rng);
        minutes(agent) = day.time - 0.0;
        gain_per_minute(agent) = day.last_gain;
    }
    for (uint r = LANE; r < resources; r += LANES)
        keep_practice(STATE, TABLES, society, agent, r, holding[r], experienced[r]);
}

// A workgroup is an agent; a work-item is in turn a resource and a unit of one. Local memory: 388
// bytes a resource and 28, with 7 units ahead.
__kernel void extraction_at_once(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (!alive(agent)) return;
    extract_at_once(STATE, TABLES, society, agent);
}

// The same, and the end of the day and the agent's statistics, which follow it if there is no
// trade.
__kernel void day_without_trade(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (!alive(agent)) return;
    extract_at_once(STATE, TABLES, society, agent);
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the agent's day
    remember(STATE, TABLES);
    add_up_day(STATE, TABLES, society, agent);
}
#endif
