"""Who meets whom in a round of device trade: partners of good deals first.

Source: docs/model.md, "Device trade". An agent drawn at random takes the free partner that it
remembers as the most profitable, else the first one it has not met today for this type, else any
one. Removed agents are drawn and taken like others; their meetings do nothing.
Device twin: ``kernels/economy/device_matching.cl``.
"""

from reference_py.economy.listener import notify
from reference_py.economy.streams import drawing


def device_matching(p, s, device_type):
    """Form the pairs of a round, if anybody knows a device of the type at all."""
    if not s.market_open:
        return
    for agent in range(p.agents):
        s.bought[agent] = [0] * p.resources
    with drawing(p, s, p.agents, "device_matching") as rng:
        s.device_partners = matched(p, s, device_type, rng.below)
    for first in range(0, p.agents - 1, 2):
        a, b = s.device_partners[first], s.device_partners[first + 1]
        s.met[a][b] = s.met[b][a] = 1


def matched(p, s, device_type, below):
    """Return all agents in order: the first two are a pair, the next two, ...; one may be left.

    ``below(n)`` draws a whole number below n.
    """
    free, order = list(range(p.agents)), []
    while len(free) > 1:
        a = free.pop(below(len(free)))
        b = partner(s, device_type, a, free)
        met = b is None
        if met:
            b = free[below(len(free))]
        free.remove(b)
        if s.listener is not None:
            notify(s, "pair", a=a, b=b, gained=remembered(s, device_type, a, b), met=met)
        order += [a, b]
    return order + free


def partner(s, device_type, agent, free):
    """Return the partner whom the agent prefers of the free agents that it has not met, or None.

    The largest surplus remembered wins, the lower number among equals, also among agents of which
    no surplus is remembered.
    """
    best, pick = -1.0, None
    for b in free:
        if not s.met[agent][b]:
            surplus = remembered(s, device_type, agent, b)
            if surplus > best:
                best, pick = surplus, b
    return pick


def remembered(s, device_type, agent, other):
    """Return what the agent remembers to have gained by deals with the other."""
    surplus = 0.0
    for gain in s.partner_memory[agent][device_type][other]:  # newest first
        surplus += gain
    return surplus
