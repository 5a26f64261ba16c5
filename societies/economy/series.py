"""Which series are recorded for every society and day, in the order of the array ``series``?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain

from reference_py.economy.devices import DEVICE_TYPES, SOURCES
from reference_py.economy.measures import (
    COMPARED,
    DEVICE_SUMMED,
    POLICY_COMPARED,
    POLICY_SUMMED,
    TOPS,
)
from reference_py.economy.parameters import Parameters
from societies.workload.declare.fields import Series, series_columns

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
ACTIVITIES = ("hand",)
DEVICE_ACTIVITIES = (*SOURCES[1:], *(f"making_{name}" for name in DEVICE_TYPES))
"""Further activities that agents spend time on if there are devices."""

MADE_TYPES = ("tools", "machines")
"""Products of the devices that make devices."""

TYPE, GROUP = ("device_type",), ("group",)

SERIES: dict[str, Series] = {
    "units_extracted": Series("units", "units extracted per living agent"),
    "units_held": Series("units", "units held per living agent, before consumption"),
    "units_traded": Series("units", "units given away in resource trades per living agent"),
    "deals": Series("deals", "resource trades divided by living agents, each deal once"),
    "resources_extracted": Series(
        "resources", "different resources that an agent extracted, mean over living agents"
    ),
    "units_held_max": Series("units", "largest holding of one resource by one agent"),
    "agents_alive": Series("agents", "agents in the simulation"),
    "utility": Series("util", "utility of the holdings before consumption, mean over agents"),
    "utility_median": Series("util", "median over living agents of their utility"),
    "gini": Series("1", "Gini coefficient of the day's utilities"),
    "gini_cumulative": Series("1", "Gini coefficient of utility summed since day 1"),
    "gini_extracted": Series("1", "Gini coefficient of the units extracted"),
    "gini_3day": Series(
        "1", "Gini coefficient of utility over the day before to the day after", lag=1
    ),
    "gini_paper": Series("1", "gini_3day times mean 3-day over mean cumulative utility", lag=1),
    "minutes": Series("min", "minutes per living agent by activity", ("activity",)),
    "hhi": Series(
        "1", "Herfindahl-Hirschman index of extraction, quantiles over resources", ("quantile",)
    ),
}

DEVICE_SERIES: dict[str, Series] = {
    "units_paid_for_devices": Series("units", "units paid for devices per living agent"),
    "extraction_share": Series(
        "1", "share of the units extracted by hand and by device type", ("source",)
    ),
    "devices_made": Series("devices", "devices made per living agent", TYPE),
    "devices_traded": Series("devices", "devices sold per living agent", TYPE),
    "devices_held": Series(
        "devices", "minutes of use left over lifetime, per living agent, before the night", TYPE
    ),
    "devices_known": Series("devices", "devices that at least one agent knows how to make", TYPE),
    "inventions": Series("devices", "devices invented today", TYPE),
    "device_maker_share": Series(
        "1",
        "share of the tools (machines) made with a device machine (device factory)",
        ("made_type",),
    ),
    "overtime": Series("min", "minutes of making carried over per living agent"),
    "interdependence": Series("1", "resources contained in the devices that extract, per unit"),
}
"""Series that are recorded in addition if there are devices."""

_MEMBER = "per living member"

GROUP_SERIES: dict[str, Series] = {
    "group_agents_alive": Series("agents", "agents in the simulation", GROUP),
    "group_units_extracted": Series("units", f"units extracted, {_MEMBER}", GROUP),
    "group_units_held": Series("units", f"units held, before consumption, {_MEMBER}", GROUP),
    "group_units_traded": Series("units", f"units given away in resource trades, {_MEMBER}", GROUP),
    "group_units_traded_outside": Series(
        "units", f"of these, to agents of other groups, {_MEMBER}", GROUP
    ),
    "group_utility": Series(
        "util", f"utility of the holdings before consumption, {_MEMBER}", GROUP
    ),
}
GROUP_DEVICE_SERIES: dict[str, Series] = {
    "group_units_paid_for_devices": Series("units", f"units paid for devices, {_MEMBER}", GROUP),
    "group_units_paid_outside": Series(
        "units", f"of these, to agents of other groups, {_MEMBER}", GROUP
    ),
    "group_devices_made": Series("devices", f"devices made, {_MEMBER}", (*GROUP, *TYPE)),
}
"""Series recorded for each group if there is more than one; NaN if no member is alive."""

POLICY_SERIES: dict[str, Series] = {
    "units_taxed": Series("units", "units paid in taxes per living agent"),
    "units_transferred": Series("units", "units received from the fund per living agent"),
    "units_in_fund": Series("units", "units paid in taxes and not yet paid out"),
}
"""Series recorded if there are taxes or transfers at any time."""

_measure = partial(Series, log="measures")
_MEANS = {
    "income": ("util", "income of the day: value of what was extracted, gains of swaps, sales"),
    "consumption": ("util", "utility of the units consumed overnight"),
    "wealth": ("util", "wealth after consumption: stocks and, at what making costs today, devices"),
    "disposable_income": ("util", "income of the day after taxes and transfers"),
    "units_consumed": ("units", "units consumed overnight"),
    "income_extraction": ("util", "of the income: utility of the units extracted"),
    "income_swaps": ("util", "of the income: utility gained by swaps of resources"),
    "redistributed": ("util", "utility gained by transfers less that lost by taxes"),
    "income_sales": ("util", "of the income: utility of the units received for devices"),
    "spending_devices": ("util", "utility of the units paid for devices, no part of the income"),
    "wealth_stocks": ("util", "of the wealth: utility of the units held"),
    "wealth_devices": ("util", "of the wealth: worth of the use that is left in devices"),
}

MEASURES: dict[str, Series] = {
    **{name: _measure(u, f"{said}, mean over living agents") for name, (u, said) in _MEANS.items()},
    **{
        f"{name}_median": _measure("util", f"{_MEANS[name][1]}, median over living agents")
        for name in (*COMPARED, *POLICY_COMPARED)
    },
    **{
        f"gini_{name}": _measure("1", f"Gini coefficient over living agents of {name}")
        for name in (*COMPARED, *POLICY_COMPARED)
    },
    **{
        f"top_share_{name}": _measure(
            "1", f"share of all {name} that the richest agents have", ("top",)
        )
        for name in (*COMPARED, *POLICY_COMPARED)
    },
    "price_mean": _measure(
        "units/unit",
        "mean over resources of their prices; above 1 by construction, price_level is not",
    ),
    "price_dispersion": _measure(
        "1", "standard deviation over resources of their prices, over the mean"
    ),
    "price_dispersion_within": _measure(
        "1", "dispersion of the prices of one resource, mean over resources by units given away"
    ),
}
"""Economic measures, in the order of `reference_py.economy.measures.measure_names`.

