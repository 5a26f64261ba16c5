// What did the day look like, worked out by one workgroup for each society: all sums, orders and
// divisions of `distributions` and `society_statistics` side by side, in one launch.
// Twin: reference_py/economy/statistics.py
//
// One society leaves a GPU idle, and its statistics are short steps that wait for each other. So
// every work-item divides and compares, all rows are added up by one tree, and only sums whose
// order is defined otherwise (the squared shares of a resource) are one work-item's. All that is
// compared is in local memory: where it does not fit, STATISTICS_AT_ONCE is 0
// (societies/economy/memory.py), and so it is on CPUs, where one work-item does it all anyway.
#include "economy/order.cl"
#include "economy/statistics.cl"
#include "primitives/group.cl"

#if STATISTICS_AT_ONCE

// Rows of numbers, one for each agent, that are added up: first the quantities whose distribution
// is recorded, then counts, and after these the same quantities in order, weighted with their
// place. Counts are whole numbers below 2^53, of which every sum is exact.
#define ROW_HELD DISTRIBUTIONS
#define ROW_SOLD (DISTRIBUTIONS + 1)
#define ROW_DEALS (DISTRIBUTIONS + 2)
#define ROW_KINDS (DISTRIBUTIONS + 3)
#define ROWS_WEIGHTED (DISTRIBUTIONS + 4)
#define HALF_OF_AGENTS ((AGENTS + 1) / 2)
#define ROWS_ADDED (ROWS_WEIGHTED + DISTRIBUTIONS)

static real row_entry(STATE_PARAMETERS, const size_t society, const uint row, const uint agent)
{
    switch (row) {
    case ROW_HELD: return (real)units_held(agent);
    case ROW_SOLD: return (real)units_sold(agent);
    case ROW_DEALS: return (real)deals(agent);
    case ROW_KINDS: return (real)resources_extracted(agent);
    default: return sample_of(STATE, society, row, agent);
    }
}

// The series that is the mean of a row; NONE where there is none.
static uint series_of_row(const uint row)
{
    switch (row) {
    case ROW_HELD: return SERIES_units_held;
    case ROW_SOLD: return SERIES_units_traded;
    case ROW_DEALS: return SERIES_deals;
    case ROW_KINDS: return SERIES_resources_extracted;
    case OF_UTILITY: return SERIES_utility;
    case OF_EXTRACTED: return SERIES_units_extracted;
#if !DEVICES  // with devices it is a series of `device_means`
    case OF_MINUTES: return SERIES_minutes_hand;
#endif
    default: return NONE;
    }
}

// The same of a Gini coefficient.
static uint series_of_gini(const uint row)
{
    switch (row) {
    case OF_UTILITY: return SERIES_gini;
    case OF_TOTAL: return SERIES_gini_cumulative;
    case OF_EXTRACTED: return SERIES_gini_extracted;
    default: return NONE;
    }
}

// Place of an agent's number in the order of the living, the removed after them; of equal ones the
// agent with the lower number comes first.
INLINED uint place_in_order(const __local real *numbers, const __local uint *lives,
                            const uint agents, const uint agent)
{
    const real own = lives[agent] ? numbers[agent] : (real)INFINITY;
    uint place = 0;
    for (uint i = 0; i < agents; ++i) {
        const real other = lives[i] ? numbers[i] : (real)INFINITY;
        place += other < own || (other == own && i < agent);
    }
    return place;
}

