"""Is what waits handed on as one block, and is a state summed up as it is?"""

import contextlib
import threading
import time
import zlib
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from societies.background import in_background
from societies.errors import DeviceError
from societies.output.checkpoints import NotArrived
from societies.workload.declare.fields import SERIES, Field
from societies.workload.running import waiting
from societies.workload.running.seen import SeenState
from societies.workload.running.state import state_hash
from societies.workload.running.waiting import Waiting
from societies.workload.running.written import Block

COPIES = 3


def block(first, ticks, numbers):
    """A block with logs as engines give them, of which the tick comes first in memory."""
    return Block(
        first,
        first + ticks - 1,
        {
            SERIES: numbers.random((ticks, COPIES, 4)).swapaxes(0, 1),
            "known": numbers.integers(0, 9, (ticks, COPIES, 2, 5), np.int32).swapaxes(0, 1),
            "alive": numbers.integers(0, 2, (ticks, COPIES), np.uint8).swapaxes(0, 1),
        },
        {"invented": numbers.integers(0, 9, (int(numbers.integers(3)), 6), np.int32)},
        dict,
        None,
        detail={first + ticks - 1: {"money": numbers.random((COPIES, 2))}},
    )


@given(
    lengths=st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=6), min_size=1, max_size=4),
    beyond=st.integers(0, 12),
    gathers=st.integers(0, 2**16),
    added=st.booleans(),
    room=st.sampled_from([1, 700, 1 << 20]),
)
def test_blocks_that_waited_are_one_after_the_other(lengths, beyond, gathers, added, room):
    numbers = np.random.default_rng(7)
    last = sum(map(sum, lengths)) + beyond
    found, tick = Waiting(), 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "ROOM_BYTES", room)
        for group in lengths:
            parts = []
            for ticks in group:
                parts.append(block(tick, ticks, numbers))
                tick += ticks
            borrowed = []
            for part in parts if added else parts[:-1]:
                logs = {name: log.copy() for name, log in part.logs.items()}
                borrowed += logs.values()
                found.add(replace(part, logs=logs))
                gathers, now = divmod(gathers, 2)
                if now:
                    found.gather(last)
                    for log in borrowed:
                        log[...] = 77  # its memory is used again
            rest = [] if added else parts[-1:]
            if added:
                for name, log in found.newest.logs.items():
                    assert np.array_equal(log, parts[-1].logs[name])
            for _ in range(2):  # what waits is the same as before
                whole = found.joined(*rest)
                assert (whole.first, whole.last) == (parts[0].first, parts[-1].last)
                for name, log in whole.logs.items():
                    expected = np.concatenate([part.logs[name] for part in parts], axis=1)
                    assert log.dtype == expected.dtype
                    assert np.array_equal(log, expected)
                events = np.concatenate([part.events["invented"] for part in parts])
                assert np.array_equal(whole.events["invented"], events)
                assert list(whole.detail) == [part.last for part in parts]
                assert all(whole.detail[part.last] is part.detail[part.last] for part in parts)
            added_parts = parts if added else parts[:-1]
            assert bool(found) == bool(added_parts)
            sizes = [array.nbytes for part in added_parts for array in part.logs.values()]
            sizes += [part.events["invented"].nbytes for part in added_parts]
            sizes += [part.detail[part.last]["money"].nbytes for part in added_parts]
            assert found.nbytes == sum(sizes)
            found.clear()
            assert not found
            assert found.nbytes == 0


