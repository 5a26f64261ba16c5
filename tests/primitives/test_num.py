"""Single and double precision: each operation is rounded once, also by the detour over double."""

from pathlib import Path

import numpy as np
import pytest

from reference_py.primitives.num import num_type
from societies.opencl import Program

N = 200_000


@pytest.fixture(scope="module", params=["single", "double", "single by double"])
def kernels(device, request):
    """The kernels of one precision, and its type."""
    precision, _, detour = request.param.partition(" ")
    macros = {"NUM_IS_DOUBLE": precision == "double", "CONSTANT": 0.1}
    if detour:
        macros["DEVICE_ROUNDS_SINGLES"] = False
    program = Program(device, Path(__file__).parent / "num_cases.cl", macros)
    return program, num_type(precision)


def operands(dtype, seed):
    """Return numbers of all magnitudes, also subnormal ones, infinities and NaN."""
    generator = np.random.default_rng(seed)
    raw = generator.integers(0, 256, N * dtype().nbytes, np.uint8).view(dtype)
    near = generator.normal(size=N).astype(dtype)
    return np.where(np.arange(N) % 2, raw, near)


def launch(device, kernel, *arrays):
    result = device.zeros(N, arrays[0].dtype)
    given = dict(zip("ab", map(device.array, arrays), strict=False))
    kernel(**given, result=result, n=N, global_size=N, local_size=64)
    return result.get()


def same(found, expected):
    assert found.dtype == expected.dtype
    bits = np.uint32 if found.dtype == np.float32 else np.uint64
    different = (found.view(bits) != expected.view(bits)) & ~(np.isnan(found) & np.isnan(expected))
    assert not different.any(), (found[different][:3], expected[different][:3])


@np.errstate(all="ignore")
def test_quotients_are_rounded_once(device, kernels):
    program, dtype = kernels
    a, b = operands(dtype, 1), operands(dtype, 2)
    same(launch(device, program.kernel("quotients"), a, b), a / b)


@np.errstate(all="ignore")
def test_roots_are_rounded_once(device, kernels):
    program, dtype = kernels
    a = operands(dtype, 3)
    same(launch(device, program.kernel("roots"), a), np.sqrt(a))


@np.errstate(all="ignore")
def test_constants_are_rounded_once_and_sums_not_fused(device, kernels):
    program, dtype = kernels
    a, b = operands(dtype, 4), operands(dtype, 5)
    product = dtype(0.1) * a
    b = np.where(np.arange(N) % 4 == 2, -product, b)  # fused, the product's rounding would remain
    result = launch(device, program.kernel("sums"), a, b)
    same(result, product + b)
    assert (result[2::4][np.isfinite(product[2::4])] == 0).all()


def test_another_precision_is_unknown():
    with pytest.raises(KeyError):
        num_type("half")
