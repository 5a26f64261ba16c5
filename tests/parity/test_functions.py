"""Does a function of the economy's kernels, called alone, give the bits of its twin?"""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_py.economy import curves, trading
from societies import config_from_dict
from societies.economy import phases, source
from societies.economy.parameters import parameters
from societies.opencl import Program, choose_device
from societies.workload.phases import kernel_files

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
    program = Program(
        device, kernel_files(phases.phases(p, 1)), macros=source.macros(p), header=source.header(p)
    )
    tables = {name: device.array(values) for name, values in source.tables(p).items()}

    def found(name):
        called = program.function(name)
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


@given(gains=st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 7.0]), min_size=1, max_size=30))
def test_better_in_any_tree_is_the_best_of_all(function, gains):
    """Structs in, structs out: the best gain, how many have it, and one that has it."""
    better = function("better_node")
    one = 1 << 16  # COUNT_ONE of extraction.cl: the count is above the number of a leaf
    level = [(gain, one + i) for i, gain in enumerate(gains)]
    while len(level) > 1:
        left, right = level[: len(level) // 2], level[len(level) // 2 :]
        odd = [right.pop()] if len(right) > len(left) else []
        level = better(left, right).tolist() + odd
    gain, ties = level[0]
    count, which = divmod(ties, one)
    assert (gain, count) == (max(gains), gains.count(max(gains)))
    assert gains[which] == gain
