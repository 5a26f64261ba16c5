"""Does the comparison with recorded series tell what differs, and nothing else?

Numbers from tests/data/societies-baseline: canon-s1.csv, day 1.
"""

import importlib
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
left_open = agreement.left_open


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
