// What did the day look like: the statistics of a society, taken before consumption.
// Twin: reference_py/economy/statistics.py. Sums of real numbers run over the fixed tree of
// primitives/reduce.cl, so that every device adds in the same order.
// Of devices: device_statistics.cl, of groups: group_statistics.cl.
#include "economy/curves.cl"
#include "economy/order.cl"
#include "primitives/group.cl"
#include "primitives/reduce.cl"

// What is added up over the resources of an agent.
typedef struct {
    int extracted, kinds, held, largest;
} sums_t;

COLLECTIVE_WHOLE void add_up_day(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society,
                                 const uint agent)
{
    const uint lid = LANE, lanes = LANES;
    __local real *worth = local_malloc(RESOURCES * sizeof(real));
    __local sums_t *sums = local_malloc(sizeof(sums_t));

    if (lid == 0) sums->extracted = sums->kinds = sums->held = sums->largest = 0;
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
    atomic_add(&sums->extracted, my_extracted);  // whole numbers: any order gives the same sum
    atomic_add(&sums->kinds, my_kinds);
    atomic_add(&sums->held, my_held);
    atomic_max(&sums->largest, my_largest);
    barrier(CLK_LOCAL_MEM_FENCE);  // worth and sums of all work-items
    const real total = reduce_sum_local(worth, resources);
    if (lid == 0) {
        units_extracted(agent) = sums->extracted;
        resources_extracted(agent) = sums->kinds;
        units_held(agent) = sums->held;
        units_traded(agent) = units_sold(agent);  // consumption resets the counter
        largest_holding(agent) = sums->largest;
        utility_2(agent) = utility_1(agent);
        utility_1(agent) = utility(agent);
        utility(agent) = total;
    }
}

// Add up the day of every living agent. A workgroup is an agent, a work-item a resource.
// Local memory: 8 bytes a resource and 16 more.
__kernel void agent_statistics(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    if (!alive(agent)) return;
    add_up_day(STATE, TABLES, society, agent);
}

#if POLICIES
// Record the series of taxes and transfers. A workgroup is a society; one work-item alone adds up
// whole numbers.
__kernel void policy_statistics(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0);
    if (get_local_id(0) > 0) return;
    long living = 0, taxed = 0, transferred = 0;
    for (uint i = 0; i < agents; ++i) {
        living += alive(i);
        taxed += units_taxed(i);
        transferred += units_transferred(i);
    }
    real left = 0.0;
    for (uint r = 0; r < resources; ++r) left += fund(r);
    series(SERIES_units_taxed) = (real)taxed / (real)living;
    series(SERIES_units_transferred) = (real)transferred / (real)living;
    series(SERIES_units_in_fund) = left;
}
#endif

// Quantities of an agent whose distribution over agents is recorded, numbered OF_... below
// DISTRIBUTIONS. OF_THREE_DAYS is the utility of today and the two days before, OF_TOTAL that of
// all days, OF_TOTAL_BEFORE that of all days but today.
static real sample_of(STATE_PARAMETERS, const size_t society, const uint quantity, const uint agent)
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

COLLECTIVE_WHOLE void distribution(STATE_PARAMETERS, const size_t society, const uint quantity,
                                   __global real *sample, __global real *work,
                                   __global real *moment)
{
    const uint lid = LANE, lanes = LANES;
    __local int *living = local_malloc(sizeof(int));

    for (uint i = lid; i < agents; i += lanes) work[i] = sample_of(STATE, society, quantity, i);
    gather_living(STATE, society, work, sample, living);
    const real total = reduce_sum_global(work, agents);

    __global const real *ordered = put_in_order(sample, work, agents);
    const real middle = median(ordered, *living);
    __global real *free_row = ordered == sample ? work : sample;
    for (uint i = lid; i < (uint)*living; i += lanes) free_row[i] = (real)(i + 1) * ordered[i];
    barrier(CLK_GLOBAL_MEM_FENCE);  // weighted numbers in order
    const real weighted = reduce_sum_global(free_row, *living);

    if (lid == 0) {
        moment[MOMENT_SUM] = total;
        moment[MOMENT_GINI] = gini(weighted, total, (real)*living);
        moment[MOMENT_MEDIAN] = middle;
    }
}

