"""Are blocks written while the next one is computed, some together, and none lost if it fails?"""

import errno
import signal
import time
from concurrent.futures import Future
from itertools import pairwise
from threading import Event, current_thread

import h5py
import numpy as np
import pytest
from datasets import datasets
from small import small

import societies
from societies.economy.results import DayRecorder
from societies.errors import DeviceError, DeviceFailed, Interrupted, OutputError, shell_words
from societies.opencl.staging import Staging
from societies.output import ResultFile, inspect
from societies.workload.running import blocks as core
from societies.workload.running import engines, saving
from societies.workload.running.engines import DeviceEngine, ReferenceEngine
from societies.workload.running.waiting import Waiting

DAYS = 60
CONFIG = {"workload": "economy", "agents": 5, "resources": 4, "days": DAYS, "seed": 3}
MAY_END = {"workload": "bam", "firms": 20, "households": 100, "banks": 4, "quarters": 170}


@pytest.fixture
def calls(monkeypatch):
    """What is computed and what is written, in turn: ("computed" or "written", first, last)."""
    found = []
    run_ticks, write = DeviceEngine.run_ticks, DayRecorder.write

    def computed(self, first, last):
        found.append(("computed", first, last))
        run_ticks(self, first, last)

    def written(self, file, block):
        found.append(("written", block.first, block.last))
        write(self, file, block)

    monkeypatch.setattr(DeviceEngine, "run_ticks", computed)
    monkeypatch.setattr(DayRecorder, "write", written)
    return found


def blocks(calls, what):
    return [(first, last) for name, first, last in calls if name == what]


@pytest.fixture
def one_thread(monkeypatch):
    """Blocks are written before the host continues, so what comes when is certain."""

    def now(function, *given):
        done = Future()
        try:
            done.set_result(function(*given))
        except Exception as error:
            done.set_exception(error)
        return done

    monkeypatch.setattr(core, "in_background", now)


@pytest.fixture
def at_once(one_thread, monkeypatch):
    """No block waits for others."""
    monkeypatch.setattr(core, "RAREST_SECONDS", 0.0)


@pytest.mark.usefixtures("at_once")
def test_every_block_is_written_once_and_behind_the_next(calls, tmp_path):
    societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "run.h5")
    computed = blocks(calls, "computed")
    assert len(computed) > 2
    assert computed == blocks(calls, "written")
    assert [day for first, last in computed for day in range(first, last + 1)] == [
        *range(1, DAYS + 1)
    ]
    for before, block in pairwise(computed):
        assert calls.index(("written", *before)) == calls.index(("computed", *block)) + 1
    assert calls[-1] == ("written", *computed[-1])


def test_recorded_states_do_not_divide_what_is_written(calls, monkeypatch, tmp_path):
    """They are read where a block ends, and wait like its series: `record` costs no commits."""
    days = {"agent": 2, "agent_resource": 3, "network": [7, 8]}
    config = societies.config_from_dict({**CONFIG, "record": days})
    found = []
    for seconds in (1e9, 0.0):
        calls.clear()
        monkeypatch.setattr(core, "COMMIT_SECONDS", seconds)
        monkeypatch.setattr(core, "RAREST_SECONDS", seconds)
        run = societies.run(config, out=tmp_path / f"{seconds}.h5")
        assert {2, 3, 4, 7, 8, 9} <= {last for _, last in blocks(calls, "computed")}
        found.append((len(blocks(calls, "written")), datasets(run.path)))
    (together, one), (apart, other) = found
    assert together == 1 < apart and one == other


@pytest.mark.ci
def test_where_a_state_is_stored_for_good_or_a_day_is_replayed_the_engine_waits(calls, tmp_path):
    log = {"days": [20, 40], "societies": 1}
    config = {**CONFIG, "record": {"trade_log": log, "checkpoint": 30, "keep": [45]}}
    societies.run(societies.config_from_dict(config), out=tmp_path / "run.h5")
    computed = blocks(calls, "computed")
    assert {20, 30, 40, 45, DAYS} <= {last for _, last in computed}
    for block, after in pairwise(computed):
        if block[1] in (20, 40, 45):
            assert calls.index(("written", *block)) < calls.index(("computed", *after))
    plain = societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "plain.h5")
    with (
        societies.open_results(tmp_path / "run.h5") as one,
        societies.open_results(plain.path) as other,
    ):
        for name in other.data_vars:
            np.testing.assert_array_equal(one[name].values, other[name].values)


