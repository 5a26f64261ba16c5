"""Which keys configure devices: their market, costs, benefits and inventions?"""

from __future__ import annotations

from typing import Any

from reference_py.economy.devices import DEVICE_TYPES
from societies.config.model import (
    LARGEST_REAL,
    From0,
    PerResource,
    Section,
    key,
    shape,
    tabulated,
    value,
)
from societies.economy.config.ranges import (
    DEFAULT_COMPONENTS,
    DEFAULT_RESOURCES_IN_TOOL,
    LONGEST_MEMORY,
    MOST_ATTEMPTS,
    MOST_RESOURCES,
    MOST_ROUNDS,
    Experience,
    MoreThanOne,
    NotNegative,
    Positive,
)

A_DEVICE = (
    *("a tool", "a machine", "a factory", "an industry"),
    *("a tool-making machine", "a machine-making factory"),
)
"""Names of the device types in messages, with their article."""

MAX_DEVICE_EFFORT = "Effort for making one device without any experience"
MIN_DEVICE_EFFORT = "Effort for making one device at full experience; at most max_effort"
MAX_DEVICE_EXPERIENCE = (
    "Experience in making a device at which effort is lowest; any excess is lost overnight"
)


class DevicesMarketConfig(Section):
    """How devices are traded, and how many of them agents make for themselves."""

    rounds: int = shape(
        12,
        "Rounds a day for each device type; every round pairs all agents again; 0: no meetings",
        "1/type/day",
        ge=0,
        le=MOST_ROUNDS,
        symbol="device_rounds",
    )
    attempts: int = shape(
        4,
        "Sales that a pair may try in one meeting",
        "1/meeting",
        ge=1,
        le=MOST_ATTEMPTS,
        symbol="device_attempts",
    )
    memory: int = shape(
        5,
        "Number of prices of each device, and of days of a partner's sales, that agents remember",
        "events, day",
        ge=2,
        le=LONGEST_MEMORY,
        symbol="device_memory",
    )
    production_memory: int = shape(
        5,
        "Days for which an agent remembers how many of each device it made",
        "day",
        ge=1,
        le=LONGEST_MEMORY,
    )
    days_to_hold: Positive = value(
        2.0,
        "An agent that owns this many days of use of devices wants no more of them",
        "day",
    )


_FACTOR = "Factor by which {} speeds up {}"
_LIFETIME = "Minutes of use until {} is worn out"
_PRACTICE = "Experience gained for each {} made by hand; with a device it is divided by its factor"


def _by_type(defaults: tuple[float, ...], meanings: list[str], unit: str) -> list[Any]:
    return [
        key(default, meaning, unit) for default, meaning in zip(defaults, meanings, strict=True)
    ]


_WHAT_IT_SPEEDS = (
    *("the extraction of its resource",) * 4,
    "the making of tools",
    "the making of machines",
)
_factors = _by_type(
    (3.0, 9.0, 27.0, 81.0, 9.0, 9.0),
    [_FACTOR.format(a, b) for a, b in zip(A_DEVICE, _WHAT_IT_SPEEDS, strict=True)],
    "1",
)
_lifetimes = _by_type(
    (150.0, 300.0, 600.0, 1200.0, 600.0, 600.0), [_LIFETIME.format(a) for a in A_DEVICE], "min"
)
_practice = _by_type(
    (1.0, 2.0, 4.0, 8.0, 4.0, 8.0),
    [_PRACTICE.format(name.replace("_", " ")) for name in DEVICE_TYPES],
    "1/device",
)


class DeviceFactorConfig(Section):
    """By which factor a device speeds up work."""

    tool: MoreThanOne = _factors[0]
    machine: MoreThanOne = _factors[1]
    factory: MoreThanOne = _factors[2]
    industry: MoreThanOne = _factors[3]
    device_machine: MoreThanOne = _factors[4]
    device_factory: MoreThanOne = _factors[5]


class DeviceLifetimeConfig(Section):
    """How long a device can be used."""

    tool: Positive = _lifetimes[0]
    machine: Positive = _lifetimes[1]
    factory: Positive = _lifetimes[2]
    industry: Positive = _lifetimes[3]
    device_machine: Positive = _lifetimes[4]
    device_factory: Positive = _lifetimes[5]


class DevicePracticeConfig(Section):
    """How much making a device teaches."""

    tool: Positive = _practice[0]
    machine: Positive = _practice[1]
    factory: Positive = _practice[2]
    industry: Positive = _practice[3]
    device_machine: Positive = _practice[4]
    device_factory: Positive = _practice[5]


class DeviceConfig(Section):
    """What devices are made of, the effort of making one, and its benefits."""

    resources_in_tool: int = shape(
        DEFAULT_RESOURCES_IN_TOOL,
        "Number of resources in a tool, one unit of each; less than the number of resources. "
        "Default: 5 or all but one, whichever is fewer",
        "resources",
        ge=1,
        le=MOST_RESOURCES,
    )
    components: int = shape(
        DEFAULT_COMPONENTS,
        "Number of different devices of the type below in each higher device; at most the number "
        "of resources. Default: 6 or that number, whichever is smaller",
        "devices",
        ge=2,
        le=MOST_RESOURCES,
    )
    max_effort: PerResource[Positive] = tabulated(27.0, MAX_DEVICE_EFFORT, "min/device")
    min_effort: PerResource[Positive] = tabulated(9.0, MIN_DEVICE_EFFORT, "min/device")
    max_experience: PerResource[Experience] = tabulated(40.0, MAX_DEVICE_EXPERIENCE, "1")
    inventor_experience: float = value(
        6.0, "Experience that an invention gives its inventor", "1", ge=2, le=LARGEST_REAL
    )
    min_held_experience: NotNegative = value(
        2.0,
        "Least experience of an agent that buys or owns a device, from which it learns",
        "1",
    )
    daily_decay: NotNegative = value(
        3.0, "Minutes of use that an unused device loses every night", "min/day"
    )
    factor: DeviceFactorConfig = value(
        DeviceFactorConfig,
        "By which factor devices speed up work, by type",
        symbol="device_factor",
    )
    lifetime: DeviceLifetimeConfig = value(
        DeviceLifetimeConfig, "Minutes of use, by type", symbol="device_lifetime"
    )
    experience_for_making: DevicePracticeConfig = value(
        DevicePracticeConfig,
        "Experience gained for each device made, by type",
        symbol="device_experience_for_making",
    )


class InventionConfig(Section):
    """How likely inventions are."""

    tool_probability: NotNegative = value(
        0.000075,
        "Probability per day of inventing a tool, for each unit of experience with the resources "
        "tried",
        "1/unit extracted",
    )
    device_probability: NotNegative = value(
        0.00125,
        "Probability per day of inventing a higher device, for each unit of experience in making "
        "the components tried",
        "1",
    )
    banned_of: int = value(
        -1,
        "Resource whose devices cannot be invented: attempts fail; -1: none",
        "index",
        ge=-1,
        le=MOST_RESOURCES - 1,
        usual=(-1, "resources"),
    )
    min_held: From0 = value(
        3,
        "Besides the two resources that it knows best, an agent tries only those of which it holds "
        "more than this",
        "units",
    )
    min_made_for_device_maker: From0 = value(
        5,
        "An agent wants a device that makes devices only if it made more than this many devices, "
        "times the number of makers it would then own, within production_memory",
        "devices",
    )
