"""Which keys may a file of targets have, and which of its targets contradict themselves?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from societies.config.model import LARGEST_INTEGER, Conflict, ListOf, Section, WorkloadConfig, key
from societies.config.problems import Path, suggestion
from societies.errors import ConfigError
from societies.study.expressions import parsed
from societies.study.filters import FILTERS
from societies.study.statistics import Statistic, checked_options, statistic_named

SHARE = 0.75
"""Share of the seeds that must be in a band, unless the targets say another."""
Choice = str | dict[str, Any]
"""A name, or ``{name: {option: value}}``."""


CHOICE = "Name, or {NAME: {OPTION: VALUE}}"


def name_and_options(said: Choice) -> tuple[str, dict[str, Any]]:
    """Return name and options of a statistic or a filter.

    Raises ConfigError if it is not a single name with a section of options.
    """
    if isinstance(said, str):
        return said, {}
    name, options = next(iter(said.items())) if said else ("", {})
    if len(said) != 1 or not isinstance(options, dict):
        raise ConfigError("expected NAME or {NAME: {OPTION: VALUE}}")
    return str(name), options


class DataColumn(Section):
    """Observations: a column of a CSV file, or values."""

    file: str | None = key(None, "CSV file, in the folder of the targets")
    column: str | None = key(None, "Column of the file")
    values: ListOf[float] | None = key(None, "The observations themselves")


class Target(Section):
    """A statistic and the band in which it should lie."""

    of: str = key(..., "Variable, or an expression of variables: rate - inflation", examples=["x"])
    at: dict[str, Any] = key({}, "Entry of each further dimension: {source: tool}")
    reduce: dict[str, Choice] = key({}, "Statistic over a further dimension: {agent: gini}")
    filter: ListOf[Choice] = key((), "Filters of the series, in order")
    against: str | None = key(None, "The second series of a correlation")
    filter_against: ListOf[Choice] = key((), "Filters of the second series")
    burn_in: int | None = key(
        None, "First ticks that are left out before the filters", "tick", ge=0
    )
    relative_to: str | None = key(None, "Ticks by whose mean the series is divided: 596:600")
    ticks: str | int | None = key(None, "Ticks of the statistic: 501:1000; default: all")
    statistic: Choice = key("mean", CHOICE)
    data: DataColumn | None = key(None, "Observations, for a distance, or for forecasts")
    band: Annotated[ListOf[float | None], Field(min_length=2, max_length=2)] | None = key(
        None, "Least and largest value that is right; null: no end"
    )
    target: float | None = key(None, "The best value; default: any value in the band")
    scale: float | None = key(None, "Distance that counts 1; default: half of the band", gt=0)
    weight: float = key(1.0, "Weight in the score and in a calibration", ge=0)
    share: float | None = key(None, "Share of the seeds that must be in the band", ge=0, le=1)
    source: str | None = key(None, "Where the band comes from")


BASE: Any = key(None, "A YAML file, the name of a shipped configuration, or a section")
CHANGES: Any = key({}, "Keys of the base to change")


class Case(Section):
    """A configuration and its targets."""

    base: Any = BASE
    set: dict[str, Any] = CHANGES
    replicates: int | None = key(None, "Seeds", "runs", ge=1, le=LARGEST_INTEGER)
    burn_in: int = key(0, "First ticks that no statistic uses, unless it has its own", "tick", ge=0)
    share: float = key(SHARE, "Share of the seeds that must be in a band", "1", ge=0, le=1)
    statistics: dict[str, Target] = key({}, "Targets by name")


class TargetsConfig(WorkloadConfig, Case):
    """The contents of a targets file: one case, or several."""

    workload: Literal["targets"] = key("targets", "Kind of the file")
    cases: dict[str, Case] = key({}, "Cases by name, each with base and statistics")

    def conflicts(self) -> Any:
        """Yield keys that no case uses, and the mistakes of each target."""
        unused = self.model_fields_set & Case.model_fields.keys() - {"statistics"}
        for name in unused if self.cases else ():
            yield Conflict((name,), "has no use where there are cases; name it in each of them")
        for place, case in self.places():
            for name, target in case.statistics.items():
                for path, message in wrong(target):
                    yield Conflict((*place, "statistics", name, *path), message)

    def places(self) -> list[tuple[Path, Case]]:
        """Return the cases with their paths in the file."""
        own: list[tuple[Path, Case]] = [(("cases", n), one) for n, one in self.cases.items()]
        return own if self.cases else [((), self)]


def wrong(target: Target) -> list[tuple[Path, str]]:
    """Return the mistakes of a target: (path, message)."""
    found: list[tuple[Path, str]] = []

    def checks(path: Path, check: Any) -> None:
        try:
            check()
        except ConfigError as error:
            found.append((path, str(error)))

    low, high = target.band or (None, None)
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    if low > high:
        found.append((("band",), f"is upside down: {low:g} is more than {high:g}"))
    elif target.target is not None and not low <= target.target <= high:
        found.append((("target",), f"{target.target:g} lies outside of the band"))
    for name in ("of", "against"):
        if (text := getattr(target, name)) is not None:
            checks((name,), lambda text=text: parsed(text))
    for name in ("filter", "filter_against"):
        for i, said in enumerate(getattr(target, name)):
            checks((name, i), lambda said=said: _require_filter(said))
    for dim, said in target.reduce.items():
        checks(("reduce", dim), lambda said=said: _needs(said))
    more = {"other": target.against, "data": target.data}
    checks(("statistic",), lambda: _needs(target.statistic, **more))
    if target.filter_against and target.against is None:
        found.append((("filter_against",), "has no use without a second series: against"))
    return found


def statistic_of(said: Choice) -> tuple[Statistic, dict[str, Any]]:
    """Return statistic and checked options."""
    name, options = name_and_options(said)
    own = statistic_named(name)
    checked_options(name, options, own.given)
    if options.get("above", -np.inf) > options.get("below", np.inf):
        raise ConfigError(f"{name}: above {options['above']:g} is more than below")
    return own, options


def _require_filter(said: Choice) -> None:
    name, options = name_and_options(said)
    if name not in FILTERS:
        near = suggestion(name, FILTERS) or f"; there are {', '.join(FILTERS)}"
        raise ConfigError(f"unknown filter '{name}'{near}")
    checked_options(name, options, FILTERS[name])


def _needs(said: Choice, other: Any = None, data: Any = None) -> None:
    """Raise ConfigError if a statistic lacks an input, or has one that it does not take."""
    own, _ = statistic_of(said)
    for name, given, what in (
        ("other", other, "a second series: against"),
        ("data", data, "observations: data"),
    ):
        if (name in own.takes) != (given is not None):
            raise ConfigError(f"{own.name} {'has no use for' if given else 'needs'} {what}")