@pytest.mark.ci
def test_a_checkpoint_where_the_state_is_recorded_waits_for_its_own_tick(monkeypatch, tmp_path):
    """It is read before the blocks that wait are written, and is not theirs."""
    config = {**CONFIG, "record": {"agent": 20, "checkpoint": 10}}
    found = []
    for seconds in (0.0, 1e9):
        monkeypatch.setattr(core, "COMMIT_SECONDS", seconds)
        monkeypatch.setattr(core, "RAREST_SECONDS", seconds)
        run = societies.run(societies.config_from_dict(config), out=tmp_path / f"{seconds}.h5")
        found.append(datasets(run.path))
    assert found[0] == found[1]


@pytest.mark.ci
@pytest.mark.usefixtures("one_thread")
def test_blocks_that_take_no_time_are_written_together(calls, monkeypatch, tmp_path):
    config = small("economy", days=DAYS, record={})
    never = {"COMMIT_SECONDS": 1e9, "RAREST_SECONDS": 1e9}
    for name, value in never.items():
        monkeypatch.setattr(core, name, value)
    together = societies.run(config, out=tmp_path / "together.h5")
    assert len(blocks(calls, "computed")) > 2
    assert blocks(calls, "written") == [(1, DAYS)]
    for name, value in (("RAREST_SECONDS", 0.0), ("WAITING_BYTES", 0)):
        calls.clear()
        monkeypatch.setattr(core, name, value)
        alone = societies.run(config, out=tmp_path / f"{name}.h5")
        assert blocks(calls, "written") == blocks(calls, "computed")
        assert datasets(alone.path) == datasets(together.path)
        assert (alone.state_sha256, alone.final) == (together.state_sha256, together.final)
        monkeypatch.setattr(core, name, never.get(name, 1 << 28))


@pytest.mark.ci
@pytest.mark.parametrize("ending", [{}, {"equity0": 1e-6, "net_worth_ratio": 0.1}])
def test_blocks_are_written_together_also_if_copies_may_end(ending, monkeypatch, tmp_path):
    """Their file is the same whenever it is written, whether copies end or not."""
    found, ends, commit = [], [], ResultFile._commit
    monkeypatch.setattr(
        ResultFile, "_commit", lambda *given, **how: (ends.append(1), commit(*given, **how))
    )
    config = small("bam", quarters=16, replicates=4, record={"checkpoint": 4}, **ending)
    for seconds in (1e9, 0.0):
        ends.clear()
        monkeypatch.setattr(core, "COMMIT_SECONDS", seconds)
        monkeypatch.setattr(core, "RAREST_SECONDS", seconds)
        path = tmp_path / f"{seconds}.h5"
        run = societies.run(config, out=path, device="reference")
        with societies.open_results(path) as results:
            found.append((datasets(path), run.state_sha256, run.final, results.ended.values))
        assert len(ends) == 1 or not seconds
    assert (found[0][3] >= 0).any() == bool(ending)
    assert found[0][:3] == found[1][:3]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("asked", "seconds", "alone"),
    [("auto", 1e9, [150, 160]), ("auto", 0.0, [50, 100, 150, 160]), (50, 1e9, [50, 100, 150, 160])],
)
@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("together", [True, False])
def test_checkpoints_of_a_fast_run_are_its_last_two(
    asked, seconds, alone, together, monkeypatch, tmp_path
):
    """Those between them that were not requested are spared; those that wait together, too."""
    monkeypatch.setattr(core, "COMMIT_SECONDS", 1e9)
    monkeypatch.setattr(core, "RAREST_SECONDS", 1e9 if together else 0.0)
    monkeypatch.setattr(saving, "SAVE_SECONDS", seconds)
    made, checkpoint = [], ResultFile.checkpoint

    def noted(self, tick, *given, **named):
        made.append(tick)
        checkpoint(self, tick, *given, **named)

    monkeypatch.setattr(ResultFile, "checkpoint", noted)
    config = {**CONFIG, "days": 160, "record": {"checkpoint": asked}}
    report = societies.run(societies.config_from_dict(config), out=tmp_path / "run.h5")
    assert made == ([150, 160] if together else alone)
    straight = {**config, "record": {"checkpoint": 50}}
    monkeypatch.setattr(core, "RAREST_SECONDS", 0.0)
    other = societies.run(societies.config_from_dict(straight), out=tmp_path / "straight.h5")
    found, expected = (
        # The checksums begin with the configuration, which is another one.
        {name: what for name, what in datasets(path).items() if "checksum" not in name}
        for path in (report.path, other.path)
    )
    assert found == expected


