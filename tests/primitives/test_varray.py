"""Registering and choosing: fair, and the same whatever the order of registration."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_py.primitives.rng import Rng
from reference_py.primitives.varray import choose_among
from societies.opencl import Local, Program

NONE = 2**32 - 1
ORDERS = [None, 1, 2, 3]  # VARRAY_TEST_ORDER; None: as appended
words64 = st.integers(0, 2**64 - 1)


@pytest.fixture(scope="module")
def programs(device):
    path = Path(__file__).parent / "varray_cases.cl"
    return [Program(device, path, {} if k is None else {"VARRAY_TEST_ORDER": k}) for k in ORDERS]


def choose(device, program, workgroup, flags, states, capacity):
    """Return (chosen, items, length and overflow, states after) of each row of flags."""
    groups = len(flags)
    stride = max(1, *map(len, flags))
    padded = np.zeros((groups, stride), np.uint8)
    for g, row in enumerate(flags):
        padded[g, : len(row)] = row
    chosen = device.zeros((groups, workgroup), np.uint32)
    items = device.zeros((groups, capacity), np.uint32)
    facts = device.zeros((groups, 2), np.uint32)
    moved = device.array(np.array(states, np.uint64))
    program.choices(
        flags=device.array(padded),
        sizes=device.array(np.array([len(row) for row in flags], np.uint32)),
        stride=stride,
        capacity=capacity,
        states=moved,
        chosen=chosen,
        items=items,
        facts=facts,
        list=Local(np.uint32, capacity),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    return chosen.get(), items.get().tolist(), facts.get().tolist(), moved.get().tolist()


rows = st.lists(st.tuples(words64, st.lists(st.booleans(), max_size=100)), min_size=1, max_size=6)


@pytest.mark.sample
@given(rows)
@settings(max_examples=8)
def test_choice_depends_on_nothing_but_the_set(device, programs, workgroup, batch):
    flags = [row for _, row in batch]
    twins = [Rng.seed(seed, 0, 0) for seed, _ in batch]
    states = [rng.pack() for rng in twins]
    registered = [[i for i, flag in enumerate(row) if flag] for row in flags]
    expected = [choose_among(rng, ids) for rng, ids in zip(twins, registered, strict=True)]
    for program in programs:
        chosen, items, facts, moved = choose(device, program, workgroup, flags, states, 100)
        for g, ids in enumerate(registered):
            assert facts[g] == [len(ids), 0]
            assert sorted(items[g][: len(ids)]) == ids
            assert set(chosen[g].tolist()) == {NONE if expected[g] is None else expected[g]}
        assert moved == [rng.pack() for rng in twins]


@pytest.mark.ci
def test_test_orders_do_shuffle(device, programs):
    """Otherwise the test above would show nothing."""
    results = [
        choose(device, program, 64, [[1] * 60], [Rng.seed(1, 0, 0).pack()], 60)[1][0]
        for program in programs
    ]
    assert all(sorted(items) == list(range(60)) for items in results)
    shuffled = {tuple(items) for items in results[1:]}
    assert len(shuffled) == 3
    assert tuple(range(60)) not in shuffled


def test_overflow_is_reported_and_nothing_is_overwritten(device, programs, workgroup):
    for count, expected in [(7, [7, 0]), (8, [8, 0]), (9, [8, 1]), (300, [8, 1])]:
        _, items, facts, _ = choose(
            device, programs[0], workgroup, [[1] * count], [Rng.seed(1, 0, 0).pack()], 8
        )
        assert facts[0] == expected
        stored = items[0][: expected[0]]
        assert len(set(stored)) == expected[0]
        assert max(stored) < count


def test_none_and_one_draw_nothing():
    rng = Rng.seed(5, 0, 0)
    before = rng.pack()
    assert choose_among(rng, []) is None
    assert choose_among(rng, [17]) == 17
    assert rng.pack() == before


def test_every_fourth_of_256_is_chosen_fairly(device, programs):
    """The seed's test: 1000 launches with streams of their own; chi-square with 63 degrees."""
    flags = [[i % 4 == 0 for i in range(256)]] * 1000
    states = [Rng.seed(0, 2**32, stream).pack() for stream in range(1000)]
    chosen, _, _, _ = choose(device, programs[0], 256, flags, states, 64)
    picks = chosen[:, 0]
    assert (picks % 4 == 0).all()
    twins = [choose_among(Rng.load(state), range(0, 256, 4)) for state in states]
    assert picks.tolist() == twins
    observed = np.bincount(picks // 4, minlength=64)
    assert ((observed - 1000 / 64) ** 2 / (1000 / 64)).sum() < 103
