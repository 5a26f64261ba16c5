"""Has every statistic the value that its definition, or another library, gives?"""

import inspect

import numpy as np
import pytest
import scipy.signal
import scipy.stats
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from societies.errors import ConfigError
from societies.study import assumptions, filters, forecasts, statistics
from societies.study.expressions import parsed, quantity
from societies.study.filters import FILTERS, filtered
from societies.study.statistics import STATISTICS, options_of, statistic_named


def autocorrelation(row, lag):
    """Return the autocorrelation that statsmodels finds.

    The library takes seconds to import, also in processes that have other tests.
    """
    from statsmodels.tsa.stattools import acf

    return acf(row, nlags=lag)[lag]


RANDOM = np.random.default_rng(7)
X = RANDOM.lognormal(0.3, 0.6, (3, 80))
Y = 0.4 * X + RANDOM.normal(size=X.shape)
TICKS = np.arange(11.0, 91.0)


def of(name, x=X, sample=False, ticks=TICKS, other=None, data=None, **options):
    inputs = {"ticks": ticks, "other": other, "data": data}
    return statistic_named(name)(np.atleast_2d(x), sample, options, **inputs)


def each(function, *rows):
    return [function(*row) for row in zip(*rows, strict=True)]


LIBRARY = {
    "mean": lambda x: np.mean(x),
    "sd": lambda x: np.std(x),
    "variation": lambda x: scipy.stats.variation(x),
    "minimum": min,
    "maximum": max,
    "last": lambda x: x[-1],
    "skewness": lambda x: scipy.stats.skew(x),
    "kurtosis": lambda x: scipy.stats.kurtosis(x),
    "trend": lambda x: scipy.stats.linregress(TICKS, x).slope,
    "growth": lambda x: (x[-1] / x[0]) ** (1 / 79) - 1,
    "total_growth": lambda x: x[-1] / x[0] - 1,
    "autocorrelation": lambda x: autocorrelation(x, 1),
    "peak_tick": lambda x: TICKS[list(x).index(max(x))],
    "trough_tick": lambda x: TICKS[list(x).index(min(x))],
    "hhi": lambda x: sum((v / sum(x)) ** 2 for v in x),
    "top_share": lambda x: sum(sorted(x)[-8:]) / sum(x),
    "gini": lambda x: abs(x[:, None] - x).mean() / 2 / x.mean(),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_a_statistic_is_that_of_the_library_or_of_the_formula(name):
    np.testing.assert_allclose(of(name), each(LIBRARY[name], X), rtol=1e-10)


def test_statistics_with_options():
    np.testing.assert_allclose(of("quantile", q=0.3), np.quantile(X, 0.3, axis=1))
    expected = [np.mean((x >= 0.5) & (x <= 1.5)) for x in X]
    np.testing.assert_allclose(of("share", above=0.5, below=1.5), expected)
    expected = each(lambda x: autocorrelation(x, 4), X)
    np.testing.assert_allclose(of("autocorrelation", lag=4), expected)


@pytest.mark.parametrize("lag", [-3, 0, 2])
def test_correlation_at_a_lag_pairs_x_with_the_other_later(lag):
    first, n = max(0, -lag), 80 - abs(lag)
    exact = [
        scipy.stats.pearsonr(x[first : first + n], y[first + lag : first + lag + n])[0]
        for x, y in zip(X, Y, strict=True)
    ]
    np.testing.assert_allclose(of("correlation", other=Y, lag=lag), exact)


def test_correlation_without_outliers_leaves_out_the_pair():
    x, y = np.arange(40.0), np.arange(40.0)
    y[7] = 1e6
    assert of("correlation", x, other=y[None])[0] < 0.5
    assert of("correlation", x, other=y[None], outliers=1.5)[0] == pytest.approx(1.0)


def test_distances_to_a_column_of_data():
    data = RANDOM.normal(1, 1, 50)
    exact = each(lambda x: scipy.stats.ks_2samp(x, data).statistic, X)
    np.testing.assert_allclose(of("kolmogorov_smirnov", data=data), exact)
    exact = each(lambda x: scipy.stats.wasserstein_distance(x, data), X)
    np.testing.assert_allclose(of("wasserstein", data=data), exact)
    np.testing.assert_allclose(of("rmse", data=X[0]), np.sqrt(np.mean((X - X[0]) ** 2, axis=1)))
    with pytest.raises(ConfigError, match="has 80 ticks, the data 50 values"):
        of("rmse", data=data)


def test_hill_finds_the_exponent_of_a_pareto_tail():
    tail = (1 - RANDOM.random(200_000)) ** (-1 / 1.7)
    assert of("tail_exponent", tail, top=0.05)[0] == pytest.approx(1.7, rel=0.03)
    k, ordered = 8, np.sort(X[0])[::-1]
    by_hand = 1 / np.mean(np.log(ordered[:k] / ordered[k]))
    assert of("tail_exponent", X[0])[0] == pytest.approx(by_hand)


def test_events_in_time():
    x = np.array([[0, 1, 5, 9, 6, 4, 5, 1], [3, 3, 3, 3, 3, 3, 3, 3.0]])
    ticks = np.arange(10.0, 18.0)
    np.testing.assert_array_equal(of("first", x, ticks=ticks, above=5), [12, np.nan])
    np.testing.assert_array_equal(of("first", x, ticks=ticks, below=3), [10, 10])
    np.testing.assert_array_equal(of("half_life", x, ticks=ticks), [2, np.nan])


def test_a_missing_tick_fails_the_copy_and_a_missing_agent_is_left_out():
    x = X.copy()
    x[1, 5] = np.nan
    assert np.isnan(of("mean", x)).tolist() == [False, True, False]
    found = of("mean", x, sample=True)
    assert found[1] == pytest.approx(np.nanmean(x[1]))
    assert np.isnan(of("variation", np.zeros((1, 4)))).all()  # 0 / 0 is no number
    assert np.isnan(of("mean", np.empty((2, 0)))).all()


REALS = arrays.arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(8, 30)),
                      elements=st.floats(0.125, 1000, width=32))  # fmt: skip
