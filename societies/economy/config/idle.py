"""Which values of an economy have no effect because of other values of its configuration?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_py.economy.devices import DEVICE_TYPES, TOOL
from societies.config.model import LARGEST_REAL, SMALLEST_REAL, Conflict, Section
from societies.economy.config.groups import GroupConfig
from societies.economy.config.policies import PREFIX, TAXES, is_taxed

IN_SWAPS = ("price_of", "price_floor", "price_cap")
LIMITS_OF_TRADE = ("quota_of", "quota", *IN_SWAPS)
"""Policies that concern trade."""
OF_DEVICES = ("device", "device_trade_power", "inventiveness")
"""Keys of a group that concern devices."""
TRANSFERS = ("equal", "poorest", "least_extracting", "making")

SET_BY_GROUPS = "because every group sets it itself"


def idle(config: Any) -> Iterator[tuple[str, str]]:
    """Yield keys and sections without effect in this run at any time, and why."""
    groups = [f"groups.{i}" for i in range(len(config.groups))]
    if not config.trade:
        why = "with trade: false"
        yield from ((key, why) for key in ("trading", "devices_market", f"{PREFIX}.sales_tax"))
        yield from ((f"{PREFIX}.{key}", why) for key in LIMITS_OF_TRADE)
        powers = "trade_power", "device_trade_power"
        yield from ((f"{group}.{key}", why) for group in groups for key in powers)
    elif not config.trading.rounds:
        keys = ("trading.min_surplus", *(f"{PREFIX}.{key}" for key in IN_SWAPS))
        yield from ((key, "with trading.rounds: 0") for key in keys)
    if config.devices == "none":
        why = "with devices: none"
        sections = ("device", "devices_market", "invention", f"{PREFIX}.transfer.making")
        yield from ((key, why) for key in sections)
        yield from ((f"{group}.{key}", why) for group in groups for key in OF_DEVICES)
    elif config.devices == "tools":
        why = "with devices: tools"
        for name in (one for device_type, one in enumerate(DEVICE_TYPES) if device_type != TOOL):
            for of in ("factor", "lifetime", "experience_for_making"):
                yield f"device.{of}.{name}", why
        for key in ("device_probability", "min_made_for_device_maker"):
            yield f"invention.{key}", why
    yield from ((".".join(path), SET_BY_GROUPS) for path in _set_by_groups(config))


def _set_by_groups(config: Any) -> Iterator[tuple[str, str]]:
    """Yield section and key of what every group has instead of the value of all agents."""
    for section in GroupConfig.model_fields:
        own = [getattr(group, section) for group in config.groups]
        if own and all(isinstance(one, Section) for one in own):
            first, *_ = own
            for key in type(first).model_fields:
                if all(getattr(one, key) is not None for one in own):
                    yield section, key


def asleep(config: Any) -> Iterator[tuple[str, str]]:
    """Yield keys without effect as long as other keys have their present values, and why."""
    policies, transfer = config.policies, config.policies.transfer
    for name in TAXES:
        tax, own = getattr(policies, name), f"{PREFIX}.{name}"
        for bracket, below in (("middle", "rate"), ("top", "middle_rate")):
            if getattr(tax, f"{bracket}_from") == LARGEST_REAL:
                yield f"{own}.{bracket}_rate", f"while {own}.{bracket}_from is {LARGEST_REAL:g}"
            if getattr(tax, f"{bracket}_rate") == getattr(tax, below):
                yield f"{own}.{bracket}_from", f"while {own}.{bracket}_rate is that below"
    if not is_taxed(config):
        why = "while the fund is empty: no tax is collected"
        yield from ((f"{PREFIX}.transfer.{key}", why) for key in TRANSFERS)
    for key in ("poorest", "least_extracting"):
        if not getattr(transfer, key):
            yield f"{PREFIX}.transfer.{key}_part", f"while {PREFIX}.transfer.{key} is 0"
    if policies.quota_of < 0:
        yield f"{PREFIX}.quota", f"while {PREFIX}.quota_of is -1"
    if policies.price_floor == SMALLEST_REAL and policies.price_cap == LARGEST_REAL:
        yield f"{PREFIX}.price_of", "while prices have no floor and no cap"


def idle_warnings(config: Any) -> Iterator[Conflict]:
    """Yield values that have no effect because every group has its own."""
    for section, key in _set_by_groups(config):
        field = type(getattr(config, section)).model_fields[key]
        said = getattr(getattr(config, section), key)
        # A list of a group may have parts from the value of all agents, as that of a file has.
        lists = any(isinstance(getattr(getattr(g, section), key), tuple) for g in config.groups)
        if said != field.default and not lists:
            yield Conflict((section, key), f"has no effect {SET_BY_GROUPS}")
