"""Which statistics must a model show? A file of targets has a configuration, and bands."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from societies.analysis.selecting import copies_of, with_ticks
from societies.config.columns import read_columns
from societies.config.document import Document
from societies.config.load import find_config
from societies.config.model import LARGEST_INTEGER, Conflict, ListOf, Section, WorkloadConfig, key
from societies.config.problems import Path, Problem, config_error, described, suggestion
from societies.errors import ConfigError
from societies.paths import TARGETS, data_directory
from societies.study.expressions import parsed, quantity, variables_in
from societies.study.filters import FILTERS, filtered
from societies.study.source import read
from societies.study.statistics import Reals, checked_options, named
from societies.workload.drawing.figure import clock_of

if TYPE_CHECKING:
    import xarray as xr

SHARE = 0.75
"""Share of the seeds that must be in a band, unless the targets say another."""
Choice = str | dict[str, Any]
"""A name, or ``{name: {option: value}}``."""


def chosen(said: Choice) -> tuple[str, dict[str, Any]]:
    """Return name and options of a statistic or a filter.

    Raises
    ------
    ConfigError
        If it is no single name with a section of options.
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
    """A statistic and the band in which it should be."""

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
    statistic: Choice = key("mean", "Name, or {NAME: {OPTION: VALUE}}")
    data: DataColumn | None = key(None, "Observations, for a distance, or for forecasts")
    band: Annotated[ListOf[float | None], Field(min_length=2, max_length=2)] | None = key(
        None, "Least and largest value that is right; null: no end"
    )
    target: float | None = key(None, "The best value; default: any value in the band")
    scale: float | None = key(None, "Distance that counts 1; default: half of the band", gt=0)
    weight: float = key(1.0, "Weight in the score and in a calibration", ge=0)
    share: float | None = key(None, "Share of the seeds that must be in the band", ge=0, le=1)
    source: str | None = key(None, "Where the band comes from")


class Case(Section):
    """A configuration and its targets."""

    base: Any = key(None, "A YAML file, the name of a shipped configuration, or a section")
    set: dict[str, Any] = key({}, "Keys of the base to change")
    replicates: int | None = key(None, "Seeds", "runs", ge=1, le=LARGEST_INTEGER)
    burn_in: int = key(0, "First ticks that no statistic uses, unless it has its own", "tick", ge=0)
    share: float = key(SHARE, "Share of the seeds that must be in a band", "1", ge=0, le=1)
    statistics: dict[str, Target] = key({}, "Targets by name")


class TargetsConfig(WorkloadConfig, Case):
    """The contents of a targets file: one case, or several."""

    workload: Literal["targets"] = key("targets", "Kind of the file")
    cases: dict[str, Case] = key({}, "Cases by name, each with base and statistics")

    def conflicts(self) -> Any:
        """Yield what is wrong with each target."""
        for place, case in self.places():
            for name, target in case.statistics.items():
                for path, message in wrong(target):
                    yield Conflict((*place, "statistics", name, *path), message)

    def places(self) -> list[tuple[Path, Case]]:
        """Return the cases with their paths in the file."""
        own: list[tuple[Path, Case]] = [(("cases", n), one) for n, one in self.cases.items()]
        return own if self.cases else [((), self)]


def wrong(target: Target) -> list[tuple[Path, str]]:
    """Return what is wrong with a target: (path, message)."""
    found: list[tuple[Path, str]] = []

    def checks(path: Path, check: Any) -> None:
        try:
            check()
        except ConfigError as error:
            found.append((path, str(error)))

    low, high = target.band or (None, None)
    if low is not None and high is not None and low > high:
        found.append((("band",), f"is upside down: {low:g} is more than {high:g}"))
    for name in ("of", "against"):
        if (text := getattr(target, name)) is not None:
            checks((name,), lambda text=text: parsed(text))
    for name in ("filter", "filter_against"):
        for i, said in enumerate(getattr(target, name)):
            checks((name, i), lambda said=said: _require_filter(said))
    for dim, said in target.reduce.items():
        checks(("reduce", dim), lambda said=said: _statistic(said))
    checks(("statistic",), lambda: _needs(target))
    return found


def _statistic(said: Choice) -> Any:
    name, options = chosen(said)
    own = named(name)
    checked_options(name, options, own.given)
    if options.get("above", -np.inf) > options.get("below", np.inf):
        raise ConfigError(f"{name}: above {options['above']:g} is more than below")
    return own, options


def _require_filter(said: Choice) -> None:
    name, options = chosen(said)
    if name not in FILTERS:
        near = suggestion(name, FILTERS) or f"; there are {', '.join(FILTERS)}"
        raise ConfigError(f"unknown filter '{name}'{near}")
    checked_options(name, options, FILTERS[name])