UNIT = {"same": 3.0, "1": 1.0, "clock": 1.0, "1/clock": 1.0, "same/clock": 3.0}
SHARED = [n for n, one in STATISTICS.items() if one.takes in ((), ("ticks",)) and n != "quantile"]


@pytest.mark.parametrize("name", SHARED)
@settings(max_examples=15, deadline=None)
@given(x=REALS)
def test_a_statistic_has_the_unit_that_it_says(name, x):
    """Three times the values are three times the statistic, or the same one."""
    ticks = np.arange(x.shape[1], dtype=float)
    one, three = of(name, x, ticks=ticks), of(name, 4 * x, ticks=ticks)
    factor = {3.0: 4.0, 1.0: 1.0}[UNIT[statistic_named(name).unit]]
    if np.ptp(x, axis=1).min() > 1e-3:  # moments of equal values are noise
        np.testing.assert_allclose(three, factor * one, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", SHARED)
@settings(max_examples=10, deadline=None)
@given(x=REALS)
def test_copies_do_not_see_each_other(name, x):
    ticks = np.arange(x.shape[1], dtype=float)
    together = of(name, x, ticks=ticks)
    alone = np.concatenate([of(name, row, ticks=ticks) for row in x])
    np.testing.assert_allclose(together, alone, rtol=1e-9)


# ----------------------------------------------------------------------------------------- filters


def test_filters_are_those_of_the_libraries():
    from statsmodels.tsa.filters import hp_filter as hp

    for row in X:
        cycle, trend = hp.hpfilter(row, 1600)
        np.testing.assert_allclose(FILTERS["hp_cycle"](row[None])[0], cycle, atol=1e-8)
        np.testing.assert_allclose(FILTERS["hp_trend"](row[None])[0], trend, atol=1e-8)
        np.testing.assert_allclose(FILTERS["detrend"](row[None])[0], scipy.signal.detrend(row))
        smoothed = FILTERS["smooth"](row[None], window=5)[0]
        np.testing.assert_allclose(smoothed[2:-2], np.convolve(row, np.ones(5) / 5, "valid"))
        np.testing.assert_array_equal(smoothed[[0, 1, -2, -1]], row[[0, 1, -2, -1]])
    np.testing.assert_allclose(FILTERS["log"](X), np.log(X))
    np.testing.assert_allclose(FILTERS["difference"](X), np.diff(X))
    np.testing.assert_allclose(FILTERS["relative_change"](X), X[:, 1:] / X[:, :-1] - 1)
    assert FILTERS["relative_change"](np.array([[0.0, 3.0, 6.0]])).tolist() == [[3.0, 1.0]]


def test_every_option_of_the_vocabulary_is_a_keyword():
    for one in STATISTICS.values():
        assert {*one.takes} <= {"ticks", "other", "data"}
        assert set(inspect.signature(one.of).parameters) == {
            "x",
            *one.takes,
            *options_of(one.given),
        }


# ----------------------------------------------------------------------------- functions of others


def spread(x, ticks, *, times=1.0):
    """Return the range of one copy."""
    return times * (x.max() - x.min()) + 0 * ticks[0]


spread.unit = "same"


class Entry:
    name = "spread"

    def load(self):
        return spread


def test_a_statistic_of_another_package(monkeypatch):
    monkeypatch.setattr(statistics, "entry_points", lambda group: [Entry()])
    statistic_named.cache_clear()
    np.testing.assert_allclose(of("spread", times=2.0), 2 * np.ptp(X, axis=1))
    assert statistic_named("spread").unit_of("units", "day") == "units"
    statistic_named.cache_clear()


def test_an_unknown_statistic_names_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown statistic 'skewnes'; did you mean 'skewness'?"):
        statistic_named("skewnes")


# ------------------------------------------------------------------------------------- expressions


def test_expressions_of_variables_and_their_units():
    data = xr.Dataset(
        {
            "rate": ("day", [3.0, 4.0], {"units": "1/day"}),
            "inflation": ("day", [1.0, 1.0], {"units": "1/day"}),
            "wage": ("day", [2, 8], {"units": "coins"}),
        }
    )
    for text, values, unit in (
        ("rate - inflation", [2, 3], "1/day"),
        ("-(rate + 2 * inflation) / rate", [-5 / 3, -1.5], "1"),
        ("wage / 4", [0.5, 2], "coins"),
        ("wage * rate", [6, 32], "coins * 1/day"),
    ):
        found, its = quantity(text, data)
        np.testing.assert_allclose(found, values)
        assert its == unit, text
    with pytest.raises(ConfigError, match="no variable 'wages'; did you mean 'wage'"):
        quantity("wages", data)


LONG = "9" * 400


@pytest.mark.parametrize(
    "text", [f"x / {LONG}", f"x * (3 * {LONG})", "x * (1 / 0)", "x / 1_0", "x * 1e999"]
)
def test_an_expression_has_decimal_and_finite_numbers(text):
    data = xr.Dataset({"x": ("day", [3.0, 4.0])})
    with pytest.raises(ConfigError, match="'x"):
        quantity(text, data)


@pytest.mark.parametrize("text", ["__import__('os')", "a.b", "a[0]", "a ** 2", "a if b else c", ""])
def test_an_expression_has_only_variables_numbers_and_four_signs(text):
    with pytest.raises(ConfigError):
        parsed(text)


# ------------------------------------------------------------------------------------- assumptions


def test_the_runs_test_is_that_of_statsmodels():
    from statsmodels.sandbox.stats.runs import runstest_1samp

    for row in RANDOM.normal(size=(5, 30)):
        p = runstest_1samp(row, cutoff="median", correction=False)[1]
        assert assumptions.runs_test(row) == pytest.approx(p)


def test_white_noise_is_stationary_and_a_walk_is_not():
    random = np.random.default_rng(1)
    noise = random.normal(size=(20, 200))
    good = assumptions.assumptions(noise, noise.mean(1), np.arange(noise.shape[1]))
    assert good.runs_rejected <= 0.15 and good.unit_root == 0 and good.not_stationary <= 0.2
    walk = noise.cumsum(1)
    bad = assumptions.assumptions(walk, walk.mean(1), np.arange(walk.shape[1]))
    assert {"not stationary", "unit root", "seeds differ"} <= set(bad.problems)
    assert assumptions.assumptions(noise[:, :50], noise.mean(1), np.arange(50)) is None


def test_the_warm_up_ends_where_the_level_is_reached():
    random = np.random.default_rng(2)
    x = random.normal(size=400) + np.where(np.arange(400) < 60, 20 - np.arange(400) / 3, 0)
    assert 50 <= assumptions.mser5(x) <= 65
    assert assumptions.mser5(random.normal(size=400)) <= 100


def test_two_heaps_have_several_modes():
    random = np.random.default_rng(3)
    one = random.normal(size=60)
    assert assumptions.modes_p(one) > 0.05
    assert assumptions.modes_p(np.concatenate([one, one + 9])) < 0.05


# --------------------------------------------------------------------------------------- forecasts


def test_a_model_that_knows_the_series_beats_a_walk():
    random = np.random.default_rng(4)
    path = np.sin(np.arange(120) / 6)
    found = forecasts.forecasts(path, path + 0.1 * random.normal(size=120), np.arange(120))
    assert [one.horizon for one in found] == [1, 2, 4, 8, 12]
    assert all(one.model < one.walk and one.walk_p < 0.05 for one in found[1:])


def test_an_autoregression_finds_its_coefficients():
    random = np.random.default_rng(5)
    x = np.zeros(3000)
    for t in range(1, len(x)):
        x[t] = 2 + 0.6 * x[t - 1] + random.normal()
    assert forecasts.ar_forecast(x, 1) == pytest.approx(2 + 0.6 * x[-1], abs=0.25)
    assert forecasts.ar_forecast(x, 200) == pytest.approx(5, abs=0.3)


def test_diebold_mariano_by_hand():
    a, b = np.array([1.0, 2, 1, 3, 2, 2]), np.array([1.0, 1, 2, 2, 3, 1])
    d = a**2 - b**2
    value = d.mean() / np.sqrt(d.var() / 6) * np.sqrt((6 + 1 - 2) / 6)
    expected = 2 * scipy.stats.t.sf(abs(value), 5)
    assert forecasts.diebold_mariano(a, b, 1) == pytest.approx(expected)
    assert forecasts.diebold_mariano(a, a, 3) == 1.0


def test_a_sample_with_an_infinite_value_has_no_statistic():
    """It is not a removed agent, whose value is missing."""
    x = [[1.0, 2.0, np.nan], [1.0, 2.0, np.inf], [1.0, -np.inf, np.nan]]
    for name in ("mean", "gini", "minimum", "top_share"):
        found = of(name, x, sample=True)
        assert np.isfinite(found[0]) and np.isnan(found[1:]).all()


def test_an_option_is_a_number():
    with pytest.raises(ConfigError, match="share: option 'above' expected a number, got nan"):
        statistics.checked_options("share", {"above": np.nan}, statistic_named("share").given)


# ------------------------------------------------------------------------------------- at the ends

EQUAL = {
    **{"mean": 1, "minimum": 1, "maximum": 1, "last": 1, "quantile": 1},  # times the value
    **dict.fromkeys(("sd", "variation", "trend", "growth", "total_growth", "gini"), 0),
    **dict.fromkeys(("kolmogorov_smirnov", "wasserstein", "rmse"), 0),
    **dict.fromkeys(("skewness", "kurtosis", "autocorrelation", "correlation"), np.nan),
    **dict.fromkeys(("half_life", "tail_exponent"), np.nan),
}


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7.7, 1e-5, 123456.789])
@pytest.mark.parametrize("name", EQUAL)
def test_equal_values_have_no_moments_that_are_rounding_errors(name, value):
    options = {"q": 0.3} if name == "quantile" else {}
    for n in (2, 3, 7, 10, 20, 99):
        x = np.full((2, n), value)
        found = of(name, x, ticks=np.arange(float(n)), other=x, data=x[0], **options)
        factor = value if EQUAL[name] == 1 else 1
        np.testing.assert_array_equal(found, EQUAL[name] * factor, err_msg=f"{n} values")


