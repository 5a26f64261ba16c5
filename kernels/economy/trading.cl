// What do two agents swap when they meet: menus, ranking, offers, prices of the resource market.
// Twin: reference_py/economy/trading.py.
//
// A workgroup is a pair of agents, a work-item a resource (menus) or a candidate swap (ranking); on
// a CPU one work-item does it all (group.cl). An offer is made only if the one before it was
// refused. On a GPU the work-items work out all queued offers at once and drop those that are not
// made. A meeting draws no random numbers, and no agent is in two meetings of a round. Local
// memory: 1 byte a resource and 4 an attempt, and the most of what menus, ranking and bargains need
// in turn: ranking takes 4 bytes a resource and 16 a candidate up to CANDIDATE_LIMIT candidates;
// beyond it their scores are in global memory (a slice of `scores` for each workgroup).
#include "economy/curves.cl"
#include "economy/menu.cl"
#include "primitives/group.cl"
#include "primitives/softmath.cl"

#define MANY 4000000000000000000L  // more units than anybody can hold
#if CANDIDATES <= CANDIDATE_LIMIT
#define SCORE_SPACE __local
#else
#define SCORE_SPACE __global
#endif
#define SOLD_BY_A 1
#define SOLD_BY_B 2

// The two agents of a meeting.
#define MEETING_PARAMETERS \
    STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint a, const uint b
#define MEETING STATE, TABLES, society, a, b

// x to the nearest whole number, halves upwards; never more than MANY.
static long rounded(const real x)
{
    return x < (real)MANY ? (long)(x + 0.5) : MANY;
}

// Units of the taken resource for a unit of the given one (Epstein and Axtell 1996).
static real price(const real most_a, const real least_b, const real power_a, const real power_b)
{
#if PRICE == PRICE_UNIT
    return 1.0;
#else
    real mean;
#if UNEQUAL_POWERS
    if (power_a != power_b)
        mean = soft_exp((power_b * soft_log(most_a) + power_a * soft_log(least_b)) /
                        (power_a + power_b));
    else
#endif
        mean = sqrt(most_a * least_b);
    return PRICE == PRICE_GEOMETRIC ? 1.0 / mean : mean;
#endif
}

// One side of a bargain: the units that an agent holds of what it gets and of what it loses, and
// their utility to it now.
typedef struct {
    uint get_curve, lose_curve;
    long get_held, lose_held;
    real get_now, lose_now;
} side_t;

static side_t side(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent,
                   const uint get, const uint lose)
{
    side_t s;
    s.get_curve = utility_curve(agent, get);
    s.lose_curve = utility_curve(agent, lose);
    s.get_held = held(agent, get);
    s.lose_held = held(agent, lose);
    s.get_now = total_utility(TABLES, s.get_curve, s.get_held);
    s.lose_now = total_utility(TABLES, s.lose_curve, s.lose_held);
    return s;
}

// Utility of getting `got` units less that of losing `lost` (0 if there are not so many).
static real surplus(TABLE_PARAMETERS, const side_t s, const long got, const long lost)
{
    const real gain = total_utility(TABLES, s.get_curve, s.get_held + got) - s.get_now;
    const real loss = lost > s.lose_held
                          ? 0.0
                          : s.lose_now - total_utility(TABLES, s.lose_curve, s.lose_held - lost);
    return gain - loss;
}

// The quantities that are best for the proposer among those that the rate allows: 1, 2, ... units
// given, and the units taken for them, rounded. `gets_taken`: the proposer is A, who gets the taken
// resource; else it is B, who gets the given one.
static void proposal(TABLE_PARAMETERS, const side_t s, const int gets_taken, const real rate,
                     const long stock_given, const long stock_taken, const real min_surplus,
                     long *best_taken, long *best_given)
{
#define OWN_SURPLUS(taken, given) \
    surplus(TABLES, s, gets_taken ? taken : given, gets_taken ? given : taken)
    long given = rate <= 1.0 ? rounded(1.0 / rate) : 1;
    real at = (real)given * rate;
    long taken = rounded(at);
    real here = OWN_SURPLUS(taken, given);
    real best = here;
    *best_taken = taken;
    *best_given = given;
    while (given + 1 <= stock_given && taken + 1 <= stock_taken) {
        const long next = rounded(at + rate);
        const real ahead = OWN_SURPLUS(next, given + 1);
        if (!(ahead > min_surplus)) break;
        if (here > best) {
            best = here;
            *best_taken = taken;
            *best_given = given;
        }
        given += 1;
        at = (real)given * rate;
        taken = rounded(at);
        // Rounding may make this another step than the one that was just valued; it rarely does.
        here = taken == next ? ahead : OWN_SURPLUS(taken, given);
    }
#undef OWN_SURPLUS
}

