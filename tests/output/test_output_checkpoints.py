"""Checkpoints: whatever happens to one slot, the other one is found, and never a torn state."""

import errno
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event, Timer

import h5py
import numpy as np
import pytest
from datasets import datasets
from numpy.testing import assert_array_equal

from societies import background
from societies.background import in_background
from societies.errors import OutputError
from societies.output import Column, Coordinate, EventTable, ResultFile, checkpoints, inspect
from societies.output.disk import Disk
from societies.output.layout import declare

STATE = {"held": ((4, 50), np.int32), "experience": ((4, 50), np.float64)}


def state_of(day):
    return {name: np.full(shape, day, dtype) for name, (shape, dtype) in STATE.items()}


def made(path, tables=()):
    return ResultFile.create(
        path,
        declare(
            coordinates=[Coordinate("day", np.arange(1, 11))],
            variables=[],
            attributes={},
            tables=tables,
            state=STATE,
        ),
    )


@pytest.fixture
def file(tmp_path):
    with made(tmp_path / "run.h5") as file:
        yield file


def nothing(name):
    """Of which datasets two files may differ."""
    return False


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
    newest = 1 if int(file._disk.read("checkpoint/1/tick")) == 2 else 0
    flip(file, newest, array, byte)
    assert_latest(file, 1)
    flip(file, 1 - newest, array, byte)
    assert file.latest_checkpoint() is None


def flip(file, slot, array, byte):
    place = f"checkpoint/{slot}/state/{array}"
    values = file._disk.read(place)
    values.reshape(-1).view(np.uint8)[byte] ^= 0x10
    file._disk.write(place, values)


def test_a_run_continues_after_the_older_checkpoint_and_says_why(file):
    for day in (1, 2):
        file.commit(day)
        file.checkpoint(day, state_of(day))
    slot = 1 if int(file._disk.read("checkpoint/1/tick")) == 2 else 0
    flip(file, slot, "held", 7)
    file.close()
    with ResultFile.resume(file.path) as again:
        assert_latest(again, 1)
        (damage,) = again.damages
        assert (damage.what, damage.which) == (f"checkpoint {slot}", "of day 2")
        again.checkpoint(2, state_of(2))  # in the damaged slot, not in that of day 1
        assert again.damages and slots(again) == sorted([1, 2])
    with ResultFile.resume(file.path) as again:
        assert again.damages == []


def slots(file):
    return sorted(int(file._disk.read(f"checkpoint/{slot}/tick")) for slot in (0, 1))


def test_a_checkpoint_beyond_the_committed_days_does_not_count(file):
    for day in (1, 2):
        file.commit(day)
        file.checkpoint(day, state_of(day))
    file._committed = 1
    assert_latest(file, 1)


def test_checkpoints_with_a_number_go_to_the_slot_of_the_number(file):
    """Whatever was interrupted before, the slots end as in a straight run."""
    for day, number in [(2, 1), (4, 2), (5, 3), (6, 3), (8, 4)]:
        file.commit(day)
        file.checkpoint(day, state_of(day), number)
        assert int(file._disk.read(f"checkpoint/{number % 2}/tick")) == day
        assert_latest(file, day)


def test_the_only_sound_checkpoint_is_not_overwritten_first(file, monkeypatch):
    for day in (1, 2):
        file.commit(day)
        file.checkpoint(day, state_of(day), day)
    flip(file, 1, "held", 0)
    file.close()
    with ResultFile.resume(file.path) as again:
        again.commit(4)
        assert again._slots_to_write(4) == [1, 0]  # that of day 2 is in slot 0
        assert again._slots_to_write(3) == [1]


class PowerCut(Exception):
    pass


FLUSHES = [
    # A slot without a tick is flushed twice; one that has a tick loses it first.
    *((earlier, flushes, 1) for earlier in ([], [1]) for flushes in (0, 1)),
    *((earlier, flushes, 2) for earlier in ([1, 2], [1, 2, 3]) for flushes in (0, 1, 2)),
]


@pytest.mark.parametrize(("earlier", "flushes", "last"), FLUSHES)
def test_dying_at_any_flush_of_a_checkpoint_leaves_a_whole_one(
    file, earlier, flushes, last, monkeypatch, tmp_path
):
    """Cut the writing off at each flush, and look at the file as a later process would."""
    for day in earlier:
        file.commit(day)
        file.checkpoint(day, state_of(day))
    file.commit(5)
    left = [flushes]

    def sync_or_die(disk):
        if left[0] == 0:
            raise PowerCut
        left[0] -= 1

    monkeypatch.setattr(Disk, "sync", sync_or_die)
    with pytest.raises(PowerCut):
        file.checkpoint(5, state_of(5))
    copy = tmp_path / "copy.h5"
    copy.write_bytes(file.path.read_bytes())
    monkeypatch.undo()
    with ResultFile.resume(copy) as survivor:
        if flushes == last:
            assert_latest(survivor, 5)
        elif earlier:
            assert_latest(survivor, earlier[-1])
        else:
            assert survivor.latest_checkpoint() is None
        # The survivor's next checkpoint must not overwrite the only good one.
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
        assert {int(raw["checkpoint/0/tick"][()]), int(raw["checkpoint/1/tick"][()])} == {2, 6}