@pytest.mark.ci
def test_commits_that_take_long_follow_each_other_rarely(calls, monkeypatch, tmp_path):
    """At most this share of the time is theirs, where blocks hide nothing of them."""
    write, began = DayRecorder.write, []

    def slow(self, file, block):
        began.append(time.perf_counter())
        time.sleep(0.05)
        write(self, file, block)

    monkeypatch.setattr(DayRecorder, "write", slow)
    monkeypatch.setattr(core, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(core, "_next_length", lambda ticks, seconds: 1)
    config = societies.config_from_dict({**CONFIG, "days": 300})
    societies.run(config, out=tmp_path / "run.h5")
    pauses = [after - before for before, after in pairwise(began[:-1])]  # the last is the end's
    assert len(blocks(calls, "computed")) == 300
    assert len(began) < 100
    assert all(pause >= 0.05 / core.COMMIT_SHARE for pause in pauses)


@pytest.mark.ci
def test_the_engine_continues_while_blocks_are_written(calls, monkeypatch, tmp_path):
    """A commit that takes long keeps no tick waiting, and blocks that come meanwhile wait."""
    monkeypatch.setattr(core, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(core, "_next_length", lambda ticks, seconds: 3)
    commit, further, throttled = ResultFile.commit, Event(), []
    run_ticks = DeviceEngine.run_ticks

    def computed(self, first, last):
        throttled.append(self.throttled)
        run_ticks(self, first, last)
        if first > 30:
            further.set()

    def slow(self, tick):
        if tick < 10:
            assert further.wait(60)
        commit(self, tick)

    monkeypatch.setattr(DeviceEngine, "run_ticks", computed)
    monkeypatch.setattr(ResultFile, "commit", slow)
    config = small("economy", days=DAYS, record={})  # of many launches
    report = societies.run(config, out=tmp_path / "run.h5")
    assert not throttled[0]
    assert sum(throttled) >= 8  # launches leave time to the writer
    written = blocks(calls, "written")
    assert written[1][1] - written[1][0] >= 20
    assert [day for first, last in written for day in range(first, last + 1)] == [
        *range(1, DAYS + 1)
    ]
    monkeypatch.undo()
    straight = societies.run(config, out=tmp_path / "straight.h5")
    assert datasets(report.path) == datasets(straight.path)


@pytest.mark.sample
@pytest.mark.parametrize(
    ("error", "raised", "reported"),
    [
        (OSError(errno.ENOSPC, "no space"), OutputError, "the disk is full"),
        (ArithmeticError("a bug"), ArithmeticError, "a bug"),
    ],
)
@pytest.mark.usefixtures("at_once")
def test_nothing_is_written_behind_a_gap(error, raised, reported, calls, monkeypatch, tmp_path):
    """If another thread cannot write, the run ends, with what was committed before."""
    monkeypatch.setattr(core, "_next_length", lambda ticks, seconds: 4)
    write = DayRecorder.write

    def failing(self, file, block):
        if block.first > 20:
            with file._writing():
                raise error
        write(self, file, block)

    monkeypatch.setattr(DayRecorder, "write", failing)
    config = societies.config_from_dict(CONFIG)
    with pytest.raises(raised, match=reported):
        societies.run(config, out=tmp_path / "run.h5")
    until = blocks(calls, "written")[-1][1]
    assert until == 21
    assert inspect(tmp_path / "run.h5", check=True).damages == []
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["ticks_committed"][()] == until
    monkeypatch.undo()
    straight = societies.run(config, out=tmp_path / "straight.h5")
    societies.run(config, out=tmp_path / "run.h5", resume=True)
    assert datasets(tmp_path / "run.h5") == datasets(straight.path)


def test_what_another_thread_writes_is_written_though_the_device_fails(
    calls, monkeypatch, tmp_path
):
    monkeypatch.setattr(core, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(core, "_next_length", lambda ticks, seconds: 4)
    run_ticks, commit, gone = DeviceEngine.run_ticks, ResultFile.commit, Event()

    def failing(self, first, last):
        run_ticks(self, first, last)
        if first > 30:
            gone.set()
            raise DeviceError("the device is gone")

    def slow(self, tick):
        assert gone.wait(60)
        commit(self, tick)

    monkeypatch.setattr(DeviceEngine, "run_ticks", failing)
    monkeypatch.setattr(ResultFile, "commit", slow)
    with pytest.raises(DeviceFailed, match="the device is gone"):
        societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "run.h5")
    until = blocks(calls, "computed")[-1][0] - 1
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["ticks_committed"][()] == until > 20


@pytest.mark.ci
def test_borrowed_logs_are_laid_out_before_others_take_their_place(monkeypatch, tmp_path):
    config = small("economy", days=DAYS, record={})  # of many launches
    straight = societies.run(config, out=tmp_path / "straight.h5")
    monkeypatch.setattr(core, "_next_length", lambda ticks, seconds: 4)
    array, borrowed = Staging.array, []

    def scribbled(self, shape, dtype):
        place = array(self, shape, dtype)
        borrowed.append(place)
        place.view(np.uint8)[...] = 0xA5  # over all that was borrowed before
        return place

    monkeypatch.setattr(Staging, "array", scribbled)
    for seconds in (0.0, 1e9):
        monkeypatch.setattr(core, "COMMIT_SECONDS", seconds)
        monkeypatch.setattr(core, "RAREST_SECONDS", seconds)
        borrowed.clear()
        report = societies.run(config, out=tmp_path / f"{seconds}.h5")
        assert any(np.shares_memory(one, other) for one, other in pairwise(borrowed[::2]))
        assert datasets(report.path) == datasets(straight.path)


@pytest.mark.usefixtures("at_once")
def test_a_block_is_written_though_the_next_one_fails(calls, monkeypatch, tmp_path):
    run_ticks = DeviceEngine.run_ticks

    def failing(self, first, last):
        if first > 2:
            raise DeviceError("the device is gone")
        run_ticks(self, first, last)

    monkeypatch.setattr(DeviceEngine, "run_ticks", failing)
    with pytest.raises(DeviceFailed, match="the device is gone"):
        societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "run.h5")
    computed = blocks(calls, "computed")
    assert computed == blocks(calls, "written")
    monkeypatch.undo()
    again = societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "run.h5", resume=True)
    assert again.first_tick == computed[-1][1] + 1 or again.first_tick == 1
    straight = societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "straight.h5")
    assert again.state_sha256 == straight.state_sha256


