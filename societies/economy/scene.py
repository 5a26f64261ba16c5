"""What does the page of an economy draw, and which policies have buttons?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from reference_py.economy.devices import DEVICE_TYPES, TOOL
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
        idle=tuple(_idle(p)),
        policies={
            name: replace(one, count=p.resources if "{}" in one.label else 0)
            for name, one in POLICIES.items()
            if trade or name != "ban"
        },
        numbered="resource",
    )


def _idle(p: Parameters) -> Iterator[str]:
    """Yield the sections and keys that have no effect without trade, devices or other types."""
    if not p.trade:
        yield from ("trading", "devices_market", "policies.sales_tax")
        limits = ("quota_of", "quota", "price_of", "price_floor", "price_cap")
        yield from (f"policies.{key}" for key in limits)
    if p.devices is None:
        yield from ("device", "devices_market", "invention", "policies.transfer.making")
    elif p.devices.tools_only:
        for name in (one for device_type, one in enumerate(DEVICE_TYPES) if device_type != TOOL):
            yield from (f"device.{of}.{name}" for of in ("factor", "lifetime"))
            yield f"device.experience_for_making.{name}"
        yield from ("invention.device_probability", "invention.min_made_for_device_maker")


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
