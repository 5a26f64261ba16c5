// What do two agents swap when they meet: menus, ranking, tries in turn.
// Twin: reference_py/economy/trading.py.
//
// A workgroup is a pair of agents, a work-item a resource (menus) or a candidate swap (ranking); of
// many pairs, where the work-items of one would mostly wait, it is several meetings in step
// (meetings.cl); on a CPU one work-item does it all (group.cl). On a GPU the work-items work out
// both proposals of all queued bargains at once and drop what is not wanted. A meeting draws no
// random numbers, and no agent is in two meetings of a round. Local memory of a pair: 4 bytes an
// attempt (on a GPU 20, a quarter of a byte a resource more, and up to 64 resources 20 for ranks),
// and the most of what menus, ranking and bargains need in turn: ranking takes 4 bytes a resource
// and 16 a candidate (on a GPU 20) up to CANDIDATE_LIMIT candidates; beyond it their scores are in
// global memory (a slice of `scores` for each pair).
#include "economy/bargaining.cl"
#include "economy/bits.cl"
#include "economy/crew.cl"
#include "economy/matching.cl"
#include "economy/menu.cl"

#if CANDIDATES <= CANDIDATE_LIMIT
#define SCORE_SPACE __local
#define SCORES_OF(pair) scores
#else
#define SCORE_SPACE __global
#define SCORES_OF(pair) (scores + (pair) * 2 * CANDIDATES)
#endif
#define QUEUED (-1.0)  // instead of the score

// Score of a swap for an agent: its remembered value of the wanted resource over the marginal
// utility of the last unit that it would give.
static real score_of(const real remembered, const real last, const int held_wanted,
                     const int held_given FAULT_PARAMETER)
{
#ifdef RULE_TRADING_SCORE
    const real found =
        rule_trading_score(remembered, last, held_wanted, held_given FAULT_OF(fault));
    return found > 0.0 ? found : 0.0;  // never below QUEUED, nor -0.0, whose bits are below it
#else
    if (last == 0.0) return remembered == 0.0 ? 0.0 : (real)INFINITY;
    return remembered / last;
#endif
}

// Marginal utility of the last unit that an agent holds.
static real last_marginal(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society,
                          const uint agent, const uint resource)
{
    return marginal_of(TABLES, utility_curve(agent, resource), held(agent, resource) - 1);
}

static real score(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent,
                  const uint wanted, const uint given)
{
    return score_of(value(agent, wanted), last_marginal(STATE, TABLES, society, agent, given),
                    held(agent, wanted), held(agent, given) FAULT_OF(&python_fault()));
}

// The resources of candidates: candidate c gives the c / count_b-th of what A sells for the
// c % count_b-th of what B sells. `of_b`: scored by B, who wants the first.
typedef struct {
    const __local ushort *sold_by_a, *sold_by_b;
    uint count_b;
    int of_b;
#if CHECKED
    __global int *fault;
#endif
} candidates_t;

// Whether candidate i is chosen before candidate c, if their scores are equal.
INLINED bool chosen_before(const candidates_t of, const uint i, const uint c)
{
#ifdef RULE_TRADING_CHOICE
    const uint give_i = of.sold_by_a[i / of.count_b], take_i = of.sold_by_b[i % of.count_b];
    const uint give_c = of.sold_by_a[c / of.count_b], take_c = of.sold_by_b[c % of.count_b];
    const long rank_i = of.of_b ? rule_trading_choice(give_i, take_i FAULT_OF(of.fault))
                                : rule_trading_choice(take_i, give_i FAULT_OF(of.fault));
    const long rank_c = of.of_b ? rule_trading_choice(give_c, take_c FAULT_OF(of.fault))
                                : rule_trading_choice(take_c, give_c FAULT_OF(of.fault));
    return rank_i < rank_c || (rank_i == rank_c && i < c);
#else
    return i < c;
#endif
}

#if DEVICE_IS_CPU
// ---------------------------------------------------------------- by one work-item

