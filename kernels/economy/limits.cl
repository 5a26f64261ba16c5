// How much of a resource may an agent still give away today, and which prices are allowed?
// Twin: reference_py/economy/limits.py. Without policies there are no limits.
#ifndef ECONOMY_LIMITS_CL
#define ECONOMY_LIMITS_CL

#include "primitives/real.cl"

#if POLICIES
// The units of a resource that the agent may still give away in swaps today.
static int tradable_units(STATE_PARAMETERS, const size_t society, const uint agent,
                          const uint resource)
{
    const int owned = held(agent, resource);
    if ((int)resource != P(quota_of)) return owned;
    return min(owned, max(0, P(quota) - units_given(agent, resource)));
}
#define tradable(agent, resource) tradable_units(STATE, society, agent, resource)

// The rate, or the limit that it exceeds; what is no number stays so.
static real between(const real rate, const real low, const real high)
{
    return rate < low ? low : rate > high ? high : rate;
}

// The nearest allowed price: units of the taken resource for a unit of the given one.
static real limited(STATE_PARAMETERS, const size_t society, const uint give, const uint take,
                    const real price)
{
    real rate = price;
    if (P(price_of) < 0 || P(price_of) == (int)give)
        rate = between(rate, P(price_floor), P(price_cap));
    if (P(price_of) < 0 || P(price_of) == (int)take)
        rate = between(rate, 1.0 / P(price_cap), 1.0 / P(price_floor));
    return rate;
}
#else
#define tradable(agent, resource) held(agent, resource)
#endif

#endif
