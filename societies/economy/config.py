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
    Conflict,
    ListOf,
    PerResource,
    Section,
    WorkloadConfig,
    key,
)
from societies.config.problems import Path, quoted

LARGEST_SEED = 2**64 - 1
RANDOM_STREAMS = 2_147_441_677
"""Streams 2**32 draws apart that fit into the period of MWC64X."""
PURPOSES = 16
"""Streams of each agent, and of the society itself (economy-decisions, section 2)."""
LARGEST_DAILY_EXTRACTION = 1_000_000
LONGEST_EXPERIENCE = 100_000  # entries of an effort table
MOST_RESOURCES = 1024
DEFAULT_MENU = 6

Positive = Annotated[float, Field(gt=0, le=LARGEST_REAL)]
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
        gt=0,
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
        le=LARGEST_INTEGER,
    )
    attempts: int = key(
        8, "Exchanges that a pair may try in one meeting", "1/meeting", ge=1, le=LARGEST_INTEGER
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
    days: int = key(500, "Number of days to simulate", "day", ge=1, le=LARGEST_INTEGER)
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
        yield from self._too_large()
        yield from self._curve_conflicts()
        yield from self._group_conflicts()
        yield from self._shock_conflicts()

    def _too_large(self) -> Iterator[Conflict]:
        if self.trading.menu_size > self.resources:
            message = f"{self.trading.menu_size} is more than the {self.resources} resources"
            yield Conflict(("trading", "menu_size"), message, (("resources",),))
        names = ("agents", "replicates", "first_society")
        largest = max(names, key=lambda name: int(getattr(self, name)))
        streams = (self.first_society + self.replicates) * (self.agents + 1) * PURPOSES
        if streams > RANDOM_STREAMS:
            message = (
                f"(first_society + replicates) x (agents + 1) x {PURPOSES} is {streams}, more than "
                f"the {RANDOM_STREAMS} random streams there are"
            )
            yield Conflict((largest,), message, tuple((name,) for name in names))

    def _per_resource_values(self) -> dict[Path, PerResource[float]]:
        """Return every value that may be a list: those of the sections, then of the groups."""
        values: dict[Path, PerResource[float]] = {}
        holders: list[tuple[Path, Any]] = [((), self)]
        holders += [(("groups", g), group) for g, group in enumerate(self.groups)]
        for prefix, holder in holders:
            for section, keys in _PER_RESOURCE.items():
                for name in keys:
                    value = getattr(getattr(holder, section), name, None)
                    if value is not None:
                        values[(*prefix, section, name)] = value
        return values

    def _curve_conflicts(self) -> Iterator[Conflict]:
        values = self._per_resource_values()
        floor = self.utility.min_marginal
        for path, value in values.items():
            if isinstance(value, tuple) and len(value) != self.resources:
                message = f"has {_counted(len(value), 'number')} for {self.resources} resources"
                yield Conflict(path, message, (("resources",),))
            for place, number in _each(path, value):
                if path[-1] == "scale" and number <= floor:
                    message = f"must be more than utility.min_marginal ({floor:g}), got {number:g}"
                    yield Conflict(place, message, (("utility", "min_marginal"),))
                if path[-1] == "min_effort" and self.day_length / number > LARGEST_DAILY_EXTRACTION:
                    message = (
                        f"{number:g} min/unit make more than {LARGEST_DAILY_EXTRACTION} units in a "
                        f"day of {self.day_length:g} minutes"
                    )
                    yield Conflict(place, message, (("day_length",),))
        yield from self._effort_conflicts((), values)
        for g, group in enumerate(self.groups):
            if group.extraction is not None:
                yield from self._effort_conflicts(("groups", g), values)

    def _effort_conflicts(
        self, prefix: Path, values: dict[Path, PerResource[float]]
    ) -> Iterator[Conflict]:
        """Compare the two ends of effort that hold in one group, at the key that was written."""
        low_path, high_path = (
            own if (own := (*prefix, "extraction", name)) in values else ("extraction", name)
            for name in ("min_effort", "max_effort")
        )
        if prefix and len(low_path) == len(high_path) == 2:
            return  # the group has neither; the section itself is compared once
        low, high = values[low_path], values[high_path]
        low_written = len(low_path) > 2 or "min_effort" in self.extraction.model_fields_set
        at_low = low_written and len(low_path) >= len(high_path)
        path = low_path if at_low else high_path
        # zip ends with a list of the wrong length, which is reported by itself
        pairs = zip(self._spread(low), self._spread(high), strict=False)
        for r, (least, most) in enumerate(pairs):
            some_list = isinstance(low, tuple) or isinstance(high, tuple)
            if least > most:
                message = (
                    f"{least:g} is more than max_effort ({most:g})"
                    if at_low
                    else f"{most:g} is less than min_effort ({least:g})"
                ) + (f" of resource {r}" if some_list else "")
                place = (*path, r) if isinstance(values[path], tuple) else path
                yield Conflict(place, message, (low_path, high_path))
            if not some_list:
                return

    def _spread(self, value: PerResource[float]) -> tuple[float, ...]:
        return value if isinstance(value, tuple) else (value,) * self.resources

    def _group_conflicts(self) -> Iterator[Conflict]:
        sizes: tuple[Path, ...] = ()
        kinds: list[str] = []
        names: dict[str, Path] = {}
        for g, group in enumerate(self.groups):
            path: Path = ("groups", g)
            own = ((*path, "count"), (*path, "share"))
            if group.name in names:
                first = names[group.name]
                message = f"{quoted(group.name)} is the name of groups.{first[1]} already"
                yield Conflict((*path, "name"), message, (first,))
            names.setdefault(group.name, (*path, "name"))
            given = [kind for kind in ("count", "share") if getattr(group, kind) is not None]
            if len(given) != 1:
                what = "has both count and share; give one" if given else "needs count or share"
                yield Conflict(path, what, own)
            elif kinds and kinds[0] != given[0] and len(kinds) == g:
                message = f"groups.0 has a {kinds[0]}; give all groups the same kind of size"
                yield Conflict((*path, given[0]), message, (*own, *sizes[:2]))
                given = []
            kinds += given if len(given) == 1 else []
            sizes += own
        if kinds and len(kinds) == len(self.groups):
            yield from self._size_conflicts(kinds[0], sizes)

    def _size_conflicts(self, kind: str, sizes: tuple[Path, ...]) -> Iterator[Conflict]:
        """Compare the groups' sizes, which are all counts or all shares, with the society's."""
        needs = (("agents",), *sizes)
        if kind == "count":
            total = sum(self.group_sizes())
            if total != self.agents:
                message = (
                    f"the counts add up to {total}, not to the {_counted(self.agents, 'agent')}"
                )
                yield Conflict(("groups",), message, needs)
            return
        shares = [float(group.share or 0) for group in self.groups]
        if not math.isclose(math.fsum(shares), 1, abs_tol=1e-9):
            yield Conflict(
                ("groups",), f"the shares add up to {math.fsum(shares):g}, not to 1", needs
            )
            return
        for g, size in enumerate(self.group_sizes()):
            if size == 0:
                message = f"{shares[g]:g} of {_counted(self.agents, 'agent')} is no agent"
                yield Conflict(("groups", g, "share"), message, needs)

    def _shock_conflicts(self) -> Iterator[Conflict]:
        removed: dict[str, dict[int | str, Path]] = {"agent": {}, "resource": {}}
        said: tuple[Path, ...] = ()  # on which the count of what is left depends
        for s, shock in enumerate(self.shocks):
            path: Path = ("shocks", s)
            what = shock.remove
            size, gone = (self.agents if what == "agent" else self.resources), removed[what]
            said = (*said, (*path, "remove"), (*path, "index"))
            needs: tuple[Path, ...] = (*said, (f"{what}s",))
            if shock.day > self.days:
                message = f"{shock.day} is after the last day, {self.days}"
                yield Conflict((*path, "day"), message, (("days",),))
            if what == "agent" and shock.holdings is not None:
                message = "only a resource has this key; a removed agent always loses everything"
                yield Conflict((*path, "holdings"), message, ((*path, "remove"),))
            if isinstance(shock.index, int) and shock.index >= size:
                message = f"there is no {what} {shock.index}; they are numbered 0 to {size - 1}"
                yield Conflict((*path, "index"), message, needs[-3:])
                continue
            if shock.index in gone:
                message = (
                    f"{what} {shock.index} is removed by shocks.{gone[shock.index][1]} already"
                )
                yield Conflict((*path, "index"), message, needs)
                continue
            gone[shock.index if shock.index != "random" else f"random {s}"] = path
            if len(gone) == size:
                yield Conflict(path, f"removes the last {what}; at least one must be left", needs)


_PER_RESOURCE = {
    "utility": tuple(UtilityOverrides.model_fields),
    "extraction": tuple(ExtractionOverrides.model_fields),
    "consumption": tuple(ConsumptionOverrides.model_fields),
}


def _each(path: Path, value: PerResource[float]) -> Iterator[tuple[Path, float]]:
    """Yield a value, or every number of a list, with its path."""
    if isinstance(value, tuple):
        yield from (((*path, r), number) for r, number in enumerate(value))
    else:
        yield path, value


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
