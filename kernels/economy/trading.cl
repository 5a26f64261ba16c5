// What do two agents swap when they meet: menus, ranking, offers, prices of the resource market.
// Twin: reference_py/economy/trading.py.
// The file is long because a meeting is one launch, in a form for CPUs and in one for GPUs.
//
// A workgroup is a pair of agents, a work-item a resource (menus) or a candidate swap (ranking); on
// a CPU one work-item does it all (group.cl). An offer is made only if the one before it was
// refused. On a GPU the work-items work out all queued offers at once and drop those that are not
// made; ladders of offers that are long are then walked by all work-items together. A meeting draws
// no random numbers, and no agent is in two meetings of a round. Local memory: 4 bytes an attempt
// (on a GPU 1 a resource more, and up to 64 resources 20 for ranks), and the most of what menus,
// ranking and bargains need in turn: ranking takes 4 bytes a resource and 16 a
// candidate (on a GPU 20) up to CANDIDATE_LIMIT candidates; beyond it their scores are in global
// memory (a slice of `scores` for each workgroup).
#include "economy/curves.cl"
#include "economy/menu.cl"
#include "economy/network.cl"
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

// On a GPU, where all devices make holdings and so ladders of offers long, a work-item takes so
// many steps of a ladder alone; all work-items together take a longer one, LADDER_LANES steps at a
// time. Short ladders are faster alone. (PoCL 3.0 and 3.1 compile this to a loop that never ends,
// with more than one work-item; tests of this form on PoCL set LADDERS_TOGETHER to 0. Intel's
// runtime, the race check and GPUs run it.)
#ifndef LADDERS_TOGETHER
#if DEVICE_IS_CPU || !DEVICES
#define LADDERS_TOGETHER 0
#else
#define LADDERS_TOGETHER !TOOLS_ONLY
#endif
#endif
#if LADDERS_TOGETHER
#if DEVICE_IS_INTERPRETED
#define STEPS_ALONE 1  // the race check's societies are small
#else
#define STEPS_ALONE 8
#endif
#define LADDER_LANES 64
#define NO_STEP 0xffffffffu
#else
#define STEPS_ALONE MANY
#endif

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

// What a proposer chooses from: 1, 2, ... units given, from `first` on, and the units taken for
// them, rounded. `gets_taken`: the proposer is A, who gets the taken resource; else it is B, who
// gets the given one.
typedef struct {
    side_t own;
    int gets_taken;
    real rate;
    long first, stock_given, stock_taken;
} ladder_t;

static ladder_t ladder(const side_t own, const int gets_taken, const real rate,
                       const long stock_given, const long stock_taken)
{
    ladder_t s = {own, gets_taken, rate, 1, stock_given, stock_taken};
    if (rate <= 1.0) s.first = rounded(1.0 / rate);
    return s;
}

// What the proposer gains from a step of its ladder.
static real own_surplus(TABLE_PARAMETERS, const ladder_t s, const long taken, const long given)
{
    return surplus(TABLES, s.own, s.gets_taken ? taken : given, s.gets_taken ? given : taken);
}

// The units that change hands in a bargain: 0 given if it fails, UNDECIDED if that is not known.
typedef struct {
    int taken, given;
} deal_t;
#define UNDECIDED (-1)

// The quantities that are best for the proposer; 0 if more than `most` steps lead on.
static int proposal(TABLE_PARAMETERS, const ladder_t s, const real min_surplus, const long most,
                    long *best_taken, long *best_given)
{
    long given = s.first;
    real at = (real)given * s.rate;
    long taken = rounded(at);
    real here = own_surplus(TABLES, s, taken, given);
    real best = here;
    *best_taken = taken;
    *best_given = given;
    while (given + 1 <= s.stock_given && taken + 1 <= s.stock_taken) {
        const long next = rounded(at + s.rate);
        const real ahead = own_surplus(TABLES, s, next, given + 1);
        if (!(ahead > min_surplus)) break;
        if (given - s.first >= most) return 0;
        if (here > best) {
            best = here;
            *best_taken = taken;
            *best_given = given;
        }
        given += 1;
        at = (real)given * s.rate;
        taken = rounded(at);
        // Rounding may make this another step than the one that was just valued; it rarely does.
        here = taken == next ? ahead : own_surplus(TABLES, s, taken, given);
    }
    return 1;
}