@pytest.mark.sample
@pytest.mark.parametrize("what", ["logs", "events", "held"])
def test_what_waits_is_written_though_reading_fails(calls, what, monkeypatch, tmp_path):
    """A GPU and `Workload.check` fail where results are first read."""
    monkeypatch.setattr(core, "COMMIT_SECONDS", 1e9)
    monkeypatch.setattr(core, "RAREST_SECONDS", 1e9)
    ready = getattr(DeviceEngine, what)

    def failing(self, **given):
        if calls and calls[-1][2] > 20:
            raise DeviceError("the device is gone")
        return ready(self, **given)

    monkeypatch.setattr(DeviceEngine, what, failing)
    config = societies.config_from_dict({**CONFIG, "record": {"checkpoint": 5}})
    with pytest.raises(DeviceFailed, match="the device is gone"):
        societies.run(config, out=tmp_path / "run.h5")
    until = blocks(calls, "computed")[-2][1]
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["ticks_committed"][()] == until > 5


@pytest.mark.ci
@pytest.mark.parametrize("what", ["each", "finish"])
def test_what_waits_is_written_though_the_end_fails(calls, what, monkeypatch, tmp_path):
    """The last block's events are written by then, not committed: they occur once."""
    monkeypatch.setattr(core, "COMMIT_SECONDS", 1e9)
    monkeypatch.setattr(core, "RAREST_SECONDS", 1e9)
    config = small("economy", days=DAYS, record={})
    straight = societies.run(config, out=tmp_path / "straight.h5")
    assert societies.open_results(straight.path, events="inventions").sizes["event"] > 0
    with monkeypatch.context() as patch:
        ready = getattr(DeviceEngine, what)

        def failing(self):
            if calls[-1][2] == DAYS:
                raise DeviceError("the device is gone")
            return ready(self)

        patch.setattr(DeviceEngine, what, failing)
        calls.clear()
        with pytest.raises(DeviceFailed, match="the device is gone"):
            societies.run(config, out=tmp_path / "run.h5")
    until = blocks(calls, "computed")[-2][1]
    assert inspect(tmp_path / "run.h5", check=True).damages == []
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["ticks_committed"][()] == until > 5
    societies.run(config, out=tmp_path / "run.h5", resume=True)
    assert datasets(tmp_path / "run.h5") == datasets(straight.path)


