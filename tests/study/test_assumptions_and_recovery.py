"""Are tests of assumptions, and ranks and coverage of a recovery, those of their definitions?"""

import warnings

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from societies.study import assumptions as tests
from societies.study.assumptions import Assumptions, assumptions, modes_p, runs_test, window_means
from societies.study.calibration.recover import recovered

GOOD = {
    "runs_rejected": 0.1,
    "ergodic_rejected": 0.1,
    "unit_root": 0.5,
    "not_stationary": 0.5,
    "warm_up": 0.0,
    "modes_p": 0.05,
}


@pytest.mark.parametrize(
    "key, value, problem",
    [
        ("runs_rejected", 0.11, "not stationary"),
        ("not_stationary", 0.51, "not stationary"),
        ("unit_root", 0.51, "unit root"),
        ("ergodic_rejected", 0.11, "seeds differ"),
        ("warm_up", 1.0, "warm-up 1"),
        ("modes_p", 0.049, "several modes"),
    ],
)
def test_a_problem_begins_beyond_its_limit(key, value, problem):
    assert Assumptions(**GOOD).problems == []
    assert Assumptions(**{**GOOD, key: value}).problems == [problem]


@pytest.mark.parametrize(
    "x", [[0, 1], [0, 0, 1, 1], [0, 0, 1], [0, 1, 0, 1, 0, 1], [1, 1, 1, 2, 2]]
)
def test_runs_by_hand(x):
    above = [one > np.median(x) for one in x]
    n, m = sum(above), len(x) - sum(above)
    runs = 1 + sum(a != b for a, b in zip(above[1:], above[:-1], strict=True))
    mean = 2 * n * m / (n + m) + 1
    variance = 2 * n * m * (2 * n * m - n - m) / ((n + m) ** 2 * (n + m - 1))
    exact = 2 * scipy.stats.norm.sf(abs(runs - mean) / variance**0.5) if variance else 1.0
    assert runs_test(np.array(x, float)) == pytest.approx(exact)
    assert runs_test(np.ones(5)) == 1.0