@settings(max_examples=40, deadline=None)
@given(x=REALS)
def test_shares_and_correlations_stay_in_their_ranges(x):
    correlations = of("correlation", x, ticks=np.arange(float(x.shape[1])), other=3 * x)
    assert (np.isnan(correlations) | (correlations <= 1)).all()
    assert (of("top_share", x, top=1.0) == 1).all()
    correlations = of("correlation", x, ticks=np.arange(float(x.shape[1])), other=-3 * x)
    assert (np.isnan(correlations) | (correlations >= -1)).all()
    for name in ("gini", "hhi", "top_share"):
        found = of(name, x)
        assert ((found >= 0) & (found <= 1)).all(), name


def test_the_tail_has_the_whole_number_of_values_that_the_part_says():
    x = np.arange(1.0, 101)
    ordered = x[::-1]  # 0.29 * 100 is 28.999999999999996
    by_hand = 1 / np.mean(np.log(ordered[:29] / ordered[29]))
    assert of("tail_exponent", x, top=0.29)[0] == pytest.approx(by_hand)
    assert np.isnan(of("tail_exponent", -x)[0])  # a tail of negative values has no exponent
    assert np.isnan(of("tail_exponent", x - 95)[0])


def test_a_sample_pairs_those_that_have_both_values():
    x, y = X.copy(), Y.copy()
    x[0, 3], y[0, 9], y[1, 5] = np.nan, np.nan, np.inf
    finite = np.isfinite(x[0]) & np.isfinite(y[0])
    found = of("correlation", x, sample=True, other=y)
    assert found[0] == pytest.approx(np.corrcoef(x[0][finite], y[0][finite])[0, 1])
    assert np.isnan(found[1]) and np.isfinite(found[2])