def _needs(target: Target) -> None:
    own, _ = _statistic(target.statistic)
    if ("other" in own.takes) != (target.against is not None):
        has = "needs" if "other" in own.takes else "has no use for"
        raise ConfigError(f"{own.name} {has} a second series: against")
    if "data" in own.takes and target.data is None:
        raise ConfigError(f"{own.name} needs observations: data")


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets of one case.

    Attributes
    ----------
    name : name of the case; "" if it is the only one
    file : name of the file, for messages
    case : contents of the case
    observed : (value,) observations by name of the target
    folder : folder of the file
    document, place : positions in the file, and path of the case in it
    """

    name: str
    file: str
    case: Case
    observed: Mapping[str, Reals]
    folder: FilePath
    document: Document
    place: Path = ()
    units: dict[str, str] = field(default_factory=dict)

    @property
    def statistics(self) -> Mapping[str, Target]:
        """The targets by name."""
        return self.case.statistics

    @property
    def variables(self) -> tuple[str, ...]:
        """Variables that the statistics use."""
        texts = [t for one in self.statistics.values() for t in (one.of, one.against) if t]
        return tuple(dict.fromkeys(name for text in texts for name in variables_in(text)))

    def refused(self, name: str, key: str, message: str) -> ConfigError:
        """Return the error on a key of a target."""
        path = (*self.place, "statistics", name, key)
        return config_error([Problem(self.document.place(path), path, message)])

    def evaluate(self, data: xr.Dataset) -> Reals:
        """Return the statistics of every copy in a dataset: (copy, statistic) float64.

        A statistic that cannot be computed (missing ticks, no such tick) is NaN.

        Raises
        ------
        ConfigError
            If the data lack a variable, a dimension, an entry or the ticks.
        """
        columns = []
        for name, target in self.statistics.items():
            try:
                values, unit = self._computed(name, target, data)
            except ConfigError as error:
                raise self.refused(name, "of", str(error)) from None
            self.units[name] = unit
            columns.append(values)
        return np.stack(columns, -1) if columns else np.empty((data.sizes[copies_of(data)], 0))

    def series(self, name: str, data: xr.Dataset, *, ticks: bool = True) -> Any:
        """Return the series of a target: (copy, entry) values, (entry,) ticks, unit, is a sample.

        Parameters
        ----------
        ticks : whether only the ticks of the statistic are returned
        """
        return self._selected(self.statistics[name], data, self.statistics[name].of, ticks=ticks)

    def _computed(self, name: str, target: Target, data: xr.Dataset) -> tuple[Reals, str]:
        own, options = _statistic(target.statistic)
        x, at, unit, sample = self._selected(target, data, target.of)
        inputs: dict[str, Any] = {"ticks": at, "data": self.observed.get(name)}
        if target.against is not None:
            other, of_other, _, _ = self._selected(target, data, target.against)
            both = np.intersect1d(at, of_other)
            x, other = x[:, np.isin(at, both)], other[:, np.isin(of_other, both)]
            inputs |= {"ticks": both, "other": other}
        return own(x, sample, options, **inputs), own.unit_of(unit, clock_of(data))

    def _selected(
        self, target: Target, data: xr.Dataset, text: str, *, ticks: bool = True
    ) -> tuple[Reals, Reals, str, bool]:
        """Return values (copy, entry), ticks (entry), the unit, and whether they are a sample."""
        copies = copies_of(data)
        values, unit = quantity(text, data)
        for dim, entry in target.at.items():
            values = _entry(values, dim, entry)
        for dim, said in target.reduce.items():
            values = _reduced(values, dim, said)
        dims = [str(dim) for dim in values.dims if dim != copies]
        if copies not in values.dims or len(dims) != 1:
            more = ", ".join(dims) or "no other"
            raise ConfigError(f"has the dimensions {more}; leave one: at {{DIM: ENTRY}}, or reduce")
        (dim,) = dims
        values = values.transpose(copies, dim)
        sample = not (dim == clock_of(data) or dim.endswith(f"_{clock_of(data)}"))
        if not sample:
            values = values.sortby(dim)
        at = np.arange(values.sizes[dim]) if sample else values[dim].values
        x, at = np.asarray(values.values, float), np.asarray(at, float)
        if sample:
            return x, at, unit, True
        if (np.diff(at) == 0).any():
            raise ConfigError(f"has a {dim} twice; are the data of two results joined?")
        if target.relative_to is not None:
            x = x / x[:, _among(at, target.relative_to)].mean(1, keepdims=True)
            unit = "1"
        skipped = self.case.burn_in if target.burn_in is None else target.burn_in
        x, at = x[:, at > skipped], at[at > skipped]
        filters = target.filter if text == target.of else target.filter_against
        if target.against == target.of:
            filters = target.filter
        for said in filters:
            name, options = chosen(said)
            x = filtered(x, at, name, options)
            at = at[len(at) - x.shape[-1] :]
            unit = unit if name in _SAME_UNIT else "1"
        if ticks and target.ticks is not None:
            there = _among(at, target.ticks)
            x, at = x[:, there], at[there]
        return x, at, unit, False


_SAME_UNIT = ("difference", "detrend", "smooth", "hp_cycle", "hp_trend")


def _among(ticks: Reals, asked: str | int) -> Any:
    """Return True for the selected ticks."""
    import xarray as xr

    whole = xr.Dataset(coords={"day": ticks.astype(int)})
    found = with_ticks(whole, asked)["day"].values
    return np.isin(ticks, found)


def _entry(values: xr.DataArray, dim: str, entry: Any) -> xr.DataArray:
    if dim not in values.dims:
        there = ", ".join(map(str, values.dims))
        raise ConfigError(f"at: there is no dimension '{dim}'; there are {there}")
    known = values[dim].values
    wanted = entry if isinstance(entry, list) else [entry]
    numeric = known.dtype.kind in "iuf"
    places = []
    for one in wanted:
        same = np.isclose(known, one) if numeric and not isinstance(one, str) else known == one
        if not np.any(same):
            listed = ", ".join(map(str, known[:12]))
            raise ConfigError(f"at.{dim}: there is no {described(one)}; there are {listed}")
        places.append(int(np.argmax(same)))
    found: xr.DataArray = values.isel({dim: places if isinstance(entry, list) else places[0]})
    return found


def _reduced(values: xr.DataArray, dim: str, said: Choice) -> xr.DataArray:
    own, options = _statistic(said)
    if dim not in values.dims:
        there = ", ".join(map(str, values.dims))
        raise ConfigError(f"reduce: there is no dimension '{dim}'; there are {there}")
    ordered = values.transpose(..., dim)
    flat = np.asarray(ordered.values, float).reshape(-1, ordered.sizes[dim])
    found = own(flat, True, options, ticks=np.arange(flat.shape[1], dtype=float))
    return ordered.isel({dim: 0}, drop=True).copy(data=found.reshape(ordered.shape[:-1]))


def load_targets(
    source: str | os.PathLike[str] | Mapping[str, Any], only: str | None = None
) -> list[Targets]:
    """Read and check a targets file; return the targets of each case.

    Parameters
    ----------
    source : a YAML file, the name of a shipped one (``economy``), or plain data
    only : name of the one case that is wanted

    Raises
    ------
    ConfigError
        With one line ``file.yaml:12:5  key.path: message`` per problem.
    """
    name, folder, document, config = read(source, TargetsConfig, _file)
    if bool(config.cases) == bool(config.statistics):  # after other problems of the statistics
        message = "needs statistics, or cases that have them"
        raise config_error([Problem(document.place(("statistics",)), ("statistics",), message)])
    found = []
    for place, case in config.places():
        own = str(place[-1]) if place else ""
        observed = {
            key: _observed(one.data, folder, document, (*place, "statistics", key, "data"))
            for key, one in case.statistics.items()
            if one.data is not None
        }
        found.append(Targets(own, name, case, observed, folder, document, place))
    if only is None:
        return found
    names = [one.name for one in found]
    if only not in names:
        raise ConfigError(f"{name}: has no case '{only}'; it has {', '.join(names)}")
    return [found[names.index(only)]]


def _file(source: str | os.PathLike[str]) -> FilePath:
    """Return the file of targets: on disk or, failing that, among the shipped ones."""
    name = os.fspath(source)
    shipped = data_directory("configs") / TARGETS / f"{name.removesuffix('.yaml')}.yaml"
    if not os.path.lexists(name) and shlex.quote(name) == name and shipped.is_file():
        return shipped
    return find_config(source)


def _observed(said: DataColumn, folder: FilePath, document: Document, path: Path) -> Reals:
    if said.values:
        return np.array(said.values, float)
    if said.file is None:
        message = "needs a file and a column, or values"
        raise config_error([Problem(document.place(path), path, message)])
    found = read_columns(folder / said.file, "observation")
    wanted = said.column if said.column is not None else found.keys[0]
    if wanted not in found.keys:
        message = f"{found.name} has no column '{wanted}'{suggestion(wanted, found.keys)}"
        raise config_error([Problem(document.place(path), path, message)])
    column = [row[found.keys.index(wanted)] for row in found.rows]
    if not all(
        isinstance(one, int | float) and not isinstance(one, bool) and isfinite(one)
        for one in column
    ):
        message = f"column '{wanted}' of {found.name} has entries that are no numbers"
        raise config_error([Problem(document.place(path), path, message)])
    return np.array(column, float)
