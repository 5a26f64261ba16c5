"""Does the compiler of a device fuse ``a * b + c`` if allowed, so that `fma` need not be called?

PoCL 3.0 calls a slow function for `fma`. If contraction gives the same bits, it is used instead
(``kernels/primitives/fused.cl``). This module tests that, once for each device.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.opencl.device import Device
from societies.opencl.program import FACTS, Program
from societies.opencl.race import race_mode

TRIPLES = 100_000
"""Number of products and sums that are compared: random ones, ties, results near 0."""

MACRO = "DEVICE_CONTRACTS"

_known: dict[tuple[Any, bool], bool] = {}


def contracts(device: Device, double: bool) -> bool:
    """Return True if contraction (double or single precision) has the same bits as `fma`.

    False on GPUs, where `fma` is one instruction, and if kernels are interpreted.
    """
    if device.kind != "cpu" or race_mode():
        return False
    key = (device.cl_device, double)
    if key not in _known:
        _known[key] = _probe(device, double)
    return _known[key]


def _fact(device: Device, macros: Mapping[str, Any]) -> bool:
    return contracts(device, bool(macros.get("NUM_IS_DOUBLE", False)))


FACTS[MACRO] = _fact


def _probe(device: Device, double: bool) -> bool:
    macros = {MACRO: True, "FUSED_PROBE": True, "NUM_IS_DOUBLE": double}
    kernel = Program(device, "primitives/fused.cl", macros).kernel("probe_muladd")
    a, b, c = (device.array(one) for one in triples(np.float64 if double else np.float32))
    items = a.size // 16
    different = device.zeros(items, np.uint32)
    kernel(a=a, b=b, c=c, different=different, global_size=items, local_size=1)
    return not different.get().any()


@cache
def triples(dtype: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return numbers a, b, c, (triple,) each, that cover all ways to round a * b + c.

    A quarter each are normal numbers; sums of which only the product's rounding error is left;
    ties, halfway between two numbers; and subnormal results.
    """
    generator = np.random.default_rng(1)
    count = -(-TRIPLES // 64) * 16
    digits, bits = np.finfo(dtype).nmant + 1, np.finfo(dtype).nmant // 2
    normal = [generator.normal(size=count).astype(dtype) for _ in range(3)]
    x, y = (generator.normal(size=count).astype(dtype) for _ in range(2))
    cancelled = [x, y, -(x * y)]
    whole = generator.integers(1 << bits, 2 << bits, count).astype(dtype)
    half = dtype(2.0 ** -(digits - 2 * bits))
    at_ties = [whole, half * np.ones(count, dtype), (dtype(2.0**digits) + whole).astype(dtype)]
    least = np.finfo(dtype).tiny
    near_zero = [
        (generator.normal(size=count) * 2.0**-4).astype(dtype),
        (generator.normal(size=count) * float(least)).astype(dtype),
        (generator.normal(size=count) * float(least)).astype(dtype),
    ]
    rows = zip(normal, cancelled, at_ties, near_zero, strict=True)
    a, b, c = (np.concatenate(parts) for parts in rows)
    return a, b, c
