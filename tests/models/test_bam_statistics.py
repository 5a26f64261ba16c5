"""Are the statistics of the comparison with published ones those of their definitions?"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments/models/bam"))

import statistics_of_bam as measures


def zigzag(*lengths):
    """Return a series that rises, falls, rises and so on for these numbers of quarters."""
    steps = [np.full(length, (-1.0) ** k) for k, length in enumerate(lengths)]
    return np.r_[0.0, np.concatenate(steps).cumsum()] / 20


def test_recessions_last_from_a_peak_until_ten_quarters_after_the_trough():
    x = zigzag(60, 30, 60, 40, 60)  # peaks at 60 and 150, troughs at 90 and 190
    assert measures.recessions(x, 0).tolist() == [40, 50]
    assert measures.recessions(x, 80).tolist() == [20, 50]
    assert measures.recessions(x, 205).tolist() == []


def test_recessions_with_a_short_gap_are_one():
    x = zigzag(30, 20, 15, 25, 40)  # from 30 to 50 + 10 and from 65 to 90 + 10
    assert measures.recessions(x, 0).tolist() == [70]


def test_the_cycle_is_what_the_filter_of_statsmodels_leaves():
    filters = pytest.importorskip("statsmodels.tsa.filters.hp_filter")
    x = np.random.default_rng(1).normal(size=80).cumsum()
    expected, _ = filters.hpfilter(x, 1600)
    assert measures.cycle(x) == pytest.approx(expected, abs=1e-9)
    line = 3 + 0.5 * np.arange(50.0)
    assert measures.cycle(line) == pytest.approx(np.zeros(50), abs=1e-8)


def test_correlations_at_lags_find_which_series_leads():
    x = np.random.default_rng(2).normal(size=300)
    behind = np.r_[np.zeros(2), x[:-2]]
    found = dict(zip(measures.LAGS, measures.at_lags(x, behind), strict=True))
    assert max(found, key=found.get) == 2 and found[2] == pytest.approx(1.0)


def test_both_sides_of_a_tent_are_straight_on_a_logarithmic_scale():
    side = -np.log(np.arange(1, 200) / 200)
    assert measures.tent_r2(np.r_[side, -side]) == pytest.approx(1.0)
    assert measures.tent_r2(np.random.default_rng(3).uniform(-1, 1, 400)) < 0.95


def test_an_autoregression_has_its_coefficients():
    rng, x = np.random.default_rng(4), [0.0, 0.0]
    for _ in range(20_000):
        x.append(0.9 * x[-1] - 0.2 * x[-2] + rng.normal())
    assert measures.autoregression(np.array(x), 2) == pytest.approx([0.9, -0.2], abs=0.02)


def test_only_the_middle_is_smoothed_and_lines_are_removed():
    assert measures.smoothed(np.arange(7.0) ** 2).tolist() == [0, 1, 6, 11, 18, 25, 36]
    assert measures.without_line(2 * np.arange(9.0) - 4) == pytest.approx(np.zeros(9), abs=1e-12)
    assert measures.gini(np.array([0.0, 0.0, 0.0, 4.0])) == 0.75
