"""How far is a statistic from its target or its band, in units of its scale?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from societies.study.statistics import Reals

if TYPE_CHECKING:
    from societies.study.target_file import Target


def residuals(targets: Mapping[str, Target], values: Reals) -> Reals:
    """Return the deviations of statistics from their targets, in units of their scales.

    Without a target it is the deviation from the band: 0 inside, negative below.

    Parameters
    ----------
    values : (..., statistic) float64

    Returns
    -------
    (..., statistic) float64; NaN where the statistic is NaN
    """
    found = np.empty_like(values)
    for i, one in enumerate(targets.values()):
        x = values[..., i]
        best = np.clip(x, *ends_of(one)) if one.target is None else one.target
        found[..., i] = (x - best) / scale_of(one)
    return found


def distances(targets: Mapping[str, Target], values: Reals) -> Reals:
    """Return the `residuals` without their signs."""
    return np.abs(residuals(targets, values))


def ends_of(target: Target) -> tuple[float, float]:
    """Return the ends of a band; without one, the target and its scale on either side."""
    if target.band is None:
        if target.target is None:
            return -np.inf, np.inf
        wide = target.scale or 0.0
        return target.target - wide, target.target + wide
    low, high = target.band
    return -np.inf if low is None else low, np.inf if high is None else high


def scale_of(target: Target) -> float:
    """Return the scale: as given, else half the width of the band, else the size of its end."""
    if target.scale is not None:
        return target.scale
    low, high = ends_of(target)
    if np.isfinite(low) and np.isfinite(high) and high > low:
        return (high - low) / 2
    ends = [abs(one) for one in (low, high, target.target or 0.0) if np.isfinite(one) and one]
    return max(ends, default=1.0)
