"""What does a society remember from day to day: the one table that declares the economy's state.

From `STATE` come the device buffers, the kernels' accessors, the checkpoint, the arrays that
`societies verify` compares and the table in docs/model.md. To add a field, add a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from societies.workload import fields as workload_fields
from societies.workload.fields import Series

if TYPE_CHECKING:
    from societies.output.ranges import Within

PURPOSES = {
    "extraction": 0,
    "consumption": 1,
    "invention": 2,
    "resource_matching": 3,
    "device_matching": 4,
    "invention_order": 5,
    "shocks": 6,
}
"""What a random stream is for. Appended to, never reordered: a stream's place depends on it."""

DEVICE_TYPES = ("tool", "machine", "factory", "industry", "device_machine", "device_factory")
"""The device types in the order of every array and file."""

A_DEVICE = (
    *("a tool", "a machine", "a factory", "an industry"),
    *("a tool-making machine", "a machine-making factory"),
)
EXTRACTION_TYPES = 4
"""The first four types speed extraction, the others the making of tools and of machines."""

SOURCES = ("hand", *DEVICE_TYPES[:EXTRACTION_TYPES])
"""With what a unit is extracted."""

NO_COMPONENT = -1
"""Fills the rest of a recipe's slots."""

PURPOSE_COUNT = 16

FLAG: Within = (0, 1)
COUNT: Within = (0, None)
UNITS: Within = (0, "most units")
REAL: Within = (None, None)
NOT_NEGATIVE: Within = (0, None)
EXPERIENCE: Within = (0, 2**53)
"""Ranges of fields. Experience is rounded down to an index, which a double holds exactly so far."""

MOST_UNITS = (2**31 - 1) // 2
"""Half of what 32 bits count: room for what is held between two evenings."""


@dataclass(frozen=True)
class Field(workload_fields.Field):
    """One array of the state; further attributes are those of every workload's.

    Attributes
    ----------
    of_agent : whether the removal of an agent resets the agent's entries to `initial`
    """

    of_agent: bool = True


_AR = ("agent", "resource")
_A = ("agent",)

STATE: dict[str, Field] = {
    "held": Field(_AR, "int32", "units", "units owned and free to use", UNITS),
    "experience": Field(_AR, "float64", "units extracted", "experience in extracting", EXPERIENCE),
    "value": Field(
        _AR, "float64", "util", "remembered marginal value of one more unit", NOT_NEGATIVE
    ),
    "extracted": Field(_AR, "int32", "units", "units extracted today", UNITS),
    "alive": Field(
        _A, "uint8", "1", "1 while the agent is in the simulation", FLAG, initial=1, some=True
    ),
    "gain_per_minute": Field(_A, "float64", "util/min", "gain of the last unit extracted", REAL),
    "minutes": Field(_A, "float64", "min", "minutes spent extracting today", NOT_NEGATIVE),
    "units_sold": Field(
        _A, "int32", "units", "units given away in resource trades so far today", COUNT
    ),
    "deals": Field(
        _A, "int32", "deals", "resource trades today, counted at the first proposer", COUNT
    ),
    "units_extracted": Field(_A, "int32", "units", "units extracted today, all resources", COUNT),
    "units_held": Field(
        _A, "int32", "units", "units held before consumption, all resources", COUNT
    ),
    "units_traded": Field(
        _A, "int32", "units", "units given away in resource trades today", COUNT, kept=False
    ),
    "resources_extracted": Field(
        _A, "int32", "resources", "different resources extracted today", COUNT
    ),
    "largest_holding": Field(_A, "int32", "units", "largest holding of one resource", COUNT),
    "utility": Field(_A, "float64", "util", "utility of all holdings before consumption", REAL),
    "utility_1": Field(_A, "float64", "util", "utility one day before", REAL),
    "utility_2": Field(_A, "float64", "util", "utility two days before", REAL),
    "utility_total": Field(_A, "float64", "util", "utility summed since day 1", REAL),
    "available": Field(
        ("resource",),
        "uint8",
        "1",
        "1 while the resource exists",
        FLAG,
        initial=1,
        of_agent=False,
        some=True,
    ),
    "stream": Field(
        ("owner", "purpose"),
        "uint64",
        "1",
        "state of each random stream",
        (1, "last state"),
        of_agent=False,
    ),
    "shock_target": Field(
        ("shock",),
        "int32",
        "index",
        "what each shock removes, drawn on day 0",
        (0, "last to be removed"),
        of_agent=False,
    ),
    "partners": Field(
        ("round", "agent"),
        "int32",
        "agent",
        "order of the agents in a round: positions 0 and 1 meet, 2 and 3, ...",
        (0, "agents - 1"),
        of_agent=False,
        kept=False,
    ),
    "series": Field(
        ("series",),
        "float64",
        "various",
        "the day's statistics",
        REAL,
        of_agent=False,
        kept=False,
        logged=True,
    ),
}

