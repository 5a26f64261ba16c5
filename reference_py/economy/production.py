"""Which devices does an agent make today, and what does making them take? It keeps every promise.

Source: docs/model.md, "Making". Devices were credited to maker or buyer when they were promised.
The minutes are taken from the next working day. Resources do not interact, so each is worked on by
itself, its types from tools upwards; minutes are then added up by type.
Device twin: ``kernels/economy/production.cl``.
"""

from reference_py.economy.devices import (
    BOTTOM_UP,
    COMPONENT,
    TOOL,
    TYPES,
    components,
    making_speed,
    making_time,
    owned_maker,
)
from reference_py.economy.listener import notify
from reference_py.primitives.reduce import reduce_sum


def production(p, s):
    """Let every living agent make what it promised."""
    for agent in range(p.agents):
        if s.alive[agent]:
            produce(p, s, agent)


def produce(p, s, agent):
    """Make all promised devices of one agent."""
    for device_type in range(TYPES):
        for made in s.recently_made[agent][device_type]:
            made.insert(0, 0)
            made.pop()
    for device_type in BOTTOM_UP:
        minutes = [make_all(p, s, agent, device_type, r) for r in range(p.resources)]
        s.making_minutes[agent][device_type] = reduce_sum(minutes)
        s.overtime[agent] += s.making_minutes[agent][device_type]


def make_all(p, s, agent, device_type, resource):
    """Make the promised devices of a type and resource, one by one; return the minutes taken."""
    count = s.to_make[agent][device_type][resource]
    total = 0.0
    for _ in range(count):
        maker = owned_maker(s, agent, device_type, resource)
        speed = making_speed(p, s, agent, device_type, resource)
        minutes = making_time(p, s, agent, device_type, resource)
        total += minutes
        if s.listener is not None:
            what = {"agent": agent, "device_type": device_type, "resource": resource}
            experience = s.device_experience[agent][device_type][resource]
            parts = {"parts": components(s, device_type, resource)}
            parts["component"] = COMPONENT.get(device_type)
            notify(s, "made", **what, by=maker, minutes=minutes, experience=experience, **parts)
        if maker is not None:
            left = s.device_minutes[agent][maker][resource] - minutes
            s.device_minutes[agent][maker][resource] = max(0.0, left)
            s.made_with_device[agent][device_type] += 1
        learned = p.device_experience_for_making[device_type] / speed
        s.device_experience[agent][device_type][resource] += learned
    if count > 0:
        s.practised[agent][device_type][resource] = 1
        s.recently_made[agent][device_type][resource][0] += count
        s.devices_made[agent][device_type][resource] += count
        s.to_make[agent][device_type][resource] = 0
        for k in components(s, device_type, resource):
            use_component(s, agent, device_type, k, count)
    return total


def use_component(s, agent, device_type, component, count):
    """Use up the locked components. Those made for the purpose were never locked."""
    if device_type == TOOL:
        s.set_aside[agent][component] -= count
    else:
        locked = s.devices_set_aside[agent][COMPONENT[device_type]]
        locked[component] = max(0, locked[component] - count)
