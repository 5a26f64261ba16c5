"""What does a society remember from day to day? One table declares the economy's state.

From it come the lists of the reference, the buffers on a device, the kernels' accessors, the
checkpoint, the arrays that `societies verify` compares and the table in docs/model.md. To add a
field, add a line.
"""

from dataclasses import dataclass

from reference_py.economy.devices import SOURCES, TYPES
from reference_py.economy.measures import measure_names
from reference_py.economy.streams import PURPOSE_COUNT

NO_COMPONENT = -1
"""Fills the rest of a recipe's slots."""

NO_AGENT = -1
"""Fills the rest of a list of agents."""

FLAG = (0, 1)
COUNT = (0, None)
UNITS = (0, "most units")
REAL = (None, None)
NOT_NEGATIVE = (0, None)
EXPERIENCE = (0, 2**53)
"""Ranges of fields. Experience is rounded down to an index, which a double holds exactly so far."""


Within = tuple[float | str | None, float | str | None]


@dataclass(frozen=True)
class Array:
    """One array of the state.

    Attributes
    ----------
    dims : names of the dimensions of one society's array; `sizes` has their lengths
    dtype : NumPy type on the device; here "float64" is a float and any other an int
    unit, meaning : what the numbers are
    within : least and largest value, each a number, None or a name (`societies.workload.Field`)
    initial : value before the first phase
    of_agent : whether the removal of an agent gives the agent's entries this value again
    checkpointed : whether the array is part of a checkpoint; values passed between phases are not
    logged : whether its value of every evening is recorded
    some : whether every society has an entry that is not 0
    none : number that stands for no value: missing in files
    """

    dims: tuple[str, ...]
    dtype: str
    unit: str
    meaning: str
    within: Within
    initial: int = 0
    of_agent: bool = True
    checkpointed: bool = True
    logged: bool = False
    some: bool = False
    none: int | None = None


_AR = ("agent", "resource")
_A = ("agent",)

STATE: dict[str, Array] = {
    "held": Array(_AR, "int32", "units", "units owned and free to use", UNITS),
    "experience": Array(_AR, "float64", "units extracted", "experience in extracting", EXPERIENCE),
    "value": Array(
        _AR, "float64", "util", "remembered marginal value of one more unit", NOT_NEGATIVE
    ),
    "extracted": Array(_AR, "int32", "units", "units extracted today", UNITS),
    "alive": Array(
        _A, "uint8", "1", "1 while the agent is in the simulation", FLAG, initial=1, some=True
    ),
    "gain_per_minute": Array(_A, "float64", "util/min", "gain of the last unit extracted", REAL),
    "minutes": Array(_A, "float64", "min", "minutes spent extracting today", NOT_NEGATIVE),
    "units_sold": Array(
        _A, "int32", "units", "units given away in resource trades so far today", COUNT
    ),
    "deals": Array(
        _A, "int32", "deals", "resource trades today, counted at the first proposer", COUNT
    ),
    "units_extracted": Array(_A, "int32", "units", "units extracted today, all resources", COUNT),
    "units_held": Array(
        _A, "int32", "units", "units held before consumption, all resources", COUNT
    ),
    "units_traded": Array(
        _A, "int32", "units", "units given away in resource trades today", COUNT, checkpointed=False
    ),
    "resources_extracted": Array(
        _A, "int32", "resources", "different resources extracted today", COUNT
    ),
    "largest_holding": Array(_A, "int32", "units", "largest holding of one resource", COUNT),
    "utility": Array(_A, "float64", "util", "utility of all holdings before consumption", REAL),
    "utility_1": Array(_A, "float64", "util", "utility one day before", REAL),
    "utility_2": Array(_A, "float64", "util", "utility two days before", REAL),
    "utility_total": Array(_A, "float64", "util", "utility summed since day 1", REAL),
    "available": Array(
        ("resource",),
        "uint8",
        "1",
        "1 while the resource exists",
        FLAG,
        initial=1,
        of_agent=False,
        some=True,
    ),
    "stream": Array(
        ("owner", "purpose"),
        "uint64",
        "1",
        "state of each random stream",
        (1, "last state"),
        of_agent=False,
    ),
    "shock_target": Array(
        ("shock",),
        "int32",
        "index",
        "what each shock removes, drawn on day 0",
        (0, "last to be removed"),
        of_agent=False,
    ),
    "partners": Array(
        ("round", "agent"),
        "int32",
        "agent",
        "order of the agents in a round: positions 0 and 1 meet, 2 and 3, ...",
        (0, "agents - 1"),
        of_agent=False,
        checkpointed=False,
    ),
    "series": Array(
        ("series",),
        "float64",
        "various",
        "the day's statistics",
        REAL,
        of_agent=False,
        checkpointed=False,
        logged=True,
    ),
}

