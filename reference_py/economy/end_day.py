"""What does an agent remember at the end of the day: the marginal value of every resource.

Source: docs/model.md, "End of day". The values stay as they are now, before consumption, until a
trade or the next evening: the menus of the next market are made from memory.
"""

from reference_py.economy.curves import marginal_utility, utility_curve


def end_day(p, s):
    """Refresh the remembered values of every living agent."""
    for agent in range(p.agents):
        if s.alive[agent]:
            for resource in range(p.resources):
                refresh(p, s, agent, resource)


def refresh_values(p, s):
    """Do the same at the start of a market call (only with ``fresh_values``)."""
    end_day(p, s)


def refresh(p, s, agent, resource):
    """Let the agent remember the marginal value of one more unit as it is now."""
    curve = utility_curve(p, agent, resource)
    s.value[agent][resource] = marginal_utility(curve, s.held[agent][resource])
