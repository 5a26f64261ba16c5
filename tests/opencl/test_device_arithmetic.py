"""+ - * / sqrt on the device equal NumPy bit for bit, on any bit pattern; a*b+c is not fused."""

import numpy as np
import pytest

from societies.opencl import Program

KERNEL = """
#include "primitives/real.cl"
typedef TYPE number;

number helper(number a, number b, number c) { return a * b + c; }

__kernel void arithmetic(__global const number *a, __global const number *b,
                         __global const number *c, __global number *out, const ulong n)
{
    const size_t i = get_global_id(0);
    if (i >= n) return;
    out[i] = a[i] + b[i];
    out[n + i] = a[i] - b[i];
    out[2 * n + i] = a[i] * b[i];
    out[3 * n + i] = a[i] / b[i];
    out[4 * n + i] = sqrt(a[i]);
    out[5 * n + i] = a[i] * b[i] + c[i];
    out[6 * n + i] = helper(a[i], b[i], c[i]);
    out[7 * n + i] = c[i] - a[i] * b[i];
    out[8 * n + i] = fma(a[i], b[i], c[i]);
}
"""
NAMES = ["a+b", "a-b", "a*b", "a/b", "sqrt(a)", "a*b+c", "a*b+c in a function", "c-a*b"]


def operands(dtype, seed):
    """Random bit patterns, numbers of ordinary size, and every pair of special values."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    n = 40_000
    word = np.dtype(f"u{np.dtype(dtype).itemsize}")
    patterns = rng.integers(0, np.iinfo(word).max, (3, n), dtype=word, endpoint=True).view(dtype)
    ordinary = (rng.normal(size=(3, n)) * 10.0 ** rng.integers(-3, 4, (3, n))).astype(dtype)
    small = (rng.integers(0, 2**20, (3, n)).astype(word)).view(dtype)  # subnormal
    positive = [0.0, info.smallest_subnormal, info.smallest_normal, 1.0, info.max, np.inf, np.nan]
    positive += [1 + info.eps, 1 - info.epsneg, 3.0, 1 / 3, info.smallest_normal - info.tiny / 4]
    special = np.array(positive + [-x for x in positive], dtype)
    pairs = np.stack(np.meshgrid(special, special)).reshape(2, -1)
    pairs = np.stack([*pairs, rng.permutation(pairs[0])])
    return np.ascontiguousarray(np.concatenate([patterns, ordinary, small, pairs], axis=1))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_equal_numpy(device, kernel_file, dtype):
    if dtype == "float32" and not device.correct_single:
        pytest.skip("this device has no correctly rounded single-precision division")
    a, b, c = operands(dtype, seed=7)
    with np.errstate(all="ignore"):
        product = a * b
        expected = [a + b, a - b, product, a / b, np.sqrt(a), product + c, product + c, c - product]
    out = device.empty((9, a.size), dtype)
    program = Program(device, kernel_file(KERNEL), {"TYPE": {"f8": "double", "f4": "float"}[
        np.dtype(dtype).str[1:]]})  # fmt: skip
    program.arithmetic(
        global_size=a.size, local_size=64, out=out, n=a.size,
        a=device.array(a), b=device.array(b), c=device.array(c),
    )  # fmt: skip
    result = out.get()
    word = np.dtype(f"u{np.dtype(dtype).itemsize}")
    for name, got, want in zip(NAMES, result, expected, strict=False):
        equal = (got.view(word) == want.view(word)) | (np.isnan(got) & np.isnan(want))
        wrong = np.flatnonzero(~equal)
        assert not wrong.size, (
            f"{name}: {wrong.size} of {a.size} differ, first for "
            f"{a[wrong[0]].hex()} {b[wrong[0]].hex()} {c[wrong[0]].hex()}"
        )
    # the operands can tell a fused a*b+c from a rounded one
    fused, rounded = result[8], expected[5]
    assert ((fused != rounded) & ~np.isnan(rounded)).sum() > 100