// A gives the resource `give` and takes the resource `take`, in quantities from which both gain. A
// proposes first; if no agreement comes of it, B does.
typedef struct {
    side_t side_a, side_b;
    real rate;
    int stock_given, stock_taken;
} bargain_t;

static bargain_t bargain_of(MEETING_PARAMETERS, const uint give, const uint take)
{
    bargain_t s;
    s.stock_given = held(a, give);
    s.stock_taken = held(b, take);
    s.side_a = side(STATE, TABLES, society, a, take, give);
    s.side_b = side(STATE, TABLES, society, b, give, take);
    const side_t side_a = s.side_a, side_b = s.side_b;
    const real most_a = marginal_utility(TABLES, side_a.get_curve, side_a.get_held) /
                        marginal_utility(TABLES, side_a.lose_curve, side_a.lose_held - 1);
    const real least_b = marginal_utility(TABLES, side_b.lose_curve, side_b.lose_held - 1) /
                         marginal_utility(TABLES, side_b.get_curve, side_b.get_held);
    s.rate = price(most_a, least_b, trade_power_table[of_group(a)], trade_power_table[of_group(b)]);
    return s;
}

static ladder_t ladder_of(const bargain_t s, const int proposer)
{
    return ladder(proposer == 0 ? s.side_a : s.side_b, proposer == 0, s.rate, s.stock_given,
                  s.stock_taken);
}

// Whether both have that many, and gain from it.
static int agreed(TABLE_PARAMETERS, const bargain_t s, const real min_surplus, const long taken,
                  const long given)
{
    return taken <= s.stock_taken && given <= s.stock_given &&
           surplus(TABLES, s.side_a, taken, given) > min_surplus &&
           surplus(TABLES, s.side_b, given, taken) > min_surplus;
}

// The deal of two agents, worked out by one work-item.
static deal_t bargain(MEETING_PARAMETERS, const uint give, const uint take)
{
    deal_t deal = {0, 0};
    if (held(a, give) == 0 || held(b, take) == 0) return deal;
    const bargain_t s = bargain_of(MEETING, give, take);
    for (int proposer = 0; proposer < 2 && deal.given == 0; ++proposer) {
        long taken, given;
        if (!proposal(TABLES, ladder_of(s, proposer), P(min_surplus), STEPS_ALONE, &taken,
                      &given)) {
            deal.given = UNDECIDED;
        } else if (agreed(TABLES, s, P(min_surplus), taken, given)) {
            deal.taken = (int)taken;
            deal.given = (int)given;
        }
    }
    return deal;
}

#if LADDERS_TOGETHER
// Of the bests of two lanes the better; of equal ones the earlier step.
#define TAKE_BETTER(stride) \
    if (lid < stride && lid + stride < lanes && \
        (gains[lid + stride] > gains[lid] || \
         (gains[lid + stride] == gains[lid] && steps[lid + stride] < steps[lid]))) { \
        gains[lid] = gains[lid + stride]; \
        steps[lid] = steps[lid + stride]; \
    }

