// In which quantities do two agents swap two resources: price, ladder of offers, deal.
// Twin: reference_py/economy/trading.py, its bargain() and what that calls.
//
// An offer is made only if the one before it was refused. On a CPU a work-item works out a bargain
// alone, on a GPU one of its two proposals or, where ladders of offers are long, the ladder up to a
// step from which all work-items continue together, which takes 12 bytes of local
// memory for each of LADDER_LANES work-items.
#ifndef ECONOMY_BARGAINING_CL
#define ECONOMY_BARGAINING_CL

#include "economy/curves.cl"
#include "economy/limits.cl"
#include "economy/network.cl"
#include "primitives/group.cl"
#include "primitives/softmath.cl"

#define MANY 4000000000000000000L  // more units than any agent can hold

// On a GPU, where all devices make holdings and so ladders of offers long, a work-item takes up to
// this number of steps of a ladder alone; all work-items together take a longer one, LADDER_LANES
// steps at a time. Short ladders are faster alone. (PoCL 3.0 and 3.1 compile this to a loop that
// never ends, with more than one work-item; tests of this form on PoCL set LADDERS_TOGETHER to 0.
// Intel's runtime, the race check and GPUs run it.)
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
#define STEPS_ALONE 16
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
static real price(const real most_a, const real least_b, const real power_a,
                  const real power_b FAULT_PARAMETER)
{
#ifdef RULE_TRADING_PRICE
    const real rate = rule_trading_price(most_a, least_b, power_a, power_b FAULT_OF(fault));
    return rate > 0.0 && rate < SOFT_INFINITY ? rate : SOFT_NAN;  // no price: nothing is proposed
#elif PRICE == PRICE_UNIT
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
    s.get_now = total_of(TABLES, s.get_curve, held(agent, get));
    s.lose_now = total_of(TABLES, s.lose_curve, held(agent, lose));
    return s;
}

// Utility of getting `got` units less that of losing `lost` (0 if it holds fewer than `lost`).
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
    s.stock_given = tradable(a, give);
    s.stock_taken = tradable(b, take);
    s.side_a = side(STATE, TABLES, society, a, take, give);
    s.side_b = side(STATE, TABLES, society, b, give, take);
    const side_t side_a = s.side_a, side_b = s.side_b;
    const real most_a = marginal_of(TABLES, side_a.get_curve, (int)side_a.get_held) /
                        marginal_of(TABLES, side_a.lose_curve, (int)side_a.lose_held - 1);
    const real least_b = marginal_of(TABLES, side_b.lose_curve, (int)side_b.lose_held - 1) /
                         marginal_of(TABLES, side_b.get_curve, (int)side_b.get_held);
    s.rate = price(most_a, least_b, trade_power_table[of_group(a)],
                   trade_power_table[of_group(b)] FAULT_OF(&python_fault()));
#if POLICIES
    s.rate = limited(STATE, society, give, take, s.rate);
#endif
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

#if !DEVICE_IS_CPU
// The same proposal by fewer instructions, and those of STEPS_AHEAD steps at once, which do not
// depend on each other. Results of steps after the last are not used.
#define STEPS_AHEAD 4
#define FEW (1 << 28)

// Whether all quantities of a ladder are FEW, and none leads beyond the tables of total utility.
INLINED int is_short(TABLE_PARAMETERS, const ladder_t s)
{
    const real most_given = (real)(max(s.first, s.stock_given) + STEPS_AHEAD);
    const real most_got =
        s.gets_taken ? max((real)s.first * s.rate, (real)s.stock_taken) + s.rate : most_given;
    return most_given < (real)FEW && most_given * s.rate < (real)FEW && s.own.lose_held < FEW &&
           (real)s.own.get_held + most_got + 2.0 <= (real)utility_length(s.own.get_curve) &&
           s.own.lose_held <= utility_length(s.own.lose_curve);
}

// Where a proposer's total utility is: of what it gets, from what it holds on, and of what it
// loses.
typedef struct {
    const __global real *get_total, *lose_total;
    int get_most, lose_held;
} totals_t;

INLINED totals_t totals_of(TABLE_PARAMETERS, const ladder_t s)
{
    totals_t at;
    at.get_total = total_table + utility_start(s.own.get_curve) + s.own.get_curve + s.own.get_held;
    at.lose_total = total_table + utility_start(s.own.lose_curve) + s.own.lose_curve;
    at.get_most = (int)(utility_length(s.own.get_curve) - s.own.get_held);
    at.lose_held = (int)s.own.lose_held;
    return at;
}

INLINED real short_surplus(const ladder_t s, const totals_t at, const int taken, const int given)
{
    const int got = min(s.gets_taken ? taken : given, at.get_most);
    const int lost = s.gets_taken ? given : taken;
    const real gain = at.get_total[got] - s.own.get_now;
    const real loss = s.own.lose_now - at.lose_total[max(at.lose_held - lost, 0)];
    return gain - (lost > at.lose_held ? 0.0 : loss);
}

