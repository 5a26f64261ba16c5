"""Does whatever goes wrong on a device end as a line or two with exit code 3, and a sound file?"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pyopencl as cl
import pytest
import xarray as xr

import societies
from societies.opencl import Device
from societies.opencl import device as device_module
from societies.opencl.kernel import Kernel
from societies.opencl.stderr import heard_stderr
from societies.workload.running import engines

RUN = """
workload: economy
agents: 6
resources: 8
days: 12
record: {checkpoint: 4}
"""
FAILURES = ("OUT_OF_RESOURCES", "DEVICE_NOT_AVAILABLE", "INVALID_COMMAND_QUEUE", -9999)
WHERE = ("enqueue_nd_range_kernel", "enqueue_copy")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOCIETIES_DEVICE", "cpu")
    (tmp_path / "run.yaml").write_text(RUN)
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The file of a run that nothing went wrong with."""
    from societies import config_from_dict

    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    settings = {"workload": "economy", "agents": 6, "resources": 8, "days": 12}
    societies.run(config_from_dict({**settings, "record": {"checkpoint": 4}}), out=path)
    with xr.open_dataset(path) as data:
        return data.load()


def failure(status):
    """An error as pyopencl raises it, of a name or of a vendor's own number."""
    code = status if isinstance(status, int) else getattr(cl.status_code, status)

    class Failure(cl.RuntimeError):
        routine = "clFinish"

        def __str__(self):
            return f"clFinish failed: {code}"

    Failure.code = code
    return Failure("failed")


def failing(original, status, when):
    """The function, which fails from its call number ``when`` on."""
    calls = 0

    def function(*args, **options):
        nonlocal calls
        calls += 1
        if calls > when:
            raise failure(status)
        return original(*args, **options)

    return function


def assert_said(result, *words, lines=2):
    code, out, err = result
    assert (code, out) == (3, "")
    assert 1 <= len(err.splitlines()) <= lines, err
    for word in words:
        assert word in err, err


# -- in the middle of a run ----------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("status", FAILURES)
@pytest.mark.parametrize("where", WHERE)
def test_a_lost_device_leaves_a_file_to_be_resumed(where, status, whole, shell, monkeypatch):
    """After seven days' launches, or the first four days' transfers, nothing works any more."""
    launches = 1 + 7 * 6  # seeding, then those of a day: two markets and four others
    with monkeypatch.context() as patch:
        when = launches if where == "enqueue_nd_range_kernel" else 90
        patch.setattr(cl, where, failing(getattr(cl, where), status, when))
        result = shell("run", "run.yaml")
    name = f"status {status}" if isinstance(status, int) else status
    assert_said(result, name, "run.h5 holds all days up to ", " of 12 and can be resumed: ")
    committed = int(re.search(r"up to (\d+) of", result[2])[1])
    with societies.open_results("run.h5") as data:
        assert data.sizes["day"] == committed
        assert 0 < committed < 12
        for name in ("utility", "gini", "units_traded"):
            xr.testing.assert_equal(data[name], whole[name].isel(day=slice(committed)))
    _, *command = shlex.split(result[2].splitlines()[1].split("resumed: ")[1])
    assert shell(*command, "-q") == (0, "run.h5\n", "")
    with xr.open_dataset("run.h5") as data:
        xr.testing.assert_identical(data.load().drop_attrs(), whole.drop_attrs())


@pytest.mark.ci
def test_a_device_lost_before_the_first_day(shell, monkeypatch):
    with monkeypatch.context() as patch:
        original = cl.enqueue_nd_range_kernel
        patch.setattr(cl, "enqueue_nd_range_kernel", failing(original, FAILURES[1], 0))
        result = shell("run", "run.yaml")
    assert_said(result, "run.h5 holds the start, before day 1, and can be resumed: societies run")
    assert shell("run", "run.yaml", "--resume", "-q") == (0, "run.h5\n", "")


@pytest.mark.parametrize("status", FAILURES)
@pytest.mark.parametrize("command", ["run", "verify"])
def test_an_error_that_no_one_translated(command, status, shell, monkeypatch):
    def fails(*_, **__):
        raise failure(status)

    monkeypatch.setattr(Device, "finish", fails)
    monkeypatch.setattr(f"societies.{command}", lambda *_, **__: Device.finish(None))
    assert_said(shell(command, "run.yaml"), "the device failed: clFinish says ", str(status))


def test_waiting_for_a_lost_device(monkeypatch):
    device = societies.choose_device("cpu")

    class Queue:
        def finish(self):
            raise failure("DEVICE_NOT_AVAILABLE")

    device.queue = Queue()
    with pytest.raises(
        societies.SocietiesError, match=r"waiting for .*the device is lost"
    ) as error:
        device.finish()
    assert error.value.exit_code == 3


# -- what a device cannot do ---------------------------------------------------------------------


def test_too_much_local_memory(shell, monkeypatch):
    monkeypatch.setattr(device_module, "PORTABLE_LOCAL_MEMORY", 256)
    said = ("bytes of local memory", "more than the 256 of the portable profile")
    assert_said(shell("run", "run.yaml"), *said, lines=3)  # the planner shows the kernel's line too
    assert not Path("run.h5").exists()


