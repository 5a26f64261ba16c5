"""Which statistics summarize a series or a sample in one number?

A statistic takes ``x``, (copy, entry) float64, and returns one number for each copy. It may also
take ``ticks`` (entry), a second series ``other`` (copy, entry), or ``data`` (value), a column of
observations. Its keyword-only parameters are the options of a targets file. docs/validate.md has
every formula.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from societies.analysis.inequality import gini as gini_of
from societies.config.problems import plain_words, suggestion
from societies.errors import ConfigError

Reals = NDArray[np.float64]
GROUP = "societies.statistics"
"""Entry points of statistics of other packages: f(x, ticks, **options) of one copy, (entry,)."""
SAME, ONE, CLOCK, RATE, PER = "same", "1", "clock", "1/clock", "same/clock"
"""Units: of the series, none, ticks, per tick, and of the series per tick."""
INPUTS = ("x", "ticks", "other", "data")
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Part = Annotated[float, Field(gt=0, le=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
Lag = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, eq=False)
class Statistic:
    """A statistic: its function, unit, inputs and options.

    Attributes
    ----------
    of : function of ``x`` and of the inputs in ``takes``
    unit : one of the units above
    takes : names of the inputs that it needs in addition to ``x``
    given : the function that has the options
    """

    name: str
    of: Callable[..., Any]
    unit: str
    takes: tuple[str, ...]
    given: Callable[..., Any]

    def unit_of(self, unit: str, clock: str) -> str:
        """Return the unit of the result for a series with this unit."""
        own = {SAME: unit, CLOCK: clock, RATE: f"1/{clock}", PER: f"{unit}/{clock}"}
        return own.get(self.unit, self.unit)

    def __call__(self, x: Reals, sample: bool, options: Mapping[str, Any], **inputs: Any) -> Reals:
        """Return one number for each copy, (copy,) float64; NaN if it cannot be computed.

        Missing entries of a sample (removed agents), also those of ``other``, are left out. A
        series with a missing tick has no statistic; nor has any data with an infinite value.
        """
        given = {name: inputs[name] for name in self.takes}
        both = [x, given["other"]] if "other" in given else [x]
        finite = np.all([np.isfinite(one) for one in both], axis=0)
        found, whole = np.full(len(x), np.nan), finite.all(1)

        def of(rows: Any, entries: Any = slice(None)) -> Any:
            along = {"other": lambda one: one[rows][:, entries], "ticks": lambda one: one[entries]}
            inputs = {name: along.get(name, lambda one: one)(one) for name, one in given.items()}
            return self.of(x[rows][:, entries], **inputs, **options)

        with np.errstate(all="ignore"):
            if x.shape[1]:
                found[whole] = of(whole)
            holes = finite.any(1) & ~whole & ~np.any([np.isinf(one).any(1) for one in both], axis=0)
            for row in np.flatnonzero(holes) if sample else ():
                found[[row]] = of([row], finite[row])
        found[~np.isfinite(found)] = np.nan
        return found


STATISTICS: dict[str, Statistic] = {}


def statistic(unit: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a statistic under its own name."""

    def add(of: Callable[..., Any]) -> Callable[..., Any]:
        STATISTICS[of.__name__] = _declared(of.__name__, of, unit)
        return of

    return add


def _declared(name: str, of: Callable[..., Any], unit: str) -> Statistic:
    found = inspect.signature(of).parameters
    takes = tuple(one for one in found if one in INPUTS[1:])
    return Statistic(name, of, unit, takes, of)


@cache
def statistic_named(name: str) -> Statistic:
    """Return the statistic of a name, built in or from another package.

    Raises ConfigError if there is none.
    """
    if name in STATISTICS:
        return STATISTICS[name]
    others = {one.name: one for one in entry_points(group=GROUP)}
    if name not in others:
        known = [*STATISTICS, *others]
        near = suggestion(name, known) or f"; there are {', '.join(known)}"
        raise ConfigError(f"unknown statistic '{name}'{near}")
    own = others[name].load()
    declared = _declared(name, own, str(getattr(own, "unit", SAME)))

    def of(x: Reals, ticks: Reals, other: Any = None, **options: Any) -> list[float]:
        more = [{}] * len(x) if other is None else [{"other": one} for one in other]
        return [float(own(row, ticks, **one, **options)) for row, one in zip(x, more, strict=True)]

    takes = ("ticks", *(("other",) if "other" in declared.takes else ()))
    return Statistic(name, of, declared.unit, takes, own)