// The proposal, and what the proposer gains by it; 0 if more than STEPS_ALONE steps lead on.
INLINED int short_proposal(TABLE_PARAMETERS, const ladder_t s, const real min_surplus,
                           deal_t *proposed, real *gained)
{
    const totals_t at = totals_of(TABLES, s);
    const int stock_given = (int)s.stock_given, stock_taken = (int)s.stock_taken;
    int given = (int)s.first;
    int taken = (int)((real)given * s.rate + 0.5);
    real here = short_surplus(s, at, taken, given);
    real best = here;
    int best_given = given;
    bool climbs;
    do {
        int next[STEPS_AHEAD];
        real ahead[STEPS_AHEAD];
        real units = (real)given, price_of_all = units * s.rate;
        bool as_expected = true;
#pragma unroll
        for (int i = 0; i < STEPS_AHEAD; ++i) {
            next[i] = (int)(price_of_all + s.rate + 0.5);
            units += 1.0;
            price_of_all = units * s.rate;
            // Rounding may make this another step than the one that is valued; it rarely does.
            as_expected = as_expected && (int)(price_of_all + 0.5) == next[i];
            ahead[i] = short_surplus(s, at, next[i], given + 1 + i);
        }
        climbs = true;
#pragma unroll
        for (int i = 0; i < STEPS_AHEAD; ++i) {
            const bool known = i == 0 || as_expected;
            const real was = i == 0 ? here : ahead[i == 0 ? 0 : i - 1];
            if (known)
                climbs = climbs && given + i < stock_given &&
                         (i == 0 ? taken : next[i == 0 ? 0 : i - 1]) < stock_taken &&
                         ahead[i] > min_surplus;
#if LADDERS_TOGETHER
            if (known && climbs && given + i - (int)s.first >= STEPS_ALONE) return 0;
#endif
            if (known && climbs && was > best) {
                best = was;
                best_given = given + i;
            }
        }
        given += as_expected ? STEPS_AHEAD : 1;
        taken = next[STEPS_AHEAD - 1];
        here = ahead[STEPS_AHEAD - 1];
        if (climbs && !as_expected) {
            taken = (int)((real)given * s.rate + 0.5);
            here = taken == next[0] ? ahead[0] : short_surplus(s, at, taken, given);
        }
    } while (climbs);
    proposed->taken = (int)((real)best_given * s.rate + 0.5);
    proposed->given = best_given;
    *gained = best;
    return 1;
}

// What the other one gains from it, if both have that many.
INLINED real other_surplus(TABLE_PARAMETERS, const side_t other, const int got, const int lost)
{
    const real gain = total_of(TABLES, other.get_curve, (int)other.get_held + got) - other.get_now;
    const real loss =
        other.lose_now - total_of(TABLES, other.lose_curve, (int)other.lose_held - lost);
    return gain - loss;
}
#endif

// The deal that one of the two proposes, A (0) or B (1), worked out by one work-item.
INLINED deal_t deal_proposed(TABLE_PARAMETERS, const bargain_t s, const int proposer,
                             const real min_surplus)
{
    deal_t deal = {0, 0};
    long taken, given;
    const ladder_t steps = ladder_of(s, proposer);
#if !DEVICE_IS_CPU
    if (is_short(TABLES, steps)) {
        real gained;
        const int decided = short_proposal(TABLES, steps, min_surplus, &deal, &gained);
        if (!decided) {
            deal.given = UNDECIDED;
        } else if (!(deal.taken <= s.stock_taken && deal.given <= s.stock_given &&
                     gained > min_surplus &&
                     other_surplus(TABLES, proposer == 0 ? s.side_b : s.side_a,
                                   proposer == 0 ? deal.given : deal.taken,
                                   proposer == 0 ? deal.taken : deal.given) > min_surplus)) {
            deal.taken = deal.given = 0;
        }
        return deal;
    }
#endif
    const int decided = proposal(TABLES, steps, min_surplus, STEPS_ALONE, &taken, &given);
    if (!decided) {
        deal.given = UNDECIDED;
    } else if (agreed(TABLES, s, min_surplus, taken, given)) {
        deal.taken = (int)taken;
        deal.given = (int)given;
    }
    return deal;
}

#if DEVICE_IS_CPU
// The deal of two agents, worked out by one work-item.
static deal_t bargain(MEETING_PARAMETERS, const uint give, const uint take)
{
    deal_t deal = {0, 0};
    if (tradable(a, give) == 0 || tradable(b, take) == 0) return deal;
    const bargain_t s = bargain_of(MEETING, give, take);
    for (int proposer = 0; proposer < 2 && deal.given == 0; ++proposer)
        deal = deal_proposed(TABLES, s, proposer, P(min_surplus));
    return deal;
}
#else
// What one of the two would propose: B does if A's proposal fails, but need not wait for it.
INLINED deal_t half_bargain(MEETING_PARAMETERS, const uint give, const uint take,
                            const int proposer)
{
    const deal_t none = {0, 0};
    if (tradable(a, give) == 0 || tradable(b, take) == 0) return none;
    return deal_proposed(TABLES, bargain_of(MEETING, give, take), proposer, P(min_surplus));
}
#endif

