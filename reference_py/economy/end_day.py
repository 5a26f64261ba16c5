"""What does an agent remember of a day? Values of resources, and how devices are made.

Source: docs/model.md, "End of day". The values stay as they are now, before consumption, until a
trade or the next evening: the menus of the next market are made from memory.
Device twin: ``kernels/economy/end_day.cl``.
"""

from reference_py.economy.curves import marginal_utility, utility_curve
from reference_py.economy.devices import TYPES, device_curve
from reference_py.economy.knowledge import know_components


def end_day(p, s):
    """Refresh the remembered values of every living agent, and let it forget."""
    refresh_values(p, s)
    if p.devices is not None:
        for agent in range(p.agents):
            if s.alive[agent]:
                forget(p, s, agent)
                s.reserved_minutes[agent] = s.overtime[agent]
                know_components(p, s, agent)


def refresh_values(p, s):
    """Refresh values, also at the start of a market call with ``fresh_values``."""
    for agent in range(p.agents):
        if s.alive[agent]:
            for resource in range(p.resources):
                refresh(p, s, agent, resource)


def forget(p, s, agent):
    """Take one unit of experience in every device not made today; the last unit goes as a whole.

    An agent that owns a device keeps some experience.
    """
    for device_type in range(TYPES):
        for r in range(p.resources):
            experience = s.device_experience[agent][device_type][r]
            if not s.practised[agent][device_type][r]:
                experience -= 1.0
            if experience <= 1.0:
                experience = 0.0
            experience = min(experience, device_curve(p, agent, r).max_experience)
            if s.device_minutes[agent][device_type][r] > 0.0:
                experience = max(experience, p.min_held_experience)
            s.device_experience[agent][device_type][r] = experience
            s.practised[agent][device_type][r] = 0


def refresh(p, s, agent, resource):
    """Let the agent remember the present marginal value of one more unit."""
    curve = utility_curve(p, agent, resource)
    s.value[agent][resource] = marginal_utility(curve, s.held[agent][resource])
