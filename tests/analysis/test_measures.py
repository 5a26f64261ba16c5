"""Are the measures those of scipy, of statsmodels, or of a closed form?"""

import math

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from small import SMALL

import societies
from societies import analysis
from societies.errors import ConfigError

RANDOM = np.random.default_rng(11)


def agents(*values, **attrs):
    return xr.DataArray(np.array(values, float), dims="agent", name="income", attrs=attrs)


def several(agent=30, **others):
    """Return positive numbers with ties, along several dimensions in an odd order."""
    sizes = {"society": 3, "agent": agent, "day": 4, **others}
    values = RANDOM.lognormal(1.0, 0.8, tuple(sizes.values())).round(1) + 0.1
    return xr.DataArray(
        values,
        dims=tuple(sizes),
        name="income",
        coords={"day": np.arange(1, 5) * 10},
        attrs={"units": "util", "long_name": "income of today"},
    )


def along(data, of, dim="agent"):
    """Apply a function of one sample everywhere, by the plainest loop there is."""
    values = np.moveaxis(data.values, data.get_axis_num(dim), -1)
    return np.array([of(x) for x in values.reshape(-1, values.shape[-1])]).reshape(
        values.shape[:-1]
    )


# ---------------------------------------------------------------- inequality


def mean_difference(x):
    return np.abs(x[:, None] - x).mean() / (2 * x.mean())


def test_gini_is_half_the_relative_mean_difference_of_all_pairs():
    data = several()
    found = analysis.gini(data)
    assert found.dims == ("society", "day")
    np.testing.assert_allclose(found, along(data, mean_difference), rtol=1e-12)
    assert found.attrs == {"units": "1", "long_name": "Gini coefficient of income of today"}


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_gini_of_known_distributions(n):
    assert float(analysis.gini(agents(*range(1, n + 1)))) == pytest.approx((n - 1) / (3 * n))
    assert float(analysis.gini(agents(*[0] * (n - 1), 5))) == pytest.approx((n - 1) / n)
    assert float(analysis.gini(agents(*[3.5] * n))) == pytest.approx(0, abs=1e-12)


def test_gini_of_a_pareto_distribution():
    """1 / (2 alpha - 1) in a large population."""
    n = 200_000
    x = scipy.stats.pareto(3).ppf((np.arange(n) + 0.5) / n)
    assert float(analysis.gini(agents(*x))) == pytest.approx(1 / 5, abs=2e-4)


@pytest.mark.ci
def test_gini_is_that_of_the_recorded_series(recorded):
    found = analysis.gini(recorded.agent_utility)
    days = recorded.agent_day.values
    np.testing.assert_allclose(found, recorded.gini.sel(day=days), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "measure",
    [
        analysis.gini,
        analysis.theil,
        analysis.atkinson,
        analysis.top_share,
        analysis.hhi,
        lambda x: analysis.lorenz(x).isel(poorest=40),
    ],
)
def test_what_is_missing_does_not_count_and_nothing_is_defined_below_zero(measure):
    data = several()
    gone = data.copy()
    gone[0, 7:] = np.nan
    gone[1, :, 2] = np.nan
    found = measure(gone)
    alive = measure(data.isel(society=0, agent=slice(7)))
    np.testing.assert_allclose(found.isel(society=0), alive, rtol=1e-12)
    assert np.isnan(found[1, 2])  # no agent is left
    np.testing.assert_allclose(found.isel(society=2), measure(data).isel(society=2), rtol=1e-12)
    assert np.isnan(measure(agents(-3, 1, 1))) or measure is analysis.top_share


def test_theil_is_the_entropy_that_is_lacking():
    data = several()
    expected = along(data, lambda x: math.log(len(x)) - scipy.stats.entropy(x / x.sum()))
    np.testing.assert_allclose(analysis.theil(data), expected, rtol=1e-10)
    assert float(analysis.theil(agents(0, 0, 0, 9))) == pytest.approx(math.log(4))
    assert float(analysis.theil(agents(2, 2, 2))) == 0


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1, 2])
def test_atkinson_is_one_minus_the_power_mean_over_the_mean(epsilon):
    data = several()
    expected = along(data, lambda x: 1 - scipy.stats.pmean(x, 1 - epsilon) / x.mean())
    np.testing.assert_allclose(analysis.atkinson(data, epsilon=epsilon), expected, rtol=1e-9)
    # Of a lognormal population: 1 - exp(-epsilon sigma**2 / 2).
    n, sigma = 100_000, 0.6
    x = scipy.stats.lognorm(sigma).ppf((np.arange(n) + 0.5) / n)
    expected = 1 - math.exp(-epsilon * sigma**2 / 2)
    assert float(analysis.atkinson(agents(*x), epsilon=epsilon)) == pytest.approx(
        expected, rel=2e-3
    )


