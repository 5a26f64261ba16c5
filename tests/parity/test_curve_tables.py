"""Are the tables that the host makes of many curves at once those of the reference, bit by bit?"""

import math
import random
from decimal import Context, Decimal
from fractions import Fraction
from itertools import accumulate
from types import SimpleNamespace

import numpy as np
import pytest

from reference_py.economy import tables
from societies import config_from_dict
from societies.economy import curves, curves_on_device, double_double, exact_sums
from societies.economy.double_double import DoubleDouble, decided, exp, logarithms
from societies.opencl import choose_device
from societies.workload import Setup
from societies.workload.running.points import with_table
from societies.workload.running.registry import workload

ANY = 10**9  # a largest holding that never ends a table

UTILITY = [
    *((600.0, 2.0, 10.0), (50.0, 7.3, 0.05), (1e12, 2.0, 1e10), (600.0, 1.001, 597.0)),
    *((3.0, 40.0, 1e-9), (1.0, 2.0, 0.25), (2.0, 3.0, 1.9), (1e12, 6.0, 1e-12)),
    *((10.0, 2.0, 10.0), (600.0, 1.00001, 1.0)),
]
EFFORT = [
    *((7.0, 2.5, 45.5), (30.0, 0.5, 40.0), (9.0, 3.0, 1.0), (4.0, 4.0, 20.0), (1e6, 1.0, 30.0)),
    *((1e12, 1e-12, 9.0), (1e-3, 1e-12, 30.0), (27.0, 9.0, 40.0), (27.1, 0.003, 40.0)),
]


@pytest.fixture
def device():
    return choose_device("auto")


@pytest.fixture(autouse=True)
def _nothing_cached(monkeypatch):
    """Let every test compute its own tables."""
    monkeypatch.setattr(curves, "_MADE", {})


@pytest.mark.parametrize(("kind", "asked"), [("gpu", True), ("cpu", False), (None, False)])
def test_only_a_gpu_is_asked_for_tables_and_only_for_new_ones(monkeypatch, kind, asked):
    seen, device = [], kind and SimpleNamespace(kind=kind)
    curves.utility_tables(UTILITY[:1], 600)  # cached

    def made_on(device, keys, room):
        seen.append((device, keys, room))
        return [(np.array([9.0, 8.0]), np.array([9.0, 17.0])), None]

    monkeypatch.setattr(curves_on_device, "made_on", made_on)
    found = curves.utility_tables(UTILITY[:4], 600, device)
    room = [curves._longest(*key, 600) for key in UTILITY[1:4]]
    assert seen == ([(device, UTILITY[1:4], room)] if asked else [])
    assert (found.curve(1).marginal == (9.0, 8.0)) == asked
    assert (found.curve(1).total == (0.0, 9.0, 17.0)) == asked
    monkeypatch.setattr(curves, "_MADE", {})
    whole = curves.utility_tables(UTILITY[:4], 600)
    assert all(same(found.curve(i), whole.curve(i)) for i in (0, 2, 3))


def test_tables_of_a_later_batch_are_those_of_the_first(monkeypatch):
    """They were computed again for each replicate; more than fit are not cached."""
    keys = UTILITY[:3]
    first, fill = curves.utility_tables(keys, 600), curves._fill_marginal
    monkeypatch.setattr(curves, "_fill_marginal", None)
    again = curves.utility_tables(keys[::-1], 600)
    for number in range(3):
        assert same(first.curve(number), again.curve(2 - number))
    monkeypatch.setattr(curves, "_fill_marginal", fill)
    monkeypatch.setattr(curves, "MOST_MADE", 700)
    assert same(curves.utility_tables(keys, 600).curve(2), first.curve(2))
    assert sum(len(marginal) for marginal, _ in curves._MADE.values()) <= 700
    curves.utility_tables(keys[:1], 600)
    assert next(reversed(curves._MADE))[:3] == keys[0]


def test_a_gpu_makes_what_is_not_cached_and_the_host_the_rest(monkeypatch):
    keys, asked = UTILITY[:4], []
    whole = curves.utility_tables(keys, 600)
    curves._MADE.clear()
    curves.utility_tables(keys[1:2], 600)

    def made_on(device, keys, room):
        asked.append((keys, room))
        found = [whole.curve(number) for number in (0, 2)]
        return [(np.array(one.marginal), np.array(one.total[1:])) for one in found]

    monkeypatch.setattr(curves_on_device, "made_on", made_on)
    for kind in ("gpu", "cpu"):
        found = curves.utility_tables(keys, 600, SimpleNamespace(kind=kind))
        assert all(same(found.curve(number), whole.curve(number)) for number in range(4))
    rest = [keys[number] for number in (0, 2, 3)]
    assert asked == [(rest, [curves._longest(*key, 600) for key in rest])]