// The candidate with the highest score; see `chosen_before` for ties. Numbers that are not negative
// are in the order of their bits, and QUEUED is below them, so that the largest is found by
// vectors.
INLINED uint best_candidate(SCORE_SPACE real *scores, const uint candidates, const candidates_t of)
{
    long most = as_long(QUEUED);
    for (uint c = 0; c < candidates; ++c) {
        const long bits = as_long(scores[c]);
        most = bits > most ? bits : most;
    }
    uint best = 0;
    while (as_long(scores[best]) != most) ++best;
#ifdef RULE_TRADING_CHOICE
    for (uint c = best + 1; c < candidates; ++c)
        if (as_long(scores[c]) == most && chosen_before(of, c, best)) best = c;
#endif
    return best;
}

// Resources as bits.
#define SALE_WORDS ((RESOURCES + 63) / 64)

// The held resources that an agent remembers as least valuable: its menu.
static void offer(const __global menu_t *cached, ulong *on_menu)
{
    for (uint word = 0; word < SALE_WORDS; ++word) on_menu[word] = 0;
    const uint length = menu_length(cached);
    for (uint i = 0; i < length; ++i)
        on_menu[cached->listed[i] / 64] |= 1UL << cached->listed[i] % 64;
}

// List resources, ascending. Returns how many.
INLINED uint list_sold(const ulong *sold, __local ushort *listed)
{
    uint count = 0;
    for (uint word = 0; word < SALE_WORDS; ++word)
        for (ulong left = sold[word]; left != 0; left &= left - 1)
            listed[count++] = 64 * word + lowest_bit(left);
    return count;
}

// The meeting of two living agents.
COLLECTIVE_WHOLE void meet(MEETING_PARAMETERS, __global real *scores, __global menu_t *menus)
{
    // These last for the whole meeting: what is for sale, and the queue of swaps to try.
    ulong sold_a[SALE_WORDS], sold_b[SALE_WORDS];
    for (uint word = 0; word < SALE_WORDS; ++word) sold_a[word] = sold_b[word] = 0;
    __local ushort *queue_give = local_malloc(ATTEMPTS * sizeof(ushort));
    __local ushort *queue_take = local_malloc(ATTEMPTS * sizeof(ushort));
    uint queued = 0, attempt = 0;
    bool going;
    look_at_menu(STATE, menus, society, a);
    look_at_menu(STATE, menus, society, b);
    do {
        // A resource is for sale if one of the two offers it and the other does not.
        ulong on_a[SALE_WORDS], on_b[SALE_WORDS];
        offer(menus + (society * AGENTS + a), on_a);
        offer(menus + (society * AGENTS + b), on_b);
        for (uint word = 0; word < SALE_WORDS; ++word) {
            sold_a[word] |= on_a[word] & ~on_b[word];
            sold_b[word] |= on_b[word] & ~on_a[word];
        }
        alone_in_order();  // keys of the menus are read, before their memory is used again
        __local ushort *sold_by_a = local_malloc(RESOURCES * sizeof(ushort));  // ascending
        __local ushort *sold_by_b = local_malloc(RESOURCES * sizeof(ushort));
#if CANDIDATES <= CANDIDATE_LIMIT
        __local real *score_a = local_malloc(CANDIDATES * sizeof(real));
        __local real *score_b = local_malloc(CANDIDATES * sizeof(real));
#else
        __global real *score_a = scores;
        __global real *score_b = score_a + CANDIDATES;
#endif
        const uint count_a = list_sold(sold_a, sold_by_a), count_b = list_sold(sold_b, sold_by_b);
        const uint candidates = count_a * count_b;  // without any, nothing is queued or tried
        for (uint c = 0; c < candidates; ++c) {
            const uint give = sold_by_a[c / count_b], take = sold_by_b[c % count_b];
            score_a[c] = score(STATE, TABLES, society, a, take, give);
            score_b[c] = score(STATE, TABLES, society, b, give, take);
        }
        const candidates_t of_a = {sold_by_a, sold_by_b, count_b, 0 FAULT_OF(&python_fault())};
        const candidates_t of_b = {sold_by_a, sold_by_b, count_b, 1 FAULT_OF(&python_fault())};
        // Queue the favourites of A and B alternately. No more than ATTEMPTS are ever tried.
        for (uint i = 0; i < candidates && queued < ATTEMPTS; ++i) {
            const uint best = i % 2 == attempt % 2 ? best_candidate(score_a, candidates, of_a)
                                                   : best_candidate(score_b, candidates, of_b);
            score_a[best] = score_b[best] = QUEUED;
            queue_give[queued] = sold_by_a[best / count_b];
            queue_take[queued] = sold_by_b[best % count_b];
            ++queued;
        }
#if CANDIDATES <= CANDIDATE_LIMIT
        local_free(CANDIDATES * sizeof(real));
        local_free(CANDIDATES * sizeof(real));
#endif
        local_free(RESOURCES * sizeof(ushort));
        local_free(RESOURCES * sizeof(ushort));
        // Try the queued swaps in turn; `attempt` counts them. After a success the ranking is made
        // again, unless the queue holds as many swaps as may be tried.
        going = false;
        while (attempt < queued && !going) {
            const uint give = queue_give[attempt], take = queue_take[attempt];
            const deal_t deal = bargain(MEETING, give, take);
            ++attempt;
            if (deal.given > 0) {
                settle(MEETING, give, take, deal);
                look_again(STATE, menus, society, a, give, take);
                look_again(STATE, menus, society, b, give, take);
                going = queued < ATTEMPTS;
            }
        }
        alone_in_order();  // the lists are read, before their memory is used again
    } while (going);
}