// Record the day's series of a society but those of devices and groups. A workgroup is a society;
// a work-item is in turn an agent's unit, an agent's number, a resource, a series.
// Local memory: 8 bytes for each agent and resource, 132 an agent, 24 a resource and 60.
__kernel void society_at_once(STATE_PARAMETERS, const uint day)
{
    const size_t society = get_group_id(0);
    const uint lid = LANE, lanes = LANES;
    const uint cells = agents * resources, numbers = agents * ROWS_WEIGHTED;
    const uint compared = agents * DISTRIBUTIONS;
    __local real *part = local_malloc(AGENTS * RESOURCES * sizeof(real));
    __local real *row = local_malloc(ROWS_ADDED * AGENTS * sizeof(real));
    __local uint *lives = local_malloc(AGENTS * sizeof(uint));
    __local real *whole = local_malloc(RESOURCES * sizeof(real));
    __local real *index = local_malloc(RESOURCES * sizeof(real));
    __local real *ordered = local_malloc(RESOURCES * sizeof(real));
    __local real *gini_of = local_malloc(DISTRIBUTIONS * sizeof(real));
    __local int *counts = local_malloc(2 * sizeof(int));  // the living, the largest holding
    __local real *weighted = row + ROWS_WEIGHTED * AGENTS;

    if (lid == 0) counts[0] = counts[1] = 0;
    for (uint i = lid; i < cells; i += lanes)
        part[i] = (real)extracted(i / RESOURCES, i % RESOURCES);
    for (uint i = lid; i < numbers; i += lanes)
        row[i] = row_entry(STATE, society, i / AGENTS, i % AGENTS);
    for (uint i = lid; i < agents; i += lanes) lives[i] = (uint)alive(i);
    // Numbers of all agents, before they are compared; zeros, before they are counted up.
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    for (uint r = lid; r < resources; r += lanes) {
        real total = 0.0;  // exact
        for (uint i = 0; i < agents; ++i) total += part[i * RESOURCES + r];
        whole[r] = total;
    }
    for (uint i = lid; i < compared; i += lanes) {
        const uint first = i / AGENTS * AGENTS, agent = i % AGENTS;
        const uint place = place_in_order(row + first, lives, agents, agent);
        weighted[first + place] = lives[agent] ? row[i] : (real)INFINITY;
    }
    for (uint i = lid; i < agents; i += lanes) {
        if (lives[i]) {
            atomic_inc(&counts[0]);
            utility_total(i) = row[OF_TOTAL * AGENTS + i];
        }
        atomic_max(&counts[1], largest_holding(i));
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // totals, orders and counts, before they are read

    const uint living = (uint)counts[0];
    const real count = (real)living;
    for (uint i = lid; i < cells; i += lanes) {
        const real total = whole[i % RESOURCES];
        const real share = total > 0.0 ? part[i] / total : 0.0;
        part[i] = share * share;
    }
    if (lid == 0)
        series(SERIES_utility_median) =
            (weighted[(counts[0] - 1) / 2] + weighted[counts[0] / 2]) / 2.0;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // squares of all shares; the median has been read

    // Herfindahl-Hirschman index of each resource, by the last work-items: the first are busy too.
    for (uint r = lanes - 1 - lid; r < resources; r += lanes) {
        real sum = 0.0;
        for (uint i = 0; i < agents; ++i) sum += part[i * RESOURCES + r];
        index[r] = sum;
    }
    for (uint i = lid; i < compared; i += lanes) weighted[i] *= (real)(i % AGENTS + 1);
    group_barrier(CLK_LOCAL_MEM_FENCE);  // indices and weighted numbers of all

    for (uint r = lanes - 1 - lid; r < resources; r += lanes) {
        uint place = 0;
        for (uint other = 0; other < resources; ++other)
            place += index[other] < index[r] || (index[other] == index[r] && other < r);
        ordered[place] = index[r];
    }
    uint stride = 1;
    do {  // the tree of primitives/reduce.cl, of all rows at once
        for (uint i = lid; i < ROWS_ADDED * HALF_OF_AGENTS; i += lanes) {
            const uint which = i / HALF_OF_AGENTS, p = i % HALF_OF_AGENTS * (2 * stride);
            __local real *x = row + which * AGENTS;
            if (p + stride < (which < ROWS_WEIGHTED ? agents : living)) x[p] += x[p + stride];
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above; at last the order
        stride *= 2;
    } while (stride < agents);

    for (uint i = lid; i < DISTRIBUTIONS; i += lanes) {
        gini_of[i] = gini(living > 0 ? weighted[i * AGENTS] : 0.0, row[i * AGENTS], count);
        if (series_of_gini(i) != NONE) series(series_of_gini(i)) = gini_of[i];
    }
    for (uint i = lanes - 1 - lid; i < ROWS_WEIGHTED; i += lanes)
        if (series_of_row(i) != NONE) series(series_of_row(i)) = row[i * AGENTS] / count;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // coefficients, before two of them are read again

    for (uint quarter = lanes - 1 - lid; quarter < 5; quarter += lanes)
        series(series_of_hhi[quarter]) = quartile(ordered, quarter);
    if (lid == 0) {
        const real around = row[OF_THREE_DAYS * AGENTS];
        const real so_far = row[OF_TOTAL_BEFORE * AGENTS];
        const real gini_around = gini_of[OF_THREE_DAYS];
        series(SERIES_units_held_max) = (real)counts[1];
        series(SERIES_agents_alive) = count;
        describe_three_days(STATE, society, day, around, so_far, gini_around);
    }
}
#endif
