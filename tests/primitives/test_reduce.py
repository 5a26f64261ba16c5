"""Totals: one tree of additions for every workgroup size, on the device and in the twin."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_py.primitives import reduce
from societies.opencl import Local, Program

LOCAL_MOST = 3500  # reals in 32 KiB of local memory
finite = st.floats(allow_nan=False, allow_infinity=False)
special = st.sampled_from([0.0, -0.0, 1.0, math.inf, -math.inf, math.nan])
long = st.integers(-(2**63), 2**63 - 1)
word = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module", params=[0, 1], ids=["levels", "serial"])
def program(device, request):
    """Both methods on every device, also the one that is another kind's choice."""
    path = Path(__file__).parent / "reduce_cases.cl"
    return Program(device, path, {"REDUCE_SERIALLY": request.param})


def tree(values, p, size):
    """Sum of the leaves p .. p + size - 1 (size a power of two): the tree as a recursion."""
    if size == 1:
        return values[p]
    left = tree(values, p, size // 2)
    if p + size // 2 >= len(values):
        return left
    return left + tree(values, p + size // 2, size // 2)


def in_place(values):
    """The device's formulation, by one work-item."""
    x = list(values)
    stride = 1
    while stride < len(x):
        for p in range(0, len(x) - stride, 2 * stride):
            x[p] += x[p + stride]
        stride *= 2
    return x[0] if x else 0.0


def same(a, b):
    """Equal bits; all NaN are equal."""
    return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)


def test_sum_is_the_tree_in_three_formulations():
    generator = np.random.default_rng(1)
    different_from_serial = 0
    for n in range(1, 300):
        values = (generator.normal(size=n) * 10.0 ** generator.integers(-9, 9, n)).tolist()
        size = 1 << (n - 1).bit_length()
        total = reduce.reduce_sum(values)
        assert total == tree(values, 0, size) == in_place(values)
        different_from_serial += total != sum(values)
    assert different_from_serial > 100  # the order does matter


@given(st.lists(st.integers(-(2**40), 2**40), max_size=200))
def test_sum_of_exact_numbers_is_exact(values):
    assert reduce.reduce_sum(values) == sum(values)


def stacked(rows, capacity, dtype):
    array = np.zeros((len(rows), capacity), dtype)
    for g, row in enumerate(rows):
        array[g, : len(row)] = row
    return array


def check_real_sums(device, program, workgroup, rows):
    groups, capacity = len(rows), max(1, *map(len, rows))
    sums = device.zeros((groups, 3, workgroup), np.float64)
    program.real_sums(
        values=device.array(stacked(rows, capacity, np.float64)),
        work=device.zeros((groups, capacity), np.float64),
        sizes=device.array(np.array([len(row) for row in rows], np.uint32)),
        capacity=capacity,
        local_most=LOCAL_MOST,
        sums=sums,
        x=Local(np.float64, min(capacity, LOCAL_MOST)),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    for row, of_row in zip(rows, sums.get().tolist(), strict=True):
        expected = reduce.reduce_sum(row)
        for in_local, in_global, alone in zip(*of_row, strict=True):
            assert same(in_global, expected)
            assert len(row) > LOCAL_MOST or same(in_local, expected)
            assert len(row) > LOCAL_MOST or same(alone, expected)


def check_whole_totals(device, program, workgroup, rows):
    groups, capacity = len(rows), max(1, *map(len, rows))
    flags = [[value % 3 == 0 for value in row] for row in rows]
    flags[-1] = [True] * len(flags[-1])
    totals = device.zeros((groups, 6, workgroup), np.int64)
    program.whole_totals(
        values=device.array(stacked(rows, capacity, np.int64)),
        flags=device.array(stacked(flags, capacity, np.uint8) * np.uint8(129)),
        sizes=device.array(np.array([len(row) for row in rows], np.uint32)),
        capacity=capacity,
        totals=totals,
        x=Local(np.int64, capacity),
        f=Local(np.uint8, capacity),
        scratch=Local(np.uint32, 1),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    for row, flag, of_row in zip(rows, flags, totals.get().tolist(), strict=True):
        expected = [
            reduce.reduce_sum_long(row),
            reduce.reduce_min_long(row),
            reduce.reduce_max_long(row),
            reduce.reduce_count(flag),
            int(reduce.reduce_any(flag)),
            int(reduce.reduce_all(flag)),
        ]
        for total, everywhere in zip(expected, of_row, strict=True):
            assert set(everywhere) == {total}


def check_real_extremes(device, program, workgroup, rows):
    cases = [(row, largest) for row in rows for largest in (0, 1)]
    groups, capacity = len(cases), max(1, *map(len, rows))
    extremes = device.zeros((groups, 2, workgroup), np.float64)
    program.real_extremes(
        values=device.array(stacked([row for row, _ in cases], capacity, np.float64)),
        work=device.zeros((groups, capacity), np.float64),
        sizes=device.array(np.array([len(row) for row, _ in cases], np.uint32)),
        largest=device.array(np.array([largest for _, largest in cases], np.uint8)),
        capacity=capacity,
        local_most=LOCAL_MOST,
        extremes=extremes,
        x=Local(np.float64, min(capacity, LOCAL_MOST)),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    for (row, largest), of_row in zip(cases, extremes.get().tolist(), strict=True):
        twin = reduce.reduce_max if largest else reduce.reduce_min
        for values, everywhere in zip([row[:LOCAL_MOST], row], of_row, strict=True):
            assert all(same(value, twin(values)) for value in everywhere)


def check_word_totals(device, program, workgroup, rows):
    groups, capacity = len(rows), max(1, *map(len, rows))
    totals = device.zeros((groups, 3, workgroup), np.uint32)
    program.word_totals(
        values=device.array(stacked(rows, capacity, np.uint32)),
        sizes=device.array(np.array([len(row) for row in rows], np.uint32)),
        capacity=capacity,
        totals=totals,
        x=Local(np.uint32, capacity),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    twins = [reduce.reduce_sum_uint, reduce.reduce_min_uint, reduce.reduce_max_uint]
    for row, of_row in zip(rows, totals.get().tolist(), strict=True):
        assert [set(everywhere) for everywhere in of_row] == [{twin(row)} for twin in twins]


@pytest.mark.sample
@given(st.lists(st.lists(finite | st.floats(), max_size=150), min_size=1, max_size=8))
@settings(max_examples=10)
def test_any_reals(device, program, workgroup, rows):
    check_real_sums(device, program, workgroup, rows)


@given(st.lists(st.lists(long, max_size=150), min_size=1, max_size=8))
@settings(max_examples=10)
def test_any_whole_numbers(device, program, workgroup, rows):
    check_whole_totals(device, program, workgroup, rows)


@given(st.lists(st.lists(special | st.floats(), max_size=150), min_size=1, max_size=8))
@settings(max_examples=4)
def test_extremes_of_any_reals(device, program, workgroup, rows):
    check_real_extremes(device, program, workgroup, rows)


@given(st.lists(st.lists(word, max_size=150), min_size=1, max_size=8))
@settings(max_examples=4)
def test_any_words(device, program, workgroup, rows):
    check_word_totals(device, program, workgroup, rows)


def test_twins_pass_over_nan_and_keep_the_first_of_equals():
    assert reduce.reduce_min([math.nan, 2.0, -1.0, math.nan]) == -1.0
    assert same(reduce.reduce_min([math.nan, 0.0, -0.0]), 0.0)
    assert same(reduce.reduce_max([-0.0, math.nan, 0.0]), -0.0)
    assert math.isnan(reduce.reduce_max([math.nan, math.nan]))
    assert (reduce.reduce_min([]), reduce.reduce_max([])) == (math.inf, -math.inf)


@pytest.mark.sample
@pytest.mark.parametrize("space", ["local", "global"])
def test_extremes_by_their_own_names(device, space):
    program = Program(device, "primitives/reduce.cl")
    for name, expected in [("min", -2.0), ("max", 7.0)]:
        values = np.array([3.0, math.nan, -2.0, 7.0, 7.0])
        function = program.function(f"reduce_{name}_{space}")
        assert function(values, 5, local_size=4, uniform=True) == expected


@pytest.mark.sample
def test_large_arrays(device, program, workgroup):
    generator = np.random.default_rng(workgroup)
    sizes = [0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1000, 3499, 3500, 5000]
    check_real_sums(
        device,
        program,
        workgroup,
        [(generator.normal(size=n) * 10.0 ** generator.integers(-9, 9, n)).tolist() for n in sizes],
    )
    check_whole_totals(
        device,
        program,
        workgroup,
        [generator.integers(-(2**62), 2**62, min(n, 3500)).tolist() for n in sizes],
    )
    check_word_totals(
        device, program, workgroup, [generator.integers(0, 2**32, n).tolist() for n in sizes]
    )
    choices = [0.0, -0.0, math.nan, math.inf, -math.inf, *generator.normal(size=1000)]
    check_real_extremes(
        device,
        program,
        workgroup,
        [generator.choice(choices, n).tolist() for n in sizes]
        + [generator.normal(size=n).tolist() for n in sizes]
        + [[value] * 33 for value in (math.nan, 1.5, -math.inf)],
    )
