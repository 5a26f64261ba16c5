// Which resource or agent does a shock remove from a society at the end of a day?
// Twin: reference_py/economy/shocks.py.
#include "economy/streams.cl"

// A workgroup is a society; one work-item draws the targets of random shocks among those that no
// other shock removes. SHOCK_LIST has the shocks as {remove, index, holdings}. Societies of a
// launch may have different ones: SHOCK_APPLIES(i) is whether shock i concerns this society.
#if SHOCKS > 0
__constant int shock_list[SHOCKS][3] = SHOCK_LIST;

static int is_taken(STATE_PARAMETERS, const size_t society, const int remove, const int index,
                    const uint drawn)
{
    for (uint i = 0; i < SHOCKS; ++i)
        if (SHOCK_APPLIES(i) && shock_list[i][0] == remove) {
            if (shock_list[i][1] == index) return 1;
            if (shock_list[i][1] == RANDOM_INDEX && i < drawn && shock_target(i) == index) return 1;
        }
    return 0;
}

__kernel void draw_shocks(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0);
    if (get_local_id(0) > 0) return;
    rng_t rng = rng_load(stream(AGENTS, PURPOSE_SHOCKS));
    for (uint i = 0; i < SHOCKS; ++i) {
        if (!SHOCK_APPLIES(i)) continue;
        const int remove = shock_list[i][0];
        int target = shock_list[i][1];
        if (target == RANDOM_INDEX) {
            const int count = remove == REMOVE_RESOURCE ? RESOURCES : AGENTS;
            uint left = 0;
            for (int x = 0; x < count; ++x) left += !is_taken(STATE, society, remove, x, i);
            uint pick = rng_below(&rng, left);
            for (target = 0; is_taken(STATE, society, remove, target, i) || pick-- > 0; ++target)
                continue;
        }
        shock_target(i) = target;
    }
    stream(AGENTS, PURPOSE_SHOCKS) = rng_pack(rng);
}

#if DEVICES
// Clear an agent's knowledge of devices, its stock, its promises and its memory of partners.
static void reset_devices(STATE_PARAMETERS, const size_t society, const uint agent)
{
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    for (uint device_type = 0; device_type < TYPES; ++device_type) {
        for (uint r = lid; r < resources; r += lanes) {
            RESET_AGENT_DEVICE_TYPE_RESOURCE
            for (uint price = 0; price < PRICE_MEMORY; ++price) {
                RESET_AGENT_DEVICE_TYPE_RESOURCE_PRICE
            }
            for (uint production_day = 0; production_day < PRODUCTION_MEMORY; ++production_day) {
                RESET_AGENT_DEVICE_TYPE_RESOURCE_PRODUCTION_DAY
            }
        }
        for (uint memory = lid; memory < PARTNERS_REMEMBERED; memory += lanes) {
            RESET_AGENT_DEVICE_TYPE_MEMORY
            for (uint memory_day = 0; memory_day < PARTNER_MEMORY; ++memory_day) {
                RESET_AGENT_DEVICE_TYPE_MEMORY_MEMORY_DAY
            }
        }
        if (lid == 0) {
            RESET_AGENT_DEVICE_TYPE
        }
    }
    for (uint device_round = lid; device_round < DEVICE_ROUND_SLOTS; device_round += lanes) {
        RESET_AGENT_DEVICE_ROUND
    }
    for (uint source = lid; source < SOURCES; source += lanes) {
        RESET_AGENT_SOURCE
    }
}
#endif

// A workgroup is an agent, a work-item a resource. No local memory, no barriers.
__kernel void shocks(STATE_PARAMETERS, const uint shock)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    if (!SHOCK_APPLIES(shock)) return;
    const uint target = shock_target(shock);
    if (shock_list[shock][0] == REMOVE_RESOURCE) {
        if (lid == 0 && agent == 0) available(target) = 0;
#if POLICIES
        if (lid == 0 && agent == 0 && shock_list[shock][2] == LOSE) fund(target) = 0.0;
#endif
#if DEVICES
        for (uint device_type = lid; device_type < TYPES; device_type += lanes)
            device_minutes(agent, device_type, target) = 0.0;
#endif
        if (lid == 0 && shock_list[shock][2] == LOSE) {
            held(agent, target) = 0;
            experience(agent, target) = 0.0;
        }
    } else if (agent == target) {
        for (uint r = lid; r < resources; r += lanes) {
            RESET_AGENT_RESOURCE
        }
#if DEVICES
        reset_devices(STATE, society, agent);
#endif
        if (lid == 0) {
            RESET_AGENT
            alive(agent) = 0;
        }
    }
}
#endif
