"""Largest and smallest entries: device equal to twin, whatever the workgroup size and method."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_py.primitives import select
from societies.device import Local, Program

NONE = 2**32 - 1
# values from few, so that ties are common; all kinds that could go wrong
ODD = [0.0, -0.0, 1.0, 1.0, -1.0, 2.5, math.inf, -math.inf, math.nan, 5e-324, 1e308, -1e308]
reals = st.sampled_from(ODD) | st.floats()
cases = st.lists(
    st.tuples(st.lists(st.tuples(reals, st.booleans()), max_size=150), st.integers(0, 12)),
    min_size=1,
    max_size=8,
)


METHODS = {
    "serial": {"SELECT_SERIALLY": 1},
    "rank": {"SELECT_SERIALLY": 0},
    "tree": {"SELECT_SERIALLY": 0, "SELECT_BY_RANK": 0},
}


@pytest.fixture(scope="module", params=METHODS)
def program(device, request):
    """All three methods on every device, also those that are another kind's choice."""
    path = Path(__file__).parent / "select_cases.cl"
    return Program(device, path, METHODS[request.param])


def check(device, program, workgroup, batch):
    """Compare every selection over (values, mask, k) with the twins; a workgroup is a case."""
    groups = len(batch)
    capacity = max(1, *(len(values) for values, _, _ in batch))
    most = max(1, *(k for _, _, k in batch))
    values, mask = np.zeros((groups, capacity)), np.zeros((groups, capacity), np.uint8)
    for g, (v, m, _) in enumerate(batch):
        values[g, : len(v)], mask[g, : len(m)] = v, m
    extremes = device.zeros((groups, 4, workgroup), np.uint32)
    winners = device.zeros((groups, 2, most), np.uint32)
    mask_after = device.zeros((groups, 2, capacity), np.uint8)
    program.select_cases(
        values=device.array(values),
        mask=device.array(mask),
        sizes=device.array(np.array([len(v) for v, _, _ in batch], np.uint32)),
        wanted=device.array(np.array([k for _, _, k in batch], np.uint32)),
        capacity=capacity,
        most=most,
        extremes=extremes,
        winners=winners,
        mask_after=mask_after,
        v=Local(np.float64, capacity),
        m=Local(np.uint8, capacity),
        found=Local(np.uint32, most),
        scratch=Local(np.uint32, (capacity + 1) // 2),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    extremes, winners, mask_after = extremes.get(), winners.get(), mask_after.get()
    for g, (v, m, k) in enumerate(batch):
        expected = [
            select.extreme_max(v, m),
            select.extreme_min(v, m),
            select.extreme_max(v),
            select.extreme_min(v),
        ]
        for i, index in enumerate(expected):
            assert set(extremes[g, i].tolist()) == {NONE if index is None else index}
        for i, twin in enumerate([select.n_largest, select.n_smallest]):
            marked = list(m)
            chosen = twin(v, marked, k)
            assert winners[g, i, :k].tolist() == [NONE if c is None else c for c in chosen]
            assert mask_after[g, i, : len(v)].tolist() == [int(b) for b in marked]


@given(cases)
@settings(max_examples=5)
def test_any_values_and_masks(device, program, workgroup, batch):
    check(
        device,
        program,
        workgroup,
        [([v for v, _ in pairs], [int(b) for _, b in pairs], k) for pairs, k in batch],
    )


def test_large_arrays_and_degenerate_ones(device, program, workgroup):
    """Up to the local memory limit: 11.5 bytes an entry, so about 2800 entries in 32 KiB."""
    generator = np.random.default_rng(workgroup)
    batch = []
    for n in [0, 1, 2, 3, 63, 64, 65, 127, 1000, 2800 if workgroup >= 31 else 700]:
        values = generator.choice([*ODD, *generator.normal(size=50)], n).tolist()
        mask = (generator.random(n) < 0.3).astype(int).tolist()
        batch.append((values, mask, 7))
    for n in [1, 5, 64, 130]:
        batch += [
            ([1.5] * n, [0] * n, 9),  # all equal: 0, 1, 2, ...
            ([1.5] * n, [1] * n, 3),  # all masked
            ([math.nan] * n, [0] * n, 3),  # nothing comparable
            ([math.inf] * n, [0] * n, 3),
            ([-math.inf] * n, [0] * n, 3),
            (list(range(n)), [0] * n, n),  # everything in order
        ]
    check(device, program, workgroup, batch)


def test_recorded_vectors():
    """Device-layer specification, B.2."""
    assert select.extreme_max([24, 6.333, 2.1, 9.76, 2.11, 44.2224, 11000, 23]) == 6
    assert select.extreme_max([54.2, 43, 223.5, 222, 9000]) == 4
    values = [-27.342, 73.887, -61.28, 88.231, -57.1, -564.927, -42.691, -97.121, -2.643, 8.741]
    values += [18.538, 26.442, 36.1, 42.445, -104.102, 48.808, 63.522, -58.05, 69.232, 100.676]
    assert select.extreme_min(values) == 5
    assert select.extreme_min(values, [i % 2 for i in range(20)]) == 14
    assert select.n_largest(values, [False] * 20, 6) == [19, 3, 1, 18, 16, 15]


@given(st.lists(reals, max_size=40), st.integers(0, 10), st.data())
def test_twin_takes_the_extreme_again_and_again(values, k, data):
    """The n largest are the definition "take the extreme, mask it, repeat", by plain search."""
    mask = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    for largest, twin in [(True, select.n_largest), (False, select.n_smallest)]:
        left = [i for i, v in enumerate(values) if not mask[i] and not math.isnan(v)]
        expected = []
        for _ in range(k):
            best = None
            for i in left:  # ascending: a later one must be strictly better
                if best is None or (
                    values[i] > values[best] if largest else values[i] < values[best]
                ):
                    best = i
            expected.append(best)
            if best is not None:
                left.remove(best)
        assert twin(values, list(mask), k) == expected
