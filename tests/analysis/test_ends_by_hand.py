"""What do measures, emulators and choices of ticks give at the ends of what is allowed?

Values are worked out by hand; the rest of what is defined has its tests in `test_definitions.py`
and `test_measures_by_hand.py`.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from societies import analysis
from societies.analysis.emulation import _Smooth
from societies.analysis.selecting import _among, _read, _shown, ticks_of, with_ticks
from societies.errors import ConfigError

NAN = np.nan


def test_interdependence_is_missing_only_where_all_sources_are():
    extracted = xr.DataArray([[NAN, NAN], [NAN, 4.0], [0.0, 0.0], [1.0, 3.0]], dims=("d", "source"))
    found = analysis.interdependence(extracted, [0, 3])
    np.testing.assert_array_equal(found, [NAN, 3.0, 0.0, 9 / 4])


def series(values, ticks=None):
    ticks = ticks or list(range(1, len(values) + 1))
    return xr.DataArray(values, {"day": ticks}, "day", "utility", {"units": "util"})


def test_the_tick_of_a_shock_is_before_it():
    """The level is the mean of 10, 10 and 4, that is 8; 7 is the least of what comes later."""
    found = analysis.recovery_time(series([10.0, 10, 4, 7, 9]), at=3, before=3, hold=2, to=0.8)
    assert (found.level, found.lowest, found.loss) == (8.0, 7.0, 0.125)
    assert found.recovery_time == 0
    found = analysis.recovery_time(series([10.0, 10, 4, 7, 9]), at=3, before=3, hold=1, to=1.0)
    assert found.recovery_time == 1  # 7 is below 8, and the next day is not


def test_without_a_level_there_is_no_recovery():
    found = analysis.recovery_time(series([0.0, 0, 0, 5, 5]), at=3, before=3, hold=1)
    assert np.isnan(found.recovery_time) and np.isnan(found.level) and found.lowest == 5
    found = analysis.recovery_time(series([1.0, 1, 1, NAN, NAN]), at=3, before=3, hold=1)
    assert np.isnan(found.recovery_time)


@pytest.mark.parametrize("ticks", [[4, 5, 6], [1, 2, 3], []])
def test_a_shock_needs_ticks_before_and_after(ticks):
    with pytest.raises(ConfigError, match=r"needs .* before and 1 after; the file has"):
        analysis.recovery_time(series([1.0] * len(ticks), ticks), at=3, before=3, hold=1)


def test_a_curve_may_have_a_single_bin():
    income = xr.DataArray([1.0, 2.0, 3.0], dims="x")
    found = analysis.kuznets(income, xr.DataArray([0.5, 0.25, 0.75], dims="x"), bins=1)
    assert (found.income.values.tolist(), found.inequality.values.tolist()) == ([2.0], [0.5])
    assert found.points.values.tolist() == [3]


# ---------------------------------------------------------------- choices of ticks


def test_a_tick_may_be_any_whole_number():
    """As a tick of an array of the result, which is no int of Python."""
    data = xr.Dataset({"x": ("day", [5, 6, 7])}, {"day": [1, 2, 3]}, {"clock": "day"})
    for asked in (2, np.int64(2), np.int32(2), [2], (2,), np.array([2]), "2"):
        assert with_ticks(data, asked).x.values.tolist() == [6], asked
    assert _read([3, np.int64(1)]) == [3, 1] and _read(()) == []


def test_of_no_ticks_none_is_chosen():
    none = np.empty(0, int)
    for wanted in (slice(None, 5), slice(None, None, 2), [1]):
        assert _among(none, wanted).tolist() == []
    assert _among(np.array([3, 4, 5, 6]), slice(None, None, 2)).tolist() == [1, 0, 1, 0]


def test_what_was_asked_for_is_shown_as_it_is_written():
    assert (_shown(slice(1, 5, 2)), _shown(slice(1, 5)), _shown("1:5:2")) == (
        "1:5:2",
        "1:5",
        "1:5:2",
    )


def test_the_clock_comes_before_what_is_recorded_less_often():
    assert ticks_of(xr.DataArray(np.zeros((2, 2)), dims=("day", "detail_day"))) == "day"


# ---------------------------------------------------------------- points and replicates


def runs(values, **coords):
    return xr.DataArray(
        np.asarray(values, float), {k: ("run", v) for k, v in coords.items()}, "run", "gini"
    )


def test_replicates_of_different_sizes_are_counted():
    data = runs(range(9), a=[*range(8), 0], replicate=[0] * 8 + [1])
    with pytest.raises(ConfigError, match="the replicates have 1 to 8 points, and there is no"):
        analysis.over_replicates(data)


def test_the_point_whose_runs_differ_is_named():
    data = runs([1, 2, 3, 4], a=[5, 5, 6, 7], point=[0, 0, 1, 1])
    with pytest.raises(ConfigError, match="runs of point 1 have different values of 'a'"):
        analysis.over_replicates(data)


def test_points_need_no_numbers_of_replicates():
    data = runs([1, 2, 3, 5], a=[5, 5, 6, 6], point=[0, 0, 1, 1])
    assert analysis.over_replicates(data).values.tolist() == [1.5, 4.0]
    with pytest.raises(ConfigError, match="has no run"):
        analysis.over_replicates(data[:0])


@pytest.mark.parametrize("of", [analysis.over_replicates, analysis.sobol, analysis.morris])
def test_runs_are_a_dimension_that_there_must_be(of):
    with pytest.raises(ConfigError, match="'run'"):
        of(xr.DataArray([1.0, 2.0], dims="x", name="gini"))


def test_replicates_are_of_one_point_unless_points_are_elsewhere():
    data = xr.DataArray(np.arange(6.0).reshape(2, 3), {"point": ("x", [0, 0])}, ("x", "society"))
    assert analysis.quantile_interval(data)["median"].values.tolist() == [1.0, 4.0]


# ---------------------------------------------------------------- indices


def saltelli(function, extra=()):
    from SALib.sample import sobol as sample

    problem = {"num_vars": 2, "names": ["a", "b"], "bounds": [[0, 1]] * 2}
    x = sample.sample(problem, 64, calc_second_order=False, seed=1)
    values = np.stack([np.asarray([function(*row) for row in x]) * k for k in extra or (1,)], -1)
    return x, values


def test_indices_have_the_coordinates_of_the_outcome_and_no_others():
    x, values = saltelli(lambda a, b: a + 2 * b, extra=(1, 3))
    data = xr.DataArray(
        values, {n: ("run", c) for n, c in zip("ab", x.T, strict=True)}, ("run", "k")
    )
    found = analysis.sobol(data, second_order=False, resamples=10)
    assert "k" not in found.coords and "with_parameter" not in found.coords
    assert found.sizes["k"] == 2 and found.parameter.values.tolist() == ["a", "b"]
    bare = xr.DataArray(values[:, 0], dims="run")  # without coordinates, in the order of the design
    same = analysis.sobol(bare, ["a", "b"], second_order=False, resamples=10)
    assert len(same) >= 4
    for name in same:
        np.testing.assert_array_equal(same[name], found[name].isel(k=0))


# ---------------------------------------------------------------- emulators


def test_of_a_constant_outcome_nothing_else_is_expected():
    x = np.linspace(0, 1, 8)
    found = analysis.emulator(runs([4.0] * 8, a=x), restarts=0)
    predicted = found.predict({"a": np.linspace(0, 1, 5)})
    np.testing.assert_allclose(predicted["mean"], 4.0, atol=1e-12)
    assert found.q2 == 0.0 and found._scale == 1.0
    assert (predicted.sd < 0.05).all()  # the variance is at its least value, 0.001


def test_rounding_makes_no_variance_negative():
    """At a known point without noise nothing is left of the variance, give or take rounding."""

    class Kernel:
        def __call__(self, one, other):
            return np.array([[1.0 + 1e-12]])

        def diag(self, one):
            return np.array([1.0])

    process = SimpleNamespace(kernel_=SimpleNamespace(k1=Kernel()))
    mean, sd = _Smooth(process, np.array([2.0]), np.array([[1.0]]), None).predict(np.array([[0.5]]))
    assert sd.tolist() == [0.0] and abs(mean[0] - 2.0) < 1e-9


def test_indices_of_an_emulator_are_of_1024_points_and_the_first_seed():
    random = np.random.default_rng(5)
    x = random.uniform(0, 1, (12, 2))
    found = analysis.emulator(runs(x[:, 0] + x[:, 1] ** 2, a=x[:, 0], b=x[:, 1]), restarts=0)
    few = {"second_order": False, "resamples": 4}
    xr.testing.assert_identical(found.sobol(**few), found.sobol(1024, seed=0, **few))