def test_a_file_is_not_closed_while_another_thread_writes_it(file, monkeypatch):
    """Its descriptor could be that of another file by then."""
    sync, within = Disk.sync, Event()

    def slow(self):
        within.set()
        time.sleep(0.1)
        sync(self)

    monkeypatch.setattr(Disk, "sync", slow)
    writing = in_background(file.commit, 3)
    assert within.wait(60)
    file.close()
    writing.result()
    with pytest.raises(OutputError, match="is closed"):
        file.commit(4)
    with ResultFile.resume(file.path) as again:
        assert again.ticks_committed == 3


@pytest.mark.parametrize("begun", [5, 4])
def test_a_checkpoint_that_was_begun_early_counts_from_its_own_call_on(file, begun, tmp_path):
    """Whatever was begun: its slot has no tick, neither for others nor after a kill."""
    file.begin_checkpoint(begun, state_of(begun), number=1)
    file.commit(5)
    wait([filling for _, filling in file._begun.values()])
    copy = tmp_path / "copy.h5"
    copy.write_bytes(file.path.read_bytes())
    assert inspect(copy, check=True).damages == []
    with ResultFile.resume(copy) as killed:
        assert killed.latest_checkpoint() is None
    assert file.latest_checkpoint() is None
    stored = file._disk.write
    written = []
    file._disk.write = lambda name, *given: (written.append(name), stored(name, *given))
    file.checkpoint(5, state_of(5), number=1)
    assert_latest(file, 5)
    arrays = [name for name in written if "/state/" in name]
    assert len(arrays) == (0 if begun == 5 else len(STATE))
    assert file._begun == {}
    with made(tmp_path / "straight.h5") as straight:
        straight.commit(5)
        straight.checkpoint(5, state_of(5), number=1)
        assert datasets(straight.path, nothing) == datasets(file.path, nothing)


def test_a_checkpoint_of_a_state_that_did_not_arrive_is_written_as_if_none_was_begun(file):
    arriving = checkpoints.Arriving()
    file.begin_checkpoint(4, arriving, number=1)
    name = next(iter(STATE))
    arriving.add(name, state_of(4)[name])
    arriving.end(complete=False)
    file.commit(5)
    assert file.latest_checkpoint() is None
    file.checkpoint(5, state_of(5), number=1)
    assert_latest(file, 5)
    assert inspect(file.path, check=True).damages == []


def test_the_thread_that_copies_a_state_does_not_wait_for_itself_to_write_it(file, monkeypatch):
    """It would write the state if the system had no thread left."""

    class NoneLeft(ThreadPoolExecutor):
        def submit(self, *_):
            raise RuntimeError("can't start new thread")

    arriving = []

    def copy():
        arriving.append(checkpoints.Arriving())
        file.begin_checkpoint(5, arriving[0], number=1)

    monkeypatch.setattr(background, "ThreadPoolExecutor", NoneLeft)
    copying = threading.Thread(target=copy, daemon=True)
    copying.start()
    copying.join(10)
    waits = copying.is_alive()
    arriving[0].end(complete=False)
    assert not waits
    file.commit(5)
    file.checkpoint(5, state_of(5), number=1)
    assert_latest(file, 5)


def test_no_checkpoint_is_begun_over_another_one(file):
    for day in (1, 2):
        file.commit(day)
        file.checkpoint(day, state_of(day), number=day)
    file.begin_checkpoint(3, state_of(3), number=3)
    assert file._begun == {}
    assert_latest(file, 2)


def test_two_slots_are_filled_at_a_time(file):
    file.begin_checkpoint(3, state_of(3), number=3)
    file.begin_checkpoint(4, state_of(4), number=4)
    file.begin_checkpoint(5, state_of(5), number=5)  # its slot is in use
    assert {slot: tick for slot, (tick, _) in file._begun.items()} == {1: 3, 0: 4}
    file.commit(5)
    for day in (3, 4):
        file.checkpoint(day, state_of(day), number=day)
        assert_latest(file, day)
    file.checkpoint(5, state_of(5), number=5)
    assert_latest(file, 5)


