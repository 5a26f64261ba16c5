"""What does an agent remember at the end of the day: the marginal value of every resource.

Source: docs/model.md, "End of day". The values stay as they are now, before consumption, until a
trade or the next evening: the menus of the next market are made from memory.
"""

from reference_py.economy.trading import refresh


def end_day(p, s):
    """Refresh the remembered values of every living agent."""
    for agent in range(p.agents):
        if s.alive[agent]:
            for resource in range(p.resources):
                refresh(p, s, agent, resource)
