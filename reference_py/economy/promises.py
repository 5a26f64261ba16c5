"""What does an agent set aside for a device that it will make, and what does it get back?

Source: docs/model.md, "Making". Between the promise and the production the components are locked
and the time is reserved. Both go down level by level with counts, from the device to its tools: of
the components owned whole ones are taken, the rest are promised in turn.
Device twin: ``kernels/economy/promises.cl``.
"""

from reference_py.economy.devices import COMPONENT, TOOL, levels, making_time, whole_devices
from reference_py.economy.valuation import needed


def reserve(p, s, agent, device_type, resource):
    """Promise to make one device: lock its components and reserve the time."""
    promise = [0] * p.resources
    promise[resource] = 1
    for level in levels(device_type):
        for r in range(p.resources):
            if promise[r] > 0:
                minutes = making_time(p, s, agent, level, r)
                s.reserved_minutes[agent] += float(promise[r]) * minutes
                s.to_make[agent][level][r] += promise[r]
        need = needed(p, s, level, promise)
        if level == TOOL:
            for k in range(p.resources):
                s.held[agent][k] -= need[k]
                s.set_aside[agent][k] += need[k]
            return
        below = COMPONENT[level]
        owned, lifetime = s.device_minutes[agent][below], p.device_lifetime[below]
        for k in range(p.resources):
            taken = min(need[k], whole_devices(owned[k], lifetime))
            owned[k] -= float(taken) * lifetime
            s.devices_set_aside[agent][below][k] += taken
            promise[k] = need[k] - taken


def unreserve(p, s, agent, device_type, resource):
    """Take one promise back: unlock the components and give back the time.

    That is the time which making takes now; it can differ from the time that was reserved.
    """
    promise = [0] * p.resources
    promise[resource] = 1
    for level in levels(device_type):
        for r in range(p.resources):
            if promise[r] > 0:
                minutes = making_time(p, s, agent, level, r)
                s.reserved_minutes[agent] -= float(promise[r]) * minutes
                s.to_make[agent][level][r] -= promise[r]
        need = needed(p, s, level, promise)
        if level == TOOL:
            for k in range(p.resources):
                s.held[agent][k] += need[k]
                s.set_aside[agent][k] -= need[k]
            return
        below = COMPONENT[level]
        for k in range(p.resources):
            given = min(need[k], s.devices_set_aside[agent][below][k])
            s.device_minutes[agent][below][k] += float(given) * p.device_lifetime[below]
            s.devices_set_aside[agent][below][k] -= given
            promise[k] = min(need[k] - given, s.to_make[agent][below][k])
