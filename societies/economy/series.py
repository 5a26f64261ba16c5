"""Which series are recorded for every society and day, in the order of the array ``series``?"""

from __future__ import annotations

from reference_py.economy.devices import DEVICE_TYPES, SOURCES
from reference_py.economy.parameters import Parameters
from societies.workload.declare.fields import Series

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
ACTIVITIES = ("hand",)
DEVICE_ACTIVITIES = (*SOURCES[1:], *(f"making_{name}" for name in DEVICE_TYPES))
"""Further activities that agents spend time on if there are devices."""


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
    "gini_3day": Series("1", "Gini coefficient of utility over the day before to the day after", 1),
    "gini_paper": Series("1", "gini_3day times mean 3-day over mean cumulative utility", 1),
    "minutes_hand": Series("min", "minutes spent extracting by hand per living agent"),
    "hhi_0": Series("1", "HHI of extraction over resources, minimum"),
    "hhi_1": Series("1", "HHI of extraction over resources, first quartile"),
    "hhi_2": Series("1", "HHI of extraction over resources, median"),
    "hhi_3": Series("1", "HHI of extraction over resources, third quartile"),
    "hhi_4": Series("1", "HHI of extraction over resources, maximum"),
}


def _of_types(prefix: str, unit: str, meaning: str) -> dict[str, Series]:
    """Return a series for every device type."""
    return {
        f"{prefix}_{name}": Series(unit, f"{meaning}: {name.replace('_', ' ')}")
        for name in DEVICE_TYPES
    }


DEVICE_SERIES: dict[str, Series] = {
    "units_paid_for_devices": Series("units", "units paid for devices per living agent"),
    **{
        f"extraction_share_{name}": Series("1", f"share of the units extracted: with {name}")
        for name in SOURCES
    },
    **_of_types("devices_made", "devices", "devices made per living agent"),
    **_of_types("devices_traded", "devices", "devices sold per living agent"),
    **_of_types("devices_held", "devices", "minutes of use over lifetime per living agent"),
    **_of_types("devices_known", "devices", "devices that at least one agent knows how to make"),
    **_of_types("inventions", "devices", "devices invented today"),
    "device_maker_share_tools": Series("1", "share of the tools made with a device machine"),
    "device_maker_share_machines": Series("1", "share of the machines made with a device factory"),
    **{
        f"minutes_{name}": Series("min", f"minutes per living agent: {name.replace('_', ' ')}")
        for name in DEVICE_ACTIVITIES
    },
    "overtime": Series("min", "minutes of making carried over per living agent"),
    "interdependence": Series("1", "resources contained in the devices that extract, per unit"),
}
"""Series that are recorded in addition if there are devices."""

GROUP_SERIES: dict[str, Series] = {
    "group_agents_alive": Series("agents", "agents in the simulation"),
    "group_units_extracted": Series("units", "units extracted"),
    "group_units_held": Series("units", "units held, before consumption"),
    "group_units_traded": Series("units", "units given away in resource trades"),
    "group_units_traded_outside": Series("units", "of these, to agents of other groups"),
    "group_utility": Series("util", "utility of the holdings before consumption"),
}
GROUP_DEVICE_SERIES: dict[str, Series] = {
    "group_units_paid_for_devices": Series("units", "units paid for devices"),
    "group_units_paid_outside": Series("units", "of these, to agents of other groups"),
    "group_devices_made": Series("devices", "devices made"),
}
"""Series recorded for each group if there is more than one; `series_table` holds one per group.

They are means over the group's living agents, NaN if the group has none.
"""


def series_of(p: Parameters) -> dict[str, Series]:
    """Return the series of a society with these parameters."""
    return series_table(p.devices is not None, p.groups)


def series_table(devices: bool, groups: int) -> dict[str, Series]:
    """Return the series of a society with or without devices and with ``groups`` groups."""
    series = SERIES | DEVICE_SERIES if devices else SERIES
    of_groups = GROUP_SERIES | GROUP_DEVICE_SERIES
    return series | {
        name: of_groups[family]
        for family, names in group_families(devices, groups).items()
        for name in names
    }


def group_families(devices: bool, groups: int) -> dict[str, list[str]]:
    """Return the series names of all groups by family, such as "group_utility"; {} if one group.

    ``group_devices_made`` has a series for every type of each group.
    """
    families = GROUP_SERIES | GROUP_DEVICE_SERIES if devices else GROUP_SERIES
    types = {"group_devices_made": [f"_{name}" for name in DEVICE_TYPES]}
    return {
        family: [f"{family}_{i}{one}" for i in range(groups) for one in types.get(family, [""])]
        for family in (families if groups > 1 else ())
    }
