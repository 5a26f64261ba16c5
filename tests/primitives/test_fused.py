"""A product and a sum are rounded once, in the twin and on the device, called or contracted."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from reference_py.primitives.fused import fused_of_doubles, muladd, num_inverse
from societies.opencl import Program, fused

CASES = Path(__file__).parent / "fused_cases.cl"
SPECIAL = [0.0, -0.0, 1.0, -1.0, 5e-324, 1e-45, 1.5e308, 3e38, math.inf, -math.inf, math.nan]


def rounded(exact, dtype):
    """Return a fraction rounded to a type, half to even, from nothing but its neighbours."""
    bits = np.finfo(dtype).nmant + 1
    least = np.finfo(dtype).minexp - np.finfo(dtype).nmant
    if exact == 0:
        return dtype(0)
    exponent = max(exact.numerator.bit_length() - exact.denominator.bit_length() - bits - 1, least)
    while True:
        scaled = abs(exact) / Fraction(2) ** exponent
        whole = round(scaled)  # of fractions: half to even
        if whole < 2**bits or exponent > 2000:
            break
        exponent += 1
    value = Fraction(whole) * Fraction(2) ** exponent
    return dtype(math.copysign(float(value), exact))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_twin_against_fractions(dtype):
    a, b, c = (one[::130] for one in fused.triples(dtype))
    found = muladd(a, b, c)
    assert found.dtype == dtype and len(found) > 700
    for i, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        assert found[i] == rounded(exact, dtype), (x, y, z)
    separate = a * b + c
    assert (found != separate).sum() > 100  # else rounding twice would pass as well


@pytest.mark.ci
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_triples_hold_every_case(dtype):
    a, b, c = fused.triples(dtype)
    assert len(a) >= 100_000
    least, found = np.finfo(dtype).tiny, muladd(a, b, c)
    assert (abs(found) < least).sum() > 10_000 and np.isfinite(found).all()
    exact = [
        Fraction(x) * Fraction(y) + Fraction(z)
        for x, y, z in zip(a[::50].tolist(), b[::50].tolist(), c[::50].tolist(), strict=True)
    ]
    ties = 0
    for one in exact:
        near = dtype(float(one))
        for other in (np.nextafter(near, dtype(np.inf)), np.nextafter(near, dtype(-np.inf))):
            ties += 2 * one == Fraction(float(near)) + Fraction(float(other))
    assert ties > 20


@np.errstate(all="ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_special_values(dtype):
    """Signs of zeros, infinities that a product of finite numbers does not reach, NaN."""
    a, b, c = (x.ravel().astype(dtype) for x in np.meshgrid(SPECIAL, SPECIAL, SPECIAL))
    found = muladd(a, b, c)
    for x, y, z, one in zip(a, b, c, found, strict=True):
        product_is_finite = np.isfinite(x) and np.isfinite(y)
        if not product_is_finite or not np.isfinite(z):
            expected = z if product_is_finite else x * y + z
            assert np.isnan(one) if np.isnan(expected) else one == expected
        elif x == 0 or y == 0:
            assert one == z and (z != 0 or np.signbit(one) == np.signbit(x * y + z))
    assert fused_of_doubles(1.5e308, 2.0, -math.inf) == -math.inf
    assert fused_of_doubles(1e308, 10.0, 1.0) == math.inf
    assert math.copysign(1, fused_of_doubles(3.0, 5.0, -15.0)) == 1


@pytest.mark.sample
@pytest.mark.parametrize("contracts", [True, False], ids=["as the device", "fma"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_device(device, dtype, contracts):
    double = dtype is np.float64
    macros = {"NUM_IS_DOUBLE": double, fused.MACRO: contracts and fused.contracts(device, double)}
    program = Program(device, CASES, macros)
    rows = fused.triples(dtype)
    rows = [row[::20] for row in rows] if double else rows
    rows = [row[: len(row) // 8 * 8] for row in rows]
    expected = muladd(*rows)
    for kernel, width in (("fused", 1), ("fused_eights", 8)):
        shape = (-1, 8) if width == 8 else (-1,)
        given = {n: device.array(row.reshape(shape)) for n, row in zip("abc", rows, strict=True)}
        result = device.zeros(rows[0].reshape(shape).shape, dtype)
        one = program.kernel(kernel)
        n = len(rows[0])
        one(**given, result=result, n=n, global_size=-(-n // width // 8) * 8, local_size=8)
        bits = np.uint64 if double else np.uint32
        assert (result.get().ravel().view(bits) == expected.view(bits)).all(), kernel


@pytest.mark.ci
@pytest.mark.parametrize("first", ["0x1p-126", "0x1p+0", "0x1p+125"])
def test_every_inverse_of_a_single(device, first):
    """As a GPU finds it; all that have an exponent, of which one has no digit but ones."""
    macros = {"NUM_IS_DOUBLE": False, fused.MACRO: False, "DEVICE_IS_CPU": False}
    kernel = Program(device, CASES, macros).kernel("inverses")
    begin, n = int(np.float32(float.fromhex(first)).view(np.uint32)), 1 << 23
    result = device.zeros(n, np.float32)
    kernel(result=result, first=begin, n=n, global_size=n, local_size=64)
    numbers = np.arange(begin, begin + n, dtype=np.uint32).view(np.float32)
    expected = num_inverse(numbers)
    assert (result.get().view(np.uint32) == expected.view(np.uint32)).all()


def test_a_compiler_that_does_not_fuse_is_found(device, tmp_path):
    """`probe_muladd` counts every result that differs from `fma`."""
    path = tmp_path / "separate.cl"
    path.write_text(
        '#include "primitives/num.cl"\n'
        "#define MULADD(a, b, c) ((a) * (b) + (c))\n"
        + _without_muladd((CASES.parents[2] / "kernels/primitives/fused.cl").read_text())
    )
    macros = {"NUM_IS_DOUBLE": False, "FUSED_PROBE": True, fused.MACRO: False}
    kernel = Program(device, path, macros).kernel("probe_muladd")
    a, b, c = (device.array(one) for one in fused.triples(np.float32))
    different = device.zeros(a.size // 16, np.uint32)
    kernel(a=a, b=b, c=c, different=different, global_size=a.size // 16, local_size=1)
    assert different.get().sum() > 10_000


def _without_muladd(text):
    """Return the file without its own definitions of MULADD."""
    rows = [row for row in text.split("\n") if not row.startswith("#define MULADD")]
    return (
        "\n".join(row for row in rows if "PRIMITIVES_FUSED_CL" not in row)
        .rstrip()
        .removesuffix("#endif")
    )


def test_devices_are_asked_where_it_pays_alone(device):
    class Gpu:
        kind = "gpu"

    assert not fused.contracts(Gpu(), False)
    program = Program(device, "primitives/fused.cl", {"NUM_IS_DOUBLE": False})
    assert f"#define {fused.MACRO} {int(fused.contracts(device, False))}" in program.source
    other = Program(device, "primitives/num.cl", {"NUM_IS_DOUBLE": False})
    assert f"#define {fused.MACRO}" not in other.source