// The proposal of a ladder of any length, by all work-items: each tries every LADDER_LANES-th step.
// Steps do not depend on each other. Of those before the first that does not lead on, the first of
// the largest gain is chosen.
COLLECTIVE void proposal_together(TABLE_PARAMETERS, const int wanted, const ladder_t s,
                                  const real min_surplus, long *taken, long *given)
{
    __local uint *last = local_malloc(2 * sizeof(uint));
    __local real *gains = local_malloc(LADDER_LANES * sizeof(real));
    __local uint *steps = local_malloc(LADDER_LANES * sizeof(uint));
    const uint lid = get_local_id(0);
    const uint lanes = wanted ? min((uint)get_local_size(0), (uint)LADDER_LANES) : 0;
    uint step = lid, turn = 0, found = 0;
    int more;
    real best = -(real)INFINITY;
    if (lid == 0) last[0] = last[1] = NO_STEP;
    // No step is known to be the last, before one is; holdings are read, before they change.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    do {
        real here = 0.0;
        if (lid < lanes) {
            const long given_here = s.first + step;
            const real at = (real)given_here * s.rate;
            const long taken_here = rounded(at);
            here = own_surplus(TABLES, s, taken_here, given_here);
            if (given_here + 1 > s.stock_given || taken_here + 1 > s.stock_taken ||
                !(own_surplus(TABLES, s, rounded(at + s.rate), given_here + 1) > min_surplus))
                atomic_min(last + turn, step);  // the least: any order gives the same
        }
        // The last step, before anybody goes on; the next turn's stays as it is meanwhile.
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint end = last[turn];
        more = wanted & (end == NO_STEP);
        if (lid < lanes && (step < end || step == 0) && here > best) {
            best = here;
            found = step;
        }
        step += lanes;
        turn = 1 - turn;
    } while (more);
    if (lid < lanes) {
        gains[lid] = best;
        steps[lid] = found;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // everybody's best, before the best of them
    TAKE_BETTER(32);
    barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above
    TAKE_BETTER(16);
    barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above
    TAKE_BETTER(8);
    barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above
    TAKE_BETTER(4);
    barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above
    TAKE_BETTER(2);
    barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above
    TAKE_BETTER(1);
    barrier(CLK_LOCAL_MEM_FENCE);  // this level, before the one above
    *given = wanted ? s.first + steps[0] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // everybody has read it, before its memory is used again
    *taken = rounded((real)*given * s.rate);
    local_free(LADDER_LANES * sizeof(uint));
    local_free(LADDER_LANES * sizeof(real));
    local_free(2 * sizeof(uint));
}

// The deal of two agents who hold what they would swap, worked out by all work-items; returns the
// units given, 0 if there is none or it is not `wanted`.
COLLECTIVE int bargain_together(MEETING_PARAMETERS, const int wanted, const uint give,
                                const uint take, int *units_taken)
{
    bargain_t s = {{0, 0, 0, 0, 0.0, 0.0}, {0, 0, 0, 0, 0.0, 0.0}, 1.0, 0, 0};
    if (wanted) s = bargain_of(MEETING, give, take);
    int proposer = 0, more, units_given = 0;
    do {
        long taken, given;
        proposal_together(TABLES, wanted, ladder_of(s, proposer), P(min_surplus), &taken, &given);
        if (wanted && agreed(TABLES, s, P(min_surplus), taken, given)) {
            *units_taken = (int)taken;
            units_given = (int)given;
        }
        ++proposer;
        more = wanted & (proposer < 2) & (units_given == 0);
    } while (more);
    return units_given;
}
#endif

// Change a holding, and remember the marginal utility that it then has.
static void change(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent,
                   const uint resource, const int units)
{
    const int owned = held(agent, resource) + units;
    held(agent, resource) = owned;
    value(agent, resource) = marginal_utility(TABLES, utility_curve(agent, resource), owned);
}

#if MEASURES
// Add a swap to the accounts of one of the two agents, which gives `given` units. The price of a
// resource is counted at the agent who gives it away; with a numeraire, only what is given for that
// has a price. Before the holdings change.
static void account_swap(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society, const uint agent,
                         const uint gives, const int given, const uint gets, const int got)
{
    const side_t own = side(STATE, TABLES, society, agent, gets, gives);
    income_swaps(agent) += surplus(TABLES, own, got, given);
    if (NUMERAIRE < 0 || (int)gets == NUMERAIRE) {
        priced_units(agent, gives) += given;
        priced_for(agent, gives) += got;
        priced_squares(agent, gives) += (real)got * (real)got / (real)given;
    }
}
#endif

