// How do two agents trade devices: what is for sale, what it is worth, and what is paid.
// Twin: reference_py/economy/device_trading.py.
//
// A workgroup is a pair of agents; on a CPU one work-item does it all (group.cl). A work-item is a
// device when devices are valued, and a resource of the menu when the price is sought. Cheap tests
// that often fail come first: whether any device that the seller knows is worth anything to the
// buyer, and whether the menu is worth the seller's cost. Nothing is changed before the deal, so
// the order of the tests does not matter to the result. A meeting draws no random numbers, and no
// agent is in two meetings of a round. Local memory: the largest need of three steps. The choice
// takes 9 bytes a resource and what `know_costs` (appraisals.cl) or rows (valuation.cl) take; the
// menu 11 a resource and 12 an entry, on a CPU 8 and 8; the payment 52 an entry.
#include "economy/crew.cl"
#include "economy/menu.cl"
#include "economy/knowledge.cl"
#include "economy/network.cl"
#include "economy/open_device_market.cl"
#include "economy/own_use.cl"
#include "economy/device_matching.cl"  // which includes others only for a rule

// The two agents of a deal, and the type of the device.
#define DEAL_PARAMETERS \
    STATE_PARAMETERS, TABLE_PARAMETERS, __global used_t *uses, __global appraisal_t *appraisals, \
        __global menu_t *menus, const size_t society, const uint device_type, const uint buyer, \
        const uint seller
#define DEAL STATE, TABLES, uses, appraisals, menus, society, device_type, buyer, seller

// ---------------------------------------------------------------- what is bought

#define WORTH_SOMETHING 1u
#define COST_COUNTS 2u

// Value each device that the seller may be able to make for the buyer, before the buyer compares it
// with making the device itself; the worth of all others is 0. `wanted` marks the devices to
// compare. Returns to every work-item whether some are worth something and whether some are to be
// compared.
COLLECTIVE uint worth_of_goods(DEAL_PARAMETERS, __local real *worth, __local uchar *wanted)
{
    __local uint *found = local_malloc(sizeof(uint));
    if (LANE == 0) *found = 0;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // nothing yet, before anything is found
    const real time = gain_per_minute(buyer) * device_lifetime[device_type];
    uint news = 0;
    for (uint r = LANE; r < resources; r += LANES) {
        worth[r] = 0.0;
        wanted[r] = 0;
        // All is read before anything is decided, so that a GPU waits once.
        const real sellers = device_experience(seller, device_type, r);
        const real buyers = device_experience(buyer, device_type, r);
        const bool resold = bought(seller, r), promised = to_make(buyer, device_type, r) > 0;
        if (sellers < 1.0 || resold) continue;
        const real net = known_benefit(APPRAISAL(buyer), r) - time;
        worth[r] = net <= 0.0 ? 0.0 : net;
        wanted[r] = (worth[r] > 0.0 && buyers >= 1.0) || promised;
        news |= (worth[r] > 0.0 ? WORTH_SOMETHING : 0) | (wanted[r] ? COST_COUNTS : 0);
    }
    if (news) atomic_or(found, news);
    group_barrier(CLK_LOCAL_MEM_FENCE);  // worths of all devices, and what was found
    const uint all = *found;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all have read it, before its memory is used again
    return all;
}

