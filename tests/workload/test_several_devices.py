"""Does a run on several devices write the file of a run on one?

The devices are one device, listed several times: each time stands for a process of its own.
"""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from datasets import datasets
from small import small
from test_batches import TABLE, ensemble

import societies
from societies.errors import DeviceError, DeviceFailed, Interrupted
from societies.opencl import choose_device
from societies.workload import Setup
from societies.workload.running import blocks, interrupts, several
from societies.workload.running import devices as of_name
from societies.workload.running.batches import OwnCopies, Room
from societies.workload.running.registry import workload
from societies.workload.running.several import LEAST_COPIES, Several, devices_of
from societies.workload.running.shared import SharedArrays


def listed(count):
    """Return the name of as many devices."""
    return ",".join([choose_device("auto").index] * count)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Return all bytes of the file of seven societies on one device."""
    out = tmp_path_factory.mktemp("alone") / "run.h5"
    societies.run(ensemble(replicates=7), table=TABLE, out=out)
    found = datasets(out)
    assert any(name.startswith("checkpoint") for name in found), sorted(found)
    assert any(name.startswith("events/inventions") for name in found)
    return found


@pytest.fixture
def processes(monkeypatch):
    """Return the processes that runs have started."""
    found, original = [], several._Process.__init__

    def noted(process, *given):
        original(process, *given)
        found.append(process)

    monkeypatch.setattr(several._Process, "__init__", noted)
    return found


@pytest.mark.ci
def test_a_run_is_the_same_on_two_devices_interrupted_and_continued(alone, tmp_path, processes):
    """Ctrl-C is pressed; the continued run has fewer societies on a device at a time."""

    def stop(day, _):
        if day >= 6:
            os.kill(os.getpid(), signal.SIGINT)

    config, out = ensemble(replicates=7), tmp_path / "run.h5"
    with pytest.raises(Interrupted):
        societies.run(config, table=TABLE, out=out, device=listed(2), progress=stop)
    report = societies.run(config, table=TABLE, out=out, device=listed(2), batch=2, resume=True)
    assert datasets(out) == alone
    assert report.device.startswith(f"{listed(1)}, {listed(1)}: 2 x {choose_device('auto').name}")
    assert [process.part.copies for process in processes] == [3, 4, 3, 4]
    assert all(process._process.returncode is not None for process in processes)


@pytest.mark.ci
def test_a_device_that_fails_leaves_a_file_to_continue(alone, tmp_path, processes):
    def fail(day, _):
        if day >= 6:
            os.kill(processes[1]._process.pid, signal.SIGKILL)
            processes[1]._process.wait()

    config, out = ensemble(replicates=7), tmp_path / "run.h5"
    with pytest.raises(DeviceFailed) as failed:
        societies.run(config, table=TABLE, out=out, device=listed(3), progress=fail)
    said = str(failed.value)
    assert f"device {listed(1)}: its process was ended by signal 9" in said
    assert f"{out} holds all days up to" in said
    assert all(process._process.returncode is not None for process in processes)
    societies.run(config, table=TABLE, out=out, resume=True)
    assert datasets(out) == alone


@pytest.mark.ci
@pytest.mark.parametrize("again", [0.0, 0.5])
def test_a_second_ctrl_c_ends_a_run_whose_device_hangs(
    alone, tmp_path, processes, again, monkeypatch
):
    """The process of the second device stops in mid-run; before the mend the run waited."""
    monkeypatch.setattr(interrupts, "GRACE", 0.1)
    timers = []

    def hang(day, _):
        if day >= 6 and not timers:
            os.kill(processes[1]._process.pid, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGINT)
            for seconds, pid, number in (
                (again, os.getpid(), signal.SIGINT),
                (60.0, processes[1]._process.pid, signal.SIGCONT),
            ):
                timers.append(threading.Timer(seconds, os.kill, (pid, number)))
                timers[-1].start()
            timers[0].join(0.0 if again else None)

    config, out = ensemble(replicates=7), tmp_path / "run.h5"
    try:
        with pytest.raises(Interrupted):
            societies.run(config, table=TABLE, out=out, device=listed(2), progress=hang)
        assert timers[-1].is_alive()
    finally:
        for timer in timers:
            timer.cancel()
    assert [process._process.returncode for process in processes][1] == -signal.SIGKILL
    societies.run(config, table=TABLE, out=out, resume=True)
    assert datasets(out) == alone


@pytest.mark.ci
@pytest.mark.parametrize(("where", "at"), [("_read", 3), ("_put", 1)])
def test_a_second_ctrl_c_ends_a_run_that_reads_a_device_that_hangs(
    alone, tmp_path, processes, where, at, monkeypatch
):
    """The state is read in the main thread, or in the one that writes, when the process stops."""
    monkeypatch.setattr(interrupts, "GRACE", 0.1)
    monkeypatch.setattr(blocks, "COMMIT_SECONDS", 0.0)
    original, timers, calls = getattr(blocks.Simulation, where), [], []

    def hang(simulation, *given):
        calls.append(where)
        if len(calls) == at:
            stopped = processes[1]._process.pid
            os.kill(stopped, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGINT)
            for seconds, pid, number in (
                (0.2, os.getpid(), signal.SIGINT),
                (60.0, stopped, signal.SIGCONT),
            ):
                timers.append(threading.Timer(seconds, os.kill, (pid, number)))
                timers[-1].start()
            simulation.engine.state()
        return original(simulation, *given)

    monkeypatch.setattr(blocks.Simulation, where, hang)
    config, out = ensemble(replicates=7), tmp_path / "run.h5"
    try:
        with pytest.raises(Interrupted):
            societies.run(config, table=TABLE, out=out, device=listed(2))
        assert timers[-1].is_alive()
    finally:
        for timer in timers:
            timer.cancel()
    societies.run(config, table=TABLE, out=out, resume=True)
    assert datasets(out) == alone


@pytest.mark.ci
def test_a_second_ctrl_c_lets_a_run_whose_file_is_slow_save_its_state(
    alone, tmp_path, processes, monkeypatch
):
    """Its devices answer, so they are not given up while another thread writes."""
    monkeypatch.setattr(interrupts, "GRACE", 0.5)
    monkeypatch.setattr(blocks, "COMMIT_SECONDS", 0.0)
    original, calls = blocks.Simulation._put, []

    def slow(*given):
        calls.append(given)
        if len(calls) == 1:
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1.5)
        return original(*given)

    monkeypatch.setattr(blocks.Simulation, "_put", slow)
    config, out = ensemble(replicates=7), tmp_path / "run.h5"
    with pytest.raises(Interrupted):
        societies.run(config, table=TABLE, out=out, device=listed(2))
    assert [process._process.returncode for process in processes] == [0, 0]
    societies.run(config, table=TABLE, out=out, resume=True)
    assert datasets(out) == alone


def test_an_area_for_a_state_is_used_again_once_its_arrays_are_gone(tmp_path):
    """Both processes map it; arrays that are still in use keep their values."""
    setup = Setup(workload("economy"), small("economy", replicates=3))
    with (tmp_path / "shared").open("w+b") as file:
        first_areas, second_areas = (SharedArrays(file.fileno(), setup) for _ in range(2))
        first = first_areas.free_area()
        held = first_areas.state("held", first)
        second_areas.state("held", first)[...] = 7
        second = first_areas.free_area()
        second_areas.state("held", second)[...] = 9
        second_areas.state("extracted", first)[...] = 5
        other = first_areas.state("held", second)
        assert first != second and (held == 7).all() and (other == 9).all()
        size = os.fstat(file.fileno()).st_size
        del held
        assert first_areas.free_area() == first
        assert os.fstat(file.fileno()).st_size == size


@pytest.mark.ci
def test_arrays_of_a_state_that_are_not_read_are_not_taken_for_others():
    setup = Setup(workload("economy"), small("economy", replicates=2))
    engine = Several(setup, [choose_device("auto").index] * 2, 2)
    engine.start()
    names = iter(engine.each())
    next(names)
    names.close()
    assert (engine.arrays("held")["held"] == engine.state()["held"]).all()
    whole = engine.state()
    engine.run_ticks(1, 2)
    assert (engine.arrays("stream")["stream"] != whole["stream"]).any()
    engine.close()


@pytest.mark.ci
def test_the_first_error_of_a_device_is_reported():
    """It names the device, and those that are left."""
    setup = Setup(workload("economy"), small("economy", replicates=2))
    with pytest.raises(DeviceError, match=r"device 0:98: .*no such device") as found:
        Several(setup, ["0:98", "0:99"], 2)
    assert str(found.value).endswith("\nwithout it: device='0:99'")


class Gpu:
    """What a name of a device stands for in a host of three equal GPUs and another one."""

    kind, platform, simulator = "gpu", "CUDA", False

    def __init__(self, number):
        self.index, self.name = f"0:{number}", "T4" if number == 1 else "H100"


def test_auto_takes_all_equal_gpus_if_each_has_enough_to_do(monkeypatch):
    gpus = [Gpu(number) for number in range(4)]
    monkeypatch.setattr(of_name, "list_devices", lambda: gpus)
    monkeypatch.setattr(
        of_name,
        "choose_device",
        lambda name: gpus[int(name.split(":")[1])] if ":" in name else gpus[0],
    )

    def taken(copies, device, name="economy", **more):
        return devices_of(Setup(workload(name), small(name, replicates=copies, **more)), device)

    assert taken(2 * LEAST_COPIES - 1, "auto") == ["auto"]
    assert taken(2 * LEAST_COPIES, "auto") == ["0:0", "0:2"]
    assert taken(1000, "auto") == taken(1000, "gpu") == ["0:0", "0:2", "0:3"]
    assert taken(1000, "0:2") == ["0:2"]
    assert taken(2, "0:1, 0:0,0:1") == ["0:1", "0:0"]
    assert taken(1, "0:1,0:0") == ["0:1"]
    assert taken(1000, "reference") == ["reference"]
    assert taken(1000, "auto", "havannah_match") == ["0:0"]
    monkeypatch.setenv("SOCIETIES_DEVICE", "0:0,0:3")
    assert taken(4, "auto") == ["0:0", "0:3"]
    assert taken(4, "0:2") == ["0:2"]


def test_processes_divide_the_memory_that_they_share():
    setup = Setup(workload("economy"), small("economy"))
    device = choose_device("auto")
    of_gpu = Gpu(0)
    for name, value in (("global_memory", 64 << 30), ("max_alloc", 0)):
        setattr(of_gpu, name, value)
    whole = Room(setup, of_gpu).has
    assert Room(setup, of_gpu, OwnCopies(0, 1, 4, 1)).has == whole
    assert Room(setup, of_gpu, OwnCopies(0, 1, 4, 2)).has == whole // 2
    if device.kind == "cpu":
        assert Room(setup, device, OwnCopies(0, 1, 8, 1)).has < Room(setup, device).has / 4


def test_the_process_of_a_device_loads_no_library_for_files():
    """Every GPU waits for it."""
    code = (
        "import sys, societies.workload.running.worker\n"
        "print({'h5py', 'societies.output', 'typer'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