_AD = ("agent", "device_type")
_ADR = ("agent", "device_type", "resource")

DEVICE_STATE: dict[str, Array] = {
    "set_aside": Array(
        _AR, "int32", "units", "units locked for tools that the agent will make", UNITS
    ),
    "bought": Array(_AR, "uint8", "1", "1 if the agent bought such a device in this round", FLAG),
    "device_minutes": Array(
        _ADR, "float64", "min", "minutes of use left in the devices owned", (0, "most minutes")
    ),
    "device_experience": Array(_ADR, "float64", "1", "experience in making the device", EXPERIENCE),
    "practised": Array(_ADR, "uint8", "1", "1 if made or invented today", FLAG),
    "to_make": Array(_ADR, "int32", "devices", "devices promised and not yet made", (0, 0)),
    "devices_set_aside": Array(
        _ADR, "int32", "devices", "components locked for promised devices", UNITS
    ),
    "devices_made": Array(_ADR, "int32", "devices", "devices made today", COUNT),
    "prices": Array(
        (*_ADR, "price"),
        "float64",
        "util",
        "last price events, newest first: paid if positive, own production or sale if negative",
        REAL,
    ),
    "recently_made": Array(
        (*_ADR, "production_day"),
        "int32",
        "devices",
        "devices made on the last days, today first",
        UNITS,
    ),
    "remembered_partner": Array(
        ("agent", "device_type", "memory"),
        "int32",
        "agent",
        "partners whose deals the agent remembers, in the order of their first; -1: none",
        (NO_AGENT, "agents - 1"),
        initial=NO_AGENT,
        none=NO_AGENT,
    ),
    "partner_memory": Array(
        ("agent", "device_type", "memory", "memory_day"),
        "float64",
        "util",
        "gained by deals with each of these partners on the last days of trade, newest first",
        REAL,
    ),
    "met": Array(
        ("agent", "device_round"),
        "int32",
        "agent",
        "whom the agent met in each round for the open device type; -1: none so far",
        (NO_AGENT, "agents - 1"),
        initial=NO_AGENT,
        none=NO_AGENT,
    ),
    "overtime": Array(
        _A, "float64", "min", "minutes of making to take from the next working day", NOT_NEGATIVE
    ),
    "reserved_minutes": Array(
        _A, "float64", "min", "minutes promised for making devices", NOT_NEGATIVE
    ),
    "device_gain": Array(_A, "float64", "util", "gain from devices made for own use today", REAL),
    "units_paid": Array(_A, "int32", "units", "units paid for devices today", COUNT),
    "devices_sold": Array(_AD, "int32", "devices", "devices sold today", COUNT),
    "made_with_device": Array(
        _AD, "int32", "devices", "devices made today with a device that makes them", COUNT
    ),
    "making_minutes": Array(
        _AD, "float64", "min", "minutes spent making devices today", NOT_NEGATIVE
    ),
    "extracted_with": Array(
        ("agent", "source"),
        "int32",
        "units",
        "units extracted today by hand and by device type",
        COUNT,
    ),
    "minutes_with": Array(
        ("agent", "source"), "float64", "min", "minutes spent extracting so today", NOT_NEGATIVE
    ),
    "device_stock": Array(
        _AD,
        "float64",
        "min",
        "minutes of use left before the night, all resources",
        NOT_NEGATIVE,
        checkpointed=False,
    ),
    "made_today": Array(
        _AD, "int32", "devices", "devices made today, all resources", COUNT, checkpointed=False
    ),
    "agents_knowing": Array(
        ("device_type", "resource"),
        "int32",
        "agents",
        "agents that know anything about making the device, in the evening",
        (0, "agents"),
        of_agent=False,
        checkpointed=False,
        logged=True,
    ),
    "recipe": Array(
        ("device_type", "resource", "component"),
        "int32",
        "index",
        "components, ascending: resources of a tool, else devices of the type below; -1: none",
        (NO_COMPONENT, "resources - 1"),
        initial=NO_COMPONENT,
        none=NO_COMPONENT,
        of_agent=False,
    ),
    "invented_on": Array(
        ("device_type", "resource"),
        "int32",
        "day",
        "day of the recipe's invention; 0: not invented",
        COUNT,
        none=0,
        of_agent=False,
    ),
    "inventor": Array(
        ("device_type", "resource"),
        "int32",
        "agent",
        "who invented it; -1: not invented",
        (NO_AGENT, "agents - 1"),
        initial=NO_AGENT,
        none=NO_AGENT,
        of_agent=False,
    ),
    "market_open": Array(
        (),
        "uint8",
        "1",
        "1 if any agent knows the open type",
        FLAG,
        of_agent=False,
        checkpointed=False,
    ),
    "device_partners": Array(
        _A,
        "int32",
        "agent",
        "order of the agents in a round of device trade: positions 0 and 1 meet, 2 and 3, ...",
        (0, "agents - 1"),
        of_agent=False,
        checkpointed=False,
    ),
}
"""What a society with devices has in addition."""

