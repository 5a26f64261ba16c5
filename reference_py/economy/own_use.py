"""Which devices does an agent decide to make for itself?

Source: docs/model.md, "Own use". Right after the trade of a type, as long as one is worth more than
it costs. The device can be used at once, although it is produced later in the day.
Device twin: ``kernels/economy/own_use.cl``.
"""

from reference_py.economy import valuation
from reference_py.economy.listener import tell
from reference_py.economy.promises import reserve


def own_use(p, s, device_type):
    """Let every living agent decide; see `decide`."""
    for agent in range(p.agents):
        if s.alive[agent]:
            decide(p, s, agent, device_type)


def decide(p, s, agent, device_type):
    """Promise the agent itself the device of the largest net benefit, again and again."""
    while True:
        cost, _ = valuation.costs(p, s, agent, device_type)
        best, pick, gain = 0.0, None, 0.0
        for r in range(p.resources):
            if wants(p, s, agent, device_type, r):
                benefit = valuation.benefit(p, s, agent, device_type, r)
                if benefit - cost[r] > best:
                    best, pick, gain = benefit - cost[r], r, benefit
        tell(s, "own_use", agent=agent, resource=pick, benefit=gain, cost=cost)
        if pick is None:
            return
        remember_price(s, agent, device_type, pick, -cost[pick])
        _, minutes = valuation.costs(p, s, agent, device_type)
        time = minutes[pick] * s.gain_per_minute[agent]
        s.device_gain[agent] += gain - (cost[pick] - time)
        reserve(p, s, agent, device_type, pick)
        s.device_minutes[agent][device_type][pick] += p.device.lifetime[device_type]


def wants(p, s, agent, device_type, resource):
    """Return whether the agent could make the device and does not own enough of it."""
    most = p.device.days_to_hold * p.day_length
    return valuation.stock(p, s, agent, device_type, resource) < most and valuation.can_make(
        p, s, agent, device_type, resource
    )


def remember_price(s, agent, device_type, resource, price):
    """Put a price event first and forget the oldest."""
    prices = s.prices[agent][device_type][resource]
    prices.insert(0, price)
    prices.pop()