def test_a_function_of_another_package_gets_the_entries_that_a_sample_has(monkeypatch):
    monkeypatch.setattr(statistics, "entry_points", lambda group: [Whole()])
    statistic_named.cache_clear()
    x = X.copy()
    x[1, 5] = np.nan
    np.testing.assert_array_equal(of("counted", x, sample=True), [80, 79, 80])
    statistic_named.cache_clear()


def counted(x, ticks):
    """Return the number of entries."""
    assert x.shape == ticks.shape
    return len(x)


class Whole:
    name = "counted"

    def load(self):
        return counted


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_of_one_copy_does_not_see_what_another_lacks(name):
    whole = filtered(X, TICKS, name, {})
    for hole in (np.nan, np.inf, -np.inf):
        x = X.copy()
        x[1, 5] = hole
        found = filtered(x, TICKS, name, {})
        np.testing.assert_array_equal(found[[0, 2]], whole[[0, 2]])
        assert not np.isfinite(found[1]).all()
    for n in range(5):
        few = filtered(X[:, :n], TICKS[:n], name, {})
        assert few.shape[0] == 3 and few.shape[1] in (n, n - 1, 0)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7.7])
def test_a_constant_series_needs_no_warm_up(value):
    assert {assumptions.mser5(np.full(n, value)) for n in (0, 4, 100, 101, 150, 333)} == {0}


