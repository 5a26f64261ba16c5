// What did the day look like: the statistics of a society, taken before consumption.
// Twin: reference_py/economy/statistics.py. Sums of real numbers run over the fixed tree of
// primitives/reduce.cl, so that every device adds in the same order.
#include "economy/curves.cl"
#include "primitives/reduce.cl"

#define UNDEFINED as_double(0x7ff8000000000000UL)  // the quiet NaN that Python makes

// Add up every living agent's day. A workgroup is an agent, a work-item a resource. Local memory:
// 8 bytes a resource and 16 a work-item.
__kernel void agent_statistics(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real worth[RESOURCES];
    __local int sum_extracted, sum_kinds, sum_held, largest;
    if (!alive(agent)) return;

    if (lid == 0) sum_extracted = sum_kinds = sum_held = largest = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zeros, before they are added to
    int my_extracted = 0, my_kinds = 0, my_held = 0, my_largest = 0;
    for (uint r = lid; r < RESOURCES; r += lanes) {
        const int owned = held(agent, r), today = extracted(agent, r);
        worth[r] = total_utility(TABLES, utility_curve(agent, r), owned);
        my_extracted += today;
        my_kinds += today > 0;
        my_held += owned;
        my_largest = max(my_largest, owned);
    }
    atomic_add(&sum_extracted, my_extracted);  // whole numbers: any order gives the same sum
    atomic_add(&sum_kinds, my_kinds);
    atomic_add(&sum_held, my_held);
    atomic_max(&largest, my_largest);
    barrier(CLK_LOCAL_MEM_FENCE);  // worth and sums of all work-items
    const real total = reduce_sum_local(worth, RESOURCES);
    if (lid == 0) {
        units_extracted(agent) = sum_extracted;
        resources_extracted(agent) = sum_kinds;
        units_held(agent) = sum_held;
        largest_holding(agent) = largest;
        utility_2(agent) = utility_1(agent);
        utility_1(agent) = utility(agent);
        utility(agent) = total;
    }
}

// Number of living agents whose value comes before that of `agent`: its place when sorted.
static uint place_of(STATE_PARAMETERS, const size_t society, __global const real *values,
              const uint agent)
{
    const real own = values[agent];
    uint place = 0;
    for (uint other = 0; other < AGENTS; ++other)
        place += alive(other) && (values[other] < own || (values[other] == own && other < agent));
    return place;
}

// Sum of values over agents (0 for those who are gone); `work` is overwritten.
static real sum_of(__global const real *values, __global real *work)
{
    for (uint i = get_local_id(0); i < AGENTS; i += get_local_size(0)) work[i] = values[i];
    barrier(CLK_GLOBAL_MEM_FENCE);  // the copy, before it is added up
    return reduce_sum_global(work, AGENTS);
}

// Gini coefficient of the living agents' values, whose sum is `total`; 0 if the sum is 0.
static real gini(STATE_PARAMETERS, const size_t society, __global const real *values, __global real *work,
          const real total, const uint living)
{
    for (uint i = get_local_id(0); i < AGENTS; i += get_local_size(0))
        if (alive(i)) {
            const uint place = place_of(STATE, society, values, i);
            work[place] = (real)(place + 1) * values[i];
        }
    barrier(CLK_GLOBAL_MEM_FENCE);  // weighted values in order, before they are added up
    const real weighted = reduce_sum_global(work, living);
    const real count = (real)living;
    if (total == 0.0) return 0.0;
    const real g = 2.0 * weighted / (count * total) - (count + 1.0) / count;
    return g > 0.0 ? g : 0.0;
}