GROUP_STATE: dict[str, Array] = {
    "units_sold_outside": Array(
        _A,
        "int32",
        "units",
        "of units_sold, those to other groups; until evening",
        COUNT,
        checkpointed=False,
    ),
}
GROUP_DEVICE_STATE: dict[str, Array] = {
    "units_paid_outside": Array(
        _A,
        "int32",
        "units",
        "of units_paid, those to other groups; until evening",
        COUNT,
        checkpointed=False,
    ),
}
"""What is counted in addition if there are several groups, and if these have devices."""

MEASURE_STATE: dict[str, Array] = {
    "priced_units": Array(
        _AR,
        "int32",
        "units",
        "units given away in the swaps that are priced",
        COUNT,
        checkpointed=False,
    ),
    "priced_for": Array(
        _AR, "int32", "units", "units received for them", COUNT, checkpointed=False
    ),
    "priced_squares": Array(
        _AR,
        "float64",
        "units",
        "sum over these swaps: units received, squared, over units given",
        NOT_NEGATIVE,
        checkpointed=False,
    ),
    "income_extraction": Array(
        _A,
        "float64",
        "util",
        "utility of the units extracted today, when they were",
        REAL,
        checkpointed=False,
    ),
    "income_swaps": Array(
        _A, "float64", "util", "utility gained by swaps today", REAL, checkpointed=False
    ),
    "units_consumed": Array(
        _A, "int32", "units", "units consumed today", COUNT, checkpointed=False
    ),
    "utility_consumed": Array(
        _A, "float64", "util", "utility of the units consumed", REAL, checkpointed=False
    ),
    "income": Array(
        _A,
        "float64",
        "util",
        "income of today: extraction, swaps, sales of devices",
        REAL,
        checkpointed=False,
    ),
    "wealth": Array(
        _A,
        "float64",
        "util",
        "wealth after consumption: stocks and devices",
        REAL,
        checkpointed=False,
    ),
    "resource_price": Array(
        ("resource",),
        "float64",
        "units/unit",
        "units received for a unit given away",
        REAL,
        of_agent=False,
        checkpointed=False,
        logged=True,
    ),
    "resource_price_dispersion": Array(
        ("resource",),
        "float64",
        "1",
        "standard deviation of the price over the units given, over its mean",
        REAL,
        of_agent=False,
        checkpointed=False,
        logged=True,
    ),
    "resource_units_priced": Array(
        ("resource",),
        "float64",
        "units",
        "units given away in the swaps that are priced, by all agents",
        NOT_NEGATIVE,
        of_agent=False,
        checkpointed=False,
        logged=True,
    ),
    "measures": Array(
        ("measure",),
        "float64",
        "various",
        "the day's economic measures",
        REAL,
        of_agent=False,
        checkpointed=False,
        logged=True,
    ),
}
MEASURE_DEVICE_STATE: dict[str, Array] = {
    "income_sales": Array(
        _A,
        "float64",
        "util",
        "utility of the units received for devices today",
        REAL,
        checkpointed=False,
    ),
    "spending_devices": Array(
        _A,
        "float64",
        "util",
        "utility of the units paid for devices today",
        REAL,
        checkpointed=False,
    ),
    "wealth_stocks": Array(
        _A, "float64", "util", "utility of all holdings after consumption", REAL, checkpointed=False
    ),
    "minute_value": Array(
        (),
        "float64",
        "util/min",
        "gain of the last unit extracted, median over agents",
        REAL,
        of_agent=False,
        checkpointed=False,
    ),
    "wealth_devices": Array(
        _A,
        "float64",
        "util",
        "what making the devices again would cost, in proportion to the use left in them",
        NOT_NEGATIVE,
        checkpointed=False,
    ),
}
"""What is measured in addition if ``record.measures`` is set, and if there are devices."""

POLICY_STATE: dict[str, Array] = {
    "units_received": Array(
        _AR,
        "int32",
        "units",
        "units received in swaps and for devices; until evening",
        COUNT,
        checkpointed=False,
    ),
    "units_given": Array(
        _AR,
        "int32",
        "units",
        "units given away in swaps and for devices; until evening",
        COUNT,
        checkpointed=False,
    ),
    "tax_owed": Array(_AR, "float64", "units", "part of a unit that is due", (0, 1)),
    "tax_paid": Array(_AR, "int32", "units", "units paid in taxes", COUNT, checkpointed=False),
    "transfer_received": Array(
        _AR, "int32", "units", "units received from the fund", COUNT, checkpointed=False
    ),
    "units_taxed": Array(
        _A, "int32", "units", "units paid in taxes today", COUNT, checkpointed=False
    ),
    "units_transferred": Array(
        _A, "int32", "units", "units received from the fund today", COUNT, checkpointed=False
    ),
    "taxed_utility": Array(
        _A, "float64", "util", "utility of the holdings after taxes", REAL, checkpointed=False
    ),
    "redistributed": Array(
        _A,
        "float64",
        "util",
        "utility gained by transfers less that lost by taxes today",
        REAL,
        checkpointed=False,
    ),
    "fund": Array(
        ("resource",),
        "float64",
        "units",
        "units paid in taxes and not yet paid out; whole numbers",
        NOT_NEGATIVE,
        of_agent=False,
    ),
}
"""What there is in addition if there are taxes or transfers at any time."""

