// Which units of resources do taxes pay into the fund each evening, and transfers out of it?
// Twin: reference_py/economy/policies.py.
// Compiled only if the configuration has policies.
#include "economy/curves.cl"
#include "primitives/reduce.cl"

// Positions in `fund_shares`: shares of the fund, and which part of the agents gets a share.
#define TRANSFER_EQUAL 0
#define TRANSFER_POOREST 1
#define TRANSFER_POOREST_PART 2
#define TRANSFER_LEAST 3
#define TRANSFER_LEAST_PART 4
#define TRANSFER_MAKING 5

// What the units that an agent holds are worth to it. By all work-items; `worth` has a real for
// each resource.
COLLECTIVE real utility_held(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society,
                             const uint agent, __local real *worth)
{
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0))
        worth[r] = total_utility(TABLES, utility_curve(agent, r), held(agent, r));
    barrier(CLK_LOCAL_MEM_FENCE);  // worth of all resources, before it is summed
    return reduce_sum_local(worth, resources);
}

// Which share of the units is due: each bracket's rate of the units within it.
static real average_rate(const real rate, const real middle_from, const real middle_rate,
                         const real top_from, const real top_rate, const int units)
{
    if (units == 0) return 0.0;
    const real base = (real)units;
    real due = rate * (base < middle_from ? base : middle_from);
    const real middle = (base < top_from ? base : top_from) - middle_from;
    due += middle_rate * (middle > 0.0 ? middle : 0.0);
    due += top_rate * (base > top_from ? base - top_from : 0.0);
    return due / base;
}
#define AVERAGE_RATE(tax, units) average_rate(tax[0], tax[1], tax[2], tax[3], tax[4], units)

// The units of a resource that came in today, less those that went; 0 if more went.
static int came_in(STATE_PARAMETERS, const size_t society, const uint agent, const uint r)
{
    return max(0, extracted(agent, r) + units_received(agent, r) - units_given(agent, r));
}

// Sums over the resources of an agent, all of whole units: any order gives the same.
typedef struct {
    int held, income, sales, extracted, paid;
} taxed_t;

// Let an agent pay what is due. A workgroup is an agent, a work-item a resource. Local memory: 8
// bytes a resource and 20 more.
__kernel void collect_taxes(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real *worth = local_malloc(RESOURCES * sizeof(real));
    __local taxed_t *sums = local_malloc(sizeof(taxed_t));
    if (!alive(agent)) return;

    const real before = utility_held(STATE, TABLES, society, agent, worth);
    if (lid == 0) sums->held = sums->income = sums->sales = sums->extracted = sums->paid = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zeros, before they are added to
    taxed_t my = {0, 0, 0, 0, 0};
    for (uint r = lid; r < resources; r += lanes) {
        my.held += held(agent, r);
        my.income += came_in(STATE, society, agent, r);
        my.sales += units_received(agent, r);
        my.extracted += extracted(agent, r);
    }
    atomic_add(&sums->held, my.held);
    atomic_add(&sums->income, my.income);
    atomic_add(&sums->sales, my.sales);
    atomic_add(&sums->extracted, my.extracted);
    barrier(CLK_LOCAL_MEM_FENCE);  // the bases of all resources, before their rates are known
    const real of_held = AVERAGE_RATE(holdings_tax, sums->held);
    const real of_income = AVERAGE_RATE(income_tax, sums->income);
    const real of_sales = AVERAGE_RATE(sales_tax, sums->sales);
    for (uint r = lid; r < resources; r += lanes) {
        real due = tax_owed(agent, r);
        due += of_held * (real)held(agent, r);
        due += of_income * (real)came_in(STATE, society, agent, r);
        due += of_sales * (real)units_received(agent, r);
        const long whole = (long)due;
        tax_owed(agent, r) = due - (real)whole;
        const int paid = (int)min(whole, (long)held(agent, r));
        tax_paid(agent, r) = paid;
        held(agent, r) -= paid;
        units_received(agent, r) = units_given(agent, r) = 0;
        my.paid += paid;
    }
    atomic_add(&sums->paid, my.paid);
    barrier(CLK_LOCAL_MEM_FENCE);  // payments of all resources
    const real after = utility_held(STATE, TABLES, society, agent, worth);
    if (lid == 0) {
        units_taxed(agent) = sums->paid;
        units_extracted(agent) = sums->extracted;
        taxed_utility(agent) = after;
        redistributed(agent) = after - before;
    }
}

