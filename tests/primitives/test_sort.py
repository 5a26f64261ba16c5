"""Keys with payload in order: both methods, every workgroup size, one result, bit for bit."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_py.primitives.sort import sort_keys, sort_keys_uint
from societies.opencl import Local, Program

# keys from few, so that ties are common; all kinds that could go wrong
ODD = [0.0, -0.0, 1.0, -1.0, 2.5, math.inf, -math.inf, math.nan, -math.nan, 5e-324, 1e308, -1e308]
reals = st.sampled_from(ODD) | st.floats()
word = st.integers(0, 3) | st.integers(0, 2**32 - 1)
# 12 and 8 bytes an entry in 32 KiB, of which NVIDIA takes one for itself
MOST_REALS, MOST_WORDS = 2730, 4095


@pytest.fixture(scope="module", params=[0, 1], ids=["network", "serial"])
def program(device, request):
    """Both methods on every device, also the one that is another kind's choice."""
    path = Path(__file__).parent / "sort_cases.cl"
    return Program(device, path, {"SORT_SERIALLY": request.param})


def check(device, program, workgroup, batch, dtype):
    """Compare both directions over rows of (key, payload) with the twin; a workgroup is a row."""
    groups, capacity = len(batch), max(1, *map(len, batch))
    keys, payload = np.zeros((groups, capacity), dtype), np.zeros((groups, capacity), np.uint32)
    for g, row in enumerate(batch):
        keys[g, : len(row)] = [key for key, _ in row]
        payload[g, : len(row)] = [number for _, number in row]
    ordered = device.zeros((groups, 2, capacity), dtype)
    carried = device.zeros((groups, 2, capacity), np.uint32)
    program.kernel("sort_reals" if dtype is np.float64 else "sort_words")(
        keys=device.array(keys),
        payload=device.array(payload),
        sizes=device.array(np.array([len(row) for row in batch], np.uint32)),
        capacity=capacity,
        sorted=ordered,
        carried=carried,
        k=Local(dtype, capacity),
        p=Local(np.uint32, capacity),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    ordered, carried = ordered.get(), carried.get()
    twin = sort_keys if dtype is np.float64 else sort_keys_uint
    bits = np.uint64 if dtype is np.float64 else np.uint32
    for g, row in enumerate(batch):
        for descending in (False, True):
            expected, numbers = twin(
                [key for key, _ in row], [number for _, number in row], descending=descending
            )
            found = ordered[g, int(descending), : len(row)]
            assert found.view(bits).tolist() == np.array(expected, dtype).view(bits).tolist()
            assert carried[g, int(descending), : len(row)].tolist() == numbers


def rows_of(key):
    return st.lists(st.lists(st.tuples(key, word), max_size=150), min_size=1, max_size=8)


@pytest.mark.sample
@given(rows_of(reals))
@settings(max_examples=5)
def test_any_reals(device, program, workgroup, batch):
    check(device, program, workgroup, batch, np.float64)


@pytest.mark.sample
@given(rows_of(word))
@settings(max_examples=5)
def test_any_words(device, program, workgroup, batch):
    check(device, program, workgroup, batch, np.uint32)


def patterns(n, values, generator):
    """Random, equal, ascending and descending keys, with the index as payload or none at all."""
    indices = list(range(n))
    ascending = sorted(generator.choice(values, n).tolist())
    return [
        list(zip(generator.choice(values, n).tolist(), indices, strict=True)),
        list(zip(ascending, indices, strict=True)),
        [(key, 7) for key in reversed(ascending)],
        [(ascending[0] if n else 0, i) for i in reversed(indices)],
    ]


def test_sizes_and_patterns(device, program, workgroup):
    """All sizes around powers of two, and as many as fit 32 KiB."""
    generator = np.random.default_rng(workgroup)
    for dtype, most, values in [
        (np.float64, MOST_REALS, [*ODD, *generator.normal(size=50)]),
        (np.uint32, MOST_WORDS, generator.integers(0, 2**32, 60)),
    ]:
        batch = []
        for n in [0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 129, 257]:
            batch += patterns(n, values, generator)
        batch += [patterns(n, values, generator)[0] for n in (1000, 1025, most)]
        check(device, program, workgroup, batch, dtype)


@given(st.lists(st.tuples(reals, word)), st.booleans())
def test_twin_is_a_stable_sort_with_nan_last(rows, descending):
    keys = [key for key, _ in rows]
    ordered, carried = sort_keys(keys, list(range(len(rows))), descending=descending)
    numbers = [key for key in ordered if not math.isnan(key)]
    assert all(math.isnan(key) for key in ordered[len(numbers) :])
    steps = list(zip(numbers, numbers[1:], carried, carried[1:], strict=False))
    for a, b, i, j in steps:
        assert (a > b if descending else a < b) or (a == b and i < j)
    assert sorted(carried) == list(range(len(rows)))
    assert all(ordered[i] is keys[j] for i, j in enumerate(carried))