// The meeting of a pair, if both are alive.
COLLECTIVE void meet_pair(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *scores,
                          __global menu_t *menus, const size_t society, const uint market_round,
                          const uint pair)
{
    const uint a = partners(market_round, 2 * pair), b = partners(market_round, 2 * pair + 1);
    if (!alive(a) || !alive(b)) return;
    meet(MEETING, SCORES_OF(society * PAIRS + pair), menus);
}

// A workgroup is a pair.
__kernel void trading(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *scores,
                      __global menu_t *menus, const uint market_round)
{
    const size_t place = get_group_id(0);
    meet_pair(STATE, TABLES, scores, menus, place / PAIRS, market_round, place % PAIRS);
}

// A market: a workgroup is a pair, or does what other pairs have to do (crew.cl).
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
resource_market(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *scores, __global menu_t *menus,
                __global uint *crews)
{
    const size_t society = get_group_id(0) / PAIRS;
    __global uint *crew = crews + society * CREW_WORDS;
    for (uint task; (task = next_task(crew, ROUNDS, PAIRS, 0)) != NONE; task_is_done(crew))
        if (task == 0)
            order_agents(STATE RULED_ARGUMENTS, society);
        else
            meet_pair(STATE, TABLES, scores, menus, society, (task - 1) / PAIRS,
                      (task - 1) % PAIRS);
    leave_crew(crew, PAIRS);
}
#else
// ---------------------------------------------------------------- by many

// Resources as bits.
#define SALE_WORDS ((RESOURCES + 31) / 32)

// Put a resource in.
INLINED void sell(__local uint *sold, const uint resource)
{
    atomic_or(sold + resource / 32, 1u << resource % 32);
}

INLINED bool is_sold(const __local uint *sold, const uint resource)
{
    return sold[resource / 32] >> resource % 32 & 1;
}

// How many resources are in before this one.
INLINED uint sold_before(const __local uint *sold, const uint resource)
{
    uint count = popcount(sold[resource / 32] & ((1u << resource % 32) - 1));
    for (uint word = 0; word < resource / 32; ++word) count += popcount(sold[word]);
    return count;
}

// List the resources, ascending. Returns how many, to all.
INLINED uint list_sold(STATE_PARAMETERS, const uint lane, const __local uint *sold,
                       __local ushort *listed)
{
    for (uint r = lane; r < resources; r += LANES)
        if (is_sold(sold, r)) listed[sold_before(sold, r)] = r;
    return sold_before(sold, RESOURCES - 1) + is_sold(sold, RESOURCES - 1);
}

