"""What does the page of an economy draw, and which policies have buttons?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from societies.economy.config import EconomyConfig
from societies.economy.network import NETWORK
from societies.workload.declare.scene import Links, Policy, Scene

if TYPE_CHECKING:
    from reference_py.economy.parameters import Parameters

MOST_LISTED = 20_000
"""Most days of a run whose trades the page shows; each is listed in `record.network`."""

SHOWN = (
    *("units_extracted", "units_traded", "resources_extracted", "gini_extracted", "utility"),
    *("gini", "extraction_share", "price_mean", "price_dispersion"),
)
SPREAD = (
    *("units_extracted", "units_held", "utility", "utility_total", "minutes", "income", "wealth"),
    "resource_price",
)
"""Series and fields that are drawn first, where a run has them."""

POLICIES = {
    "tax": Policy("Tax holdings by 5 %", {"policies.holdings_tax.rate": 0.05}),
    "transfer": Policy("Pay the fund out equally", {"policies.transfer.equal": 1.0}),
    "ban": Policy("Ban the trade of resource {}", {"policies.quota_of": None}),
    "shock": Policy("Remove resource {}", {"remove.resource": None}),
}


def scene(p: Parameters, fields: Collection[str], series: Collection[str]) -> Scene:
    """Return what a page draws of a society with these fields and series."""
    trade = "link_taker" in fields
    return Scene(
        series=tuple(one for one in SHOWN if one in series),
        spread=tuple(one for one in SPREAD if one in fields),
        alive="alive",
        living="agents_alive",
        network=_trade(p) if trade else None,
        steer=("day_length", "trading.min_surplus", "consumption.resource_lifetime"),
        policies={
            name: replace(one, count=p.resources if "{}" in one.label else 0)
            for name, one in POLICIES.items()
            if trade or name != "ban"
        },
        numbered="resource",
    )


def watched(config: EconomyConfig) -> EconomyConfig:
    """Return the configuration with the trades of each day, unless it has too many days."""
    if not config.trade or config.days > MOST_LISTED:
        return config
    record = config.record.model_copy(update={"network": tuple(range(1, config.days + 1))})
    return config.model_copy(update={"record": record})


def _trade(p: Parameters) -> Links:
    """Return the network of trade."""
    colours: dict[str, str | Sequence[int]] = {
        "what it extracts most": "extracted",
        "what it knows best": "experience",
    }
    if p.groups > 1:
        colours["its group"] = p.group_of_agent
    weights = {"units given in swaps": ("link_units", "units")}
    if p.devices is not None:
        weights["units paid for devices"] = ("link_paid", "units_paid")
    fields, columns = ({words: one[i] for words, one in weights.items()} for i in (0, 1))
    return Links("Trade", "link_taker", fields, "units_held", colours, NETWORK, columns)