def test_mser5_by_hand():
    x = RANDOM.normal(size=(5, 123)).cumsum(1)
    for row in x:
        batches = [row[i : i + 5].mean() for i in range(0, 120, 5)]
        errors = [np.var(batches[d:]) / (24 - d) for d in range(13)]
        assert assumptions.mser5(row) == 5 * errors.index(min(errors))


def test_an_autoregression_is_that_of_statsmodels():
    from statsmodels.tsa.ar_model import AutoReg

    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=60).cumsum() * 0.3 + seed
        fits = [AutoReg(x, p, hold_back=4).fit() for p in range(1, 5)]
        n = 56
        best = min(fits, key=lambda one: n * np.log(np.mean(one.resid**2)) + 2 * len(one.params))
        for horizon in (1, 3, 12):
            expected = best.forecast(horizon)[-1]
            assert forecasts.ar_forecast(x, horizon) == pytest.approx(expected)


@pytest.mark.parametrize("horizon", [1, 2, 4, 8, 12])
def test_diebold_and_mariano_at_every_horizon(horizon):
    """As written down by Harvey, Leybourne and Newbold (1997), with sums instead of products."""
    random = np.random.default_rng(horizon)
    a, b = random.normal(size=40), 1.3 * random.normal(size=40)
    d, n = a**2 - b**2, 40
    m = d.mean()
    gamma = [sum((d[t] - m) * (d[t - k] - m) for t in range(k, n)) / n for k in range(horizon)]
    variance = (gamma[0] + 2 * sum(gamma[1:])) / n
    variance = variance if variance > 0 else gamma[0] / n
    factor = (n + 1 - 2 * horizon + horizon * (horizon - 1) / n) / n
    expected = 2 * scipy.stats.t.sf(abs(m / np.sqrt(variance) * np.sqrt(factor)), n - 1)
    assert forecasts.diebold_mariano(a, b, horizon) == pytest.approx(expected)


# ------------------------------------------------------------------------- by hand, at the ends

NONE = np.nan