// A device is worth no more to the buyer than making it itself would cost. One that the buyer has
// promised to make is worth at least that much.
COLLECTIVE void compare_with_making(DEAL_PARAMETERS, const uint found, __local real *worth,
                                    const __local uchar *wanted)
{
    if (!(found & COST_COUNTS)) return;
    know_costs(APPRAISAL(buyer), wanted);
    for (uint r = LANE; r < resources; r += LANES) {
        if (!wanted[r]) continue;
        const real own = appraisal_of(buyer)->cost[r];
        if (worth[r] > 0.0 && own < worth[r] && device_experience(buyer, device_type, r) >= 1.0)
            worth[r] = own;
        if (own > worth[r] && to_make(buyer, device_type, r) > 0) worth[r] = own;
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // worths, before they are compared
}

#if DEVICE_IS_CPU
// The device that is worth most, the lowest resource among equals; NONE if none is worth anything.
INLINED uint most_wanted(const uint count, const __local real *worth)
{
    uint pick = NONE;
    real best = 0.0;
    for (uint r = 0; r < count; ++r)
        if (worth[r] > best) {
            best = worth[r];
            pick = r;
        }
    return pick;
}
#endif

// The device that is worth most to the buyer among those that the seller can make: its resource, or
// NONE, and its worth.
COLLECTIVE uint choice(DEAL_PARAMETERS, real *best)
{
    __local real *worth = local_malloc(RESOURCES * sizeof(real));
    __local uchar *wanted = local_malloc(RESOURCES * sizeof(uchar));
    const uint found = worth_of_goods(DEAL, worth, wanted);
    if (!found) return NONE;
    compare_with_making(DEAL, found, worth, wanted);
    __local count_t *rows = local_malloc(NEED_ROWS * NEED_ROW * sizeof(count_t));
#if DEVICE_IS_CPU
    // Ask for one after the other, the best first: the rest need not be looked at.
    uint pick = most_wanted(resources, worth);
    while (pick != NONE && !known_to_make(APPRAISAL(seller), pick, rows)) {
        worth[pick] = 0.0;
        pick = most_wanted(resources, worth);
    }
#else
    if (LANE < NEED_ROWS)
        for (uint r = LANE; r < resources; r += NEED_LANES)
            if (worth[r] > 0.0 && !known_to_make(APPRAISAL(seller), r, rows + LANE * NEED_ROW))
                worth[r] = 0.0;
    // What is for sale, before the best is picked; what is known, before it is added to.
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    __local uint *scratch = local_malloc((RESOURCES + 1) / 2 * sizeof(uint));
    uint pick = extreme_max_unmasked(worth, resources, scratch);
    if (!(worth[pick] > 0.0)) pick = NONE;
#endif
    if (pick != NONE) *best = worth[pick];
    group_barrier(CLK_LOCAL_MEM_FENCE);  // the worth is read; the memory may be used
    return pick;
}

// The cost of making the device to the seller.
COLLECTIVE real sellers_cost(DEAL_PARAMETERS, const uint resource)
{
    __local uchar *wanted = local_malloc(RESOURCES * sizeof(uchar));
    for (uint r = LANE; r < resources; r += LANES) wanted[r] = r == resource;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // which cost is requested, before it is worked out
    know_costs(APPRAISAL(seller), wanted);
    return appraisal_of(seller)->cost[resource];
}

// ---------------------------------------------------------------- what is paid

// The resources that the buyer offers, ascending. Returns how many.
COLLECTIVE uint list_offers(DEAL_PARAMETERS, __local uint *offered)
{
#if DEVICE_IS_CPU
    look_at_menu(STATE, menus, society, buyer);
    const __global menu_t *cached = menus + (society * AGENTS + buyer);
    const __global ushort *least = cached->listed;
    const uint count = menu_length(cached);
#else
    __local uint *least = local_malloc(MENU_SIZE * sizeof(uint));
    choose_menu(STATE, menus, society, buyer, least);
    uint count = 0;
    while (count < menu_size && least[count] != NONE) ++count;
#endif
    for (uint i = LANE; i < count; i += LANES) {
        uint place = 0;
#if CROWDED
#pragma unroll 1
#endif
        for (uint j = 0; j < count; ++j) place += least[j] < least[i];
        offered[place] = least[i];
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // the menu in order, before it is read
    return count;
}

// The two searches for a bundle: the seller takes what is just enough for it, the buyer gives what
// is just too much for it. Arrays over both have MENU_SIZE entries for each.
#define TAKES 0u
#define GIVES 1u
#define NOT_SOUGHT (-1)

// Worth of `units` of the buyer's units to the agent that takes or gives them.
INLINED real units_value(DEAL_PARAMETERS, const uint role, const uint resource, const long units)
{
    const uint agent = role == GIVES ? buyer : seller;
    const uint curve = utility_curve(agent, resource);
    const long owned = held(agent, resource);
    const real now = total_utility(TABLES, curve, owned);
    return role == GIVES ? now - total_utility(TABLES, curve, owned - units)
                         : total_utility(TABLES, curve, owned + units) - now;
}

// The place of a unit in the order in which units are taken or given: by its key, which does not
// fall from unit to unit of one resource, and among equals by resource.
typedef struct {
    real key;
    uint resource;
} place_t;

INLINED place_t place_of(DEAL_PARAMETERS, const uint role, const uint resource, const long unit)
{
    const uint agent = role == GIVES ? buyer : seller;
    const uint curve = utility_curve(agent, resource);
    const long owned = held(agent, resource);
    const place_t place = {role == GIVES ? marginal_utility(TABLES, curve, owned - unit - 1)
                                         : -marginal_utility(TABLES, curve, owned + unit),
                           resource};
    return place;
}

static bool comes_before(const place_t a, const place_t b)
{
    return a.key < b.key || (a.key == b.key && a.resource < b.resource);
}

// How many units of a resource come before a place: at least `low`, at most `high`.
INLINED int units_before(DEAL_PARAMETERS, const uint role, const uint resource, const place_t place,
                         int low, int high)
{
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (comes_before(place_of(DEAL, role, resource, middle), place))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Worth of all units up to this one: the sum over the menu, ascending.
INLINED real value_up_to(DEAL_PARAMETERS, const uint role, const __local uint *offered,
                         const uint count, const uint last, const int unit, const __local int *low,
                         const __local int *high)
{
    const place_t place = place_of(DEAL, role, offered[last], unit);
    real total = 0.0;
    for (uint i = 0; i < count; ++i) {
        const uint r = offered[i];
        const int units =
            i == last ? unit + 1 : units_before(DEAL, role, r, place, low[i], high[i]);
        total += units_value(DEAL, role, r, units);
    }
    return total;
}

// The first unit of one resource with which the bundle is worth `enough`, between the bounds of a
// bundle that is not and one that is; the upper bound if it is none of these.
INLINED int first_enough(DEAL_PARAMETERS, const uint role, const __local uint *offered,
                         const uint count, const uint last, const real enough,
                         const __local int *low, const __local int *high)
{
    int from = low[last], to = high[last];
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (value_up_to(DEAL, role, offered, count, last, middle, low, high) >= enough)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

// The place on the menu of the resource with the most units between the bounds.
INLINED uint widest(const uint count, const __local int *low, const __local int *high)
{
    uint pick = 0;
    int most = 0;
#if CROWDED
#pragma unroll 1
#endif
    for (uint i = 0; i < count; ++i) {
        const int range = high[i] - low[i];
        pick = range > most ? i : pick;
        most = max(most, range);
    }
    return pick;
}

// Narrow the bounds of both searches, a bundle that is not worth enough and one that is, until they
// are a unit of each resource apart at most. Both searches halve their widest range at the same
// time: the bundle that ends with its middle becomes a bound for all resources. A work-item is a
// resource of one search.
COLLECTIVE void narrow(DEAL_PARAMETERS, const __local uint *offered, const uint count,
                       const real cost, const real worth, __local int *low, __local int *high)
{
    __local real *value = local_malloc(2 * MENU_SIZE * sizeof(real));
    __local int *units = local_malloc(2 * MENU_SIZE * sizeof(int));
    uint wide;
    do {
        for (uint w = LANE; w < 2 * count; w += LANES) {
            const uint role = w < count ? TAKES : GIVES, first = role * count;
            const uint last = widest(count, low + first, high + first), at = first + last;
            const int range = high[at] - low[at], middle = low[at] + (range - 1) / 2;
            units[w] = NOT_SOUGHT;
            if (range <= 1) continue;
            const uint r = offered[w - first];
            const place_t place = place_of(DEAL, role, offered[last], middle);
            units[w] = w == at ? middle + 1 : units_before(DEAL, role, r, place, low[w], high[w]);
            value[w] = units_value(DEAL, role, r, units[w]);
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // the bundle's parts, before they are added up
        for (uint w = LANE; w < 2 * count; w += LANES) {
            const uint role = w < count ? TAKES : GIVES, first = role * count;
            if (units[w] == NOT_SOUGHT) continue;
            real total = 0.0;
#if CROWDED
#pragma unroll 1
#endif
            for (uint i = 0; i < count; ++i) total += value[first + i];
            if (total >= (role == TAKES ? cost : worth))
                high[w] = units[w];
            else
                low[w] = units[w];
        }
        group_barrier(CLK_LOCAL_MEM_FENCE);  // the new bounds, before they are read
        wide = widest(2 * count, low, high);
    } while (high[wide] - low[wide] > 1);
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all have read the bounds, before the memory is used
}

// The bundles in which both searches end, `least` and `most`: for each resource of the menu, what
// the seller takes at least and the buyer gives at most. Who need not search takes nothing or gives
// all.
COLLECTIVE void bundles(DEAL_PARAMETERS, const __local uint *offered, const uint count,
                        const real cost, const real worth, const bool takes_nothing,
                        const bool gives_all, __local int *least, __local int *most)
{
    // Between close bounds every resource is searched by itself for the first unit with which the
    // bundle suffices. The shortest bundle ends with the one that comes first.
    __local int *low = local_malloc(2 * MENU_SIZE * sizeof(int));
    __local int *high = local_malloc(2 * MENU_SIZE * sizeof(int));
    __local uint *lasts = local_malloc(2 * sizeof(uint));
    __local int *units = local_malloc(2 * sizeof(int));
    for (uint w = LANE; w < 2 * count; w += LANES) {
        const bool known = w < count ? takes_nothing : gives_all;
        low[w] = 0;
        high[w] = known ? 0 : held(buyer, offered[w < count ? w : w - count]);
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // the bounds, before any searches between them
    narrow(DEAL, offered, count, cost, worth, low, high);
    for (uint w = LANE; w < 2 * count; w += LANES) {
        const uint role = w < count ? TAKES : GIVES, first = role * count;
        const int found = first_enough(DEAL, role, offered, count, w - first,
                                       role == TAKES ? cost : worth, low + first, high + first);
        if (role == TAKES)
            least[w] = found;
        else
            most[w - first] = found;
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // what every resource found, before the first is picked
    for (uint role = LANE; role < 2; role += LANES) {
        const __local int *found = role == TAKES ? least : most;
        uint last = NONE;
#if CROWDED
#pragma unroll 1
#endif
        for (uint i = 0; i < count; ++i)
            if (found[i] < high[role * count + i] &&
                (last == NONE || comes_before(place_of(DEAL, role, offered[i], found[i]),
                                              place_of(DEAL, role, offered[last], found[last]))))
                last = i;
        lasts[role] = last;
        units[role] = last == NONE ? 0 : found[last];
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // the last units, before all others are compared with them
    for (uint w = LANE; w < 2 * count; w += LANES) {
        const uint role = w < count ? TAKES : GIVES, i = w < count ? w : w - count;
        const uint last = lasts[role];
        int all;
        if (role == TAKES ? takes_nothing : gives_all) {
            all = role == TAKES ? 0 : held(buyer, offered[i]);
        } else if (i == last) {
            all = units[role] + (role == TAKES ? 1 : 0);  // given, this unit would be too much
        } else {
            const place_t place = place_of(DEAL, role, offered[last], units[role]);
            all = units_before(DEAL, role, offered[i], place, low[w], high[w]);
        }
        if (role == TAKES)
            least[i] = all;
        else
            most[i] = all;
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // both bundles, before they are read
}

// Between the least and the most, weighted by bargaining power; halves are rounded up.
INLINED long middle_of(DEAL_PARAMETERS, const long least, const long most)
{
#if UNEQUAL_DEVICE_POWERS
    const real buyers = device_trade_power_table[of_group(buyer)];
    const real sellers = device_trade_power_table[of_group(seller)];
    if (buyers != sellers)
        return (long)(((real)least * buyers + (real)most * sellers) / (buyers + sellers) + 0.5);
#endif
    return (least + most + 1) / 2;
}

#define ROUNDING_MARGIN 1e-12

// The terms of a deal.
typedef struct {
    bool agreed;
    real cost, worth, paid, received;
} terms_t;

// What a resource of the menu, or a part of it, is worth: to the buyer who gives it and the seller
// who takes it; the utility that the seller reaches, and the most that it gains for a util given.
typedef struct {
    real given, taken, reached, gained;
} worth_t;

// The units of each resource of the menu to be paid for a device of this worth to the buyer and
// this cost to the seller, and whether both gain.
COLLECTIVE void payment(DEAL_PARAMETERS, const __local uint *offered, const uint count,
                        terms_t *terms, __local int *units)
{
    real all_given = 0.0, all_taken = 0.0, reached = 0.0, most_gained = 0.0;
    __local worth_t *worths = local_malloc(MENU_SIZE * sizeof(worth_t));
    for (uint i = LANE; i < count; i += LANES) {
        const uint r = offered[i];
        const int stock_of = held(buyer, r), owned = held(seller, r);
        const uint of_buyer = utility_curve(buyer, r), of_seller = utility_curve(seller, r);
        worths[i].given = units_value(DEAL, GIVES, r, stock_of);
        worths[i].taken = units_value(DEAL, TAKES, r, stock_of);
        worths[i].reached = total_utility(TABLES, of_seller, (long)owned + stock_of);
        worths[i].gained = marginal_utility(TABLES, of_seller, owned) /
                           marginal_utility(TABLES, of_buyer, (long)stock_of - 1);
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // what each resource is worth, before all add it up
#if CROWDED
#pragma unroll 1
#endif
    for (uint i = 0; i < count; ++i) {
        all_given += worths[i].given;
        all_taken += worths[i].taken;
        reached += worths[i].reached;
        most_gained = worths[i].gained > most_gained ? worths[i].gained : most_gained;
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all have added it up, before its memory is used again
    if (count == 0 || !(terms->cost < all_taken)) return;  // no bundle is worth more
    // No unit is worth more to the seller than the first, or less to the buyer than the last one
    // that it holds. So for each util that the buyer gives up, the seller gains `most_gained` at
    // most; a margin is far above all errors of rounding. Most searches need not be made then.
    const real given = terms->worth + all_given * ROUNDING_MARGIN;
    const real bound = (given * most_gained + reached * ROUNDING_MARGIN) * (1.0 + ROUNDING_MARGIN);
    if (terms->cost >= bound) return;
    __local int *least = local_malloc(MENU_SIZE * sizeof(int));
    bundles(DEAL, offered, count, terms->cost, terms->worth, terms->cost <= 0.0,
            all_given < terms->worth, least, units);
    for (uint i = LANE; i < count; i += LANES) {
        const long middle = middle_of(DEAL, least[i], units[i]);
        units[i] = (int)min((long)held(buyer, offered[i]), middle);
        worths[i].given = units_value(DEAL, GIVES, offered[i], units[i]);
        worths[i].taken = units_value(DEAL, TAKES, offered[i], units[i]);
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // what is to be paid, before it is added up
#if CROWDED
#pragma unroll 1
#endif
    for (uint i = 0; i < count; ++i) {
        terms->paid += worths[i].given;
        terms->received += worths[i].taken;
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all have added it up, before its memory is used again
    terms->agreed = terms->paid < terms->worth && terms->cost < terms->received;
}

// ---------------------------------------------------------------- what changes hands

// Move the device: from stock or as a promise, into stock or in place of a promise. By one
// work-item.
INLINED void hand_over(DEAL_PARAMETERS, const uint resource, __local count_t *rows)
{
    const real lifetime = device_lifetime[device_type];
    if (device_minutes(seller, device_type, resource) < lifetime)
        reserve(AGENT(seller), device_type, resource, rows);
    else
        device_minutes(seller, device_type, resource) -= lifetime;
    if (to_make(buyer, device_type, resource) > 0)
        unreserve(AGENT(buyer), device_type, resource, rows);
    else
        device_minutes(buyer, device_type, resource) += lifetime;
}

// Add the surplus of a deal to what the agent gained from the other today. There is room: an agent
// meets one partner in a round, and deals are remembered for PARTNER_MEMORY days of trade.
static void remember_gain(STATE_PARAMETERS, const size_t society, const uint agent,
                          const uint device_type, const uint other, const real gained)
{
    uint i = 0;
    while (remembered_partner(agent, device_type, i) != (int)other &&
           remembered_partner(agent, device_type, i) != NO_AGENT)
        ++i;
    remembered_partner(agent, device_type, i) = other;
    partner_memory(agent, device_type, i, 0) += gained;
}

// Carry out the deal, if there is one; both remember it.
COLLECTIVE void settle_deal(DEAL_PARAMETERS, const uint resource, const terms_t terms,
                            const __local uint *offered, const uint count, const __local int *units)
{
    if (!terms.agreed) return;
    __local count_t *rows = local_malloc(NEED_ROW * sizeof(count_t));
    group_barrier(CLK_GLOBAL_MEM_FENCE);  // all have read what both hold, before it changes hands
    // The buyer takes the device apart and learns something about it and its components.
    if (LANE == 0 && device_experience(buyer, device_type, resource) < P(min_held_experience))
        device_experience(buyer, device_type, resource) = P(min_held_experience);
    group_barrier(CLK_GLOBAL_MEM_FENCE);  // its experience, before that in components
    know_components(STATE, society, buyer);
    if (LANE == 0) {
        hand_over(DEAL, resource, rows);
#if NETWORK
        int paid = 0;
        for (uint i = 0; i < count; ++i) paid += units[i];
        link_sale(STATE, society, device_type, buyer, seller, paid);
#endif
#if CROWDED
#pragma unroll 1
#endif
        for (uint i = 0; i < count; ++i) {
            held(buyer, offered[i]) -= units[i];
            held(seller, offered[i]) += units[i];
            units_paid(buyer) += units[i];
#if POLICIES
            units_given(buyer, offered[i]) += units[i];
            units_received(seller, offered[i]) += units[i];
#endif
#if GROUPS > 1
            if (group_of(buyer) != group_of(seller)) units_paid_outside(buyer) += units[i];
#endif
        }
        remember_gain(STATE, society, seller, device_type, buyer, terms.received - terms.cost);
        remember_gain(STATE, society, buyer, device_type, seller, terms.worth - terms.paid);
        remember_price(STATE, society, buyer, device_type, resource, terms.paid);
        remember_price(STATE, society, seller, device_type, resource,
                       -(terms.received - terms.cost));
        bought(buyer, resource) = 1;
        devices_sold(seller, device_type) += 1;
#if MEASURES
        income_sales(seller) += terms.received;
        spending_devices(buyer) += terms.paid;
#endif
    }
    group_barrier(CLK_GLOBAL_MEM_FENCE);  // new holdings, before their values are remembered
    for (uint r = LANE; r < resources; r += LANES) {
        value(buyer, r) = marginal_utility(TABLES, utility_curve(buyer, r), held(buyer, r));
        value(seller, r) = marginal_utility(TABLES, utility_curve(seller, r), held(seller, r));
    }
    forget_appraisal(AGENT(buyer), appraisals);
    forget_appraisal(AGENT(seller), appraisals);
    // Values, holdings and what is not known any more, before the next deal is tried.
    group_barrier(CLK_GLOBAL_MEM_FENCE);
}

// One buys one device from the other, if both gain; returns whether they do.
COLLECTIVE_WHOLE bool deal(DEAL_PARAMETERS)
{
    terms_t terms = {false, 0.0, 0.0, 0.0, 0.0};
    const uint resource = choice(DEAL, &terms.worth);
    if (resource == NONE) return false;
    __local uint *offered = local_malloc(MENU_SIZE * sizeof(uint));
    __local int *units = local_malloc(MENU_SIZE * sizeof(int));
    const uint count = list_offers(DEAL, offered);
    terms.cost = sellers_cost(DEAL, resource);
    payment(DEAL, offered, count, &terms, units);
    settle_deal(DEAL, resource, terms, offered, count, units);
    return terms.agreed;
}

// A pair trades. The first buys, then the second, and so on; who succeeds may try again. When both
// have failed in turn, nothing has changed and nothing will: the rest is left out.
COLLECTIVE void trade_devices(STATE_PARAMETERS, TABLE_PARAMETERS, __global used_t *uses,
                              __global appraisal_t *appraisals, __global menu_t *menus,
                              const size_t society, const uint device_type, const uint pair)
{
    uint buyer = device_partners(2 * pair), seller = device_partners(2 * pair + 1);
    if (!alive(buyer) || !alive(seller)) return;
    uint attempt = 0, failures = 0;
    do {
        const bool done = deal(DEAL);
        failures = done ? 0 : failures + 1;
        if (!done) {
            const uint other = buyer;
            buyer = seller;
            seller = other;
        }
        attempt += 1;
    } while (attempt < DEVICE_ATTEMPTS && failures < 2);
}

__kernel void device_trading(STATE_PARAMETERS, TABLE_PARAMETERS, __global used_t *uses,
                             __global appraisal_t *appraisals, __global menu_t *menus,
                             const uint device_type)
{
    const size_t society = get_group_id(0) / PAIRS;
    if (!market_open()) return;
    trade_devices(STATE, TABLES, uses, appraisals, menus, society, device_type,
                  get_group_id(0) % PAIRS);
}

#if DEVICE_IS_CPU
// A market: a workgroup is a pair, or does what other pairs have to do (crew.cl).
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
device_market(STATE_PARAMETERS, TABLE_PARAMETERS, __global used_t *uses,
              __global appraisal_t *appraisals, __global menu_t *menus, __global uint *crews,
              const uint device_type)
{
    const size_t society = get_group_id(0) / PAIRS;
    __global uint *crew = crews + society * CREW_WORDS;
    for (uint task; (task = next_task(crew, DEVICE_ROUND_SLOTS, 1 + PAIRS, 1)) != NONE;
         task_is_done(crew)) {
        const uint round = (task - 1) / (1 + PAIRS), place = (task - 1) % (1 + PAIRS);
        if (task == 0)
            open_market(STATE, society, device_type);
        else if (!market_open())
            continue;
        else if (place == 0)
            pair_agents(STATE RULE_ARGUMENTS, society, device_type, round);
        else
            trade_devices(STATE, TABLES, uses, appraisals, menus, society, device_type, place - 1);
    }
    leave_crew(crew, PAIRS);
}
#endif
