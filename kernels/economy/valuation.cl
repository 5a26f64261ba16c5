// What would making a device cost an agent, and can the agent make it? What it brings: benefit.cl.
// Twin: reference_py/economy/valuation.py
//
// One work-item alone finds whether a device can be made, so a group does so for as many devices at
// a time as it has rows. All work-items of a group work out the costs of the wanted devices of a
// type together, a resource each, level by level from tools upwards. Local memory: `costs` takes 8
// bytes a resource (on a CPU 4 more). The counts of needed components are in rows that the caller
// provides (NEED_ROWS).
#ifndef ECONOMY_VALUATION_CL
#define ECONOMY_VALUATION_CL

#include "economy/bits.cl"
#include "economy/devices.cl"
#include "primitives/group.cl"

// How many of one component or resource a device needs. It is at most one for each tool in the
// device, since a recipe names nothing twice.
#if !DEVICE_IS_CPU && COMPONENTS * COMPONENTS * COMPONENTS < 256
#define COUNT_BYTES 1
typedef uchar count_t;
#elif COMPONENTS * COMPONENTS * COMPONENTS < 65536
#define COUNT_BYTES 2
typedef ushort count_t;
#else
#define COUNT_BYTES 4
typedef uint count_t;
#endif

// A work-item that looks at what a device needs does so in NEED_ROW entries of its own. On a GPU as
// many work-items do so at the same time as have room in NEED_SPACE bytes:
//
//     __local count_t *rows = local_malloc(NEED_ROWS * NEED_ROW * sizeof(count_t));
//     if (LANE < NEED_ROWS)
//         for (uint r = LANE; r < resources; r += NEED_LANES)
//             ... can_make(AGENT(agent), device_type, r, rows + LANE * NEED_ROW) ...
#define NEED_ROW (2 * RESOURCES)
#define COUNT_WORDS ((RESOURCES + 63) / 64)
#define NEED_SPACE 9216
#if CROWDED
#define MOST_ROWS WORK_ITEMS
#else
#define MOST_ROWS (RESOURCES < 64 ? RESOURCES : 64)
#endif
#if DEVICE_IS_CPU || NEED_ROW * COUNT_BYTES * 2 > NEED_SPACE
#define NEED_ROWS 1
#elif NEED_ROW * COUNT_BYTES * MOST_ROWS > NEED_SPACE
#define NEED_ROWS (NEED_SPACE / (NEED_ROW * COUNT_BYTES))
#else
#define NEED_ROWS MOST_ROWS
#endif
#define NEED_LANES (LANES < NEED_ROWS ? LANES : NEED_ROWS)

// Longer loops are not unrolled: it takes minutes to compile a thousand copies.
#define SHORT_LOOP 16

// Number of types from a type down to the tools that it consists of, the type itself included.
__constant int levels_above_tools[TYPES] = {0, 1, 2, 3, 1, 2};

// ---------------------------------------------------------------- what it costs

// The mean price that the agent paid lately, or -1 if it bought too rarely.
static real expected_price(STATE_PARAMETERS, const size_t society, const uint agent,
                           const uint device_type, const uint resource)
{
    int count = 0;
    real total = 0.0;
#if PRICE_MEMORY <= SHORT_LOOP
#pragma unroll
#else
#pragma unroll 1
#endif
    for (uint i = 0; i < PRICE_MEMORY; ++i) {  // newest first
        const real price = prices(agent, device_type, resource, i);
        if (price > 0.0) {
            total += price;
            ++count;
        }
    }
    return count < PRICE_MEMORY / 2 ? -1.0 : total / (real)count;
}

// The marginal utility of the last unit held; 0 if there is none.
static real value_of_last_unit(AGENT_PARAMETERS, const uint resource)
{
    return marginal_of(TABLES, utility_curve(agent, resource), held(agent, resource) - 1);
}

