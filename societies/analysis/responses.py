"""How does an economy respond to a shock: impulse responses by exact twins?

Every society has a twin with the same random draws in which the shock happens (counterfactual Monte
Carlo: Amendola and Pereira, 2024). The response is the mean difference of twins by ticks after the
shock. It needs no model of the series and no ordering of shocks.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.effects import bootstrap_weights, cases_of_effects, open_source
from societies.analysis.intervals import require_level
from societies.analysis.pairs import PAIR, by_draws
from societies.analysis.twins import Twins, twins
from societies.errors import ConfigError, option
from societies.words import plural
from societies.workload.drawing.bands import RESAMPLES, Reals
from societies.workload.drawing.figure import clock_of, configuration_of

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.effects import Source
    from societies.analysis.twins import After

LEVELS = ("level", "relative", "cumulative")
"""Responses along the horizon; each has the ends of a band."""
NUMBERS = ("peak", "peak_at", "half_life")
"""Numbers of a response; each has the ends of a bootstrap interval."""


def irf(
    base: Source,
    shocked: Source,
    variables: str | Sequence[str] | None = None,
    *,
    after: After,
    horizon: int | None = None,
    by: str | None = None,
    states: int = 2,
    size: float = 1.0,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> xr.Dataset:
    """Return the impulse responses of twins: shocked minus base, by ticks after the shock.

    Parameters
    ----------
    base, shocked : path or xarray.Dataset
        As for `effect`. They must be pairs, with the same seed and societies.
    variables : names of variables; default: the headline variables of the workload, or ``by`` if
        that is a variable of agents
    after : tick at whose end the shock happens; horizon 1 is the tick after it. Or the tick for
        each society by its number; societies without a tick have no shock and are left out
    horizon : number of ticks; default: all that the results have after every shock
    by : variable of the base whose value on the tick of the shock divides societies into states. A
        variable of agents divides the agents of each society instead; then only variables of agents
        have responses, those of the means over the agents of a state
    states : number of states, by quantiles of ``by``
    size : size of the shock; level, cumulative and peak are per unit of it
    level, resamples, seed : of the bands: bootstrap over pairs

    Returns
    -------
    Dataset along ``state`` (the first is "all"), ``variable`` and ``horizon``: ``level`` mean
    difference, ``relative`` to the base's mean, ``cumulative`` sum of the recorded levels up to it;
    along ``state`` and ``variable``: the largest response ``peak``, its horizon ``peak_at``,
    ``half_life`` ticks from the peak until the response is at most half of it, missing if it never
    is. Each has ``_low`` and ``_high``. ``pairs`` (state) is the number of twins.

    Raises
    ------
    ConfigError
        If the results are no twins, or have no tick after the shock.
    """
    _require(states, level, size)
    with open_source(base) as one, open_source(shocked) as two:
        found = twins(one, two, variables, after, horizon, by, states)
    each = {name: _difference(base, found.shocked[name], size) for name, base in found.base.items()}
    return _dataset(found, each, size, level, resamples, seed)


def asymmetry(
    base: Source,
    shocked: Source,
    other: Source,
    variables: str | Sequence[str] | None = None,
    *,
    after: After,
    sizes: tuple[float, float],
    horizon: int | None = None,
    by: str | None = None,
    states: int = 2,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> xr.Dataset:
    """Return the difference of the responses to two shocks, per unit of size: other - shocked.

    The difference is 0 if responses are proportional to the size of a shock, with its sign. So
    shocks of sizes 1 and -1 show an asymmetry of sign, sizes 1 and 2 an asymmetry of size. The
    bands are those of differences within the same societies.

    Parameters
    ----------
    base, shocked, other : as for `irf`; both shocks are twins of the base and happen at once
    sizes : sizes of the shocks of ``shocked`` and of ``other``
    variables, after, horizon, by, states, level, resamples, seed : as for `irf`

    Returns
    -------
    Dataset
        As from `irf`, for the difference.

    Raises
    ------
    ConfigError
        If the results are no twins, or have no tick after the shock.
    """
    _require(states, level, *sizes)
    with open_source(base) as one, open_source(shocked) as two, open_source(other) as three:
        numbers = [by_draws(data)[PAIR].values for data in (one, two, three)]
        common = np.intersect1d(np.intersect1d(*numbers[:2]), numbers[2])
        found, second = (
            twins(one, data, variables, after, horizon, by, states, common) for data in (two, three)
        )
    each = {}
    for name, base in found.base.items():
        one, two = (
            _difference(base, of.shocked[name], size)
            for of, size in zip((found, second), sizes, strict=True)
        )
        each[name] = _difference(one, two, 1.0)
    return _dataset(found, each, 1.0, level, resamples, seed)


def _difference(base: Reals, shocked: Reals, size: float) -> Reals:
    """Return the responses per unit of a shock; infinite where one of the values is."""
    infinite = np.isinf(base) | np.isinf(shocked)
    with np.errstate(invalid="ignore"):
        return np.where(infinite, np.inf, (shocked - base) / size)


def _require(states: int, level: float, *sizes: float) -> None:
    require_level(level)
    if states < 1:
        raise ConfigError(f"{option('states', states)}: at least 1 is needed")
    for size in sizes:
        if size == 0 or not np.isfinite(size):
            raise ConfigError(f"{option('size', size)}: expected a finite number that is not 0")


def _responses(
    difference: Reals,
    base: Reals,
    horizons: NDArray[Any],
    size: float,
    level: float,
    weights: Reals,
) -> dict[str, Reals]:
    """Return the responses of some pairs: (variable, horizon), and (variable,) for numbers.

    Parameters
    ----------
    difference, base : (variable, pair, horizon)
    weights : (sample, pair)
    """
    ends = [(1 - level) / 2, (1 + level) / 2]
    equal = np.ones((1, difference.shape[1]))
    result: dict[str, list[Any]] = {}
    for own, before in zip(difference, base, strict=True):
        present = ~np.isnan(own)  # with an infinite value the response of its tick is missing
        with np.errstate(all="ignore"):
            (mean, sampled), (of_base, of_sample) = (
                [w @ np.where(present, one, 0.0) / (w @ present) for w in (equal, weights)]
                for one in (own, before)
            )
            curves = {
                "level": (mean, sampled),
                "relative": (size * mean / of_base, size * sampled / of_sample),
                "cumulative": (mean.cumsum(1), sampled.cumsum(1)),
            }
            for curve in curves.values():
                for values in curve:
                    values[np.isinf(values)] = np.nan
        for name, (middle, samples) in curves.items():
            with warnings.catch_warnings(), np.errstate(invalid="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)  # where all values are missing
                _add(result, name, middle[0], np.nanquantile(samples, ends, axis=0))
        if np.isinf(own).any():  # then nothing is the largest response
            mean, sampled = mean * np.nan, sampled * np.nan
        numbers, samples_of = (_numbers(one, horizons) for one in (mean, sampled))
        for name in NUMBERS:
            # A half-life that is not reached is longer than any that is.
            values = np.where(np.isnan(samples_of[name]), np.inf, samples_of[name])
            band = np.quantile(values, ends, method="nearest")
            _add(result, name, numbers[name][0], np.where(np.isfinite(band), band, np.nan))
    return {name: np.array(values) for name, values in result.items()}


def _add(result: dict[str, list[Any]], name: str, middle: Any, ends: Any) -> None:
    for word, value in ((name, middle), (f"{name}_low", ends[0]), (f"{name}_high", ends[1])):
        result.setdefault(word, []).append(value)


def _numbers(response: Reals, horizons: NDArray[Any]) -> dict[str, Reals]:
    """Return peak, its horizon and the half-life of responses (sample, horizon)."""
    finite = np.isfinite(response)
    some = finite.any(1)
    at = np.abs(np.where(finite, response, 0.0)).argmax(1)
    peak = np.where(some, response[np.arange(len(response)), at], np.nan)
    with np.errstate(invalid="ignore"):  # a missing response is not at most half of the peak
        half = np.abs(response) <= np.abs(peak)[:, None] / 2
    half &= finite & (horizons > horizons[at][:, None])
    life = horizons[half.argmax(1)] - horizons[at]
    life = np.where(half.any(1) & (peak != 0), life, np.nan)
    return {"peak": peak, "peak_at": np.where(some, horizons[at], np.nan), "half_life": life}


def _dataset(
    found: Twins,
    each: Mapping[str, Reals],
    size: float,
    level: float,
    resamples: int,
    seed: int,
) -> xr.Dataset:
    """Return the responses as a dataset; ``each`` has the differences of every state."""
    import xarray as xr

    random = np.random.default_rng(seed)
    parts = [
        _responses(
            difference,
            found.base[name],
            found.horizon,
            size,
            level,
            bootstrap_weights(random, difference.shape[1], resamples, found.pasts[name]),
        )
        for name, difference in each.items()
    ]
    data = {
        name: (
            ("state", "variable", "horizon") if values.ndim == 2 else ("state", "variable"),
            np.stack([part[name] for part in parts]),
        )
        for name, values in parts[0].items()
    }
    result = xr.Dataset(
        data,
        {
            "state": list(each),
            "variable": found.labels,
            "unit": ("variable", found.units),
            "meaning": ("variable", found.meanings),
            "horizon": found.horizon,
        },
        {"clock": found.clock, "size": size, "level": level},
    )
    return result.assign(pairs=("state", [one.shape[1] for one in each.values()]))


def shocks_of(
    opened: Mapping[str, xr.Dataset], base: str | None = None, after: int | None = None
) -> tuple[dict[str, xr.Dataset], dict[str, After]]:
    """Return the results by label, the base first, and the tick of each one's shock.

    Without ``after`` the shock is the first intervention that the base does not have. If
    interventions name societies, each society has its own tick.

    Raises ConfigError if a result has no intervention that the base does not have.
    """
    cases = cases_of_effects(opened, base)
    first, *others = cases
    before = _interventions(cases[first])
    found: dict[str, After] = {}
    for label in others:
        own = [one for one in _interventions(cases[label]) if one not in before]
        if after is None and not own:
            raise ConfigError(f"{label}: has no intervention that {first} does not have")
        found[label] = _ticks_of(cases[label], own) if after is None else after
    return cases, found


def _ticks_of(data: xr.Dataset, shocks: Sequence[Mapping[str, Any]]) -> After:
    """Return the tick of the first shock, or that of each society if shocks name societies."""
    clock, copies = clock_of(data), plural(str(data.attrs.get("copies", "society")))
    if not any(one.get(copies) for one in shocks):
        return min(int(one[clock]) for one in shocks)
    found: dict[int, int] = {}
    for one in shocks:
        for number in one.get(copies) or by_draws(data)[PAIR].values.tolist():
            found[number] = min(int(one[clock]), found.get(number, int(one[clock])))
    return found


def _interventions(data: xr.Dataset) -> list[Mapping[str, Any]]:
    if "interventions" in data.coords:
        return list(json.loads(str(np.ravel(data["interventions"].values)[0])))
    return list(configuration_of(data).get("interventions") or [])
