"""What is the mean over the copies of a run, and how precise is it? Means and bootstrap intervals.

Arrays are NumPy's, with the copies along the first axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import needing

RESAMPLES = 1000
_BYTES_AT_ONCE = 1 << 27
"""Bytes of bootstrapped means that are computed at a time."""

Reals = NDArray[np.float64]


def mean(values: Reals) -> Reals:
    """Return the mean over copies, (...) for (copy, ...), without missing values."""
    present = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        found: Reals = np.where(present, values, 0.0).sum(0) / present.sum(0)
    return found


def ends_of_mean(
    values: Reals,
    level: float,
    resamples: int = RESAMPLES,
    seed: int = 0,
    pasts: NDArray[Any] | None = None,
) -> Reals:
    """Return the bootstrap interval of the mean over copies, (2, ...) for (copy, ...).

    Its ends are percentiles of the means of samples that are drawn from the copies with replacement
    (Efron, 1979). Missing values are left out; with fewer than two copies the ends are NaN.

    Parameters
    ----------
    pasts : (copy,) number of the past of each copy of a fan: copies with the same one are not
        independent, so that samples are drawn from the pasts; default: all copies are independent
    """
    count, shape = len(values), values.shape[1:]
    flat = np.asarray(values, float).reshape(count, -1)
    present: NDArray[Any] = ~np.isnan(flat)
    filled = np.where(present, flat, 0.0)
    if pasts is not None:
        filled, present = (sums_by_past(one, pasts) for one in (filled, present))
        count = len(present)
    everywhere = pasts is None and bool(present.all())
    # weights: how often each copy is in each sample, so one product gives the means of all samples
    drawn = np.random.default_rng(seed).integers(0, count, (resamples, count))
    weights = np.zeros((resamples, count))
    np.add.at(weights, (np.arange(resamples)[:, None], drawn), 1.0)
    ends = np.full((2, flat.shape[1]), np.nan)
    step = max(1, _BYTES_AT_ONCE // (8 * resamples))
    for first in range(0, flat.shape[1] if count > 1 else 0, step):
        part = slice(first, first + step)
        some = np.flatnonzero((present[:, part] > 0).sum(0) > 1)
        percentiles = [(1 - level) / 2, (1 + level) / 2]
        with np.errstate(invalid="ignore", over="ignore"):  # infinite means have no interval
            means = weights @ filled[:, part]
            means = means / (count if everywhere else weights @ present[:, part])
            ends[:, first + some] = np.nanquantile(means[:, some], percentiles, axis=0)
    return ends.reshape(2, *shape)


def sums_by_past(values: NDArray[Any], pasts: NDArray[Any]) -> NDArray[Any]:
    """Return the sums over the copies of each past, (past, ...) for (copy, ...)."""
    numbers, place = np.unique(pasts, return_inverse=True)
    found = np.zeros((len(numbers), *values.shape[1:]))
    np.add.at(found, place.reshape(-1), values)
    return found


def student_half(level: float, freedom: Any, error: Any) -> Any:
    """Return half of the width of Student's interval of a mean with a standard error.

    Raises SocietiesError if SciPy is missing.
    """
    with needing("Student's intervals need", "SciPy"):
        from scipy.stats import t as student
    return student.ppf((1 + level) / 2, freedom) * error


def thinned(ticks: NDArray[Any], values: Reals, most: int) -> tuple[Reals, Reals, int]:
    """Return means over groups of consecutive ticks, so that there are at most ``most`` means.

    Parameters
    ----------
    ticks : (tick,) numbers of the ticks
    values : (..., tick)
    most : largest number of means

    Returns
    -------
    mean numbers of the ticks (mean,), mean values (..., mean), and the number of ticks per group;
    the last group may be smaller
    """
    each = max(1, -(-len(ticks) // most))
    if each == 1:
        return np.asarray(ticks, float), values, 1
    starts = np.arange(0, len(ticks), each)
    present = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        sums = np.add.reduceat(np.where(present, values, 0.0), starts, axis=-1)
        means = sums / np.add.reduceat(present.astype(float), starts, axis=-1)
    counts = np.diff([*starts, len(ticks)])
    return np.add.reduceat(np.asarray(ticks, float), starts) / counts, means, each
