"""Does a failure of the disk that comes while a checkpoint is being written reach its writer?"""

import errno

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from societies.output import checkpoints


class Failing:
    """A disk whose n-th synchronisation fails, once, as Linux reports it."""

    def __init__(self, which):
        self.which, self.syncs, self.values = which, 0, {}

    def write(self, name, values):
        self.values[name] = values

    def sync(self):
        self.syncs += 1
        if self.syncs == self.which:
            raise OSError(errno.EIO, "input/output error")


STATE = {name: np.arange(6.0) for name in "abc"}


@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_sync_that_fails_is_told(which, monkeypatch):
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
