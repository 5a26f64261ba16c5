"""How is a series prepared for a statistic? Logarithms, differences, trends and deviations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations_with_replacement
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from societies.errors import ConfigError
from societies.study.statistics import Reals, deviations, entries_of, spacing

Smoothing = Annotated[float, Field(ge=0, le=1e12)]
FILTERS: dict[str, Callable[..., Reals]] = {}
WINDOW = 5
"""Ticks of the mean of `smooth`, if no other number is given."""


def series_filter(of: Callable[..., Reals]) -> Callable[..., Reals]:
    """Register a filter of (copy, tick) series; a shorter result lacks the first ticks.

    Ticks are the recorded ones; `filtered` requires that they are equally spaced.
    """
    FILTERS[of.__name__] = of
    return of


def filtered(x: Reals, ticks: Reals, name: str, options: Mapping[str, Any]) -> Reals:
    """Return a series after a filter.

    Raises ConfigError if the ticks are not equally spaced (except for `log`), or a window is not an
    odd number of ticks.
    """
    of, own = FILTERS[name], dict(options)
    if of is not log:
        try:
            step = spacing(ticks)
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
        if of is smooth:
            own["window"] = entries_of("smooth: window", own.get("window", WINDOW), ticks)
            if not own["window"] % 2:
                every = "number" if step == 1 else f"multiple of {step}"
                raise ConfigError(f"smooth: window: take an odd {every}, so that it has a middle")
    with np.errstate(all="ignore"):
        if of not in WHOLE:
            return of(x, **own)
        found, whole = np.full_like(x, np.nan), np.isfinite(x).all(1)
        if x.shape[1]:
            found[whole] = of(x[whole], **own)
        return found


@series_filter
def log(x: Reals) -> Reals:
    """Natural logarithm."""
    return np.log(x)


@series_filter
def difference(x: Reals) -> Reals:
    """Change from one recorded tick to the next."""
    return np.diff(x)


@series_filter
def relative_change(x: Reals) -> Reals:
    """Change from one recorded tick to the next, divided by the earlier value (by 1 if it is 0)."""
    return np.diff(x) / np.where(x[..., :-1] == 0, 1.0, x[..., :-1])


@series_filter
def detrend(x: Reals) -> Reals:
    """Deviation from the least-squares line."""
    t, far = np.arange(x.shape[1]) - (x.shape[1] - 1) / 2, deviations(x)
    slope = (far * t).sum(1, keepdims=True) / max((t**2).sum(), 0.5)  # of two ticks
    found: Reals = far - slope * t
    return found


@series_filter
def smooth(x: Reals, *, window: Annotated[int, Field(gt=0)] = WINDOW) -> Reals:
    """Centred mean of an odd number of ticks; values at the ends are not changed."""
    half, found = window // 2, x.copy()
    if x.shape[1] < window:
        return np.full_like(x, np.nan)
    if half:
        found[..., half:-half] = np.lib.stride_tricks.sliding_window_view(x, window, 1).mean(2)
    return found


def _trend_of(x: Reals, smoothing: float) -> Reals:
    """Solve (1 + smoothing K'K) trend = x for second differences K (Hodrick and Prescott, 1997)."""
    from scipy.linalg import solveh_banded

    n = x.shape[1]
    second = (1, -2, 1)
    band = np.zeros((len(second), n))
    band[0] = 1
    for i, j in combinations_with_replacement(range(len(second)), 2):
        band[j - i, i : n - 2 + i] += smoothing * second[i] * second[j]
    found: Reals = solveh_banded(band, x.T, lower=True).T
    return found


@series_filter
def hp_cycle(x: Reals, *, smoothing: Smoothing = 1600) -> Reals:
    """Deviation from the trend of Hodrick and Prescott."""
    return x - _trend_of(x, smoothing)


@series_filter
def hp_trend(x: Reals, *, smoothing: Smoothing = 1600) -> Reals:
    """Trend of Hodrick and Prescott."""
    return _trend_of(x, smoothing)


WHOLE = (detrend, hp_cycle, hp_trend)
"""Filters of which every value depends on the whole series: a copy that lacks a tick has none."""
