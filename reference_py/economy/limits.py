"""How much of a resource may an agent still give away today, and which prices are allowed?

Source: docs/model.md, "Limits of trade". Without policies there are no limits.
Device twin: ``kernels/economy/limits.cl``.
"""

ANY = -1
"""Instead of a resource: none has a quota, or all have limited prices."""


def tradable(p, s, agent, resource):
    """Return the units of a resource that the agent may still give away in swaps today."""
    held = s.held[agent][resource]
    if not p.policies or resource != p.quota_of:
        return held
    return min(held, max(0, p.quota - s.units_given[agent][resource]))


def limited(p, give, take, rate):
    """Return the nearest allowed price: units of the taken resource for a unit of the given one."""
    if not p.policies:
        return rate
    if p.price_of in (ANY, give):
        rate = between(rate, p.price_floor, p.price_cap)
    if p.price_of in (ANY, take):
        rate = between(rate, 1.0 / p.price_cap, 1.0 / p.price_floor)
    return rate


def between(rate, low, high):
    """Return the rate, or the limit that it exceeds; what is no number stays so."""
    return low if rate < low else high if rate > high else rate