def test_a_failure_of_the_disk_that_filled_a_slot_is_reported(file, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, "no space")

    file.commit(4)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "fill", full)
        file.begin_checkpoint(4, state_of(4), number=1)
    with pytest.raises(OutputError, match="the disk is full"):
        file.checkpoint(4, state_of(4), number=1)
    assert not file.writable
    with ResultFile.resume(file.path) as again:
        assert again.ticks_committed == 4
        assert again.latest_checkpoint() is None


def lengthened(path):
    """Make a file whose table becomes longer with the third row."""
    return made(path, [EventTable("sales", [Column("day", "int32", "day", "")], 2)])


@pytest.mark.parametrize("ends", ["close", "lengthen"])
def test_a_file_waits_for_the_slot_that_is_filled(ends, monkeypatch, tmp_path):
    release = Event()
    with lengthened(tmp_path / "run.h5") as file:
        fill, slow = checkpoints.fill, []

        def filling(*given):
            assert release.wait(60)
            time.sleep(0.1)
            fill(*given)
            slow.append(given[1])

        monkeypatch.setattr(checkpoints, "fill", filling)
        file.begin_checkpoint(5, state_of(5), number=1)
        monkeypatch.setattr(checkpoints, "fill", fill)
        release.set()
        if ends == "close":
            file.close()
        else:
            file.append("sales", {"day": np.arange(1, 6, dtype=np.int32)})
        assert slow == [1]
        assert file._begun == {}
        if ends == "lengthen":
            file.commit(5)
            file.checkpoint(5, state_of(5), number=1)
            assert_latest(file, 5)
    assert inspect(tmp_path / "run.h5", check=True).damages == []


@pytest.mark.parametrize("when", ["before", "while"])
@pytest.mark.parametrize("step", ["commit", "close", "lengthen"])
def test_a_failure_in_the_thread_that_fills_reaches_all(when, step, monkeypatch, tmp_path):
    """What is lost then may be of ticks, which another thread wrote and hands to the disk next."""
    file = lengthened(tmp_path / "run.h5")
    raised, failing, release = [], Event(), Event()
    main = threading.current_thread()

    def once(descriptor):
        if threading.current_thread() is not main and not raised:
            raised.append(descriptor)
            failing.set()
            assert release.wait(60)
            raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "fdatasync", once, raising=False)
    file.begin_checkpoint(5, state_of(5), number=1)
    assert failing.wait(60)
    later = Timer(0 if when == "before" else 0.2, release.set)
    later.start()
    if when == "before":
        wait([filling for _, filling in file._begun.values()])
    with pytest.raises(OutputError, match="cannot write this file"):
        if step == "commit":
            file.commit(5)
        elif step == "close":
            file.close()
        else:
            file.append("sales", {"day": np.arange(1, 6, dtype=np.int32)})
    later.join()
    assert not file.writable
    assert file._begun == {}
    with ResultFile.resume(file.path) as again:
        assert again.ticks_committed == 0


def test_threads_write_to_their_own_places_where_files_have_one_position(file, monkeypatch):
    """Windows has calls that set the position and calls that use it, and none that do both."""
    seek = os.lseek

    def slow(*given):
        seek(*given)
        time.sleep(0.002)

    with monkeypatch.context() as patch:
        for name in ("pread", "pwrite"):
            patch.delattr(os, name, raising=False)
        patch.setattr(os, "lseek", slow)
        for number in (1, 2):
            file.begin_checkpoint(number, state_of(number), number)
        file.commit(2)
        for number in (1, 2):
            file.checkpoint(number, state_of(number), number)
            assert_latest(file, number)
    file.close()
    assert inspect(file.path, check=True).damages == []


@pytest.mark.skipif(os.name != "posix", reason="signals that end a wait")
@pytest.mark.parametrize("step", ["checkpoint", "close"])
def test_a_wait_that_is_broken_off_is_made_up_for_when_the_file_is_closed(file, step, monkeypatch):
    """A thread that writes when its file is closed would write into the next one opened."""
    release, fill, filled = Event(), checkpoints.fill, []

    def slow(*given):
        assert release.wait(60)
        fill(*given)
        filled.append(file.writable)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "fill", slow)
        file.begin_checkpoint(5, state_of(5), number=1)
    file.commit(5)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    later = Timer(0.2, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
    try:
        later.start()
        with pytest.raises(KeyboardInterrupt):
            if step == "checkpoint":
                file.checkpoint(5, state_of(5), number=1)
            else:
                file.close()
    finally:
        later.join()
        signal.signal(signal.SIGINT, before)
    Timer(0.2, release.set).start()
    file.close()
    assert filled == [True]
    assert not file.writable
    with ResultFile.resume(file.path) as again:
        assert again.ticks_committed == 5