// Fill the day's series. A workgroup is a society; a work-item is an agent, then a resource. Local
// memory: 16 bytes a resource. `samples` and `works` have a row of AGENTS reals for each society;
// `day_log` collects the series of `rows` days, which the host reads at once.
__kernel void society_statistics(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *samples,
                                 __global real *works, __global real *day_log, const uint rows,
                                 const uint row, const uint day)
{
    const size_t society = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __global real *sample = samples + society * AGENTS;
    __global real *work = works + society * AGENTS;
    __local int living, largest;
    __local long sum_extracted, sum_held, sum_sold, sum_deals, sum_kinds;
    __local real middle[2];
    __local real index[RESOURCES], ordered[RESOURCES];

    // Whole numbers: one work-item adds them up; there are few agents.
    if (lid == 0) {
        living = largest = 0;
        sum_extracted = sum_held = sum_sold = sum_deals = sum_kinds = 0;
        for (uint i = 0; i < AGENTS; ++i) {
            living += alive(i);
            largest = max(largest, largest_holding(i));
            sum_extracted += units_extracted(i);
            sum_held += units_held(i);
            sum_sold += units_sold(i);
            sum_deals += deals(i);
            sum_kinds += resources_extracted(i);
        }
        const real count = (real)living;
        series(SERIES_units_extracted) = (real)sum_extracted / count;
        series(SERIES_units_held) = (real)sum_held / count;
        series(SERIES_units_traded) = (real)sum_sold / count;
        series(SERIES_deals) = (real)sum_deals / count;
        series(SERIES_resources_extracted) = (real)sum_kinds / count;
        series(SERIES_units_held_max) = (real)largest;
        series(SERIES_agents_alive) = count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the number of the living
    const real count = (real)living;

    const real worked = sum_of(&minutes(0), work);
    const real worth = sum_of(&utility(0), work);
    for (uint i = lid; i < AGENTS; i += lanes)
        if (alive(i)) {
            const uint place = place_of(STATE, society, &utility(0), i);
            if (place == (living - 1) / 2) middle[0] = utility(i);
            if (place == living / 2) middle[1] = utility(i);
        }
    const real gini_now = gini(STATE, society, &utility(0), work, worth, living);

    // Around yesterday: known now that today is.
    for (uint i = lid; i < AGENTS; i += lanes)
        sample[i] = (utility_2(i) + utility_1(i)) + utility(i);
    barrier(CLK_GLOBAL_MEM_FENCE);  // three days of everybody, before they are compared
    const real three_days = sum_of(sample, work);
    const real so_far = sum_of(&utility_total(0), work);
    const real gini_around = gini(STATE, society, sample, work, three_days, living);

    for (uint i = lid; i < AGENTS; i += lanes)
        if (alive(i)) utility_total(i) += utility(i);
    barrier(CLK_GLOBAL_MEM_FENCE);  // totals with today, before they are compared
    const real ever = sum_of(&utility_total(0), work);
    const real gini_ever = gini(STATE, society, &utility_total(0), work, ever, living);

    for (uint i = lid; i < AGENTS; i += lanes) sample[i] = (real)units_extracted(i);
    barrier(CLK_GLOBAL_MEM_FENCE);  // everybody's units, before they are compared
    const real units = sum_of(sample, work);
    const real gini_units = gini(STATE, society, sample, work, units, living);

    // Herfindahl-Hirschman index of each resource: sum of squared shares.
    for (uint r = lid; r < RESOURCES; r += lanes) {
        long total = 0;
        for (uint i = 0; i < AGENTS; ++i) total += extracted(i, r);
        real sum = 0.0;
        if (total > 0)
            for (uint i = 0; i < AGENTS; ++i) {
                const real share = (real)extracted(i, r) / (real)total;
                sum += share * share;
            }
        index[r] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // every resource's index, before they are ranked
    for (uint r = lid; r < RESOURCES; r += lanes) {
        uint place = 0;
        for (uint other = 0; other < RESOURCES; ++other)
            place += index[other] < index[r] || (index[other] == index[r] && other < r);
        ordered[place] = index[r];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the order, before quartiles are read from it

    if (lid == 0) {
        series(SERIES_minutes_hand) = worked / count;
        series(SERIES_utility) = worth / count;
        series(SERIES_utility_median) = (middle[0] + middle[1]) / 2.0;
        series(SERIES_gini) = gini_now;
        series(SERIES_gini_3day) = day < 3 ? UNDEFINED : gini_around;
        series(SERIES_gini_paper) =
            day < 3 ? UNDEFINED : so_far == 0.0 ? 0.0 : gini_around * (three_days / so_far);
        series(SERIES_gini_cumulative) = gini_ever;
        series(SERIES_gini_extracted) = gini_units;
        for (uint quarter = 0; quarter < 5; ++quarter) {
            const uint place = quarter * (RESOURCES - 1);
            const uint below = place / 4;
            const real part = (real)(place % 4) / 4.0;
            real v = ordered[below];
            if (part > 0.0) v += part * (ordered[below + 1] - ordered[below]);
            series(SERIES_hhi_0 + quarter) = v;
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);  // the complete series, before it is logged
    for (uint i = lid; i < SERIES; i += lanes) day_log[(society * rows + row) * SERIES + i] = series(i);
}
