"""Do launches leave time to other threads, and is memory that is used again read to rightly?"""

import numpy as np
import pytest

from societies.opencl import staging as staging_memory
from societies.opencl import throttle
from societies.opencl.staging import Staging
from societies.opencl.throttle import LAUNCHES, MARKS, Throttle


@pytest.fixture
def as_gpu(device, monkeypatch):
    """The device, taken for a GPU: what is done there is done by its own runtime."""
    monkeypatch.setattr(device, "kind", "gpu")
    return device


class Marks:
    """The names of pyopencl that a throttle uses; counts how many marks are not waited for."""

    def __init__(self):
        self.made, self.ahead, self.most = 0, 0, 0

    def enqueue_marker(self, queue):
        self.made += 1
        self.ahead += 1
        self.most = max(self.most, self.ahead)
        return self

    def wait(self):
        self.ahead -= 1


@pytest.mark.parametrize("together", [1, 5, LAUNCHES])
def test_so_few_launches_are_ahead_of_the_device(together, as_gpu, monkeypatch):
    marks = Marks()
    assert as_gpu.queue
    monkeypatch.setattr(type(as_gpu), "api", marks)
    pause, launches = Throttle(as_gpu), 3000
    for _ in range(launches // together):
        pause(together)
    assert launches // (2 * LAUNCHES) <= marks.made <= launches // LAUNCHES
    assert marks.most == MARKS + 1


def test_marks_are_waited_for(as_gpu, monkeypatch):
    monkeypatch.setattr(throttle, "MARKS", 1)
    array, pause = as_gpu.zeros(4, np.int32), Throttle(as_gpu)
    for value in range(8):
        array.fill(value)
        pause(LAUNCHES)
    assert len(pause._marks) == 1
    assert array.get().tolist() == [7] * 4


def test_a_cpu_is_never_waited_for(device, monkeypatch):
    monkeypatch.setattr(device, "kind", "cpu")
    monkeypatch.setattr(type(device), "api", None)
    Throttle(device)(LAUNCHES)


@pytest.mark.parametrize("kind", ["gpu", "cpu"])
def test_memory_that_is_used_again(kind, device, monkeypatch):
    monkeypatch.setattr(device, "kind", kind)
    monkeypatch.setattr(staging_memory, "LEAST", 1)
    staging = Staging(device)
    first, second = np.arange(12.0).reshape(3, 4), np.arange(24, dtype=np.int16).reshape(6, 4)
    one, other = device.array(first), device.array(second)
    again = one.get(to=staging)
    assert again.tolist() == first.tolist()
    assert one.get(2, staging).tolist() == first[:2].tolist()
    taken = other.get(5, staging)
    assert np.shares_memory(taken, again)
    assert taken.tolist() == second[:5].tolist()
    longer = device.array(np.arange(1000.0))
    assert longer.get(to=staging).tolist() == list(range(1000))
    assert taken.tolist() == second[:5].tolist()  # its memory is not that of the longer one
    assert device.empty((0, 3)).get(to=staging).shape == (0, 3)


def test_memory_that_cannot_be_pinned(as_gpu, monkeypatch):
    """Devices limit an array and systems limit pinned memory; logs are read all the same."""
    monkeypatch.setattr(staging_memory, "LEAST", 1 << 60)
    staging, numbers = Staging(as_gpu), np.arange(1000.0)
    for count in (10, 1000, 500):
        read = as_gpu.array(numbers[:count]).get(to=staging)
        assert read.tolist() == numbers[:count].tolist()