Those of `DEVICE_SUMMED` need devices, those of `OF_POLICIES` taxes or transfers."""

GROUP_MEASURES: dict[str, Series] = {
    f"group_{name}": Series(u, f"{said}, {_MEMBER}", GROUP, log="measures")
    for name, (u, said) in _MEANS.items()
    if name in COMPARED
}
"""Measures of each group if there are several; NaN if no member is alive."""

OF_POLICIES = (
    *POLICY_SUMMED,
    *(form.format(one) for one in POLICY_COMPARED for form in ("{}", "{}_median", "gini_{}")),
    *(f"top_share_{one}" for one in POLICY_COMPARED),
)

WITHOUT_POLICIES = {
    name: name.replace("disposable_", "") if "disposable_" in name else ""
    for name in (*POLICY_SERIES, *OF_POLICIES)
}
"""What the series of policies equal in societies that have none: another series, or "" for 0."""


def series_table(
    devices: bool, groups: int, *, measures: bool = False, policies: bool = False
) -> dict[str, Series]:
    """Return the series of a society with or without devices and with ``groups`` groups."""
    found = dict(SERIES)
    if devices:
        found |= DEVICE_SERIES
    if groups > 1:
        found |= GROUP_SERIES | (GROUP_DEVICE_SERIES if devices else {})
    if policies:
        found |= POLICY_SERIES
    if measures:
        left_out = {*(() if devices else DEVICE_SUMMED), *(() if policies else OF_POLICIES)}
        found |= {name: one for name, one in MEASURES.items() if name not in left_out}
        found |= GROUP_MEASURES if groups > 1 else {}
    return found


def entries(devices: bool, groups: int) -> Mapping[str, Sequence[object]]:
    """Return the names of the entries of the dimensions of series."""
    return {
        "quantile": range(len(QUANTILES)),
        "activity": (*ACTIVITIES, *DEVICE_ACTIVITIES) if devices else ACTIVITIES,
        "source": SOURCES,
        "device_type": DEVICE_TYPES,
        "made_type": MADE_TYPES,
        "group": range(groups),
        "top": range(len(TOPS)),
    }


def columns(devices: bool, groups: int, *, policies: bool = False) -> list[str]:
    """Return the names of the columns of the array ``series``."""
    table = series_table(devices, groups, policies=policies)
    found = series_columns(table, entries(devices, groups))
    return [*chain.from_iterable(found.values())]


def columns_of(p: Parameters) -> list[str]:
    """Return the names of the columns of the array ``series`` of a society."""
    return columns(p.devices is not None, p.groups, policies=p.policies)