#if LADDERS_TOGETHER
// Of the bests of two lanes the better; of equal ones the earlier step.
#define TAKE_BETTER(stride) \
    if (lane < stride && lane + stride < lanes && \
        (gains[lane + stride] > gains[lane] || \
         (gains[lane + stride] == gains[lane] && steps[lane + stride] < steps[lane]))) { \
        gains[lane] = gains[lane + stride]; \
        steps[lane] = steps[lane + stride]; \
    }

// The proposal of a ladder of any length, by all work-items of a workgroup: each tries every
// lanes-th step. Steps do not depend on each other. Of those before the first that does not lead
// on, the first of the largest gain is chosen. All get the result.
COLLECTIVE void proposal_together(TABLE_PARAMETERS, const ladder_t s, const real min_surplus,
                                  long *taken, long *given)
{
    __local uint *last = local_malloc(2 * sizeof(uint));  // the last known step, alternately
    __local real *gains = local_malloc(LADDER_LANES * sizeof(real));
    __local uint *steps = local_malloc(LADDER_LANES * sizeof(uint));
    const uint lanes = min(LANES, (uint)LADDER_LANES);
    const uint lane = LANE < lanes ? LANE : NONE;
    uint step = lane, turn = 0, found = 0, end;
    const bool climbs = lane != NONE;
    real best = -(real)INFINITY;
    const bool few = lane != NONE && is_short(TABLES, s);  // results after the end are not used
    const totals_t totals = totals_of(TABLES, s);
    if (LANE == 0) last[0] = last[1] = NO_STEP;
    // No step is known to be the last, before one is; holdings are read, before they change.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    do {
        real here = 0.0;
        if (climbs) {
            const long given_here = s.first + step;
            const real at = (real)given_here * s.rate;
            const long taken_here = rounded(at);
            const long next = rounded(at + s.rate);
            real ahead;
            if (few) {
                here = short_surplus(s, totals, (int)taken_here, (int)given_here);
                ahead = short_surplus(s, totals, (int)next, (int)given_here + 1);
            } else {
                here = own_surplus(TABLES, s, taken_here, given_here);
                ahead = own_surplus(TABLES, s, next, given_here + 1);
            }
            if (given_here + 1 > s.stock_given || taken_here + 1 > s.stock_taken ||
                !(ahead > min_surplus))
                atomic_min(last + turn, step);  // the least: any order gives the same
        }
        // The last step, before any work-item continues; the next turn's step is not changed.
        barrier(CLK_LOCAL_MEM_FENCE);
        end = last[turn];
        if (climbs && (step < end || step == 0) && here > best) {
            best = here;
            found = step;
        }
        turn = 1 - turn;
        step += lanes;
    } while (end == NO_STEP);
    if (lane != NONE) {
        gains[lane] = best;
        steps[lane] = found;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the best of each, before the best of them
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
    *given = s.first + steps[0];
    *taken = rounded((real)*given * s.rate);
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read it, before its memory is used again
}
#endif

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

// What a swap changes of one of the two agents, A (0) or B (1).
INLINED void settle_side(MEETING_PARAMETERS, const uint give, const uint take, const deal_t deal,
                         const uint side)
{
    const uint own = side == 0 ? a : b;
    const uint gives = side == 0 ? give : take, gets = side == 0 ? take : give;
    const int given = side == 0 ? deal.given : deal.taken;
    const int got = side == 0 ? deal.taken : deal.given;
#if MEASURES
    account_swap(STATE, TABLES, society, own, gives, given, gets, got);
#endif
#if POLICIES
    units_given(own, gives) += given;
    units_received(own, gets) += got;
#endif
#if NETWORK
    link_swap(STATE, society, own, side == 0 ? b : a, given);
#endif
    // Holdings and counts are read before any of them is written: else a GPU would wait for one
    // read after the other. A resource may be both given and got.
    const int change = gives == gets ? got - given : got;
    const int more = held(own, gets) + change;
    const int less = gives == gets ? more : held(own, gives) - given;
    const int sold = units_sold(own) + given, made = deals(own) + 1;
    const real value_of_more = marginal_of(TABLES, utility_curve(own, gets), more);
    const real value_of_less = marginal_of(TABLES, utility_curve(own, gives), less);
    held(own, gets) = more;
    held(own, gives) = less;
    value(own, gets) = value_of_more;
    value(own, gives) = value_of_less;
    units_sold(own) = sold;
    if (side == 0) deals(a) = made;
#if GROUPS > 1
    if (group_of(a) != group_of(b)) units_sold_outside(own) += given;
#endif
}

static void settle(MEETING_PARAMETERS, const uint give, const uint take, const deal_t deal)
{
    settle_side(MEETING, give, take, deal, 0);
    settle_side(MEETING, give, take, deal, 1);
}

#endif