// The units that change hands in a bargain; 0 if it fails.
typedef struct {
    int taken, given;
} deal_t;

// A gives the resource `give` and takes the resource `take`, in quantities from which both gain. A
// proposes first; if no agreement comes of it, B does.
static deal_t bargain(MEETING_PARAMETERS, const uint give, const uint take)
{
    deal_t deal = {0, 0};
    const int a_give = held(a, give), b_take = held(b, take);
    if (a_give == 0 || b_take == 0) return deal;
    const side_t side_a = side(STATE, TABLES, society, a, take, give);
    const side_t side_b = side(STATE, TABLES, society, b, give, take);
    const real most_a = marginal_utility(TABLES, side_a.get_curve, side_a.get_held) /
                        marginal_utility(TABLES, side_a.lose_curve, side_a.lose_held - 1);
    const real least_b = marginal_utility(TABLES, side_b.lose_curve, side_b.lose_held - 1) /
                         marginal_utility(TABLES, side_b.get_curve, side_b.get_held);
    const real rate =
        price(most_a, least_b, trade_power_table[of_group(a)], trade_power_table[of_group(b)]);
    for (int proposer = 0; proposer < 2 && deal.given == 0; ++proposer) {
        long taken, given;
        proposal(TABLES, proposer == 0 ? side_a : side_b, proposer == 0, rate, a_give, b_take,
                 P(min_surplus), &taken, &given);
        if (taken <= b_take && given <= a_give &&
            surplus(TABLES, side_a, taken, given) > P(min_surplus) &&
            surplus(TABLES, side_b, given, taken) > P(min_surplus)) {
            deal.taken = (int)taken;
            deal.given = (int)given;
        }
    }
    return deal;
}

// Change a holding, and remember the marginal utility that it then has.
static void change(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent,
                   const uint resource, const int units)
{
    const int owned = held(agent, resource) + units;
    held(agent, resource) = owned;
    value(agent, resource) = marginal_utility(TABLES, utility_curve(agent, resource), owned);
}

static void settle(MEETING_PARAMETERS, const uint give, const uint take, const deal_t deal)
{
    change(STATE, TABLES, society, a, take, deal.taken);
    change(STATE, TABLES, society, b, take, -deal.taken);
    change(STATE, TABLES, society, a, give, -deal.given);
    change(STATE, TABLES, society, b, give, deal.given);
    units_sold(a) += deal.given;
    units_sold(b) += deal.taken;
#if GROUPS > 1
    if (group_of(a) != group_of(b)) {
        units_sold_outside(a) += deal.given;
        units_sold_outside(b) += deal.taken;
    }
#endif
    deals(a) += 1;
}

// Score of a swap for an agent: its remembered value of the wanted resource over the marginal
// utility of the last unit that it would give.
static real score(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent,
                  const uint wanted, const uint given)
{
    const real remembered = value(agent, wanted);
    const real last =
        marginal_utility(TABLES, utility_curve(agent, given), (long)held(agent, given) - 1);
    if (last == 0.0) return remembered == 0.0 ? 0.0 : (real)INFINITY;
    return remembered / last;
}

// The candidate with the highest score, lowest index among ties.
INLINED uint best_candidate(SCORE_SPACE real *scores, const uint candidates)
{
    uint best = 0;
    for (uint c = 1; c < candidates; ++c)
        if (scores[c] > scores[best]) best = c;
    return best;
}

// Put on the menu, as offers of `who`, the held resources that the agent remembers as least
// valuable.
COLLECTIVE void offer(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                      const uint agent, const uchar who, __local uchar *on_menu)
{
#if DEVICE_IS_CPU
    __global const uint *menu = menu_of(STATE, menus, society, agent);
#else
    __local uint *menu = local_malloc(MENU_SIZE * sizeof(uint));
    choose_menu(STATE, society, agent, menu);
#endif
    for (uint i = LANE; i < menu_size; i += LANES)
        if (menu[i] != NONE) on_menu[menu[i]] |= who;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // the menu is marked, before another is made
#if !DEVICE_IS_CPU
    local_free(MENU_SIZE * sizeof(uint));
#endif
}