#if RANKED
// Put up for sale what is on one of two cached menus and not on the other, if both are in force.
// All is read before that is known, so that a GPU waits once. Returns whether they are.
INLINED bool sell_cached(const uint lane, const uint market_round, const __global menu_t *menu_a,
                         const __global menu_t *menu_b, __local uint *sold_a, __local uint *sold_b)
{
    const bool known = menu_a->known == IN_FORCE && menu_b->known == IN_FORCE;
    const bool in_force = market_round > 0 && known;
    for (uint i = lane; i < 2 * MENU_SIZE; i += LANES) {
        const bool of_a = i < MENU_SIZE;
        const __global ushort *others = of_a ? menu_b->menu : menu_a->menu;
        const uint r = of_a ? menu_a->menu[i] : menu_b->menu[i - MENU_SIZE];
        bool sold = r != NOTHING;
        for (uint j = 0; j < MENU_SIZE; ++j) sold = sold && others[j] != r;
        if (sold && in_force) sell(of_a ? sold_a : sold_b, r);
    }
    return in_force;
}
#else
// Put on the menu the held resources that the agent remembers as least
// valuable.
COLLECTIVE void offer(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                      const uint agent, __local uint *on_menu)
{
    __local uint *menu = local_malloc(MENU_SIZE * sizeof(uint));
    choose_menu(STATE, menus, society, agent, menu);
    for (uint i = LANE; i < menu_size; i += LANES)
        if (menu[i] != NONE) sell(on_menu, menu[i]);
    barrier(CLK_LOCAL_MEM_FENCE);  // the menu is marked, before another is made
}
#endif

// The work-items put the candidates in order, each by counting those before its own, if they are in
// local memory; else one work-item looks for the best of what is left.
#define PLACED (CANDIDATES <= CANDIDATE_LIMIT)

#if PLACED
// Candidates by falling score of A, and of B; see `chosen_before` for ties.
INLINED void place_candidates(const uint lane, const __local real *score_a,
                              const __local real *score_b, const uint candidates,
                              const candidates_t of_a, const candidates_t of_b,
                              __local ushort *by_a, __local ushort *by_b)
{
    for (uint c = lane; c < candidates; c += LANES) {
        const real own_a = score_a[c], own_b = score_b[c];
        uint place_a = 0, place_b = 0;
        for (uint i = 0; i < candidates; ++i) {
            const real other_a = score_a[i], other_b = score_b[i];
            place_a += other_a > own_a || (other_a == own_a && chosen_before(of_a, i, c));
            place_b += other_b > own_b || (other_b == own_b && chosen_before(of_b, i, c));
        }
        by_a[place_a] = c;
        by_b[place_b] = c;
    }
}

// The first candidate of an order that is not yet queued.
INLINED uint next_candidate(const __local real *scores, const __local ushort *order, uint *next)
{
    while (scores[order[*next]] == QUEUED) ++*next;
    return order[(*next)++];
}
#else
// The candidate with the highest score; see `chosen_before` for ties.
INLINED uint best_candidate(SCORE_SPACE real *scores, const uint candidates, const candidates_t of)
{
    uint best = 0;
    for (uint c = 1; c < candidates; ++c) {
        const bool higher = scores[c] > scores[best];
        if (higher || (scores[c] == scores[best] && chosen_before(of, c, best))) best = c;
    }
    return best;
}
#endif

// How far a meeting is: swaps that are queued and those of them that were tried, whether to rank
// again or to try again, whether a swap changed holdings, who proposes next in a bargain that is
// not decided: 1, A, or 2, B, and whether a cached menu is not in force.
typedef struct {
    uint queued, attempt, going, again, changed, undecided, unknown;
} course_t;

#if LADDERS_TOGETHER
// Go through the bargains that were worked out, up to the first that changes holdings or is not
// decided. By one work-item.
INLINED void go_through(MEETING_PARAMETERS, __local course_t *now, const __local ushort *give,
                        const __local ushort *take, const __local deal_t *ahead)
{
    now->changed = 0;
    while (now->attempt < now->queued && !now->changed && !now->undecided) {
        deal_t deal = ahead[2 * now->attempt];
        const int proposer = deal.given == 0;
        if (proposer == 1) deal = ahead[2 * now->attempt + 1];
        now->undecided = deal.given == UNDECIDED ? 1 + proposer : 0;
        now->changed = deal.given > 0;
        if (deal.given > 0) settle(MEETING, give[now->attempt], take[now->attempt], deal);
        now->attempt += !now->undecided;
    }
}

