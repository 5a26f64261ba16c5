"""Which functions of the economy may a user replace, and how do kernels get them?"""

from __future__ import annotations

from reference_py.economy import trading
from societies.translate import REAL_NUMBER, WHOLE_NUMBER, WORD, Rule

RULES = {
    rule.name: rule
    for rule in (
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
    )
}
"""Rules of the economy that may be replaced, by name."""
