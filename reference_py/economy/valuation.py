"""What is a device worth to an agent, what would it cost to make, and can the agent make it?

Source: docs/model.md, "What a device is worth". All of it follows from the agent's own state and
the recipes. Costs, times and needs go level by level from tools upwards or downwards to them, never
by recursion; a device's use is evaluated in stretches of constant effort, never unit by unit.
Device twins: ``kernels/economy/valuation.cl``, ``kernels/economy/benefit.cl`` and, for what is
cached of them, ``kernels/economy/appraisals.cl``.
"""

import math

from reference_py.economy.curves import (
    effort_curve,
    marginal_utility,
    total_utility,
    utility_curve,
)
from reference_py.economy.devices import (
    COMPONENT,
    EXTRACTING,
    MADE_BY,
    TOOL,
    components,
    device_curve,
    has_recipe,
    levels,
    making_speed,
    making_time,
)


def expected_price(p, s, agent, device_type, resource):
    """Return the mean price that the agent paid lately, or None if it bought too rarely."""
    paid = [price for price in s.prices[agent][device_type][resource] if price > 0.0]
    if len(paid) < p.device_memory // 2:
        return None
    total = 0.0
    for price in paid:  # newest first
        total += price
    return total / float(len(paid))


def costs(p, s, agent, device_type):
    """Return what each device of the type costs the agent, and the minutes it would spend.

    A device that can be bought costs its expected price and no time. Any other costs the value of
    the time for making it and the costs of its components, or of a tool's resources the marginal
    utilities of the last units held.

    Returns
    -------
    cost, minutes : lists over resources; 0 where there is no recipe
    """
    cost, minutes = [], []
    for level in reversed(levels(device_type)):
        below_cost, below_minutes = cost, minutes
        cost, minutes = [0.0] * p.resources, [0.0] * p.resources
        for r in range(p.resources):
            if not has_recipe(s, level, r):
                continue
            price = expected_price(p, s, agent, level, r)
            if price is not None:
                cost[r] = price
                continue
            minutes[r] = making_time(p, s, agent, level, r)
            cost[r] = minutes[r] * s.gain_per_minute[agent]
            for k in components(s, level, r):  # ascending
                if level == TOOL:
                    cost[r] += value_of_last_unit(p, s, agent, k)
                else:
                    cost[r] += below_cost[k]
                    minutes[r] += below_minutes[k]
    return cost, minutes


def value_of_last_unit(p, s, agent, resource):
    """Return the marginal utility of the last unit held; 0 if there is none."""
    return marginal_utility(utility_curve(p, agent, resource), s.held[agent][resource] - 1)


def worst_case(p, s, agent, device_type, resource):
    """Return the minutes and units of resources that one device takes if nothing can be bought.

    Whole owned components are used up first. Making more of one kind teaches: each takes as long as
    with one experience more, whatever its type teaches.

    Returns
    -------
    minutes : float
    units : list over resources
    """
    minutes = making_time(p, s, agent, device_type, resource)
    need = [0] * p.resources
    need[resource] = 1
    for level in levels(device_type)[:-1]:
        below = COMPONENT[level]
        need = needed(p, s, level, need)
        for k in range(p.resources):
            if need[k] > 0:
                owned = math.floor(s.device_minutes[agent][below][k])
                need[k] = max(0, need[k] - int(float(owned) / p.device_lifetime[below]))
                curve, experience = device_curve(p, agent, k), s.device_experience[agent][below][k]
                series = minutes_in_series(curve, experience, need[k])
                minutes += series / making_speed(p, s, agent, below, k)
    return minutes, needed(p, s, TOOL, need)


def needed(p, s, device_type, count):
    """Return how many components of each resource ``count`` devices of one type need, a list."""
    result = [0] * p.resources
    for r in range(p.resources):
        if count[r] > 0:
            for k in components(s, device_type, r):
                result[k] += count[r]
    return result


def minutes_in_series(curve, experience, count):
    """Return the minutes for ``count`` devices; each adds 1 to the experience."""
    last = len(curve.minutes) - 1
    begin, end = int(experience), int(experience) + count
    inside = curve.total[min(end, last)] - curve.total[min(begin, last)]
    return inside + float(max(0, end - max(begin, last))) * curve.minutes[last]


def can_make(p, s, agent, device_type, resource):
    """Return whether the agent knows the device and has the time and the resources to make one."""
    return obstacle(p, s, agent, device_type, resource) is None


def obstacle(p, s, agent, device_type, resource):
    """Return why the agent cannot make the device; None if it can."""
    if s.device_experience[agent][device_type][resource] < 1.0:
        return "knows too little", ()
    minutes, units = worst_case(p, s, agent, device_type, resource)
    if not s.reserved_minutes[agent] + minutes < p.day_length:
        return "no time to make it", ()
    held = s.held[agent]
    short = [r for r in range(p.resources) if units[r] > held[r]]
    return ("lacks", short) if short else None


def stock(p, s, agent, device_type, resource):
    """Return the owned minutes that count against owning more: of all types that extract.

    They are added up from tools on, as far as there are recipes. A device that makes devices counts
    alone.
    """
    if device_type not in EXTRACTING:
        return s.device_minutes[agent][device_type][resource]
    total = 0.0
    for other in EXTRACTING:
        if not has_recipe(s, other, resource):
            break
        total += s.device_minutes[agent][other][resource]
    return total


