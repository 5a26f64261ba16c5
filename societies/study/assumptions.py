"""May a mean over seeds and ticks be taken? Tests of stationarity, ergodicity, warm-up and modes.

The first two follow J. Grazzini, "Analysis of the emergent properties: stationarity and ergodicity"
(2012): a series is divided into windows whose means are compared.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from societies.errors import ConfigError, needing
from societies.study.statistics import Reals, spacing

WINDOWS = 20
"""Windows of a series, for the runs test and the comparison with other seeds."""
LEAST_TICKS = 5 * WINDOWS
"""Fewest ticks of a series that is tested."""
BATCH = 5
"""Ticks of a batch of MSER-5."""
LEVEL = 0.05
MOST_RUNS = 20
"""Most seeds whose series are tested by ADF and KPSS, which take milliseconds each."""


@dataclass(frozen=True)
class Assumptions:
    """Results of the tests of the series of a target.

    Attributes
    ----------
    runs_rejected : share of the seeds whose window means are not in random order (runs test)
    ergodic_rejected : share of the seeds whose window means have another distribution than the last
        window's means over all seeds (Kolmogorov-Smirnov)
    unit_root : share of the seeds for which ADF does not reject a unit root
    not_stationary : share of the seeds for which KPSS rejects stationarity
    warm_up : median over the seeds of the ticks that MSER-5 leaves out, counted from the first
    modes_p : p value of the hypothesis that the distribution over seeds has one mode
    """

    runs_rejected: float
    ergodic_rejected: float
    unit_root: float
    not_stationary: float
    warm_up: float
    modes_p: float

    @property
    def problems(self) -> list[str]:
        """Return the reasons against a mean over seeds and ticks, a phrase for each."""
        found = []
        if self.runs_rejected > 2 * LEVEL or self.not_stationary > 0.5:
            found.append("not stationary")
        if self.unit_root > 0.5:
            found.append("unit root")
        if self.ergodic_rejected > 2 * LEVEL:
            found.append("seeds differ")
        if self.warm_up > 0:
            found.append(f"warm-up {self.warm_up:g}")
        if self.modes_p < LEVEL:
            found.append("several modes")
        return found


def assumptions(series: Reals, statistics: Reals, ticks: Reals) -> Assumptions | None:
    """Test the series of a statistic; None if they are too short or not equally spaced.

    Parameters
    ----------
    series : (seed, tick), after burn-in and filters
    statistics : (seed,) values of the statistic
    ticks : (tick,) their numbers
    """
    try:
        step = spacing(ticks)
    except ConfigError:
        return None
    rows = series[np.isfinite(series).all(1)]
    if not len(rows) or rows.shape[1] < LEAST_TICKS:
        return None
    means = window_means(rows)
    tested = rows[:MOST_RUNS]
    adf, kpss = zip(*(_unit_roots(row) for row in tested), strict=True)
    return Assumptions(
        float(np.mean([runs_test(row) < LEVEL for row in means])),
        _ergodic(means),
        float(np.mean([p >= LEVEL for p in adf])),
        float(np.mean([p < LEVEL for p in kpss])),
        float(np.median([mser5(row) for row in rows])) * step,
        modes_p(statistics[np.isfinite(statistics)]),
    )


def window_means(rows: Reals) -> Reals:
    """Return the means of equal windows: (seed, window)."""
    size = rows.shape[1] // WINDOWS
    used = rows[:, rows.shape[1] - size * WINDOWS :]
    found: Reals = used.reshape(len(rows), WINDOWS, size).mean(2)
    return found


def runs_test(x: Reals) -> float:
    """Return the two-sided p value of Wald and Wolfowitz's test of runs around the median.

    With n values above the median and m others, the number of runs has the mean 2nm / (n + m) + 1
    and the variance (mean - 1)(mean - 2) / (n + m - 1), and is nearly normal.
    """
    from scipy.stats import norm

    above = x > np.median(x)
    n, m = int(above.sum()), int((~above).sum())
    runs = 1 + int((above[1:] != above[:-1]).sum())
    expected = 2 * n * m / (n + m) + 1
    variance = (expected - 1) * (expected - 2) / (n + m - 1)
    return float(2 * norm.sf(abs(runs - expected) / np.sqrt(variance))) if variance > 0 else 1.0


def _ergodic(means: Reals) -> float:
    """Return the share of seeds whose windows differ from the last windows of the other seeds."""
    from scipy.stats import ks_2samp

    if len(means) < 5:
        return np.nan
    last = means[:, -1]
    p = [ks_2samp(row, np.delete(last, k)).pvalue for k, row in enumerate(means)]
    return float(np.mean(np.array(p) < LEVEL))


def _unit_roots(x: Reals) -> tuple[float, float]:
    """Return the p values of ADF (a unit root) and of KPSS (stationarity)."""
    with needing("these tests need", "statsmodels"):
        from statsmodels.tsa.stattools import adfuller, kpss
    if np.ptp(x) <= 1e-12 * max(1.0, float(np.abs(x).max())):
        return 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of p values beyond the table of KPSS
        return float(adfuller(x)[1]), float(kpss(x, nlags="auto")[1])


def mser5(x: Reals) -> int:
    """Return the recorded ticks to leave out at the beginning: White's MSER-5 (1997).

    The number of batches of five ticks to leave out minimizes the squared standard error of the
    mean of the rest: its sum of squared deviations over the square of its length. At most half of
    the series is left out, and nothing of a constant series.
    """
    batches = x[: len(x) // BATCH * BATCH].reshape(-1, BATCH).mean(1)
    if not len(batches) or np.ptp(x) == 0:
        return 0
    half = len(batches) // 2
    errors = [float(np.var(batches[d:]) / len(batches[d:])) for d in range(half + 1)]
    return BATCH * int(np.argmin(errors))


def modes_p(x: Reals, resamples: int = 200, seed: int = 0) -> float:
    """Return the p value of Silverman's test (1981) of one mode against more.

    The smallest bandwidth at which the normal kernel estimate has one mode is compared with those
    of samples from this estimate, rescaled to the variance of the data. NaN for fewer than 10
    values.
    """
    if len(x) < 10:
        return np.nan
    if np.ptp(x) == 0:
        return 1.0
    x = x / x.std()
    width = _critical_width(x)
    random = np.random.default_rng(seed)
    drawn = random.choice(x, (resamples, len(x))) + width * random.normal(size=(resamples, len(x)))
    drawn /= np.sqrt(1 + width**2)
    # A sample needs a wider kernel exactly if with this one it still has several modes.
    return float(np.mean([_modes(row, width) > 1 for row in drawn]))


def _critical_width(x: Reals) -> float:
    low, high = 1e-3, 4.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if _modes(x, middle) <= 1 else (middle, high)
    return high


def _modes(x: Reals, width: float) -> Any:
    grid = np.linspace(x.min() - 3 * width, x.max() + 3 * width, 256)
    density = np.exp(-0.5 * ((grid[:, None] - x) / width) ** 2).sum(1)
    rises = np.diff(density) > 0
    return int((rises[:-1] & ~rises[1:]).sum())
