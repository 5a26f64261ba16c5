// What has an agent learned of a resource by the end of a day's extraction?
// Twin: reference_py/economy/extraction.py
//
// For a work-item that serves the resource. No local memory, no barriers.
#ifndef ECONOMY_PRACTICE_CL
#define ECONOMY_PRACTICE_CL

#include "economy/curves.cl"

// Store the units of a resource, and the experience: if it was not extracted today it fades, and no
// more of it is remembered than the maximum.
INLINED void keep_practice(STATE_PARAMETERS, TABLE_PARAMETERS, const size_t society,
                           const uint agent, const uint r, const int holding,
                           const real experienced)
{
    const int today = holding - held(agent, r);
    real known = experienced;
    if (today == 0) {
        known -= P(daily_experience_penalty);
        known = known > 0.0 ? known : 0.0;
    }
    const real most = max_experience_table[effort_curve(agent, r)];
    experience(agent, r) = known < most ? known : most;
    extracted(agent, r) = today;
    held(agent, r) = holding;
}

#endif
