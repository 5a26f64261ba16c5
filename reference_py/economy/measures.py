"""What do economists measure of a day? Prices, income, consumption, wealth, and inequality.

Source: docs/model.md, "Economic measures". They are taken if ``record.measures`` asks for them, and
no decision depends on them. Sums over agents and resources run over the fixed tree of
`reference_py.primitives.reduce`, those of a resource's prices in the order of the agents.
Device twin: ``kernels/economy/measures.cl``.
"""

import math

from reference_py.economy.curves import effort, total_utility, utility_curve
from reference_py.economy.devices import (
    BOTTOM_UP,
    COMPONENT,
    TOOL,
    TYPES,
    components,
    device_curve,
    has_recipe,
)
from reference_py.economy.statistics import gini, median, utility_of_holdings
from reference_py.economy.valuation import value_of_last_unit
from reference_py.primitives.reduce import reduce_sum

COMPARED = ("income", "consumption", "wealth")
"""Quantities of an agent whose mean, median, Gini coefficient and top shares are recorded."""

POLICY_COMPARED = ("disposable_income",)
"""The same in addition if there are taxes or transfers."""

SUMMED = ("units_consumed", "income_extraction", "income_swaps")
DEVICE_SUMMED = ("income_sales", "spending_devices", "wealth_stocks", "wealth_devices")
POLICY_SUMMED = ("redistributed",)
"""Quantities whose mean alone is recorded, and those that devices or policies bring."""

FIELDS = {"consumption": "utility_consumed"}
"""Fields of the state that hold a quantity, where they have another name."""

TOPS = (0.01, 0.1, 0.5)
"""Which part of the agents, the richest first, has the share of a total that is recorded."""

PRICES = ("price_mean", "price_dispersion", "price_dispersion_within")
"""Measures of the prices of all resources."""

ACCOUNTS = ("income_swaps", "income_sales", "spending_devices")
"""Fields of an agent that are added up in the course of a day."""


def measured(p):
    """Return the quantities of an agent that are recorded."""
    summed = (*SUMMED, *(POLICY_SUMMED if p.policies else ()))
    return (*compared(p), *summed, *(DEVICE_SUMMED if p.devices is not None else ()))


def compared(p):
    """Return the quantities whose median, Gini coefficient and top shares are recorded, too."""
    return (*COMPARED, *(POLICY_COMPARED if p.policies else ()))


def measure_names(p):
    """Return the names of the society's measures, in the order of the array ``measures``."""
    return (
        *measured(p),
        *(f"{name}_median" for name in compared(p)),
        *(f"gini_{name}" for name in compared(p)),
        *(f"top_share_{name}_{top}" for name in compared(p) for top in range(len(TOPS))),
        *PRICES,
        *(f"group_{name}_{g}" for name in COMPARED for g in range(p.groups) if p.groups > 1),
    )


def begin_measures(p, s):
    """Begin the accounts of a day."""
    for agent in range(p.agents):
        for name in ACCOUNTS if p.devices is not None else ACCOUNTS[:1]:
            getattr(s, name)[agent] = 0.0
        s.priced_units[agent] = [0] * p.resources
        s.priced_for[agent] = [0] * p.resources
        s.priced_squares[agent] = [0.0] * p.resources


def account_swap(p, s, agent, gives, given, gets, got, gained):
    """Add a swap to the accounts of one of the two agents, which gives ``given`` units.

    Each swap has a price for both of its resources; that of a resource is counted at the agent who
    gives it away. With a numeraire, only what is given for it has a price.
    """
    s.income_swaps[agent] += gained
    if p.numeraire in (None, gets):
        s.priced_units[agent][gives] += given
        s.priced_for[agent][gives] += got
        s.priced_squares[agent][gives] += float(got) * float(got) / float(given)


def measure_extraction(p, s):
    """Value what every living agent has extracted today: the utility that it added."""
    for agent in range(p.agents):
        if s.alive[agent]:
            held, extracted = s.held[agent], s.extracted[agent]
            added = []
            for r in range(p.resources):
                curve = utility_curve(p, agent, r)
                now = total_utility(curve, held[r])
                added.append(now - total_utility(curve, held[r] - extracted[r]))
            s.income_extraction[agent] = reduce_sum(added)


def agent_measures(p, s):
    """Close the accounts of every living agent, after it has consumed."""
    if p.devices is not None:
        living = [agent for agent in range(p.agents) if s.alive[agent]]
        s.minute_value = median([s.gain_per_minute[agent] for agent in living])
    for agent in range(p.agents):
        if not s.alive[agent]:
            continue
        stocks = utility_of_holdings(p, s, agent)
        s.units_consumed[agent] = s.units_held[agent] - sum(s.held[agent])
        s.utility_consumed[agent] = s.utility[agent] - stocks
        s.income[agent] = s.income_extraction[agent] + s.income_swaps[agent]
        s.wealth[agent] = stocks
        if p.devices is not None:
            devices = reduce_sum(worth_of_devices(p, s, agent))
            s.income[agent] += s.income_sales[agent]
            s.wealth_stocks[agent] = stocks
            s.wealth_devices[agent] = devices
            s.wealth[agent] += devices
        if p.policies:
            s.disposable_income[agent] = s.income[agent] + s.redistributed[agent]


