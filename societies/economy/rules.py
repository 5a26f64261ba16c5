"""Which functions of the economy may a user replace, and how do kernels get them?"""

from __future__ import annotations

from reference_py.economy import device_matching, matching, tables, trading, valuation
from societies.rule import REAL_NUMBER, WHOLE_NUMBER, WORD, Rule

_OF_EFFORT = {
    "experience": WHOLE_NUMBER,
    "max_effort": REAL_NUMBER,
    "min_effort": REAL_NUMBER,
    "max_experience": REAL_NUMBER,
    "resource": WHOLE_NUMBER,
}

RULES = {
    rule.name: rule
    for rule in (
        Rule(
            "utility.marginal",
            tables.utility_of_unit,
            "Utility of unit 1, 2, ... of a resource, which never rises from unit to unit; as soon "
            "as it is not above utility.min_marginal, all further units are worth that.",
            {
                "unit": WHOLE_NUMBER,
                "scale": REAL_NUMBER,
                "exponent": REAL_NUMBER,
                "resource": WHOLE_NUMBER,
            },
            REAL_NUMBER,
            table=True,
        ),
        Rule(
            "extraction.effort",
            tables.resource_effort_at,
            "Minutes for the next unit of a resource at a whole experience from 0 to "
            "max_experience, at least min_effort; the last one holds for all further experience.",
            _OF_EFFORT,
            REAL_NUMBER,
            table=True,
        ),
        Rule(
            "device.effort",
            tables.device_effort_at,
            "Minutes for making the next device of a resource at a whole experience from 0 to "
            "max_experience, at least min_effort; the last one holds for all further experience.",
            _OF_EFFORT,
            REAL_NUMBER,
            table=True,
        ),
        Rule(
            "trading.price",
            trading.price,
            "Units of the taken resource for one unit of the given one; no swap takes place if it "
            "is not above 0 and finite.",
            {
                "rule": WORD,
                "most_a": REAL_NUMBER,
                "least_b": REAL_NUMBER,
                "power_a": REAL_NUMBER,
                "power_b": REAL_NUMBER,
            },
            REAL_NUMBER,
            key="trading.price",
        ),
        Rule(
            "trading.score",
            trading.relative_value,
            "How promising a swap is to an agent, who proposes the most promising one first; a "
            "score that is not above 0 counts as 0.",
            {
                "value": REAL_NUMBER,
                "last": REAL_NUMBER,
                "wanted_held": WHOLE_NUMBER,
                "given_held": WHOLE_NUMBER,
            },
            REAL_NUMBER,
        ),
        Rule(
            "trading.choice",
            trading.no_preference,
            "Of swaps with equal scores that with the least result is proposed first; of equal "
            "results, that with the lowest resource numbers.",
            {"wanted": WHOLE_NUMBER, "given": WHOLE_NUMBER},
            WHOLE_NUMBER,
        ),
        Rule(
            "trading.meeting",
            matching.in_random_order,
            "Agents are put in the order of their results, equal ones in random order: the first "
            "two meet in this round, then the next two; of an odd number the last one rests.",
            {
                "agent": WHOLE_NUMBER,
                "agents": WHOLE_NUMBER,
                "group": WHOLE_NUMBER,
                "market_round": WHOLE_NUMBER,
            },
            WHOLE_NUMBER,
        ),
        Rule(
            "device.worth",
            valuation.what_it_brings,
            "Utility that one more device brings an agent in its lifetime (device_type 0 to 5: "
            "tool, machine, factory, industry, device_machine, device_factory); a result that is "
            "not above 0 and finite counts as 0.",
            {
                "benefit": REAL_NUMBER,
                "device_type": WHOLE_NUMBER,
                "resource": WHOLE_NUMBER,
                "lifetime": REAL_NUMBER,
                "owned": REAL_NUMBER,
                "gain_per_minute": REAL_NUMBER,
            },
            REAL_NUMBER,
        ),
        Rule(
            "devices_market.partner",
            device_matching.most_gained,
            "How much an agent that is drawn wants to meet another one, whom it has not met today: "
            "it takes the one with the largest result, of equal ones the lowest number; a result "
            "that is not above 0 counts as 0.",
            {
                "gained": REAL_NUMBER,
                "agent": WHOLE_NUMBER,
                "partner": WHOLE_NUMBER,
                "group": WHOLE_NUMBER,
                "partner_group": WHOLE_NUMBER,
            },
            REAL_NUMBER,
        ),
    )
}
"""Rules of the economy that may be replaced, by name."""
