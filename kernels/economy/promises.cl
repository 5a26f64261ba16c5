// What does an agent set aside for a device that it will make, and what does it get back?
// Twin: reference_py/economy/promises.py. By one work-item, for the order of sums is one resource
// after the other; `rows` are NEED_ROW entries of local memory (valuation.cl). No barriers.
#ifndef ECONOMY_PROMISES_CL
#define ECONOMY_PROMISES_CL

#include "economy/valuation.cl"

// Promise to make one device: lock what it consists of and reserve the time.
static void reserve(AGENT_PARAMETERS, const uint type, const uint resource, __local count_t *rows)
{
    __local count_t *promise = rows, *need = rows + RESOURCES;
    for (uint r = 0; r < resources; ++r) promise[r] = 0;
    promise[resource] = 1;
    real reserved = reserved_minutes(agent);
    for (int level = (int)type; level >= 0; level = component_type[level]) {
        for (uint r = 0; r < resources; ++r) {
            if (promise[r] == 0) continue;
            reserved += (real)promise[r] * making_time(AGENT(agent), level, r);
            to_make(agent, level, r) += promise[r];
        }
        needed(STATE, society, level, promise, need);
        const int below = component_type[level];
        for (uint k = 0; k < resources; ++k) {
            promise[k] = 0;
            if (need[k] == 0) continue;
            if (below < 0) {
                held(agent, k) -= need[k];
                set_aside(agent, k) += need[k];
                continue;
            }
            const real lifetime = device_lifetime[below];
            const int whole = whole_devices(device_minutes(agent, below, k), lifetime);
            const int taken = min((int)need[k], whole);
            device_minutes(agent, below, k) -= (real)taken * lifetime;
            devices_set_aside(agent, below, k) += taken;
            promise[k] = (count_t)((int)need[k] - taken);
        }
    }
    reserved_minutes(agent) = reserved;
}

// Take one promise back: unlock what it consists of and give back the time, which is what making
// takes now and can differ from what was reserved.
static void unreserve(AGENT_PARAMETERS, const uint type, const uint resource,
                      __local count_t *rows)
{
    __local count_t *promise = rows, *need = rows + RESOURCES;
    for (uint r = 0; r < resources; ++r) promise[r] = 0;
    promise[resource] = 1;
    real reserved = reserved_minutes(agent);
    for (int level = (int)type; level >= 0; level = component_type[level]) {
        for (uint r = 0; r < resources; ++r) {
            if (promise[r] == 0) continue;
            reserved -= (real)promise[r] * making_time(AGENT(agent), level, r);
            to_make(agent, level, r) -= promise[r];
        }
        needed(STATE, society, level, promise, need);
        const int below = component_type[level];
        for (uint k = 0; k < resources; ++k) {
            promise[k] = 0;
            if (need[k] == 0) continue;
            if (below < 0) {
                held(agent, k) += need[k];
                set_aside(agent, k) -= need[k];
                continue;
            }
            const int given = min((int)need[k], devices_set_aside(agent, below, k));
            device_minutes(agent, below, k) += (real)given * device_lifetime[below];
            devices_set_aside(agent, below, k) -= given;
            const int promised = min((int)need[k] - given, to_make(agent, below, k));
            promise[k] = (count_t)promised;
        }
    }
    reserved_minutes(agent) = reserved;
}

#endif
