"""Checkpoints: whatever happens to one slot, the other one is found, and never a torn state."""

import h5py
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from societies.output import Coordinate, ResultFile, checkpoints

STATE = {"held": ((4, 50), np.int32), "experience": ((4, 50), np.float64)}


def state_of(day):
    return {name: np.full(shape, day, dtype) for name, (shape, dtype) in STATE.items()}


@pytest.fixture
def file(tmp_path):
    with ResultFile.create(
        tmp_path / "run.h5",
        coordinates=[Coordinate("day", np.arange(1, 11))],
        variables=[],
        attributes={},
        state=STATE,
    ) as file:
        yield file


def assert_latest(file, day):
    found_day, state = file.latest_checkpoint()
    assert found_day == day
    assert state.keys() == STATE.keys()
    for name, array in state_of(day).items():
        assert_array_equal(state[name], array)
        assert state[name].dtype == array.dtype


def test_the_newest_checkpoint_is_found(file):
    assert file.latest_checkpoint() is None
    for day in (0, 2, 3, 7):
        file.commit(day)
        file.checkpoint(day, state_of(day))
        assert_latest(file, day)
    file.commit(9)
    assert_latest(file, 7)


@pytest.mark.parametrize("array", sorted(STATE))
@pytest.mark.parametrize("byte", [0, 333, -1])
def test_one_changed_byte_sends_us_to_the_other_slot(file, array, byte):
    for day in (1, 2):
        file.commit(day)
        file.checkpoint(day, state_of(day))
    newest = checkpoints.latest(file._file)[0]
    flip(file, newest, array, byte)
    assert_latest(file, 1)
    flip(file, "checkpoint/1" if newest.endswith("0") else "checkpoint/0", array, byte)
    assert file.latest_checkpoint() is None


def flip(file, slot, array, byte):
    dataset = file._file[slot]["state"][array]
    values = dataset[()]
    values.reshape(-1).view(np.uint8)[byte] ^= 0x10
    dataset[...] = values
    file._file.flush()


def test_a_checkpoint_beyond_the_committed_days_does_not_count(file):
    for day in (1, 2):
        file.commit(day)
        file.checkpoint(day, state_of(day))
    file._file["days_committed"][()] = 1
    assert_latest(file, 1)


class PowerCut(Exception):
    pass


@pytest.mark.parametrize("earlier", [[], [1], [1, 2], [1, 2, 3]])
@pytest.mark.parametrize("flushes", [0, 1, 2])
def test_dying_at_any_flush_of_a_checkpoint_leaves_a_whole_one(
    file, earlier, flushes, monkeypatch, tmp_path
):
    """Cut the writing off at each flush, and look at the file as a later process would."""
    for day in earlier:
        file.commit(day)
        file.checkpoint(day, state_of(day))
    file.commit(5)
    left = [flushes]

    def flush_or_die(handle):
        handle.flush()
        if left[0] == 0:
            raise PowerCut
        left[0] -= 1

    monkeypatch.setattr(checkpoints, "to_disk", flush_or_die)
    with pytest.raises(PowerCut):
        file.checkpoint(5, state_of(5))
    copy = tmp_path / "copy.h5"
    copy.write_bytes(file.path.read_bytes())
    with ResultFile.resume(copy) as survivor:
        if flushes == 2:
            assert_latest(survivor, 5)
        elif earlier:
            assert_latest(survivor, earlier[-1])
        else:
            assert survivor.latest_checkpoint() is None
        # The survivor's next checkpoint must not overwrite the only good one.
        monkeypatch.undo()
        survivor.checkpoint(5, state_of(5))
        assert_latest(survivor, 5)


def test_a_resumed_file_overwrites_the_older_slot(file):
    for day in (1, 2):
        file.commit(day)
        file.checkpoint(day, state_of(day))
    file.commit(6)
    file.close()
    with ResultFile.resume(file.path) as again:
        again.checkpoint(6, state_of(6))
    with h5py.File(file.path) as raw:
        assert {int(raw["checkpoint/0/day"][()]), int(raw["checkpoint/1/day"][()])} == {2, 6}
