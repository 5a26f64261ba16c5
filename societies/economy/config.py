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
    ListOf,
    PerResource,
    Section,
    WorkloadConfig,
    key,
)
from societies.config.problems import quoted
from societies.economy.conflicts import economy_conflicts

LARGEST_SEED = 2**64 - 1
LONGEST_EXPERIENCE = 100_000  # entries of an effort table
MOST_RESOURCES = 1024
MOST_ATTEMPTS = 256  # a meeting keeps its queue in local memory
MOST_ROUNDS = 100_000
MOST_DAYS = 10_000_000
DEFAULT_MENU = 6

Positive = Annotated[float, Field(ge=SMALLEST_REAL, le=LARGEST_REAL)]
MoreThanOne = Annotated[float, Field(gt=1, le=LARGEST_REAL)]
AtLeastOne = Annotated[float, Field(ge=1, le=LARGEST_REAL)]
Experience = Annotated[float, Field(ge=1, le=LONGEST_EXPERIENCE)]

_SCALE = "Utility of the first unit of a resource (D in U = D x^(1/n))"
_EXPONENT = "How fast marginal utility falls (n in U = D x^(1/n))"
_MAX_EFFORT = "Effort for one unit without any experience"
_MIN_EFFORT = "Effort for one unit at full experience; at most max_effort"
_MAX_EXPERIENCE = "Experience beyond which effort falls no further, and the most kept overnight"
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
    checkpoint: int = key(
        50,
        "Save the full state, from which a run can be resumed, every this many days",
        "day",
        ge=1,
        le=LARGEST_INTEGER,
    )


def _devices_of_this_version(devices: Any) -> Any:
    if devices in ("tools", "all"):
        raise PydanticCustomError(
            "devices",
            "'{devices}' is not available in this version; write none",
            {"devices": devices},
        )
    return devices


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
    trade: bool = key(True, "Whether agents barter resources")
    devices: Annotated[Literal["none"], BeforeValidator(_devices_of_this_version)] = key(
        "none", "Which devices agents may invent; this version has none"
    )
    utility: UtilityConfig = key(UtilityConfig(), "How much a unit is worth")
    extraction: ExtractionConfig = key(ExtractionConfig(), "How many minutes a unit takes")
    consumption: ConsumptionConfig = key(ConsumptionConfig(), "How fast holdings disappear")
    trading: TradingConfig = key(TradingConfig(), "How the resource market works")
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