@pytest.mark.parametrize(
    ("name", "x", "options", "expected"),
    [
        ("share", [1, 2, 3, 4], {"above": 2, "below": 3}, 0.5),
        ("share", [1, 2, 3, 4], {}, 1),
        ("last", [1, 2, 5], {}, 5),
        ("growth", [2], {}, NONE),
        ("growth", [2, 3], {}, 0.5),
        ("total_growth", [2, 9, 3], {}, 0.5),
        ("autocorrelation", [1, 2, 4], {"lag": 0}, 1),
        ("autocorrelation", [1, 2, 6], {"lag": 2}, -6 / 14),  # deviations -2, -1, 3
        ("autocorrelation", [1, 2, 6], {"lag": 3}, NONE),
        ("autocorrelation", [1, 2, 6], {"lag": 4}, NONE),
        ("first", [1, 5, 7], {"above": 5, "below": 5}, 1),
        ("first", [1, 5, 7], {"above": 6, "below": 6}, NONE),
        ("peak_tick", [1, 5, 5], {}, 1),
        ("trough_tick", [1, 5, 1], {}, 0),
        ("half_life", [1, 8, 5, 4, 1], {}, 2),
        ("half_life", [3, 1, 8, 5], {}, NONE),
        ("half_life", [-1, -2], {}, 1),
        ("half_life", [0, 0], {}, 1),
        ("tail_exponent", [1, 2, 3, 4, 5], {}, 1 / np.log(5 / 4)),  # a value at least
        ("tail_exponent", [1, 2, 4], {"top": 0.9}, 1 / np.mean(np.log([4, 2]))),
        ("tail_exponent", [1, 2, 4], {"top": 1.0}, NONE),
        ("tail_exponent", [0, 2, 4], {"top": 0.9}, NONE),
        ("top_share", [1, 2, 5], {}, 5 / 8),
        ("top_share", [1, 2, 5], {"top": 0.5}, 7 / 8),  # 1.5 values, to the even number
        ("top_share", [1, 2, 5], {"top": 1.0}, 1),
        ("hhi", [1, 3], {}, 10 / 16),
        ("mean", [1, np.inf], {}, NONE),
    ],
)
def test_a_statistic_of_few_values(name, x, options, expected):
    """Next to another copy, whose values must not count."""
    ticks = np.arange(float(len(x)))
    found = of(name, [x, [7.0, *x[:-1]]], ticks=ticks, **options)
    assert found.shape == (2,)
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)


def test_correlation_of_few_pairs():
    x, y = [1.0, 2, 4], [3.0, 5, 6]
    line = np.corrcoef(x, y)[0, 1]
    for lag, expected in (
        (0, line),
        (1, 1),
        (-1, 1),
        (2, NONE),
        (-2, NONE),
        (3, NONE),
        (4, NONE),
        (-7, NONE),
    ):
        found = of("correlation", x, other=np.array([y]), ticks=np.arange(3.0), lag=lag)
        np.testing.assert_allclose(found, [expected], err_msg=f"lag {lag}")
    apart = np.array([0.0, 1, 7])  # which a lag of 0 does not look at
    assert of("correlation", x, other=np.array([y]), ticks=apart)[0] == pytest.approx(line)
    assert of("autocorrelation", x, ticks=apart, lag=0)[0] == pytest.approx(1)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("outliers", "end"), [(0.5, 8.0), (1.0, 10.0), (3.0, 18.0)])
def test_outliers_are_n_quartile_ranges_outside_the_quartiles(outliers, end, sign):
    """The quartiles of 0 to 8 are 2 and 6, wherever the last one is: their range is 4."""
    y = np.array([3.0, 1, 4, 0, 5, 8, 2, 6, 7])
    for last, pairs in ((end, 9), (np.nextafter(end, 99), 8)):
        x = sign * np.array([0.0, 1, 2, 3, 4, 5, 6, 7, last])
        exact = np.corrcoef(x[:pairs], y[:pairs])[0, 1]
        for one, other in ((x, y), (y, x)):
            options = {"other": other[None], "ticks": np.arange(9.0), "outliers": outliers}
            assert of("correlation", one, **options)[0] == pytest.approx(exact)


