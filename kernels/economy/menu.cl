// What does an agent offer? The held resources that it remembers as least valuable.
// Twin: reference_py/economy/trading.py, its menu().
// Both markets choose from what is prepared here.
#ifndef ECONOMY_MENU_CL
#define ECONOMY_MENU_CL

#define SELECT_MOST RESOURCES
#include "economy/limits.cl"
#include "primitives/group.cl"
#include "primitives/select.cl"

// All that an agent's menu depends on, the remembered values, of resources that are not held
// UNHELD, and the order of the resources by them. It is cached from meeting to meeting and
// corrected after a swap, which changes two holdings: that is quicker than to choose again. On a
// CPU the first LISTED resources are listed in order; zeros, with which the memory begins, are no
// list: `length` is 0. On a GPU, up to as many resources as are ranked by counting, the ranks of
// all resources are cached, once they are KNOWN, and the menu, NOTHING where it is shorter. From
// the first round of a market to the last only swaps change what menus depend on, so those that a
// meeting leaves there are IN_FORCE: the next one need not look at the state. Many meetings in step
// (meetings.cl) know a menu by bits instead, `offered`, which are 0 if it must be chosen.
#define RANKED (!DEVICE_IS_CPU && RESOURCES <= SELECT_BY_RANK)
#define LISTED (RESOURCES < 4 * MENU_SIZE ? RESOURCES : 4 * MENU_SIZE)
typedef struct {
    real key[RESOURCES];
#if DEVICE_IS_CPU
    uint length;
    ushort listed[LISTED];
#else
    uint known;
#if RANKED
    ulong offered;
    ushort rank[RESOURCES], menu[MENU_SIZE];
#endif
#endif
} menu_t;

#define UNHELD ((real)INFINITY)
#define KNOWN 1u
#define IN_FORCE 2u
#define NOTHING 0xffffu

#if DEVICE_IS_CPU || RANKED
static real key_of(STATE_PARAMETERS, const size_t society, const uint agent, const uint resource)
{
    return tradable(agent, resource) == 0 ? UNHELD : value(agent, resource);
}

static bool ranks_before(const real key, const uint resource, const real other_key,
                         const uint other)
{
    return key < other_key || (key == other_key && resource < other);
}
#endif

#if DEVICE_IS_CPU
// List the LISTED first resources by their keys.
static void list_all(__global menu_t *cached)
{
    uint length = 0;
    for (uint r = 0; r < RESOURCES; ++r) {
        const real own = cached->key[r];  // behind its equals, which have lower numbers
        if (length == LISTED && !(own < cached->key[cached->listed[LISTED - 1]])) continue;
        uint place = length < LISTED ? length++ : LISTED - 1;
        for (; place > 0 && own < cached->key[cached->listed[place - 1]]; --place)
            cached->listed[place] = cached->listed[place - 1];
        cached->listed[place] = r;
    }
    cached->length = length;
}

// Take over a resource's new key, and move the resource to its place in the list. The list stays
// the first resources in order, but may become shorter: all that is
// known of other resources is that they come after the listed ones. It is made again when it is
// shorter than a menu.
static void list_again(__global menu_t *cached, const uint resource, const real key)
{
    const bool later = key > cached->key[resource];
    cached->key[resource] = key;
    uint place = 0;
    while (place < cached->length && cached->listed[place] != resource) ++place;
    if (place == cached->length) {  // only where not all are listed
        const uint last = cached->listed[place - 1];
        if (!ranks_before(key, resource, cached->key[last], last)) return;
        if (place < LISTED)
            ++cached->length;
        else
            --place;
    }
    for (; later && place + 1 < cached->length; ++place) {
        const uint next = cached->listed[place + 1];
        if (ranks_before(key, resource, cached->key[next], next)) break;
        cached->listed[place] = next;
    }
    for (; !later && place > 0; --place) {
        const uint next = cached->listed[place - 1];
        if (ranks_before(cached->key[next], next, key, resource)) break;
        cached->listed[place] = next;
    }
    cached->listed[place] = resource;
    // One that is not listed may come before what is now the last.
    if (LISTED < RESOURCES && later && place + 1 == cached->length) --cached->length;
    if (cached->length < MENU_SIZE) list_all(cached);
}

