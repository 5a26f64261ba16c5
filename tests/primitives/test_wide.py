"""Arrays of any length: device equal to twin, every row alone, and reals equal to one tree."""

import numpy as np
import pytest
from wide_rows import BLOCK, Wide, blocks_of

from reference_py.primitives import reduce, wide
from societies.errors import DeviceError
from societies.opencl import Program

pytestmark = pytest.mark.ci

SIZES = [0, 1, 2, 70, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 5 * BLOCK + 17]
WORK_ITEMS = [1, 31, 64, 256]


@pytest.fixture(scope="module", params=WORK_ITEMS, ids=lambda size: f"workgroup{size}")
def operations(device, request):
    return Wide(device, request.param)


def lengths_of(row, copies):
    """Return a length for each copy: nothing, one, all, and some in between."""
    generator = np.random.default_rng(row)
    chosen = [0, min(1, row), row, *generator.integers(0, row + 1, copies)]
    return np.array(chosen[:copies], np.uint32)


def arrays(device, values, result, dtype=None):
    copies, row = values.shape
    scratch = device.zeros((copies, blocks_of(row)), dtype or values.dtype)
    return device.array(values), device.zeros(copies, result), scratch


@pytest.mark.parametrize("row", SIZES[1:])
@pytest.mark.parametrize("some", [False, True], ids=["whole rows", "lengths on the device"])
def test_running_sums(device, operations, row, some):
    copies = 5
    values = np.random.default_rng(row).integers(0, 2**32, (copies, row), dtype=np.uint32)
    lengths = lengths_of(row, copies) if some else np.full(copies, row, np.uint32)
    x, totals, scratch = arrays(device, values, np.uint32)
    operations.scan_exclusive(x, totals, scratch, device.array(lengths) if some else None)
    sums, expected = wide.scan_exclusive(values.tolist(), lengths.tolist())
    assert totals.get().tolist() == expected
    for found, before, old, n in zip(x.get(), sums, values, lengths, strict=True):
        assert found[:n].tolist() == before
        assert found[n:].tolist() == old[n:].tolist()  # what does not count is left alone


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("row", SIZES[1:])
def test_lists_of_set_flags(device, operations, row, share):
    copies = 4
    flags = (np.random.default_rng(row).random((copies, row)) < share).astype(np.uint8) * 128
    lengths = lengths_of(row, copies)
    given, counts, scratch = arrays(device, flags, np.uint32, np.uint32)
    out = device.zeros(flags.shape, np.uint32)
    operations.compact(given, out, counts, scratch, device.array(lengths))
    expected = wide.compact(flags.tolist(), lengths.tolist())
    assert counts.get().tolist() == [wide.count(r[:n]) for r, n in zip(flags, lengths, strict=True)]
    for found, wanted in zip(out.get().tolist(), expected, strict=True):
        assert found[: len(wanted)] == wanted
        assert not any(found[len(wanted) :])


@pytest.mark.parametrize("row", SIZES[1:])
def test_sums_of_reals_are_those_of_one_tree(device, operations, row):
    values = np.random.default_rng(row).normal(size=(4, row)) * 1e6
    lengths = lengths_of(row, 4)
    x, sums, scratch = arrays(device, values, np.float64)
    operations.reduce_sum(x, sums, scratch, device.array(lengths))
    assert sums.get().tolist() == wide.reduce_sum(values.tolist(), lengths.tolist())


@pytest.mark.parametrize("n", [1, 4095, 4096, 4097, 10**6])
def test_a_long_sum_has_the_bits_of_one_tree(device, n):
    values = np.random.default_rng(n).random((1, n))
    x, sums, scratch = arrays(device, values, np.float64)
    Wide(device).reduce_sum(x, sums, scratch)
    assert sums.get().tolist() == [reduce.reduce_sum(values[0].tolist())]