def test_lorenz_is_of_the_poorest_and_its_area_is_the_gini_coefficient():
    found = analysis.lorenz(agents(4, 1, 3, 2), points=5)
    np.testing.assert_allclose(found, [0, 0.1, 0.3, 0.6, 1])
    np.testing.assert_allclose(found.poorest, [0, 0.25, 0.5, 0.75, 1])
    data = several(agent=20)
    curve = analysis.lorenz(data, points=21)
    assert curve.dims == ("society", "day", "poorest")
    area = curve.integrate("poorest")
    np.testing.assert_allclose(1 - 2 * area, along(data, mean_difference), rtol=1e-10)
    assert bool((curve.diff("poorest", 2) >= -1e-12).all())  # convex


def test_the_richest_are_counted_in_parts():
    x = np.arange(1.0, 49.0)
    expected = (48 + 47 + 46 + 45 + 0.8 * 44) / x.sum()
    assert float(analysis.top_share(agents(*x))) == pytest.approx(expected, rel=1e-14)
    assert float(analysis.top_share(agents(*x), top=1)) == pytest.approx(1)
    assert float(analysis.top_share(agents(1, 1, 1, 1), top=0.3)) == pytest.approx(0.3)
    curve = analysis.lorenz(several(), points=11)
    share = analysis.top_share(several().copy(data=several().values), top=0.1)
    assert share.dims == curve.isel(poorest=0).dims
    same = several()
    np.testing.assert_allclose(
        analysis.top_share(same, top=0.3), 1 - analysis.lorenz(same, points=11).isel(poorest=7)
    )


def test_mobility_is_spearmans_coefficient():
    data = several()
    found = analysis.mobility(data, since=20)
    assert found.dims == ("society", "day")
    for society in range(3):
        for day in data.day.values:
            pair = data.isel(society=society).sel(day=20), data.isel(society=society).sel(day=day)
            expected = scipy.stats.spearmanr(*pair).statistic
            assert float(found.isel(society=society).sel(day=day)) == pytest.approx(expected)
    assert bool((found.sel(day=20) == pytest.approx(1)).all())
    gone = data.copy()
    gone[:, :4, 3] = np.nan
    pair = data[0, 4:, 0], data[0, 4:, 3]
    expected = scipy.stats.spearmanr(*pair).statistic
    assert float(analysis.mobility(gone)[0, 3]) == pytest.approx(expected)
    still = xr.zeros_like(data)
    assert bool(analysis.mobility(still).isnull().all())


# ---------------------------------------------------------------- structure


@pytest.mark.ci
def test_hhi_is_that_of_the_recorded_series(recorded):
    found = analysis.hhi(recorded.extracted)
    assert found.dims == ("society", "resource_day", "resource")
    by_resource = found.quantile(recorded["quantile"].values, "resource")
    expected = recorded.hhi.sel(day=recorded.resource_day.values)
    np.testing.assert_allclose(
        by_resource.transpose("society", "resource_day", "quantile"), expected, rtol=1e-12
    )
    assert float(analysis.hhi(agents(0, 0))) == 0
    assert float(analysis.hhi(agents(5, 5, 5, 5))) == pytest.approx(0.25)


def test_interdependence_is_that_of_the_recorded_series(recorded):
    contained = analysis.resources_contained(recorded)
    assert contained == [0, 3, 9, 27, 81]
    units = recorded.agent_extracted_with.sum("agent", keep_attrs=True)
    found = analysis.interdependence(units, contained)
    expected = recorded.interdependence.sel(day=recorded.agent_day.values)
    assert float(expected.max()) > 1
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    of_agents = analysis.interdependence(recorded.agent_extracted_with, contained)
    assert of_agents.dims == ("society", "agent_day", "agent")
    with pytest.raises(ConfigError, match="2 numbers for 5 sources"):
        analysis.interdependence(units, [0, 1])
    with pytest.raises(ConfigError, match="no devices"):
        analysis.resources_contained(recorded.assign_attrs(configuration="devices: none"))


def test_a_time_budget_is_a_whole(recorded):
    found = analysis.time_budget(recorded.minutes)
    np.testing.assert_allclose(found.sum("activity"), 1)
    np.testing.assert_allclose(
        found * recorded.minutes.sum("activity"), recorded.minutes, rtol=1e-12
    )


