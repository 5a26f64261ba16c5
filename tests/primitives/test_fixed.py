"""Reals as whole numbers of 2^-36: each rounded once, ties to even, and back; limits and NaN."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from reference_py.primitives.fixed import LIMIT, fits, fixed_of, fixed_value
from reference_py.primitives.num import num_type
from societies.opencl import Program

N = 20_000
TIES = np.array([k / 2 for k in range(-9, 10)]) * 2.0**-36
EDGES = [0.0, -0.0, LIMIT, -LIMIT, np.inf, -np.inf, np.nan, 1e-300, 5e-324]


def numbers(num):
    """Return numbers of all sizes up to the limit, ties, and what does not fit."""
    rng = np.random.default_rng(7)
    scattered = rng.choice([-1, 1], N) * 2.0 ** rng.uniform(-45, 20, N)
    below = np.nextafter(num(LIMIT), num(0))
    return np.concatenate([scattered, TIES, EDGES, [below, -below]]).astype(num)


@pytest.fixture(params=["single", "double"])
def kernels(device, request):
    path = Path(__file__).parent / "fixed_cases.cl"
    program = Program(device, path, {"NUM_IS_DOUBLE": request.param == "double"})
    return program, num_type(request.param)


def test_fixed_of_and_fixed_fits_are_their_twins(device, kernels):
    program, num = kernels
    x = numbers(num)
    whole, good = device.zeros(len(x), np.int64), device.zeros(len(x), np.uint8)
    arrays = {"x": device.array(x), "whole": whole, "fits": good}
    program.kernel("to_fixed")(**arrays, n=len(x), global_size=len(x), local_size=1)
    expected = fits(x)
    assert good.get().astype(bool).tolist() == expected.tolist()
    assert whole.get()[expected].tolist() == fixed_of(x[expected]).tolist()


def test_fixed_value_is_its_twin(device, kernels):
    program, num = kernels
    rng = np.random.default_rng(8)
    whole = rng.integers(-(2**63), 2**63, N) >> rng.integers(0, 60, N)
    x = device.zeros(N, num)
    program.kernel("from_fixed")(whole=device.array(whole), x=x, n=N, global_size=N, local_size=1)
    assert x.get().tobytes() == fixed_value(whole, num).tobytes()


@pytest.mark.parametrize("num", [np.float32, np.float64])
def test_the_twin_rounds_once_and_ties_to_even(num):
    x = numbers(num)
    x = x[fits(x)]
    assert fixed_of(x).tolist() == [round(Fraction(float(one)) * 2**36) for one in x]
    assert (fixed_of(-x) == -fixed_of(x)).all()


@pytest.mark.parametrize("num", [np.float32, np.float64])
def test_what_does_not_fit(num):
    assert not fits(np.array([LIMIT, -LIMIT, np.inf, -np.inf, np.nan], num)).any()
    assert fits(np.nextafter(num(LIMIT), num(0)))
