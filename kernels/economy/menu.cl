// What does an agent offer? The held resources that it remembers as least valuable.
// Twin: reference_py/economy/trading.py, its menu().
// Both markets choose from what is prepared here.
#ifndef ECONOMY_MENU_CL
#define ECONOMY_MENU_CL

#define SELECT_MOST RESOURCES
#include "primitives/select.cl"

// An agent's menu, the least valuable first, NONE after the last, and all that it depends on: the
// remembered values, of resources that are not held UNHELD. On a CPU it is kept from meeting to
// meeting, since most meetings change nothing that the agent holds: to compare is quicker than to
// choose. Zeros, with which the memory begins, are no menu: `known` is 0.
typedef struct {
    real key[RESOURCES];
    uint menu[MENU_SIZE], known;
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
#else
// Choose the menu of an agent, by all work-items. Local memory: 11 bytes a resource.
COLLECTIVE void choose_menu(STATE_PARAMETERS, const size_t society, const uint agent,
                            __local uint *menu)
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
