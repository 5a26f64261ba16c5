// What does an agent set aside for a device that it will make, and what does it get back?
// Twin: reference_py/economy/promises.py. One work-item does it, since sums run over resources in
// order; `rows` are NEED_ROW entries of local memory (valuation.cl). No barriers.
#ifndef ECONOMY_PROMISES_CL
#define ECONOMY_PROMISES_CL

#include "economy/valuation.cl"

// Promise to make one device: lock its components and reserve the time.
INLINED void reserve(AGENT_PARAMETERS, const uint device_type, const uint resource,
                     __local count_t *rows)
{
    counts_t promise = one_device(rows, resource);
    real reserved = reserved_minutes(agent);
    for (int level = (int)device_type; level >= 0; level = component_type[level]) {
        FOR_COUNTED(promise, r)
        {
            reserved += (real)promise.count[r] * making_time(AGENT(agent), level, r);
            to_make(agent, level, r) += promise.count[r];
        }
        promise = needed(STATE, society, level, rows, promise);
        const int below = component_type[level];
        FOR_COUNTED(promise, k)
        {
            const int need = promise.count[k];
            if (below < 0) {
                held(agent, k) -= need;
                set_aside(agent, k) += need;
            } else {
                const real lifetime = device_lifetime[below];
                const int taken =
                    min(need, whole_devices(device_minutes(agent, below, k), lifetime));
                device_minutes(agent, below, k) -= (real)taken * lifetime;
                devices_set_aside(agent, below, k) += taken;
                set_count(&promise, k, (count_t)(need - taken));
            }
        }
    }
    reserved_minutes(agent) = reserved;
}

// Take one promise back: unlock the components and give back the time. That is the time which
// making takes now; it can differ from the time that was reserved.
INLINED void unreserve(AGENT_PARAMETERS, const uint device_type, const uint resource,
                       __local count_t *rows)
{
    counts_t promise = one_device(rows, resource);
    real reserved = reserved_minutes(agent);
    for (int level = (int)device_type; level >= 0; level = component_type[level]) {
        FOR_COUNTED(promise, r)
        {
            reserved -= (real)promise.count[r] * making_time(AGENT(agent), level, r);
            to_make(agent, level, r) -= promise.count[r];
        }
        promise = needed(STATE, society, level, rows, promise);
        const int below = component_type[level];
        FOR_COUNTED(promise, k)
        {
            const int need = promise.count[k];
            if (below < 0) {
                held(agent, k) += need;
                set_aside(agent, k) -= need;
            } else {
                const int given = min(need, devices_set_aside(agent, below, k));
                device_minutes(agent, below, k) += (real)given * device_lifetime[below];
                devices_set_aside(agent, below, k) -= given;
                set_count(&promise, k, (count_t)min(need - given, to_make(agent, below, k)));
            }
        }
    }
    reserved_minutes(agent) = reserved;
}

#endif