_AD = ("agent", "device_type")
_ADR = ("agent", "device_type", "resource")

DEVICE_STATE: dict[str, Field] = {
    "set_aside": Field(
        _AR, "int32", "units", "units locked for tools that the agent will make", UNITS
    ),
    "bought": Field(_AR, "uint8", "1", "1 if the agent bought such a device in this round", FLAG),
    "device_minutes": Field(
        _ADR, "float64", "min", "minutes of use left in the devices owned", (0, "most minutes")
    ),
    "device_experience": Field(_ADR, "float64", "1", "experience in making the device", EXPERIENCE),
    "practised": Field(_ADR, "uint8", "1", "1 if made or invented today", FLAG),
    "to_make": Field(_ADR, "int32", "devices", "devices promised and not yet made", (0, 0)),
    "devices_set_aside": Field(
        _ADR, "int32", "devices", "components locked for promised devices", UNITS
    ),
    "devices_made": Field(_ADR, "int32", "devices", "devices made today", COUNT),
    "prices": Field(
        (*_ADR, "price"),
        "float64",
        "util",
        "last price events, newest first: paid if positive, own production or sale if negative",
        REAL,
    ),
    "recently_made": Field(
        (*_ADR, "production_day"),
        "int32",
        "devices",
        "devices made on the last days, today first",
        UNITS,
    ),
    "partner_memory": Field(
        ("agent", "device_type", "partner", "memory_day"),
        "float64",
        "util",
        "gained by deals with each partner on the last days of trade, newest first",
        REAL,
    ),
    "met": Field(
        ("agent", "partner"), "uint8", "1", "1 if the two met for the open device type", FLAG
    ),
    "overtime": Field(
        _A, "float64", "min", "minutes of making to take from the next working day", NOT_NEGATIVE
    ),
    "reserved_minutes": Field(
        _A, "float64", "min", "minutes promised for making devices", NOT_NEGATIVE
    ),
    "device_gain": Field(_A, "float64", "util", "gain from devices made for own use today", REAL),
    "units_paid": Field(_A, "int32", "units", "units paid for devices today", COUNT),
    "devices_sold": Field(_AD, "int32", "devices", "devices sold today", COUNT),
    "made_with_device": Field(
        _AD, "int32", "devices", "devices made today with a device that makes them", COUNT
    ),
    "making_minutes": Field(
        _AD, "float64", "min", "minutes spent making devices today", NOT_NEGATIVE
    ),
    "extracted_with": Field(
        ("agent", "source"),
        "int32",
        "units",
        "units extracted today by hand and by device type",
        COUNT,
    ),
    "minutes_with": Field(
        ("agent", "source"), "float64", "min", "minutes spent extracting so today", NOT_NEGATIVE
    ),
    "device_stock": Field(
        _AD,
        "float64",
        "min",
        "minutes of use left before the night, all resources",
        NOT_NEGATIVE,
        kept=False,
    ),
    "made_today": Field(
        _AD, "int32", "devices", "devices made today, all resources", COUNT, kept=False
    ),
    "agents_knowing": Field(
        ("device_type", "resource"),
        "int32",
        "agents",
        "agents that know anything about making the device, in the evening",
        (0, "agents"),
        of_agent=False,
        kept=False,
        logged=True,
    ),
    "recipe": Field(
        ("device_type", "resource", "component"),
        "int32",
        "index",
        "components, ascending: resources of a tool, else devices of the type below; -1: none",
        (NO_COMPONENT, "resources - 1"),
        initial=NO_COMPONENT,
        of_agent=False,
    ),
    "invented_on": Field(
        ("device_type", "resource"),
        "int32",
        "day",
        "day of the recipe's invention",
        COUNT,
        of_agent=False,
    ),
    "inventor": Field(
        ("device_type", "resource"),
        "int32",
        "agent",
        "who invented it",
        (-1, "agents - 1"),
        initial=-1,
        of_agent=False,
    ),
    "market_open": Field(
        (), "uint8", "1", "1 if the open type is known to anybody", FLAG, of_agent=False, kept=False
    ),
    "device_partners": Field(
        _A,
        "int32",
        "agent",
        "order of the agents in a round of device trade: positions 0 and 1 meet, 2 and 3, ...",
        (0, "agents - 1"),
        of_agent=False,
        kept=False,
    ),
}
"""What a society with devices remembers beside `STATE`."""

