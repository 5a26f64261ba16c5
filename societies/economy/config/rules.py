"""Which rules of the economy may a configuration replace by functions of a user?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from societies.config.model import Conflict, key
from societies.workload.declare.rules import RulesSection, RuleText, rule_key

PRICES = ("geometric", "inverse_geometric", "unit")
"""Built-in rules for the price of a swap."""


class TradingRules(RulesSection):
    """Rules of the resource market."""

    price: RuleText(*PRICES) = rule_key("Price of a swap")  # type: ignore[valid-type]
    score: RuleText() = rule_key("How promising a swap is")  # type: ignore[valid-type]
    choice: RuleText() = rule_key("Choice among swaps of equal scores")  # type: ignore[valid-type]
    meeting: RuleText() = rule_key("Who meets whom in a round")  # type: ignore[valid-type]


class UtilityRules(RulesSection):
    """Rules of utility."""

    marginal: RuleText() = rule_key("Utility of one more unit")  # type: ignore[valid-type]


class ExtractionRules(RulesSection):
    """Rules of extraction."""

    effort: RuleText() = rule_key("Minutes for extracting a unit")  # type: ignore[valid-type]


class DeviceRules(RulesSection):
    """Rules of tools, machines, factories and industries."""

    effort: RuleText() = rule_key("Minutes for making a device")  # type: ignore[valid-type]
    worth: RuleText() = rule_key("What one more device is worth")  # type: ignore[valid-type]


class DeviceMarketRules(RulesSection):
    """Rules of the market of devices."""

    partner: RuleText() = rule_key("Choice of a trading partner")  # type: ignore[valid-type]


class RulesConfig(RulesSection):
    """Functions of Python files that replace rules of the economy."""

    utility: UtilityRules = key(UtilityRules, "Rules of utility")
    extraction: ExtractionRules = key(ExtractionRules, "Rules of extraction")
    trading: TradingRules = key(TradingRules, "Rules of the resource market")
    device: DeviceRules = key(DeviceRules, "Rules of devices")
    devices_market: DeviceMarketRules = key(DeviceMarketRules, "Rules of the device market")


def rules_without_effect(config: Any) -> Iterator[Conflict]:
    """Yield the rules of markets and devices that a configuration does not have."""
    absent = {} if config.trade else {"trading": "trade: false"}
    if config.devices == "none":
        absent |= dict.fromkeys(("device", "devices_market"), "devices: none")
    for section, why in absent.items():
        for name, text in getattr(config.rules, section):
            if text is not None:
                message = f"has no effect in this configuration ({why})"
                yield Conflict(("rules", section, name), message)


def with_words(data: Any) -> Any:
    """Return plain data in which built-in words for rules are moved to `trading.price`."""
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
