// What is one more device worth to an agent: the units that it extracts, or the time that it saves?
// Twin: reference_py/economy/valuation.py. One work-item alone values a device; no barriers.
#ifndef ECONOMY_BENEFIT_CL
#define ECONOMY_BENEFIT_CL

#include "economy/valuation.cl"

// Which type a device-making device makes.
__constant int made_type[TYPES] = {-1, -1, -1, -1, TOOL, MACHINE};

// The owned minutes that count against owning more: of all types that extract, from tools on as far
// as there are recipes. A device that makes devices counts alone.
static real stock(STATE_PARAMETERS, const size_t society, const uint agent, const uint device_type,
                  const uint resource)
{
    if (!is_extracting(device_type)) return device_minutes(agent, device_type, resource);
    bool exists[INDUSTRY + 1];
    real minutes[INDUSTRY + 1], total = 0.0;
#pragma unroll
    for (uint other = TOOL; other <= INDUSTRY; ++other) {  // read before any is added
        exists[other] = has_recipe(STATE, society, other, resource);
        minutes[other] = device_minutes(agent, other, resource);
    }
    bool all = true;
#pragma unroll
    for (uint other = TOOL; other <= INDUSTRY; ++other) {
        all = all && exists[other];
        total += all ? minutes[other] : 0.0;
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
#if CROWDED
#pragma unroll 1
#endif
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
#pragma unroll
    for (int other = TOOL; other <= INDUSTRY; ++other)
        same &= other < (int)device_type ||
                used->minutes[other] == device_minutes(agent, other, resource);
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
#if CROWDED
#pragma unroll 1
#endif
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