def options_of(of: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the keyword-only parameters of a function by name: the options of a file."""
    found = inspect.signature(of, eval_str=True).parameters
    return {name: one for name, one in found.items() if one.kind is one.KEYWORD_ONLY}


def checked_options(what: str, options: Mapping[str, Any], of: Callable[..., Any]) -> None:
    """Raise ConfigError for an option that a function lacks or needs, or whose value is wrong.

    A parameter without an annotation takes a number.
    """
    known = options_of(of)
    for name, value in options.items():
        if name not in known:
            near = suggestion(name, known) or f"; it has {', '.join(known) or 'none'}"
            raise ConfigError(f"{what}: unknown option '{name}'{near}")
        annotation = known[name].annotation
        allowed = float if annotation is inspect.Parameter.empty else annotation
        try:
            TypeAdapter(allowed).validate_python(value, strict=True)
        except ValidationError as error:
            why = plain_words(next(iter(error.errors())))
            raise ConfigError(f"{what}: option '{name}' {why}") from None
        if isinstance(value, float) and np.isnan(value):
            raise ConfigError(f"{what}: option '{name}' expected a number, got nan")
    for name, one in known.items():
        if one.default is one.empty and name not in options:
            raise ConfigError(f"{what}: needs the option '{name}'")


# ------------------------------------------------------------------------------- moments and order


def mean_within(x: Reals) -> Any:
    """Return the mean over the last axis, clipped between the least and the largest value.

    So the mean of equal values is exactly this value. Otherwise the deviations of 0.1, 0.1 and 0.1
    would be rounding errors, whose correlations and moments look like any others.
    """
    return np.clip(x.mean(-1), x.min(-1), x.max(-1))


def deviations(x: Reals) -> Reals:
    """Return the deviations from the mean: exactly 0 if all values are equal."""
    found: Reals = x - mean_within(x)[..., None]
    return found


@statistic(SAME)
def mean(x: Reals) -> Any:
    """Mean."""
    return mean_within(x)


@statistic(SAME)
def sd(x: Reals) -> Any:
    """Standard deviation, divided by n."""
    return np.sqrt((deviations(x) ** 2).mean(1))


@statistic(ONE)
def variation(x: Reals) -> Any:
    """Coefficient of variation: standard deviation over mean."""
    return sd(x) / mean(x)


@statistic(SAME)
def minimum(x: Reals) -> Any:
    """Least value."""
    return x.min(1)


@statistic(SAME)
def maximum(x: Reals) -> Any:
    """Largest value: the peak."""
    return x.max(1)


@statistic(SAME)
def last(x: Reals) -> Any:
    """Last value."""
    return x[..., -1]


@statistic(SAME)
def quantile(x: Reals, *, q: Probability) -> Any:
    """Quantile q, interpolated linearly."""
    return np.quantile(x, q, axis=1)


@statistic(ONE)
def share(x: Reals, *, above: float = -np.inf, below: float = np.inf) -> Any:
    """Share of the entries from ``above`` to ``below``, both included."""
    return ((x >= above) & (x <= below)).mean(1)


@statistic(ONE)
def skewness(x: Reals) -> Any:
    """Third central moment over the 3/2 power of the second, both divided by n."""
    far = deviations(x)
    return (far**3).mean(1) / (far**2).mean(1) ** 1.5


@statistic(ONE)
def kurtosis(x: Reals) -> Any:
    """Excess kurtosis: fourth central moment over the square of the second, less 3."""
    far = deviations(x)
    return (far**4).mean(1) / (far**2).mean(1) ** 2 - 3


# -------------------------------------------------------------------------------- course over time


@statistic(PER)
def trend(x: Reals, ticks: Reals) -> Any:
    """Slope of the least-squares line over the ticks."""
    t = ticks - ticks.mean()
    return (deviations(x) * t).sum(1) / (t**2).sum()


@statistic(RATE)
def growth(x: Reals, ticks: Reals) -> Any:
    """Constant growth rate that leads from the first to the last value."""
    span = ticks[-1] - ticks[0]
    return np.where(span > 0, (x[..., -1] / x[..., 0]) ** (1 / span) - 1, np.nan)


@statistic(ONE)
def total_growth(x: Reals) -> Any:
    """Last over first value, less 1."""
    return x[..., -1] / x[..., 0] - 1


def spacing(ticks: Reals) -> int:
    """Return the number of ticks between two recorded ones; 1 if there are fewer than two.

    Raises ConfigError if they are not equally spaced.
    """
    steps = np.unique(np.diff(ticks)).astype(int)
    if len(steps) > 1:
        raise ConfigError(
            f"needs equally spaced ticks, but they are {steps[0]} to {steps[-1]} apart"
        )
    return int((*steps, 1)[0])


def entries_of(name: str, number: int, ticks: Reals) -> int:
    """Return the number of entries of a series in a number of ticks, the option ``name``.

    Raises ConfigError if the ticks are not equally spaced, or the number is not a multiple of their
    distance.
    """
    if number == 0:
        return 0
    step = spacing(ticks)
    if number % step:
        raise ConfigError(
            f"{name}: {number} ticks, but the series has every {step}th tick only; take a multiple "
            f"of {step}, or record every tick"
        )
    return number // step


@statistic(ONE)
def autocorrelation(x: Reals, ticks: Reals, *, lag: Lag = 1) -> Any:
    """Sum of products of deviations ``lag`` ticks apart, over the sum of their squares."""
    lag = entries_of("autocorrelation: lag", lag, ticks)
    if lag >= x.shape[1]:
        return np.full(len(x), np.nan)
    far = deviations(x)
    return (far[..., lag:] * far[..., : far.shape[1] - lag]).sum(1) / (far**2).sum(1)


@statistic(ONE)
def correlation(
    x: Reals, ticks: Reals, other: Reals, *, lag: int = 0, outliers: Positive = np.inf
) -> Any:
    """Pearson's correlation of x at t and ``other`` at t + lag.

    Pairs are left out if a value is more than ``outliers`` interquartile ranges outside its
    quartiles.
    """
    lag = entries_of("correlation: lag", lag, ticks)
    n = max(x.shape[1] - abs(lag), 0)
    x, other = x[..., max(0, -lag) :][..., :n], other[..., max(0, lag) :][..., :n]
    inside = np.ones(x.shape, bool)
    for one in (x, other) if np.isfinite(outliers) else ():
        low, high = np.quantile(one, [0.25, 0.75], axis=1)[..., None]
        wide = outliers * (high - low)
        inside &= (one >= low - wide) & (one <= high + wide)
    rows = zip(x, other, inside, strict=True)
    return [_pearson(a[pairs], b[pairs]) if pairs.any() else np.nan for a, b, pairs in rows]


def _pearson(a: Reals, b: Reals) -> float:
    """Return the correlation of two series, from -1 to 1 in spite of rounding."""
    a, b = deviations(a), deviations(b)
    return float(np.clip((a @ b) / np.sqrt((a @ a) * (b @ b)), -1, 1))


@statistic(CLOCK)
def first(x: Reals, ticks: Reals, *, above: float = -np.inf, below: float = np.inf) -> Any:
    """First tick on which x lies from ``above`` to ``below``; missing if it never does."""
    inside = (x >= above) & (x <= below)
    return np.where(inside.any(1), ticks[inside.argmax(1)], np.nan)


@statistic(CLOCK)
def peak_tick(x: Reals, ticks: Reals) -> Any:
    """First tick of the largest value."""
    return ticks[x.argmax(1)]


@statistic(CLOCK)
def trough_tick(x: Reals, ticks: Reals) -> Any:
    """First tick of the least value."""
    return ticks[x.argmin(1)]


@statistic(CLOCK)
def half_life(x: Reals, ticks: Reals) -> Any:
    """Ticks from the peak until x is at most half of it; missing if it never is."""
    at = x.argmax(1)
    later = np.arange(x.shape[1]) > at[:, None]
    halved = later & (x <= x.max(1, keepdims=True) / 2)
    return np.where(halved.any(1), ticks[halved.argmax(1)] - ticks[at], np.nan)


# ----------------------------------------------------------------------------------- distributions


@statistic(ONE)
def tail_exponent(x: Reals, *, top: Part = 0.1) -> Any:
    """Hill's exponent of the largest values, the part ``top`` of all; they must be positive."""
    ordered = np.sort(x, 1)[..., ::-1]
    k = max(1, int(top * x.shape[1] + 1e-9))  # 0.29 * 100 is 28.999999999999996
    if k >= x.shape[1]:
        return np.full(len(x), np.nan)
    found = 1 / np.log(ordered[..., :k] / ordered[..., k : k + 1]).mean(1)
    return np.where(ordered[..., k] > 0, found, np.nan)


@statistic(ONE)
def gini(x: Reals) -> Any:
    """Gini coefficient."""
    import xarray as xr

    return gini_of(xr.DataArray(x, dims=("copy", "entry")), "entry").values


@statistic(ONE)
def top_share(x: Reals, *, top: Part = 0.1) -> Any:
    """Share of the largest values in the total; their number, ``top`` of all, is rounded."""
    k = max(1, round(top * x.shape[1]))
    ordered = np.sort(x, 1)
    return ordered[..., -k:].sum(1) / ordered.sum(1)


@statistic(ONE)
def hhi(x: Reals) -> Any:
    """Herfindahl-Hirschman index: sum of squared shares."""
    return ((x / x.sum(1, keepdims=True)) ** 2).sum(1)


@statistic(ONE)
def kolmogorov_smirnov(x: Reals, data: Reals) -> Any:
    """Largest difference of the distribution functions of x and of the data."""
    from scipy.stats import ks_2samp

    return [ks_2samp(row, data, method="asymp").statistic for row in x]


@statistic(SAME)
def wasserstein(x: Reals, data: Reals) -> Any:
    """Area between the distribution functions of x and of the data."""
    from scipy.stats import wasserstein_distance

    return [wasserstein_distance(row, data) for row in x]


@statistic(SAME)
def rmse(x: Reals, data: Reals) -> Any:
    """Root of the mean squared difference between the series and the data, tick by tick."""
    if x.shape[1] != len(data):
        raise ConfigError(f"rmse: the series has {x.shape[1]} ticks, the data {len(data)} values")
    return np.sqrt(((x - data) ** 2).mean(1))