def worth_of_devices(p, s, agent):
    """Return what the use that is left in an agent's devices is worth, a list by resource.

    A minute of use is worth what making a new device would cost the agent, over its lifetime.
    """
    cost, worth = reproduction_costs(p, s, agent), [0.0] * p.resources
    for device_type in range(TYPES):
        owned = s.device_minutes[agent][device_type]
        for r in range(p.resources):
            worth[r] += owned[r] / p.device_lifetime[device_type] * cost[device_type][r]
    return worth


def reproduction_costs(p, s, agent):
    """Return what making each device from resources by hand would cost the agent, util.

    The minutes that it would take are valued at what a minute brings the median agent: its own
    last minute may have been of a day that was full of making, and tell nothing of other days.
    """
    cost = [[0.0] * p.resources for _ in range(TYPES)]
    for device_type in BOTTOM_UP:
        for r in range(p.resources):
            if not has_recipe(s, device_type, r):
                continue
            experience = s.device_experience[agent][device_type][r]
            total = effort(device_curve(p, agent, r), experience) * s.minute_value
            for k in components(s, device_type, r):  # ascending
                if device_type == TOOL:
                    total += value_of_last_unit(p, s, agent, k)
                else:
                    total += cost[COMPONENT[device_type]][k]
            cost[device_type][r] = total
    return cost


def society_measures(p, s):
    """Set the prices of every resource, and ``measures`` to the numbers of the society."""
    living = [agent for agent in range(p.agents) if s.alive[agent]]
    count = float(len(living))
    means, medians, ginis, shares = [], [], [], []
    for name in measured(p):
        values = [float(value) for value in getattr(s, FIELDS.get(name, name))]
        total = reduce_sum(values)
        means.append(total / count)
        if name in compared(p):
            of_living = [values[agent] for agent in living]
            medians.append(median(of_living))
            ginis.append(gini(of_living, total))
            shares += [top_share(of_living, total, top) for top in TOPS]
    of_groups = []
    if p.groups > 1:
        of_groups = [mean_of(p, s, name, g) for name in COMPARED for g in range(p.groups)]
    s.measures = [*means, *medians, *ginis, *shares, *prices(p, s), *of_groups]


def mean_of(p, s, name, group):
    """Return the mean of a quantity over a group's living members; NaN if none is left."""
    own = [p.group_of_agent[agent] == group for agent in range(p.agents)]
    quantity = getattr(s, FIELDS.get(name, name))
    values = [float(quantity[agent]) if own[agent] else 0.0 for agent in range(p.agents)]
    living = sum(s.alive[agent] for agent in range(p.agents) if own[agent])
    return reduce_sum(values) / float(living) if living else math.nan


def top_share(values, total, top):
    """Return the share of the total that the richest part of the agents has; 0 if there is none.

    Where the part is no whole number of agents, the next one counts with the fraction.
    """
    if total == 0.0:
        return 0.0
    room = top * float(len(values))
    whole = int(room)
    rank = [len(values) - 1 - i for i in range(len(values))]  # 0 is the richest
    weights = [1.0 if r < whole else room - float(whole) if r == whole else 0.0 for r in rank]
    weighted = [weight * value for weight, value in zip(weights, sorted(values), strict=True)]
    return reduce_sum(weighted) / total


def prices(p, s):
    """Set price, dispersion and units of every resource; return the measures of all prices."""
    means, spreads, weights = [0.0] * p.resources, [0.0] * p.resources, [0.0] * p.resources
    for r in range(p.resources):
        units = sum(s.priced_units[agent][r] for agent in range(p.agents))
        taken = sum(s.priced_for[agent][r] for agent in range(p.agents))
        squares = 0.0
        for agent in range(p.agents):
            squares += s.priced_squares[agent][r]
        s.resource_units_priced[r] = float(units)
        s.resource_price[r] = s.resource_price_dispersion[r] = math.nan
        if units > 0:
            weights[r] = float(units)
            means[r] = float(taken) / float(units)
            variance = squares / float(units) - means[r] * means[r]
            spreads[r] = math.sqrt(max(0.0, variance)) / means[r]
            s.resource_price[r], s.resource_price_dispersion[r] = means[r], spreads[r]
    priced = float(sum(weight > 0.0 for weight in weights))
    if priced == 0.0:
        return [math.nan] * len(PRICES)
    mean = reduce_sum(means) / priced
    squares = [
        (m - mean) * (m - mean) if w > 0.0 else 0.0 for m, w in zip(means, weights, strict=True)
    ]
    within = reduce_sum([w * spread for w, spread in zip(weights, spreads, strict=True)])
    return [mean, math.sqrt(reduce_sum(squares) / priced) / mean, within / reduce_sum(weights)]
