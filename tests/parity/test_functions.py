"""Does a function of the economy's kernels, called alone, give the bits of its twin?"""

import math
from functools import partial

import numpy as np
import pytest
from gpu_form import form
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference_py.economy import curves, trading
from societies import config_from_dict
from societies.economy import source
from societies.economy.parameters import parameters
from societies.opencl import Program, choose_device

GROUPS = [
    {"name": "able", "share": 0.5, "utility": {"scale": 300.0, "exponent": 2.0}},
    {"name": "strong", "share": 0.5, "trade_power": 2.5, "extraction": {"max_experience": 45.5}},
]
COUNTS = st.lists(st.integers(-1, 5000), min_size=1, max_size=40)
POSITIVE = st.floats(1e-300, 1e300)


@pytest.fixture(scope="module")
def p():
    return parameters(
        config_from_dict({"workload": "economy", "agents": 6, "resources": 3, "groups": GROUPS})
    )


@pytest.fixture(scope="module")
def function(p):
    """Return a function of the kernels by name; the curves' tables are passed where it has them."""
    device = choose_device("auto")
    bargaining, extraction = (
        Program(device, [file], macros=source.macros(p), header=source.header(p))
        for file in ("economy/bargaining.cl", "economy/extraction.cl")
    )
    tables = {name: device.array(values) for name, values in source.constant_tables(p).items()}

    def found(name):
        called = (extraction if name == "better_node" else bargaining).function(name)
        wanted = {parameter.name for parameter in called.signature.parameters}
        return partial(called, **{n: table for n, table in tables.items() if n in wanted})

    return found


@given(curve=st.integers(0, 1), held=COUNTS)
def test_marginal_utility(function, p, curve, held):
    found = function("marginal_utility")(curve=curve, held=held)
    assert found.tolist() == [curves.marginal_utility(p.utility_curves[curve], h) for h in held]


@given(curve=st.integers(0, 1), held=COUNTS)
def test_total_utility(function, p, curve, held):
    held = [max(0, h) for h in held]
    found = function("total_utility")(curve=curve, held=held)
    assert found.tolist() == [curves.total_utility(p.utility_curves[curve], h) for h in held]


@given(curve=st.integers(0, 1), experience=st.lists(st.floats(0, 1e9), min_size=1))
def test_effort(function, p, curve, experience):
    found = function("effort")(curve=curve, experience=experience)
    assert found.tolist() == [curves.effort(p.effort_curves[curve], x) for x in experience]


@given(x=st.lists(st.floats(0, 1e30), min_size=1))
def test_rounded(function, x):
    assert function("rounded")(x).tolist() == [trading.rounded(value) for value in x]


@given(
    bargains=st.lists(st.tuples(POSITIVE, POSITIVE), min_size=1),
    powers=st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)),
    equal=st.booleans(),
)
@settings(max_examples=50)
def test_price(function, p, bargains, powers, equal):
    powers = (powers[0], powers[0]) if equal else powers
    most, least = (np.array(column) for column in zip(*bargains, strict=True))
    # the twin works in Python's arithmetic, which ends at a product of infinity or zero
    with np.errstate(over="ignore", under="ignore"):
        sound = np.isfinite(most * least) & (most * least > 0.0)
    most, least = most[sound], least[sound]
    found = function("price")(most, least, *powers)
    expected = [trading.price(p.price, a, b, *powers) for a, b in zip(most, least, strict=True)]
    assert found.tolist() == expected


@given(
    curve=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    held=st.tuples(st.integers(0, 5000), st.integers(0, 5000)),
    got=st.lists(st.integers(0, 5000), min_size=1, max_size=20),
    lost=st.integers(0, 6000),
)
def test_surplus(function, p, curve, held, got, lost):
    """A struct by value: what one side of a bargain has."""
    get, lose = (p.utility_curves[c] for c in curve)
    now = [curves.total_utility(c, h) for c, h in zip((get, lose), held, strict=True)]
    found = function("surplus")(s=(*curve, *held, *now), got=got, lost=lost)
    loss = curves.loss(lose, held[1], lost)
    assert found.tolist() == [curves.gain(get, held[0], g) - loss for g in got]


def best_of(better, level):
    """Return the root of some tree over the leaves."""
    while len(level) > 1:
        left, right = level[: len(level) // 2], level[len(level) // 2 :]
        odd = [right.pop()] if len(right) > len(left) else []
        level = better(left, right).tolist() + odd
    return level[0]


GAINS = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 7.0]), min_size=1, max_size=30)


