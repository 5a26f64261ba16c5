"""Are means over copies, their intervals and means of many ticks what can be worked out by hand?"""

import math

import numpy as np
import pytest

from societies.workload.drawing import bands

NAN = math.nan


def test_a_mean_is_over_copies_and_leaves_out_what_is_missing():
    values = np.array([[1.0, NAN, NAN], [4.0, 2.0, NAN], [7.0, 6.0, NAN]])
    found = bands.mean(values)
    assert found[:2].tolist() == [4.0, 4.0] and math.isnan(found[2])
    assert bands.mean(np.array([[1.0, 2.0, 3.0, 6.0]])).tolist() == [1.0, 2.0, 3.0, 6.0]
    assert bands.mean(np.array([[1.0], [2.0], [9.0]])).tolist() == [4.0]


def by_hand(sample, level, resamples, seed, draws):
    """Return the ends from means of samples drawn one by one."""
    means = []
    for row in np.random.default_rng(seed).integers(0, draws, (resamples, draws)):
        drawn = [sample[i] for i in row if not math.isnan(sample[i])]
        means.append(sum(drawn) / len(drawn) if drawn else NAN)
    ordered = sorted(one for one in means if not math.isnan(one))
    ends = []
    for part in ((1 - level) / 2, (1 + level) / 2):
        place = part * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        ends.append(ordered[low] + (place - low) * (ordered[high] - ordered[low]))
    return ends


@pytest.mark.parametrize("at_once", [1 << 27, 1])
@pytest.mark.parametrize(("level", "seed"), [(0.9, 0), (0.5, 3)])
def test_an_interval_has_percentiles_of_means_of_samples(monkeypatch, at_once, level, seed):
    """However many columns are computed at a time; of one value there is no interval."""
    monkeypatch.setattr(bands, "_BYTES_AT_ONCE", at_once)
    columns = np.array(
        [
            [1.0, 5.0, 2.0, NAN, 3.0],
            [4.0, NAN, 7.0, NAN, NAN],
            [9.0, 1.0, 8.0, 6.0, NAN],
            [2.0, 3.0, 3.0, NAN, 8.0],
        ]
    )
    found = bands.ends_of_mean(columns, level, 60, seed)
    assert found.shape == (2, 5)
    for i in (0, 1, 2, 4):
        assert found[:, i].tolist() == pytest.approx(by_hand(columns[:, i], level, 60, seed, 4))
    assert np.isnan(found[:, 3]).all()
    whole = bands.ends_of_mean(columns[:, [0, 2]], level, 60, seed)
    assert whole[:, 1].tolist() == pytest.approx(by_hand(columns[:, 2], level, 60, seed, 4))
    assert np.isnan(bands.ends_of_mean(columns[:1], level)).all()
    two = bands.ends_of_mean(columns[2:4, :1], level, 60, seed)
    assert two[:, 0].tolist() == pytest.approx(by_hand(columns[2:4, 0], level, 60, seed, 2))
    assert bands.ends_of_mean(columns.reshape(4, 5, 1), level, 60, seed).shape == (2, 5, 1)
    usual = bands.ends_of_mean(columns[:, :1], level)
    expected = by_hand(columns[:, 0], level, 1000, 0, 4)
    assert usual[:, 0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("most", "ticks", "values", "each"),
    [
        (7, [1, 2, 3, 4, 5, 6, 7], [[1, 2, 3, NAN, 5, 6, 9]], 1),
        (9, [1, 2, 3, 4, 5, 6, 7], [[1, 2, 3, NAN, 5, 6, 9]], 1),
        (4, [1.5, 3.5, 5.5, 7], [[1.5, 3, 5.5, 9]], 2),
        (6, [1.5, 3.5, 5.5, 7], [[1.5, 3, 5.5, 9]], 2),
        (3, [2, 5, 7], [[2, 5.5, 9]], 3),
        (1, [4], [[26 / 6]], 7),
    ],
)
def test_ticks_that_follow_each_other_are_one_mean(most, ticks, values, each):
    given = np.array([[1, 2, 3, NAN, 5, 6, 9]])
    found = bands.thinned(np.arange(1, 8), given, most)
    assert found[0].tolist() == ticks and found[2] == each
    np.testing.assert_allclose(found[1], values)


def test_a_mean_of_ticks_of_which_none_is_recorded_is_missing():
    _, means, each = bands.thinned(np.arange(4), np.array([NAN, NAN, 1.0, 3.0]), 2)
    assert each == 2 and math.isnan(means[0]) and means[1] == 2.0
