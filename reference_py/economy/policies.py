"""Which units of resources do taxes pay into the fund each evening, and transfers out of it?

Source: docs/model.md, "Taxes and transfers". No unit is lost: an agent still owes a fraction of a
unit on the next evening, and units that the fund cannot divide stay in it. Agents do not foresee
taxes and transfers.
Device twin: ``kernels/economy/policies.cl``.
"""

from reference_py.economy.listener import notify
from reference_py.economy.statistics import utility_of_holdings

EQUAL, POOREST, POOREST_PART, LEAST, LEAST_PART, MAKING = range(6)
"""Positions in ``fund_shares``: shares of the fund, and which part of the agents gets a share."""


def collect_taxes(p, s):
    """Let every living agent pay its taxes on holdings, income and sales into the fund."""
    for agent in range(p.agents):
        if s.alive[agent]:
            pay_taxes(p, s, agent)
    for r in range(p.resources):
        s.fund[r] += float(sum(paid[r] for paid in s.tax_paid))


def pay_taxes(p, s, agent):
    """Take the whole units that are due from the agent; begin its counts of the next day."""
    held, received, given = s.held[agent], s.units_received[agent], s.units_given[agent]
    extracted = s.extracted[agent]
    income = [max(0, extracted[r] + received[r] - given[r]) for r in range(p.resources)]
    taxes = (p.holdings_tax, p.income_tax, p.sales_tax)
    bases = (held, income, received)
    rates = [average_rate(tax, sum(base)) for tax, base in zip(taxes, bases, strict=True)]
    before, bases = utility_of_holdings(p, s, agent), [list(base) for base in bases]
    for r in range(p.resources):
        due = s.tax_owed[agent][r]
        for rate, base in zip(rates, bases, strict=True):
            due += rate * float(base[r])
        whole = int(due)
        s.tax_owed[agent][r] = due - float(whole)
        paid = min(whole, held[r])
        s.tax_paid[agent][r] = paid
        held[r] -= paid
        received[r] = given[r] = 0
    s.units_taxed[agent] = sum(s.tax_paid[agent])
    s.units_extracted[agent] = sum(extracted)
    s.taxed_utility[agent] = utility_of_holdings(p, s, agent)
    s.redistributed[agent] = s.taxed_utility[agent] - before
    if s.listener is not None:
        facts = {"base": [sum(base) for base in bases], "rates": rates}
        after = {"paid": list(s.tax_paid[agent]), "owed": list(s.tax_owed[agent])}
        notify(s, "tax", agent=agent, **facts, **after)


def average_rate(tax, units):
    """Return the share of ``units`` that is due; each bracket taxes the units within it."""
    rate, middle_from, middle_rate, top_from, top_rate = tax
    if units == 0:
        return 0.0
    base = float(units)
    due = rate * min(base, middle_from)
    due += middle_rate * max(0.0, min(base, top_from) - middle_from)
    due += top_rate * max(0.0, base - top_from)
    return due / base


def pay_transfers(p, s):
    """Pay whole units from the fund: subsidies by minutes of making, other shares equally."""
    living = [agent for agent in range(p.agents) if s.alive[agent]]
    poorest = first_part(living, s.taxed_utility, p.fund_shares[POOREST_PART])
    least = first_part(living, s.units_extracted, p.fund_shares[LEAST_PART])
    paid = [
        (p.fund_shares[EQUAL], living),
        (p.fund_shares[POOREST], poorest),
        (p.fund_shares[LEAST], least),
    ]
    for group, share in enumerate(p.transfer_share):
        paid.append((share, [agent for agent in living if p.group_of_agent[agent] == group]))
    making = minutes_of_making(p, s)
    for agent in living:
        got = s.transfer_received[agent]
        for r in range(p.resources):
            got[r] = sum(part(s.fund[r], share, who) for share, who in paid if agent in who)
            got[r] += subsidy(s.fund[r], p.fund_shares[MAKING], making, agent)
            s.held[agent][r] += got[r]
        s.units_transferred[agent] = sum(got)
        s.redistributed[agent] += utility_of_holdings(p, s, agent) - s.taxed_utility[agent]
        if s.listener is not None:
            why = {"poorest": agent in poorest, "least_extracting": agent in least}
            why["making"] = making[agent] if p.fund_shares[MAKING] else 0.0
            notify(s, "transfer", agent=agent, received=list(got), **why)
    for r in range(p.resources):
        s.fund[r] -= float(sum(got[r] for got in s.transfer_received))


def minutes_of_making(p, s):
    """Return the minutes that each agent spent making devices today; 0 for removed agents."""
    minutes = [0.0] * p.agents
    for agent in range(p.agents) if p.devices is not None else ():
        for of_type in s.making_minutes[agent] if s.alive[agent] else ():
            minutes[agent] += of_type
    return minutes


def subsidy(fund, share, making, agent):
    """Return the whole units that an agent gets for making, in proportion to its minutes of it."""
    total = 0.0
    for minutes in making:  # in order: `sum` of later Pythons rounds in another way
        total += minutes
    if total == 0.0:
        return 0
    return int(float(int(fund * share)) * (making[agent] / total))


def first_part(agents, values, part):
    """Return the fraction ``part`` of the agents that has the lowest values, at least one agent.

    Of agents with equal values the lower number comes first. The number of agents is rounded to the
    nearest whole one, halves upwards.
    """
    count = max(1, int(part * float(len(agents)) + 0.5))
    return sorted(agents, key=lambda agent: (values[agent], agent))[:count]


def part(fund, share, who):
    """Return the units that each of the agents in ``who`` gets from a share of the fund."""
    return int(fund * share) // len(who)
