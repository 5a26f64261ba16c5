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
    "Experience in making a device at which effort is lowest; what exceeds it is lost"
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
        "Deals that a pair may try in one meeting",
        "1/meeting",
        ge=1,
        le=MOST_ATTEMPTS,
        symbol="device_attempts",
    )
    memory: int = shape(
        5,
        "Prices remembered of each device, and days that a partner's deals are remembered",
        "events, day",
        ge=2,
        le=LONGEST_MEMORY,
        symbol="device_memory",
    )
    production_memory: int = shape(
        5,
        "Days that an agent remembers how many of each device it made",
        "day",
        ge=1,
        le=LONGEST_MEMORY,
    )
    days_to_hold: Positive = value(
        2.0,
        "An agent that owns devices for more than this many days of use wants no more of them",
        "day",
    )


_FACTOR = "Factor of speed: how much {} speeds {}"
_LIFETIME = "Minutes of use until {} is worn out"
_PRACTICE = "Experience for each {} made, without a device that makes it"


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
    """How many times faster work with a device is."""

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
    """What devices are made of, what making one takes, and what it brings."""

    resources_in_tool: int = shape(
        DEFAULT_RESOURCES_IN_TOOL,
        "Number of different resources, one unit each, that a tool is made of; fewer than the "
        "resources; if not given, 5 or all but one, whichever is fewer",
        "resources",
        ge=1,
        le=MOST_RESOURCES,
    )
    components: int = shape(
        DEFAULT_COMPONENTS,
        "Number of different devices of the type below that any higher device is made of; at most "
        "the number of resources; if not given, 6 or that, whichever is fewer",
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
        "Least experience of an agent that buys or owns a device: it learns by taking it apart",
        "1",
    )
    daily_decay: NotNegative = value(
        3.0, "Minutes of use that an unused device loses every night", "min/day"
    )
    factor: DeviceFactorConfig = value(
        DeviceFactorConfig(), "How much faster work is, by type", symbol="device_factor"
    )
    lifetime: DeviceLifetimeConfig = value(
        DeviceLifetimeConfig(), "Minutes of use, by type", symbol="device_lifetime"
    )
    experience_for_making: DevicePracticeConfig = value(
        DevicePracticeConfig(),
        "Experience for each device made, by type",
        symbol="device_experience_for_making",
    )


class InventionConfig(Section):
    """How likely inventions are."""

    tool_probability: NotNegative = value(
        0.000075,
        "Probability a day of inventing a tool, for each unit of experience with its resources",
        "1/unit extracted",
    )
    device_probability: NotNegative = value(
        0.00125,
        "Probability a day of inventing a higher device, for each experience with its components",
        "1",
    )
    banned_of: int = value(
        -1,
        "Resource whose devices no agent can invent, though it tries; -1: none",
        "index",
        ge=-1,
        le=MOST_RESOURCES - 1,
        usual=(-1, "resources"),
    )
    min_held: From0 = value(
        3, "An agent experiments only with resources of which it holds more than this", "units"
    )
    min_made_for_device_maker: From0 = value(
        5,
        "A device that makes devices is of use to an agent that made more than this many of them "
        "within production_memory, for each one it owns and the new one",
        "devices",
    )