def test_recovery_is_the_first_of_enough_days_in_a_row():
    days = np.arange(1, 101)
    values = np.full((3, 100), 10.0)
    values[:, 40:] = 4.0  # the shock comes at the end of day 40
    values[0, 60:] = 9.6  # from day 61 on
    values[1, 55] = 9.9  # one good day is no recovery
    values[1, 90:] = 9.6
    data = xr.DataArray(
        values, dims=("society", "day"), coords={"day": days}, attrs={"units": "units"}
    )
    found = analysis.recovery_time(data, at=40, hold=5)
    np.testing.assert_array_equal(found.recovery_time, [20, 50, np.nan])
    np.testing.assert_allclose(found.level, 10)
    np.testing.assert_allclose(found.loss, 0.6)
    assert analysis.recovery_time(data, at=40, to=0.3).recovery_time.values.tolist() == [0, 0, 0]
    with pytest.raises(ConfigError, match=r"at=100: needs a day before and 10 after.*1 to 100"):
        analysis.recovery_time(data, at=100)


def by_day(values, days, shock=40):
    """Return a series that is 10 up to a shock, and then has these values on these days."""
    days = np.concatenate([np.arange(days[1] - days[0], shock + 1, days[1] - days[0]), days])
    before = len(days) - len(values)
    return xr.DataArray([10.0] * before + list(values), {"day": days}, ("day",))


@pytest.mark.parametrize(
    ("every", "values", "expected"),
    [
        (1, [10] * 12 + [4] * 8 + [10] * 20, 20),  # ten good days, and then it falls
        (1, [10] * 12 + [4] * 28, np.nan),  # and never comes back
        (1, [4] * 5 + [10] * 9 + [4] + [10] * 25, 15),  # nine good days are no recovery
        (1, [10] * 31 + [4] * 9, np.nan),
        (1, [4] * 31 + [10] * 9, np.nan),  # nine days to the end: unknown
        (1, [10] * 40, 0),
        (10, [10] * 4, 0),  # recorded every ten days, it never falls
        (10, [4, 4, 10, 10], 29),  # day 70; the shock concerns day 41 first
        (10, [10, 4, 10, 4], np.nan),
        (10, [10, 4, 4, 10], np.nan),
        (5, [4, 10, 10, 10, 4, 4, 4, 4], 9),
        (1, [4] * 5 + [np.nan] * 3 + [10] * 32, 8),
        (1, [np.nan] * 40, np.nan),
    ],
)
def test_recovery_is_counted_in_days_from_the_first_fall(every, values, expected):
    data = by_day([float(one) for one in values], np.arange(40 + every, 81, every))
    found = analysis.recovery_time(data, at=40)
    assert float(found.recovery_time) == pytest.approx(expected, nan_ok=True)
    turned = analysis.recovery_time(data[::-1], at=40)  # the order of rows says nothing
    assert float(turned.recovery_time) == pytest.approx(expected, nan_ok=True)


def test_recovery_needs_a_level_and_days_enough():
    data = by_day([4.0] * 3, np.arange(45, 60, 5))
    assert float(analysis.recovery_time(data - 20, at=40).recovery_time.isnull())
    with pytest.raises(ConfigError, match="at=40: needs a day before and 20 after"):
        analysis.recovery_time(data, at=40, hold=20)
    often = data.rename(day="agent_day")
    assert float(analysis.recovery_time(often, at=40).recovery_time.isnull())


def test_a_kuznets_curve_is_a_regression():
    import statsmodels.api  # takes a second, also of processes that have other tests

    income = xr.DataArray(RANDOM.uniform(1, 50, (20, 30)), dims=("society", "day"), name="income")
    x = np.log(income)
    inequality = 0.1 + 0.3 * x - 0.06 * x**2 + RANDOM.normal(0, 0.01, x.shape)
    found = analysis.kuznets(income, inequality, bins=10)
    design = np.column_stack([np.ones(x.size), x.values.ravel(), x.values.ravel() ** 2])
    fit = statsmodels.api.OLS(inequality.values.ravel(), design).fit()
    coefficients = [float(found[name]) for name in ("constant", "slope", "curvature")]
    np.testing.assert_allclose(coefficients, fit.params, rtol=1e-9)
    assert float(found.turning_point) == pytest.approx(math.exp(0.3 / 0.12), rel=0.1)
    assert int(found.points.sum()) == 600
    assert bool((found.income.diff("bin") > 0).all())
    with pytest.raises(ConfigError, match="too few"):
        analysis.kuznets(income[:1, :4], inequality[:1, :4])


