"""Are the tables that the host makes of many curves at once those of the reference, bit by bit?"""

import random
from decimal import Context, Decimal

import numpy as np
import pytest

from reference_py.economy import tables
from societies.economy import curves
from societies.economy.double_double import DoubleDouble, decided, exp, logarithms

ANY = 10**9  # a largest holding that never ends a table

UTILITY = [
    *((600.0, 2.0, 10.0), (50.0, 7.3, 0.05), (1e12, 2.0, 1e10), (600.0, 1.001, 597.0)),
    *((3.0, 40.0, 1e-9), (1.0, 2.0, 0.25), (2.0, 3.0, 1.9), (1e12, 6.0, 1e-12)),
]
EFFORT = [
    *((7.0, 2.5, 45.5), (30.0, 0.5, 40.0), (9.0, 3.0, 1.0), (4.0, 4.0, 20.0), (1e6, 1.0, 30.0)),
    *((1e12, 1e-12, 9.0), (1e-3, 1e-12, 30.0), (27.0, 9.0, 40.0)),
]


def some(numbers, *ranges):
    """Keys at random between bounds, the same in every run of the tests."""
    rng = random.Random(1)
    return [tuple(rng.uniform(*ends) for ends in ranges) for _ in range(numbers)]


def same(one, other):
    return all(
        getattr(one, name) == getattr(other, name) for name in ("marginal", "total", "floor")
    )


def test_utility():
    keys = [*UTILITY, *some(12, (10.0, 1000.0), (1.2, 6.0), (0.5, 8.0))]
    found = curves.utility_tables(keys, 600)
    for number, key in enumerate(keys):
        assert same(found.curve(number), tables.utility_curve(*key, 600)), key


@pytest.mark.thorough
def test_long_utility():
    keys = some(10, (500.0, 700.0), (2.3, 2.7), (0.8, 1.2))
    found = curves.utility_tables(keys, ANY)
    for number, key in enumerate(keys):
        assert same(found.curve(number), tables.utility_curve(*key, ANY)), key


def test_a_table_of_several_steps(monkeypatch):
    """A long table is computed in stretches; where one begins changes nothing."""
    whole = curves.utility_tables([(600.0, 2.0, 4.0)], ANY)
    monkeypatch.setattr(curves, "_AT_ONCE", 17)
    pieces = curves.utility_tables([(600.0, 2.0, 4.0)], ANY)
    assert same(whole.curve(0), pieces.curve(0))
    keys = some(7, (8.0, 10.0), (1.0, 4.0), (1.0, 30.0))
    found = curves.resource_effort_tables(keys)
    for number, key in enumerate(keys):
        assert found.curve(number).minutes == tables.resource_effort(*key).minutes


@pytest.mark.parametrize("what", ["resource_effort", "device_effort"])
def test_effort(what):
    keys = [*EFFORT, *some(8, (3.0, 60.0), (0.1, 3.0), (1.0, 60.0))]
    found = getattr(curves, f"{what}_tables")(keys)
    for number, key in enumerate(keys):
        one, other = found.curve(number), getattr(tables, what)(*key)
        assert one.minutes == other.minutes, key
        assert one.total == other.total, key
        assert one.max_experience == other.max_experience


def test_what_is_undecided_is_computed_by_the_definition(monkeypatch):
    """The definition may give any entry: nothing decided by too few digits is kept."""
    expected = tables.utility_curve(600.0, 2.0, 30.0, ANY)
    effort = tables.resource_effort(9.0, 3.0, 20.0)
    monkeypatch.setattr(curves, "decided", lambda number, error: np.zeros(error.shape, bool))
    assert same(curves.utility_tables([(600.0, 2.0, 30.0)], ANY).curve(0), expected)
    assert curves.resource_effort_tables([(9.0, 3.0, 20.0)]).curve(0).minutes == effort.minutes


def test_an_interval_with_a_number_halfway_is_not_decided():
    half = np.spacing(1.0) / 2
    numbers = DoubleDouble(np.ones(4), np.array([0.0, half * 0.999, half, -half / 2]))
    error = np.array([half * 0.999, half * 0.01, 1e-30, 1e-30])
    assert decided(numbers, error).tolist() == [False, False, False, False]
    assert decided(DoubleDouble(np.ones(1), np.array([half / 2])), np.array([half / 4])).all()


@pytest.mark.parametrize("ends", [(-16.0, 16.0), (-650.0, 650.0), (-1e-6, 1e-6)])
def test_powers_keep_within_their_bound(ends):
    rng, context = np.random.default_rng(1), Context(prec=70)
    high = rng.uniform(*ends, 300)
    low = high * rng.uniform(-1, 1, 300) * 2.0**-54
    found = exp(DoubleDouble(high, low))
    for x, more, a, b in zip(high, low, found.high, found.low, strict=True):
        exact = context.exp(context.add(Decimal(float(x)), Decimal(float(more))))
        given = context.add(Decimal(float(a)), Decimal(float(b)))
        wrong = abs(context.divide(context.subtract(given, exact), exact))
        assert wrong < (abs(x) + 4) * 2.0**-101 / 30


def test_logarithms_keep_within_their_bound():
    context, found = Context(prec=70), logarithms(9000)
    assert found.high[0] == found.low[0] == 0.0
    for n in range(2, 9000, 71):
        given = context.add(Decimal(float(found.high[n - 1])), Decimal(float(found.low[n - 1])))
        assert abs(context.subtract(given, context.ln(Decimal(n)))) < 2.0**-98


@pytest.mark.parametrize("ratio", [1e-3, 1e-9, 1e-30])
def test_running_sums_are_rounded_once(ratio):
    """The last ratio is beyond what three digits of 32 bits hold."""
    rng = np.random.default_rng(3)
    values = np.sort(np.exp(rng.uniform(np.log(ratio), 0.0, 500)))[::-1]
    assert (0.0, *curves.running_sums(values).tolist()) == tables.prefix_sums(values.tolist())
