// What is a device worth to an agent, what would it cost to make, and can the agent make it?
// Twin: reference_py/economy/valuation.py.
// The file is long because what a device costs, takes and brings is requested by the same callers.
//
// One work-item alone values a device, so a group values as many devices at a time as it has
// work-items. All work-items of a group work out the costs of the wanted devices of a type
// together, a resource each, level by level from tools upwards. Local memory: `costs` takes 8 bytes
// a resource (on a CPU 4 more). The counts of needed components are in rows that the caller
// provides (NEED_ROWS).
#ifndef ECONOMY_VALUATION_CL
#define ECONOMY_VALUATION_CL

#include "economy/bits.cl"
#include "economy/devices.cl"
#include "primitives/group.cl"

// How many of one component or resource a device needs. It is at most one for each tool in the
// device, since a recipe names nothing twice.
#if COMPONENTS * COMPONENTS * COMPONENTS < 65536
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
#if DEVICE_IS_CPU || NEED_ROW * COUNT_BYTES * 2 > NEED_SPACE
#define NEED_ROWS 1
#elif NEED_ROW * COUNT_BYTES * 64 > NEED_SPACE
#define NEED_ROWS (NEED_SPACE / (NEED_ROW * COUNT_BYTES))
#else
#define NEED_ROWS 64
#endif
#define NEED_LANES (LANES < NEED_ROWS ? LANES : NEED_ROWS)

// Number of types from a type down to the tools that it consists of, the type itself included.
__constant int levels_above_tools[TYPES] = {0, 1, 2, 3, 1, 2};

// Which type a device-making device makes.
__constant int made_type[TYPES] = {-1, -1, -1, -1, TOOL, MACHINE};

// ---------------------------------------------------------------- what it costs

// The mean price that the agent paid lately, or -1 if it bought too rarely.
static real expected_price(STATE_PARAMETERS, const size_t society, const uint agent,
                           const uint device_type, const uint resource)
{
    int count = 0;
    real total = 0.0;
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
    return marginal_utility(TABLES, utility_curve(agent, resource),
                            (long)held(agent, resource) - 1);
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
    for (uint i = 0; i < COMPONENT_SLOTS; ++i) {  // ascending
        const int k = recipe(device_type, resource, i);
        if (k < 0) break;
        if (device_type != TOOL)
            total += below[k];
        else if (!in_minutes)
            total += value_of_last_unit(AGENT(agent), k);
    }
    return total;
}

