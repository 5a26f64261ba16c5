"""Largest and smallest entries: device equal to twin, whatever the workgroup size and method."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from reference_py.primitives import select
from reference_py.primitives.rng import Rng
from societies.opencl import Local, Program

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


RANDOM = [  # mask looked at, largest, twin
    (1, 1, select.extreme_max_random),
    (1, 0, select.extreme_min_random),
    (0, 1, lambda rng, values, mask: select.extreme_max_random(rng, values)),
    (0, 0, lambda rng, values, mask: select.extreme_min_random(rng, values)),
]


def check_random(device, program, workgroup, rows, base=3):
    """Compare every random extreme over (values, mask) with the twins; return what was chosen."""
    batch = [(*row, *kind) for kind in RANDOM for row in rows]
    groups = len(batch)
    capacity = max(1, *(len(values) for values, _ in rows))
    values, mask = np.zeros((groups, capacity)), np.zeros((groups, capacity), np.uint8)
    for g, (v, m, _, _, _) in enumerate(batch):
        values[g, : len(v)], mask[g, : len(m)] = v, m
    twins = [Rng.seed(base, 2**32, stream) for stream in range(groups)]
    states = device.array(np.array([rng.pack() for rng in twins], np.uint64))
    chosen = device.zeros((groups, workgroup), np.uint32)
    program.random_extremes(
        values=device.array(values),
        mask=device.array(mask),
        sizes=device.array(np.array([len(v) for v, _, _, _, _ in batch], np.uint32)),
        masked=device.array(np.array([masked for _, _, masked, _, _ in batch], np.uint8)),
        largest=device.array(np.array([largest for _, _, _, largest, _ in batch], np.uint8)),
        capacity=capacity,
        states=states,
        chosen=chosen,
        v=Local(np.float64, capacity),
        m=Local(np.uint8, capacity),
        scratch=Local(np.uint32, max(2, (capacity + 1) // 2)),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    chosen = chosen.get()
    for (v, m, _, _, twin), rng, found in zip(batch, twins, chosen, strict=True):
        index = twin(rng, v, m)
        assert set(found.tolist()) == {NONE if index is None else index}
    assert states.get().tolist() == [rng.pack() for rng in twins]
    return chosen[:, 0].reshape(len(RANDOM), len(rows))


@pytest.mark.sample
@given(cases)
@settings(max_examples=5)
def test_any_values_and_masks(device, program, workgroup, batch):
    check(
        device,
        program,
        workgroup,
        [([v for v, _ in pairs], [int(b) for _, b in pairs], k) for pairs, k in batch],
    )


@pytest.mark.sample
def test_large_arrays_and_degenerate_ones(device, program, workgroup):
    """Up to the local memory limit: 11 bytes an entry, so 2900 entries in 32 KiB."""
    generator = np.random.default_rng(workgroup)
    batch = []
    for n in [0, 1, 2, 3, 63, 64, 65, 127, 1000, 2900 if workgroup >= 31 else 700]:
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


@pytest.fixture(scope="module", params=["serial", "rank"])
def random_program(device, request):
    """The two methods of a random choice; "tree" is the same as "rank"."""
    path = Path(__file__).parent / "select_cases.cl"
    return Program(device, path, METHODS[request.param])


@given(st.lists(st.lists(st.tuples(st.sampled_from(ODD), st.booleans())), min_size=1, max_size=8))
@settings(max_examples=3)
def test_any_ties(device, random_program, workgroup, batch):
    rows = [([v for v, _ in pairs], [int(b) for _, b in pairs]) for pairs in batch]
    check_random(device, random_program, workgroup, rows)


def test_ties_in_large_arrays_and_degenerate_ones(device, random_program, workgroup):
    """11 bytes an entry: 2900 entries in 32 KiB."""
    generator = np.random.default_rng(workgroup)
    rows = []
    for n in [0, 1, 2, 3, 31, 32, 33, 64, 65, 1000, 2900]:
        mask = (generator.random(n) < 0.3).astype(int).tolist()
        rows += [
            (generator.choice(ODD, n).tolist(), mask),
            (generator.choice([1.5, 2.0, math.nan], n).tolist(), mask),
            ([1.5] * n, [int(i != n // 2) for i in range(n)]),  # one left
            ([-0.0, 0.0] * (n // 2) + [0.0] * (n % 2), [0] * n),  # all equal
            ([math.nan] * n, [0] * n),
            ([1.5] * n, [1] * n),  # all masked
        ]
    check_random(device, random_program, workgroup, rows)


@pytest.mark.ci
def test_random_extremes_by_their_own_names(device, random_program):
    values, mask = [2.0, 1.0, 2.0, 1.0, 0.5, 2.0, 0.5, 3.0, 3.0], [0, 0, 0, 0, 1, 0, 1, 1, 1]
    rng = Rng.seed(4, 0, 0)
    state, chosen = device.array(np.array([rng.pack()], np.uint64)), device.zeros(4, np.uint32)
    random_program.random_names(
        values=device.array(np.array(values)),
        mask=device.array(np.array(mask, np.uint8)),
        n=len(values),
        state=state,
        chosen=chosen,
        global_size=8,
        local_size=8,
    )
    assert chosen.get().tolist() == [twin(rng, values, mask) for _, _, twin in RANDOM]
    assert state.get().tolist() == [rng.pack()]


@pytest.mark.sample
def test_equals_are_chosen_fairly(device, random_program):
    """2000 streams; 40 largest and 60 smallest of 100, every one as likely as the other."""
    values = [2.0 if i % 5 < 2 else -1.0 for i in range(100)]
    chosen = check_random(device, random_program, 64, [(values, [0] * 100)] * 2000, base=2**45)
    for row, equals in [(0, 40), (1, 60)]:
        found, observed = np.unique(chosen[row], return_counts=True)
        assert len(found) == equals
        assert stats.chisquare(observed).pvalue > 1e-3


def test_no_choice_draws_nothing():
    rng = Rng.seed(5, 0, 0)
    before = rng.pack()
    assert select.extreme_max_random(rng, []) is None
    assert select.extreme_max_random(rng, [1.0, math.nan, 2.0]) == 2
    assert select.extreme_min_random(rng, [1.0, 1.0, 2.0], [True, False, False]) == 1
    assert rng.pack() == before


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
