"""Which keys configure groups of agents with different parameters?"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from societies.config.model import (
    LARGEST_INTEGER,
    LARGEST_REAL,
    PerResource,
    Section,
    initial,
    key,
    tabulated,
)
from societies.economy.config import devices, resources
from societies.economy.config.ranges import AtLeastOne, Experience, MoreThanOne, Positive


class UtilityOverrides(Section):
    """What a group has instead of the keys of `utility`."""

    scale: PerResource[Positive] | None = tabulated(None, resources.SCALE, "util")
    exponent: PerResource[MoreThanOne] | None = tabulated(None, resources.EXPONENT, "1")


class ExtractionOverrides(Section):
    """What a group has instead of the keys of `extraction`."""

    max_effort: PerResource[Positive] | None = tabulated(None, resources.MAX_EFFORT, "min/unit")
    min_effort: PerResource[Positive] | None = tabulated(None, resources.MIN_EFFORT, "min/unit")
    max_experience: PerResource[Experience] | None = tabulated(
        None, resources.MAX_EXPERIENCE, "units extracted"
    )


class ConsumptionOverrides(Section):
    """What a group has instead of the keys of `consumption`."""

    resource_lifetime: PerResource[AtLeastOne] | None = tabulated(
        None, resources.RESOURCE_LIFETIME, "day"
    )


class DeviceOverrides(Section):
    """What a group has instead of the keys of `device`."""

    max_effort: PerResource[Positive] | None = tabulated(
        None, devices.MAX_DEVICE_EFFORT, "min/device"
    )
    min_effort: PerResource[Positive] | None = tabulated(
        None, devices.MIN_DEVICE_EFFORT, "min/device"
    )
    max_experience: PerResource[Experience] | None = tabulated(
        None, devices.MAX_DEVICE_EXPERIENCE, "1"
    )


class EndowmentOverrides(Section):
    """What a group has instead of the keys of `endowment`."""

    units: PerResource[resources.Units] | None = initial(None, resources.UNITS, "units")


def _printable(name: Any) -> Any:
    if isinstance(name, str) and not (name.isprintable() and name.strip() == name != ""):
        raise PydanticCustomError("name", "expected a name of printable characters")
    return name


class GroupConfig(Section):
    """Agents that share their parameters; agents are numbered group after group."""

    name: Annotated[str, BeforeValidator(_printable)] = key(
        ..., "Name of the group, used once", examples=["foragers"]
    )
    count: int | None = key(
        None,
        "Number of agents; the counts of all groups add up to `agents`",
        "agents",
        ge=1,
        le=LARGEST_INTEGER,
    )
    share: float | None = key(
        None,
        "Fraction of the agents, instead of `count`; the shares of all groups add up to 1",
        "1",
        gt=0,
        le=1,
    )
    utility: UtilityOverrides | None = key(None, "Keys of utility that differ in this group")
    extraction: ExtractionOverrides | None = key(
        None, "Keys of extraction that differ in this group"
    )
    consumption: ConsumptionOverrides | None = key(
        None, "Keys of consumption that differ in this group"
    )
    endowment: EndowmentOverrides | None = key(None, "Keys of endowment that differ in this group")
    trade_power: float = tabulated(
        1.0,
        "Bargaining power in swaps: the price is nearer to what the stronger partner wants",
        "1",
        gt=0,
        le=LARGEST_REAL,
    )
    device: DeviceOverrides | None = key(None, "Keys of device that differ in this group")
    device_trade_power: Positive = tabulated(1.0, "Bargaining power in device trade", "1")
    inventiveness: Positive = tabulated(
        1.0, "Factor on the probability that an agent of this group invents", "1"
    )
    transfer_share: float = tabulated(
        0.0,
        "Share of the tax fund that is divided equally among the members every evening",
        "1",
        ge=0,
        le=1,
    )
