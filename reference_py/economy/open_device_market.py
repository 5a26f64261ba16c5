"""What does the market for a type of device change when it opens?

Source: docs/model.md, "Device trade". Device twin: ``kernels/economy/open_device_market.cl``.
"""

from reference_py.economy.devices import is_known
from reference_py.economy.state import NO_AGENT


def open_device_market(p, s, device_type):
    """Open the market: no agents have met yet, and remembered gains become a day older."""
    for agent in range(p.agents):
        s.met[agent] = [NO_AGENT] * len(s.met[agent])
        grow_older(p, s, agent, device_type)
    s.market_open = int(any(is_known(s, device_type, r) for r in range(p.resources)))


def grow_older(p, s, agent, device_type):
    """Make the agent's remembered gains a day older; who brought nothing lately is forgotten.

    Those who are left keep their order.
    """
    partners, memory = (
        s.remembered_partner[agent][device_type],
        s.partner_memory[agent][device_type],
    )
    left = [i for i in range(len(partners)) if any(memory[i][:-1])]
    free = len(partners) - len(left)
    s.remembered_partner[agent][device_type] = [*(partners[i] for i in left), *[NO_AGENT] * free]
    s.partner_memory[agent][device_type] = [
        *([0.0, *memory[i][:-1]] for i in left),
        *([0.0] * p.device_memory for _ in range(free)),
    ]