// Take over what has changed of an agent's keys since its list was made. Local memory: 8 bytes a
// resource.
INLINED void look_at_menu(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                          const uint agent)
{
    __global menu_t *cached = menus + (society * AGENTS + agent);
    __local real *key = local_malloc(RESOURCES * sizeof(real));
    ulong different = cached->length == 0;
    for (uint r = 0; r < RESOURCES; ++r) {
        key[r] = key_of(STATE, society, agent, r);
        different |= as_ulong(key[r]) ^ as_ulong(cached->key[r]);
    }
    if (different) {
        uint changed = 0;
        for (uint r = 0; r < RESOURCES; ++r) changed += key[r] != cached->key[r];
        const bool all = cached->length == 0 || changed > LISTED / 4;
        for (uint r = 0; r < RESOURCES; ++r) {
            if (all)
                cached->key[r] = key[r];
            else if (key[r] != cached->key[r])
                list_again(cached, r, key[r]);
        }
        if (all) list_all(cached);
    }
}

// The same after a swap, which changed two holdings.
INLINED void look_again(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                        const uint agent, const uint first, const uint second)
{
    __global menu_t *cached = menus + (society * AGENTS + agent);
    list_again(cached, first, key_of(STATE, society, agent, first));
    list_again(cached, second, key_of(STATE, society, agent, second));
}

// How many of the listed resources the agent offers, from the first one on.
static uint menu_length(const __global menu_t *cached)
{
    uint length = 0;
    while (length < MENU_SIZE && cached->key[cached->listed[length]] < UNHELD) ++length;
    return length;
}
#elif RANKED
// The ranks of an agent's resources, by their keys and, among equals, by number; in local memory.
// `lane`: that of a work-item, NONE if the workgroup rests.
#define RANKS_PARAMETERS const uint lane, __local real *key, __local ushort *rank

