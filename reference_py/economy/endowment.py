"""What does every agent hold before the first day? Its endowment with each resource.

Source: docs/model.md, "Endowments". What one more unit is worth is known from then on, so that the
first market can open before anything was extracted.
Device twin: ``kernels/economy/endowment.cl``.
"""

from reference_py.economy.end_day import refresh_values


def endow(p, s):
    """Give every agent the units of its group, and let it remember what one more is worth."""
    for agent in range(p.agents):
        s.held[agent] = list(p.endowment[p.group_of_agent[agent]])
    refresh_values(p, s)
