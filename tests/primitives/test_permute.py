"""Random orders and matchings: uniform, and the same draws on the device and in the twin."""

from itertools import permutations
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reference_py.primitives.permute import random_matching, random_permutation
from reference_py.primitives.rng import Rng
from societies.opencl import Local, Program

NONE = 2**32 - 1
SIZES = [0, 1, 2, 3, 4, 5, 31, 32, 33, 100, 255, 256, 257, 1000]
words64 = st.integers(0, 2**64 - 1)


@pytest.fixture(scope="module")
def program(device):
    return Program(device, Path(__file__).parent / "permute_cases.cl")


def streams(count, base=7):
    return [Rng.seed(base, 2**32, stream) for stream in range(count)]


def launch(device, program, name, workgroup, rngs, sizes):
    """Run a kernel with one workgroup for each stream; return its arrays and the states after."""
    capacity = max(1, *sizes)
    states = device.array(np.array([rng.pack() for rng in rngs], np.uint64))
    names = {"orders": {"order": np.uint32, "in_global": np.int32}, "matchings": {"partner": "u4"}}
    results = {
        key: device.zeros((len(rngs), capacity), dtype) for key, dtype in names[name].items()
    }
    words = {key: Local(np.uint32, capacity) for key in ("xy" if name == "matchings" else "x")}
    program.kernel(name)(
        states=states,
        sizes=device.array(np.array(sizes, np.uint32)),
        capacity=capacity,
        global_size=len(rngs) * workgroup,
        local_size=workgroup,
        **results,
        **words,
    )
    return *(array.get() for array in results.values()), states.get().tolist()


def test_device_permutes_like_the_twin(device, program, workgroup):
    """5000 words are 20 kB of local memory."""
    sizes = [*SIZES, 5000]
    rngs = streams(len(sizes))
    order, in_global, states = launch(device, program, "orders", workgroup, rngs, sizes)
    for g, (n, rng) in enumerate(zip(sizes, rngs, strict=True)):
        assert order[g, :n].tolist() == random_permutation(rng, n)
        assert in_global[g, :n].tolist() == random_permutation(rng, n)
    assert states == [rng.pack() for rng in rngs]


def test_device_matches_like_the_twin(device, program, workgroup):
    """Partners and scratch: 4095 pairs of words are nearly 32 KiB; NVIDIA takes a byte."""
    sizes = [*SIZES, 4095]
    rngs = streams(len(sizes), base=8)
    partner, states = launch(device, program, "matchings", workgroup, rngs, sizes)
    for g, (n, rng) in enumerate(zip(sizes, rngs, strict=True)):
        expected = [NONE if other is None else other for other in random_matching(rng, n)]
        assert partner[g, :n].tolist() == expected
    assert states == [rng.pack() for rng in rngs]


@given(words64, st.integers(0, 300))
def test_every_number_comes_once_and_every_partner_is_mutual(seed, n):
    rng = Rng.seed(seed, 0, 0)
    assert sorted(random_permutation(rng, n)) == list(range(n))
    partner = random_matching(rng, n)
    assert sum(other is None for other in partner) == n % 2
    for i, other in enumerate(partner):
        assert other is None or (other != i and partner[other] == i)


def test_none_and_one_draw_nothing():
    rng = Rng.seed(5, 0, 0)
    before = rng.pack()
    assert random_permutation(rng, 0) == []
    assert random_permutation(rng, 1) == [0]
    assert random_matching(rng, 1) == [None]
    assert rng.pack() == before


@pytest.mark.ci
def test_all_orders_of_five_are_equally_likely(device, program):
    """24 000 streams, 120 orders."""
    order, _, _ = launch(device, program, "orders", 8, streams(24000), [5] * 24000)
    number = {kind: i for i, kind in enumerate(permutations(range(5)))}
    observed = np.bincount([number[tuple(o)] for o in order.tolist()], minlength=factorial(5))
    assert stats.chisquare(observed).pvalue > 1e-3


@pytest.mark.ci
@pytest.mark.parametrize("n, matchings", [(6, 15), (7, 105)])
def test_all_matchings_are_equally_likely(device, program, n, matchings):
    partner, _ = launch(device, program, "matchings", 8, streams(21000), [n] * 21000)
    kinds, observed = np.unique(partner, axis=0, return_counts=True)
    assert len(kinds) == matchings
    assert stats.chisquare(observed).pvalue > 1e-3


def test_every_place_is_equally_likely_for_every_number(device, program):
    order, _, _ = launch(device, program, "orders", 64, streams(6400), [64] * 6400)
    for place in (0, 1, 31, 62, 63):
        assert stats.chisquare(np.bincount(order[:, place], minlength=64)).pvalue > 1e-3
