"""Arrays: what comes back is what went in, and nothing moves unasked."""

import numpy as np
import pytest

from societies.errors import DeviceError
from societies.opencl import Counters, In, Local, Out, Program, choose_device
from societies.opencl import array as array_module

DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"]


def bit_patterns(dtype, shape):
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.random.default_rng(1).integers(0, 256, count, dtype=np.uint8)
    if dtype == "?":
        raw &= 1
    return raw.view(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip(device, dtype):
    host = bit_patterns(dtype, (3, 5, 2))
    back = device.array(host).get()
    assert back.dtype == host.dtype and back.shape == host.shape
    assert back.tobytes() == host.tobytes()


def test_scalars_and_strided_arrays_keep_shape_and_order(device):
    host = np.arange(24.0).reshape(4, 6)
    for view in (host.T, host[::2, 1::2], np.float64(3.0), host[0, :0]):
        back = device.array(view).get()
        assert back.shape == np.shape(view)
        assert np.array_equal(back, view)


def test_zeros_and_fill(device):
    a = device.zeros((7, 3), np.int16)
    assert not a.get().any()
    a.fill(-5)
    assert (a.get() == -5).all()
    assert device.zeros(4).dtype == np.float64
    assert a.nbytes == 42 and len(a) == 7


@pytest.mark.parametrize("value", [0, 7])
@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f8"])
def test_large_arrays_are_filled_in_pieces_by_a_pattern_of_four_bytes(
    device, monkeypatch, dtype, value
):
    """One byte as a pattern loses an NVIDIA GPU from 2 GiB on: 4096 societies with devices."""
    monkeypatch.setattr(array_module, "FILLED_AT_ONCE", 64)
    asked, fill = [], device.api.enqueue_fill_buffer

    def noted(queue, buffer, pattern, offset, size, *rest, **more):
        asked.append((offset, size))
        assert pattern.nbytes >= 4
        return fill(queue, buffer, pattern, offset, size, *rest, **more)

    monkeypatch.setattr(device.api, "enqueue_fill_buffer", noted)
    a = device.array(np.arange(41, dtype=dtype))
    a.fill(value)
    assert (a.get() == value).all()
    whole = a.nbytes // 4 * 4
    assert asked == [(first, min(64, whole - first)) for first in range(0, whole, 64)]


@pytest.mark.parametrize("value", [0, 9])
@pytest.mark.parametrize("count", range(9))
def test_short_arrays_of_bytes_are_filled_to_their_end(device, count, value):
    a = device.array(np.arange(100, 100 + count, dtype=np.uint8))
    a.fill(value)
    assert (a.get() == value).all()


def test_set_wants_equal_shape_and_dtype(device):
    a = device.zeros((2, 3), np.int32)
    a.set(np.ones((2, 3), np.int32))
    assert (a.get() == 1).all()
    for wrong in (np.ones((2, 3)), np.ones((3, 2), np.int32), np.ones(6, np.int32)):
        with pytest.raises(DeviceError, match="shape and dtype"):
            a.set(wrong)


def test_parts_are_elements_in_c_order(device):
    a = device.array(np.arange(12, dtype=np.int32).reshape(3, 4))
    before = device.counters.uploads
    a.set_part(5, np.array([[-1, -2], [-3, -4]], np.int32))
    assert a.get_part(4, 6).tolist() == [4, -1, -2, -3, -4, 9]
    assert a.get().ravel().tolist() == [0, 1, 2, 3, 4, -1, -2, -3, -4, 9, 10, 11]
    a.set_part(12, np.zeros(0, np.int32))
    assert a.get_part(0, 0).shape == (0,) and device.counters.uploads == before + 1
    with pytest.raises(DeviceError, match="no elements 11 to 12"):
        a.set_part(11, np.zeros(2, np.int32))
    with pytest.raises(DeviceError, match="no elements -1 to 0"):
        a.get_part(-1, 2)
    with pytest.raises(DeviceError, match="was given float64"):
        a.set_part(0, np.zeros(2))


@pytest.mark.parametrize("values", [["a"], [object()], [1 + 2j]])
def test_what_is_not_numbers_is_refused(device, values):
    with pytest.raises(DeviceError, match="cannot hold dtype"):
        device.array(np.array(values))


def test_zero_size_arrays_never_reach_opencl(device, kernel_file):
    before = device.counters.allocations
    empty = device.zeros((0, 4), np.int32)
    assert empty.buffer is None
    assert empty.get().shape == (0, 4)
    empty.set(np.zeros((0, 4), np.int32))
    assert device.counters.allocations == before
    program = Program(
        device,
        kernel_file("""
            kernel void is_null(global const int *a, global int *found) { *found = a == 0; }
        """),
    )
    found = device.zeros(1, np.int32)
    program.is_null(global_size=1, local_size=1, a=empty, found=found)
    assert found.get()[0] == 1
    launches = device.counters.launches
    nothing = program.is_null(global_size=0, local_size=1, a=empty, found=found)
    nothing.wait()
    assert nothing.seconds == 0.0
    assert device.counters.launches == launches


def test_an_array_larger_than_the_device_allows(device):
    with pytest.raises(DeviceError, match="MiB in one array") as caught:
        device.empty(device.max_alloc + 8, np.uint8)
    assert "\n" not in str(caught.value)


COUNT_UP = """
    kernel void count_up(global int *a, int by, int n) {
        size_t i = get_global_id(0);
        if (i < n) a[i] += by;
    }
"""


def test_a_kernel_called_twice_on_one_array_moves_nothing(device, kernel_file):
    program = Program(device, kernel_file(COUNT_UP))
    a = device.zeros(10, np.int32)
    program.count_up.bind(global_size=10, local_size=4, a=a, by=1, n=10)  # warm
    before = Counters(**vars(device.counters))
    program.count_up(global_size=10, local_size=4, a=a, by=1, n=10)
    program.count_up(global_size=10, local_size=4, a=a, by=2, n=10)
    assert device.counters.uploads == before.uploads
    assert device.counters.downloads == before.downloads
    assert device.counters.allocations == before.allocations
    assert device.counters.launches == before.launches + 2
    assert (a.get() == 3).all()


def test_in_and_out_copy_exactly_what_they_say(device, kernel_file):
    program = Program(
        device,
        kernel_file("""
            kernel void move(global int *a, global int *b) {
                size_t i = get_global_id(0);
                b[i] = a[i] + 10;
                a[i] = -a[i];
            }
        """),
    )
    a, b = np.arange(4, dtype="i4"), np.zeros(4, "i4")
    before = Counters(**vars(device.counters))
    program.move(global_size=4, local_size=4, a=In(a), b=Out(b))
    assert a.tolist() == [0, 1, 2, 3] and b.tolist() == [10, 11, 12, 13]
    assert device.counters.uploads == before.uploads + 1
    assert device.counters.downloads == before.downloads + 1


def test_an_array_of_another_device_is_refused(device, kernel_file):
    other = choose_device(device.index)
    program = Program(device, kernel_file(COUNT_UP))
    with pytest.raises(DeviceError, match="is on"):
        program.count_up(global_size=1, local_size=1, a=other.zeros(1, "i4"), by=1, n=1)


def test_local_memory_has_the_size_it_says():
    assert Local(np.float64, 10).nbytes == 80
    assert Local("i4", 0).nbytes == 4
