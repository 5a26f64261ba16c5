"""Does the comparison with recorded series tell what differs, and nothing else?

Numbers from tests/data/societies-baseline: canon-s1.csv, day 1.
"""

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "economy" / "scenarios"))
try:
    agreement = importlib.import_module("agreement")
finally:
    sys.path.pop(0)
acceptable, compare_series, misses = (
    agreement.acceptable,
    agreement.compare_series,
    agreement.misses,
)
Comparison, left_open = agreement.Comparison, agreement.left_open


def compared(ours, mean, sd=0.0, series="hhi_max", days=(1,)):
    values = np.broadcast_to(np.asarray(ours, dtype=float), (20, len(days)))
    return compare_series(series, values, days, {d: {"mean": mean, "sd": sd} for d in days}, 20)


def test_what_is_equal_but_for_the_recorded_digits_agrees():
    """Of 48 agents each resource is extracted 67 times: 3 / 128 where 19 have two units of it.

    It is recorded as 0.023438, with a standard deviation of 7e-18.
    """
    assert acceptable(compared(3 / 128, 0.023438, sd=7.11915e-18))
    assert not misses(compared(3 / 128, 0.023438, sd=7.11915e-18))


@pytest.mark.parametrize(
    ("ours", "recorded"),
    [
        (1.00004, 1.0),  # five digits of it are 1.0000
        (99999.4, 99999.0),
        (-0.0123454, -0.012345),
        (2.2e-16, -2.22045e-16),  # noise about 0
        (0.0, 0.0),
    ],
)
def test_the_fifth_digit_is_known_to_half_a_unit(ours, recorded):
    assert not misses(compared(ours, recorded))
    assert misses(compared(recorded + 2.2 * left_open(recorded), recorded))


def test_what_differs_by_more_than_the_digits_misses():
    """67 units and 67.01 units, 0.02344 and 0.02345, on a day on which nothing varies."""
    assert misses(compared(67.01, 67.0))
    assert misses(compared(0.02345, 0.02344))
    assert misses(compared(1e-6, 0.0))


def test_two_days_in_a_row_are_no_chance():
    ours = [67.0, 70.0, 67.0, 70.0]
    assert len(misses(compared(ours, 67.0, days=(1, 25, 50, 100)))) == 2
    many = compared([67.0] * 200, 67.0, series="held", days=tuple(range(1, 201)))
    assert acceptable(compared(ours, 67.0, days=(1, 25, 50, 100)) + many)
    assert not acceptable(compared([67.0, 70.0, 70.0, 67.0], 67.0, days=(1, 25, 50, 100)) + many)


def test_a_comparison_by_hand():
    """Societies of 1, 2 and 6, mean 3, standard deviation root 7; the recorded one is larger."""
    ours = [[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]]
    recorded = {25: {"mean": 4.0, "sd": 3.0}, 50: {"mean": 5.1, "sd": 0.0}}
    first, second = compare_series("gini", ours, [25, 50], recorded, 12)
    assert (first.series, first.day, first.ours, first.baseline) == ("gini", 25, 3.0, 4.0)
    assert first.allowed == pytest.approx(3 * math.sqrt(9 / 3 + 9 / 12))
    assert first.rounding == pytest.approx(0.00005 + 1e-12)  # half of the fifth digit
    assert first.agrees
    assert (second.day, second.ours, second.allowed) == (50, 5.0, 0.0)
    assert not second.agrees
    (third,) = compare_series("gini", ours, [25], {25: {"mean": 4.0, "sd": 1.0}}, 4)
    assert third.allowed == pytest.approx(3 * math.sqrt(7 / 3 + 7 / 4))


@pytest.mark.parametrize(
    ("recorded", "left"), [(0.0, 0), (1.0, 5e-5), (99999.0, 0.5), (0.012345, 5e-7), (-20.0, 5e-4)]
)
def test_what_the_digits_of_a_number_leave_open(recorded, left):
    assert left_open(recorded) == pytest.approx(left + 1e-12, rel=1e-9)


def test_what_agrees_at_the_last():
    for ours, agrees in ((3.25, True), (3.2500001, False), (2.75, True), (2.7499999, False)):
        assert Comparison("gini", 1, ours, 3.0, 0.125, 0.125).agrees == agrees


def test_how_many_may_miss():
    def one(series, agrees):
        return Comparison(series, 1, 0.0 if agrees else 1.0, 0.0, 0.5, 0.0)

    good, bad, other = one("gini", True), one("gini", False), one("hhi", False)
    assert acceptable([bad]) and acceptable([]) and acceptable([good, bad, good])
    assert not acceptable([bad, bad])  # the same series on days in a row
    assert not acceptable([bad, good, bad])  # two of three
    assert acceptable([good] * 98 + [bad, other])  # two of a hundred, of two series
    assert acceptable([bad, *[good] * 98, bad])
    assert not acceptable([bad, *[good] * 97, bad])  # two of 99
    assert not acceptable([*[good] * 98, bad, bad])
    assert not acceptable([bad, *[good] * 50, bad, *[good] * 50, bad])
    assert acceptable([bad, *[good] * 70, bad, *[good] * 78, bad])  # three of 151