def test_without_a_bound_there_are_no_outliers():
    """Not even where both quartiles are equal."""
    x, y = np.array([0.0, 0, 0, 0, 0, 0, 0, 1, 5]), np.array([3.0, 1, 4, 0, 5, 8, 2, 6, 7])
    found = of("correlation", x, other=y[None], ticks=np.arange(9.0))
    assert found[0] == pytest.approx(np.corrcoef(x, y)[0, 1])
    apart = {"other": -x[None], "ticks": np.arange(9.0), "outliers": 1.5}
    assert np.isnan(of("correlation", x[::-1], **apart))[0]  # the rest are zeros
    nothing = {"other": np.array([[0.0, 9, 1, 2]]), "ticks": np.arange(4.0), "outliers": 1e-9}
    assert np.isnan(of("correlation", [1.0, 2, 0, 9], **nothing))[0]  # no pair remains


def test_ticks_have_a_distance():
    assert statistics.spacing(np.array([4.0])) == statistics.spacing(np.array([])) == 1
    assert statistics.spacing(np.array([4.0, 7, 10])) == 3
    with pytest.raises(ConfigError, match="they are 1 to 4 apart"):
        statistics.spacing(np.array([1.0, 2, 6]))
    with pytest.raises(ConfigError, match="they are 1 to 4 apart"):
        statistics.spacing(np.array([1.0, 5, 6]))
    assert statistics.entries_of("lag", 0, np.array([1.0, 2, 6])) == 0
    assert statistics.entries_of("lag", -6, np.array([1.0, 4, 7])) == -2
    with pytest.raises(ConfigError, match="lag: 4 ticks, but the series has every 3th tick only"):
        statistics.entries_of("lag", 4, np.array([1.0, 4, 7]))


def test_missing_values_of_a_second_series():
    """A series that lacks a tick has no statistic; without any entry there is none."""
    y = Y.copy()
    y[0, 3], y[2, 4] = np.nan, np.inf
    found = of("correlation", other=y)
    assert np.isnan(found).tolist() == [True, False, True]
    assert found[1] == of("correlation", X[1], other=Y[1:2])[0]
    nothing = np.full((1, 4), np.nan)
    assert np.isnan(of("mean", nothing, sample=True)).all()
    x = np.array([[np.nan, 2.0, 3.0], [1.0, 2.0, np.nan]])
    np.testing.assert_array_equal(of("last", x, sample=True), [3, 2])
    np.testing.assert_array_equal(of("first", x, sample=True, ticks=np.arange(3.0)), [1, 0])
    assert np.isnan(of("variation", [[-1.0, 1.0]])[0])  # infinite


def test_options_of_the_vocabulary_have_ends():
    for name, option, refused, allowed in (
        ("quantile", "q", (-0.1, 1.1), (0.0, 1.0)),
        ("top_share", "top", (0.0, -0.5, 1.1), (1e-9, 1.0)),
        ("autocorrelation", "lag", (-1,), (0, 1)),
        ("correlation", "outliers", (0.0, -1.0, np.inf), (1e-9,)),
        ("share", "above", (np.nan,), (-np.inf, 0, 3.0)),
    ):
        given = statistic_named(name).given
        for value in allowed:
            statistics.checked_options(name, {option: value}, given)
        for value in refused:
            with pytest.raises(ConfigError, match=f"option '{option}'"):
                statistics.checked_options(name, {option: value}, given)
    with pytest.raises(ConfigError, match="quantile: needs the option 'q'"):
        statistics.checked_options("quantile", {}, statistic_named("quantile").given)
    with pytest.raises(ConfigError, match="unknown option 'z'; it has q"):
        statistics.checked_options("quantile", {"z": 1}, statistic_named("quantile").given)
    with pytest.raises(ConfigError, match="unknown option 'z'; it has none"):
        statistics.checked_options("mean", {"z": 1}, statistic_named("mean").given)
    with pytest.raises(ConfigError, match="unknown option 'lagg'; did you mean 'lag'"):
        statistics.checked_options("correlation", {"lagg": 1}, statistic_named("correlation").given)
    statistics.checked_options("worded", {"word": "a"}, worded)
    with pytest.raises(ConfigError, match="option 'times' expected a number"):
        statistics.checked_options("spread", {"times": "twice"}, spread)


def worded(x, ticks, *, word: str = "b"):
    """Return a number of one copy, as a word says."""
    return float(len(word))


