"""What does knowing a device imply? An agent then knows a little about making its components.

Source: docs/model.md, "Devices". An agent knows how to make a device if its experience is at least
1; society knows it if any agent has some. Device twin: ``kernels/economy/knowledge.cl``.
"""

from reference_py.economy.devices import (
    COMPONENT,
    DEVICE_FACTORY,
    DEVICE_MACHINE,
    FACTORY,
    INDUSTRY,
    MACHINE,
    components,
)

TOP_DOWN = (INDUSTRY, DEVICE_FACTORY, FACTORY, DEVICE_MACHINE, MACHINE)


def know_components(p, s, agent):
    """Raise the agent's experience in the components of devices that it knows to at least 1.

    The types go from the most complex one down, so that one pass reaches the tools.
    """
    experience = s.device_experience[agent]
    for device_type in TOP_DOWN:
        below = experience[COMPONENT[device_type]]
        for resource in range(p.resources):
            if experience[device_type][resource] > 0.0:
                for k in components(s, device_type, resource):
                    below[k] = max(1.0, below[k])