// What making one costs, or the minutes it takes, given those of each component.
INLINED real with_components(AGENT_PARAMETERS, const uint device_type, const uint resource,
                             const bool in_minutes, const __local real *below)
{
    if (!has_recipe(STATE, society, device_type, resource)) return 0.0;
    const real price = expected_price(STATE, society, agent, device_type, resource);
    if (price > 0.0) return in_minutes ? 0.0 : price;
    const real time = making_time(AGENT(agent), device_type, resource);
    real total = in_minutes ? time : time * gain_per_minute(agent);
    if (device_type == TOOL && in_minutes) return total;
#if COMPONENT_SLOTS <= SHORT_LOOP
    int k[COMPONENT_SLOTS];
    real part[COMPONENT_SLOTS];  // all is read before anything is decided, so that a GPU waits once
#pragma unroll
    for (uint i = 0; i < COMPONENT_SLOTS; ++i) k[i] = recipe(device_type, resource, i);
    if (device_type == TOOL)
#pragma unroll
        for (uint i = 0; i < COMPONENT_SLOTS; ++i)
            part[i] = value_of_last_unit(AGENT(agent), max(k[i], 0));
    else
#pragma unroll
        for (uint i = 0; i < COMPONENT_SLOTS; ++i) part[i] = below[max(k[i], 0)];
#pragma unroll
    for (uint i = 0; i < COMPONENT_SLOTS; ++i)  // ascending
        if (k[i] >= 0) total += part[i];
#else
    for (uint i = 0; i < COMPONENT_SLOTS; ++i) {  // ascending
        const int k = recipe(device_type, resource, i);
        if (k < 0) break;
        total += device_type == TOOL ? value_of_last_unit(AGENT(agent), k) : below[k];
    }
#endif
    return total;
}

// The type `levels` levels below.
static uint type_below(const uint device_type, const int levels)
{
    uint found = device_type;
#if CROWDED
#pragma unroll 1
#endif
    for (int i = 0; i < levels; ++i) found = component_type[found];
    return found;
}

COLLECTIVE_WHOLE void up_from_tools(AGENT_PARAMETERS, const uint device_type,
                                    const __local uchar *wanted, const bool in_minutes,
                                    __local real *result)
{
    const int top = levels_above_tools[device_type];
    __local real *other = local_malloc(RESOURCES * sizeof(real));
#if DEVICE_IS_CPU
    // Here every device counts: those that no wanted one contains are left out.
    __local uchar *part = local_malloc(4 * RESOURCES * sizeof(uchar));
    for (uint r = 0; r < resources; ++r) part[r] = wanted[r];
    for (int depth = 0; depth < top; ++depth) {
        const uint level = type_below(device_type, depth);
        __local uchar *here = part + depth * RESOURCES, *below = here + RESOURCES;
        for (uint k = 0; k < resources; ++k) below[k] = 0;
        for (uint r = 0; r < resources; ++r)
            for (uint i = 0; here[r] && i < COMPONENTS && recipe(level, r, i) >= 0; ++i)
                below[recipe(level, r, i)] = 1;
    }
#endif
    int depth = top;
    do {
        const uint level = type_below(device_type, depth);
        __local real *here = depth % 2 == 0 ? result : other;
        __local real *below = depth % 2 == 0 ? other : result;
        for (uint r = LANE; r < resources; r += LANES) {
#if DEVICE_IS_CPU
            if (!part[depth * RESOURCES + r]) continue;
#endif
            here[r] = with_components(AGENT(agent), level, r, in_minutes, below);
        }
        // This level, before the one above; after the last one reads, before the state changes.
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        depth -= 1;
    } while (depth >= 0);
}

// What each wanted device of the type costs the agent: its expected price, or else the value of the
// time for making it, and its components or, of a tool, the last unit held of each resource. Other
// entries are undefined. By all work-items; `wanted` has been ordered by a barrier, the costs are.
COLLECTIVE void costs(AGENT_PARAMETERS, const uint device_type, const __local uchar *wanted,
                      __local real *cost)
{
    up_from_tools(AGENT(agent), device_type, wanted, false, cost);
}

// The same for the minutes that the agent would spend on each device; 0 for one that it can buy.
COLLECTIVE void expected_minutes(AGENT_PARAMETERS, const uint device_type,
                                 const __local uchar *wanted, __local real *spent)
{
    up_from_tools(AGENT(agent), device_type, wanted, true, spent);
}

// ---------------------------------------------------------------- what it takes

// Counts of resources, most of them 0. `nonzero` has a bit for each that is not; the entries of the
// others are undefined.
typedef struct {
    __local count_t *count;
    ulong nonzero[COUNT_WORDS];
} counts_t;

