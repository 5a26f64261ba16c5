// meetings.cl: many meetings of the resource market, MEETINGS_IN_STEP in a workgroup of a GPU.
// Twin: reference_py/economy/trading.py.
//
// Where there are many pairs, the work-items of one pair mostly wait for each other (trading.cl).
// Here MEETING_LANES work-items go through the whole meeting of a pair, in step with the others of
// the workgroup: all rank, all try their next swap. The first two have a side of it each: A's and
// B's menu and scores. All share out the proposals: A's and B's for the next swap of each meeting
// and, if few meetings try one, for later swaps of theirs. Long ladders of offers, which would hold
// up all for the sake of one, are walked one after the other by all work-items. Scores are in
// private memory. Local memory of each pair: some 56 bytes, 8 a work-item, 2 an attempt, and 4 for
// each resource that one of the two may sell; it is little, since it is taken from the cache that
// holds private memory and the agents' rows.
#ifndef ECONOMY_MEETINGS_CL
#define ECONOMY_MEETINGS_CL

#include "economy/bargaining.cl"
#include "economy/bits.cl"
#include "economy/menu.cl"

// Keys are compared in groups, and the least of each group is remembered.
#define KEY_GROUP 8
#define KEY_GROUPS ((RESOURCES + KEY_GROUP - 1) / KEY_GROUP)

// Most resources that one of a pair may sell, see candidates() in societies/economy/memory.py.
#define MOST_SOLD (RESOURCES < MENU_SIZE + ATTEMPTS ? RESOURCES : MENU_SIZE + ATTEMPTS)

// Swaps that can be worked out at once, by two work-items each.
#define SWAPS_AT_ONCE (MEETINGS_IN_STEP * MEETING_LANES / 2)

