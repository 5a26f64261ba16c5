"""What does the market for a type of device change when it opens?

Source: docs/model.md, "Device trade". Device twin: ``kernels/economy/open_device_market.cl``.
"""

from reference_py.economy.devices import is_known


def open_device_market(p, s, device_type):
    """Open the market: no agents have met yet, and remembered gains become a day older."""
    for agent in range(p.agents):
        s.met[agent] = [0] * p.agents
        for memory in s.partner_memory[agent][device_type]:
            if any(surplus > 0.0 for surplus in memory):
                memory.insert(0, 0.0)
                memory.pop()
    s.market_open = int(any(is_known(s, device_type, r) for r in range(p.resources)))
