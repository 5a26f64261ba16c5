"""Does a failure of the disk that comes while a checkpoint is being written reach its writer?"""

import errno
import zlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from societies.output import checkpoints


class Failing:
    """A disk whose n-th synchronisation fails, and all after it, as `Disk` reports it to all.

    Its slot holds a tick.
    """

    def __init__(self, which, tick=3):
        self.which, self.syncs, self.calls, self.salt = which, 0, [], None
        self.values = {"checkpoint/0/tick": tick}

    def read(self, name):
        return self.values[name]

    def write(self, name, values):
        self.calls.append(name)
        self.values[name] = values

    def sync(self):
        self.calls.append("sync")
        self.syncs += 1
        if 0 < self.which <= self.syncs:
            raise OSError(errno.EIO, "input/output error")


STATE = {name: np.arange(6.0) for name in "abc"}


@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_sync_that_fails_is_reported(which, monkeypatch):
    monkeypatch.setattr(checkpoints, "BEGINS", 1)
    disk = Failing(which)
    with pytest.raises(OSError, match="input/output"):
        checkpoints.store(disk, 0, 7, STATE)
    assert disk.values["checkpoint/0/tick"] == checkpoints.NO_TICK


def test_a_sound_disk_has_it(monkeypatch):
    monkeypatch.setattr(checkpoints, "BEGINS", 1)
    disk = Failing(0)
    checkpoints.store(disk, 0, 7, STATE)
    assert disk.values["checkpoint/0/tick"] == 7
    assert disk.syncs > 3
    for name, array in STATE.items():
        assert_array_equal(disk.values[f"checkpoint/0/state/{name}"], array)


@pytest.mark.parametrize("tick", [3, checkpoints.NO_TICK])
def test_a_slot_loses_its_tick_before_its_arrays_and_has_it_after_them(tick):
    """One that has none need not lose it: that is on the disk since the file was made or opened."""
    disk = Failing(0, tick)
    checkpoints.store(disk, 0, 7, STATE)
    place = "checkpoint/0"
    arrays = [*(f"{place}/state/{name}" for name in STATE), f"{place}/checksum"]
    before = [] if tick == checkpoints.NO_TICK else [f"{place}/tick", "sync"]
    assert disk.calls == [*before, *arrays, "sync", f"{place}/tick", "sync"]


@pytest.mark.parametrize("known", [True, False])
def test_the_checksum_is_that_of_everything_in_the_order_of_names(known):
    state = {
        "b": np.arange(7, dtype=np.int16),
        "a": np.arange(12.0).reshape(3, 4).T,
        "c": STATE["c"],
    }
    sums = {name: checkpoints.array_sum(array) for name, array in state.items()}
    together = (9).to_bytes(8, "little") + b"".join(
        name.encode() + state[name].tobytes() for name in "abc"
    )
    found = checkpoints.checksum(9, state, (lambda: sums) if known else None)
    assert found == zlib.crc32(together)