// For each resource r of some counts, ascending.
#define FOR_COUNTED(counts, r) \
    for (uint word_of_##r = 0; word_of_##r < COUNT_WORDS; ++word_of_##r) \
        for (ulong left_of_##r = (counts).nonzero[word_of_##r]; left_of_##r != 0; \
             left_of_##r &= left_of_##r - 1) \
            for (uint r = 64 * word_of_##r + lowest_bit(left_of_##r), once = 1; once; once = 0)

INLINED counts_t no_counts(__local count_t *count)
{
    counts_t none;
    none.count = count;
    for (uint word = 0; word < COUNT_WORDS; ++word) none.nonzero[word] = 0;
    return none;
}

INLINED void set_count(counts_t *counts, const uint resource, const count_t count)
{
    const ulong bit = 1UL << resource % 64;
    counts->count[resource] = count;
    if (count > 0)
        counts->nonzero[resource / 64] |= bit;
    else
        counts->nonzero[resource / 64] &= ~bit;
}

// The first of a work-item's rows: one device.
INLINED counts_t one_device(__local count_t *rows, const uint resource)
{
    counts_t one = no_counts(rows);
    set_count(&one, resource, 1);
    return one;
}

// How many components the devices of one type need, in the other of the two rows.
INLINED counts_t needed(STATE_PARAMETERS, const size_t society, const uint device_type,
                        __local count_t *rows, const counts_t devices)
{
    counts_t result = no_counts(devices.count == rows ? rows + RESOURCES : rows);
    FOR_COUNTED(devices, r)
    {
#if CROWDED
#pragma unroll 1
#endif
        for (uint i = 0; i < COMPONENT_SLOTS; ++i) {
            const int k = recipe(device_type, r, i);
            if (k < 0) break;
            const bool counted = result.nonzero[k / 64] >> k % 64 & 1;
            set_count(&result, k, (counted ? result.count[k] : 0) + devices.count[r]);
        }
    }
    return result;
}

// Minutes for `count` devices, of which each adds 1 to the experience.
static real minutes_in_series(TABLE_PARAMETERS, const uint curve, const real experience,
                              const long count)
{
    __global const real *total = making_total_table + making_start(curve);
    const long last = making_last(curve);
    const long begin = (long)experience, end = begin + count;
    const real inside = total[min(end, last)] - total[min(begin, last)];
    const long beyond = end - max(begin, last);
    return inside +
           (real)(beyond > 0 ? beyond : 0) * making_table[making_start(curve) + (uint)last];
}

// Whether the agent knows the device and has the time and the resources to make one, if it can buy
// nothing. Whole owned components are used up first. Making more of one kind teaches: each takes as
// long as with one experience more, whatever its type teaches. `rows`: NEED_ROW entries.
INLINED bool can_make(AGENT_PARAMETERS, const uint device_type, const uint resource,
                      __local count_t *rows)
{
    if (device_experience(agent, device_type, resource) < 1.0) return false;
    const real reserved = reserved_minutes(agent);
    real spent = making_time(AGENT(agent), device_type, resource);
    if (!(reserved + spent < P(day_length))) return false;  // it only becomes more

    if (device_type == TOOL) {  // a recipe names no resource twice
        bool has_all = true;
#if COMPONENT_SLOTS <= SHORT_LOOP
#pragma unroll
#else
#pragma unroll 1
#endif
        for (uint i = 0; i < COMPONENT_SLOTS; ++i) {
            const int k = recipe(TOOL, resource, i);
            if (COMPONENT_SLOTS > SHORT_LOOP && k < 0) break;
            has_all = has_all && (k < 0 || held(agent, k) >= 1);
        }
        return has_all;
    }
    counts_t need = one_device(rows, resource);
    for (uint level = device_type; level != TOOL; level = component_type[level]) {
        const uint below = component_type[level];
        need = needed(STATE, society, level, rows, need);
        FOR_COUNTED(need, k)
        {
            const real owned = (real)(long)device_minutes(agent, below, k);
            const long left = (long)need.count[k] - (long)(owned / device_lifetime[below]);
            set_count(&need, k, (count_t)(left > 0 ? left : 0));
            if (left > 0)
                spent += minutes_in_series(TABLES, making_curve(agent, k),
                                           device_experience(agent, below, k), left) /
                         making_speed(AGENT(agent), below, k);
        }
        if (!(reserved + spent < P(day_length))) return false;
    }
    need = needed(STATE, society, TOOL, rows, need);
    FOR_COUNTED(need, k)
    {
        if ((long)need.count[k] > (long)held(agent, k)) return false;
    }
    return true;
}

#endif
