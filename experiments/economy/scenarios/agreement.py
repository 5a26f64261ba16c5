"""Does an ensemble agree with a recorded one, given the standard deviations of both?

The rule of docs/model.md, "Comparing with a baseline": on each of a few days the means over
societies may differ by three standard errors, computed with the larger of the two standard
deviations; two comparisons in a hundred may miss, but no series on two of the days in a row.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import floor, log10, sqrt

import numpy as np

DAYS = (1, 25, 50, 100, 150, 200, 300, 500)
ALLOWED_MISSES = 0.02

RECORDED_DIGITS = 5
"""Least number of significant digits of a society's numbers in a baseline; means have six."""


@dataclass(frozen=True)
class Comparison:
    """One series on one day: our mean, the baseline's, and the allowed difference.

    Attributes
    ----------
    series : str
    day : int
    ours, baseline : float, means over societies, in the unit of the series
    allowed : float, largest difference allowed
    rounding : float, rounding error of the baseline's printed digits; see `left_open`
    """

    series: str
    day: int
    ours: float
    baseline: float
    allowed: float
    rounding: float

    @property
    def agrees(self):
        """True if the two means are close enough."""
        return abs(self.ours - self.baseline) <= self.allowed + self.rounding


def compare_series(series, ours, days, baseline, seeds):
    """Compare one series of an ensemble with a recorded one.

    Parameters
    ----------
    series : str, only a label
    ours : (society, day) float, one column for each of ``days``
    days : the days to compare
    baseline : by day, ``{"mean": ..., "sd": ...}`` over the recorded societies
    seeds : number of recorded societies

    Returns
    -------
    list of Comparison, one for each day
    """
    values = np.asarray(ours, dtype=np.float64)
    result = []
    for column, day in enumerate(days):
        sample = values[:, column]
        spread = max(float(sample.std(ddof=1)), baseline[day]["sd"])
        error = sqrt(spread**2 / len(sample) + spread**2 / seeds)
        mean = baseline[day]["mean"]
        result.append(
            Comparison(
                series=series,
                day=day,
                ours=float(sample.mean()),
                baseline=mean,
                allowed=3.0 * error,
                rounding=left_open(mean),
            )
        )
    return result


def left_open(recorded):
    """Return the largest rounding error of a recorded number: half a unit of its last digit.

    At least 1e-12, because numbers that should be 0 have rounding noise: the Gini coefficient of
    equal utilities is recorded as -2e-16.
    """
    if recorded == 0.0:
        return 1e-12
    unit = 10.0 ** (floor(log10(abs(recorded))) + 1 - RECORDED_DIGITS)
    return 0.5 * unit + 1e-12


def misses(comparisons):
    """Return the comparisons that fail."""
    return [comparison for comparison in comparisons if not comparison.agrees]


def acceptable(comparisons):
    """Return True if no more comparisons fail than chance explains.

    Two in a hundred may fail, and one in any case (for tables below a hundred); but not the same
    series on two compared days in a row.
    """
    missed = misses(comparisons)
    in_a_row = any(
        a.series == b.series and not a.agrees and not b.agrees for a, b in pairwise(comparisons)
    )
    return not in_a_row and len(missed) <= max(1, int(ALLOWED_MISSES * len(comparisons)))