// Take over the cached ranks, or rank again if a key has changed.
COLLECTIVE void load_ranks(STATE_PARAMETERS, __global const menu_t *menus, const size_t society,
                           const uint agent, RANKS_PARAMETERS)
{
    __global const menu_t *cached = menus + (society * AGENTS + agent);
    __local uint *changed = local_malloc(sizeof(uint));
    if (lane == 0) *changed = !cached->known;
    barrier(CLK_LOCAL_MEM_FENCE);  // whether ranks are cached, before a change is found
    for (uint r = lane; r < resources; r += LANES) {
        key[r] = key_of(STATE, society, agent, r);
        rank[r] = cached->rank[r];
        if (as_ulong(key[r]) != as_ulong(cached->key[r])) atomic_or(changed, 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all keys, before they are counted
    const uint unranked = lane != NONE && *changed ? resources : 0;
    for (uint r = lane; r < unranked; r += LANES) {
        const real own = key[r];
        uint before = 0;
#if CROWDED
#pragma unroll 1
#endif
        for (uint i = 0; i < RESOURCES; ++i) before += ranks_before(key[i], i, own, r);
        rank[r] = before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all ranks; `changed` is read
}

// Take over the cached ranks, which are in force.
INLINED void copy_ranks(STATE_PARAMETERS, __global const menu_t *cached, RANKS_PARAMETERS)
{
    for (uint r = lane; r < resources; r += LANES) {
        key[r] = cached->key[r];
        rank[r] = cached->rank[r];
    }
}

INLINED void keep_ranks(STATE_PARAMETERS, __global menu_t *cached, const uint known,
                        RANKS_PARAMETERS)
{
    for (uint r = lane; r < resources; r += LANES) {
        cached->key[r] = key[r];
        cached->rank[r] = rank[r];
        if (rank[r] < menu_size) cached->menu[rank[r]] = key[r] < UNHELD ? r : NOTHING;
    }
    if (lane == 0) cached->known = known;
}

// Two resources of an agent, of which the second may be the first, or both NONE: their old and new
// keys.
typedef struct {
    uint first, second;
    real first_was, second_was, first_is, second_is;
} swapped_t;

INLINED swapped_t swapped_of(STATE_PARAMETERS, const size_t society, const uint agent,
                             const uint first, const uint second, const __local real *key)
{
    swapped_t s = {first, second, UNHELD, UNHELD, UNHELD, UNHELD};
    if (first == NONE) return s;
    s.first_was = key[first];
    s.first_is = key_of(STATE, society, agent, first);
    if (second == first) return s;
    s.second_was = key[second];
    s.second_is = key_of(STATE, society, agent, second);
    return s;
}

// Correct the rank of another resource, and count it if it comes before one of the two.
INLINED void correct_rank(const swapped_t s, const uint r, __local const real *key,
                          __local ushort *rank, __local uint *before)
{
    const real own = key[r];
    uint now = rank[r] + ranks_before(s.first_is, s.first, own, r);
    now -= ranks_before(s.first_was, s.first, own, r);
    if (ranks_before(own, r, s.first_is, s.first)) atomic_inc(before);
    if (s.second != s.first) {
        now += ranks_before(s.second_is, s.second, own, r);
        now -= ranks_before(s.second_was, s.second, own, r);
        if (ranks_before(own, r, s.second_is, s.second)) atomic_inc(before + 1);
    }
    rank[r] = now;
}

// Insert the two among the others, given how many of these come before each.
INLINED void rank_swapped(const swapped_t s, __local real *key, __local ushort *rank,
                          const __local uint *before)
{
    const bool both = s.second != s.first;
    const bool later = both && ranks_before(s.second_is, s.second, s.first_is, s.first);
    rank[s.first] = before[0] + later;
    key[s.first] = s.first_is;
    if (both) {
        rank[s.second] = before[1] + !later;
        key[s.second] = s.second_is;
    }
}

// Correct the ranks of two agents after two holdings of each have changed, or one, if both are the
// same; none, if the first is NONE.
COLLECTIVE void rank_again(STATE_PARAMETERS, const size_t society, const uint a, const uint b,
                           const uint first, const uint second, const uint lane,
                           __local real *key_a, __local ushort *rank_a, __local real *key_b,
                           __local ushort *rank_b)
{
    __local uint *before = local_malloc(4 * sizeof(uint));
    const swapped_t of_a = swapped_of(STATE, society, a, first, second, key_a);
    const swapped_t of_b = swapped_of(STATE, society, b, first, second, key_b);
    if (lane == 0) before[0] = before[1] = before[2] = before[3] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zeros, before they are counted up; keys are read
    const uint others = first == NONE ? 0 : resources;
    for (uint r = lane; r < others; r += LANES) {
        if (r == first || r == second) continue;
        correct_rank(of_a, r, key_a, rank_a, before);
        correct_rank(of_b, r, key_b, rank_b, before + 2);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all others, before the two are placed among them
    if (lane == 0 && first != NONE) {
        rank_swapped(of_a, key_a, rank_a, before);
        rank_swapped(of_b, key_b, rank_b, before + 2);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all ranks, before they are read
}

#define is_on_menu(key, rank, resource) ((rank)[resource] < menu_size && (key)[resource] < UNHELD)

// Choose the menu of an agent, by all work-items. Local memory: 10 bytes a resource and 4.
COLLECTIVE void choose_menu(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                            const uint agent, __local uint *menu)
{
    __local real *key = local_malloc(RESOURCES * sizeof(real));
    __local ushort *rank = local_malloc(RESOURCES * sizeof(ushort));
    for (uint i = LANE; i < menu_size; i += LANES) {
        menu[i] = NONE;
    }
    load_ranks(STATE, menus, society, agent, LANE, key, rank);
    for (uint r = LANE; r < resources; r += LANES) {
        if (is_on_menu(key, rank, r)) menu[rank[r]] = r;
    }
    keep_ranks(STATE, menus + (society * AGENTS + agent), KNOWN, LANE, key, rank);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the menu, before it is read
}
#else
// Choose the menu of an agent, by all work-items. Local memory: 11 bytes a resource.
COLLECTIVE void choose_menu(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                            const uint agent, __local uint *menu)
{
    __local real *key = local_malloc(RESOURCES * sizeof(real));
    __local uchar *mask = local_malloc(RESOURCES * sizeof(uchar));
    __local uint *scratch = local_malloc((RESOURCES + 1) / 2 * sizeof(uint));
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        key[r] = value(agent, r);
        mask[r] = tradable(agent, r) == 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the agent's values, before they are ranked
    n_smallest(key, mask, resources, menu_size, menu, scratch);
}
#endif

#endif