def benefit(p, s, agent, device_type, resource):
    """Return what one more device would bring the agent over its lifetime, in util.

    A device that extracts brings the utility of the units obtained with it, after those that the
    agent owns are used up, the best first. A device that makes devices brings the value of the time
    that it saves.
    """
    if not s.available[resource]:
        return 0.0
    if device_type in EXTRACTING:
        found = benefit_of_extracting(p, s, agent, device_type, resource)
    else:
        found = benefit_of_making(p, s, agent, device_type, resource)
    rule = p.rules.get("device.worth")
    if rule is None:
        return found
    worth = rule(
        benefit=found,
        device_type=device_type,
        resource=resource,
        lifetime=p.device_lifetime[device_type],
        owned=s.device_minutes[agent][device_type][resource],
        gain_per_minute=s.gain_per_minute[agent],
    )
    return worth if 0.0 < worth < math.inf else 0.0


def what_it_brings(benefit, device_type, resource, lifetime, owned, gain_per_minute):
    """Return the utility of the units that one more device extracts or of the time that it saves.

    It is 0 if the agent has enough of such devices.
    """
    return benefit


def benefit_of_extracting(p, s, agent, device_type, resource):
    """Return the utility of the units that one more device would extract."""
    if stock(p, s, agent, device_type, resource) > p.days_to_hold * p.day_length:
        return 0.0
    curve = effort_curve(p, agent, resource)
    held, experience = s.held[agent][resource], s.experience[agent][resource]
    time, owned, before = 0.0, 0.0, 0
    for better in reversed(EXTRACTING[device_type:]):
        owned += s.device_minutes[agent][better][resource]
        units, experience, time = use(curve, experience, time, owned, p.device_factor[better], 1.0)
        before += units
    end = owned + p.device_lifetime[device_type]
    units, _, _ = use(curve, experience, time, end, p.device_factor[device_type], 1.0)
    first, last = held + before, held + before + units
    if not time > owned:  # a unit begun at the very first moment does not count
        first = min(first + 1, last)
    utility = utility_curve(p, agent, resource)
    return total_utility(utility, last) - total_utility(utility, first)


def benefit_of_making(p, s, agent, device_type, resource):
    """Return the value of the time that one more device-making device would save."""
    owned, made = s.device_minutes[agent][device_type][resource], MADE_BY[device_type]
    if owned >= p.days_to_hold * p.day_length:
        return 0.0
    lifetime, factor = p.device_lifetime[device_type], p.device_factor[device_type]
    enough = p.min_made_for_device_maker * (int(owned / lifetime) + 1)
    if sum(s.recently_made[agent][made][resource]) <= enough:
        return 0.0
    curve, experience = device_curve(p, agent, resource), s.device_experience[agent][made][resource]
    learning = p.device_experience_for_making[made]
    _, experience, _ = use(curve, experience, 0.0, owned, factor, learning)
    count, _, with_device = use(curve, experience, 0.0, lifetime, factor, 1.0)
    by_hand = minutes_in_series(curve, experience, count)
    return (by_hand - with_device) * s.gain_per_minute[agent]


def use(curve, experience, time, end, factor, learning):
    """Use a device from ``time`` on until ``end`` is reached, in stretches of constant effort.

    A unit takes ``effort / factor`` minutes and adds ``learning / factor`` to the experience. While
    the whole part of the experience stays the same, so does the effort, and units are counted by
    one division. If a whole number of units makes one experience, levels that are passed completely
    are skipped at once: their efforts are added up in the curve's table.

    Returns
    -------
    units : int, with the one that reaches ``end``
    experience, time : float, afterwards
    """
    last, units = len(curve.minutes) - 1, 0
    units_a_level = factor / learning
    while time < end:
        level = min(int(experience), last)
        minutes = curve.minutes[level]
        count = to_end = math.ceil((end - time) * factor / minutes)
        if level < last:
            count = min(to_end, math.ceil((float(level + 1) - experience) * units_a_level))
        units += count
        experience += float(count) / units_a_level
        time += float(count) * minutes / factor
        if count == to_end:
            break
        level = min(int(experience), last)
        if units_a_level == math.floor(units_a_level):
            passed = levels_passed(curve, level, time, end, learning)
            units += passed * int(units_a_level)
            experience += float(passed)
            time += (curve.total[level + passed] - curve.total[level]) / learning
    return units, experience, time


def levels_passed(curve, level, time, end, learning):
    """Return how many levels of experience are passed completely before ``end``."""
    low, high = level, len(curve.minutes) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if time + (curve.total[middle] - curve.total[level]) / learning < end:
            low = middle
        else:
            high = middle - 1
    return low - level


def buyers_value(p, s, agent, device_type, resource, cost):
    """Return the most that the agent would pay; ``cost`` is what making one costs it."""
    time = s.gain_per_minute[agent] * p.device_lifetime[device_type]
    value = benefit(p, s, agent, device_type, resource) - time
    if value <= 0.0:
        return 0.0
    if s.device_experience[agent][device_type][resource] >= 1.0:
        return min(value, cost)
    return value