@pytest.mark.parametrize("broken_off", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("array", range(6))
def test_what_waits_is_whole_though_laying_it_out_is_broken_off(monkeypatch, broken_off, array):
    """Memory may be short, and a second Ctrl-C may come, at any array of any block."""
    monkeypatch.setattr(waiting, "ROOM_BYTES", 1)
    numbers = np.random.default_rng(5)
    parts = [block(tick, 3, numbers) for tick in (1, 4, 7, 10)]
    found, empty, made = Waiting(), np.empty, []

    def failing(*given, **named):
        made.append(given)
        if len(made) == array + 1:
            raise broken_off
        return empty(*given, **named)

    monkeypatch.setattr(waiting.np, "empty", failing)
    for part in parts:
        found.add(part)
        with contextlib.suppress(broken_off):
            found.gather(12)
    whole = found.joined()
    assert len(made) > array
    for name, log in whole.logs.items():
        assert np.array_equal(log, np.concatenate([part.logs[name] for part in parts], axis=1))


def test_what_is_laid_out_exists_once(monkeypatch):
    monkeypatch.setattr(waiting, "ROOM_BYTES", 1)
    numbers, found = np.random.default_rng(5), Waiting()
    for tick in (1, 4, 7, 10):
        found.add(block(tick, 3, numbers))
        found.gather(12)
    assert not any(one.logs for one in found._blocks[:-1])
    found.clear()
    assert not found._logs  # more than there is room for at once


FIELDS = {
    "one": Field((), "float64", "", ""),
    "passing": Field((), "float64", "", "", checkpointed=False),
    "two": Field(("agent",), "int32", "", ""),
}
STATE = {"one": np.arange(3.0), "passing": np.ones(3), "two": np.arange(6).reshape(3, 2)}
SUMS = {name: zlib.crc32(STATE[name].tobytes()) for name in ("one", "two")}


class Slow:
    """An engine whose arrays come one by one, slowly."""

    def __init__(self, fails=False):
        self.reads, self.fails = 0, fails

    def state(self):
        return dict(self.each())

    def each(self):
        self.reads += 1
        for name, array in STATE.items():
            time.sleep(0.01)
            if self.fails and name == "two":
                raise DeviceError("the device is gone")
            yield name, array


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("saved", [False, True])
def test_a_state_is_read_once_and_summed_up_as_it_is(begun, seen, saved):
    engine = Slow()
    state = SeenState(engine, FIELDS, saved=saved)
    if seen:
        assert state().keys() == STATE.keys()
    if begun:
        state.begin()
    read = state.read()
    assert isinstance(read.digest, Future)
    assert read.digest.result() == state_hash(FIELDS, STATE)
    if saved:
        assert read.sums.result() == SUMS
    else:
        assert read.sums is None
    assert read.state == state() == STATE
    assert engine.reads == 1


@pytest.mark.parametrize("seen", [False, True])
def test_a_state_to_be_saved_is_not_hashed(seen):
    engine = Slow()
    state = SeenState(engine, FIELDS)
    if seen:
        assert state().keys() == STATE.keys()
    read = state.read(hashed=False)
    assert read.digest is None
    assert read.sums.result() == SUMS
    assert read.state == state() == STATE
    assert engine.reads == 1


def test_a_state_that_cannot_be_read_reports_it_where_it_is_asked_for():
    state = SeenState(Slow(fails=True), FIELDS)
    state.begin()
    with pytest.raises(DeviceError, match="the device is gone"):
        state.read()
    with pytest.raises(DeviceError, match="the device is gone"):
        state()


def test_an_array_is_saved_while_the_next_is_copied():
    written = threading.Event()

    class Waits(Slow):
        def each(self):
            for name, array in super().each():
                if name == "two":
                    assert written.wait(20)
                yield name, array

    def save(state, sums):
        def writes():
            for name, _ in state.items():
                found.append(name)
                written.set()
            return sums()

        saving.append(in_background(writes))

    found, saving = [], []
    read = SeenState(Waits(), FIELDS).begin(save).result()
    assert saving[0].result() == read.sums.result() == SUMS
    assert found == ["one", "two"]  # of three arrays one is not saved


def test_saving_a_state_that_was_not_copied_to_its_end_fails():
    heard = []

    def save(state, sums):
        heard.append(in_background(lambda: list(state.items())))
        heard.append(in_background(sums))

    state = SeenState(Slow(fails=True), FIELDS)
    with pytest.raises(DeviceError, match="the device is gone"):
        state.begin(save).result()
    for one in heard:
        with pytest.raises(NotArrived):
            one.result()
