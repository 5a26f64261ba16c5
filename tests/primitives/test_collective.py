"""Do barriers hold where compilers have got them wrong: twice, in loops, for few work-items?"""

from pathlib import Path

import numpy as np
import pytest

from reference_py.primitives.reduce import reduce_sum
from societies.opencl import Program


@pytest.fixture(scope="module")
def program(device):
    return Program(device, Path(__file__).parent / "collective_cases.cl")


@pytest.mark.sample
@pytest.mark.parametrize("n", [1, 2, 9, 48])
def test_collective_functions_can_be_called_twice(device, program, workgroup, n):
    k = 6
    values = np.random.default_rng(n).integers(0, 5, n).astype(float)
    winners, sums = device.zeros(2 * k, np.uint32), device.zeros(2)
    totals = device.zeros(2, np.uint32)
    program.twice(
        values=device.array(values),
        winners=winners,
        sums=sums,
        totals=totals,
        n=n,
        k=k,
        global_size=workgroup,
        local_size=workgroup,
    )
    for found, keys in ((winners.get()[:k], values), (winners.get()[k:], -values)):
        expected = np.argsort(keys, kind="stable")[:k]
        assert found[: len(expected)].tolist() == expected.tolist()
        assert (found[len(expected) :] == 0xFFFFFFFF).all()
    assert sums.get().tolist() == [reduce_sum(values.tolist()), reduce_sum((-values).tolist())]
    assert totals.get().tolist() == [n * (n - 1) // 2, n]


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_a_loop_that_few_work_items_enter(device, program, workgroup, n):
    counted, seen = device.zeros(8), device.zeros(workgroup)
    program.few(counted=counted, seen=seen, n=n, global_size=workgroup, local_size=workgroup)
    assert counted.get()[0] == n
    assert (seen.get() == 1.0).all()


@pytest.mark.parametrize("turns", [1, 5])
def test_what_is_before_a_loop_happens_once(device, program, workgroup, turns):
    times = device.zeros(3 * workgroup, np.uint32)
    program.once(times=times, turns=turns, global_size=3 * workgroup, local_size=workgroup)
    assert (times.get() == 1).all()


@pytest.mark.sample
@pytest.mark.parametrize("few", [1, 8, 64])
def test_sizes_that_the_compiler_knows(device, program, few):
    for name, expected in {"known": [1, 1, 5, 5, 5], "known_trees": [0, 3, 7, 5, 3]}.items():
        found = device.zeros((few, 5))
        program.kernel(name)(found=found, n=8, global_size=few, local_size=few)
        assert found.get().tolist() == [expected] * few