def test_tables_are_cached_as_far_as_they_fit(monkeypatch):
    """More than fit at once push out nothing, since they would push out each other."""
    keys = UTILITY[:2]
    lengths = [int(curves.utility_tables([key], 600).length[0]) for key in keys]
    for room, cached in ((sum(lengths), 2), (sum(lengths) - 1, 1)):
        curves._MADE.clear()
        monkeypatch.setattr(curves, "MOST_MADE", room)
        for key in keys:
            curves.utility_tables([key], 600)
        assert [name[:3] for name in curves._MADE] == keys[-cached:]
    before, longest = [*curves._MADE], sum(curves._longest(*key, 600) for key in keys)
    monkeypatch.setattr(curves, "MOST_MADE", longest - 1)
    curves.utility_tables(keys, 600)
    assert [*curves._MADE] == before
    monkeypatch.setattr(curves, "MOST_MADE", longest)
    curves.utility_tables(keys, 600)
    assert [name[:3] for name in curves._MADE] == keys


def test_overlapping_batches_compute_no_table_twice(monkeypatch):
    """Batches of a study begin anywhere among its points; all tables were dropped at the third."""
    keys = UTILITY[:3]
    batches = [[keys[0], keys[1]], [keys[1], keys[2]], [keys[2], keys[0]]]
    monkeypatch.setattr(curves, "MOST_MADE", sum(curves._longest(*key, 600) for key in keys))
    first = [curves.utility_tables(batch, 600) for batch in batches]
    monkeypatch.setattr(curves, "_fill_marginal", None)
    for batch, before in zip(batches, first, strict=True):
        again = curves.utility_tables(batch, 600)
        assert all(same(again.curve(number), before.curve(number)) for number in range(2))


def test_tables_used_last_leave_last(monkeypatch):
    keys = UTILITY[:3]
    most = int(curves.utility_tables(keys, 600).length.sum()) - 1
    monkeypatch.setattr(curves, "_MADE", {})
    monkeypatch.setattr(curves, "MOST_MADE", most)
    for key in (keys[0], keys[1], keys[0], keys[2]):
        curves.utility_tables([key], 600)
    assert [name[:3] for name in curves._MADE] == [keys[0], keys[2]]


MADE_BY_HOST = [(10.0, 2.0, 10.0), (1.0, 1e7, 1e-12)]
"""No entries; values too different for the kernel's sums."""


@pytest.mark.parametrize("at_once", [1 << 23, 500])
def test_tables_of_a_device_are_those_of_the_host(device, monkeypatch, at_once):
    """Also the unit at the floor, whole numbers, which no digit decides, and many launches."""
    monkeypatch.setattr(curves_on_device, "_AT_ONCE", at_once)
    monkeypatch.setattr(curves_on_device, "LEAST_ENTRIES", 1)
    rng = random.Random(2)
    keys = [
        (rng.uniform(1, 1e4), rng.uniform(1.05, 9.0), rng.uniform(1e-3, 0.5)) for _ in range(60)
    ]
    keys += [*UTILITY, *((600.0, 2.0 + i / 40, 1.0) for i in range(40))]
    keys = [key for key in keys if key not in MADE_BY_HOST] + MADE_BY_HOST
    room = [curves._longest(*key, 3000) for key in keys]
    host = curves.utility_tables(keys, 3000)
    found = list(curves_on_device.made_on(device, keys, room))
    left = [key for key, table in zip(keys, found, strict=True) if table is None]
    assert set(MADE_BY_HOST) <= set(left) and len(left) <= 5
    for number, table in enumerate(found):
        if table is not None:
            marginal, total = table[0].tolist(), [0.0, *table[1].tolist()]
            made = tables.UtilityCurve(tuple(marginal), tuple(total), keys[number][2])
            assert same(made, host.curve(number))


