"""Which rules of the economy may a configuration replace by functions of a user?"""

from __future__ import annotations

from typing import Any

from societies.config.model import key
from societies.workload.declare.rules import RulesSection, RuleText, rule_key

PRICES = ("geometric", "inverse_geometric", "unit")
"""Built-in rules for the price of a swap."""


class TradingRules(RulesSection):
    """Rules of the resource market."""

    price: RuleText(*PRICES) = rule_key("Price of a swap")  # type: ignore[valid-type]
    score: RuleText() = rule_key("How promising a swap is")  # type: ignore[valid-type]
    choice: RuleText() = rule_key("Choice among swaps of equal scores")  # type: ignore[valid-type]


class RulesConfig(RulesSection):
    """Functions of Python files that replace rules of the economy."""

    trading: TradingRules = key(TradingRules(), "Rules of the resource market")


def with_words(data: Any) -> Any:
    """Return plain data in which a rule that is a built-in word is given by its key."""
    rules = data.get("rules") if isinstance(data, dict) else None
    trading = rules.get("trading") if isinstance(rules, dict) else None
    if not isinstance(rules, dict) or not isinstance(trading, dict):
        return data
    if trading.get("price") not in PRICES:
        return data
    market = data.get("trading", {})
    if not isinstance(market, dict):
        return data
    rest = {name: text for name, text in trading.items() if name != "price"}
    return {
        **data,
        "trading": {**market, "price": trading["price"]},
        "rules": {**rules, "trading": rest},
    }