@given(gains=GAINS)
def test_better_in_any_tree_is_the_best_of_all(function, gains):
    """Structs in, structs out: the best gain, and who has it as bits."""
    gain, ties = best_of(function("better_node"), [(g, 1 << i) for i, g in enumerate(gains)])
    assert gain == max(gains)
    assert [ties >> i & 1 for i in range(len(gains))] == [g == max(gains) for g in gains]


@pytest.fixture(scope="module")
def better_of_many():
    settings = {"workload": "economy", "agents": 2, "resources": 65}
    p = parameters(config_from_dict(settings))
    program = Program(
        choose_device("auto"),
        ["economy/extraction.cl"],
        macros=source.macros(p),
        header=source.header(p),
    )
    return program.function("better_node")


@pytest.mark.ci
@given(gains=GAINS)
def test_better_in_a_tree_of_more_than_64_leaves(better_of_many, gains):
    """The best gain, how many have it, and one that has it."""
    one = 1 << 16  # COUNT_ONE of extraction.cl: the count is above the number of a leaf
    gain, ties = best_of(better_of_many, [(g, one + i) for i, g in enumerate(gains)])
    count, which = divmod(ties, one)
    assert (gain, count) == (max(gains), gains.count(max(gains)))
    assert gains[which] == gain


@pytest.fixture(scope="module", params=[1, 0], ids=["CPU", "GPU"])
def proposed(p, request):
    """Return what a bargain's proposer offers, by the kernels' form for CPUs or for GPUs."""
    device = choose_device("auto")
    macros = {**source.macros(p), **form(request.param)}
    program = Program(device, ["economy/bargaining.cl"], macros=macros, header=source.header(p))
    tables = {name: device.array(values) for name, values in source.constant_tables(p).items()}
    called = program.function("deal_proposed")
    wanted = {parameter.name for parameter in called.signature.parameters}
    return partial(called, **{n: table for n, table in tables.items() if n in wanted})


UNEVEN = [0.3, 0.7, 1.7]
"""Rates at which some number of units and one more are not, rounded, that number and one."""


@pytest.mark.sample
@given(
    curve=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    held_a=st.tuples(st.integers(0, 400), st.integers(1, 400)),
    held_b=st.tuples(st.integers(1, 400), st.integers(0, 400)),
    rate=st.one_of(
        st.floats(0.003, 300.0),
        st.integers(1, 600).map(lambda i: i / 100),
        st.sampled_from([1e-12, 1e12, math.inf, 0.5, 1.5, *UNEVEN]),
    ),
    min_surplus=st.sampled_from([0.0, 1e-3, 5.0]),
)
@example((0, 1), (2, 187), (231, 41), 0.7, 0.0)  # such a number is the best
@example((1, 0), (31, 63), (35, 0), 2.3, 0.0)  # such a number is the last that there is
@settings(max_examples=2 * settings.default.max_examples)
def test_proposals(proposed, p, curve, held_a, held_b, rate, min_surplus):
    """A gives from `held_a[1]`, takes from `held_b[0]`; either may propose."""
    give, take = (p.utility_curves[c] for c in curve)
    (a_take, a_give), (b_take, b_give) = held_a, held_b

    def surplus_a(taken, given):
        return curves.gain(take, a_take, taken) - curves.loss(give, a_give, given)

    def surplus_b(taken, given):
        return curves.gain(give, b_give, given) - curves.loss(take, b_take, taken)

    def side(got, gets, lost, loses):
        totals = curves.total_utility(got, gets), curves.total_utility(lost, loses)
        return (p.utility_curves.index(got), p.utility_curves.index(lost), gets, loses, *totals)

    sides = side(take, a_take, give, a_give), side(give, b_give, take, b_take)
    for proposer, own in enumerate((surplus_a, surplus_b)):
        taken, given, _ = trading.proposal(own, rate, a_give, b_take, min_surplus)
        gains = surplus_a(taken, given), surplus_b(taken, given)
        refused = trading.refusal((0, 1), (a_give, b_take), (given, taken), gains, min_surplus)
        expected = (0, 0) if refused else (taken, given)
        found = proposed(
            s=(*sides, rate, a_give, b_take), proposer=[proposer], min_surplus=min_surplus
        )
        assert tuple(found.tolist()[0]) == expected
