"""Who meets whom in the resource market? Every round has a random permutation of all agents.

Positions 0 and 1 of a round meet, then 2 and 3, and so on; an odd last agent rests. Removed
agents keep their place: their meetings do nothing. A rule of a user may put the agents in another
order (`societies rules economy`). Source: docs/model.md, "The resource market".
Device twin: ``kernels/economy/matching.cl``.
"""

from reference_py.economy.streams import drawing


def matching(p, s):
    """Draw the partners of all rounds of one market call (Fisher-Yates from the top)."""
    with drawing(p, s, p.agents, "resource_matching") as rng:
        for round_ in range(p.rounds):
            order = list(range(p.agents))
            for i in range(p.agents - 1, 0, -1):
                j = rng.below(i + 1)
                order[i], order[j] = order[j], order[i]
            s.partners[round_] = ordered(p, order, round_)


def ordered(p, order, market_round):
    """Return the agents in the order in which they meet in a round, given a random one."""
    rule = p.rules.get("trading.meeting")
    if rule is None:
        return order

    def number(agent):
        group = p.group_of_agent[agent]
        return rule(agent=agent, agents=p.agents, group=group, market_round=market_round)

    return sorted(order, key=number)  # agents with equal numbers stay in the random order


def in_random_order(agent, agents, group, market_round):
    """Return 0: the order is random, and every pair of agents is equally likely to meet."""
    return 0