// Let all work-items walk the ladder of a bargain that is not decided, if there is one.
COLLECTIVE void walk_together(MEETING_PARAMETERS, __local course_t *now,
                              const __local ushort *queue_give, const __local ushort *queue_take,
                              const __local deal_t *ahead)
{
    if (!now->undecided) return;
    const uint give = queue_give[now->attempt], take = queue_take[now->attempt];
    const int proposer = now->undecided == 2;
    const bargain_t terms = bargain_of(MEETING, give, take);
    long units_taken, units_given;
    proposal_together(TABLES, ladder_of(terms, proposer), P(min_surplus), &units_taken,
                      &units_given);
    if (LANE != 0) return;
    deal_t deal = {0, 0};
    if (agreed(TABLES, terms, P(min_surplus), units_taken, units_given)) {
        deal.taken = (int)units_taken;
        deal.given = (int)units_given;
    } else if (proposer == 0) {
        deal = ahead[2 * now->attempt + 1];
    }
    now->undecided = deal.given == UNDECIDED ? 2 : 0;
    now->changed = deal.given > 0;
    if (now->changed) settle(MEETING, give, take, deal);
    now->attempt += now->undecided == 0;
}
#endif

#if RANKED
// Load the ranks of both agents, if they are needed.
COLLECTIVE void load_both(MEETING_PARAMETERS, const uint needed, const __global menu_t *menus,
                          const uint lane, __local real *key_a, __local ushort *rank_a,
                          __local real *key_b, __local ushort *rank_b)
{
    if (!needed) return;
    load_ranks(STATE, menus, society, a, lane, key_a, rank_a);
    load_ranks(STATE, menus, society, b, lane, key_b, rank_b);
}

// Correct the ranks of both agents, if they have swapped.
COLLECTIVE void rank_both(MEETING_PARAMETERS, const uint swaps, const uint gave, const uint took,
                          const uint lane, __local real *key_a, __local ushort *rank_a,
                          __local real *key_b, __local ushort *rank_b)
{
    if (!swaps) return;
    barrier(CLK_LOCAL_MEM_FENCE);  // all ranks, before they are corrected
    rank_again(STATE, society, a, b, gave, took, lane, key_a, rank_a, key_b, rank_b);
}
#endif

