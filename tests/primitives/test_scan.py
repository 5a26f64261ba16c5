"""Running sums and stable compaction: device equal to twin for every workgroup size."""

from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_py.primitives import scan
from societies.opencl import Local, Program

word = st.integers(0, 9) | st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module", params=[0, 1], ids=["tree", "serial"])
def program(device, request):
    """Both methods on every device, also the one that is another kind's choice."""
    path = Path(__file__).parent / "scan_cases.cl"
    return Program(device, path, {"SCAN_SERIALLY": request.param})


def check(device, program, workgroup, rows):
    """Scan rows of (value, flag) pairs; a workgroup is a row."""
    groups, capacity = len(rows), max(1, *map(len, rows))
    values, flags = np.zeros((groups, capacity), np.uint32), np.zeros((groups, capacity), np.uint8)
    for g, row in enumerate(rows):
        values[g, : len(row)] = [value for value, _ in row]
        flags[g, : len(row)] = [flag for _, flag in row]
    exclusive, inclusive, listed = (device.zeros(values.shape, np.uint32) for _ in range(3))
    totals = device.zeros((groups, 3, workgroup), np.uint32)
    program.scans(
        values=device.array(values),
        flags=device.array(flags),
        sizes=device.array(np.array([len(row) for row in rows], np.uint32)),
        capacity=capacity,
        exclusive=exclusive,
        inclusive=inclusive,
        listed=listed,
        totals=totals,
        x=Local(np.uint32, capacity),
        f=Local(np.uint8, capacity),
        out=Local(np.uint32, capacity),
        global_size=groups * workgroup,
        local_size=workgroup,
    )
    exclusive, inclusive, listed = exclusive.get(), inclusive.get(), listed.get()
    totals = totals.get().tolist()
    for g, row in enumerate(rows):
        n = len(row)
        before, total = scan.scan_exclusive([value for value, _ in row])
        upto, _ = scan.scan_inclusive([value for value, _ in row])
        chosen = scan.compact([flag for _, flag in row])
        assert exclusive[g, :n].tolist() == before
        assert inclusive[g, :n].tolist() == upto
        assert listed[g, : len(chosen)].tolist() == chosen
        assert [set(everywhere) for everywhere in totals[g]] == [{total}, {total}, {len(chosen)}]


@pytest.mark.sample
@given(
    st.lists(
        st.lists(st.tuples(word, st.sampled_from([0, 1, 128])), max_size=150),
        min_size=1,
        max_size=8,
    )
)
@settings(max_examples=10)
def test_any_words_and_flags(device, program, workgroup, rows):
    check(device, program, workgroup, rows)


@pytest.mark.sample
def test_every_small_size_and_some_large(device, program, workgroup):
    generator = np.random.default_rng(workgroup)
    sizes = [*range(70), 127, 128, 129, 1000, 2047, 3600]  # 9 bytes an entry in 32 KiB
    rows = []
    for i, n in enumerate(sizes):
        share = [0.0, 0.5, 1.0][i % 3]  # no flag, half, all
        flags = (generator.random(n) < share).astype(int).tolist()
        rows.append(list(zip(generator.integers(0, 2**32, n).tolist(), flags, strict=True)))
    check(device, program, workgroup, rows)


@given(st.lists(word))
def test_twin_against_accumulate(values):
    sums = [s % 2**32 for s in accumulate(values, initial=0)]
    assert scan.scan_exclusive(values) == (sums[:-1], sums[-1])
    assert scan.scan_inclusive(values) == (sums[1:], sums[-1])