def test_inputs_and_units_of_the_vocabulary():
    takes = {name: one.takes for name, one in STATISTICS.items() if one.takes}
    assert takes == {
        **dict.fromkeys(("trend", "growth", "autocorrelation", "first"), ("ticks",)),
        **dict.fromkeys(("peak_tick", "trough_tick", "half_life"), ("ticks",)),
        **{"correlation": ("ticks", "other")},
        **dict.fromkeys(("kolmogorov_smirnov", "wasserstein", "rmse"), ("data",)),
    }
    for name, one in STATISTICS.items():
        assert statistics._declared(name, one.of, one.unit).takes == takes.get(name, ())
    units = {name: statistic_named(name).unit_of("units", "day") for name in STATISTICS}
    assert {units[name] for name in ("gini", "hhi", "correlation", "share", "skewness")} == {"1"}
    assert {units[name] for name in ("mean", "sd", "quantile", "rmse")} == {"units"}
    assert (units["trend"], units["growth"], units["half_life"]) == ("units/day", "1/day", "day")


def lagged(x, ticks, other):
    """Return what one copy has of a second series."""
    return other[-1] - x[0]


class Second:
    name = "lagged"

    def load(self):
        return lagged


def test_a_function_of_another_package_with_a_second_series(monkeypatch):
    monkeypatch.setattr(statistics, "entry_points", lambda group: [Second()])
    statistic_named.cache_clear()
    assert (
        statistic_named("lagged").takes == ("ticks", "other")
        and statistic_named("lagged").unit == "same"
    )
    np.testing.assert_array_equal(of("lagged", other=Y), Y[:, -1] - X[:, 0])
    with pytest.raises(ConfigError, match=r"unknown statistic 'xyz'; there are mean, .*, lagged$"):
        statistic_named("xyz")
    statistic_named.cache_clear()


def test_a_function_joins_the_vocabulary_under_its_own_name(monkeypatch):
    def twice(x):
        return 2 * x

    monkeypatch.setattr(statistics, "STATISTICS", dict(STATISTICS))
    assert statistics.statistic("same")(twice) is twice
    assert statistics.STATISTICS["twice"].of is twice
    assert statistics.STATISTICS["twice"].unit == "same"
    monkeypatch.setattr(filters, "FILTERS", dict(FILTERS))
    assert filters.series_filter(twice) is twice is filters.FILTERS["twice"]


def test_filters_of_few_ticks():
    """A line through one or two ticks leaves nothing; a trend needs three."""
    x = np.array([[3.0, 5, 4, 9, 1], [0, 2, 7, 1, 1]])
    for n in range(1, 6):
        ticks, few = np.arange(float(n)), x[:, :n]
        second = np.diff(np.eye(n), 2, axis=0)  # no rows if n is less than 3
        trend = np.linalg.solve(np.eye(n) + 7 * second.T @ second, few.T).T
        np.testing.assert_allclose(filtered(few, ticks, "hp_trend", {"smoothing": 7}), trend)
        cycle = filtered(few, ticks, "hp_cycle", {"smoothing": 7})
        np.testing.assert_allclose(cycle, few - trend, atol=1e-12)
        line = [np.polyval(np.polyfit(ticks, row, min(n - 1, 1)), ticks) for row in few]
        np.testing.assert_allclose(filtered(few, ticks, "detrend", {}), few - line, atol=1e-12)
    ticks = np.arange(5.0)
    smoothed = filtered(x, ticks, "smooth", {})
    assert smoothed[0].tolist() == [3, 5, 4.4, 9, 1]
    np.testing.assert_array_equal(filtered(x, ticks, "smooth", {"window": 1}), x)
    assert np.isnan(filtered(x[:, :4], ticks[:4], "smooth", {})).all()
    np.testing.assert_array_equal(filtered(x[:, :3], np.array([1.0, 2, 9]), "log", {})[0],
                                  np.log([3, 5, 4]))  # fmt: skip
    missing = np.full((2, 5), np.nan)
    for name in ("detrend", "hp_cycle", "hp_trend"):
        assert np.isnan(filtered(missing, ticks, name, {})).all()
    for value, allowed in ((0, 1), (0.5, 1), (1e12, 1), (-0.5, 0), (1e12 + 0.5, 0)):
        options = "hp_trend", {"smoothing": value}, FILTERS["hp_trend"]
        if allowed:
            statistics.checked_options(*options)
            continue
        with pytest.raises(ConfigError, match="smoothing"):
            statistics.checked_options(*options)