// Put what was paid into the fund. A workgroup is a society, a work-item a resource.
__kernel void fill_fund(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0);
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        long paid = 0;
        for (uint i = 0; i < agents; ++i) paid += tax_paid(i, r);
        fund(r) += (real)paid;
    }
}

// How many agents there are of a kind, in counts of a workgroup.
typedef struct {
    int living, poorer, extracting_less, members;
} ranks_t;

// The number of agents in the first part of `living`, one at least.
static int first_part(const real part, const int living)
{
    return max(1, (int)(part * (real)living + 0.5));
}

// The units that each of `count` agents gets of a share of the fund.
static int part_of(const real all, const real share, const int count)
{
    return (int)((long)(all * share) / count);
}

#if DEVICES
// The minutes that an agent spent making devices today; none of a removed agent.
static real minutes_of_making(STATE_PARAMETERS, const size_t society, const uint agent)
{
    real sum = 0.0;
    if (alive(agent))
        for (uint type = 0; type < TYPES; ++type) sum += making_minutes(agent, type);
    return sum;
}
#endif

// Let an agent receive its part of the fund, which the next kernel reduces. A workgroup is an
// agent, a work-item another agent or a resource. Local memory: 8 bytes a resource and 20 more.
__kernel void pay_transfers(STATE_PARAMETERS, TABLE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    __local real *worth = local_malloc(RESOURCES * sizeof(real));
    __local ranks_t *ranks = local_malloc(sizeof(ranks_t));
    __local int *sum_received = local_malloc(sizeof(int));
    if (!alive(agent)) return;

    if (lid == 0) {
        ranks->living = ranks->poorer = ranks->extracting_less = ranks->members = 0;
        *sum_received = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // zeros, before they are added to
    ranks_t my = {0, 0, 0, 0};
    const real own_means = taxed_utility(agent);
    const int own_units = units_extracted(agent);
    for (uint i = lid; i < agents; i += lanes)
        if (alive(i)) {
            const bool earlier = i < agent;
            my.living += 1;
            my.poorer += taxed_utility(i) < own_means || (taxed_utility(i) == own_means && earlier);
            my.extracting_less +=
                units_extracted(i) < own_units || (units_extracted(i) == own_units && earlier);
            my.members += group_of(i) == group_of(agent);
        }
    atomic_add(&ranks->living, my.living);
    atomic_add(&ranks->poorer, my.poorer);
    atomic_add(&ranks->extracting_less, my.extracting_less);
    atomic_add(&ranks->members, my.members);
#if DEVICES
    // Minutes are added in the order of the agents, as in the twin, by every work-item.
    real all_making = 0.0;
    for (uint i = 0; i < agents; ++i) all_making += minutes_of_making(STATE, society, i);
    const real making = minutes_of_making(STATE, society, agent);
    const real own_part = all_making == 0.0 ? 0.0 : making / all_making;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);  // counts of all agents
    const int living = ranks->living;
    const int poorest = first_part(fund_shares[TRANSFER_POOREST_PART], living);
    const int least = first_part(fund_shares[TRANSFER_LEAST_PART], living);
    const bool is_poor = ranks->poorer < poorest, is_least = ranks->extracting_less < least;
    const real own_share = transfer_share_table[of_group(agent)];
    int my_received = 0;
    for (uint r = lid; r < resources; r += lanes) {
        const real all = fund(r);
        int got = part_of(all, fund_shares[TRANSFER_EQUAL], living);
        if (is_poor) got += part_of(all, fund_shares[TRANSFER_POOREST], poorest);
        if (is_least) got += part_of(all, fund_shares[TRANSFER_LEAST], least);
        got += part_of(all, own_share, ranks->members);
#if DEVICES
        got += (int)((real)(long)(all * fund_shares[TRANSFER_MAKING]) * own_part);
#endif
        transfer_received(agent, r) = got;
        held(agent, r) += got;
        my_received += got;
    }
    atomic_add(sum_received, my_received);
    barrier(CLK_LOCAL_MEM_FENCE);  // units of all resources
    const real after = utility_held(STATE, TABLES, society, agent, worth);
    if (lid == 0) {
        units_transferred(agent) = *sum_received;
        redistributed(agent) += after - taxed_utility(agent);
    }
}

// Take what was paid out of the fund. A workgroup is a society, a work-item a resource.
__kernel void reduce_fund(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0);
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        long received = 0;
        for (uint i = 0; i < agents; ++i) received += transfer_received(i, r);
        fund(r) -= (real)received;
    }
}
