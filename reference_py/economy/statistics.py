"""What are the statistics of a day? They are taken of a society before consumption.

Source: docs/model.md, "Statistics". Sums of real numbers run over the fixed tree of
`reference_py.primitives.reduce`, so that every device adds in the same order.
Device twins: ``kernels/economy/statistics.cl``, ``kernels/economy/device_statistics.cl``,
``kernels/economy/group_statistics.cl``, ``kernels/economy/society_at_once.cl`` and
``kernels/economy/order.cl``.
"""

import math

from reference_py.economy.curves import total_utility, utility_curve
from reference_py.economy.devices import DEVICE_TYPES, EXTRACTING, MACHINE, SOURCES, TOOL, TYPES
from reference_py.economy.listener import notify
from reference_py.primitives.reduce import reduce_sum


def agent_statistics(p, s):
    """Add up every living agent's day."""
    for agent in range(p.agents):
        if not s.alive[agent]:
            continue
        held, extracted = s.held[agent], s.extracted[agent]
        s.units_extracted[agent] = sum(extracted)
        s.resources_extracted[agent] = sum(units > 0 for units in extracted)
        s.units_held[agent] = sum(held)
        s.units_traded[agent] = s.units_sold[agent]  # consumption resets the counter
        s.largest_holding[agent] = max(held)
        s.utility_2[agent] = s.utility_1[agent]
        s.utility_1[agent] = s.utility[agent]
        s.utility[agent] = utility_of_holdings(p, s, agent)
        if p.devices is not None:
            device_holdings(s, agent)


def utility_of_holdings(p, s, agent):
    """Return the utility of all that the agent holds."""
    return reduce_sum(
        [total_utility(utility_curve(p, agent, r), s.held[agent][r]) for r in range(p.resources)]
    )


def report_utility(p, s, agent):
    """Report what the agent's holdings are worth to it at this moment."""
    notify(s, "utility", agent=agent, utility=utility_of_holdings(p, s, agent))


def device_holdings(s, agent):
    """Add up an agent's devices of every type."""
    s.device_stock[agent] = [reduce_sum(minutes) for minutes in s.device_minutes[agent]]
    s.made_today[agent] = [sum(made) for made in s.devices_made[agent]]


def society_statistics(p, s, day):
    """Set ``series`` to the society's numbers of the day, by name."""
    living = [agent for agent in range(p.agents) if s.alive[agent]]
    count = float(len(living))

    def mean(values):
        return reduce_sum([float(value) for value in values]) / count

    def of_living(values):
        return [values[agent] for agent in living]

    row = {
        "units_extracted": float(sum(s.units_extracted)) / count,
        "units_held": float(sum(s.units_held)) / count,
        "units_traded": float(sum(s.units_sold)) / count,
        "deals": float(sum(s.deals)) / count,
        "resources_extracted": float(sum(s.resources_extracted)) / count,
        "units_held_max": float(max(s.largest_holding)),
        "agents_alive": count,
        "minutes_hand": mean(s.minutes),
        "utility": mean(s.utility),
        "utility_median": median(of_living(s.utility)),
        "gini": gini(of_living(s.utility), reduce_sum(s.utility)),
        "gini_3day": math.nan,
        "gini_paper": math.nan,
    }
    if day >= 3:
        three = [
            (two + one) + now
            for two, one, now in zip(s.utility_2, s.utility_1, s.utility, strict=True)
        ]
        total = reduce_sum(s.utility_total)  # through yesterday
        around = reduce_sum(three)
        row["gini_3day"] = gini(of_living(three), around)
        row["gini_paper"] = 0.0 if total == 0.0 else row["gini_3day"] * (around / total)
    for agent in living:
        s.utility_total[agent] += s.utility[agent]
    row["gini_cumulative"] = gini(of_living(s.utility_total), reduce_sum(s.utility_total))
    units = [float(extracted) for extracted in s.units_extracted]
    row["gini_extracted"] = gini(of_living(units), reduce_sum(units))
    for i, value in enumerate(quartiles(concentration(p, s))):
        row[f"hhi_{i}"] = value
    if p.devices is not None:
        device_knowledge(p, s)
        row |= device_means(p, s, count)
        row |= device_statistics(p, s, day, count)
    if p.policies:
        row |= policy_statistics(s, count)
    for group in range(len(p.trade_power)) if len(p.trade_power) > 1 else ():
        row |= group_statistics(p, s, group)
    s.series = row


def device_knowledge(p, s):
    """Count the agents that know how to make each device."""
    for device_type in range(TYPES):
        s.agents_knowing[device_type] = [
            sum(experience[device_type][r] > 0.0 for experience in s.device_experience)
            for r in range(p.resources)
        ]


def device_means(p, s, count):
    """Return the means of the quantities of devices over the living agents, ``count`` of them."""

    def mean(values):
        return reduce_sum(values) / count

    row = {"overtime": mean(s.overtime)}
    for source, name in enumerate(SOURCES):
        row[f"minutes_{name}"] = mean([minutes[source] for minutes in s.minutes_with])
    for device_type, name in enumerate(DEVICE_TYPES):
        row[f"minutes_making_{name}"] = mean([minutes[device_type] for minutes in s.making_minutes])
        stock = mean([minutes[device_type] for minutes in s.device_stock])
        row[f"devices_held_{name}"] = stock / p.device_lifetime[device_type]
    return row


