"""How do several devices share a study, and is a run lost to a device that fails?

Processes that pretend to have a device of their own compute in plain Python.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from studies import SWEEP, same

from societies import config_from_dict, sweep
from societies.errors import BuildError, DeviceError
from societies.sweep import batch as batch_module
from societies.sweep import conduct, lanes
from societies.sweep.batch import Batch, Result, run_batch
from societies.sweep.in_memory import Keep
from societies.sweep.lanes import Lost, Processes
from societies.workload.running.batches import OwnCopies

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("sweeps")]


class Pool(ThreadPoolExecutor):
    """Computes in this process, in place of a pool with a process of its own."""

    def __init__(self):
        super().__init__(1)
        pools.append(self)


pools = []


@pytest.fixture
def devices(monkeypatch):
    """Return a function that lets a study run on devices, of which some fail."""

    def pretend(count, fails, names=()):
        def compute(batch):
            calls.append((batch.device, list(batch.rows)))
            if error := fails(batch.device, batch, [name for name, _ in calls]):
                raise error
            return run_batch(batch.on("reference"))

        calls = []
        names = names or [f"0:{number}" for number in range(count)]
        monkeypatch.setattr(lanes, "_pool", Pool)
        monkeypatch.setattr(lanes, "run_batch", compute)
        monkeypatch.setattr(conduct, "executor_of", lambda *_: Processes(names))
        return calls

    return pretend


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    path = tmp_path_factory.mktemp("straight") / "study.h5"
    sweep.run(SWEEP, out=path, device="reference")
    return path


@pytest.mark.parametrize("error", [DeviceError("CL_OUT_OF_RESOURCES"), Lost("killed")])
def test_runs_of_a_device_that_fails_are_computed_by_others(tmp_path, straight, devices, error):
    """From its second batch on it fails; after two failures it gets no more."""

    def fails(device, _, calls):
        return error if device == "0:1" and calls.count("0:1") > 1 else None

    calls = devices(3, fails)
    report = sweep.run(SWEEP, out=tmp_path / "s.h5", batch=1)
    assert not report.failures and not report.pending
    same(tmp_path / "s.h5", straight)
    assert [name for name, _ in calls].count("0:1") == 3
    assert report.notes == [f"device 0:1 failed again and again and was left out: {error}"]


def test_a_device_that_fails_once_continues_in_another_process(tmp_path, straight, devices):
    def fails(device, _, calls):
        return DeviceError("once") if (device, calls.count("0:1")) == ("0:1", 2) else None

    before, calls = len(pools), devices(2, fails)
    report = sweep.run(SWEEP, out=tmp_path / "s.h5", batch=1)
    assert not report.failures and not report.notes
    same(tmp_path / "s.h5", straight)
    assert [name for name, _ in calls].count("0:1") > 3
    assert len(pools) - before == 3


def test_what_a_device_fails_to_compute_is_not_tried_in_another_of_its_processes(
    tmp_path, straight, devices
):
    """The device is broken for all of its processes, which are left out one after the other."""

    def fails(device, _, calls):
        return DeviceError("off") if device == "0:1" else None

    calls = devices(4, fails, ["0:1", "0:1", "0:1", "0:0"])
    report = sweep.run(SWEEP, out=tmp_path / "s.h5", batch=1)
    assert not report.failures and not report.pending
    same(tmp_path / "s.h5", straight)
    assert [name for name, _ in calls].count("0:1") == 6
    assert report.notes == [
        f"{what} 0:1 failed again and again and was left out: off"
        for what in ("a process of device", "a process of device", "device")
    ]


def test_a_run_that_fails_on_two_devices_is_the_cause(tmp_path, devices):
    """No device is left out for it, and it does not take others of its batch along."""
    calls = devices(2, lambda _, batch, __: DeviceError("bad") if 5 in batch.rows else None)
    report = sweep.run(SWEEP, out=tmp_path / "s.h5", batch=4)
    assert [(one.run, one.why) for one in report.failures] == [(5, "bad")]
    assert not report.notes and not report.pending
    alone = [name for name, rows in calls if rows == [5]]
    assert sorted(alone) == ["0:0", "0:1"]


def test_the_last_device_is_not_left_out(tmp_path, devices):
    """Both fail from some batch on: the runs that are left fail, and the sweep ends."""
    calls = devices(2, lambda _, __, calls: DeviceError("off") if len(calls) > 6 else None)
    report = sweep.run(SWEEP, out=tmp_path / "s.h5", batch=1)
    assert 12 < len(report.failures) < 24 and not report.pending
    assert {one.why for one in report.failures} == {"off"}
    assert {name for name, _ in calls} == {"0:0", "0:1"}


def test_what_does_not_compile_is_not_tried_elsewhere(tmp_path, devices):
    calls = devices(2, lambda *_: BuildError("k.cl:1: no"))
    report = sweep.run(SWEEP, out=tmp_path / "s.h5", batch=12)
    assert len(report.failures) == 24
    assert len(calls) == 2
    assert not report.notes


def test_devices_divide_buckets_and_end_at_the_same_time(tmp_path, straight, devices):
    """Each builds the program of one bucket, and no batch has more than its share of the rest."""
    calls = devices(2, lambda *_: None)
    report = sweep.run(SWEEP, out=tmp_path / "s.h5")
    assert not report.failures
    same(tmp_path / "s.h5", straight)
    with sweep.open_study(tmp_path / "s.h5") as study:
        days = study.days.values
    first = {name: {days[row] for row in rows} for name, rows in reversed(calls)}
    assert len(first["0:0"] | first["0:1"]) == 2
    sizes = sorted((len(rows) for _, rows in calls), reverse=True)
    assert sizes[0] == 12 and sizes[1] == 6 and sum(sizes) == 24


def grown(monkeypatch, computing, most=3, cores=8):
    """Return how many processes a GPU has after each of some batches that took a second."""
    monkeypatch.setattr(lanes, "_pool", Pool)
    monkeypatch.setattr(lanes.os, "sched_getaffinity", lambda _: range(cores), raising=False)
    clock = itertools.count(1)
    monkeypatch.setattr(lanes.time, "monotonic", lambda: float(next(clock)))
    result = Result({}, {}, 1.0, "a GPU", computing)
    monkeypatch.setattr(lanes, "run_batch", lambda batch: shares.append(batch.sharing) or result)
    batch, shares, found = Batch("none", {}, {}, {}, np.arange(2), [0, 1], Keep()), [], []
    processes = Processes(["0:0"], most)
    for _ in range(6):
        running = [processes.submit(batch) for _ in range(processes.slots)]
        for future in running:
            future.result()
            processes.settled(batch, future)
        found.append(processes.slots)
    processes.close()
    return found, shares


def test_a_gpu_that_is_idle_half_of_the_time_gets_a_second_process_and_a_third(monkeypatch):
    """Not after the first batch, which builds; and each knows of how many it is one."""
    found, shares = grown(monkeypatch, 0.4)
    assert found[:3] == [1, 2, 2]
    assert found[-1] == 3
    assert shares[:4] == [1, 1, 2, 2] and shares[-1] == 3


@pytest.mark.parametrize("case", [{"computing": 0.97}, {"most": 1}, {"cores": 2}])
def test_a_gpu_gets_no_process_that_would_not_help(monkeypatch, case):
    found, shares = grown(monkeypatch, **{"computing": 0.4, **case})
    assert set(found) == set(shares) == {1}


def test_a_gpu_whose_second_process_fails_continues_with_one(monkeypatch):
    monkeypatch.setattr(lanes, "_pool", Pool)
    monkeypatch.setattr(lanes.os, "sched_getaffinity", lambda _: range(8), raising=False)
    result = Result({}, {}, 1.0, "a GPU", 0.0)
    batch = Batch("none", {}, {}, {}, np.arange(1), [0], Keep())
    processes = Processes(["0:0"], 2)

    def compute(number, batch, error=None):
        def run(_):
            if error:
                raise error
            return result

        monkeypatch.setattr(lanes, "run_batch", run)
        monkeypatch.setattr(processes, "_lane_for", lambda _: number)
        future = processes.submit(batch)
        future.exception()
        return processes.settled(batch, future)

    for _ in range(3):
        compute(0, batch)
    assert processes.slots == 2
    for _ in range(lanes.MOST_FAILURES):
        compute(0, compute(1, batch, DeviceError("no memory")))
    for _ in range(3):
        compute(0, batch)
    assert processes.slots == 1
    (note,) = processes.notes
    assert note.startswith("a process of device 0:0 failed again and again")
    processes.close()


def test_processes_of_a_device_divide_its_memory(monkeypatch):
    seen = []
    monkeypatch.setattr(
        batch_module, "engine_of", lambda *_, **of: seen.append(of["part"]) or 1 / 0
    )
    base = config_from_dict({"workload": "economy", "agents": 4, "resources": 4, "days": 2})
    columns = {"day_length": np.array([500.0, 600.0])}
    one = Batch("economy", base.model_dump(), {}, columns, np.arange(2), [0, 1], Keep())
    with pytest.raises(ZeroDivisionError):
        run_batch(one.on("cpu", 3))
    assert seen == [OwnCopies(0, 2, 3, 3)]


def test_a_process_that_is_killed_leaves_no_folder(monkeypatch):
    """Only a workload that writes pictures is given a folder, so others have none to leave."""
    monkeypatch.setattr(batch_module, "TemporaryDirectory", lambda **_: 1 / 0)
    base = config_from_dict({"workload": "economy", "agents": 4, "resources": 4, "days": 2})
    columns = {"day_length": np.array([500.0, 600.0])}
    one = Batch("economy", base.model_dump(), {}, columns, np.arange(2), [0, 1], Keep())
    assert set(run_batch(one.on("reference")).values) >= {"gini"}
    base = config_from_dict({"workload": "raytracer", "width": 4, "height": 4})
    one = Batch("raytracer", base.model_dump(), {}, {}, np.arange(1), [0], Keep())
    with pytest.raises(ZeroDivisionError):
        run_batch(one.on("reference"))
