// Who gave how much to whom today: the links of a sparse table, for each agent a list of others.
// Twin: reference_py/economy/network.py.
// Compiled only if the configuration asks for the network; no decision reads what is written here.
#ifndef ECONOMY_NETWORK_CL
#define ECONOMY_NETWORK_CL
#include "primitives/real.cl"

#if NETWORK
// Begin a day without links. A workgroup is an agent, a work-item a link. No local memory.
__kernel void begin_network(STATE_PARAMETERS)
{
    const size_t society = get_group_id(0) / AGENTS;
    const uint agent = get_group_id(0) % AGENTS;
    for (uint i = get_local_id(0); i < links; i += get_local_size(0)) {
        link_taker(agent, i) = NO_TAKER;
        link_units(agent, i) = 0;
        link_swaps(agent, i) = 0;
#if DEVICES
        link_paid(agent, i) = 0;
        for (uint device_type = 0; device_type < TYPES; ++device_type)
            link_devices(agent, device_type, i) = 0;
#endif
    }
}

// The place of the taker among those to whom the agent gave anything today. There is room for
// every agent that it can meet. An agent is in one meeting at a time, so one work-item writes its
// list.
static uint link_to(STATE_PARAMETERS, const size_t society, const uint giver, const uint taker)
{
    uint i = 0;
    while (link_taker(giver, i) != (int)taker && link_taker(giver, i) != NO_TAKER) ++i;
    link_taker(giver, i) = taker;
    return i;
}

// Add one side of a swap.
static void link_swap(STATE_PARAMETERS, const size_t society, const uint giver, const uint taker,
                      const int units)
{
    const uint i = link_to(STATE, society, giver, taker);
    link_units(giver, i) += units;
    link_swaps(giver, i) += 1;
}

#if DEVICES
// Add a device that is sold, and the units that are paid for it.
static void link_sale(STATE_PARAMETERS, const size_t society, const uint device_type,
                      const uint buyer, const uint seller, const int units)
{
    const uint to_seller = link_to(STATE, society, buyer, seller);
    const uint to_buyer = link_to(STATE, society, seller, buyer);
    link_paid(buyer, to_seller) += units;
    link_devices(seller, device_type, to_buyer) += 1;
}
#endif
#endif
#endif
