"""How much is used up overnight? Every held unit disappears with probability 1 / lifetime.

Every device loses some minutes of use, a partly used one in proportion.

Source: docs/model.md, "Consumption". Each resource draws from a place of its own in the agent's
stream: after the most that the resources before it could draw. So all work-items draw at once.
With synchronized draws it is a place that does not depend on other resources.
Device twin: ``kernels/economy/consumption.cl``.
"""

from reference_py.economy.devices import TYPES
from reference_py.economy.streams import drawing, of_part


def consumption(p, s):
    """Let every living agent consume, and reset the day's counters of trade."""
    for agent in range(p.agents):
        s.units_sold[agent] = 0
        s.deals[agent] = 0
        if s.alive[agent]:
            consume(p, s, agent)
            if p.devices is not None:
                depreciate(p, s, agent)


def consume(p, s, agent):
    """Take a binomial number of units from every holding of the agent."""
    held = s.held[agent]
    thresholds = p.consumption_threshold[p.group_of_agent[agent]]
    if p.synchronized_draws:
        for r in range(p.resources):
            rng = of_part(p, s, agent, "consumption", r, p.resources)
            held[r] -= rng.binomial(held[r], thresholds[r])
        return
    with drawing(p, s, agent, "consumption") as rng:
        for r in range(p.resources):
            held[r] -= rng.binomial_spaced(held[r], thresholds[r])


def depreciate(p, s, agent):
    """Let the agent's devices decay; minutes that are fewer than a day's decay vanish."""
    decay = p.daily_decay
    for device_type in range(TYPES):
        lifetime, owned = p.device_lifetime[device_type], s.device_minutes[agent][device_type]
        for r in range(p.resources):
            owned[r] = (
                max(0.0, owned[r] - decay * (owned[r] / lifetime)) if owned[r] > decay else 0.0
            )