__kernel void trading(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *scores,
                      __global menu_t *menus, const uint market_round)
{
    const size_t society = get_group_id(0) / PAIRS;
    const uint pair = get_group_id(0) % PAIRS;
    const uint lid = LANE, lanes = LANES;
    __local uint count_a, count_b, queued, attempt, going;
#if !DEVICE_IS_CPU
    __local uint again;
#endif
    // These last for the whole meeting: who sells each resource, and the queue of swaps to try.
    __local uchar *sold = local_malloc(RESOURCES * sizeof(uchar));
    __local ushort *queue_give = local_malloc(ATTEMPTS * sizeof(ushort));
    __local ushort *queue_take = local_malloc(ATTEMPTS * sizeof(ushort));
    const uint a = partners(market_round, 2 * pair), b = partners(market_round, 2 * pair + 1);
    if (!alive(a) || !alive(b)) return;

    for (uint r = lid; r < resources; r += lanes) sold[r] = 0;
    if (lid == 0) queued = attempt = 0;

    do {
        __local uchar *on_menu = local_malloc(RESOURCES * sizeof(uchar));
        for (uint r = lid; r < resources; r += lanes) on_menu[r] = 0;
        for (uint who = SOLD_BY_A; who <= SOLD_BY_B; ++who)
            offer(STATE, menus, society, who == SOLD_BY_A ? a : b, who, on_menu);

        // A resource is for sale if one of the two offers it and the other does not.
        for (uint r = lid; r < resources; r += lanes)
            if (on_menu[r] != (SOLD_BY_A | SOLD_BY_B)) sold[r] |= on_menu[r];
        local_free(RESOURCES * sizeof(uchar));
        group_barrier(CLK_LOCAL_MEM_FENCE);  // what is for sale, before it is listed

        __local ushort *sold_by_a = local_malloc(RESOURCES * sizeof(ushort));  // ascending
        __local ushort *sold_by_b = local_malloc(RESOURCES * sizeof(ushort));
#if CANDIDATES <= CANDIDATE_LIMIT
        __local real *score_a = local_malloc(CANDIDATES * sizeof(real));
        __local real *score_b = local_malloc(CANDIDATES * sizeof(real));
#else
        __global real *score_a = scores + get_group_id(0) * 2 * CANDIDATES;
        __global real *score_b = score_a + CANDIDATES;
#endif
        if (lid == 0) {
            uint in_a = 0, in_b = 0;
            for (uint r = 0; r < resources; ++r) {
                if (sold[r] & SOLD_BY_A) sold_by_a[in_a++] = r;
                if (sold[r] & SOLD_BY_B) sold_by_b[in_b++] = r;
            }
            count_a = in_a;
            count_b = in_b;
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // the lists, before candidates are scored
        const uint candidates = count_a * count_b;  // without any, nothing is queued or tried
        for (uint c = lid; c < candidates; c += lanes) {
            const uint give = sold_by_a[c / count_b], take = sold_by_b[c % count_b];
            score_a[c] = score(STATE, TABLES, society, a, take, give);
            score_b[c] = score(STATE, TABLES, society, b, give, take);
        }
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all scores, before the best

        if (lid == 0) {
            // Queue the favourites of A and B alternately. No more than ATTEMPTS are ever tried.
            for (uint i = 0; i < candidates && queued < ATTEMPTS; ++i) {
                const uint best = i % 2 == attempt % 2 ? best_candidate(score_a, candidates)
                                                       : best_candidate(score_b, candidates);
                score_a[best] = score_b[best] = -1.0;
                queue_give[queued] = sold_by_a[best / count_b];
                queue_take[queued] = sold_by_b[best % count_b];
                ++queued;
            }
        }
#if CANDIDATES <= CANDIDATE_LIMIT
        local_free(CANDIDATES * sizeof(real));
        local_free(CANDIDATES * sizeof(real));
#endif
        local_free(RESOURCES * sizeof(ushort));
        local_free(RESOURCES * sizeof(ushort));
        // Try the queued swaps in turn; `attempt` counts them. After a success the ranking is made
        // anew, unless the queue holds as many swaps as may be tried.
#if DEVICE_IS_CPU
        going = 0;
        while (attempt < queued && !going) {
            const uint give = queue_give[attempt], take = queue_take[attempt];
            const deal_t deal = bargain(MEETING, give, take);
            ++attempt;
            if (deal.given > 0) {
                settle(MEETING, give, take, deal);
                going = queued < ATTEMPTS;
            }
        }
#else
        // The work-items look ahead, one bargain each. Their results count up to the first success:
        // it changes the holdings from which the later ones were worked out.
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the queue, before it is worked on
        __local deal_t *ahead = local_malloc(ATTEMPTS * sizeof(deal_t));
        do {
            for (uint i = attempt + lid; i < queued; i += lanes)
                ahead[i] = bargain(MEETING, queue_give[i], queue_take[i]);
            // all bargains, before one is done
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (lid == 0) {
                going = again = 0;
                while (attempt < queued && !going && !again) {
                    const deal_t deal = ahead[attempt];
                    const uint give = queue_give[attempt], take = queue_take[attempt];
                    ++attempt;
                    if (deal.given > 0) {
                        settle(MEETING, give, take, deal);
                        going = queued < ATTEMPTS;
                        again = !going && attempt < queued;
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // new holdings, for new bargains
        } while (again);
        local_free(ATTEMPTS * sizeof(deal_t));
#endif
    } while (going);
}
