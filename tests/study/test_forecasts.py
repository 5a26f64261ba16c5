"""Are the errors of forecasts those of their definitions, at every horizon and for short series?"""

import numpy as np
import pytest
import scipy.stats

from societies.errors import ConfigError
from societies.study.forecasts import HORIZONS, ar_forecast, diebold_mariano, forecasts

RANDOM = np.random.default_rng(3)
DATA = RANDOM.normal(size=60).cumsum()
MODEL = DATA + RANDOM.normal(size=60)


def ar_by_hand(x, horizon):
    """Return the forecast of the order from 1 to 4 with the least AIC, from normal equations."""
    n = len(x)
    most = max(p for p in range(5) if 3 * p <= n - 2)
    best, chosen = None, [sum(x) / n]
    for p in range(1, most + 1):
        rows = np.array([[1, *(x[t - k] for k in range(1, p + 1))] for t in range(most, n)])
        fit = np.linalg.pinv(rows) @ x[most:]
        errors = [x[t] - rows[t - most] @ fit for t in range(most, n)]
        aic = (n - most) * np.log(sum(e * e for e in errors) / (n - most)) + 2 * (p + 1)
        if best is None or aic < best:
            best, chosen = aic, fit
    path = list(x)
    for _ in range(horizon):
        path.append(chosen[0] + sum(c * path[-k] for k, c in enumerate(chosen[1:], 1)))
    return path[-1] if len(chosen) > 1 else chosen[0]


def test_errors_at_each_horizon_are_those_of_the_second_half():
    found = forecasts(MODEL, DATA, np.arange(5.0, 125.0, 2))
    assert [one.horizon for one in found] == [2 * h for h in HORIZONS] == [2, 4, 8, 16, 24]
    for one, h in zip(found, HORIZONS, strict=True):
        half = range(30, 60)
        own = np.array([DATA[t] - MODEL[t] for t in half])
        walk = np.array([DATA[t] - DATA[t - h] for t in half])
        ar = np.array([DATA[t] - ar_by_hand(DATA[: t - h + 1], h) for t in half])
        errors = [np.sqrt((e**2).sum() / 30) for e in (own, ar, walk)]
        assert [one.model, one.ar, one.walk] == pytest.approx(errors, rel=1e-8)
        ps = [diebold_mariano(own, ar, h), diebold_mariano(own, walk, h)]
        assert [one.ar_p, one.walk_p] == pytest.approx(ps, rel=1e-6)


@pytest.mark.parametrize(
    "n, expected", [(21, []), (22, [1]), (24, [1, 2]), (43, [1, 2, 4, 8]), (44, [1, 2, 4, 8, 12])]
)
def test_a_horizon_needs_ten_ticks_more_than_itself_in_half_of_the_data(n, expected):
    found = forecasts(MODEL[:n], DATA[:n], np.arange(float(n)))
    assert [one.horizon for one in found] == expected


def test_unequal_ticks_are_refused():
    with pytest.raises(ConfigError, match="equally spaced ticks, but they are 1 to 2 apart"):
        forecasts(MODEL[:4], DATA[:4], np.array([1.0, 2, 4, 5]))


@pytest.mark.parametrize("n", [2, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 33])
@pytest.mark.parametrize("horizon", [1, 2, 5])
def test_an_autoregression_of_few_ticks(n, horizon):
    for seed in range(4):
        x = np.random.default_rng([seed, n]).normal(1, 1, n)
        assert ar_forecast(x, horizon) == pytest.approx(ar_by_hand(x, horizon), rel=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_an_autoregression_continues_an_exact_recurrence(order):
    """Errors of 1e-15 still count in AIC: no other order continues it."""
    weights = [[0.5], [1.2, -0.9], [0.3, 0.4, -0.8], [0.2, -0.3, 0.1, 0.9]][order - 1]
    path = [*RANDOM.normal(size=order)]
    while len(path) < 30:
        path.append(0.7 + sum(w * path[-k] for k, w in enumerate(weights, 1)))
    x = np.array(path)
    for h in (1, 3):
        assert ar_forecast(x[: 30 - h], h) == pytest.approx(x[-1], rel=1e-6)


def test_a_series_of_nothing_stays_nothing():
    assert ar_forecast(np.zeros(20), 3) == 0.0


def test_errors_whose_long_run_variance_is_no_number_above_0():
    """Covariances of a swing cancel: the variance alone is taken; of equal differences there is
    none, and nothing tells the forecasts apart."""
    a = np.sqrt(np.array([2.0, 0, 2, 0, 2, 1]))
    b = np.sqrt(np.array([0.0, 1, 0, 1, 0, 1]))
    d = a**2 - b**2
    m, far = d.mean(), d - d.mean()
    covariances = [far @ far / 6, far[1:] @ far[:-1] / 6]
    assert covariances[0] + 2 * covariances[1] < 0
    value = m / np.sqrt(covariances[0] / 6) * np.sqrt((6 + 1 - 4 + 2 / 6) / 6)
    expected = 2 * scipy.stats.t.sf(abs(value), 5)
    assert diebold_mariano(a, b, 2) == pytest.approx(expected)
    assert diebold_mariano(np.full(6, 2.0), np.full(6, 1.0), 2) == 1.0
    assert diebold_mariano(1e3 * a, 1e3 * b, 2) == pytest.approx(expected)  # without a unit
    assert diebold_mariano(1e-3 * a, 1e-3 * b, 2) == pytest.approx(expected)


@pytest.mark.parametrize("horizon", [1, 2, 3, 5])
def test_the_p_value_of_equal_errors_is_that_of_its_formula(horizon):
    for size, n in ((1e-3, 40), (1.0, 25), (1e3, 12)):
        a, b = size * np.random.default_rng(n).normal(size=(2, n))
        d = [x * x - y * y for x, y in zip(a, b, strict=True)]
        m = sum(d) / n
        gammas = [sum((d[t] - m) * (d[t - k] - m) for t in range(k, n)) / n for k in range(horizon)]
        long_run = gammas[0] + 2 * sum(gammas[1:])
        assert long_run > 0
        value = m / np.sqrt(long_run / n)
        value *= np.sqrt((n + 1 - 2 * horizon + horizon * (horizon - 1) / n) / n)
        expected = 2 * scipy.stats.t.sf(abs(value), n - 1)
        assert diebold_mariano(a, b, horizon) == pytest.approx(expected)


def test_covariances_that_cancel_leave_the_variance():
    """Differences 3, 1, 2, 2 without a rounding: their long-run variance at horizon 2 is 0."""
    a, b = np.array([2.0, 1.0, 1.5, 1.5]), np.array([1.0, 0.0, 0.5, 0.5])
    value = 2.0 / np.sqrt(0.5 / 4) * np.sqrt((4 + 1 - 4 + 2 / 4) / 4)
    assert diebold_mariano(a, b, 2) == pytest.approx(2 * scipy.stats.t.sf(value, 3))
