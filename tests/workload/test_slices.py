"""Does a long launch become short ones, whatever its workgroups have to do?"""

import numpy as np
import pytest

from societies.workload import Slices
from societies.workload.running import pace as slices
from societies.workload.running.pace import Busy, Pace


@pytest.fixture
def device(monkeypatch):
    """A device with a clock of its own; a busy workgroup takes some time, an idle one none."""
    return Slow(monkeypatch)


class Slow:
    def __init__(self, monkeypatch):
        self.now, self.launched, self.took = 0.0, [], []
        monkeypatch.setattr(slices.time, "perf_counter", lambda: self.now)

    def run(self, each, busy, seconds, *, reported, work=1000.0, items=64):
        self.busy, self.seconds = np.arange(each) < np.array(busy)[:, None], seconds
        known = (lambda values, arrays: (each, np.array(busy))) if reported else None
        pace = Pace(Slices("first_group", lambda values: work, known), items, lambda: None, {})
        self.items, groups = items, each * len(busy)
        pace.launch(self, groups * items, {"level": 3}, {})
        return groups

    def launch(self, *, global_size, first_group, level):
        until = first_group + global_size[0] // self.items
        self.launched.append((first_group, until))
        self.took.append(self.busy.ravel()[first_group:until].sum() * self.seconds)
        self.now += self.took[-1] + 1e-5


@pytest.mark.parametrize("reported", [False, True])
@pytest.mark.parametrize("seconds", [1e-7, 1e-4, 0.03, 0.9])
def test_every_workgroup_is_launched_once_and_in_order(device, seconds, reported):
    groups = device.run(700, [700, 3, 0, 700], seconds, reported=reported)
    ends = [until for _, until in device.launched]
    assert [first for first, _ in device.launched] == [0, *ends[:-1]]
    assert ends[-1] == groups and all(first < until for first, until in device.launched)


def test_slices_after_idle_workgroups_are_short(device):
    """Games that are over have no boards: that they are done at once says nothing of the others."""
    device.run(20_000, [0] * 500 + [20_000] * 4, 1e-4, reported=True)
    assert max(device.took) < 1


def test_nothing_is_divided_that_is_short(device):
    groups = device.run(10, [10], 1e-6, reported=True)
    assert device.launched == [(0, groups)]


def test_a_slice_has_n_busy_workgroups():
    busy = Busy(4, np.array([2, 0, 4, 1]))
    assert [busy.before(group) for group in range(17)] == [
        *(0, 1, 2, 2, 2, 2, 2, 2, 2, 3, 4, 5, 6, 7, 7, 7, 7)
    ]
    assert busy.until(0, 1) == 1 and busy.until(0, 2) == 8  # the idle ones are in it
    assert busy.until(0, 3) == 9 and busy.until(9, 3) == 12 and busy.until(9, 100) == 16
    assert Busy(4, np.array([0, 0])).until(0, 1) == 8
