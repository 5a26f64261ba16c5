"""Is a study that was killed, failed in parts, grown or divided the one that was not disturbed?"""

import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
import yaml
from studies import GROWN, SWEEP, same, without_room_for_events

import societies
from societies import sweep
from societies.errors import ConfigError, DeviceError, Interrupted, OutputError
from societies.output import inspect
from societies.output.study import StudyFile
from societies.sweep import executors, lanes
from societies.workload.running import batches

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("sweeps")]


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Return the study that was not disturbed, by plain Python: that starts at once.

    What is computed on devices is compared with it in the thorough tests.
    """
    path = tmp_path_factory.mktemp("straight") / "study.h5"
    report = sweep.run(SWEEP, out=path, device="reference")
    assert (report.points, report.runs, report.done) == (12, 24, 24)
    return path


def with_vary(**vary):
    return {**SWEEP, "vary": {**SWEEP["vary"], **vary}}


def test_a_killed_sweep_continues(tmp_path, straight):
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(SWEEP, sort_keys=False))
    study = tmp_path / "s.h5"
    words = [
        sys.executable,
        "-m",
        "societies",
        "sweep",
        "s.yaml",
        "--device",
        "reference",
        "--batch",
        "1",
    ]
    for before, more in ((0, ()), (1, ("--resume",))):
        process = subprocess.Popen([*words, *more], cwd=tmp_path, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            if study.exists() and done(study) > before:
                break
            time.sleep(0.01)
        process.kill()
        _, said = process.communicate()
        assert process.returncode == -signal.SIGKILL, said
        assert before < done(study) < 24
    reported = []
    committed = done(study)
    report = sweep.run(
        tmp_path / "s.yaml", out=study, device="reference", resume=True, progress=reported.append
    )
    assert report.computed == 24 - committed == reported[-1].done
    same(study, straight)


def done(path):
    """Return how many runs of a study are done, while another process writes it."""
    with h5py.File(path, locking=False) as file:
        return int((file["status"][...] == 1).sum())


def test_interrupted_it_says_how_to_continue(tmp_path, straight, monkeypatch):
    calls = []

    original = executors.run_batch
    monkeypatch.setattr(executors, "run_batch", lambda one: _stop(calls, original, one))
    study = tmp_path / "s.h5"
    with pytest.raises(Interrupted, match=r"of 24 runs are done in .*s.h5") as caught:
        sweep.run(SWEEP, out=study, device="reference", batch=5)
    assert caught.value.path == study
    monkeypatch.undo()
    assert sweep.run(SWEEP, out=study, device="reference", resume=True).computed == 19
    same(study, straight)


def _stop(calls, original, batch):
    calls.append(batch)
    if len(calls) == 2:
        raise KeyboardInterrupt
    return original(batch)


def test_a_run_that_fails_does_not_stop_the_others(tmp_path, straight, monkeypatch):
    original = executors.run_batch

    def sometimes(batch):
        if 2.5 in batch.columns["utility.exponent"] and 1 in batch.numbers:
            raise DeviceError("the device has lost\nits mind")
        return original(batch)

    monkeypatch.setattr(executors, "run_batch", sometimes)
    study = tmp_path / "s.h5"
    report = sweep.run(SWEEP, out=study, device="reference")
    assert (report.done, len(report.failures), report.pending) == (20, 4, 0)
    assert {one.why for one in report.failures} == {"the device has lost its mind"}
    assert all(
        one.replicate == 1 and one.point["utility.exponent"] == 2.5 for one in report.failures
    )
    assert len(report.failed_rows) == 4
    with sweep.open_study(study) as found:
        failed = found.where(found.status == "failed", drop=True)
        assert (failed.error == "the device has lost its mind").all()
        assert np.isnan(failed.gini).all()
    assert sweep.run(SWEEP, out=study, device="reference", resume=True).computed == 0
    monkeypatch.undo()
    assert sweep.run(SWEEP, out=study, device="reference", retry_failed=True).computed == 4
    same(study, straight)


def test_a_point_too_large_for_the_device_fails_and_is_retried(tmp_path, monkeypatch, shell):
    path, study = tmp_path / "plates.yaml", tmp_path / "plates.h5"
    path.write_text(
        "base: {workload: laplace, side: 8, steps: 10, check_every: 5, record: {series: 5}}\n"
        "vary: {grid: {side: [8, 100]}}\n"
    )
    monkeypatch.setattr(batches, "available_memory", lambda: 50_000)
    words = ("sweep", str(path), "--out", str(study), "--device", "cpu")
    code, out, said = shell(*words)
    assert code == 1
    assert "2: 1 done, 1 failed, 0 pending" in out
    assert "run 1  side 100: memory: one plate needs" in said
    monkeypatch.undo()
    code, out, _ = shell(*words, "--retry-failed")
    assert code == 0
    assert "2: 2 done, 0 failed, 0 pending" in out and "computed now  1 run\n" in out


def test_a_study_grows(tmp_path, straight):
    study = tmp_path / "s.h5"
    small = with_vary(grid={"utility.exponent": [2, 3], "days": [4]})
    sweep.run(small, out=study, device="reference", replicates=1)
    report = sweep.run(SWEEP, out=study, device="reference", add_points=True, replicates=1)
    assert (report.runs, report.computed) == (12, 8)
    report = sweep.run(SWEEP, out=study, device="reference", resume=True)
    assert (report.runs, report.computed) == (24, 12)
    same(study, straight, but=GROWN)
    # The sweep of before has points that the study still has, and lacks none.
    with pytest.raises(OutputError, match=r"another sweep: vary .* --add-points|add_points"):
        sweep.run(small, out=study, device="reference", resume=True)


def test_parts_are_merged(tmp_path, straight):
    parts = [tmp_path / f"{k}.h5" for k in (1, 2, 3)]
    for k, path in enumerate(parts, 1):
        sweep.run(SWEEP, out=path, device="reference", part=(k, 3))
    report = sweep.merge(parts, tmp_path / "whole.h5")
    assert (report.runs, report.done, report.notes) == (24, 24, ())
    same(tmp_path / "whole.h5", straight, but=("wall_time",))
    some = sweep.merge(parts[:2], tmp_path / "some.h5")
    assert some.notes == ("8 of 24 runs are in none of these parts",)
    with pytest.raises(OutputError, match=r"run 0 is in .* and in "):
        sweep.merge([parts[0], straight], tmp_path / "twice.h5")


def test_what_is_damaged_is_computed_again(tmp_path, straight, shell):
    study = tmp_path / "s.h5"
    study.write_bytes(straight.read_bytes())
    assert not inspect(study, check=True).damages
    with h5py.File(study, "r+") as file:
        file["gini"][5, 2] += 1
    found = inspect(study, check=True)
    assert [str(one) for one in found.damages] == ["run 5, its results"]
    report = sweep.run(SWEEP, out=study, device="reference", resume=True)
    assert report.computed == 1 and list(report.notes) == [
        "1 run was damaged and is computed again"
    ]
    same(study, straight)
    with h5py.File(study, "r+") as file:
        file["gini"][3, 1] += 1
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(SWEEP, sort_keys=False))
    words = [str(tmp_path / "s.yaml"), "--out", str(study), "--device", "reference"]
    code, _, err = shell("sweep", *words, "--resume", "-q")  # which printed nothing of it
    assert (err, code) == ("warning: 1 run was damaged and is computed again\n", 0)


def test_events_of_a_run_that_are_damaged_are_found_and_computed_again(tmp_path, straight):
    """What an event says is damaged, or where the events of a run are."""
    with h5py.File(straight) as file:
        places = file["study/events/trade_network"][...]
    row = int(np.argmax(places[:, 1]))
    for name, place in (
        ("events/trade_network/units", int(places[row, 0])),
        ("study/events/trade_network", (row, 0)),
        ("study/events/trade_network", (row, 1)),
    ):
        study = tmp_path / "s.h5"
        study.write_bytes(straight.read_bytes())
        with h5py.File(study, "r+") as file:
            file[name][place] += 1
        assert [one.what for one in inspect(study, check=True).damages] == [f"run {row}"]
        assert sweep.run(SWEEP, out=study, device="reference", resume=True).computed == 1
        same(study, straight)


def test_a_table_that_is_full_becomes_longer(tmp_path, straight, monkeypatch):
    """With room for a single event, and a sweep that is interrupted after some batches."""
    calls = []
    without_room_for_events(monkeypatch)
    one_batch = executors.run_batch
    monkeypatch.setattr(executors, "run_batch", lambda one: _stop(calls, one_batch, one))
    study = tmp_path / "s.h5"
    with pytest.raises(Interrupted):
        sweep.run(SWEEP, out=study, device="reference", batch=5)
    sweep.run(SWEEP, out=study, device="reference", resume=True, batch=2)
    same(study, straight)
    assert not inspect(study, check=True).damages


def test_what_a_killed_process_left_of_events_counts_for_nothing(tmp_path, straight, monkeypatch):
    """Killed after events were written and before their runs had checksums."""
    study = tmp_path / "s.h5"
    original = StudyFile._sum

    def killed(file, rows, state):
        raise KeyboardInterrupt

    monkeypatch.setattr(StudyFile, "_sum", killed)
    with pytest.raises(Interrupted):
        sweep.run(SWEEP, out=study, device="reference", batch=24)
    assert not len(societies.open_results(study, events="trade_network").run)
    monkeypatch.setattr(StudyFile, "_sum", original)
    sweep.run(SWEEP, out=study, device="reference", resume=True, batch=5)
    same(study, straight)
    with h5py.File(study) as file:
        written = file["events/trade_network/run"][...]
    with societies.open_results(study, events="trade_network") as table:
        assert (written >= 0).sum() == len(table.run)


def test_random_numbers_are_common_or_not(tmp_path, straight):
    with sweep.open_study(straight) as study:
        assert study.society.values.tolist() == [0, 1] * 12
    other = tmp_path / "other.h5"
    sweep.run({**SWEEP, "common_random_numbers": False}, out=other, device="reference")
    with sweep.open_study(other) as study, sweep.open_study(straight) as common:
        assert study.society.values.tolist() == list(range(24))
        equal = (study.final_held == common.final_held).all(("agent", "resource"))
        assert equal.values[:2].all() and not equal.values[2:].any()


def test_a_file_of_another_sweep_is_left_alone(tmp_path, straight):
    content = straight.read_bytes()
    other = {**SWEEP, "base": {**SWEEP["base"], "seed": 5}}
    with pytest.raises(
        OutputError, match=r"study of another sweep: base\.seed is 4 in the file and 5"
    ):
        sweep.run(other, out=straight, resume=True)
    with pytest.raises(OutputError, match="exists already and was not touched"):
        sweep.run(SWEEP, out=straight)
    with pytest.raises(OutputError, match="is a whole study, not part 1/2"):
        sweep.run(SWEEP, out=straight, resume=True, part=(1, 2))
    monkey = tmp_path / "no.h5"
    monkey.write_bytes(b"no study")
    with pytest.raises(OutputError, match="not a result file"):
        sweep.run(SWEEP, out=monkey, resume=True)
    assert straight.read_bytes() == content


def test_a_missing_scheduler_replaces_no_file(straight, monkeypatch):
    monkeypatch.setattr(executors, "SCHEDULER_SECONDS", 0.3)
    content = straight.read_bytes()
    with pytest.raises(executors.Unreachable, match=r"tcp://127\.0\.0\.1:9: no scheduler of Dask"):
        sweep.run(SWEEP, out=straight, overwrite=True, scheduler="tcp://127.0.0.1:9")
    assert straight.read_bytes() == content


def test_contradicting_arguments_are_refused(tmp_path):
    for given, said in (
        ({"resume": True, "overwrite": True}, "cannot also be continued"),
        ({"part": (3, 2)}, "1 <= K <= N, got 3/2"),
        ({"workers": 2, "scheduler": "tcp://x:1"}, "choose one"),
        ({"batch": 0}, "at least 1"),
        # Dask's client was made by half, and printed a traceback when the process ended.
        ({"scheduler": "127.0.0.1"}, "expected where a scheduler of Dask listens, such as tcp"),
        ({"scheduler": "http://x:1"}, "expected where a scheduler"),
        ({"scheduler": "tcp://x:99999"}, "expected where a scheduler"),
    ):
        with pytest.raises(ConfigError, match=said):
            sweep.run(SWEEP, out=tmp_path / "x.h5", **given)
    assert not os.listdir(tmp_path)


def test_addresses_of_schedulers_are_known():
    for text in ("tcp://10.0.0.7:8786", "tls://host-1.example:1", "node7:8786", "tcp://[::1]:8786"):
        assert executors.is_address(text), text


def test_a_full_memory_of_the_host_is_named(tmp_path, monkeypatch):
    """A run that fails for it says which memory is full; "MemoryError: " before."""

    def full(batch):
        raise MemoryError

    monkeypatch.setattr(executors, "run_batch", full)
    report = sweep.run(with_vary(grid={"days": [4]}), out=tmp_path / "s.h5", device="reference")
    assert {one.why for one in report.failures} == {
        "the memory of the computer that computed it is full"
    }


@pytest.mark.thorough
def test_processes_are_restarted_and_replaced(tmp_path, straight, monkeypatch):
    """Many programs are built in processes that end after some; one that is killed is replaced."""
    monkeypatch.setattr(lanes, "PROGRAMS_PER_PROCESS", 1)
    monkeypatch.setattr(executors, "PROGRAMS_PER_PROCESS", 1)
    killed = []

    def kill(progress):
        if progress.done and not killed:
            lane = made[0]
            killed.extend(lane._pool._processes)
            os.kill(killed[0], signal.SIGKILL)

    made = []
    original = lanes._Lane.__init__
    monkeypatch.setattr(
        lanes._Lane,
        "__init__",
        lambda lane, name: (original(lane, name), made.append(lane))[0],
    )
    study = tmp_path / "s.h5"
    report = sweep.run(SWEEP, out=study, device="cpu", batch=4, progress=kill)
    assert killed and not report.failures
    same(study, straight)


def test_dask_logs_nothing_while_it_computes(caplog):
    """A scheduler that is killed gave pages of tracebacks; ours says it in a line."""
    logger = executors.logging.getLogger("distributed.client")
    logger.disabled = False  # another test may have left it silent
    silenced = executors._silence()
    logger.error("Failed to reconnect")
    executors.logging.getLogger("asyncio").error("Task exception was never retrieved")
    assert caplog.records == [] and logger in silenced
    for one in silenced:
        one.disabled = False