MEASURE_POLICY_STATE: dict[str, Array] = {
    "disposable_income": Array(
        _A,
        "float64",
        "util",
        "income of today after taxes and transfers",
        REAL,
        checkpointed=False,
    ),
}
"""What is measured in addition if there are taxes or transfers."""

_AL = ("agent", "link")

NETWORK_STATE: dict[str, Array] = {
    "link_taker": Array(
        _AL,
        "int32",
        "agent",
        "to whom the agent gave anything today, in the order of the first time; -1: none",
        (NO_AGENT, "agents - 1"),
        initial=NO_AGENT,
        none=NO_AGENT,
        of_agent=False,
        checkpointed=False,
    ),
    "link_units": Array(
        _AL,
        "int32",
        "units",
        "units given to it in swaps",
        COUNT,
        of_agent=False,
        checkpointed=False,
    ),
    "link_swaps": Array(
        _AL, "int32", "swaps", "swaps with it", COUNT, of_agent=False, checkpointed=False
    ),
}
NETWORK_DEVICE_STATE: dict[str, Array] = {
    "link_paid": Array(
        _AL,
        "int32",
        "units",
        "units paid to it for devices",
        COUNT,
        of_agent=False,
        checkpointed=False,
    ),
    "link_devices": Array(
        ("agent", "device_type", "link"),
        "int32",
        "devices",
        "devices sold to it",
        COUNT,
        of_agent=False,
        checkpointed=False,
    ),
}
"""What is recorded of a day's trade in addition if ``record.network`` is set, and with devices.

A shock at the end of a day leaves its links as they are: they are those of the day.
"""


def arrays(p) -> dict[str, Array]:
    """Return the arrays that a society of these parameters has."""
    found = STATE
    if p.devices is not None:
        found = found | DEVICE_STATE
    if p.groups > 1:
        found = found | GROUP_STATE
        found = found if p.devices is None else found | GROUP_DEVICE_STATE
    if p.measures:
        found = found | MEASURE_STATE
        found = found if p.devices is None else found | MEASURE_DEVICE_STATE
    if p.policies:
        found = found | POLICY_STATE
        found = found | MEASURE_POLICY_STATE if p.measures else found
    if p.network:
        found = found | NETWORK_STATE
        found = found if p.devices is None else found | NETWORK_DEVICE_STATE
    return found


def sizes(p) -> dict[str, int]:
    """Return the length of every dimension but ``series``, which is a dictionary by name here."""
    lengths = {
        "agent": p.agents,
        "resource": p.resources,
        "owner": p.agents + 1,
        "purpose": PURPOSE_COUNT,
        "shock": max(1, len(p.shocks)),
        "round": max(1, p.rounds),
    }
    if p.measures:
        lengths["measure"] = len(measure_names(p))
    if p.network:
        lengths["link"] = links(p)
    if p.devices is not None:
        lengths |= {
            "device_type": TYPES,
            "source": len(SOURCES),
            "memory": partners_remembered(p),
            "device_round": max(1, p.device_rounds),
            "price": p.device_memory,
            "memory_day": p.device_memory,
            "production_day": p.production_memory,
            "component": p.component_slots,
        }
    return lengths


def partners_remembered(p):
    """Return the most partners whose deals an agent remembers for a type of device.

    An agent meets one partner in a round, and deals are remembered for ``memory`` days of trade.
    """
    return max(1, min(p.agents - 1, p.device_rounds * p.device_memory))


def filled(array, lengths):
    """Return nested lists of these lengths, full of the array's initial value."""
    if len(lengths) > 1:
        return [filled(array, lengths[1:]) for _ in range(lengths[0])]
    initial = float(array.initial) if array.dtype == "float64" else array.initial
    return [initial] * lengths[0] if lengths else initial


def links(p):
    """Return the most others to whom an agent can give something in a day.

    It meets one in each round of a resource market, of which there are two, with devices one more
    before those and one after each type, and in each round of device trade.
    """
    meetings = 2 * p.rounds
    if p.devices is not None:
        meetings = (3 + TYPES) * p.rounds + TYPES * p.device_rounds
    return max(1, min(p.agents - 1, meetings))
