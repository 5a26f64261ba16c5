"""What is a unit worth to an agent, and how long does it take? The curves' tables say it.

Source: docs/model.md, "Utility" and "Effort". `tables` makes the tables; beyond the utility
table every unit is worth the curve's floor. Device twin: ``kernels/economy/curves.cl``.
"""


def utility_curve(p, agent, resource):
    """Return the utility curve that the agent has for the resource."""
    return p.utility_curves[p.utility_curve_of[p.group_of_agent[agent]][resource]]


def effort_curve(p, agent, resource):
    """Return the effort curve that the agent has for the resource."""
    return p.effort_curves[p.effort_curve_of[p.group_of_agent[agent]][resource]]


def marginal_utility(curve, held):
    """Return MU(held), the utility of one more unit; MU(-1) is 0."""
    if held < 0:
        return 0.0
    return curve.marginal[held] if held < len(curve.marginal) else curve.floor


def total_utility(curve, held):
    """Return C(held), the utility of all units."""
    length = len(curve.marginal)
    if held <= length:
        return curve.total[held]
    return curve.total[length] + curve.floor * float(held - length)


def gain(curve, held, units):
    """Return the utility of getting ``units`` more."""
    return total_utility(curve, held + units) - total_utility(curve, held)


def loss(curve, held, units):
    """Return the utility of giving ``units`` away; 0 if fewer are held."""
    if units > held:
        return 0.0
    return total_utility(curve, held) - total_utility(curve, held - units)


def effort(curve, experience):
    """Return minutes for the next unit; experience counts in whole units, rounded down."""
    return curve.minutes[min(int(experience), len(curve.minutes) - 1)]