# The economy's kernels have workgroups of one work-item on a CPU.
BLUR = ("run", "physics/blur/quickstart", "--out", "run.h5")


def test_a_workgroup_too_large(shell, monkeypatch):
    monkeypatch.setattr(device_module, "PORTABLE_WORKGROUP", 4)
    assert_said(shell(*BLUR), "a workgroup of 64 work-items is larger than the 4 of")
    assert not Path("run.h5").exists()


def test_a_workgroup_too_large_for_one_kernel(shell, monkeypatch):
    original = Kernel.__init__

    def limited(self, *args, **options):
        original(self, *args, **options)
        self.max_workgroup = 4

    monkeypatch.setattr(Kernel, "__init__", limited)
    assert_said(shell(*BLUR), "work-items is larger than the 4 of the kernel on this")


def test_no_double_precision(shell, monkeypatch):
    original = Device.__init__

    def single(self, *args, **options):
        original(self, *args, **options)
        self.fp64 = False

    monkeypatch.setattr(Device, "__init__", single)
    assert_said(shell("run", "run.yaml"), "no cpu device with double precision (fp64)")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("MEM_OBJECT_ALLOCATION_FAILURE", "the device is out of memory"),
        ("OUT_OF_HOST_MEMORY", "memory of this computer is full"),
    ],
)
def test_out_of_memory_before_the_run(status, said, shell, monkeypatch):
    def full(*_, **__):
        raise failure(status)

    monkeypatch.setattr(cl, "Buffer", full)
    assert_said(shell("run", "run.yaml"), "allocating", said)
    assert not Path("run.h5").exists()


def test_an_array_larger_than_the_device_allows(shell, monkeypatch):
    original = Device.__init__

    def small(self, *args, **options):
        original(self, *args, **options)
        self.max_alloc = 100

    monkeypatch.setattr(Device, "__init__", small)
    assert_said(shell("run", "run.yaml"), "one society has an array of", "takes at most 100 B")


# -- kernels that do not build -------------------------------------------------------------------


@pytest.mark.ci
def test_a_kernel_that_does_not_build(folder):
    """In a process of its own, whose standard error the compiler writes to as well."""
    (folder / "broken.cl").write_text(
        "__kernel void broken(__global int *a)\n{\n    a[0] = lost;\n}"
    )
    program = f"""
from societies import cli
from societies.workload.running import engines
shipped = engines.kernel_files
engines.kernel_files = lambda p: [*shipped(p), {str(folder / "broken.cl")!r}]
cli.main(["run", "run.yaml"])
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(societies.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (3, "")
    first, second = done.stderr.splitlines()
    assert re.fullmatch(rf"{folder}/broken.cl:3:\d+: .*lost.*", first)
    assert second == "    a[0] = lost;"
    assert not Path("run.h5").exists()


def test_a_kernel_that_does_not_build_in_process(monkeypatch, folder, capfd):
    (folder / "broken.cl").write_text("__kernel void broken(__global int *a) { a[0] = lost; }\n")
    shipped = engines.kernel_files
    broken = str(folder / "broken.cl")
    monkeypatch.setattr(engines, "kernel_files", lambda p: [*shipped(p), broken])
    monkeypatch.setenv("SOCIETIES_DEBUG", "1")
    from societies.cli import main

    with pytest.raises(SystemExit) as end:
        main(["run", "run.yaml"])
    assert end.value.code == 3
    assert "lost" in capfd.readouterr().err


# -- file descriptor 2 ---------------------------------------------------------------------------


def heard(program):
    """Run a program that listens; return what it heard and what appeared."""
    text = "import os, sys\nfrom societies.opencl.stderr import heard_stderr\n" + program
    environment = {**os.environ, "PYTHONPATH": str(Path(societies.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_python_prints_at_once_and_compilers_later_without_their_counts():
    assert heard("""
with heard_stderr() as heard:
    os.write(2, b"warning: unused\\n1 warning and 2 errors generated.\\n")
    print("from Python", file=sys.stderr)
print("after", file=sys.stderr)
print(repr(heard.text), end="")
""") == (
        "'warning: unused\\n1 warning and 2 errors generated.\\n'",
        "from Python\nwarning: unused\nafter\n",
    )


def test_what_is_withheld_does_not_appear_and_errors_leave_nothing_behind():
    assert heard("""
try:
    with heard_stderr() as heard:
        heard.withheld = True
        os.write(2, b"1 error generated.\\nmore\\n")
        raise ValueError
except ValueError:
    os.write(2, b"restored\\n")
print(repr(heard.text), end="")
""") == ("'1 error generated.\\nmore\\n'", "restored\n")


def test_without_a_standard_error():
    assert heard("""
os.close(2)
with heard_stderr() as heard:
    print("works", end="")
""") == ("works", "")


def test_threads_do_not_wait_for_each_other():
    inside, done = threading.Event(), threading.Event()

    def other():
        inside.wait(10)
        with heard_stderr() as heard:
            assert heard.text == ""
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with heard_stderr():
        inside.set()
        assert done.wait(10)
    thread.join()