def test_an_ensemble_makes_many_tables_on_a_gpu(device, monkeypatch):
    """With the tables that it makes on the host, in a study's first launch."""
    monkeypatch.setattr(curves_on_device, "LEAST_ENTRIES", 1)
    monkeypatch.setattr(device, "kind", "gpu")
    asked, made_on = [], curves_on_device.made_on
    monkeypatch.setattr(
        curves_on_device, "made_on", lambda *given: asked.append(given[0]) or made_on(*given)
    )
    config = config_from_dict({"workload": "economy", "agents": 2, "resources": 2, "days": 3})
    config = with_table(config, {"utility.exponent": [2.0, 2.5, 3.0]})
    setup = Setup(workload("economy"), config).on(device)
    on_device = setup.source.arguments
    assert asked == [device]
    monkeypatch.setattr(curves, "_MADE", {})
    on_host = Setup(workload("economy"), with_table(config, {"utility.exponent": [2.0, 2.5, 3.0]}))
    assert on_device.keys() == on_host.source.arguments.keys()
    for number in range(3):
        assert same(setup.p._utility.curve(number), on_host.p._utility.curve(number))


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
        curve = found.curve(number)
        assert same(curve, tables.utility_curve(*key, 600)), key
        length = len(curve.marginal)  # there is room for it, and for hardly more
        assert length <= curves._longest(*key, 600) <= min(601, length + 5), key


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
    """The definition may give any entry: nothing decided by too few digits is used."""
    expected = tables.utility_curve(600.0, 2.0, 30.0, ANY)
    effort = tables.resource_effort(9.0, 3.0, 20.0)
    monkeypatch.setattr(curves, "decided", lambda number, error: np.zeros(error.shape, bool))
    assert same(curves.utility_tables([(600.0, 2.0, 30.0)], ANY).curve(0), expected)
    assert curves.resource_effort_tables([(9.0, 3.0, 20.0)]).curve(0).minutes == effort.minutes


def test_what_is_undecided_is_the_unit_that_is_asked_for(monkeypatch):
    """A definition of our own in its place: every entry is that of its own unit and curve."""
    monkeypatch.setattr(curves, "decided", lambda number, error: np.zeros(error.shape, bool))
    monkeypatch.setattr(curves, "_AT_ONCE", 5)
    monkeypatch.setattr(
        tables, "utility_of_unit", lambda scale, exponent, unit: Decimal(scale + 1000 * unit)
    )
    (curve,) = [curves.utility_tables([(7.0, 2.0, 1.0)], 11).curve(0)]
    assert curve.marginal == tuple(7.0 + 1000 * unit for unit in range(1, len(curve.marginal) + 1))
    keys = [(9.0, 3.0, 4.0), (8.0, 2.0, 1.5), (7.0, 1.0, 6.0)]
    monkeypatch.setattr(
        tables, "resource_effort_at", lambda high, low, most, e: Decimal(high + 100 * e)
    )
    found = curves.resource_effort_tables(keys)
    for number, (high, low, most) in enumerate(keys):
        entries = [*(high + 100 * e for e in range(math.ceil(most))), low]
        assert found.curve(number).minutes == tuple(entries)


def deciding(monkeypatch, make):
    """Return the numbers and bounds of errors by which a table's entries are decided."""
    seen = []

    def look(number, error):
        seen.append((number.high.tolist(), number.low.tolist(), error.tolist()))
        return decided(number, error)

    with monkeypatch.context() as patch:
        patch.setattr(curves, "decided", look)
        make()
    return [row for each in seen for row in zip(*each, strict=True)]


@pytest.mark.parametrize("key", [(600.0, 2.5, 6.0), (50.0, 1.2, 20.0), (1e9, 30.0, 1e5)])
def test_errors_of_utility_are_within_their_bound(monkeypatch, key):
    """And the bound is so small that hardly an entry has to be computed by the definition."""
    rows = deciding(monkeypatch, lambda: curves.utility_tables([key], 400))
    for unit, (high, low, error) in list(enumerate(rows, 1))[::7]:
        exact = Fraction(tables.utility_of_unit(*key[:2], unit))
        assert abs(Fraction(high) + Fraction(low) - exact) < error < high * 2.0**-80, unit


@pytest.mark.parametrize("what", ["resource_effort", "device_effort"])
@pytest.mark.parametrize("key", [(9.0, 3.0, 40.0), (30.0, 0.5, 100.5), (1.0, 0.9, 25.0)])
def test_errors_of_efforts_are_within_their_bound(monkeypatch, what, key):
    exact, asked = getattr(tables, f"{what}_at"), []
    monkeypatch.setattr(tables, f"{what}_at", lambda *of: asked.append(of) or exact(*of))
    rows = deciding(monkeypatch, lambda: getattr(curves, f"{what}_tables")([key]))
    assert len(asked) <= 1  # by the definition; the last entry needs neither
    for experience, (high, low, error) in list(enumerate(rows[:-1]))[::3]:
        wrong = abs(Fraction(high) + Fraction(low) - Fraction(exact(*key, experience)))
        assert wrong < error < high * 2.0**-85, experience


def test_a_table_that_is_too_long_is_refused_at_once():
    with pytest.raises(ValueError, match="more than 2000000 units"):
        curves.utility_tables([(600.0, 2.0, 30.0), (600.0, 1.5, 1.0)], 5_000_000)