def device_statistics(p, s, day, count):
    """Return the counts of devices and the shares of units; ``count`` is that of living agents."""

    def per_agent(counts):
        return float(sum(counts)) / count

    def share(part, whole):
        return float(part) / float(whole) if whole > 0 else 0.0

    row = {
        "units_paid_for_devices": per_agent(s.units_paid),
        "interdependence": 0.0,
    }
    extracted = [sum(units[source] for units in s.extracted_with) for source in range(5)]
    row["extraction_share_hand"] = share(extracted[0], sum(extracted))
    for device_type, name in enumerate(DEVICE_TYPES):
        made = [agent[device_type] for agent in s.made_today]
        row[f"devices_made_{name}"] = per_agent(made)
        row[f"devices_traded_{name}"] = per_agent([sold[device_type] for sold in s.devices_sold])
        row[f"devices_known_{name}"] = float(sum(n > 0 for n in s.agents_knowing[device_type]))
        row[f"inventions_{name}"] = float(s.invented_on[device_type].count(day))
        if device_type in (TOOL, MACHINE):
            fast = sum(agent[device_type] for agent in s.made_with_device)
            row[f"device_maker_share_{name}s"] = share(fast, sum(made))
    for device_type in EXTRACTING:
        name = DEVICE_TYPES[device_type]
        row[f"extraction_share_{name}"] = share(extracted[1 + device_type], sum(extracted))
        contained = float(p.resources_in_tool * p.components**device_type)
        row["interdependence"] += row[f"extraction_share_{name}"] * contained
    return row


def policy_statistics(s, count):
    """Return the series of taxes and transfers; ``count`` is that of living agents."""
    return {
        "units_taxed": float(sum(s.units_taxed)) / count,
        "units_transferred": float(sum(s.units_transferred)) / count,
        "units_in_fund": sum(s.fund),  # of whole numbers
    }


def group_statistics(p, s, group):
    """Return the series of one of several groups; reset its counts of trade with other groups."""
    members = [agent for agent in range(p.agents) if p.group_of_agent[agent] == group]
    count = sum(s.alive[agent] for agent in members)

    def per_agent(values):
        return float(sum(values[agent] for agent in members)) / count if count else math.nan

    of_members = [
        utility if p.group_of_agent[agent] == group else 0.0
        for agent, utility in enumerate(s.utility)
    ]
    row = {
        "agents_alive": float(count),
        "units_extracted": per_agent(s.units_extracted),
        "units_held": per_agent(s.units_held),
        "units_traded": per_agent(s.units_sold),
        "units_traded_outside": per_agent(s.units_sold_outside),
        "utility": reduce_sum(of_members) / count if count else math.nan,
    }
    if p.devices is not None:
        row["units_paid_for_devices"] = per_agent(s.units_paid)
        row["units_paid_outside"] = per_agent(s.units_paid_outside)
    named = {f"group_{name}_{group}": value for name, value in row.items()}
    for agent in members:
        s.units_sold_outside[agent] = 0
    if p.devices is not None:
        for device_type, name in enumerate(DEVICE_TYPES):
            made = per_agent([agent[device_type] for agent in s.made_today])
            named[f"group_devices_made_{group}_{name}"] = made
        for agent in members:
            s.units_paid_outside[agent] = 0
    return named


def gini(values, total):
    """Return the Gini coefficient of the values, whose sum is ``total``; 0 if the sum is 0.

    ``2 sum(i u_i) / (n sum(u)) - (n + 1) / n`` over the values sorted ascending, i from 1.
    """
    if total == 0.0:
        return 0.0
    count = float(len(values))
    weighted = reduce_sum([float(i + 1) * value for i, value in enumerate(sorted(values))])
    return max(0.0, 2.0 * weighted / (count * total) - (count + 1.0) / count)


def median(values):
    """Return the middle of the sorted values; of an even number, the mean of the middle two."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2.0


def concentration(p, s):
    """Return the Herfindahl-Hirschman index of every resource: sum of squared shares extracted."""
    result = []
    for r in range(p.resources):
        total = sum(s.extracted[agent][r] for agent in range(p.agents))
        index = 0.0
        if total > 0:
            for agent in range(p.agents):
                share = float(s.extracted[agent][r]) / float(total)
                index += share * share
        result.append(index)
    return result


def quartiles(values):
    """Return minimum, quartiles and maximum, by linear interpolation between sorted values."""
    ordered = sorted(values)
    result = []
    for quarter in range(5):
        place = quarter * (len(ordered) - 1)
        below, part = place // 4, (place % 4) / 4.0
        value = ordered[below]
        if part > 0.0:
            value += part * (ordered[below + 1] - ordered[below])
        result.append(value)
    return result
