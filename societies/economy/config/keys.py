"""Which keys does an economy's YAML file have, with which unit, range and meaning?

Defaults are those of the model's research configuration (docs/model.md). Kernels and reference
read a `value` or a `shape` by its name. The keys of a section are in the file from which it is
imported.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from societies.config.model import (
    From0,
    From1,
    Interval,
    ListOf,
    Section,
    WorkloadConfig,
    accepts,
    key,
    shape,
    value,
)
from societies.config.problems import Path, quoted
from societies.economy.config.devices import DeviceConfig, DevicesMarketConfig, InventionConfig
from societies.economy.config.draws import DrawsConfig
from societies.economy.config.fan import FanConfig
from societies.economy.config.groups import GroupConfig
from societies.economy.config.people import with_people
from societies.economy.config.policies import PoliciesConfig
from societies.economy.config.ranges import (
    DEFAULT_MENU,
    MOST_RESOURCES,
)
from societies.economy.config.resources import (
    ConsumptionConfig,
    EndowmentConfig,
    ExtractionConfig,
    TradingConfig,
    UtilityConfig,
)
from societies.economy.config.rules import RulesConfig, with_words
from societies.workload.declare.config import (
    FIRST_SOCIETY,
    INTERVENTIONS,
    KEEP,
    MOST_TICKS,
    REPLICATES,
    SEED,
    InterventionConfig,
    Numbers,
    Ticks,
    changed_after,
    changed_copies,
)
from societies.workload.running.varying import NotVarying


def _only(own: str) -> BeforeValidator:
    """Return the check of a word that may stand in place of a number."""

    def checked(word: str) -> str:
        if word != own:
            message = f"expected a whole number or {own}, got {{word}}"
            raise PydanticCustomError("index", message, {"word": quoted(word)})
        return word

    return BeforeValidator(checked)


Index = Annotated[
    Annotated[From0, Tag("number")] | Annotated[Literal["random"], _only("random"), Tag("word")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "number"),
]


Numeraire = Annotated[
    Annotated[Annotated[int, Field(ge=0, le=MOST_RESOURCES - 1)], Tag("number")]
    | Annotated[Literal["any"], _only("any"), Tag("word")],
    Discriminator(lambda value: "word" if isinstance(value, str) else "number"),
]


Removable = Literal["resource", "agent"]
WHAT_IS_REMOVED = "What is removed"
WHICH = "Number of the resource or agent, counted from 0; random: a drawn one"
HOLDINGS = (
    "Whether agents keep their holdings and experience of a removed resource (default: keep); a "
    "removed agent always loses everything"
)


class ShockConfig(Section):
    """A resource or an agent that is removed for good."""

    day: From0 = key(
        ..., "Day at whose end it is removed; 0: before the first day", "day", examples=[0]
    )
    remove: Removable = key(..., WHAT_IS_REMOVED, examples=["resource"])
    index: Index = key(..., WHICH, "index", examples=["random"])
    holdings: Literal["keep", "lose"] | None = key(None, HOLDINGS)

    @field_validator("holdings")
    @classmethod
    def _keep_unless_said(cls, holdings: str | None, info: ValidationInfo) -> str | None:
        return "keep" if holdings is None and info.data.get("remove") == "resource" else holdings


class EconomyIntervention(InterventionConfig):
    """A change of values in all or some societies, or a removal in all of them."""

    day: int = changed_after("day")
    group: str | None = key(
        None, "Name of the group whose values change; default: those of all agents"
    )
    agents: ListOf[From0] = key(
        (),
        "Numbers of the agents whose values change, instead of `group`; they must be whole groups",
        "index",
    )
    remove: Removable | None = key(None, f"{WHAT_IS_REMOVED}, as by a shock; instead of `set`")
    index: Index | None = key(None, WHICH, "index")
    holdings: Literal["keep", "lose"] | None = key(None, HOLDINGS)
    societies: Numbers = changed_copies("societies")


class TradeLogConfig(Section):
    """Days on which every single trade is recorded."""

    days: Ticks = key(
        (),
        "Days whose trades are recorded; the slow reference computes each such day again",
        "day",
    )
    societies: From1 = key(
        1, "Number of societies whose trades are recorded, from the first on", "societies"
    )


class EconomyRecord(Section):
    """How much detail the output file holds."""

    society: From1 = key(1, "Days between two records of the society's series", "day")
    agent: From0 = key(0, "Days between two records of every agent; 0: never", "day")
    agent_resource: From0 = key(
        0, "Days between two records of every agent and resource; 0: never", "day"
    )
    device: From0 = key(
        1,
        "Days between two records of how many agents know each device; 0: never; of no effect "
        "without devices",
        "day",
    )
    checkpoint: Interval = key(
        "auto",
        "Days between two checkpoints, from which a run can be resumed; 0 or never: none; auto: "
        "50, or more if the state is large",
        "day",
    )
    keep: Ticks = KEEP
    measures: bool = shape(
        False,
        "Record prices, income, consumption and wealth every day, with Gini coefficients and top "
        "shares; the rest of the file stays the same",
    )
    numeraire: Numeraire = key(
        "any",
        "Resource in whose units prices are recorded, counted from 0; any: units of whatever "
        "resource was received",
        "index",
    )
    network: Ticks = key(
        (), "Days on which it is recorded who gave how much to whom, in all societies", "day"
    )
    trade_log: TradeLogConfig = key(
        TradeLogConfig, "Every single trade of resources and devices on chosen days"
    )
    input_output: bool = key(
        False,
        "Record the input-output matrix of the last day: resources, minutes of devices, labour",
    )


class EconomyKeys(WorkloadConfig):
    """A society of self-interested agents that extract, barter and consume resources."""

    workload: Literal["economy"] = key("economy", "What the file configures")
    agents: From1 = shape(
        48,
        "Number of agents in a society, or a CSV file with a row for each agent",
        "agents",
        nearly="an intervention with 'remove: agent' takes one out",
    )
    resources: int = shape(
        48,
        "Number of resources",
        "resources",
        nearly="an intervention with 'remove: resource' takes one out",
        ge=2,
        le=MOST_RESOURCES,
    )
    days: int = key(500, "Number of days to simulate", "day", ge=1, le=MOST_TICKS)
    day_length: float = value(
        600.0, "Working time of an agent in a day", "min", gt=0, le=1e6, usual=(0.0, 1440.0)
    )
    seed: int = SEED
    replicates: int = REPLICATES
    first_society: int = FIRST_SOCIETY
    trade: bool = shape(
        True,
        "Whether agents trade resources and devices",
        nearly="trading.min_surplus=1e12 ends all swaps of resources, though not sales of devices",
    )
    devices: Literal["none", "tools", "all"] = key("none", "Which devices agents may invent")
    utility: UtilityConfig = key(UtilityConfig, "How much a unit of a resource is worth")
    extraction: ExtractionConfig = key(
        ExtractionConfig, "How many minutes the extraction of a unit takes"
    )
    consumption: ConsumptionConfig = key(ConsumptionConfig, "How fast holdings disappear")
    endowment: EndowmentConfig = key(EndowmentConfig, "What agents hold before the first day")
    trading: TradingConfig = key(TradingConfig, "How the resource market works")
    devices_market: DevicesMarketConfig = key(DevicesMarketConfig, "How devices are traded")
    device: DeviceConfig = key(DeviceConfig, "Costs and benefits of devices")
    invention: InventionConfig = key(InventionConfig, "How likely inventions are")
    groups: ListOf[GroupConfig] = key(
        (), "Groups of agents, each with parameters of its own; empty: all agents share them"
    )
    policies: PoliciesConfig = key(
        PoliciesConfig, "Taxes in kind, transfers of their revenue, and limits of trade"
    )
    rules: RulesConfig = key(
        RulesConfig, "Functions in Python files that replace rules of the model"
    )
    shocks: ListOf[ShockConfig] = key((), "Agents or resources that are removed, and when")
    interventions: ListOf[EconomyIntervention] = INTERVENTIONS
    fan: FanConfig = key(FanConfig, "Several societies with the same past and different futures")
    draws: DrawsConfig = key(DrawsConfig, "Where each day's random numbers begin")
    record: EconomyRecord = key(EconomyRecord, "How much detail the output file holds")

    @model_validator(mode="before")
    @classmethod
    def _words_of_rules(cls, data: Any) -> Any:
        """Let a key of ``rules`` take the built-in words as well, and ``agents`` a file."""
        with_files = ("utility", "extraction", "consumption", "device", "endowment")
        sections = {name: cls.model_fields[name].default for name in with_files}
        asked: Any = data.get("resources") if isinstance(data, dict) else None
        usual = cls.model_fields["resources"].default
        resources = asked if accepts(cls, "resources", asked) else usual
        return with_people(with_words(data), resources, sections)

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

    def removals(self) -> list[tuple[Path, ShockConfig]]:
        """Return the removals by shocks, then by interventions, each with its path in the file."""
        found: list[tuple[Path, ShockConfig]] = []
        found += [(("shocks", i), one) for i, one in enumerate(self.shocks)]
        for i, one in enumerate(self.interventions):
            if one.remove is not None and one.index is not None:
                shock = ShockConfig(
                    day=one.day, remove=one.remove, index=one.index, holdings=one.holdings
                )
                found.append((("interventions", i), shock))
        return found

    def groups_with(self, agents: Collection[int]) -> list[str]:
        """Return the names of the groups that these agents make up.

        Raises
        ------
        NotVarying
            If only some agents of a group are listed: parameters belong to groups.
        """
        asked = {*agents}
        if max(asked) >= self.agents:
            last = self.agents - 1
            raise NotVarying(f"there is no agent {max(asked)}; they are numbered 0 to {last}")
        ends = [*accumulate(self.group_sizes(), initial=0)]
        parts = [range(first, end) for first, end in pairwise(ends)]
        if self.groups and all(asked.issuperset(one) or asked.isdisjoint(one) for one in parts):
            named = zip(self.groups, parts, strict=True)
            return [group.name for group, one in named if asked.issuperset(one)]
        cuts = {one for one in range(1, self.agents) if (one in asked) != (one - 1 in asked)}
        sizes = [end - first for first, end in pairwise(sorted({*ends, *cuts}))]
        numbers, counts = (", ".join(map(str, one)) for one in (sorted(asked), sizes))
        raise NotVarying(
            f"{'agents' if len(asked) > 1 else 'agent'} {numbers}: no groups consist of them, and "
            f"parameters belong to groups; write groups with these counts, in order: {counts}"
        )

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
        quotas = [share * self.agents for share in shares]
        sizes = [math.floor(quota) for quota in quotas]
        by_remainder = sorted(range(len(sizes)), key=lambda g: sizes[g] - quotas[g])
        for g in by_remainder[: self.agents - sum(sizes)]:
            sizes[g] += 1
        return sizes
