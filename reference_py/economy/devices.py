"""What is a device made of, what makes it faster, and how long does making one take?

Source: docs/model.md, "Devices". A device is a type and a resource: the tool for resource 7. An
agent owns minutes of use, not pieces: two half-used tools are one.
Device twin: ``kernels/economy/devices.cl``.
"""

from reference_py.economy.curves import effort

DEVICE_TYPES = ("tool", "machine", "factory", "industry", "device_machine", "device_factory")
"""The device types in the order of every array and file."""

TYPES = len(DEVICE_TYPES)

TOOL, MACHINE, FACTORY, INDUSTRY, DEVICE_MACHINE, DEVICE_FACTORY = range(TYPES)

EXTRACTING = (TOOL, MACHINE, FACTORY, INDUSTRY)
"""The first types speed extraction, the others the making of tools and of machines."""

SOURCES = ("hand", *(DEVICE_TYPES[device_type] for device_type in EXTRACTING))
"""With what a unit is extracted."""

BOTTOM_UP = (TOOL, DEVICE_MACHINE, MACHINE, DEVICE_FACTORY, FACTORY, INDUSTRY)
"""Every type after the type of its components."""

COMPONENT = {
    MACHINE: TOOL,
    FACTORY: MACHINE,
    INDUSTRY: FACTORY,
    DEVICE_MACHINE: TOOL,
    DEVICE_FACTORY: DEVICE_MACHINE,
}
"""Of which type the components are; a tool is made of resources."""

MAKER = {TOOL: DEVICE_MACHINE, MACHINE: DEVICE_FACTORY}
"""Which device speeds the making of a type."""

MADE_BY = {DEVICE_MACHINE: TOOL, DEVICE_FACTORY: MACHINE}


def levels(device_type):
    """Return the types that a device consists of: its own first, tools last."""
    result = [device_type]
    while result[-1] != TOOL:
        result.append(COMPONENT[result[-1]])
    return result


def has_recipe(s, device_type, resource):
    """Return whether the device was ever invented."""
    return s.recipe[device_type][resource][0] >= 0


def components(s, device_type, resource):
    """Return the device's components, ascending: resources of a tool, devices of the type below."""
    return [k for k in s.recipe[device_type][resource] if k >= 0]


def is_known(s, device_type, resource):
    """Return whether any agent has experience in making the device."""
    return any(agent[device_type][resource] > 0.0 for agent in s.device_experience)


def device_curve(p, agent, resource):
    """Return the effort curve that the agent has for making devices for the resource."""
    return p.devices.effort_curves[p.devices.effort_curve_of[p.group_of_agent[agent]][resource]]


def owned_maker(s, agent, device_type, resource):
    """Return the type of the device with which the agent makes this one; None: by hand."""
    maker = MAKER.get(device_type)
    if maker is not None and s.device_minutes[agent][maker][resource] > 0.0:
        return maker
    return None


def making_speed(p, s, agent, device_type, resource):
    """Return how many times faster than by hand the agent makes the device."""
    maker = owned_maker(s, agent, device_type, resource)
    return 1.0 if maker is None else p.device_factor[maker]


def making_time(p, s, agent, device_type, resource):
    """Return the minutes that the agent takes to make one."""
    minutes = effort(
        device_curve(p, agent, resource), s.device_experience[agent][device_type][resource]
    )
    return minutes / making_speed(p, s, agent, device_type, resource)


def extracting_device(s, agent, resource):
    """Return the type of the best device with which the agent extracts; None: by hand."""
    for device_type in reversed(EXTRACTING):
        if s.device_minutes[agent][device_type][resource] > 0.0:
            return device_type
    return None


def whole_devices(minutes, lifetime):
    """Return how many unused devices the minutes make up, such that taking them leaves >= 0."""
    count = int(minutes / lifetime)
    return count - (float(count) * lifetime > minutes)
