// What does an agent offer? The held resources that it remembers as least valuable.
// Twin: reference_py/economy/trading.py, its menu().
// Both markets choose from what is prepared here.
#ifndef ECONOMY_MENU_CL
#define ECONOMY_MENU_CL

#define SELECT_MOST RESOURCES
#include "primitives/select.cl"

// An agent's menu, the least valuable first, NONE after the last, and all that it depends on: the
// remembered values, of resources that are not held UNHELD. It is kept from meeting to meeting,
// since most meetings change nothing that the agent holds: to compare is quicker than to choose.
// Zeros, with which the memory begins, are no menu: `known` is 0. On a GPU, up to as many resources
// as are ranked by counting, the ranks of all resources are kept: after a swap, which changes two
// holdings, they are corrected.
#define RANKED (!DEVICE_IS_CPU && RESOURCES <= SELECT_BY_RANK)
typedef struct {
    real key[RESOURCES];
    uint known;
#if RANKED
    ushort rank[RESOURCES];
#else
    uint menu[MENU_SIZE];
#endif
} menu_t;

#define UNHELD ((real)INFINITY)

#if DEVICE_IS_CPU
// The menu of an agent, by one work-item alone. Local memory: 9 bytes a resource, 4 an entry.
INLINED __global const uint *menu_of(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                                     const uint agent)
{
    __global menu_t *kept = menus + (society * AGENTS + agent);
    __local real *key = local_malloc(RESOURCES * sizeof(real));
    ulong different = !kept->known;
    for (uint r = 0; r < RESOURCES; ++r) {
        key[r] = held(agent, r) == 0 ? UNHELD : value(agent, r);
        different |= as_ulong(key[r]) ^ as_ulong(kept->key[r]);
    }
    if (different) {
        __local uchar *mask = local_malloc(RESOURCES * sizeof(uchar));
        __local uint *menu = local_malloc(MENU_SIZE * sizeof(uint));
        for (uint r = 0; r < RESOURCES; ++r) {
            kept->key[r] = key[r];
            mask[r] = key[r] == UNHELD;
        }
        n_smallest_alone(key, mask, resources, menu_size, menu);
        for (uint i = 0; i < MENU_SIZE; ++i) kept->menu[i] = menu[i];
        kept->known = 1;
        local_free(MENU_SIZE * sizeof(uint));
        local_free(RESOURCES * sizeof(uchar));
    }
    local_free(RESOURCES * sizeof(real));
    return kept->menu;
}
#elif RANKED
// The ranks of an agent's resources, by their keys and, among equals, by number; in local memory.
#define RANKS_PARAMETERS __local real *key, __local ushort *rank

INLINED real key_of(STATE_PARAMETERS, const size_t society, const uint agent, const uint resource)
{
    return held(agent, resource) == 0 ? UNHELD : value(agent, resource);
}

INLINED bool ranks_before(const real key, const uint resource, const real other_key,
                          const uint other)
{
    return key < other_key || (key == other_key && resource < other);
}

// Take over the kept ranks, or rank anew if a key has changed.
COLLECTIVE void load_ranks(STATE_PARAMETERS, __global const menu_t *menus, const size_t society,
                           const uint agent, RANKS_PARAMETERS)
{
    __global const menu_t *kept = menus + (society * AGENTS + agent);
    __local uint *changed = local_malloc(sizeof(uint));
    if (get_local_id(0) == 0) *changed = !kept->known;
    barrier(CLK_LOCAL_MEM_FENCE);  // what is kept at all, before a change is found
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        key[r] = key_of(STATE, society, agent, r);
        rank[r] = kept->rank[r];
        if (as_ulong(key[r]) != as_ulong(kept->key[r])) atomic_or(changed, 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all keys, before they are counted
    const bool anew = *changed;
    for (uint r = get_local_id(0); anew && r < resources; r += get_local_size(0)) {
        const real own = key[r];
        uint before = 0;
        for (uint i = 0; i < RESOURCES; ++i) before += ranks_before(key[i], i, own, r);
        rank[r] = before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all ranks; `changed` is read
    local_free(sizeof(uint));
}

INLINED void keep_ranks(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                        const uint agent, RANKS_PARAMETERS)
{
    __global menu_t *kept = menus + (society * AGENTS + agent);
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0)) {
        kept->key[r] = key[r];
        kept->rank[r] = rank[r];
    }
    if (get_local_id(0) == 0) kept->known = 1;
}

// Correct the ranks after two holdings of the agent have changed, or one, if both are the same;
// none, if the first is NONE.
COLLECTIVE void rank_again(STATE_PARAMETERS, const size_t society, const uint agent,
                           const uint first, const uint second, RANKS_PARAMETERS)
{
    __local uint *before = local_malloc(2 * sizeof(uint));
    const bool any = first != NONE, both = any && second != first;
    const real first_was = any ? key[first] : UNHELD, second_was = both ? key[second] : UNHELD;
    const real first_is = any ? key_of(STATE, society, agent, first) : UNHELD;
    const real second_is = both ? key_of(STATE, society, agent, second) : UNHELD;
    if (get_local_id(0) == 0) before[0] = before[1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zeros, before they are counted up; keys are read
    for (uint r = get_local_id(0); any && r < resources; r += get_local_size(0)) {
        if (r == first || r == second) continue;
        const real own = key[r];
        uint now = rank[r] + ranks_before(first_is, first, own, r);
        now -= ranks_before(first_was, first, own, r);
        if (ranks_before(own, r, first_is, first)) atomic_inc(before);
        if (both) {
            now += ranks_before(second_is, second, own, r);
            now -= ranks_before(second_was, second, own, r);
            if (ranks_before(own, r, second_is, second)) atomic_inc(before + 1);
        }
        rank[r] = now;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all others, before the two are placed among them
    if (get_local_id(0) == 0 && any) {
        const bool later = both && ranks_before(second_is, second, first_is, first);
        rank[first] = before[0] + later;
        key[first] = first_is;
        if (both) {
            rank[second] = before[1] + !later;
            key[second] = second_is;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // all ranks, before they are read
    local_free(2 * sizeof(uint));
}

#define is_on_menu(key, rank, resource) ((rank)[resource] < menu_size && (key)[resource] < UNHELD)

// Choose the menu of an agent, by all work-items. Local memory: 10 bytes a resource and 4.
COLLECTIVE void choose_menu(STATE_PARAMETERS, __global menu_t *menus, const size_t society,
                            const uint agent, __local uint *menu)
{
    __local real *key = local_malloc(RESOURCES * sizeof(real));
    __local ushort *rank = local_malloc(RESOURCES * sizeof(ushort));
    for (uint i = get_local_id(0); i < menu_size; i += get_local_size(0)) menu[i] = NONE;
    load_ranks(STATE, menus, society, agent, key, rank);
    for (uint r = get_local_id(0); r < resources; r += get_local_size(0))
        if (is_on_menu(key, rank, r)) menu[rank[r]] = r;
    keep_ranks(STATE, menus, society, agent, key, rank);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the menu, before it is read
    local_free(RESOURCES * sizeof(ushort));
    local_free(RESOURCES * sizeof(real));
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
        mask[r] = held(agent, r) == 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the agent's values, before they are ranked
    n_smallest(key, mask, resources, menu_size, menu, scratch);
    local_free((RESOURCES + 1) / 2 * sizeof(uint));
    local_free(RESOURCES * sizeof(uchar));
    local_free(RESOURCES * sizeof(real));
}
#endif

#endif