// The type `levels` levels below.
static uint type_below(const uint device_type, const int levels)
{
    uint found = device_type;
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
        for (uint i = 0; i < COMPONENT_SLOTS; ++i) {
            const int k = recipe(TOOL, resource, i);
            if (k < 0) break;
            if (held(agent, k) < 1) return false;
        }
        return true;
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

// ---------------------------------------------------------------- what it brings

// The owned minutes that count against owning more: of all types that extract, from tools on as far
// as there are recipes. A device that makes devices counts alone.
static real stock(STATE_PARAMETERS, const size_t society, const uint agent, const uint device_type,
                  const uint resource)
{
    if (!is_extracting(device_type)) return device_minutes(agent, device_type, resource);
    real total = 0.0;
    for (uint other = TOOL; other <= INDUSTRY; ++other) {
        if (!has_recipe(STATE, society, other, resource)) break;
        total += device_minutes(agent, other, resource);
    }
    return total;
}

// The whole number that is not below x, for x >= 0; never more than MANY_USES.
#define MANY_USES 4000000000000000000L
static long whole_from(const real x)
{
    if (!(x < (real)MANY_USES)) return MANY_USES;
    const long below = (long)x;
    return below + ((real)below < x);
}

// The outcome of using a device: units, and experience and time afterwards.
typedef struct {
    long units;
    real experience, time;
} use_t;

// How many levels of experience are passed completely before `end`. A bisection that guesses: at
// the present effort this many levels more are passed. Efforts change slowly, so a few guesses do.
INLINED int levels_passed(__global const real *effort_of, __global const real *total,
                          const int last, const int level, const real time, const real end,
                          const real learning)
{
    int low = level, high = last;
    real now = time;
    while (low < high) {
        const real guess = (end - now) * learning / effort_of[low];
        const int ahead = guess < (real)(high - low) ? (int)guess : high - low;
        const int middle = low + max(ahead, 1);
        const real then = time + (total[middle] - total[level]) / learning;
        if (then < end) {
            low = middle;
            now = then;
        } else {
            high = middle - 1;
        }
    }
    return low - level;
}

// Use a device from `time` on until `end` is reached, in stretches of constant effort: efforts are
// minutes[0 .. last], total[e] is what those before e add up to. A unit takes effort / factor
// minutes and adds learning / factor to the experience. Levels that are passed completely are
// skipped at once if a whole number of units makes one experience.
WHOLE use_t use(__global const real *effort_of, __global const real *total, const int last,
                const real experience, const real time, const real end, const real factor,
                const real learning)
{
    use_t done = {0, experience, time};
    const real units_a_level = factor / learning;
    while (done.time < end) {
        int level = done.experience < (real)last ? (int)done.experience : last;
        const real effort_now = effort_of[level];
        const long to_end = whole_from((end - done.time) * factor / effort_now);
        long count = to_end;
        if (level < last) {
            const long of_level = whole_from(((real)(level + 1) - done.experience) * units_a_level);
            if (of_level < count) count = of_level;
        }
        done.units += count;
        done.experience += (real)count / units_a_level;
        done.time += (real)count * effort_now / factor;
        if (count == to_end) break;
        level = done.experience < (real)last ? (int)done.experience : last;
        if (units_a_level == (real)whole_from(units_a_level)) {
            const int passed =
                levels_passed(effort_of, total, last, level, done.time, end, learning);
            done.units += passed * (long)units_a_level;
            done.experience += (real)passed;
            done.time += (total[level + passed] - total[level]) / learning;
        }
    }
    return done;
}

// The units that the devices of an agent and one more would extract, and all that they depend on:
// an agent values a device many times in a day, and little of this changes in between. A row for
// each resource of each agent; `device_type` is the type and 1, 0 where nothing is known. Nothing
// is cached from one market to the next (`forget_uses`).
typedef struct {
    real experience, minutes[INDUSTRY + 1];
    long before, units;
    uint device_type, at_once;
} used_t;

#define used_of(agent, resource) uses[((size_t)society * AGENTS + (agent)) * RESOURCES + (resource)]

// The units that are extracted with what the agent owns, the best first, and then with one more.
static void use_all(AGENT_PARAMETERS, __global used_t *used, const uint device_type,
                    const uint resource)
{
    const uint curve = effort_curve(agent, resource);
    __global const real *effort_of = effort_table + effort_start(curve);
    __global const real *total = effort_total_table + effort_start(curve);
    const int last_level = effort_last(curve);
    use_t done = {0, experience(agent, resource), 0.0};
    real owned = 0.0;
    long before = 0;
    used->experience = done.experience;
    for (int better = INDUSTRY; better >= (int)device_type; --better) {
        const real minutes = device_minutes(agent, better, resource);
        used->minutes[better] = minutes;
        owned += minutes;
        if (!(done.time < owned)) continue;
        done = use(effort_of, total, last_level, done.experience, done.time, owned,
                   device_factor[better], 1.0);
        before += done.units;
    }
    const real end = owned + device_lifetime[device_type];
    const real time = done.time;
    done = use(effort_of, total, last_level, done.experience, time, end, device_factor[device_type],
               1.0);
    used->before = before;
    used->units = done.units;
    used->at_once = !(time > owned);  // begun at the very first moment
    used->device_type = device_type + 1;
}

// Forget an agent's rows, for the next market.
INLINED void forget_uses(AGENT_PARAMETERS, __global used_t *uses)
{
    for (uint r = LANE; r < resources; r += LANES) used_of(agent, r).device_type = 0;
}

// The utility of the units that one more device would extract, after those owned are used up.
static real benefit_of_extracting(AGENT_PARAMETERS, __global used_t *uses, const uint device_type,
                                  const uint resource)
{
    if (stock(STATE, society, agent, device_type, resource) > P(days_to_hold) * P(day_length))
        return 0.0;
    __global used_t *used = &used_of(agent, resource);
    bool same =
        used->device_type == device_type + 1 && used->experience == experience(agent, resource);
    for (int better = INDUSTRY; better >= (int)device_type; --better)
        same &= used->minutes[better] == device_minutes(agent, better, resource);
    if (!same) use_all(AGENT(agent), used, device_type, resource);
    const long units = held(agent, resource);
    const long last = units + used->before + used->units;
    long first = units + used->before;
    if (used->at_once) first = min(first + 1, last);
    const uint utility_of = utility_curve(agent, resource);
    return total_utility(TABLES, utility_of, last) - total_utility(TABLES, utility_of, first);
}

// The value of the time that one more device-making device would save.
static real benefit_of_making(AGENT_PARAMETERS, const uint device_type, const uint resource)
{
    const uint made = made_type[device_type];
    const real owned = device_minutes(agent, device_type, resource);
    if (owned >= P(days_to_hold) * P(day_length)) return 0.0;
    const real lifetime = device_lifetime[device_type], factor = device_factor[device_type];
    const long enough = (long)P(min_made_for_device_maker) * ((long)(owned / lifetime) + 1);
    long lately = 0;
    for (uint day = 0; day < PRODUCTION_MEMORY; ++day)
        lately += recently_made(agent, made, resource, day);
    if (lately <= enough) return 0.0;
    const uint curve = making_curve(agent, resource);
    __global const real *effort_of = making_table + making_start(curve);
    __global const real *total = making_total_table + making_start(curve);
    const int last = making_last(curve);
    const real learnt = use(effort_of, total, last, device_experience(agent, made, resource), 0.0,
                            owned, factor, device_experience_for_making[made])
                            .experience;
    const use_t with_device = use(effort_of, total, last, learnt, 0.0, lifetime, factor, 1.0);
    const real by_hand = minutes_in_series(TABLES, curve, learnt, with_device.units);
    return (by_hand - with_device.time) * gain_per_minute(agent);
}

// What one more device would bring the agent over its lifetime, in util.
static real benefit(AGENT_PARAMETERS, __global used_t *uses, const uint device_type,
                    const uint resource)
{
    if (!available(resource)) return 0.0;
    const real found = is_extracting(device_type)
                           ? benefit_of_extracting(AGENT(agent), uses, device_type, resource)
                           : benefit_of_making(AGENT(agent), device_type, resource);
#ifdef RULE_DEVICE_WORTH
    const real worth = rule_device_worth(found, device_type, resource, device_lifetime[device_type],
                                         device_minutes(agent, device_type, resource),
                                         gain_per_minute(agent) FAULT_OF(&python_fault()));
    return worth > 0.0 && worth < SOFT_INFINITY ? worth : 0.0;
#else
    return found;
#endif
}

#endif
