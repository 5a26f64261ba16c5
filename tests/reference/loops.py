"""The benefit of a device by the model's loops, unit by unit, as its text has them (5.4.3)."""

import math

from reference_py.economy import valuation
from reference_py.economy.curves import effort, effort_curve, marginal_utility, utility_curve
from reference_py.economy.devices import EXTRACTING, MADE_BY, device_curve


def plain_benefit(p, s, agent, device, resource):
    """Return what one more device would bring the agent."""
    if not s.available[resource]:
        return 0.0
    if device not in EXTRACTING:
        return plain_benefit_of_making(p, s, agent, device, resource)
    if valuation.stock(p, s, agent, device, resource) > p.days_to_hold * p.day_length:
        return 0.0
    owned = {q: s.device_minutes[agent][q][resource] for q in EXTRACTING[device:]}
    curve, utility = effort_curve(p, agent, resource), utility_curve(p, agent, resource)
    before, experience = sum(reversed(owned.values())), s.experience[agent][resource]
    time = learned = total = 0.0
    units = 0
    while time < before + p.device_lifetime[device]:
        if time > before:
            total += marginal_utility(utility, s.held[agent][resource] + units)
        in_use, until = device, 0.0
        for q in reversed(EXTRACTING[device:]):
            until += owned[q]
            if time < until:
                in_use = q
                break
        factor = p.device_factor[in_use]
        time += effort(curve, experience + learned) / factor
        learned += 1.0 / factor
        units += 1
    return total


def plain_benefit_of_making(p, s, agent, device, resource):
    owned, made = s.device_minutes[agent][device][resource], MADE_BY[device]
    life, factor = p.device_lifetime[device], p.device_factor[device]
    enough = p.min_made_for_device_maker * (math.floor(owned / life) + 1)
    if owned >= p.days_to_hold * p.day_length:
        return 0.0
    if sum(s.recently_made[agent][made][resource]) <= enough:
        return 0.0
    curve, experience = device_curve(p, agent, resource), s.device_experience[agent][made][resource]
    learning = p.device_experience_for_making[made]
    time = worn = 0.0
    while time < owned:
        time += effort(curve, experience + worn) / factor
        worn += learning / factor
    learned, with_device, count = worn, 0.0, 0
    while with_device < life:
        with_device += effort(curve, experience + learned) / factor
        learned += 1.0 / factor
        count += 1
    learned, by_hand = worn, 0.0
    for _ in range(count):
        by_hand += effort(curve, experience + learned)
        learned += 1.0
    return (by_hand - with_device) * s.gain_per_minute[agent]
