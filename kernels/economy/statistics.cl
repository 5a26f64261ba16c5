// What did the day look like: the statistics of a society, taken before consumption.
// Twin: reference_py/economy/statistics.py. Sums of real numbers run over the fixed tree of
// primitives/reduce.cl, so that every device adds in the same order.
#include "economy/curves.cl"
#include "primitives/reduce.cl"

#define UNDEFINED as_double(0x7ff8000000000000UL)  // the quiet NaN that Python makes

// Add up every living agent's day. A workgroup is an agent, a work-item a resource. Local memory:
// 8 bytes a resource and 16 more.
__kernel void agent_statistics(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real *worth = local_malloc(RESOURCES * sizeof(real));
    __local int sum_extracted, sum_kinds, sum_held, largest;
    if (!alive(agent)) return;

    if (lid == 0) sum_extracted = sum_kinds = sum_held = largest = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zeros, before they are added to
    int my_extracted = 0, my_kinds = 0, my_held = 0, my_largest = 0;
    for (uint r = lid; r < resources; r += lanes) {
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
    const real total = reduce_sum_local(worth, resources);
    if (lid == 0) {
        units_extracted(agent) = sum_extracted;
        resources_extracted(agent) = sum_kinds;
        units_held(agent) = sum_held;
        units_traded(agent) = units_sold(agent);  // the counter starts anew with consumption
        largest_holding(agent) = largest;
        utility_2(agent) = utility_1(agent);
        utility_1(agent) = utility(agent);
        utility(agent) = total;
    }
}

// What is compared between agents: DISTRIBUTIONS rows of one number for each agent.
#define OF_UTILITY 0
#define OF_THREE_DAYS 1   // yesterday and the days around it
#define OF_TOTAL 2        // since day 1
#define OF_EXTRACTED 3
#define OF_MINUTES 4
#define OF_TOTAL_BEFORE 5 // since day 1, without today

// What is kept of each: a row of MOMENTS numbers in `moments`.
#define SUM 0
#define GINI 1
#define MEDIAN 2

static real sample_of(STATE_PARAMETERS, const size_t society, const uint quantity,
                      const uint agent)
{
    switch (quantity) {
    case OF_UTILITY: return utility(agent);
    case OF_THREE_DAYS: return (utility_2(agent) + utility_1(agent)) + utility(agent);
    case OF_TOTAL: return utility_total(agent) + utility(agent);
    case OF_EXTRACTED: return (real)units_extracted(agent);
    case OF_MINUTES: return minutes(agent);
    default: return utility_total(agent);
    }
}

// Sum, Gini coefficient and median of one quantity over the living agents. A workgroup is a
// quantity of a society, a work-item an agent. `samples` and `works` have a row of AGENTS reals for
// each workgroup, `moments` a row of MOMENTS. Cost: AGENTS^2 comparisons, shared by the work-items.
__kernel void distributions(STATE_PARAMETERS, __global real *samples, __global real *works,
                            __global real *moments)
{
    const size_t society = get_group_id(0) / DISTRIBUTIONS;
    const uint quantity = get_group_id(0) % DISTRIBUTIONS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __global real *sample = samples + get_group_id(0) * AGENTS;
    __global real *work = works + get_group_id(0) * AGENTS;
    __local int living;
    __local real middle[2];

    if (lid == 0) living = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero, before it is counted up
    for (uint i = lid; i < agents; i += lanes) {
        const real own = sample_of(STATE, society, quantity, i);
        sample[i] = own;
        work[i] = own;  // those who are gone have 0
        if (alive(i)) atomic_inc(&living);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // everybody's number
    const real total = reduce_sum_global(work, agents);

    // The place of an agent is the number of those before it; places are distinct.
    for (uint i = lid; i < agents; i += lanes)
        if (alive(i)) {
            const real own = sample[i];
            uint place = 0;
            for (uint j = 0; j < agents; ++j)
                place += alive(j) && (sample[j] < own || (sample[j] == own && j < i));
            work[place] = (real)(place + 1) * own;
            if (place == (living - 1) / 2) middle[0] = own;
            if (place == living / 2) middle[1] = own;
        }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // weighted numbers in order
    const real weighted = reduce_sum_global(work, living);

    if (lid == 0) {
        __global real *moment = moments + get_group_id(0) * MOMENTS;
        const real count = (real)living;
        const real gini = 2.0 * weighted / (count * total) - (count + 1.0) / count;
        moment[SUM] = total;
        moment[GINI] = total != 0.0 && gini > 0.0 ? gini : 0.0;
        moment[MEDIAN] = (middle[0] + middle[1]) / 2.0;
    }
}

// Fill the day's series. A workgroup is a society; a work-item is an agent, then a resource. Local
// memory: 16 bytes a resource. `moments` are those of `distributions`; `day_log` collects the
// series of `rows` days, which the host reads at once.
__kernel void society_statistics(STATE_PARAMETERS, __global const real *moments,
                                 __global real *day_log, const uint rows, const uint row,
                                 const uint day)
{
    const size_t society = get_group_id(0);
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real *index = local_malloc(RESOURCES * sizeof(real));
    __local real *ordered = local_malloc(RESOURCES * sizeof(real));

    for (uint i = lid; i < agents; i += lanes)
        if (alive(i)) utility_total(i) += utility(i);

    // Herfindahl-Hirschman index of each resource: sum of squared shares.
    for (uint r = lid; r < resources; r += lanes) {
        long total = 0;
        for (uint i = 0; i < agents; ++i) total += extracted(i, r);
        real sum = 0.0;
        if (total > 0)
            for (uint i = 0; i < agents; ++i) {
                const real share = (real)extracted(i, r) / (real)total;
                sum += share * share;
            }
        index[r] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // every resource's index, before they are ranked
    for (uint r = lid; r < resources; r += lanes) {
        uint place = 0;
        for (uint other = 0; other < resources; ++other)
            place += index[other] < index[r] || (index[other] == index[r] && other < r);
        ordered[place] = index[r];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the order, before quartiles are read from it

    if (lid == 0) {
        // Whole numbers: one work-item adds them up; there are few agents.
        int living = 0, largest = 0;
        long sum_extracted = 0, sum_held = 0, sum_sold = 0, sum_deals = 0, sum_kinds = 0;
        for (uint i = 0; i < agents; ++i) {
            living += alive(i);
            largest = max(largest, largest_holding(i));
            sum_extracted += units_extracted(i);
            sum_held += units_held(i);
            sum_sold += units_sold(i);
            sum_deals += deals(i);
            sum_kinds += resources_extracted(i);
        }
        const real count = (real)living;
        __global const real *of = moments + society * DISTRIBUTIONS * MOMENTS;
        const real gini_around = of[OF_THREE_DAYS * MOMENTS + GINI];
        const real around = of[OF_THREE_DAYS * MOMENTS + SUM];
        const real so_far = of[OF_TOTAL_BEFORE * MOMENTS + SUM];
        series(SERIES_units_extracted) = (real)sum_extracted / count;
        series(SERIES_units_held) = (real)sum_held / count;
        series(SERIES_units_traded) = (real)sum_sold / count;
        series(SERIES_deals) = (real)sum_deals / count;
        series(SERIES_resources_extracted) = (real)sum_kinds / count;
        series(SERIES_units_held_max) = (real)largest;
        series(SERIES_agents_alive) = count;
        series(SERIES_minutes_hand) = of[OF_MINUTES * MOMENTS + SUM] / count;
        series(SERIES_utility) = of[OF_UTILITY * MOMENTS + SUM] / count;
        series(SERIES_utility_median) = of[OF_UTILITY * MOMENTS + MEDIAN];
        series(SERIES_gini) = of[OF_UTILITY * MOMENTS + GINI];
        series(SERIES_gini_cumulative) = of[OF_TOTAL * MOMENTS + GINI];
        series(SERIES_gini_extracted) = of[OF_EXTRACTED * MOMENTS + GINI];
        series(SERIES_gini_3day) = day < 3 ? UNDEFINED : gini_around;
        series(SERIES_gini_paper) =
            day < 3 ? UNDEFINED : so_far == 0.0 ? 0.0 : gini_around * (around / so_far);
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
    for (uint i = lid; i < SERIES; i += lanes)
        day_log[(society * rows + row) * SERIES + i] = series(i);
}
