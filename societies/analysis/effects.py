"""What is the effect of a policy? The difference between societies with and without it, in pairs.

A pair is a society of the base and the society with the same seed and number in another run. Both
have the same random draws and differ by the policy alone. The mean of paired differences is more
precise than the difference of two means by the factor ``precision``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.intervals import require_level
from societies.analysis.labels import distinct
from societies.analysis.pairs import NEVER, aligned, compared, first_difference
from societies.analysis.selecting import RUN
from societies.analysis.study_cases import point_labels, runs_done
from societies.config.model import LABEL
from societies.config.problems import quoted, suggestion
from societies.errors import ConfigError, EffectWarning, option
from societies.output import open_results
from societies.workload.drawing.bands import RESAMPLES, Reals, student_half, sums_by_past
from societies.workload.drawing.figure import clock_of, words

if TYPE_CHECKING:
    from typing import TypeAlias

    import xarray as xr

    from societies.analysis.selecting import Ticks

    Source: TypeAlias = str | PathLike[str] | xr.Dataset


def effect(
    base: Source,
    other: Source,
    variables: str | Sequence[str] | None = None,
    *,
    window: Ticks = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> xr.Dataset:
    """Return the mean difference between the societies of two results, other minus base.

    Parameters
    ----------
    base, other : path or xarray.Dataset
        Two runs, a run and its branch, or the runs of two points of a study (`cases_of_effects`).
    variables : names of variables; default: the headline variables of the workload, or all series.
        A variable with a further dimension has an effect for each of its entries:
        ``extraction_share[tool]``
    window : ticks whose mean is compared, such as ``"151:200"``; default: an effect for each tick
    level : of the intervals
    resamples, seed : number of bootstrap samples of the pairs, and their seed

    Returns
    -------
    Dataset along ``variable`` and, without a window, the clock:

    - ``base``, ``other``: means over the pairs; ``effect``: mean difference, in the variable's unit
    - ``low``, ``high``: bootstrap interval of the effect; ``t_low``, ``t_high``: Student's
    - ``relative`` with ``relative_low`` and ``relative_high``: effect as a share of the base's mean
    - ``se``: standard error of the mean difference; ``se_unpaired``: that of the difference of two
      means; ``precision``: their ratio
    - ``pairs``: number of pairs (for a fan, of pasts); ``first``: first tick on which a pair
      differs, -1 if none does

    Its attributes are ``paired`` (1 or 0), ``first`` (first tick on which any series differs) and
    ``window``. If the draws of the two results differ, there are no pairs. Then intervals and
    ``se`` are those of two independent samples (Welch).

    Raises
    ------
    ConfigError
        If a variable is missing, or the results have no tick or society in common.
    SocietiesError
        If SciPy is not installed.

    Warns
    -----
    EffectWarning
        If the results have no pairs, if nothing differs, if some societies have no partner, or if
        the sources of the model changed between the results.
    """
    require_level(level)
    with open_source(base) as one, open_source(other) as two:
        found = compared(one, two, variables, window)
    left, right = (
        values if pasts is None else _over_futures(values, pasts)
        for values, pasts in zip((found.base, found.other), found.pasts, strict=True)
    )
    if window is not None:
        left, right = left.mean(-1), right.mean(-1)
    numbers = _differences(left, right, found.paired, level, resamples, seed)
    about: dict[str, Any] = {"paired": int(found.paired), "first": found.first}
    about |= {"level": level, "clock": found.clock}
    windowed = window is not None
    result = by_variable(numbers, found.labels, found.units, about, found.ticks, windowed=windowed)
    return result.assign(first=("variable", found.firsts))


def _over_futures(values: Reals, pasts: Any) -> Reals:
    """Return the means over the futures of each past: (variable, past, ...).

    The futures of one past are not independent, so the pairs of an effect are the pasts.
    """
    filled, present = np.where(np.isnan(values), 0.0, values), ~np.isnan(values)
    each = [sums_by_past(one.swapaxes(0, 1), pasts).swapaxes(0, 1) for one in (filled, present)]
    with np.errstate(invalid="ignore"):
        found: Reals = each[0] / each[1]
    return found


def by_variable(
    found: Mapping[str, Reals],
    variables: Sequence[str],
    units: Sequence[str],
    attributes: Mapping[str, Any],
    ticks: Any,
    *,
    windowed: bool,
) -> xr.Dataset:
    """Return numbers along ``variable`` and the clock; of the mean of all ticks if windowed."""
    import xarray as xr

    clock = attributes["clock"]
    dims = ("variable",) if windowed else ("variable", clock)
    result = xr.Dataset(
        {name: (dims, values) for name, values in found.items()},
        {"variable": list(variables), "unit": ("variable", list(units))},
        attributes,
    )
    if windowed:
        return result.assign_attrs(window=f"{ticks[0]} to {ticks[-1]}")
    return result.assign_coords({clock: ticks})


def _differences(
    a: Reals, b: Reals, paired: bool, level: float, resamples: int, seed: int
) -> dict[str, Reals]:
    """Return means, differences and intervals: (variable, ...) for (variable, pair, ...).

    Missing values are left out; a mean with an infinite value is missing, since it has no interval.
    """
    infinite = np.isinf(a).any(1) | np.isinf(b).any(1)
    if paired:
        finite = np.isfinite(a) & np.isfinite(b)
        a, b = np.where(finite, a, np.nan), np.where(finite, b, np.nan)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # values that are all missing
        counts = [np.isfinite(one).sum(1) for one in (a, b)]
        means = [np.nanmean(one, 1) for one in (a, b)]
        spread = [np.nanvar(one, 1, ddof=1) / n for one, n in zip((a, b), counts, strict=True)]
        apart = np.sqrt(spread[0] + spread[1])
        difference = means[1] - means[0]
        if paired:
            difference = np.nanmean(b - a, 1)
            error = np.nanstd(b - a, 1, ddof=1) / np.sqrt(counts[0])
            freedom = counts[0] - 1.0
        else:
            error = apart
            parts = [one**2 / (n - 1) for one, n in zip(spread, counts, strict=True)]
            freedom = (spread[0] + spread[1]) ** 2 / (parts[0] + parts[1])
        half = student_half(level, freedom, error)
        low, high, relative_low, relative_high = _bootstrapped(a, b, paired, level, resamples, seed)
        found = {
            "base": means[0],
            "other": means[1],
            "effect": difference,
            "low": low,
            "high": high,
            "t_low": difference - half,
            "t_high": difference + half,
            "relative": difference / np.where(means[0] == 0, np.nan, means[0]),
            "relative_low": relative_low,
            "relative_high": relative_high,
            "se": error,
            "se_unpaired": apart,
            "precision": apart / error,
        }
        return {
            **{name: np.where(infinite, np.nan, one) for name, one in found.items()},
            "pairs": np.minimum(*counts),
        }


def _bootstrapped(
    a: Reals, b: Reals, paired: bool, level: float, resamples: int, seed: int
) -> Reals:
    """Return the ends of the intervals of the difference and of the relative difference: (4, ...).

    A sample draws pairs with replacement or, without pairs, the societies of each result.
    """
    random = np.random.default_rng(seed)
    ends = np.full((4, len(a), *a.shape[2:]), np.nan)
    if min(a.shape[1], b.shape[1]) < 2:
        return ends
    weights = [bootstrap_weights(random, one.shape[1], resamples) for one in (a, b)]
    if paired:
        weights[1] = weights[0]
    percentiles = [(1 - level) / 2, (1 + level) / 2]
    for place in range(len(a)):
        means = []
        for one, own in zip((a[place], b[place]), weights, strict=True):
            finite = np.isfinite(one)
            means.append(own @ np.where(finite, one, 0.0) / (own @ finite))
        difference = means[1] - means[0]
        for row, values in ((0, difference), (2, difference / means[0])):
            ends[row : row + 2, place] = np.nanquantile(values, percentiles, axis=0)
    return ends


def bootstrap_weights(
    random: np.random.Generator, count: int, resamples: int, pasts: Any = None
) -> Reals:
    """Return how often each society is in each bootstrap sample: (sample, society).

    For a fan, a sample consists of pasts with all their futures.
    """
    if pasts is not None:
        numbers, place = np.unique(pasts, return_inverse=True)
        return bootstrap_weights(random, len(numbers), resamples)[:, place.reshape(-1)]
    found = np.zeros((resamples, count))
    drawn = random.integers(0, count, (resamples, count))
    np.add.at(found, (np.arange(resamples)[:, None], drawn), 1.0)
    return found


def open_source(source: Source) -> Any:
    """Return a context with the dataset of a result."""
    return open_results(source) if isinstance(source, str | PathLike) else nullcontext(source)


def opened_by_label(files: Sequence[str | PathLike[str]]) -> dict[str, Any]:
    """Return the datasets of files by label, or by the name of the file."""
    opened = [open_results(one) for one in files]
    labels = [
        words(data.attrs.get(LABEL) or Path(one).stem)
        for one, data in zip(files, opened, strict=True)
    ]
    return dict(zip(distinct(labels), opened, strict=True))


def cases_of_effects(
    opened: Mapping[str, xr.Dataset], base: str | None = None
) -> dict[str, xr.Dataset]:
    """Return the results to compare by label, the base first; each point of a study is a result.

    Raises ConfigError if no result has the label ``base``, or there are fewer than two results.
    """
    found: dict[str, xr.Dataset] = {}
    for name, data in opened.items():
        if RUN not in data.dims:
            found[name] = data
            continue
        done = runs_done(data)
        for point, label in sorted(point_labels(done).items()):
            text = label if len(opened) == 1 else f"{name}: {label}"
            found[text] = done.isel({RUN: np.flatnonzero(done["point"].values == point)})
    if len(found) < 2:
        raise ConfigError(
            "an effect needs a base and at least one other result or point: name two results of "
            "the same seed, or a study with several points"
        )
    if base is None:
        return found
    if base not in found:
        available = f"; there are {', '.join(map(quoted, _few(found)))}"
        said = f"no such result or point{suggestion(base, list(found)) or available}"
        raise ConfigError(f"{option('base', base)}: {said}")
    return {base: found[base], **found}


def _few(labels: Iterable[str], most: int = 12) -> list[str]:
    listed = list(labels)
    return listed if len(listed) <= most else [*listed[:most], f"and {len(listed) - most} more"]


def since_first_difference(cases: Mapping[str, xr.Dataset]) -> slice | None:
    """Return all ticks from the first on which a result differs from the base; None if none do."""
    base, *others = cases.values()
    firsts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EffectWarning)
        for other in others:
            a, b, paired = aligned(base, other)
            first = first_difference(a, b) if paired else NEVER
            firsts += [first] if first != NEVER else []
    return slice(min(firsts), int(base[clock_of(base)].values[-1])) if firsts else None


def records(found: xr.Dataset) -> list[dict[str, Any]]:
    """Return an effect or a decomposition as plain data: an entry for each variable and tick."""
    clock = found.attrs["clock"]
    ticks = found[clock].values if clock in found.dims else [None]
    entries = []
    for place, name in enumerate(found["variable"].values):
        for i, tick in enumerate(ticks):
            at = (place, i)
            numbers = {
                str(key): for_json(one.values[at[: one.ndim]])
                for key, one in found.data_vars.items()
            }
            when = {"window": found.attrs["window"]} if tick is None else {clock: int(tick)}
            entries.append({"variable": str(name), **when, **numbers})
    return entries


def for_json(value: Any) -> float | int | None:
    """Return a number, or None for NaN and infinity, which JSON lacks."""
    if isinstance(value, np.integer | int):
        return int(value)
    return float(value) if np.isfinite(value) else None


def text_of_first(first: int, clock: str, paired: bool) -> str:
    """Return a text with the first tick on which anything differs."""
    if not paired:
        return "no pairs"
    return "nothing differs" if first == NEVER else f"differs from {clock} {first} on"
