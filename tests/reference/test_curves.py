"""Are the curves those of the model, correctly rounded, and no longer than they have to be?

Numbers: societies-model.md, section 3. The second opinion on the last bit uses whole numbers only
(integer roots, a Taylor series in fixed point), where the tables use decimal powers.
"""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from engines import ReferenceEngine

from reference_py.economy import curves as look_up
from reference_py.economy import tables
from reference_py.economy.tables import resource_effort, utility_curve
from societies import config_from_dict
from societies.economy.config import bounds
from societies.economy.config.bounds import largest_holding
from societies.economy.parameters import parameters
from societies.workload import Setup
from societies.workload.running.engines import full_kernel_text
from societies.workload.running.registry import workload

ENOUGH = 10**9  # a largest holding that never ends a table
DIGITS = 90
ONE = 10**DIGITS


def default_utility():
    return utility_curve(600.0, 2.5, 1.0, ENOUGH)


def default_effort():
    return resource_effort(9.0, 3.0, 600.0).minutes


# -- printed numbers -------------------------------------------------------------------------------


def test_printed_marginal_utilities():
    curve = default_utility()
    assert len(curve.marginal) == 9269
    assert curve.marginal[0] == 600.0
    printed = [600, 191.7047, 139.4026, 113.5533, 97.5317]
    np.testing.assert_allclose(curve.marginal[:5], printed, atol=5e-5, rtol=0)


def test_printed_length_of_the_square_root():
    # U = 600 sqrt(x): the first k with sqrt(k + 1) - sqrt(k) <= 1/60 is 900 for a floor of 10.
    assert len(utility_curve(600.0, 2.0, 10.0, ENOUGH).marginal) == 900


@pytest.mark.parametrize(
    ("experience", "minutes"),
    [
        (0, 8.985127),
        (10, 8.973676),
        (50, 8.842357),
        (100, 8.340001),
        (200, 6.336216),
        (300, 4.549408),
        (400, 3.624425),
        (500, 3.237728),
        (599, 3.089458),
        (600, 3.0),
    ],
)
def test_printed_efforts(experience, minutes):
    assert default_effort()[experience] == pytest.approx(minutes, abs=5e-7)


# -- shape -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "exponent", "floor"),
    [(600.0, 2.5, 1.0), (600.0, 1.001, 597.0), (50.0, 7.3, 0.05), (1e12, 2.0, 1e10)],
)
def test_marginal_utility_falls_and_total_is_concave(scale, exponent, floor):
    curve = utility_curve(scale, exponent, floor, ENOUGH)
    assert curve.marginal[0] == scale
    assert np.all(np.diff(curve.marginal) < 0)
    assert min(curve.marginal) > floor
    assert curve.floor == floor
    steps = np.diff(curve.total)
    assert np.all(steps > 0)
    assert np.all(np.diff(steps) <= 2 * np.spacing(curve.total[-1]))


def test_the_table_ends_with_the_first_unit_at_the_floor():
    for scale, exponent, floor in [(600.0, 2.5, 1.0), (50.0, 4.0, 0.3)]:
        length = len(utility_curve(scale, exponent, floor, ENOUGH).marginal)
        assert worth(scale, exponent, length) > floor >= worth(scale, exponent, length + 1)


@pytest.mark.parametrize(
    ("high", "low", "cap"), [(9.0, 3.0, 600.0), (7.0, 2.5, 450.5), (30.0, 0.5, 40.0), (9, 3, 1)]
)
def test_effort_falls_from_almost_the_most_to_the_least(high, low, cap):
    minutes = resource_effort(float(high), float(low), float(cap)).minutes
    assert len(minutes) == math.ceil(cap) + 1
    assert np.all(np.diff(minutes) <= 0)
    assert minutes[0] < minutes[-1] + (high - low)
    assert minutes[-1] == low


def test_effort_without_learning_is_constant():
    assert set(resource_effort(4.0, 4.0, 100.0).minutes) == {4.0}


# -- the last bit ----------------------------------------------------------------------------------