// Sum, Gini coefficient and median of one quantity over the living agents. A workgroup is a
// quantity of a society, a work-item an agent. `samples` and `works` have a row of AGENTS reals for
// each workgroup, `moments` a row of MOMENTS. Local memory: 4 bytes.
__kernel void distributions(STATE_PARAMETERS, __global real *samples, __global real *works,
                            __global real *moments)
{
    const size_t row = get_group_id(0);
    distribution(STATE, row / DISTRIBUTIONS, row % DISTRIBUTIONS, samples + row * AGENTS,
                 works + row * AGENTS, moments + row * MOMENTS);
}

// The quartile of this number, from 0, of the resources' indices.
INLINED real quartile(const __local real *ordered, const uint quarter)
{
    const uint place = quarter * (RESOURCES - 1);
    const uint below = place / 4;
    const real part = (real)(place % 4) / 4.0;
    real v = ordered[below];
    if (part > 0.0) v += part * (ordered[below + 1] - ordered[below]);
    return v;
}

// Record how unequal the utility of three days is, whose sum is `around`, and what the paper makes
// of that and of all utility `so_far`.
static void describe_three_days(STATE_PARAMETERS, const size_t society, const uint day,
                                const real around, const real so_far, const real gini_around)
{
    series(SERIES_gini_3day) = day < 3 ? UNDEFINED : gini_around;
    series(SERIES_gini_paper) = day < 3         ? UNDEFINED
                                : so_far == 0.0 ? 0.0
                                                : gini_around * (around / so_far);
}

// `of` are the society's moments.
COLLECTIVE_WHOLE void describe(STATE_PARAMETERS, const size_t society, __global const real *of,
                               const uint day)
{
    const uint lid = LANE, lanes = LANES;
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
    barrier(CLK_LOCAL_MEM_FENCE);  // indices of all resources, before they are ranked
    for (uint r = lid; r < resources; r += lanes) {
        uint place = 0;
        for (uint other = 0; other < resources; ++other)
            place += index[other] < index[r] || (index[other] == index[r] && other < r);
        ordered[place] = index[r];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the order, before quartiles are read from it

    if (lid == 0) {
        // One work-item adds up whole numbers: there are few agents.
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
        const real gini_around = of[OF_THREE_DAYS * MOMENTS + MOMENT_GINI];
        const real around = of[OF_THREE_DAYS * MOMENTS + MOMENT_SUM];
        const real so_far = of[OF_TOTAL_BEFORE * MOMENTS + MOMENT_SUM];
        series(SERIES_units_extracted) = (real)sum_extracted / count;
        series(SERIES_units_held) = (real)sum_held / count;
        series(SERIES_units_traded) = (real)sum_sold / count;
        series(SERIES_deals) = (real)sum_deals / count;
        series(SERIES_resources_extracted) = (real)sum_kinds / count;
        series(SERIES_units_held_max) = (real)largest;
        series(SERIES_agents_alive) = count;
#if !DEVICES  // with devices it is a series of `device_means`
        series(SERIES_minutes_hand) = of[OF_MINUTES * MOMENTS + MOMENT_SUM] / count;
#endif
        series(SERIES_utility) = of[OF_UTILITY * MOMENTS + MOMENT_SUM] / count;
        series(SERIES_utility_median) = of[OF_UTILITY * MOMENTS + MOMENT_MEDIAN];
        series(SERIES_gini) = of[OF_UTILITY * MOMENTS + MOMENT_GINI];
        series(SERIES_gini_cumulative) = of[OF_TOTAL * MOMENTS + MOMENT_GINI];
        series(SERIES_gini_extracted) = of[OF_EXTRACTED * MOMENTS + MOMENT_GINI];
        describe_three_days(STATE, society, day, around, so_far, gini_around);
        for (uint quarter = 0; quarter < 5; ++quarter)
            series(series_of_hhi[quarter]) = quartile(ordered, quarter);
    }
}

// Record the other series of the day. A workgroup is a society; a work-item is first an agent, then
// a resource.
// Local memory: 16 bytes a resource. `moments` are those of `distributions`.
__kernel void society_statistics(STATE_PARAMETERS, __global const real *moments, const uint day)
{
    const size_t society = get_group_id(0);
    describe(STATE, society, moments + society * DISTRIBUTIONS * MOMENTS, day);
}
