// What does an agent offer? The held resources that it remembers as least valuable.
// Twin: reference_py/economy/trading.py, its menu().
// Both markets choose from what is prepared here.
#ifndef ECONOMY_MENU_CL
#define ECONOMY_MENU_CL

#define SELECT_MOST RESOURCES
#include "primitives/select.cl"

// Fill in a work-item's part, every `step`-th resource from `first` on: the remembered value, and a
// mask over resources that are not held. No barriers.
INLINED void rate_holdings(STATE_PARAMETERS, const size_t society, const uint agent,
                           const uint first, const uint step, __local real *key,
                           __local uchar *mask)
{
    for (uint r = first; r < resources; r += step) {
        key[r] = value(agent, r);
        mask[r] = held(agent, r) == 0;
    }
}

#endif
