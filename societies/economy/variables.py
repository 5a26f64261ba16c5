"""Which variables can the file of an economy run have, and which arrays do they come from?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reference_py.economy.measures import COMPARED, DEVICE_SUMMED, TOPS
from societies.economy.series import GROUP_DEVICE_SERIES, GROUP_SERIES
from societies.output import Variable
from societies.workload.declare.fields import Field

HHI = "Herfindahl-Hirschman index of extraction, quantiles over resources"

TYPE, GROUP = ("device_type",), ("group",)
GROUPED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "hhi": (("quantile",), "1", HHI),
    "minutes": (("activity",), "min", "minutes per living agent by activity"),
    "extraction_share": (
        ("source",),
        "1",
        "share of the units extracted by hand and by device type",
    ),
    "devices_made": (TYPE, "devices", "devices made per living agent"),
    "devices_traded": (TYPE, "devices", "devices sold per living agent"),
    "devices_held": (
        TYPE,
        "devices",
        "minutes of use left over lifetime, per living agent, before the night",
    ),
    "devices_known": (TYPE, "devices", "devices that somebody knows how to make"),
    "inventions": (TYPE, "devices", "devices invented today"),
    "device_maker_share": (
        ("made_type",),
        "1",
        "share of the tools (machines) made with a device machine (device factory)",
    ),
    **{
        name: (
            (*GROUP, *TYPE) if name == "group_devices_made" else GROUP,
            one.unit,
            one.meaning if name == "group_agents_alive" else f"{one.meaning}, per living member",
        )
        for name, one in (GROUP_SERIES | GROUP_DEVICE_SERIES).items()
    },
}
"""Variables that hold several series: dimensions after society and day, unit and meaning."""

MADE_TYPES = ("tools", "machines")
"""Products of the devices that make devices."""


def grouped(series: str) -> str | None:
    """Return the variable that holds several series, this among them; None if it has its own."""
    prefixes = [name for name in GROUPED if series.startswith(f"{name}_")]
    return max(prefixes, key=len, default=None)


@dataclass(frozen=True)
class Detail:
    """A quantity of every agent that is recorded on chosen days.

    Attributes
    ----------
    fields : fields of the state; several are concatenated along the last dimension
    dims : dimensions in addition to society, day and agent
    meaning : meaning at the end of the day; "" for the meaning of the field
    """

    fields: tuple[str, ...]
    dims: tuple[str, ...] = ()
    meaning: str = ""

    def variable(self, name: str, day: str, fields: Mapping[str, Field]) -> Variable:
        """Return the variable of the file; ``day`` is the name of its dimension of days."""
        kind = fields[self.fields[0]]
        dims = ("society", day, "agent", *self.dims)
        return Variable(name, dims, kind.file_dtype, kind.unit, self.meaning or kind.meaning)


AGENT_DETAIL = {
    "agent_units_extracted": Detail(("units_extracted",)),
    "agent_units_held": Detail(("units_held",)),
    "agent_units_traded": Detail(("units_traded",)),
    "agent_utility": Detail(("utility",)),
}
AGENT_DEVICE_DETAIL = {
    "agent_minutes": Detail(
        ("minutes_with", "making_minutes"), ("activity",), "minutes spent today by activity"
    ),
    "agent_extracted_with": Detail(("extracted_with",), ("source",)),
    "agent_devices_made": Detail(("made_today",), TYPE),
    "agent_devices_sold": Detail(("devices_sold",), TYPE),
    "agent_device_minutes": Detail(("device_stock",), TYPE),
    "agent_units_paid": Detail(("units_paid",)),
    "agent_overtime": Detail(("overtime",)),
}
"""Variables per agent without devices (above) and those that devices add."""

AGENT_MEASURE_DETAIL = {
    "agent_income": Detail(("income",)),
    "agent_consumption": Detail(("utility_consumed",)),
    "agent_wealth": Detail(("wealth",)),
}
AGENT_MEASURE_DEVICE_DETAIL = {
    "agent_income_sales": Detail(("income_sales",)),
    "agent_spending_devices": Detail(("spending_devices",)),
    "agent_wealth_devices": Detail(("wealth_devices",)),
}
"""Variables per agent that economic measures bring, and those of them that need devices."""

_SINGLE = {
    "income": ("util", "income of the day: value of what was extracted, gains of swaps, sales"),
    "consumption": ("util", "utility of the units consumed overnight"),
    "wealth": ("util", "wealth after consumption: utility of stocks, with devices their worth"),
    "units_consumed": ("units", "units consumed overnight"),
    "income_extraction": ("util", "of the income: utility of the units extracted"),
    "income_swaps": ("util", "of the income: utility gained by swaps of resources"),
    "income_sales": ("util", "of the income: utility of the units received for devices"),
    "spending_devices": ("util", "utility of the units paid for devices, no part of the income"),
    "wealth_stocks": ("util", "of the wealth: utility of the units held"),
    "wealth_devices": ("util", "of the wealth: worth of the use that is left in devices"),
}
_PRICES = {
    "price_mean": ("units/unit", "mean over resources of their prices"),
    "price_dispersion": ("1", "standard deviation over resources of their prices, over the mean"),
    "price_dispersion_within": (
        "1",
        "dispersion of the prices of one resource, mean over resources by units given away",
    ),
}


def measure_variables(devices: bool) -> dict[str, tuple[tuple[str, ...], str, str]]:
    """Return the variables of economic measures: dimensions after day, unit and meaning.

    The order is that of `reference_py.economy.measures.measure_names`.
    """
    single = {n: one for n, one in _SINGLE.items() if devices or n not in DEVICE_SUMMED}
    return {
        **{
            name: ((), unit, f"{meaning}, mean over living agents")
            for name, (unit, meaning) in single.items()
        },
        **{
            f"{name}_median": ((), "util", f"{_SINGLE[name][1]}, median over living agents")
            for name in COMPARED
        },
        **{
            f"gini_{name}": ((), "1", f"Gini coefficient over living agents of {name}")
            for name in COMPARED
        },
        **{
            f"top_share_{name}": (
                ("top",),
                "1",
                f"share of all {name} that the richest agents have",
            )
            for name in COMPARED
        },
        **{name: ((), unit, meaning) for name, (unit, meaning) in _PRICES.items()},
    }


RESOURCE_MEASURES = ("resource_price", "resource_price_dispersion", "resource_units_priced")
"""Measures of every resource: fields of the state."""

LENGTHS = {"top": len(TOPS)}
"""Lengths of the dimensions of economic measures."""

RESOURCE = ("resource",)
RESOURCE_DETAIL = {
    "held": Detail(("held",), RESOURCE, "units owned at the end of the day, after consumption"),
    "experience": Detail(
        ("experience",), RESOURCE, "experience in extracting, at the end of the day"
    ),
    "value": Detail(
        ("value",),
        RESOURCE,
        "remembered marginal value of one more unit, at the end of the day",
    ),
    "extracted": Detail(("extracted",), RESOURCE),
}
RESOURCE_DEVICE_DETAIL = {
    "device_minutes": Detail(
        ("device_minutes",),
        (*TYPE, *RESOURCE),
        "minutes of use left in the devices owned, at the end of the day",
    ),
    "device_experience": Detail(
        ("device_experience",),
        (*TYPE, *RESOURCE),
        "experience in making the device, at the end of the day",
    ),
    "made": Detail(("devices_made",), (*TYPE, *RESOURCE)),
}
"""Variables per agent and resource without devices (above) and those that devices add."""

RECIPES = {
    "recipe": (*TYPE, *RESOURCE, "component"),
    "invented_on": (*TYPE, *RESOURCE),
    "inventor": (*TYPE, *RESOURCE),
}
"""Fields of the state about the recipes of devices, and their dimensions."""