# ---------------------------------------------------------------- intervals


def test_the_bootstrap_is_that_of_scipy():
    data = several(society=12).transpose("agent", "society", "day").isel(agent=slice(5))
    found = analysis.mean_interval(data, resamples=4000, level=0.9)
    assert found["mean"].dims == ("agent", "day")
    np.testing.assert_allclose(found["mean"], data.mean("society"))
    other = scipy.stats.bootstrap(
        (data.values,),
        np.mean,
        axis=1,
        confidence_level=0.9,
        method="percentile",
        n_resamples=4000,
        rng=np.random.default_rng(5),
    ).confidence_interval
    width = (other.high - other.low).mean()
    np.testing.assert_allclose(found.low, other.low, atol=0.08 * width)
    np.testing.assert_allclose(found.high, other.high, atol=0.08 * width)
    assert found.attrs["interval"] == (
        "0.9 bootstrap interval of the mean over society, 4000 samples"
    )
    assert found.low.attrs["units"] == "util"


def test_the_interval_covers_the_mean_as_often_as_it_says():
    """Of 400 experiments with 40 normal numbers each, 95 of 100; two standard errors apart."""
    data = xr.DataArray(np.random.default_rng(2).normal(3, 1, (40, 400)), dims=("run", "place"))
    found = analysis.mean_interval(data, "run")
    covered = float(((found.low <= 3) & (found.high >= 3)).mean())
    assert 0.91 < covered < 0.98


def test_intervals_leave_out_what_is_missing_and_need_two():
    data = several(society=9)
    holes = data.copy()
    holes[4:, :, 0] = np.nan
    holes[:, 3, 1] = np.nan
    holes[1:, 5, 2] = np.nan
    found = analysis.mean_interval(holes)
    np.testing.assert_allclose(found["mean"].isel(day=0), data[:4, :, 0].mean("society"))
    fewer = analysis.mean_interval(data[:4])
    width = float((fewer.high - fewer.low).isel(day=0).mean())
    np.testing.assert_allclose((found.high - found.low).isel(day=0).mean(), width, rtol=0.1)
    assert bool(found.low.isel(day=1, agent=3).isnull())
    assert bool(found.low.isel(day=2, agent=5).isnull())
    assert bool(analysis.mean_interval(data[:1]).low.isnull().all())


def test_replicates_of_several_points_are_no_replicates_of_one():
    data = xr.DataArray(
        np.arange(6.0),
        {"point": ("run", [0, 0, 1, 1, 2, 2]), "replicate": ("run", [0, 1] * 3)},
        "run",
    )
    for interval in (analysis.mean_interval, analysis.quantile_interval):
        with pytest.raises(ConfigError, match="3 points with up to 2 replicates"):
            interval(data, "run")
        assert interval(data[:2], "run").attrs["replicates"] == 2
        assert interval(analysis.over_replicates(data), "run").attrs["replicates"] == 3


def test_quantiles_are_those_of_numpy():
    data = several(society=11)
    found = analysis.quantile_interval(data, level=0.8)
    axis = data.get_axis_num("society")
    for name, q in (("low", 0.1), ("median", 0.5), ("high", 0.9)):
        np.testing.assert_allclose(found[name], np.quantile(data.values, q, axis=axis))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: analysis.gini(x, "agents"),
            "'income' has no dimension 'agents'; it has society",
        ),
        (lambda x: analysis.top_share(x, top=0), "top=0: must be above 0"),
        (lambda x: analysis.atkinson(x, epsilon=0), "epsilon=0: must be above 0"),
        (lambda x: analysis.lorenz(x, points=1), "at least 2"),
        (lambda x: analysis.mobility(x, since=15), "since=15: not among the ticks"),
        (lambda x: analysis.mean_interval(x, level=1), "level=1: must be between 0 and 1"),
        (lambda x: analysis.mean_interval(x, "run"), "no dimension 'run'"),
    ],
)
def test_what_cannot_be_measured_says_why(call, message):
    with pytest.raises(ConfigError, match=message):
        call(several())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A small economy with all devices, whose agents and resources are recorded.

    In plain Python, which builds no kernels; its bits are those of any device.
    """
    path = tmp_path_factory.mktemp("recorded") / "run.h5"
    more = {"workload": "economy", "days": 12, "shocks": [], "replicates": 2}
    config = societies.config_from_dict({**SMALL["economy"], **more})
    societies.run(config, out=path, device="reference")
    with societies.open_results(path) as results:
        yield results.load()