def root(x, numerator, denominator):
    """x ** (numerator / denominator) times 10**90, rounded down, by whole numbers alone."""
    target = x**numerator * 10 ** (DIGITS * denominator)
    if target == 0:
        return 0
    guess = 1 << -(-target.bit_length() // denominator)  # not below the root
    while True:
        better = ((denominator - 1) * guess + target // guess ** (denominator - 1)) // denominator
        if better >= guess:
            return guess
        guess = better


def worth(scale, exponent, unit):
    """Exact utility of the unit-th unit, to 90 digits, as a fraction."""
    power = 1 / Fraction(exponent)
    two = [root(x, power.numerator, power.denominator) for x in (unit - 1, unit)]
    return Fraction(scale) * Fraction(two[1] - two[0], ONE)


@pytest.mark.parametrize("exponent", [2.5, 2.0, 4.0, 1.25, 1.5])
def test_marginal_utility_is_correctly_rounded(exponent):
    curve = utility_curve(600.0, exponent, 1.0, 3000)
    units = [*range(1, 200), *range(200, len(curve.marginal) + 1, 61)]
    for unit in units:
        assert curve.marginal[unit - 1] == float(worth(600.0, exponent, unit)), unit


def test_total_utility_is_the_correctly_rounded_sum():
    curve = default_utility()
    for k in [*range(50), *range(50, 9270, 97), 9269]:
        assert curve.total[k] == math.fsum(curve.marginal[:k]), k


def exp_minus(x):
    """exp(-x) times 10**90 for a fraction x >= 0, by Taylor's series in fixed point."""
    guard = 10 ** (DIGITS + 40)
    halvings = 12 + x.numerator.bit_length() - x.denominator.bit_length()
    halvings = max(halvings, 0)
    small = x.numerator * guard // (x.denominator << halvings)
    term = total = guard
    n = 1
    while term:
        term = term * small // guard // n
        total += -term if n % 2 else term
        n += 1
    for _ in range(halvings):
        total = total * total // guard
    return Fraction(total, guard)


@pytest.mark.parametrize(
    ("high", "low", "cap"), [(9.0, 3.0, 600.0), (7.0, 2.5, 450.5), (8.7, 3.3, 10.0)]
)
def test_effort_is_correctly_rounded(high, low, cap):
    minutes = resource_effort(high, low, cap).minutes
    span = Fraction(high) - Fraction(low)
    twice_root = 2 * Fraction(root(Fraction(high).numerator, 1, 2), ONE)
    twice_root /= Fraction(root(Fraction(high).denominator, 1, 2), ONE)
    for e in range(0, len(minutes) - 1, 7):
        decline = twice_root * exp_minus(span * e / Fraction(cap))
        assert minutes[e] == float(Fraction(high) - span * exp_minus(decline)), e


# -- length ----------------------------------------------------------------------------------------


def test_a_short_run_needs_no_table_longer_than_any_agent_can_hold(monkeypatch):
    monkeypatch.setattr(bounds, "ALWAYS_TABLED", 0)
    config = config_from_dict(
        {
            "workload": "economy",
            "agents": 2,
            "resources": 3,
            "days": 2,
            "utility": {"exponent": 1.5},
        }
    )
    p = parameters(config)
    (curve,) = p.utility_curves  # uncapped: 64 million entries
    most_a_day = 600 / 3 + 1
    assert len(curve.marginal) <= 2 * 2 * (most_a_day + 1) + 1
    assert curve.marginal[-1] > 1.0
    engine = ReferenceEngine(p)
    engine.start()
    engine.run_days(1, 2)
    assert engine.state()["held"].sum() < len(curve.marginal)


def test_small_societies_have_kernels_of_one_text_whatever_their_days():
    """Found in use: each number of days of a first try built all kernels again."""
    texts = {
        full_kernel_text(Setup(workload("economy"), config), {"DEVICE_IS_CPU": "1"}).text
        for days in (1, 2, 5, 30)
        for config in [config_from_dict({"workload": "economy", "agents": 4, "days": days})]
    }
    assert len(texts) == 1


def test_a_table_that_would_be_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(tables, "LONGEST_TABLE", 1000)
    assert len(utility_curve(600.0, 2.0, 9.488, ENOUGH).marginal) == 1000
    with pytest.raises(ValueError, match=r"exponent 2 .*raise min_marginal"):
        utility_curve(600.0, 2.0, 9.48, ENOUGH)
    assert len(utility_curve(600.0, 2.0, 9.48, 999).marginal) == 1000  # no agent can hold more


def test_a_curve_that_hardly_falls_is_refused_at_once():
    """64 million units: seen from the marginal utility at the longest table, not by counting."""
    with pytest.raises(ValueError, match="more than 2000000 units"):
        utility_curve(600.0, 1.5, 1.0, 5_000_000)


def test_such_a_curve_is_cut_off_where_no_agent_gets():
    """The paper's exponents work: no agent can hold 64 million units in 500 days."""
    config = config_from_dict({"workload": "economy", "utility": {"exponent": 1.5}})
    (curve,) = parameters(config).utility_curves
    assert len(curve.marginal) == largest_holding(config) + 1 < 100_000
    assert curve.marginal[-1] > curve.floor


# -- look-ups --------------------------------------------------------------------------------------


def test_beyond_the_table_every_unit_is_worth_the_floor():
    curve = utility_curve(600.0, 2.5, 40.0, ENOUGH)
    end = len(curve.marginal)
    assert look_up.marginal_utility(curve, -1) == 0.0
    assert look_up.marginal_utility(curve, end - 1) == curve.marginal[-1] > 40.0
    assert look_up.marginal_utility(curve, end) == 40.0
    assert look_up.marginal_utility(curve, 10**9) == 40.0
    assert look_up.total_utility(curve, end) == curve.total[-1]
    assert look_up.total_utility(curve, end + 7) == curve.total[-1] + 280.0
    assert look_up.gain(curve, end - 1, 2) == pytest.approx(curve.marginal[-1] + 40.0)
    assert look_up.loss(curve, end + 5, 3) == pytest.approx(120.0)
    assert look_up.loss(curve, 4, 5) == 0.0
    assert look_up.gain(curve, 3, 0) == 0.0


def test_effort_counts_whole_experience_and_stops_at_the_cap():
    curve = SimpleNamespace(minutes=default_effort())
    assert look_up.effort(curve, 99.999) == curve.minutes[99]
    assert look_up.effort(curve, 100.0) == curve.minutes[100]
    assert look_up.effort(curve, 599.99) == curve.minutes[599] > 3.0
    assert look_up.effort(curve, 600.0) == look_up.effort(curve, 1e9) == 3.0


def test_agents_have_the_curves_of_their_group_and_of_the_resource():
    groups = [
        {"name": "quick", "count": 1, "extraction": {"max_effort": [5.0, 9.0], "min_effort": 2.0}},
        {
            "name": "slow",
            "count": 2,
            "extraction": {"max_effort": [60.0, 80.0], "min_effort": 40.0},
        },
    ]
    groups[1]["utility"] = {"scale": [300.0, 500.0]}
    asked = {"workload": "economy", "agents": 3, "resources": 2, "days": 2, "groups": groups}
    p = parameters(config_from_dict({**asked, "utility": {"scale": [600.0, 900.0]}}))
    for agent, efforts in enumerate([(5.0, 9.0), (60.0, 80.0), (60.0, 80.0)]):
        for resource, most in enumerate(efforts):
            curve = look_up.effort_curve(p, agent, resource)
            assert look_up.effort(curve, 0) == pytest.approx(most, rel=0.02)
            assert look_up.effort(curve, 1e9) == (40.0 if agent else 2.0)
    for agent, scales in enumerate([(600.0, 900.0), (300.0, 500.0), (300.0, 500.0)]):
        for resource, scale in enumerate(scales):
            curve = look_up.utility_curve(p, agent, resource)
            assert look_up.marginal_utility(curve, 0) == scale