def test_shares_of_seeds_are_those_of_the_libraries():
    from statsmodels.tsa.stattools import adfuller, kpss

    random = np.random.default_rng(8)
    x = random.normal(size=(7, 107)) + np.linspace(0, 2, 7)[:, None]
    x[3:] = x[3:].cumsum(1)
    means = np.array([[row[7 + 5 * w : 12 + 5 * w].mean() for w in range(20)] for row in x])
    np.testing.assert_allclose(window_means(x), means)
    found = assumptions(x, x.mean(1), np.arange(0.0, 214, 2))
    last = [np.delete(means[:, -1], k) for k in range(7)]
    ks = [scipy.stats.ks_2samp(*both).pvalue < 0.05 for both in zip(means, last, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adf = [adfuller(row)[1] >= 0.05 for row in x]
        stationary = [kpss(row, nlags="auto")[1] < 0.05 for row in x]
    assert 0 < np.mean(ks) < 1 and found.ergodic_rejected == pytest.approx(np.mean(ks))
    assert (found.unit_root, found.not_stationary) == (np.mean(adf), np.mean(stationary))
    assert found.runs_rejected == np.mean([runs_test(row) < 0.05 for row in means])


def test_series_of_equal_values_and_few_seeds():
    found = assumptions(np.full((5, 100), 0.1), np.full(5, 0.1), np.arange(100.0))
    assert found.problems == []
    assert (found.unit_root, found.not_stationary, found.ergodic_rejected) == (0, 0, 0)
    noise = np.random.default_rng(1).normal(size=(4, 100))
    assert np.isnan(assumptions(noise, noise.mean(1), np.arange(100.0)).ergodic_rejected)
    assert assumptions(noise[:, :99], noise.mean(1), np.arange(99.0)) is None
    noise[0, 5] = np.nan
    assert assumptions(noise[:1], noise[:1, 0], np.arange(100.0)) is None
    assert np.isnan(modes_p(np.arange(9.0))) and modes_p(np.ones(10)) == 1.0
    assert 0 <= modes_p(np.arange(10.0)) <= 1


def test_modes_do_not_depend_on_place_and_scale():
    x = np.random.default_rng(6).normal(size=40)
    x[20:] += 2.5
    assert modes_p(x) == modes_p(1000 + 64 * x) == modes_p(x - 500)


def modes_by_hand(x, width):
    """Return the number of local maxima of a normal kernel estimate."""
    x = np.asarray(x, float)
    grid = np.linspace(min(x) - 3 * width, max(x) + 3 * width, 256)
    density = scipy.stats.norm.pdf(grid[:, None], x, width).sum(1)
    return sum(density[1:-1][(density[1:-1] > density[:-2]) & (density[1:-1] > density[2:])] > 0)


def test_two_normals_have_two_modes_if_they_are_more_than_two_widths_apart():
    for apart, expected in ((1.9, 1), (2.1, 2), (40.0, 2)):
        assert tests._modes(np.array([3.0, 3 + apart]), 1.0) == expected
    assert tests._critical_width(np.array([-1.0, 1])) == pytest.approx(1, abs=0.01)
    assert tests._critical_width(np.array([4.0, 11])) == pytest.approx(3.5, abs=0.03)
    x = np.random.default_rng(2).normal(size=30)
    width = tests._critical_width(x)
    assert (tests._modes(x, width), modes_by_hand(x, 0.99 * width) > 1) == (1, True)


@pytest.mark.parametrize("apart", [0, 2.5, 4])
@pytest.mark.parametrize("size", [10, 31])
def test_silvermans_test_by_hand(size, apart):
    """Samples of the estimate with the least width, shrunk to the variance of the data."""
    x = np.random.default_rng(5).normal(size=size) + apart * (np.arange(size) % 2)
    z = scipy.stats.zscore(x)
    several = scipy.optimize.bisect(lambda w: modes_by_hand(z, w) - 1.5, 0.1, 4, xtol=1e-8)
    random = np.random.default_rng(0)
    parents, noise = random.choice(z, (200, size)), random.normal(size=(200, size))
    width = several + 1e-8
    drawn = (parents + width * noise) / np.sqrt(np.var(z) + width**2)
    assert modes_p(x) == np.mean([modes_by_hand(row, width) > 1 for row in drawn])


def test_windows_are_compared_with_the_last_ones_of_the_other_seeds():
    means = np.random.default_rng(3).normal(size=(6, 20))
    means[:, -1] += 9
    means[:2, :-1] += 9
    rest = [np.delete(means[:, -1], k) for k in range(6)]
    p = [scipy.stats.ks_2samp(*both).pvalue for both in zip(means, rest, strict=True)]
    assert tests._ergodic(means) == np.mean(np.less(p, 0.05)) == 4 / 6
    assert np.isnan(tests._ergodic(means[:4])) and not np.isnan(tests._ergodic(means[:5]))
    means[4] = means[:, -1] = 1.0  # one seed in which nothing happens is a seed, too
    p = [scipy.stats.ks_2samp(row, np.ones(5)).pvalue for row in means]
    assert tests._ergodic(means) == np.mean(np.less(p, 0.05)) == 5 / 6


@pytest.mark.parametrize(
    ("level", "wide", "constant"),
    [
        *((0.0, 1e-12, True), (0.0, 1.5e-12, False), (0.0, 1e-13, True), (0.5, 0.5e-12, True)),
        *((-1e6, 0.5e-6, True), (1e6, 0.5e-6, True), (1e6, 2e-6, False), (1e-3, 1e-3, False)),
    ],
)
def test_what_differs_by_rounding_errors_is_constant(level, wide, constant):
    """A trillionth of the largest size, or of 1."""
    from statsmodels.tsa.stattools import adfuller, kpss

    x = level + wide * np.random.default_rng(1).integers(0, 2, 120)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = (adfuller(x)[1], kpss(x, nlags="auto")[1])
    assert tests._unit_roots(x) == ((0.0, 1.0) if constant else exact)
    assert exact != (0.0, 1.0)


def test_unit_roots_are_looked_for_in_the_first_twenty_seeds(monkeypatch):
    seen = []
    monkeypatch.setattr(tests, "_unit_roots", lambda x: seen.append(x[0]) or (x[0] > 18.5, 0.5))
    x = np.arange(25.0)[:, None] + np.random.default_rng(1).normal(size=(25, 100)) / 100
    x[:, 0] = np.arange(25)
    found = assumptions(x, x.mean(1), np.arange(100.0))
    assert seen == [*range(20)] and found.unit_root == 0.05


@pytest.mark.parametrize(("level", "expected"), [(40, 40), (60, 60), (65, 60)])
def test_at_most_half_of_a_series_is_warm_up(level, expected):
    x = np.random.default_rng(7).normal(size=122) / 10 + 50 * (np.arange(122) < level)
    assert tests.mser5(x) == expected
    found = assumptions(np.tile(x, (3, 1)), x[:3], np.arange(0.0, 244, 2))
    assert found.warm_up == 2 * expected
    assert tests.mser5(np.arange(4.0)) == tests.mser5(np.arange(5.0)) == 0


def test_ranks_and_coverage_by_hand():
    draws = np.tile(np.linspace(0.05, 0.95, 10), (4, 1))[:, :, None]
    found = recovered(["a"], np.array([[0.0], [0.2], [0.5], [1.0]]), draws, 12)
    np.testing.assert_allclose(found.ranks[:, 0], [0, 0.2, 0.5, 1])
    np.testing.assert_allclose(found.coverage[:, 0], [0.25, 0.5])  # ranks .25 to .75, .05 to .95
    counts = [1, 0, 1, 0, 0, 1, 0, 0, 0, 1]
    assert found.p[0] == pytest.approx(scipy.stats.chisquare(counts).pvalue)
    exact = [scipy.stats.binom(4, level).ppf([0.025, 0.975]) / 4 for level in (0.5, 0.9)]
    np.testing.assert_allclose(found.bounds, exact)
    assert found.right is bool(exact[0][0] <= 0.25 <= exact[0][1] and exact[1][0] <= 0.5)
    assert found.as_dict()["ranks"] == found.ranks.tolist()