// The work-items that say yes, in any order, in `list`. Returns how many, to all, and to those that
// say yes their place in it.
COLLECTIVE uint list_of_those(__local uint *list, const bool yes, uint *place)
{
    __local uint *count = list + MEETINGS_IN_STEP;
    barrier(CLK_LOCAL_MEM_FENCE);  // the list before is read
    if (LANE == 0) *count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // none, before they are counted
    if (yes) {
        *place = atomic_inc(count);
        list[*place] = LANE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all are listed, before they are read
    return *count;
}

// The keys of a group of resources. Each work-item reads rows of another agent, so a read of a warp
// is one of many places; where groups are whole, 16 bytes are read at a time.
INLINED void read_keys(STATE_PARAMETERS, const size_t society, const uint agent, const uint first,
                       real *key)
{
#if RESOURCES % KEY_GROUP == 0 && !POLICIES
    const __global int4 *units = (const __global int4 *)&held(agent, first);
    const __global double2 *values = (const __global double2 *)&value(agent, first);
    const int4 low = units[0], high = units[1];
    const double2 v0 = values[0], v1 = values[1], v2 = values[2], v3 = values[3];
    key[0] = low.x == 0 ? UNHELD : v0.x;
    key[1] = low.y == 0 ? UNHELD : v0.y;
    key[2] = low.z == 0 ? UNHELD : v1.x;
    key[3] = low.w == 0 ? UNHELD : v1.y;
    key[4] = high.x == 0 ? UNHELD : v2.x;
    key[5] = high.y == 0 ? UNHELD : v2.y;
    key[6] = high.z == 0 ? UNHELD : v3.x;
    key[7] = high.w == 0 ? UNHELD : v3.y;
#else
#pragma unroll
    for (uint i = 0; i < KEY_GROUP; ++i)
        key[i] = key_of(STATE, society, agent, min(first + i, (uint)RESOURCES - 1));
#endif
}

// The least key of those resources of a group that are not on a menu yet, and its resource, the
// first of equal ones. All keys are read before they are compared.
INLINED real least_of_group(STATE_PARAMETERS, const size_t society, const uint agent,
                            const uint group, const ulong menu, uint *resource)
{
    const uint first = group * KEY_GROUP, listed = (uint)(menu >> first);
    real key[KEY_GROUP];
    uint which[KEY_GROUP];
    read_keys(STATE, society, agent, first, key);
#pragma unroll
    for (uint i = 0; i < KEY_GROUP; ++i) {
        which[i] = min(first + i, (uint)RESOURCES - 1);
        const bool left =
            (RESOURCES % KEY_GROUP == 0 || first + i < RESOURCES) && !(listed >> i & 1);
        key[i] = left ? key[i] : UNHELD;
    }
#pragma unroll
    for (uint stride = 1; stride < KEY_GROUP; stride *= 2)
#pragma unroll
        for (uint i = 0; i < KEY_GROUP; i += 2 * stride) {
            const bool less = key[i + stride] < key[i];
            key[i] = less ? key[i + stride] : key[i];
            which[i] = less ? which[i + stride] : which[i];
        }
    *resource = which[0];
    return key[0];
}

// The resources of an agent's menu, as bits.
static ulong menu_bits(STATE_PARAMETERS, const size_t society, const uint agent)
{
    real least[KEY_GROUPS];
    uint resource[KEY_GROUPS];
#pragma unroll
    for (uint g = 0; g < KEY_GROUPS; ++g)
        least[g] = least_of_group(STATE, society, agent, g, 0, resource + g);
    ulong menu = 0;
#pragma unroll 1
    for (uint i = 0; i < MENU_SIZE; ++i) {
        real best = UNHELD;
        uint chosen = 0;
#pragma unroll
        for (uint g = 0; g < KEY_GROUPS; ++g) {
            const bool less = least[g] < best;
            best = less ? least[g] : best;
            chosen = less ? resource[g] : chosen;
        }
        if (!(best < UNHELD)) break;
        menu |= 1UL << chosen;
        if (i + 1 == MENU_SIZE) break;
        const uint group = chosen / KEY_GROUP;
        const real next = least_of_group(STATE, society, agent, group, menu, &chosen);
#pragma unroll
        for (uint g = 0; g < KEY_GROUPS; ++g) {
            least[g] = g == group ? next : least[g];
            resource[g] = g == group ? chosen : resource[g];
        }
    }
    return menu;
}

// List resources, ascending. Returns how many.
INLINED uint list_bits(const ulong bits, __local ushort *listed)
{
    uint count = 0;
#pragma unroll 1
    for (ulong left = bits; left != 0; left &= left - 1) listed[count++] = lowest_bit(left);
    return count;
}

// What is shared of a meeting: menus as bits; who meets; resources for sale, ascending; the queue
// of swaps to try, of each A's resource and 256 times B's; the candidate that was queued last; how
// many are queued, attempts that were made, whether the last one was a swap, and its units.
typedef struct {
    ulong on_menu[2];
    uint society, a, b;
    ushort sold_by_a[MOST_SOLD], sold_by_b[MOST_SOLD], queue[ATTEMPTS];
    uint picked, queued, attempt, changed;
    deal_t deal;
} meeting_t;

// Score all candidates for the agent of a work-item, A's (0) or B's (1).
INLINED void score_candidates(MEETING_PARAMETERS, const uint side, const __local meeting_t *now,
                              const uint count_a, const uint count_b, real *scores)
{
    const uint own = side == 0 ? a : b, gives = side == 0 ? count_a : count_b;
    const uint takes = side == 0 ? count_b : count_a;
    const __local ushort *given = side == 0 ? now->sold_by_a : now->sold_by_b;
    const __local ushort *taken = side == 0 ? now->sold_by_b : now->sold_by_a;
    real remembered[MOST_SOLD], last[MOST_SOLD];
#pragma unroll 4
    for (uint i = 0; i < takes; ++i) remembered[i] = value(own, taken[i]);
#pragma unroll 4
    for (uint i = 0; i < gives; ++i) last[i] = last_marginal(STATE, TABLES, society, own, given[i]);
    uint i_a = 0, i_b = 0;
#pragma unroll 2
    for (uint c = 0; c < count_a * count_b; ++c) {
        const uint i_given = side == 0 ? i_a : i_b, i_taken = side == 0 ? i_b : i_a;
        scores[c] = score_of(remembered[i_taken], last[i_given], held(own, taken[i_taken]),
                             held(own, given[i_given]) FAULT_OF(&python_fault()));
        i_a += i_b + 1 == count_b;
        i_b = i_b + 1 == count_b ? 0 : i_b + 1;
    }
}

// The candidate with the highest score; see `chosen_before` for ties.
INLINED uint best_scored(const real *scores, const uint candidates, const candidates_t of)
{
    uint best = 0;
    real most = scores[0];
#pragma unroll 4
    for (uint c = 1; c < candidates; ++c) {
        const real own = scores[c];
        const bool better = own > most || (own == most && chosen_before(of, c, best));
        most = better ? own : most;
        best = better ? c : best;
    }
    return best;
}

// What one side proposes for a swap that is queued.
INLINED deal_t proposed(STATE_PARAMETERS, TABLE_PARAMETERS, const __local meeting_t *now,
                        const uint attempt, const uint proposer)
{
    const size_t society = now->society;
    const uint a = now->a, b = now->b, both = now->queue[attempt];
    return half_bargain(MEETING, both % 256, both / 256, proposer);
}

// Go through the bargains that were worked out `ahead`, A's and B's proposal for each attempt from
// `first` to before `end`, up to the first that both agree to or that is not decided: then 1 if A
// proposes, 2 if B does, is returned. By one work-item.
INLINED uint go_on(__local meeting_t *now, const __local deal_t *ahead, const uint first,
                   const uint end)
{
    while (now->attempt < end && !now->changed) {
        const uint i = 2 * (now->attempt - first);
        const uint proposer = ahead[i].given == 0;
        now->deal = ahead[i + proposer];
        if (now->deal.given == UNDECIDED) return 1 + proposer;
        now->changed = now->deal.given > 0;
        ++now->attempt;
    }
    return 0;
}

#if LADDERS_TOGETHER
// Let all work-items walk the ladder of one of the bargains that are not decided, and continue
// its meeting. Returns how many there were.
COLLECTIVE uint walk_one(MEETING_PARAMETERS, __local meeting_t *now, __local deal_t *ahead,
                         const uint first, const uint end, __local uint *list, uint *undecided)
{
    __local ladder_t *ladder = local_malloc(sizeof(ladder_t));
    uint place;
    const uint count = list_of_those(list, *undecided > 0, &place);
    if (count == 0) return 0;
    const bool own = LANE == list[0];
    bargain_t terms = {{0, 0, 0, 0, 0.0, 0.0}, {0, 0, 0, 0, 0.0, 0.0}, 1.0, 0, 0};
    if (own) {
        const uint both = now->queue[now->attempt];
        terms = bargain_of(MEETING, both % 256, both / 256);
        *ladder = ladder_of(terms, *undecided - 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the ladder, before all walk it
    long taken, given;
    proposal_together(TABLES, *ladder, P(min_surplus), &taken, &given);
    if (own) {
        const bool both_gain = agreed(TABLES, terms, P(min_surplus), taken, given);
        const deal_t deal = {both_gain ? (int)taken : 0, both_gain ? (int)given : 0};
        ahead[2 * (now->attempt - first) + *undecided - 1] = deal;
        *undecided = go_on(now, ahead, first, end);
    }
    return count;
}
#endif

// The meetings of a workgroup. MEETING_LANES work-items have a pair; `meets` is false if there is
// none for them, or one of the two does not live.
COLLECTIVE void meet_in_step(MEETING_PARAMETERS, const uint market_round, const bool meets,
                             __global menu_t *menus)
{
    __local uint *list = local_malloc((MEETINGS_IN_STEP + 1) * sizeof(uint));
    __local meeting_t *meetings = local_malloc(MEETINGS_IN_STEP * sizeof(meeting_t));
    __local deal_t *proposals = local_malloc(2 * SWAPS_AT_ONCE * sizeof(deal_t));
    __local meeting_t *now = meetings + LANE / MEETING_LANES;
    const uint lane = meets ? LANE % MEETING_LANES : NONE;
    __global menu_t *menu = menus + (society * AGENTS + (lane == 0 ? a : b));
    ulong sold_a = 0, sold_b = 0;
    uint queued = 0, attempt = 0, meeting, tries, place = 0;
    bool going = meets, stale = false;
    real scores[CANDIDATES];
    if (lane == 0) {
        now->society = (uint)society;
        now->a = a;
        now->b = b;
    }
    if (lane < 2) {
        now->on_menu[lane] = market_round == 0 ? 0 : menu->offered;
        stale = now->on_menu[lane] == 0;
    }
    do {
        if (lane < 2 && going && stale) {
            menu->offered = now->on_menu[lane] = menu_bits(STATE, society, lane == 0 ? a : b);
            stale = false;
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // both menus, before they are compared
        // A resource is for sale if one of the two offers it and the other does not.
        uint count_a = 0, count_b = 0;
        if (going) {
            sold_a |= now->on_menu[0] & ~now->on_menu[1];
            sold_b |= now->on_menu[1] & ~now->on_menu[0];
            count_a = popcount(sold_a);
            count_b = popcount(sold_b);
            if (lane == 0) list_bits(sold_a, now->sold_by_a);
            if (lane == 1) list_bits(sold_b, now->sold_by_b);
        }
        const candidates_t of = {now->sold_by_a, now->sold_by_b, count_b,
                                 lane == 1 FAULT_OF(&python_fault())};
        const uint candidates = count_a * count_b;  // without any, nothing is queued or tried
        barrier(CLK_LOCAL_MEM_FENCE);  // the lists, before candidates are scored
        if (lane < 2) score_candidates(MEETING, lane, now, count_a, count_b, scores);
        // Queue the favourites of A and B alternately. No more than ATTEMPTS are ever tried.
        uint i = 0;
        do {
            const bool more = i < candidates && queued < ATTEMPTS;
            if (more && lane == (i + attempt) % 2) {
                const uint best = best_scored(scores, candidates, of);
                now->picked = best;
                now->queue[queued] = now->sold_by_a[best / count_b] | now->sold_by_b[best % count_b]
                                                                          << 8;
            }
            barrier(CLK_LOCAL_MEM_FENCE);  // the favourite, before it is left out
            if (more && lane < 2) scores[now->picked] = QUEUED;
            queued += more;
            barrier(CLK_LOCAL_MEM_FENCE);  // both know it, before there is another
        } while (++i < ATTEMPTS);
        // Try the queued swaps in turn; `attempt` counts them. After a success the ranking is made
        // again, unless the queue holds as many swaps as may be tried.
        bool trying = going && attempt < queued;
        going = false;
        if (trying && lane == 0) {
            now->queued = queued;
            now->attempt = attempt;
        }
        tries = list_of_those(list, lane == 0 && trying, &place);
        do {
            uint doubled = 0;  // of each meeting that tries, 1 << doubled swaps are worked out
            while (tries > 0 && tries << (doubled + 1) <= SWAPS_AT_ONCE) ++doubled;
            const uint which = LANE / 2 >> doubled, later = LANE / 2 & ((1u << doubled) - 1);
            if (which < tries) {
                const __local meeting_t *of = meetings + list[which] / MEETING_LANES;
                const uint swap = of->attempt + later;
                if (swap < of->queued)
                    proposals[LANE] = proposed(STATE, TABLES, of, swap, LANE % 2);
            }
            // all bargains, before one is done
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            __local deal_t *ahead = proposals + (2 * place << doubled);
            const uint end = min(queued, attempt + (1u << doubled));
            uint undecided = 0;
            if (lane == 0 && trying) {
                now->changed = 0;
                undecided = go_on(now, ahead, attempt, end);
            }
#if LADDERS_TOGETHER
            uint walks;
            do {
                walks = walk_one(MEETING, now, ahead, attempt, end, list, &undecided);
            } while (walks > 0);
#endif
            barrier(CLK_LOCAL_MEM_FENCE);  // how far each meeting is, before A and B swap
            if (trying && lane < 2 && now->changed) {
                const uint both = now->queue[now->attempt - 1];
                settle_side(MEETING, both % 256, both / 256, now->deal, lane);
            }
            // new holdings, for new bargains or menus
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (trying) {
                attempt = now->attempt;
                stale = stale || now->changed;
                going = now->changed && queued < ATTEMPTS;
                trying = attempt < queued && !going;
            }
            tries = list_of_those(list, lane == 0 && trying, &place);
        } while (tries > 0);
        meeting = list_of_those(list, lane == 0 && going, &place);
    } while (meeting > 0);
    // Menus last until a swap: the next meeting takes those that this one leaves.
    if (lane < 2 && stale) menu->offered = 0;
}

// A workgroup takes MEETINGS_IN_STEP pairs.
__kernel __attribute__((reqd_work_group_size(MEETINGS_IN_STEP * MEETING_LANES, 1, 1))) void
meetings(STATE_PARAMETERS, TABLE_PARAMETERS, __global menu_t *menus, const uint market_round,
         const uint all_pairs)
{
    const uint own = (uint)get_group_id(0) * MEETINGS_IN_STEP + LANE / MEETING_LANES;
    const bool paired = own < all_pairs;
    const uint place = paired ? own : 0;
    const size_t society = place / PAIRS;
    const uint pair = place % PAIRS;
    const uint a = partners(market_round, 2 * pair), b = partners(market_round, 2 * pair + 1);
    const bool meets = paired && alive(a) && alive(b);
    meet_in_step(MEETING, market_round, meets, menus);
    if (market_round == 0 && paired && LANE % MEETING_LANES == 0)
        forget_menus(STATE, menus, society, pair, meets);
}
#endif
