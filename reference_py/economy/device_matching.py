"""Who meets whom in a round of device trade? Partners of good deals come first.

Source: docs/model.md, "Device trade". An agent drawn at random takes the free partner that it
remembers as the most profitable, else the first one it has not met today for this type, else any
one. Removed agents are drawn and taken like others; their meetings do nothing.
Device twin: ``kernels/economy/device_matching.cl``.
"""

from bisect import bisect_left

from reference_py.economy.devices import TYPES
from reference_py.economy.listener import notify
from reference_py.economy.streams import drawing, of_part


def device_matching(p, s, device_type, market_round):
    """Form the pairs of a round, if any agent knows a device of the type."""
    if not s.market_open:
        return
    for agent in range(p.agents):
        s.bought[agent] = [0] * p.resources
    if p.synchronized_draws:  # each type and round from its own part, whatever others drew
        part, parts = device_type * p.device_rounds + market_round, TYPES * p.device_rounds
        rng = of_part(p, s, p.agents, "device_matching", part, parts)
        s.device_partners = matched(p, s, device_type, rng.below)
    else:
        with drawing(p, s, p.agents, "device_matching") as rng:
            s.device_partners = matched(p, s, device_type, rng.below)
    for first in range(0, p.agents - 1, 2):
        a, b = s.device_partners[first], s.device_partners[first + 1]
        s.met[a][market_round], s.met[b][market_round] = b, a


def matched(p, s, device_type, below):
    """Return all agents in order: the first two are a pair, the next two, ...; one may be left.

    ``below(n)`` draws a whole number below n.
    """
    free, order = list(range(p.agents)), []
    while len(free) > 1:
        a = free.pop(below(len(free)))
        b = partner(p, s, device_type, a, free)
        met = b is None
        if met:
            b = free[below(len(free))]
        free.pop(bisect_left(free, b))
        if s.listener is not None:
            notify(s, "pair", a=a, b=b, gained=remembered(s, device_type, a, b), met=met)
        order += [a, b]
    return order + free


def partner(p, s, device_type, agent, free):
    """Return the partner whom the agent prefers of the free agents that it has not met, or None.

    The largest surplus remembered wins, the lower number among equals. Without any remembered it is
    the first: to find it, no more agents are looked at than the agent has met, and one. A rule of a
    user is asked about every free agent that was not met.

    Parameters
    ----------
    free : list of int, ascending
    """
    if "devices_market.partner" in p.rules:
        liked = [(liking(p, s, device_type, agent, b), -b) for b in free if b not in s.met[agent]]
        return -max(liked)[1] if liked else None
    known = [
        (remembered(s, device_type, agent, b), -b)
        for b in s.remembered_partner[agent][device_type]
        if is_in(free, b) and b not in s.met[agent]
    ]
    if known:
        return -max(known)[1]
    return next((b for b in free if b not in s.met[agent]), None)


def liking(p, s, device_type, agent, other):
    """Return how much an agent wants to meet another by the rule of a user; at least 0."""
    groups = {"group": p.group_of_agent[agent], "partner_group": p.group_of_agent[other]}
    found = p.rules["devices_market.partner"](
        gained=remembered(s, device_type, agent, other), agent=agent, partner=other, **groups
    )
    return found if found > 0.0 else 0.0


def most_gained(gained, agent, partner, group, partner_group):
    """Return the gain from past deals with the partner that the agent remembers.

    Of agents with which it gained nothing it prefers one that it remembers to have dealt with.
    """
    return gained


def is_in(free, agent):
    """Return whether the agent is in an ascending list."""
    place = bisect_left(free, agent)
    return place < len(free) and free[place] == agent


def remembered(s, device_type, agent, other):
    """Return the gain from past deals with the other that the agent remembers."""
    partners = s.remembered_partner[agent][device_type]
    if other not in partners:
        return 0.0
    surplus = 0.0
    for gain in s.partner_memory[agent][device_type][partners.index(other)]:  # newest first
        surplus += gain
    return surplus