def test_a_single_curve_is_that_of_the_tables():
    assert same(curves.utility_curve(50.0, 7.3, 0.5, 90), tables.utility_curve(50.0, 7.3, 0.5, 90))
    for what in ("resource_effort", "device_effort"):
        one, other = (getattr(each, what)(8.0, 2.0, 9.5) for each in (curves, tables))
        assert (one.minutes, one.total, one.max_experience) == (
            *(other.minutes, other.total, other.max_experience),
        )


def test_tables_of_2_to_the_32_entries_are_refused():
    assert curves.starts([2**31, 5, 2**31 - 6]).tolist() == [0, 2**31, 2**31 + 5]
    with pytest.raises(ValueError, match="4294967296 entries"):
        curves.starts([2**31, 2**31])


# -- twice the digits of a double


def fraction(pair, place):
    return Fraction(float(pair.high[place])) + Fraction(float(pair.low[place]))


def doubles(rng, count, powers=40):
    return rng.uniform(-1, 1, count) * 2.0 ** rng.integers(-powers, powers, count)


def test_sums_and_products_of_doubles_are_exact():
    rng = np.random.default_rng(5)
    a, b = doubles(rng, 300), doubles(rng, 300)
    total, product = double_double.two_sum(a, b), double_double.two_product(a, b)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        assert fraction(total, i) == Fraction(x) + Fraction(y)
        assert fraction(product, i) == Fraction(x) * Fraction(y)
        assert (total.high[i], product.high[i]) == (x + y, x * y)


def test_arithmetic_of_pairs_keeps_within_its_bounds():
    """Also where two numbers nearly cancel: there the last parts are all that is left."""
    rng, u = np.random.default_rng(6), Fraction(1, 2**53)
    high = doubles(rng, 300, 3)
    a = DoubleDouble(high, high * rng.uniform(-1, 1, 300) * 2.0**-54)
    near = np.where(np.arange(300) % 2, -high, doubles(rng, 300, 3))
    b = DoubleDouble(near, near * rng.uniform(-1, 1, 300) * 2.0**-54)
    c = doubles(rng, 300, 3)
    found = {
        "add": (double_double.add(a, b), lambda x, y, _: x + y, Fraction(31, 10)),
        "subtract": (double_double.subtract(a, b), lambda x, y, _: x - y, Fraction(31, 10)),
        "times": (double_double.times(a, c), lambda x, _, z: x * z, 3),
        "multiply": (double_double.multiply(a, b), lambda x, y, _: x * y, 5),
        "divide": (double_double.divide(a, c), lambda x, _, z: x / z, 4),
    }
    for name, (result, exact, bound) in found.items():
        for i in range(300):
            right = exact(fraction(a, i), fraction(b, i), Fraction(float(c[i])))
            assert abs(fraction(result, i) - right) <= bound * u**2 * abs(right), name
    squares = np.abs(high)
    roots = double_double.sqrt(squares)
    for i in range(300):
        wrong = fraction(roots, i) ** 2 / Fraction(float(squares[i])) - 1
        assert abs(wrong) <= 8 * u**2  # twice that of the root


def test_logarithms_of_any_count_are_as_many():
    for count in (1, 2**14 - 1, 2**14, 2**14 + 1):
        found = logarithms(count)
        assert found.high.shape == found.low.shape == (count,)
        assert found.high[-1] == math.log(count)


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
    assert (0.0, *exact_sums.running_sums(values).tolist()) == tables.prefix_sums(values.tolist())


@pytest.mark.parametrize("ratio", [1, 2**31, 2**32, 2**33, 2**60])
def test_sums_are_those_of_fractions(ratio):
    """With the largest digits, at both sides of the ratio from which on they are added slowly."""
    values = np.array([1.0 - 2.0**-53, 0.5, 1.0 - 2.0**-53, 0.5 + 2.0**-53] * 9)
    values[1::2] /= ratio
    exact = [float(total) for total in accumulate(map(Fraction, values.tolist()))]
    assert exact_sums.running_sums(values).tolist() == exact
    assert exact_sums._sums_of_any(values).tolist() == exact
    assert exact_sums.running_sums(values[:0]).tolist() == []


def test_powers_of_two_are_the_nearest_double_and_the_nearest_to_its_rest():
    context, found = Context(prec=100), double_double.powers_of_two()
    assert len(found.high) == len(found.low) == 4096
    for i in [*range(0, 4096, 89), 4095]:
        exact = context.power(Decimal(2), Decimal(i) / 4096)
        rest = context.subtract(exact, Decimal(float(exact)))
        assert (found.high[i], found.low[i]) == (float(exact), float(rest))