def test_states_that_wait_are_the_newest_two_and_seldom_read(monkeypatch, tmp_path):
    for name in ("COMMIT_SECONDS", "RAREST_SECONDS"):
        monkeypatch.setattr(core, name, 1e9)
    monkeypatch.setattr(saving, "SAVE_SECONDS", 1e9)
    read = []

    def counted(method):
        def called(self):
            read.append(1)
            return method(self)

        return called

    for name in ("state", "each"):
        monkeypatch.setattr(DeviceEngine, name, counted(getattr(DeviceEngine, name)))
    config = societies.config_from_dict({**CONFIG, "days": 600})
    begin = saving.Saving.__init__

    def noted(self, *given):
        begin(self, *given)
        self._saved -= 2e9  # long ago: the first checkpoint is due

    monkeypatch.setattr(saving.Saving, "__init__", noted)
    societies.run(config, out=tmp_path / "run.h5")
    assert len(read) == 3  # of day 50, of the last but one, and of the end


@pytest.mark.ci
def test_checkpoints_that_are_spared_keep_the_turns_of_slots(monkeypatch, tmp_path):
    """Whatever is left out between them, the newest checkpoint is not the one overwritten."""
    monkeypatch.setattr(core, "RAREST_SECONDS", 0.0)
    monkeypatch.setattr(saving, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(core, "_next_length", lambda ticks, seconds: 50)
    numbers, checkpoint, saves = [], ResultFile.checkpoint, saving.Saving._saves

    def noted(self, tick, state, number=None, **given):
        numbers.append(number)
        checkpoint(self, tick, state, number, **given)

    def seldom(self, tick, last):  # as if two seconds had not passed: numbers 3, 4, 7, 8, ...
        early = tick // 50 % 4 in (1, 2) and tick + 50 < last
        return not early and saves(self, tick, last)

    monkeypatch.setattr(ResultFile, "checkpoint", noted)
    monkeypatch.setattr(saving.Saving, "_saves", seldom)
    config = societies.config_from_dict({**CONFIG, "days": 800})
    societies.run(config, out=tmp_path / "run.h5")
    assert len(numbers) > 4
    assert all(before % 2 != after % 2 for before, after in pairwise(numbers))


def test_a_waiting_block_holds_no_state(monkeypatch, tmp_path):
    for name in ("COMMIT_SECONDS", "RAREST_SECONDS"):
        monkeypatch.setattr(core, name, 1e9)
    found, joined = [], Waiting.joined

    def noted(self, *more):
        found.extend(block.state._state for block in self._blocks)
        return joined(self, *more)

    monkeypatch.setattr(Waiting, "joined", noted)
    config = societies.config_from_dict({**CONFIG, "record": {"checkpoint": 5}})
    societies.run(config, out=tmp_path / "run.h5")
    assert len(found) > 5
    assert all(state is None for state in found)


@pytest.mark.sample
@pytest.mark.parametrize("error", [OutputError("another file is damaged"), ValueError("a bug")])
def test_what_another_thread_writes_is_written_though_progress_fails(
    error, calls, monkeypatch, tmp_path
):
    """Also if it failed at a file, which is not the run's."""
    monkeypatch.setattr(core, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(core, "_next_length", lambda ticks, seconds: 4)
    commit, failed = ResultFile.commit, Event()

    def slow(self, tick):
        if failed.wait(60):
            time.sleep(0.2)
        commit(self, tick)

    def progress(tick, last):
        if tick > 20:
            failed.set()
            raise error

    monkeypatch.setattr(ResultFile, "commit", slow)
    config = small("economy", days=DAYS, record={})  # of many launches
    with pytest.raises(type(error), match=str(error)):
        societies.run(config, out=tmp_path / "run.h5", progress=progress)
    until = blocks(calls, "computed")[-2][1]
    assert inspect(tmp_path / "run.h5", check=True).damages == []
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["ticks_committed"][()] == until > 20


def test_an_error_of_another_thread_speaks_of_options_in_a_shell(monkeypatch, tmp_path):
    monkeypatch.setattr(core, "COMMIT_SECONDS", 0.0)
    writers = []

    def full(self, tick):
        writers.append(current_thread())
        with self._writing():
            raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(ResultFile, "commit", full)
    with shell_words(), pytest.raises(OutputError, match="choose another place with --out"):
        societies.run(societies.config_from_dict(CONFIG), out=tmp_path / "run.h5")
    assert writers != [current_thread()]


@pytest.mark.usefixtures("at_once")
def test_a_run_that_may_end_writes_its_last_two_checkpoints_and_reads_no_others(
    monkeypatch, tmp_path
):
    """A device holds the newest two: states from which no run would be resumed are never read."""
    made, read, checkpoint, all_of = [], [], ResultFile.checkpoint, engines.get_all
    monkeypatch.setattr(
        ResultFile,
        "checkpoint",
        lambda self, tick, *given, **named: (
            made.append(tick),
            checkpoint(self, tick, *given, **named),
        ),
    )
    monkeypatch.setattr(engines, "get_all", lambda one: (read.append(1), all_of(one))[1])
    config, found = societies.config_from_dict({**MAY_END, "quarters": 230}), []
    for seconds in (1e9, 0.0):
        made.clear()
        read.clear()
        monkeypatch.setattr(saving, "SAVE_SECONDS", seconds)
        run = societies.run(config, out=tmp_path / f"{seconds}.h5")
        found.append((datasets(run.path), run.state_sha256))
        assert made[-2:] == [200, 230]
        assert (len(made), len(read)) == ((2, 2) if seconds else (5, 5))
    assert found[0] == found[1]


@pytest.mark.parametrize("of_some", [False, True])
def test_a_stopped_run_that_may_end_is_resumed_to_the_same_file(of_some, monkeypatch, tmp_path):
    """It saves the states that were due as well, whose slots the resumed run needs.

    Of an economy that ended before, what no checkpoint holds is missing in both.
    """
    monkeypatch.setattr(core, "RAREST_SECONDS", 0.0)
    config, run_ticks = societies.config_from_dict(MAY_END), ReferenceEngine.run_ticks
    if of_some:  # the last of four economies ends in quarter 40
        config = small("bam", quarters=60, replicates=4, record={"detail": 5})
    straight = societies.run(config, out=tmp_path / "straight.h5", device="reference")

    def stopping(self, first, last):
        run_ticks(self, first, last)
        if last >= (45 if of_some else 100):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ReferenceEngine, "run_ticks", stopping)
    with pytest.raises(Interrupted):
        societies.run(config, out=tmp_path / "run.h5", device="reference")
    monkeypatch.undo()
    societies.run(config, out=tmp_path / "run.h5", resume=True, device="reference")
    assert datasets(tmp_path / "run.h5") == datasets(straight.path)
    with societies.open_results(straight.path) as results:
        assert (results.ended.values >= 0).any() == of_some
        ends = results.sel(detail_quarter=slice(45, None)) if of_some else None
        assert ends is None or np.isnan(ends.mpc.values[3]).all()
