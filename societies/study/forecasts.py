"""Does the model forecast a series better than an autoregression or a random walk?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from societies.study.statistics import Reals, spacing

HORIZONS = (1, 2, 4, 8, 12)
MOST_LAGS = 4
"""Largest order of the autoregression, which AIC chooses."""


@dataclass(frozen=True)
class Forecast:
    """Errors at one horizon.

    Attributes
    ----------
    horizon : ticks ahead
    model, ar, walk : root mean squared errors, in the unit of the series
    ar_p, walk_p : two-sided p values of equal errors of the model and of the other forecast
    """

    horizon: int
    model: float
    ar: float
    walk: float
    ar_p: float
    walk_p: float


def forecasts(model: Reals, data: Reals, at: Reals) -> list[Forecast]:
    """Return forecast errors of a model's mean path, of an AR and of a random walk, by horizon.

    The second half of the data is forecast. The model's forecast of a tick is its mean path; the
    others are fitted to the data up to ``horizon`` ticks before it.

    Raises ConfigError if the ticks are not equally spaced.

    Parameters
    ----------
    model : (tick,) mean over the seeds
    data : (tick,) observations of the same ticks
    at : (tick,) numbers of the ticks
    """
    n, found, step = len(data), [], spacing(at)
    for h in HORIZONS:
        if n // 2 < 10 + h:
            continue
        ticks = np.arange(n // 2, n)
        walk = data[ticks] - data[ticks - h]
        ar = np.array([data[t] - ar_forecast(data[: t - h + 1], h) for t in ticks])
        own = data[ticks] - model[ticks]
        model_error, ar_error, walk_error = (
            float(np.sqrt(np.mean(one**2))) for one in (own, ar, walk)
        )
        p_values = diebold_mariano(own, ar, h), diebold_mariano(own, walk, h)
        found.append(Forecast(h * step, model_error, ar_error, walk_error, *p_values))
    return found


def ar_forecast(x: Reals, horizon: int) -> float:
    """Return the forecast of a least-squares autoregression with a constant, its order by AIC."""
    most = min(MOST_LAGS, (len(x) - 2) // 3)
    best, chosen = np.inf, np.array([float(x.mean())])
    for p in range(1, most + 1):
        y = x[most:]
        lags = np.column_stack([np.ones(len(y)), *(x[most - k : -k] for k in range(1, p + 1))])
        fitted = np.linalg.lstsq(lags, y, rcond=None)[0]
        variance = float(np.mean((y - lags @ fitted) ** 2))
        aic = len(y) * np.log(max(variance, 1e-300)) + 2 * p
        if aic < best:
            best, chosen = aic, fitted
    path = list(x[::-1])
    for _ in range(horizon):
        path.insert(0, float(chosen[0] + np.dot(chosen[1:], path[: len(chosen) - 1])))
    return float(path[0])


def diebold_mariano(a: Reals, b: Reals, horizon: int) -> float:
    """Return the p value of equal squared errors of two forecasts (Diebold and Mariano, 1995).

    It uses the correction of Harvey, Leybourne and Newbold (1997) for small samples and Student's
    t distribution.
    """
    from scipy.stats import t as student

    d = a**2 - b**2
    n, far = len(d), d - d.mean()
    covariances = [float(far[k:] @ far[: n - k]) / n for k in range(horizon)]
    variance = (covariances[0] + 2 * sum(covariances[1:])) / n
    if variance <= 0:
        variance = covariances[0] / n
    if variance <= 0:
        return 1.0
    correction = (n + 1 - 2 * horizon + horizon * (horizon - 1) / n) / n
    value = float(d.mean()) / np.sqrt(variance) * np.sqrt(correction)
    return float(2 * student.sf(abs(value), n - 1))
