"""Which statistics must a model have? A file of targets has a configuration and bands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.selecting import copies_of, with_ticks
from societies.config.document import Document
from societies.config.load import find_config
from societies.config.problems import Path, described
from societies.errors import ConfigError, option, override
from societies.numbers import is_finite
from societies.output.layout import is_clock
from societies.paths import TARGETS, data_directory
from societies.study.expressions import quantity, variables_in
from societies.study.filters import filtered
from societies.study.observations import observations
from societies.study.source import read_validated
from societies.study.statistics import STATISTICS, Reals, Statistic
from societies.study.target_file import (
    Case,
    Choice,
    Target,
    TargetsConfig,
    name_and_options,
    statistic_of,
)
from societies.workload.drawing.figure import clock_of

if TYPE_CHECKING:
    import xarray as xr


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
        """Return the error for a key of a target."""
        return self.document.error((*self.place, "statistics", name, key), message)

    def evaluate(self, data: xr.Dataset) -> Reals:
        """Return the statistics of every copy in a dataset: (copy, statistic) float64.

        A statistic that cannot be computed, for example for missing ticks, is NaN.

        Raises ConfigError if the data lack a variable, a dimension, an entry or the ticks.
        """
        columns = []
        for name, target in self.statistics.items():
            try:
                values, unit = self._computed(name, target, data)
            except ConfigError as error:
                raise self.refused(name, "of", f"{error}{self._needed(data)}") from None
            self.units[name] = unit
            columns.append(values)
        return np.stack(columns, 1) if columns else np.empty((data.sizes[copies_of(data)], 0))

    def _needed(self, data: xr.Dataset) -> str:
        """Return a line that says with which keys a result has all variables, if it lacks some."""
        if not self.case.set or set(self.variables) <= set(data.data_vars):
            return ""
        keys = " ".join(override(f"{key}={one}") for key, one in self.case.set.items())
        return f"\nthis case is for results of a run with {keys}"

    def series(self, name: str, data: xr.Dataset, *, ticks: bool = True) -> Any:
        """Return a target's series: (copy, entry) values, (entry,) ticks, unit, whether a sample.

        Without ``ticks`` it has all ticks, and not those of the statistic alone.
        """
        return self._selected(self.statistics[name], data, self.statistics[name].of, ticks=ticks)

    def _computed(self, name: str, target: Target, data: xr.Dataset) -> tuple[Reals, str]:
        own, options = statistic_of(target.statistic)
        x, at, unit, sample = self._selected(target, data, target.of)
        if sample:
            _require_no_ticks(own, options)
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
        clock, used = clock_of(data), set()
        skipped = self.case.burn_in if target.burn_in is None else target.burn_in
        for dim, said in target.reduce.items():
            if of_clock := is_clock(dim, clock) and dim in values.dims:
                values = values.sortby(dim)
                values = values.isel({dim: np.flatnonzero(values[dim].values > skipped)})
                if ticks and target.ticks is not None:
                    values = values.isel({dim: _among(values[dim].values, target.ticks)})
                used = {"burn_in", "ticks"}
            values = _reduced(values, dim, said, of_clock)
        dims = [str(dim) for dim in values.dims if dim != copies]
        if copies not in values.dims or len(dims) != 1:
            more = ", ".join(dims) or "no other"
            raise ConfigError(f"has the dimensions {more}; leave one: at {{DIM: ENTRY}}, or reduce")
        (dim,) = dims
        values = values.transpose(copies, dim)
        sample = not is_clock(dim, clock)
        if not sample:
            values = values.sortby(dim)
        at = np.arange(values.sizes[dim]) if sample else values[dim].values
        x, at = np.asarray(values.values, float), np.asarray(at, float)
        filters = target.filter if text == target.of else target.filter_against
        if sample:
            keys = [key for key in ("burn_in", "relative_to", "ticks") if key not in used]
            needless = [f"{key}: " for key in keys if getattr(target, key) is not None]
            needless += [f"filter {name_and_options(one)[0]}: " for one in filters if one != "log"]
            if needless:
                raise ConfigError(f"{needless[0]}needs a series of ticks; this is one of {dim}")
            for _ in filters:
                x, unit = filtered(x, at, "log", {}), "1"
            return x, at, unit, True
        if (np.diff(at) == 0).any():
            raise ConfigError(f"has a {dim} twice; are the data of two results joined?")
        if target.relative_to is not None:
            x = x / x[:, _among(at, target.relative_to)].mean(1, keepdims=True)
            unit = "1"
        x, at = x[:, at > skipped], at[at > skipped]
        for said in filters:
            name, options = name_and_options(said)
            x = filtered(x, at, name, options)
            at = at[len(at) - x.shape[1] :]
            unit = unit if name in _SAME_UNIT else "1"
        if ticks and target.ticks is not None:
            selected = _among(at, target.ticks)
            x, at = x[:, selected], at[selected]
        return x, at, unit, False


_SAME_UNIT = ("difference", "detrend", "smooth", "hp_cycle", "hp_trend")


def _among(ticks: Reals, asked: str | int) -> Any:
    """Return True for the selected ticks."""
    import xarray as xr

    whole = xr.Dataset(coords={"day": ticks.astype(int)})
    try:
        found = with_ticks(whole, asked)["day"].values
    except ConfigError as error:  # which names an option of commands
        said = str(error).removeprefix(option("ticks", asked))
        raise ConfigError(f"ticks {asked}{said}") from None
    return np.isin(ticks, found)


def _require_no_ticks(own: Statistic, options: Mapping[str, Any]) -> None:
    """Raise ConfigError for a statistic of the vocabulary that looks at the order of ticks.

    Functions of other packages get ticks in any case, and a correlation without a lag needs none.
    """
    own_kind = own.name in STATISTICS and "ticks" in own.takes
    if own_kind and (own.name != "correlation" or options.get("lag")):
        raise ConfigError(f"{own.name}: needs a series of ticks; this is a sample")


def _require_dim(key: str, values: xr.DataArray, dim: str) -> None:
    if dim not in values.dims:
        dims = ", ".join(map(str, values.dims))
        raise ConfigError(f"{key}: there is no dimension '{dim}'; there are {dims}")


def _entry(values: xr.DataArray, dim: str, entry: Any) -> xr.DataArray:
    _require_dim("at", values, dim)
    known = values[dim].values
    wanted = entry if isinstance(entry, list) else [entry]
    numeric = known.dtype.kind in "iuf"
    places = []
    for one in wanted:
        same = np.isclose(known, one) if numeric and is_finite(one) else known == one
        if not np.any(same):
            listed = ", ".join(map(str, known[:12]))
            raise ConfigError(f"at.{dim}: there is no {described(one)}; there are {listed}")
        places.append(int(np.argmax(same)))
    found = values.isel({dim: places})
    return found if isinstance(entry, list) else found.squeeze(dim)


def _reduced(values: xr.DataArray, dim: str, said: Choice, of_clock: bool) -> xr.DataArray:
    own, options = statistic_of(said)
    _require_dim("reduce", values, dim)
    if not of_clock:
        _require_no_ticks(own, options)
    ordered = values.transpose(..., dim)
    flat = np.asarray(ordered.values, float).reshape(-1, ordered.sizes[dim])
    ticks = np.asarray(ordered[dim].values if of_clock else np.arange(flat.shape[1]), float)
    found = own(flat, not of_clock, options, ticks=ticks)
    return ordered.isel({dim: 0}, drop=True).copy(data=found.reshape(ordered.shape[:-1]))


def load_targets(
    source: str | os.PathLike[str] | Mapping[str, Any] | Document,
    only: str | None = None,
    folder: FilePath = FilePath(),
) -> list[Targets]:
    """Read and check a targets file; return the targets of each case.

    Parameters
    ----------
    source : a YAML file, the name of a shipped one (``economy``), plain data, or a file's section
    only : name of the only case to return
    folder : folder of the files that plain data or a section name

    Raises
    ------
    ConfigError
        With one line ``file.yaml:12:5  key.path: message`` per problem.
    """
    name, folder, document, config = read_validated(source, TargetsConfig, _file, folder)
    if bool(config.cases) == bool(config.statistics):  # after other problems of the statistics
        raise document.error(("statistics",), "needs statistics, or cases that have them")
    found = []
    for place, case in config.places():
        _, own = place or ("", "")
        observed = {
            key: observations(
                one.data,
                name_and_options(one.statistic)[0],
                folder,
                document,
                (*place, "statistics", key, "data"),
            )
            for key, one in case.statistics.items()
            if one.data is not None
        }
        found.append(Targets(str(own), name, case, observed, folder, document, place))
    if only is None:
        return found
    names = [one.name for one in found]
    if only not in names:
        available = ", ".join(names) if config.cases else "one without a name"
        raise ConfigError(f"{name}: has no case '{only}'; it has {available}")
    return [found[names.index(only)]]


def _file(source: str | os.PathLike[str]) -> FilePath:
    """Return the file of targets: on disk or, failing that, among the shipped ones."""
    name = os.fspath(source)
    shipped = data_directory("configs") / TARGETS / f"{name.removesuffix('.yaml')}.yaml"
    if not os.path.lexists(name) and shipped.is_file():
        return shipped
    return find_config(source)
