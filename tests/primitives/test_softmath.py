"""Logarithm, exponential, power: accurate, and the same bits on the device and in the twin."""

import decimal
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reference_py.primitives.softmath import from_bits, soft_exp, soft_log, soft_pow
from societies.opencl import Program

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 3.5, -3.5, math.inf, -math.inf]
SPECIAL += [math.nan, 5e-324, -5e-324, 2.0**-1022, 1e308, -1e308, 2.0**53, 2.0**53 + 2, 2.0**60]
SPECIAL += [709.0, 709.79, 710.0, -708.3, -708.4, -709.0, -745.0, 1e300, -1e300, 1.0 + 2.0**-52]

EXACT = decimal.Context(prec=50, Emax=10**9, Emin=-(10**9))
positive = st.floats(min_value=5e-324, max_value=1.7976931348623157e308)
near_one = st.floats(min_value=0.5, max_value=2.0)
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def program(device):
    return Program(device, "primitives/softmath.cl")


def ulps(value, exact):
    """Distance in units of the last place of the computed value."""
    return float(EXACT.divide(abs(EXACT.subtract(decimal.Decimal(value), exact)),
                              decimal.Decimal(math.ulp(value))))  # fmt: skip


@given(positive | near_one)
def test_log_is_accurate(x):
    assume(x != 1.0)
    assert ulps(soft_log(x), EXACT.ln(decimal.Decimal(x))) < 1.0


@given(st.floats(min_value=-708.3, max_value=709.7) | st.floats(min_value=-1, max_value=1))
def test_exp_is_accurate(x):
    assert ulps(soft_exp(x), EXACT.exp(decimal.Decimal(x))) < 1.0


@given(positive | near_one, finite | st.floats(min_value=-5, max_value=5))
def test_pow_is_accurate(x, y):
    exponent = EXACT.multiply(decimal.Decimal(y), EXACT.ln(decimal.Decimal(x)))
    assume(abs(exponent) < 708)
    assert ulps(soft_pow(x, y), EXACT.exp(exponent)) < 1.0


@given(positive | near_one)
def test_log_and_exp_do_not_decrease(x):
    following = math.nextafter(x, math.inf)
    assert soft_log(x) <= soft_log(following)
    y = math.log(x)
    assert soft_exp(y) <= soft_exp(math.nextafter(y, math.inf))


def test_exact_points():
    assert soft_log(1.0) == 0.0
    assert soft_exp(0.0) == soft_exp(-0.0) == 1.0
    for x in (0.1, 3.0, 1e300):
        assert soft_pow(x, 1.0) == x
        assert soft_pow(x, 0.0) == 1.0
    assert soft_pow(-2.0, 3.0) == -8.0
    assert soft_pow(2.0, -10.0) == 2.0**-10


def test_defined_results_outside_the_range():
    assert soft_log(0.0) == soft_log(-0.0) == -math.inf
    assert soft_log(math.inf) == math.inf
    for x in (-1.0, -5e-324, -math.inf, math.nan):
        assert math.isnan(soft_log(x))
    assert math.isnan(soft_exp(math.nan))
    assert soft_exp(math.inf) == soft_exp(709.79) == soft_exp(1e300) == math.inf
    assert soft_exp(-math.inf) == soft_exp(-708.4) == soft_exp(-1e300) == 0.0
    assert soft_exp(-708.3) > 0.0
    assert soft_pow(0.1, 400.0) == 0.0
    assert soft_pow(-10.0, 401.0) == -math.inf
    assert math.copysign(1.0, soft_pow(-0.1, 401.0)) == -1.0
    assert soft_pow(1.0 + 2.0**-52, 1e300) == math.inf


def test_pow_treats_special_cases_like_c():
    for x in SPECIAL:
        for y in SPECIAL:
            try:
                expected = math.pow(x, y)
            except OverflowError:
                expected = math.copysign(math.inf, x if y % 2 == 1 else 1.0)
            except ValueError:  # C has a result where Python has an exception
                expected = math.nan
                if x == 0.0:
                    expected = math.copysign(math.inf, x if y % 2 == 1 else 1.0)
            if 0.0 < abs(expected) < 2.0**-1022:
                expected = math.copysign(0.0, expected)  # ours has no subnormal results
            result = soft_pow(x, y)
            if math.isnan(expected):
                assert math.isnan(result), (x, y)
            else:
                assert result == pytest.approx(expected, rel=3e-16, abs=0.0), (x, y)
                assert math.copysign(1.0, result) == math.copysign(1.0, expected), (x, y)


def test_device_gives_the_bits_of_the_twin(program):
    generator = np.random.default_rng(5)
    anything = [from_bits(int(b)) for b in generator.integers(0, 2**64, 1500, np.uint64)]
    x = np.array(
        [a for a in SPECIAL for _ in SPECIAL]
        + anything
        + np.exp(generator.uniform(-700, 700, 1500)).tolist()
        + generator.uniform(0.5, 2, 1500).tolist()
        + (1 + generator.uniform(-1e-6, 1e-6, 1500)).tolist()
    )
    y = np.array(
        SPECIAL * len(SPECIAL)
        + anything[::-1]
        + generator.uniform(-1, 1, 1500).tolist()
        + generator.uniform(-720, 720, 1500).tolist()
        + np.exp(generator.uniform(-50, 30, 1500)).tolist()
    )
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    for name, arguments, expected in [
        ("soft_log", (x,), [soft_log(a) for a, _ in pairs]),
        ("soft_exp", (y,), [soft_exp(b) for _, b in pairs]),
        ("soft_pow", (x, y), [soft_pow(a, b) for a, b in pairs]),
    ]:
        result = np.asarray(program.function(name)(*arguments))
        different = result.view(np.uint64) != np.array(expected).view(np.uint64)
        assert not different.any(), (name, x[different][:3], y[different][:3])