GROUP_STATE: dict[str, Field] = {
    "units_sold_outside": Field(
        _A,
        "int32",
        "units",
        "of units_sold, those to other groups; until evening",
        COUNT,
        kept=False,
    ),
}
GROUP_DEVICE_STATE: dict[str, Field] = {
    "units_paid_outside": Field(
        _A,
        "int32",
        "units",
        "of units_paid, those to other groups; until evening",
        COUNT,
        kept=False,
    ),
}
"""What is counted beside where there are groups, and where these have devices."""

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
ACTIVITIES = ("hand",)
DEVICE_ACTIVITIES = (*SOURCES[1:], *(f"making_{name}" for name in DEVICE_TYPES))
"""What time is spent on beside `ACTIVITIES` where there are devices."""


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
    **_of_types("devices_known", "devices", "devices that somebody knows how to make"),
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
"""What is recorded beside `SERIES` where there are devices."""

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
"""What is recorded of each group where there are several; `series_table` has one of each a group.

Means over the group's living agents; NaN where nobody is left.
"""


def state_fields(parameters: Any) -> dict[str, Field]:
    """Return the fields that a society of these parameters has."""
    fields = STATE
    if parameters.device is not None:
        fields = fields | DEVICE_STATE
    if len(parameters.trade_power) > 1:
        fields = fields | GROUP_STATE
        fields = fields if parameters.device is None else fields | GROUP_DEVICE_STATE
    return fields


def series_of(parameters: Any) -> dict[str, Series]:
    """Return the series of a society of these parameters."""
    return series_table(parameters.device is not None, len(parameters.trade_power))


def series_table(devices: bool, groups: int) -> dict[str, Series]:
    """Return the series of a society with or without devices and of so many groups."""
    series = SERIES | DEVICE_SERIES if devices else SERIES
    of_groups = GROUP_SERIES | GROUP_DEVICE_SERIES
    return series | {
        name: of_groups[family]
        for family, names in group_families(devices, groups).items()
        for name in names
    }


def group_families(devices: bool, groups: int) -> dict[str, list[str]]:
    """Return the names of the series of all groups by that of one; none if there is one group.

    ``group_devices_made`` has a series for every type of each group.
    """
    families = GROUP_SERIES | GROUP_DEVICE_SERIES if devices else GROUP_SERIES
    types = {"group_devices_made": [f"_{name}" for name in DEVICE_TYPES]}
    return {
        family: [f"{family}_{i}{one}" for i in range(groups) for one in types.get(family, [""])]
        for family in (families if groups > 1 else ())
    }


def sizes(parameters: Any) -> dict[str, int]:
    """Return the length of every dimension."""
    device = parameters.device
    lengths = {
        "agent": parameters.agents,
        "resource": parameters.resources,
        "owner": parameters.agents + 1,
        "purpose": PURPOSE_COUNT,
        "shock": max(1, len(parameters.shocks)),
        "round": max(1, parameters.rounds),
        "series": len(series_of(parameters)),
    }
    if device is not None:
        lengths |= {
            "device_type": len(DEVICE_TYPES),
            "source": len(SOURCES),
            "partner": parameters.agents,
            "price": device.memory,
            "memory_day": device.memory,
            "production_day": device.production_memory,
            "component": device.component_slots,
        }
    return lengths


def initial_state(parameters: Any) -> dict[str, NDArray[Any]]:
    """Return every array of the state as it is before the streams are seeded, society first."""
    return workload_fields.initial_state(
        state_fields(parameters), sizes(parameters), parameters.societies, parameters
    )
