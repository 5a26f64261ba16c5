"""Which devices does an agent decide to make for itself?

Source: docs/model.md, "Own use". Right after the trade of a type the agent promises to make
devices, as long as some device is worth more than it costs. It can use them
at once, although it produces them later in the day.
Device twin: ``kernels/economy/own_use.cl``.
"""

import math

from reference_py.economy import valuation
from reference_py.economy.listener import notify
from reference_py.economy.promises import reserve


def own_use(p, s, device_type):
    """Let every living agent decide; see `decide`."""
    for agent in range(p.agents):
        if s.alive[agent]:
            decide(p, s, agent, device_type)


def decide(p, s, agent, device_type):
    """Promise to make the device of the largest net benefit, as long as there is one."""
    while True:
        cost, _ = valuation.costs(p, s, agent, device_type)
        best, pick, gain, considered = -math.inf, None, 0.0, []
        for r in range(p.resources):
            benefit, refused = judged(p, s, agent, device_type, r, cost[r])
            if refused is None and benefit - cost[r] > best:
                best, pick, gain = benefit - cost[r], r, benefit
            if s.listener is not None and s.device_experience[agent][device_type][r] > 0.0:
                one = {"resource": r, "benefit": benefit, "cost": cost[r], "refused": refused}
                considered.append(one)
        if s.listener is not None:
            what = {"resource": pick, "benefit": gain, "cost": 0.0 if pick is None else cost[pick]}
            notify(
                s, "own_use", agent=agent, device_type=device_type, **what, considered=considered
            )
        if pick is None:
            return
        remember_price(s, agent, device_type, pick, -cost[pick])
        _, minutes = valuation.costs(p, s, agent, device_type)
        time = minutes[pick] * s.gain_per_minute[agent]
        s.device_gain[agent] += gain - (cost[pick] - time)
        reserve(p, s, agent, device_type, pick)
        s.device_minutes[agent][device_type][pick] += p.device_lifetime[device_type]


def judged(p, s, agent, device_type, resource, cost):
    """Return what one more device would bring, and why the agent does not want it; None if it does.

    Of a device that it does not want whatever it brings, only a listener gets to know the benefit.
    """
    refused = unwanted(p, s, agent, device_type, resource)
    if refused is not None and s.listener is None:
        return 0.0, refused
    benefit = valuation.benefit(p, s, agent, device_type, resource)
    if refused is None and not benefit - cost > 0.0:
        refused = "brings no more than it costs", ()
    return benefit, refused


def unwanted(p, s, agent, device_type, resource):
    """Return why the agent wants no device whatever it brings: owns enough, or cannot make it."""
    most = p.days_to_hold * p.day_length
    if not valuation.stock(p, s, agent, device_type, resource) < most:
        return "owns enough", ()
    return valuation.obstacle(p, s, agent, device_type, resource)


def remember_price(s, agent, device_type, resource, price):
    """Put a price event first and forget the oldest."""
    prices = s.prices[agent][device_type][resource]
    prices.insert(0, price)
    prices.pop()