// The meeting of two living agents; of none if the workgroup rests, all of whose work-items then
// have the lane NONE, which is beyond every bound and is not the first.
COLLECTIVE void meet(MEETING_PARAMETERS, const uint market_round, const uint lane,
                     __global real *scores, __global menu_t *menus)
{
    // These last for the whole meeting: what is for sale, and the queue of swaps to try.
    __local course_t *now = local_malloc(sizeof(course_t));
    __local uint *sold_a = local_malloc(2 * SALE_WORDS * sizeof(uint));
    __local uint *sold_b = sold_a + SALE_WORDS;
    __local ushort *queue_give = local_malloc(ATTEMPTS * sizeof(ushort));
    __local ushort *queue_take = local_malloc(ATTEMPTS * sizeof(ushort));
    for (uint i = LANE; i < 2 * SALE_WORDS; i += LANES) sold_a[i] = 0;
    if (LANE == 0) *now = (course_t){0, 0, 0, 0, 0, 0, 0};
#if RANKED
    __global menu_t *menu_a = menus + (society * AGENTS + a);
    __global menu_t *menu_b = menus + (society * AGENTS + b);
    __local real *key_a = local_malloc(RESOURCES * sizeof(real));
    __local real *key_b = local_malloc(RESOURCES * sizeof(real));
    __local ushort *rank_a = local_malloc(RESOURCES * sizeof(ushort));
    __local ushort *rank_b = local_malloc(RESOURCES * sizeof(ushort));
    barrier(
        CLK_LOCAL_MEM_FENCE);  // nothing is for sale and the meeting has not begun, before it does
    const bool in_force = sell_cached(lane, market_round, menu_a, menu_b, sold_a, sold_b);
    if (lane == 0) now->unknown = !in_force;
    barrier(CLK_LOCAL_MEM_FENCE);  // whether menus are in force, before all load ranks or none
    uint ranked = now->unknown;  // whether ranks are in local memory
    load_both(MEETING, ranked, menus, lane, key_a, rank_a, key_b, rank_b);
#endif

    uint more;
    do {
        // A resource is for sale if one of the two offers it and the other does not.
#if RANKED
        for (uint r = ranked ? lane : NONE; r < resources; r += LANES) {
            const bool on_a = is_on_menu(key_a, rank_a, r), on_b = is_on_menu(key_b, rank_b, r);
            if (on_a && !on_b) sell(sold_a, r);
            if (on_b && !on_a) sell(sold_b, r);
        }
#else
        __local uint *on_a = local_malloc(SALE_WORDS * sizeof(uint));
        __local uint *on_b = local_malloc(SALE_WORDS * sizeof(uint));
        for (uint i = LANE; i < SALE_WORDS; i += LANES) on_a[i] = on_b[i] = 0;
        offer(STATE, menus, society, a, on_a);
        offer(STATE, menus, society, b, on_b);
        for (uint i = LANE; i < SALE_WORDS; i += LANES) {
            sold_a[i] |= on_a[i] & ~on_b[i];
            sold_b[i] |= on_b[i] & ~on_a[i];
        }
        local_free(SALE_WORDS * sizeof(uint));
        local_free(SALE_WORDS * sizeof(uint));
#endif
        barrier(CLK_LOCAL_MEM_FENCE);  // what is for sale, before it is listed

        __local ushort *sold_by_a = local_malloc(RESOURCES * sizeof(ushort));  // ascending
        __local ushort *sold_by_b = local_malloc(RESOURCES * sizeof(ushort));
#if PLACED
        __local real *score_a = local_malloc(CANDIDATES * sizeof(real));
        __local real *score_b = local_malloc(CANDIDATES * sizeof(real));
#else
        __global real *score_a = scores;
        __global real *score_b = score_a + CANDIDATES;
#endif
        const uint count_a = list_sold(STATE, lane, sold_a, sold_by_a);
        const uint count_b = list_sold(STATE, lane, sold_b, sold_by_b);
        const candidates_t of_a = {sold_by_a, sold_by_b, count_b, 0 FAULT_OF(&python_fault())};
        const candidates_t of_b = {sold_by_a, sold_by_b, count_b, 1 FAULT_OF(&python_fault())};
        const uint candidates = count_a * count_b;  // without any, nothing is queued or tried
        barrier(CLK_LOCAL_MEM_FENCE);  // the lists, before candidates are scored
        for (uint c = lane; c < candidates; c += LANES) {
            const uint give = sold_by_a[c / count_b], take = sold_by_b[c % count_b];
            score_a[c] = score(STATE, TABLES, society, a, take, give);
            score_b[c] = score(STATE, TABLES, society, b, give, take);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all scores, before the best

#if PLACED
        __local ushort *by_a = local_malloc(CANDIDATES * sizeof(ushort));
        __local ushort *by_b = local_malloc(CANDIDATES * sizeof(ushort));
        place_candidates(lane, score_a, score_b, candidates, of_a, of_b, by_a, by_b);
        barrier(CLK_LOCAL_MEM_FENCE);  // both orders, before the favourites are queued
#endif
        const uint queued = now->queued;
        barrier(CLK_LOCAL_MEM_FENCE);  // how many are queued is read, before there are more
        if (lane == 0) {
            // Queue the favourites of A and B alternately. No more than ATTEMPTS are ever tried.
#if PLACED
            uint next_a = 0, next_b = 0;
#endif
            for (uint i = 0; i < candidates && now->queued < ATTEMPTS; ++i) {
#if PLACED
                const uint best = i % 2 == now->attempt % 2
                                      ? next_candidate(score_a, by_a, &next_a)
                                      : next_candidate(score_a, by_b, &next_b);
                score_a[best] = QUEUED;
#else
                const uint best = i % 2 == now->attempt % 2
                                      ? best_candidate(score_a, candidates, of_a)
                                      : best_candidate(score_b, candidates, of_b);
                score_a[best] = score_b[best] = QUEUED;
#endif
                queue_give[now->queued++] = best;
            }
            now->going = now->undecided = 0;
            now->changed = 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // the favourites, before each is taken for a swap
        for (uint i = queued + LANE; i < now->queued; i += LANES) {
            const uint best = queue_give[i];
            queue_give[i] = sold_by_a[best / count_b];
            queue_take[i] = sold_by_b[best % count_b];
        }
#if PLACED
        local_free(CANDIDATES * sizeof(ushort));
        local_free(CANDIDATES * sizeof(ushort));
        local_free(CANDIDATES * sizeof(real));
        local_free(CANDIDATES * sizeof(real));
#endif
        local_free(RESOURCES * sizeof(ushort));
        local_free(RESOURCES * sizeof(ushort));

        // Try the queued swaps in turn; `attempt` counts them. After a success the ranking is made
        // again, unless the queue holds as many swaps as may be tried. The work-items look ahead,
        // a proposal each. Their results count up to the first success: it changes the holdings
        // from which the later ones were worked out.
        __local deal_t *ahead = local_malloc(2 * ATTEMPTS * sizeof(deal_t));
        // the queue, before it is worked on
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        do {
            if (now->changed)
                for (uint i = 2 * now->attempt + LANE; i < 2 * now->queued; i += LANES)
                    ahead[i] = half_bargain(MEETING, queue_give[i / 2], queue_take[i / 2], i % 2);
            // all bargains, before one is done
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#if LADDERS_TOGETHER
            if (lane == 0 && !now->undecided)
                go_through(MEETING, now, queue_give, queue_take, ahead);
            barrier(CLK_LOCAL_MEM_FENCE);  // what is undecided, before all decide it
            walk_together(MEETING, now, queue_give, queue_take, ahead);
            if (lane == 0) {
                now->going = now->changed && now->queued < ATTEMPTS;
                now->again = !now->going && now->attempt < now->queued;
            }
#else
            if (lane == 0) {
                now->going = now->again = now->changed = 0;
                while (now->attempt < now->queued && !now->changed) {
                    deal_t deal = ahead[2 * now->attempt];
                    if (deal.given == 0) deal = ahead[2 * now->attempt + 1];
                    const uint give = queue_give[now->attempt], take = queue_take[now->attempt];
                    ++now->attempt;
                    if (deal.given > 0) {
                        settle(MEETING, give, take, deal);
                        now->changed = 1;
                        now->going = now->queued < ATTEMPTS;
                        now->again = !now->going && now->attempt < now->queued;
                    }
                }
            }
#endif
            // new holdings, for new bargains or menus
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#if RANKED
            const uint swaps = now->changed;
            if (swaps && !ranked) {  // those from before the swap
                copy_ranks(STATE, menu_a, lane, key_a, rank_a);
                copy_ranks(STATE, menu_b, lane, key_b, rank_b);
            }
            ranked |= swaps;
            const uint gave = swaps ? queue_give[now->attempt - 1] : NONE;
            const uint took = swaps ? queue_take[now->attempt - 1] : NONE;
            rank_both(MEETING, swaps, gave, took, lane, key_a, rank_a, key_b, rank_b);
#endif
            more = now->again;
        } while (more);
        local_free(2 * ATTEMPTS * sizeof(deal_t));
        more = now->going;
    } while (more);
#if RANKED
    if (ranked) {
        keep_ranks(STATE, menu_a, IN_FORCE, lane, key_a, rank_a);
        keep_ranks(STATE, menu_b, IN_FORCE, lane, key_b, rank_b);
    }
#endif
}

#if RANKED
// In the first round, forget what agents without a meeting have cached: it is of an earlier market.
// After the meeting, in which work-items without one read it as well. By one work-item of a pair.
INLINED void forget_menus(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                          const uint pair, const bool meets)
{
    const bool last = AGENTS % 2 == 1 && pair + 1 == PAIRS;
    for (uint i = meets ? 2 : 0; i < (last ? 3 : 2); ++i) {
        __global menu_t *cached = menus + (society * AGENTS + partners(0, 2 * pair + i));
        cached->known = 0;
        cached->offered = 0;
    }
}
#endif

// A workgroup takes a pair.
__kernel void trading(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *scores,
                      __global menu_t *menus, const uint market_round)
{
    const size_t society = get_group_id(0) / PAIRS;
    const uint pair = get_group_id(0) % PAIRS;
    const uint a = partners(market_round, 2 * pair), b = partners(market_round, 2 * pair + 1);
    const bool meets = alive(a) && alive(b);
    meet(MEETING, market_round, meets ? LANE : NONE, SCORES_OF(get_group_id(0)), menus);
#if RANKED
    if (market_round == 0 && LANE == 0) forget_menus(STATE, menus, society, pair, meets);
#endif
}

// Make the pairs of all rounds, if `wanted`.
COLLECTIVE void order_if(STATE_PARAMETERS RULED_PARAMETERS, const size_t society, const bool wanted)
{
    if (!wanted) return;
    order_agents(STATE RULED_ARGUMENTS, society);
}

// A market of few societies (crew.cl). The first task makes the pairs; the others are meetings, in
// the order of the rounds. Each begins when both agents have had theirs of the round before, so no
// round waits for the longest meeting of the last one. The words of a crew: tasks begun, whether
// there are pairs, workgroups that have left, and for each agent how many rounds it has had.
__kernel void resource_market(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *scores,
                              __global menu_t *menus, __global uint *crews)
{
    const size_t society = get_group_id(0) / PAIRS;
    volatile __global uint *crew = crews + society * CREW_WORDS, *rounds_of = crew + 3;
    __local uint *begun = local_malloc(sizeof(uint));
    bool more;
    do {
        if (LANE == 0) *begun = atomic_inc(crew);
        barrier(CLK_LOCAL_MEM_FENCE);  // the task, before all read it
        const uint task = *begun, pair = (task + PAIRS - 1) % PAIRS;
        more = task <= ROUNDS * PAIRS;
        const bool meeting = task > 0 && more;
        const uint round = meeting ? (task - 1) / PAIRS : 0;
        // The last pair answers for the agent that has no meeting in a round.
        const uint members = 2 + (AGENTS % 2 == 1 && pair + 1 == PAIRS);
        order_if(STATE RULED_ARGUMENTS, society, task == 0);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all pairs; the task is read
        if (LANE == 0 && task == 0) {
            fence_all();
            atomic_inc(crew + 1);
        }
        if (LANE == 0 && meeting) {
            await(crew + 1, 1);
            fence_all();
            for (uint i = 0; i < members; ++i)
                await(rounds_of + partners(round, 2 * pair + i), round);
            fence_all();
        }
        barrier(CLK_GLOBAL_MEM_FENCE);  // what meetings before have left, before it is read
        const uint a = meeting ? partners(round, 2 * pair) : 0;
        const uint b = meeting ? partners(round, 2 * pair + 1) : 0;
        const bool meets = meeting && alive(a) && alive(b);
        meet(MEETING, round, meets ? LANE : NONE, SCORES_OF(get_group_id(0)), menus);
#if RANKED
        if (round == 0 && meeting && LANE == 0) forget_menus(STATE, menus, society, pair, meets);
#endif
        // What this meeting has written, before others read it; its local memory is read.
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (LANE == 0 && meeting) {
            fence_all();
            for (uint i = 0; i < members; ++i)
                atomic_inc(rounds_of + partners(round, 2 * pair + i));
        }
    } while (more);
    if (LANE == 0) leave_crew(crew, PAIRS);
}

#if MEETINGS_IN_STEP
#include "economy/meetings.cl"
#endif
#endif
