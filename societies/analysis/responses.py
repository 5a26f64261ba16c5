"""How does an economy respond to a shock: impulse responses by exact twins?

Every society has a twin with the same random draws in which the shock happens (counterfactual Monte
Carlo: Amendola and Pereira, 2024). The response is the mean difference of twins by days after the
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
from societies.analysis.pairs import NEVER, Compared, aligned, compared_aligned
from societies.analysis.selecting import unknown
from societies.errors import ConfigError, option
from societies.words import counted
from societies.workload.drawing.bands import RESAMPLES, Reals
from societies.workload.drawing.figure import clock_of, configuration_of

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.effects import Source

LEVELS = ("level", "relative", "cumulative")
"""Responses along the horizon; each has the ends of a band."""
NUMBERS = ("peak", "peak_at", "half_life")
"""Numbers of a response; each has the ends of a bootstrap interval."""


def irf(
    base: Source,
    shocked: Source,
    variables: str | Sequence[str] | None = None,
    *,
    after: int,
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
        As for `effect`. They must be pairs: have the same seed and societies.
    variables : names of variables; default: the headline variables of the workload
    after : tick at whose end the shock happens; horizon 1 is the tick after it
    horizon : number of ticks; default: all that the results have
    by : variable of the base by whose value on tick ``after`` societies are divided into states
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
    if states < 1 or size == 0 or not 0 < level < 1:
        raise ConfigError("irf: states must be at least 1, size not 0, level between 0 and 1")
    with open_source(base) as one, open_source(shocked) as two:
        a, b, paired = aligned(one, two)
        if not paired:
            raise ConfigError("an impulse response needs twins: results with the same seed")
        found = compared_aligned(a, b, paired, variables)
        groups = _states(a, by, after, states)
    ticks = found.ticks
    later = ticks > after if horizon is None else (ticks > after) & (ticks <= after + horizon)
    if not later.any():
        raise ConfigError(f"the results have no {found.clock} after {after}, that of the shock")
    if NEVER != found.first <= after:
        raise ConfigError(
            f"the results differ from {found.clock} {found.first} on, before the shock at the end "
            f"of {found.clock} {after}; name the {found.clock} of the shock"
        )
    random = np.random.default_rng(seed)
    parts = []
    for rows in groups.values():
        weights = bootstrap_weights(random, len(rows), resamples)
        parts.append(_responses(found, rows, later, after, size, level, weights))
    return _dataset(found, parts, groups, ticks[later] - after, size, level)


def _states(a: xr.Dataset, by: str | None, after: int, states: int) -> dict[str, NDArray[np.intp]]:
    """Return the positions of the pairs of each state by its name; all of them first."""
    count = a.sizes["pair"]
    found = {"all": np.arange(count)}
    if by is None:
        return found
    clock = clock_of(a)
    known = [str(n) for n in a.data_vars if {*a[n].dims} == {"pair", clock}]
    if by not in known:
        raise unknown(by, known)
    if after not in a[clock].values:
        raise ConfigError(
            f"{option('by', by)}: {clock} {after}, that of the shock, is not recorded"
        )
    values = a[by].sel({clock: after}).values.astype(float)
    values[np.isinf(values)] = np.nan  # a society without a number is in no state
    if np.isnan(values).all():
        raise ConfigError(f"{option('by', by)}: has no number in {clock} {after}")
    edges = np.nanquantile(values, np.arange(1, states) / states)
    place = np.searchsorted(edges, values, side="left")
    for state in range(states):
        low = "" if state == 0 else f"above {edges[state - 1]:.4g}"
        high = "" if state == states - 1 else f"up to {edges[state]:.4g}"
        name = f"{by} {low}{' ' if low and high else ''}{high}".strip()
        rows = np.flatnonzero((place == state) & np.isfinite(values))
        if len(rows) < 2:
            raise ConfigError(
                f"{option('by', by)}: the state '{name}' has {counted(len(rows), 'society')}; take "
                "more replicates, or fewer states"
            )
        found[name] = rows
    return found


def _responses(
    found: Compared,
    rows: NDArray[np.intp],
    later: NDArray[np.bool_],
    after: int,
    size: float,
    level: float,
    weights: Reals,
) -> dict[str, Reals]:
    """Return the responses of some pairs: (variable, horizon), and (variable,) for numbers."""
    ends = [(1 - level) / 2, (1 + level) / 2]
    horizons = found.ticks[later] - after
    base = found.base[:, rows][:, :, later]
    shocked = found.other[:, rows][:, :, later]
    with np.errstate(invalid="ignore"):
        difference = (shocked - base) / size
    difference[np.isinf(base) | np.isinf(shocked)] = np.inf
    equal = np.ones((1, len(rows)))
    result: dict[str, list[Any]] = {}
    for own, before in zip(difference, base, strict=True):
        there = ~np.isnan(own)  # with an infinite value the response of its tick is missing
        with np.errstate(all="ignore"):
            (mean, sampled), (of_base, of_sample) = (
                [w @ np.where(there, one, 0.0) / (w @ there) for w in (equal, weights)]
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
    there = np.isfinite(response)
    some = there.any(1)
    at = np.abs(np.where(there, response, 0.0)).argmax(1)
    peak = np.where(some, response[np.arange(len(response)), at], np.nan)
    with np.errstate(invalid="ignore"):  # a missing response is not at most half of the peak
        half = np.abs(response) <= np.abs(peak)[:, None] / 2
    half &= there & (horizons > horizons[at][:, None])
    life = horizons[half.argmax(1)] - horizons[at]
    life = np.where(half.any(1) & (peak != 0), life, np.nan)
    return {"peak": peak, "peak_at": np.where(some, horizons[at], np.nan), "half_life": life}


def _dataset(
    found: Compared,
    parts: Sequence[Mapping[str, Reals]],
    groups: Mapping[str, NDArray[np.intp]],
    horizon: NDArray[Any],
    size: float,
    level: float,
) -> xr.Dataset:
    import xarray as xr

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
            "state": list(groups),
            "variable": found.labels,
            "unit": ("variable", found.units),
            "horizon": horizon,
        },
        {"clock": found.clock, "size": size, "level": level},
    )
    return result.assign(pairs=("state", [len(rows) for rows in groups.values()]))


def shocks_of(
    opened: Mapping[str, xr.Dataset], base: str | None = None, after: int | None = None
) -> tuple[dict[str, xr.Dataset], dict[str, int]]:
    """Return the results by label, the base first, and the tick of each one's shock.

    The shock is the first intervention that the base does not have, if ``after`` is not given.

    Raises
    ------
    ConfigError
        If a result has no intervention that the base does not have.
    """
    cases = cases_of_effects(opened, base)
    first, *others = cases
    before = _interventions(cases[first])
    found = {}
    for label in others:
        clock = clock_of(cases[label])
        own = [int(one[clock]) for one in _interventions(cases[label]) if one not in before]
        if after is None and not own:
            raise ConfigError(f"{label}: has no intervention that {first} does not have")
        found[label] = min(own) if after is None else after
    return cases, found


def _interventions(data: xr.Dataset) -> list[Mapping[str, Any]]:
    if "interventions" in data.coords:
        return list(json.loads(str(np.ravel(data["interventions"].values)[0])))
    return list(configuration_of(data).get("interventions") or [])