static void settle(MEETING_PARAMETERS, const uint give, const uint take, const deal_t deal)
{
#if MEASURES
    account_swap(STATE, TABLES, society, a, give, deal.given, take, deal.taken);
    account_swap(STATE, TABLES, society, b, take, deal.taken, give, deal.given);
#endif
#if NETWORK
    link_swap(STATE, society, a, b, deal.given);
    link_swap(STATE, society, b, a, deal.taken);
#endif
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

// On a GPU the work-items put the candidates in order, each by counting those before its own, if
// they are in local memory; else one work-item looks for the best of what is left.
#define PLACED (!DEVICE_IS_CPU && CANDIDATES <= CANDIDATE_LIMIT)
#define QUEUED (-1.0)  // instead of the score

#if PLACED
// Candidates by falling score, the lower index first among ties.
INLINED void place_candidates(const __local real *scores, const uint candidates,
                              __local ushort *order)
{
    for (uint c = get_local_id(0); c < candidates; c += get_local_size(0)) {
        const real own = scores[c];
        uint place = 0;
        for (uint i = 0; i < candidates; ++i)
            place += scores[i] > own || (scores[i] == own && i < c);
        order[place] = c;
    }
}

// The first candidate of an order that is not yet queued.
INLINED uint next_candidate(const __local real *scores, const __local ushort *order, uint *next)
{
    while (scores[order[*next]] == QUEUED) ++*next;
    return order[(*next)++];
}
#elif DEVICE_IS_CPU
// The candidate with the highest score, lowest index among ties. Numbers that are not negative are
// in the order of their bits, and QUEUED is below them, so that the largest is found by vectors.
INLINED uint best_candidate(SCORE_SPACE real *scores, const uint candidates)
{
    long most = as_long(QUEUED);
    for (uint c = 0; c < candidates; ++c) {
        const long bits = as_long(scores[c]);
        most = bits > most ? bits : most;
    }
    uint best = 0;
    while (as_long(scores[best]) != most) ++best;
    return best;
}
#else
// The candidate with the highest score, lowest index among ties.
INLINED uint best_candidate(SCORE_SPACE real *scores, const uint candidates)
{
    uint best = 0;
    for (uint c = 1; c < candidates; ++c)
        if (scores[c] > scores[best]) best = c;
    return best;
}
#endif

#if DEVICE_IS_CPU
// Resources as bits.
#define SALE_WORDS ((RESOURCES + 63) / 64)

// The held resources that an agent remembers as least valuable: its menu.
static void offer(const __global menu_t *kept, ulong *on_menu)
{
    for (uint word = 0; word < SALE_WORDS; ++word) on_menu[word] = 0;
    const uint length = menu_length(kept);
    for (uint i = 0; i < length; ++i) on_menu[kept->listed[i] / 64] |= 1UL << kept->listed[i] % 64;
}

// List resources, ascending. Returns how many.
INLINED uint list_sold(const ulong *sold, __local ushort *listed)
{
    uint count = 0;
    for (uint word = 0; word < SALE_WORDS; ++word)
        for (ulong left = sold[word]; left != 0; left &= left - 1)
            listed[count++] = 64 * word + 63 - (uint)clz(left & (~left + 1));
    return count;
}
#elif !RANKED
// Put on the menu, as offers of `who`, the held resources that the agent remembers as least
// valuable.
COLLECTIVE void offer(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                      const uint agent, const uchar who, __local uchar *on_menu)
{
    __local uint *menu = local_malloc(MENU_SIZE * sizeof(uint));
    choose_menu(STATE, menus, society, agent, menu);
    for (uint i = LANE; i < menu_size; i += LANES)
        if (menu[i] != NONE) on_menu[menu[i]] |= who;
    barrier(CLK_LOCAL_MEM_FENCE);  // the menu is marked, before another is made
    local_free(MENU_SIZE * sizeof(uint));
}
#endif

// How far a meeting is: lengths of the two sale lists, swaps that are queued and those of them that
// were tried, whether to rank anew or to try again, whether a swap changed holdings and whether one
// is not decided.
typedef struct {
    uint count_a, count_b, queued, attempt, going, again, changed, undecided;
} course_t;

#if DEVICE_IS_CPU
#define COURSE
#else
#define COURSE __local
#endif

// The meeting of two living agents. `scores` are those of this workgroup.
COLLECTIVE_WHOLE void meet(MEETING_PARAMETERS, __global real *scores, __global menu_t *menus,
                           COURSE course_t *now)
{
    const uint lid = LANE, lanes = LANES;
    // These last for the whole meeting: who sells each resource, and the queue of swaps to try.
#if DEVICE_IS_CPU
    ulong sold_a[SALE_WORDS], sold_b[SALE_WORDS];
    for (uint word = 0; word < SALE_WORDS; ++word) sold_a[word] = sold_b[word] = 0;
#else
    __local uchar *sold = local_malloc(RESOURCES * sizeof(uchar));
    for (uint r = lid; r < resources; r += lanes) sold[r] = 0;
#endif
    __local ushort *queue_give = local_malloc(ATTEMPTS * sizeof(ushort));
    __local ushort *queue_take = local_malloc(ATTEMPTS * sizeof(ushort));
    if (lid == 0) now->queued = now->attempt = now->going = 0;
#if DEVICE_IS_CPU
    look_at_menu(STATE, menus, society, a);
    look_at_menu(STATE, menus, society, b);
#elif RANKED
    __local real *key_a = local_malloc(RESOURCES * sizeof(real));
    __local real *key_b = local_malloc(RESOURCES * sizeof(real));
    __local ushort *rank_a = local_malloc(RESOURCES * sizeof(ushort));
    __local ushort *rank_b = local_malloc(RESOURCES * sizeof(ushort));
    load_ranks(STATE, menus, society, a, key_a, rank_a);
    load_ranks(STATE, menus, society, b, key_b, rank_b);
#endif

    do {
#if DEVICE_IS_CPU
        // A resource is for sale if one of the two offers it and the other does not.
        ulong on_a[SALE_WORDS], on_b[SALE_WORDS];
        offer(menus + (society * AGENTS + a), on_a);
        offer(menus + (society * AGENTS + b), on_b);
        for (uint word = 0; word < SALE_WORDS; ++word) {
            sold_a[word] |= on_a[word] & ~on_b[word];
            sold_b[word] |= on_b[word] & ~on_a[word];
        }
#elif RANKED
        // What the last swap changed. (After the loop over bargains PoCL 3.0 would compile that
        // loop wrongly, with more than one work-item.)
        const uint gave = now->going ? queue_give[now->attempt - 1] : NONE;
        const uint took = now->going ? queue_take[now->attempt - 1] : NONE;
        rank_again(STATE, society, a, gave, took, key_a, rank_a);
        rank_again(STATE, society, b, gave, took, key_b, rank_b);
        // A resource is for sale if one of the two offers it and the other does not.
        for (uint r = lid; r < resources; r += lanes) {
            const uint on_menu = (is_on_menu(key_a, rank_a, r) ? SOLD_BY_A : 0) |
                                 (is_on_menu(key_b, rank_b, r) ? SOLD_BY_B : 0);
            if (on_menu != (SOLD_BY_A | SOLD_BY_B)) sold[r] |= on_menu;
        }
#else
        __local uchar *on_menu = local_malloc(RESOURCES * sizeof(uchar));
        for (uint r = lid; r < resources; r += lanes) on_menu[r] = 0;
        for (uint who = SOLD_BY_A; who <= SOLD_BY_B; ++who)
            offer(STATE, menus, society, who == SOLD_BY_A ? a : b, who, on_menu);
        // A resource is for sale if one of the two offers it and the other does not.
        for (uint r = lid; r < resources; r += lanes)
            if (on_menu[r] != (SOLD_BY_A | SOLD_BY_B)) sold[r] |= on_menu[r];
        local_free(RESOURCES * sizeof(uchar));
#endif
        group_barrier(CLK_LOCAL_MEM_FENCE);  // what is for sale, before it is listed

        __local ushort *sold_by_a = local_malloc(RESOURCES * sizeof(ushort));  // ascending
        __local ushort *sold_by_b = local_malloc(RESOURCES * sizeof(ushort));
#if CANDIDATES <= CANDIDATE_LIMIT
        __local real *score_a = local_malloc(CANDIDATES * sizeof(real));
        __local real *score_b = local_malloc(CANDIDATES * sizeof(real));
#else
        __global real *score_a = scores;
        __global real *score_b = score_a + CANDIDATES;
#endif
#if DEVICE_IS_CPU
        now->count_a = list_sold(sold_a, sold_by_a);
        now->count_b = list_sold(sold_b, sold_by_b);
#else
        if (lid == 0) {
            uint in_a = 0, in_b = 0;
            for (uint r = 0; r < resources; ++r) {
                if (sold[r] & SOLD_BY_A) sold_by_a[in_a++] = r;
                if (sold[r] & SOLD_BY_B) sold_by_b[in_b++] = r;
            }
            now->count_a = in_a;
            now->count_b = in_b;
        }
#endif
        group_barrier(CLK_LOCAL_MEM_FENCE);  // the lists, before candidates are scored
        const uint candidates =
            now->count_a * now->count_b;  // without any, nothing is queued or tried
        for (uint c = lid; c < candidates; c += lanes) {
            const uint give = sold_by_a[c / now->count_b], take = sold_by_b[c % now->count_b];
            score_a[c] = score(STATE, TABLES, society, a, take, give);
            score_b[c] = score(STATE, TABLES, society, b, give, take);
        }
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all scores, before the best

#if PLACED
        __local ushort *by_a = local_malloc(CANDIDATES * sizeof(ushort));
        __local ushort *by_b = local_malloc(CANDIDATES * sizeof(ushort));
        place_candidates(score_a, candidates, by_a);
        place_candidates(score_b, candidates, by_b);
        barrier(CLK_LOCAL_MEM_FENCE);  // both orders, before the favourites are queued
#endif
        if (lid == 0) {
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
                const uint best = i % 2 == now->attempt % 2 ? best_candidate(score_a, candidates)
                                                            : best_candidate(score_b, candidates);
                score_a[best] = score_b[best] = QUEUED;
#endif
                queue_give[now->queued] = sold_by_a[best / now->count_b];
                queue_take[now->queued] = sold_by_b[best % now->count_b];
                ++now->queued;
            }
        }
#if PLACED
        local_free(CANDIDATES * sizeof(ushort));
        local_free(CANDIDATES * sizeof(ushort));
#endif
#if CANDIDATES <= CANDIDATE_LIMIT
        local_free(CANDIDATES * sizeof(real));
        local_free(CANDIDATES * sizeof(real));
#endif
        local_free(RESOURCES * sizeof(ushort));
        local_free(RESOURCES * sizeof(ushort));
        // Try the queued swaps in turn; `attempt` counts them. After a success the ranking is made
        // anew, unless the queue holds as many swaps as may be tried.
#if DEVICE_IS_CPU
        now->going = 0;
        while (now->attempt < now->queued && !now->going) {
            const uint give = queue_give[now->attempt], take = queue_take[now->attempt];
            const deal_t deal = bargain(MEETING, give, take);
            ++now->attempt;
            if (deal.given > 0) {
                settle(MEETING, give, take, deal);
                look_again(STATE, menus, society, a, give, take);
                look_again(STATE, menus, society, b, give, take);
                now->going = now->queued < ATTEMPTS;
            }
        }
        alone_in_order();  // the lists are read, before their memory is used again
#elif LADDERS_TOGETHER
        // The work-items look ahead, one bargain each. Their results count up to the first success:
        // it changes the holdings from which the later ones were worked out.
        __local deal_t *ahead = local_malloc(ATTEMPTS * sizeof(deal_t));
        if (lid == 0) {
            now->going = 0;
            now->changed = 1;
        }
        // the queue, before it is worked on
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        do {
            if (now->changed)
                for (uint i = now->attempt + lid; i < now->queued; i += lanes)
                    ahead[i] = bargain(MEETING, queue_give[i], queue_take[i]);
            // all bargains, before one is done
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (lid == 0) {
                now->changed = now->undecided = 0;
                while (now->attempt < now->queued && !now->changed && !now->undecided) {
                    const deal_t deal = ahead[now->attempt];
                    now->undecided = deal.given == UNDECIDED;
                    if (deal.given > 0)
                        settle(MEETING, queue_give[now->attempt], queue_take[now->attempt], deal);
                    now->changed = deal.given > 0;
                    now->attempt += !now->undecided;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);  // what is undecided, before all decide it
            const uint give = now->undecided ? queue_give[now->attempt] : 0;
            const uint take = now->undecided ? queue_take[now->attempt] : 0;
            int units_taken = 0;
            const int given = bargain_together(MEETING, now->undecided, give, take, &units_taken);
            if (lid == 0) {
                const deal_t deal = {units_taken, given};
                if (given > 0) settle(MEETING, give, take, deal);
                now->changed |= given > 0;
                now->attempt += now->undecided;
                now->going = now->changed && now->queued < ATTEMPTS;
                now->again = !now->going && now->attempt < now->queued;
            }
            // new holdings, for new bargains or menus
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        } while (now->again);
        local_free(ATTEMPTS * sizeof(deal_t));
#else
        // The work-items look ahead, one bargain each. Their results count up to the first success:
        // it changes the holdings from which the later ones were worked out.
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the queue, before it is worked on
        __local deal_t *ahead = local_malloc(ATTEMPTS * sizeof(deal_t));
        do {
            for (uint i = now->attempt + lid; i < now->queued; i += lanes)
                ahead[i] = bargain(MEETING, queue_give[i], queue_take[i]);
            // all bargains, before one is done
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (lid == 0) {
                now->going = now->again = 0;
                while (now->attempt < now->queued && !now->going && !now->again) {
                    const deal_t deal = ahead[now->attempt];
                    const uint give = queue_give[now->attempt], take = queue_take[now->attempt];
                    ++now->attempt;
                    if (deal.given > 0) {
                        settle(MEETING, give, take, deal);
                        now->going = now->queued < ATTEMPTS;
                        now->again = !now->going && now->attempt < now->queued;
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // new holdings, for new bargains
        } while (now->again);
        local_free(ATTEMPTS * sizeof(deal_t));
#endif
    } while (now->going);
#if RANKED
    keep_ranks(STATE, menus, society, a, key_a, rank_a);
    keep_ranks(STATE, menus, society, b, key_b, rank_b);
    local_free(RESOURCES * sizeof(ushort));
    local_free(RESOURCES * sizeof(ushort));
    local_free(RESOURCES * sizeof(real));
    local_free(RESOURCES * sizeof(real));
#endif
    local_free(ATTEMPTS * sizeof(ushort));
    local_free(ATTEMPTS * sizeof(ushort));
#if !DEVICE_IS_CPU
    local_free(RESOURCES * sizeof(uchar));
#endif
}

#if DEVICE_IS_CPU
// A workgroup takes so many pairs of a society, one after the other, and so many rounds of theirs:
// one pair and one round or, where there are many societies, all pairs and rounds of a market,
// which then need no launch for each round.
__kernel void trading(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *scores,
                      __global menu_t *menus, const uint market_round, const uint rounds,
                      const uint together)
{
    course_t course;
    const size_t first = get_group_id(0) * together;
    const size_t society = first / PAIRS;
    for (uint turn = market_round; turn < market_round + rounds; ++turn)
        for (size_t place = first; place < first + together; ++place) {
            const uint pair = place % PAIRS;
            const uint a = partners(turn, 2 * pair), b = partners(turn, 2 * pair + 1);
            if (!alive(a) || !alive(b)) continue;
#if CANDIDATES > CANDIDATE_LIMIT
            meet(MEETING, scores + place * 2 * CANDIDATES, menus, &course);
#else
            meet(MEETING, scores, menus, &course);
#endif
        }
}
#else
__kernel void trading(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *scores,
                      __global menu_t *menus, const uint market_round)
{
    __local course_t course;
    const size_t society = get_group_id(0) / PAIRS;
    const uint pair = get_group_id(0) % PAIRS;
    const uint a = partners(market_round, 2 * pair), b = partners(market_round, 2 * pair + 1);
    if (!alive(a) || !alive(b)) return;
#if CANDIDATES > CANDIDATE_LIMIT
    scores += get_group_id(0) * 2 * CANDIDATES;
#endif
    meet(MEETING, scores, menus, &course);
}
#endif