@pytest.mark.parametrize("row", SIZES[1:])
def test_totals_of_whole_numbers(device, operations, row):
    generator = np.random.default_rng(row)
    longs = generator.integers(-(2**63), 2**63 - 1, (5, row), dtype=np.int64)
    words = generator.integers(0, 2**32, (5, row), dtype=np.uint32)
    lengths = lengths_of(row, 5)
    sizes = device.array(lengths)
    x, sums, scratch = arrays(device, longs, np.int64)
    operations.reduce_sum_long(x, sums, scratch, sizes)
    assert sums.get().tolist() == wide.reduce_sum_long(longs.tolist(), lengths.tolist())
    x, largest, scratch = arrays(device, words, np.uint32)
    operations.reduce_max_uint(x, largest, scratch, sizes)
    assert largest.get().tolist() == wide.reduce_max_uint(words.tolist(), lengths.tolist())


def test_a_number_of_entries(device, operations):
    x, totals, scratch = arrays(device, np.full((2, BLOCK + 9), 3, np.uint32), np.uint32)
    operations.reduce_max_uint(x, totals, scratch, 0)
    assert totals.get().tolist() == [0, 0]
    operations.scan_exclusive(x, totals, scratch, BLOCK + 2)
    assert totals.get().tolist() == [3 * (BLOCK + 2)] * 2
    assert x.get()[1, BLOCK : BLOCK + 3].tolist() == [3 * BLOCK, 3 * BLOCK + 3, 3]


def test_nothing_waits(device):
    x, totals, scratch = arrays(device, np.ones((3, 9), np.uint32), np.uint32)
    chosen = Wide(device)
    before = device.counters.downloads, device.counters.uploads
    chosen.scan_exclusive(x, totals, scratch)
    assert (device.counters.downloads, device.counters.uploads) == before


def test_what_is_handed_in_is_checked(device):
    chosen = Wide(device)
    x, totals, scratch = arrays(device, np.ones((2, 9), np.uint32), np.uint32)
    with pytest.raises(DeviceError, match=r"\(copies, row\) of float64 is needed"):
        chosen.reduce_sum(x, totals, scratch)
    with pytest.raises(DeviceError, match="n = 10: a row has 9 entries"):
        chosen.scan_exclusive(x, totals, scratch, 10)
    with pytest.raises(DeviceError, match="scratch of uint32 with 2 elements"):
        chosen.scan_exclusive(x, totals, device.zeros(1, np.uint32))
    with pytest.raises(DeviceError, match=r"n must be a number or uint32 of shape \(2,\)"):
        chosen.scan_exclusive(x, totals, scratch, device.zeros(3, np.uint32))
    with pytest.raises(DeviceError, match="out must be uint32"):
        flags = device.zeros((2, 9), np.uint8)
        chosen.compact(flags, device.zeros((2, 8), np.uint32), totals, scratch)


@pytest.mark.parametrize("n", [0, 1, 70, BLOCK])
def test_a_workgroup_alone(device, n):
    """The functions themselves; the kernels above are made of them."""
    program = Program(device, "primitives/wide.cl")
    words = np.random.default_rng(n).integers(0, 99, max(n, 1), dtype=np.uint32)
    x = device.array(words)
    sums, (total,) = wide.scan_exclusive([words.tolist()], [n])
    assert program.function("wide_scan_exclusive")(x, n, local_size=8, uniform=True) == total
    assert x.get()[:n].tolist() == sums[0]
    flags = (words % 3 == 0).astype(np.uint8)
    given = device.array(flags)
    assert program.function("wide_count")(given, n, local_size=8, uniform=True) == flags[:n].sum()
    out = device.zeros(max(n, 1), np.uint32)
    function = program.function("wide_compact")
    listed = [100 + i for i in wide.compact([flags.tolist()], [n])[0]]
    assert function(given, n, 100, out, local_size=8, uniform=True) == len(listed)
    assert out.get()[: len(listed)].tolist() == listed
    for name, dtype in (
        ("reduce_sum", np.float64),
        ("reduce_sum_long", np.int64),
        ("reduce_max_uint", np.uint32),
    ):
        values = words.astype(dtype)
        found = program.function(f"wide_{name}")(device.array(values), n, local_size=8)
        assert set(np.asarray(found).ravel()) == {getattr(wide, name)([values.tolist()], [n])[0]}
