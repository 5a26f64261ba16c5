"""What can an economy be told: every key of its YAML file, with unit, range and meaning.

Defaults are those of the model's research configuration (docs/model.md); the words are the
field's. Keys that must fit each other are checked in `EconomyConfig.conflicts`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from societies.config.model import (
    LARGEST_INTEGER,
    LARGEST_REAL,
    SMALLEST_REAL,
    Conflict,
    Interval,
    ListOf,
    PerResource,
    Section,
    WorkloadConfig,
    key,
)
from societies.config.problems import quoted
from societies.economy.conflicts import economy_conflicts, economy_warnings
from societies.economy.state import A_DEVICE, DEVICE_TYPES

LARGEST_SEED = 2**64 - 1
LONGEST_EXPERIENCE = 100_000  # entries of an effort table
MOST_RESOURCES = 1024
MOST_ATTEMPTS = 256  # a meeting keeps its queue in local memory
MOST_ROUNDS = 100_000
MOST_DAYS = 10_000_000
DEFAULT_MENU = 6
DEFAULT_RESOURCES_IN_TOOL = 5
DEFAULT_COMPONENTS = 6
LONGEST_MEMORY = 1000

Positive = Annotated[float, Field(ge=SMALLEST_REAL, le=LARGEST_REAL)]
MoreThanOne = Annotated[float, Field(gt=1, le=LARGEST_REAL)]
AtLeastOne = Annotated[float, Field(ge=1, le=LARGEST_REAL)]
Experience = Annotated[float, Field(ge=1, le=LONGEST_EXPERIENCE)]

_SCALE = "Utility of the first unit of a resource (D in U = D x^(1/n))"
_EXPONENT = "How fast marginal utility falls (n in U = D x^(1/n))"
_MAX_EFFORT = "Effort for one unit without any experience"
_MIN_EFFORT = "Effort for one unit at full experience; at most max_effort"
_MAX_EXPERIENCE = "Experience beyond which effort falls no further, and the most kept overnight"
_MAX_DEVICE_EFFORT = "Effort for making one device without any experience"
_MIN_DEVICE_EFFORT = "Effort for making one device at full experience; at most max_effort"
_MAX_DEVICE_EXPERIENCE = (
    "Experience in making a device beyond which effort falls no further, and the most kept"
)
_RESOURCE_LIFETIME = (
    "Mean life of a held unit: every night each unit is consumed with probability 1/lifetime"
)


class UtilityConfig(Section):
    """How much a unit is worth. Lists give one number per resource."""

    scale: PerResource[Positive] = key(600.0, _SCALE, "util")
    exponent: PerResource[MoreThanOne] = key(2.5, _EXPONENT, "1")
    min_marginal: float = key(
        1.0,
        "Floor of marginal utility; less than every scale",
        "util/unit",
        ge=SMALLEST_REAL,
        le=LARGEST_REAL,
    )


class ExtractionConfig(Section):
    """How many minutes a unit takes, and how practice shortens them."""

    max_effort: PerResource[Positive] = key(9.0, _MAX_EFFORT, "min/unit")
    min_effort: PerResource[Positive] = key(3.0, _MIN_EFFORT, "min/unit")
    max_experience: PerResource[Experience] = key(600.0, _MAX_EXPERIENCE, "units extracted")
    daily_experience_penalty: float = key(
        3.0,
        "Experience lost on every day on which the resource is not extracted",
        "units extracted/day",
        ge=0,
        le=LARGEST_REAL,
    )
    near_best_band: float = key(
        0.0,
        "An agent extracts any resource whose gain per minute is within this of the best; "
        "0: only the best",
        "util/min",
        ge=0,
        le=LARGEST_REAL,
    )


class ConsumptionConfig(Section):
    """How fast holdings disappear."""

    resource_lifetime: PerResource[AtLeastOne] = key(5.0, _RESOURCE_LIFETIME, "day")


class TradingConfig(Section):
    """How the resource market works."""

    rounds: int = key(
        12,
        "How often, in each of a day's markets, all agents are paired anew; 0: nobody meets",
        "1/market",
        ge=0,
        le=MOST_ROUNDS,
    )
    attempts: int = key(
        8, "Exchanges that a pair may try in one meeting", "1/meeting", ge=1, le=MOST_ATTEMPTS
    )
    menu_size: int = key(
        DEFAULT_MENU,
        "Resources that each partner offers, at most the number of resources; if not given, 6 or "
        "all of them, whichever is fewer",
        "resources",
        ge=1,
        le=MOST_RESOURCES,
    )
    min_surplus: float = key(
        0.1, "Each partner must gain more than this by a trade", "util", ge=0, le=LARGEST_REAL
    )
    price: Literal["geometric", "inverse_geometric", "unit"] = key(
        "geometric",
        "Price between the two marginal utilities: their geometric mean, its inverse, or one "
        "unit for one unit",
    )
    fresh_values: bool = key(
        False,
        "Agents compose menus from today's marginal utilities instead of the remembered ones",
    )


class DevicesMarketConfig(Section):
    """How devices are traded, and how many of them agents make for themselves."""

    rounds: int = key(
        12,
        "How often a day, for each device type, all agents are paired anew; 0: nobody meets",
        "1/type/day",
        ge=0,
        le=MOST_ROUNDS,
    )
    attempts: int = key(
        4, "Deals that a pair may try in one meeting", "1/meeting", ge=1, le=MOST_ATTEMPTS
    )
    memory: int = key(
        5,
        "Prices remembered of each device, and days that a partner's deals are remembered",
        "events, day",
        ge=2,
        le=LONGEST_MEMORY,
    )
    production_memory: int = key(
        5,
        "Days that an agent remembers how many of each device it made",
        "day",
        ge=1,
        le=LONGEST_MEMORY,
    )
    days_to_hold: float = key(
        2.0,
        "An agent that owns devices for more than this many days of use wants no more of them",
        "day",
        ge=SMALLEST_REAL,
        le=LARGEST_REAL,
    )


_FACTOR = "Times as fast as without: how much {} speeds {}"
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

    resources_in_tool: int = key(
        DEFAULT_RESOURCES_IN_TOOL,
        "Different resources, one unit each, that a tool is made of; fewer than there are; if not "
        "given, 5 or all but one, whichever is fewer",
        "resources",
        ge=1,
        le=MOST_RESOURCES,
    )
    components: int = key(
        DEFAULT_COMPONENTS,
        "Different devices of the type below that any higher device is made of; at most the number "
        "of resources; if not given, 6 or that, whichever is fewer",
        "devices",
        ge=2,
        le=MOST_RESOURCES,
    )
    max_effort: PerResource[Positive] = key(27.0, _MAX_DEVICE_EFFORT, "min/device")
    min_effort: PerResource[Positive] = key(9.0, _MIN_DEVICE_EFFORT, "min/device")
    max_experience: PerResource[Experience] = key(40.0, _MAX_DEVICE_EXPERIENCE, "1")
    inventor_experience: float = key(
        6.0, "Experience that an invention gives its inventor", "1", ge=2, le=LARGEST_REAL
    )
    min_held_experience: float = key(
        2.0,
        "Experience that whoever buys or owns a device has at least, from taking it apart",
        "1",
        ge=0,
        le=LARGEST_REAL,
    )
    daily_decay: float = key(
        3.0,
        "Minutes of use that an unused device loses every night",
        "min/day",
        ge=0,
        le=LARGEST_REAL,
    )
    factor: DeviceFactorConfig = key(DeviceFactorConfig(), "How much faster work is, by type")
    lifetime: DeviceLifetimeConfig = key(DeviceLifetimeConfig(), "Minutes of use, by type")
    experience_for_making: DevicePracticeConfig = key(
        DevicePracticeConfig(), "Experience for each device made, by type"
    )


class InventionConfig(Section):
    """How likely inventions are."""

    tool_probability: float = key(
        0.000075,
        "Probability a day of inventing a tool, for each unit of experience with its resources",
        "1/unit extracted",
        ge=0,
        le=LARGEST_REAL,
    )
    device_probability: float = key(
        0.00125,
        "Probability a day of inventing a higher device, for each experience with its components",
        "1",
        ge=0,
        le=LARGEST_REAL,
    )
    min_held: int = key(
        3,
        "An agent experiments only with resources of which it holds more than this",
        "units",
        ge=0,
        le=LARGEST_INTEGER,
    )
    min_made_for_device_maker: int = key(
        5,
        "A device that makes devices is of use to an agent that made more than this many of them "
        "within production_memory, for each one it owns and the new one",
        "devices",
        ge=0,
        le=LARGEST_INTEGER,
    )


class UtilityOverrides(Section):
    """What a group has instead of the keys of `utility`."""

    scale: PerResource[Positive] | None = key(None, _SCALE, "util")
    exponent: PerResource[MoreThanOne] | None = key(None, _EXPONENT, "1")


class ExtractionOverrides(Section):
    """What a group has instead of the keys of `extraction`."""

    max_effort: PerResource[Positive] | None = key(None, _MAX_EFFORT, "min/unit")
    min_effort: PerResource[Positive] | None = key(None, _MIN_EFFORT, "min/unit")
    max_experience: PerResource[Experience] | None = key(None, _MAX_EXPERIENCE, "units extracted")


class ConsumptionOverrides(Section):
    """What a group has instead of the keys of `consumption`."""

    resource_lifetime: PerResource[AtLeastOne] | None = key(None, _RESOURCE_LIFETIME, "day")


class DeviceOverrides(Section):
    """What a group has instead of the keys of `device`."""

    max_effort: PerResource[Positive] | None = key(None, _MAX_DEVICE_EFFORT, "min/device")
    min_effort: PerResource[Positive] | None = key(None, _MIN_DEVICE_EFFORT, "min/device")
    max_experience: PerResource[Experience] | None = key(None, _MAX_DEVICE_EXPERIENCE, "1")


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
        "Number of agents; the counts of all groups add up to agents",
        "agents",
        ge=1,
        le=LARGEST_INTEGER,
    )
    share: float | None = key(
        None,
        "Fraction of the agents, instead of count; the shares of all groups add up to 1",
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
    trade_power: float = key(
        1.0,
        "Bargaining power: the price moves towards what the stronger partner wants",
        "1",
        gt=0,
        le=LARGEST_REAL,
    )
    device: DeviceOverrides | None = key(None, "Keys of device that differ in this group")
    device_trade_power: float = key(
        1.0,
        "Bargaining power in device trade",
        "1",
        ge=SMALLEST_REAL,
        le=LARGEST_REAL,
    )
    inventiveness: float = key(
        1.0,
        "How many times likelier inventions are to an agent of this group",
        "1",
        ge=SMALLEST_REAL,
        le=LARGEST_REAL,
    )


def _the_word_random(word: str) -> str:
    if word != "random":
        message = "expected a whole number or random, got {word}"
        raise PydanticCustomError("index", message, {"word": quoted(word)})
    return word


Index = Annotated[
    Annotated[Annotated[int, Field(ge=0, le=LARGEST_INTEGER)], Tag("number")]
    | Annotated[Literal["random"], BeforeValidator(_the_word_random), Tag("word")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "number"),
]


class ShockConfig(Section):
    """Something that is taken out of the society for good."""

    day: int = key(
        ...,
        "At the end of this day; 0: before the first day",
        "day",
        ge=0,
        le=LARGEST_INTEGER,
        examples=[0],
    )
    remove: Literal["resource", "agent"] = key(..., "What is removed", examples=["resource"])
    index: Index = key(..., "Which one, counted from 0, or random", "index", examples=["random"])
    holdings: Literal["keep", "lose"] | None = key(
        None,
        "Whether agents keep what they hold and know of a removed resource (default keep); a "
        "removed agent always loses everything",
    )

    @field_validator("holdings")
    @classmethod
    def _keep_unless_said(cls, holdings: str | None, info: ValidationInfo) -> str | None:
        return "keep" if holdings is None and info.data.get("remove") == "resource" else holdings


class TradeLogConfig(Section):
    """Of which days all trades are written down, one by one."""

    days: ListOf[Annotated[int, Field(ge=1, le=MOST_DAYS)]] = key(
        (), "Days whose trades are recorded; each takes the reference one more day", "day"
    )
    societies: int = key(
        1, "In how many societies, the first ones", "societies", ge=1, le=LARGEST_INTEGER
    )


class RecordConfig(Section):
    """How much detail the output file holds."""

    society: int = key(
        1, "Record the society's series every this many days", "day", ge=1, le=LARGEST_INTEGER
    )
    agent: int = key(
        0, "Record every agent every this many days; 0: never", "day", ge=0, le=LARGEST_INTEGER
    )
    agent_resource: int = key(
        0,
        "Record every agent's every resource every this many days; 0: never",
        "day",
        ge=0,
        le=LARGEST_INTEGER,
    )
    device: int = key(
        1,
        "Record how many agents know each device every this many days; 0: never; of no effect "
        "without devices",
        "day",
        ge=0,
        le=LARGEST_INTEGER,
    )
    checkpoint: Interval = key(
        "auto",
        "Save the full state, from which a run can be resumed, every this many days; 0 or "
        "never: not at all; auto: 50, or more where it is large",
        "day",
    )
    trade_log: TradeLogConfig = key(
        TradeLogConfig(), "Every single trade of chosen days, of resources and of devices"
    )
    input_output: bool = key(
        False,
        "Record what went into what on the last day: resources, minutes of devices, labour",
    )


class EconomyConfig(WorkloadConfig):
    """A society of self-interested agents that extract, barter and consume resources."""

    workload: Literal["economy"] = key("economy", "What the file configures")
    agents: int = key(48, "Number of agents in a society", "agents", ge=1, le=LARGEST_INTEGER)
    resources: int = key(48, "Number of resources", "resources", ge=2, le=MOST_RESOURCES)
    days: int = key(500, "Number of days to simulate", "day", ge=1, le=MOST_DAYS)
    day_length: float = key(600.0, "Working time of an agent in a day", "min", gt=0, le=1e6)
    seed: int = key(
        1, "Seed of every random draw: the same seed, the same bits", "1", ge=0, le=LARGEST_SEED
    )
    replicates: int = key(
        1,
        "Number of societies, alike but for their random draws, that run side by side",
        "societies",
        ge=1,
        le=LARGEST_INTEGER,
    )
    first_society: int = key(
        0,
        "Number of the first society; society k of an ensemble is first_society k, replicates 1",
        "index",
        ge=0,
        le=LARGEST_INTEGER,
    )
    trade: bool = key(True, "Whether agents trade, resources as well as devices")
    devices: Literal["none", "tools", "all"] = key("none", "Which devices agents may invent")
    utility: UtilityConfig = key(UtilityConfig(), "How much a unit is worth")
    extraction: ExtractionConfig = key(ExtractionConfig(), "How many minutes a unit takes")
    consumption: ConsumptionConfig = key(ConsumptionConfig(), "How fast holdings disappear")
    trading: TradingConfig = key(TradingConfig(), "How the resource market works")
    devices_market: DevicesMarketConfig = key(DevicesMarketConfig(), "How devices are traded")
    device: DeviceConfig = key(DeviceConfig(), "What devices take and bring")
    invention: InventionConfig = key(InventionConfig(), "How likely inventions are")
    groups: ListOf[GroupConfig] = key((), "Groups of unlike agents; empty: all are alike")
    shocks: ListOf[ShockConfig] = key((), "What is removed from the society, and when")
    record: RecordConfig = key(RecordConfig(), "How much detail the output file holds")

    @field_validator("trading")
    @classmethod
    def _menu_of_all_resources(cls, trading: TradingConfig, info: ValidationInfo) -> TradingConfig:
        """Let a menu that is not given fit a society of few resources."""
        resources = info.data.get("resources", DEFAULT_MENU)
        if "menu_size" in trading.model_fields_set or resources >= DEFAULT_MENU:
            return trading
        return trading.model_copy(update={"menu_size": resources})

    @field_validator("device")
    @classmethod
    def _components_of_few_resources(
        cls, device: DeviceConfig, info: ValidationInfo
    ) -> DeviceConfig:
        """Let component counts that are not given fit a society of few resources."""
        resources = info.data.get("resources", MOST_RESOURCES)
        most = {"resources_in_tool": resources - 1, "components": resources}
        fitted = {
            name: limit
            for name, limit in most.items()
            if name not in device.model_fields_set and getattr(device, name) > limit
        }
        return device.model_copy(update=fitted) if fitted else device

    def group_sizes(self) -> list[int]:
        """Return the number of agents in each group, ``[agents]`` if there are no groups.

        Shares become whole numbers by the largest remainder; the first group wins ties.
        """
        if not self.groups:
            return [self.agents]
        counts = [group.count for group in self.groups if group.count is not None]
        if counts:
            return counts
        shares = [Fraction(repr(group.share)) for group in self.groups]
        quotas = [share * self.agents / sum(shares) for share in shares]
        sizes = [math.floor(quota) for quota in quotas]
        by_remainder = sorted(range(len(sizes)), key=lambda g: sizes[g] - quotas[g])
        for g in by_remainder[: self.agents - sum(sizes)]:
            sizes[g] += 1
        return sizes

    def conflicts(self) -> Iterator[Conflict]:
        """Yield every contradiction between keys that are valid each by itself."""
        return economy_conflicts(self)

    def warnings(self) -> Iterator[Conflict]:
        """Yield what a run of so few days does not reach."""
        return economy_warnings(self)
