"""Who gave how much to whom today? A sparse table has for each agent a list of the others.

Source: docs/model.md, "The trade network". Links are counted if ``record.network`` asks for them;
no decision depends on them. An agent has room for every agent that it can meet in a day
(`reference_py.economy.state.links`). Device twin: ``kernels/economy/network.cl``.
"""

from reference_py.economy.devices import TYPES
from reference_py.economy.state import NO_AGENT, links


def begin_network(p, s):
    """Begin a day without links."""
    for agent in range(p.agents):
        s.link_taker[agent] = [NO_AGENT] * links(p)
        s.link_units[agent] = [0] * links(p)
        s.link_swaps[agent] = [0] * links(p)
        if p.devices is not None:
            s.link_paid[agent] = [0] * links(p)
            s.link_devices[agent] = [[0] * links(p) for _ in range(TYPES)]


def link_to(s, giver, taker):
    """Return the place of the taker among those to whom the agent gave anything today."""
    takers = s.link_taker[giver]
    if taker not in takers:
        takers[takers.index(NO_AGENT)] = taker
    return takers.index(taker)


def link_swap(s, giver, taker, units):
    """Add one side of a swap."""
    place = link_to(s, giver, taker)
    s.link_units[giver][place] += units
    s.link_swaps[giver][place] += 1


def link_sale(s, device_type, buyer, seller, units):
    """Add a device that is sold, and the units that are paid for it."""
    s.link_paid[buyer][link_to(s, buyer, seller)] += units
    s.link_devices[seller][device_type][link_to(s, seller, buyer)] += 1
