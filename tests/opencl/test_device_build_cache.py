"""The cache of builds: right when many processes start at once, and when an entry is damaged."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from societies.kerneltext import cache
from societies.opencl import Program, build, list_devices
from societies.paths import data_directory

ROOT = Path(__file__).resolve().parents[2]

TEXT = """
int add(int a) { return a + STEP; }
kernel void climb(global int *a, int n) {
    size_t i = get_global_id(0);
    if (i < n) a[i] = add(a[i]);
}
"""

WORKER = """
import sys
import numpy as np
from societies.opencl import Program, choose_device
from societies.kerneltext import cache
device = choose_device("auto")
sums = []
for ours in (False, True):  # the implementation's own cache, then ours on top of it
    if ours:
        cache.caches_itself = lambda device: False
    program = Program(device, sys.argv[1], {"STEP": 3})
    a = device.zeros(100, np.int32)
    program.climb(global_size=100, local_size=32, a=a, n=100)
    sums.append(int(a.get().sum()))
print(sums)
"""


def climbed(device, path, step=3):
    a = device.zeros(10, np.int32)
    Program(device, path, {"STEP": step}).climb(global_size=10, local_size=4, a=a, n=10)
    return int(a.get().sum())


@pytest.mark.thorough
def test_six_processes_with_empty_caches(tmp_path, kernel_file):
    ours, pocl = tmp_path / "ours", tmp_path / "pocl"
    pocl.mkdir()
    environment = os.environ | {
        "SOCIETIES_CACHE_DIR": str(ours),
        "POCL_CACHE_DIR": str(pocl),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
    }
    command = [sys.executable, "-W", "error", "-c", WORKER, str(kernel_file(TEXT))]
    workers = [
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    results = [(*worker.communicate(), worker.returncode) for worker in workers]
    assert [out.strip() for out, _, _ in results] == ["[300, 300]"] * 6, results
    entries = [path for path in ours.iterdir() if path.name != "locks"]
    assert len(entries) == 1 and entries[0].suffix == ".clbin", "no temporary file is left"


ONCE = """
import os, pathlib, signal, sys
import numpy as np
from societies.opencl import Program, build, choose_device

def half():  # the part of a program that exists while PoCL writes it
    for file in pathlib.Path(os.environ["POCL_CACHE_DIR"]).rglob("program.bc"):
        os.truncate(file, file.stat().st_size // 2)

device = choose_device("auto")
compile = build._try_build
if "killed" in sys.argv:
    build._try_build = lambda *a: (compile(*a), half(), os.kill(os.getpid(), signal.SIGKILL))
if "damaged" in sys.argv:
    half()
a = device.zeros(100, np.int32)
Program(device, sys.argv[1], {"STEP": 3}).climb(global_size=100, local_size=32, a=a, n=100)
print(int(a.get().sum()))
"""


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals and no PoCL")
def test_half_a_program_of_a_process_that_was_killed_hinders_no_one(device, tmp_path, kernel_file):
    if device.platform != "Portable Computing Language":
        pytest.skip("the device is not PoCL's")
    pocl, ours = tmp_path / "pocl", tmp_path / "ours"
    pocl.mkdir()
    environment = os.environ | {
        "SOCIETIES_DEVICE": device.index,
        "SOCIETIES_CACHE_DIR": str(ours),
        "POCL_CACHE_DIR": str(pocl),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
    }
    right = ("300\n", "", 0)

    def run(*how):
        command = [sys.executable, "-c", ONCE, str(kernel_file(TEXT)), *how]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
        return ran.stdout, ran.stderr, ran.returncode

    def programs():
        return len(list(pocl.rglob("program.bc")))

    assert run("killed")[2] < 0 and programs() == 1
    assert run() == right and programs() == 2, "built in another place"
    if "PoCL 3.1" in device.platform_version:  # its assertions end the process
        assert run("damaged")[2] < 0
    else:
        assert run("damaged") == right and programs() == 3, "damaged without a note of it"
    places = programs()
    assert run() == right and programs() == max(places, 3), "found in it from then on"


HOLDER = """
import sys
from societies.kerneltext import cache
with cache.alone(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
    print("released", flush=True)
"""


def test_one_process_at_a_time_builds_a_program(tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(tmp_path))
    key, other = "00000001" + "0" * 56, "00000002" + "0" * 56
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, key],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "held\n"
    with cache.alone(other):
        pass  # another program does not wait
    monkeypatch.setattr(cache, "_PATIENCE", 0.2)
    started = time.monotonic()
    with cache.alone(key):
        assert time.monotonic() - started >= 0.2, "waited, then went on in spite of a stopped one"
    monkeypatch.setattr(cache, "_PATIENCE", 60)
    entered = []

    def wait():
        with cache.alone(key):
            entered.append(time.monotonic())

    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(0.2)
    assert not entered
    holder.communicate("\n")
    waiting.join(30)
    assert entered


def test_a_folder_without_room_for_locks_does_not_hinder(
    tmp_path, monkeypatch, device, kernel_file
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(tmp_path / "file"))
    assert climbed(device, kernel_file(TEXT)) == 30


@pytest.fixture
def our_cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(folder))
    monkeypatch.setattr(cache, "caches_itself", lambda device: False)
    return folder


def test_a_second_program_comes_from_the_cache(device, kernel_file, our_cache, monkeypatch):
    path = kernel_file(TEXT)
    assert climbed(device, path) == 30

    def built(*args):
        raise AssertionError("built although the cache has it")

    monkeypatch.setattr(build, "_build", built)
    assert climbed(device, path) == 30
    with pytest.raises(AssertionError, match="built although"):
        climbed(device, path, step=4)


def spoil(data, how):
    return {
        "empty": b"",
        "cut short": data[: len(data) // 2],
        "one bit": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
        "something else": b"hello\nworld\n" * 100,
    }[how]


@pytest.mark.parametrize("how", ["empty", "cut short", "one bit", "something else"])
def test_a_damaged_entry_is_built_again(device, kernel_file, our_cache, how):
    path = kernel_file(TEXT)
    climbed(device, path)
    (entry,) = our_cache.glob("*.clbin")
    good = entry.read_bytes()
    entry.write_bytes(spoil(good, how))
    assert climbed(device, path) == 30
    key = entry.stem
    assert cache.load(key) is not None, "the entry is sound again"


@pytest.mark.parametrize("described", [{"climb": [["a"]]}, [], None])
def test_a_sound_entry_that_the_driver_refuses_is_built_again(
    device, kernel_file, our_cache, described
):
    path = kernel_file(TEXT)
    climbed(device, path)
    (entry,) = our_cache.glob("*.clbin")
    cache.store(entry.stem, described, b"not a program")
    assert climbed(device, path) == 30


def test_a_cache_that_cannot_be_written_is_no_error(device, kernel_file, tmp_path, monkeypatch):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(blocked / "below"))
    monkeypatch.setattr(cache, "caches_itself", lambda device: False)
    assert climbed(device, kernel_file(TEXT)) == 30


def test_the_key_tells_apart_what_must_be_apart(device):
    key = cache.program_key(device, "text", ("-g",))
    assert key == cache.program_key(device, "text", ("-g",))
    assert key != cache.program_key(device, "text ", ("-g",))
    assert key != cache.program_key(device, "text", ())
    assert key != cache.program_key(device, "text-g", ())


DEBUG = """
import os, sys
from societies.opencl import Program, choose_device
import numpy as np
assert "pyopencl" not in sys.modules, "the package loads OpenCL before the variables are set"
device = choose_device("auto")
assert device.kind == "cpu"
assert os.environ["POCL_MAX_PTHREAD_COUNT"] == "1"
program = Program(device, sys.argv[1], {"STEP": 3})
a = device.zeros(10, np.int32)
program.climb(global_size=10, local_size=4, a=a, n=10)
print(int(a.get().sum()), *program.options)
"""


@pytest.mark.ci
def test_debug_mode_builds_with_symbols(kernel_file, tmp_path):
    if not any(d.kind == "cpu" for d in list_devices()):
        pytest.skip("no OpenCL implementation for the CPU here")
    (tmp_path / "pocl").mkdir()
    environment = os.environ | {
        "SOCIETIES_DEBUG": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "POCL_CACHE_DIR": str(tmp_path / "pocl"),
    }  # fmt: skip
    environment.pop("SOCIETIES_DEVICE", None)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", DEBUG, str(kernel_file(TEXT))],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split()[0] == "30", done.stderr
    assert "-g" in done.stdout.split() and "-cl-opt-disable" in done.stdout.split()
    assert "gdb" in done.stderr


def test_the_kernels_folder_exists():
    assert (data_directory("kernels") / "primitives").is_dir()


class Failure(Exception):
    def __init__(self, code):
        self.code = code


def answering(count, names):
    """A program with these answers to both questions; an answer that is a failure is raised."""
    answers = {"count": count, "names": names}

    def get_info(question):
        answer = answers[question]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return SimpleNamespace(get_info=get_info)


@pytest.fixture
def codes(monkeypatch):
    """The runtime's status codes, where its questions are those of ``answering``."""
    codes = build.opencl().status_code
    questions = SimpleNamespace(NUM_KERNELS="count", KERNEL_NAMES="names")
    runtime = SimpleNamespace(Error=Failure, program_info=questions, status_code=codes)
    monkeypatch.setattr(build, "opencl", lambda: runtime)
    return codes


@pytest.mark.parametrize("question", ["count", "names"])
def test_a_program_without_kernels_may_be_called_not_built(codes, question):
    """As Intel's runtime does; other failures stay failures."""

    def failing(code):
        failure = Failure(code)
        return answering(failure if question == "count" else 1, failure)

    assert build._kernel_names(failing(codes.INVALID_PROGRAM_EXECUTABLE)) == []
    with pytest.raises(Failure):
        build._kernel_names(failing(codes.OUT_OF_HOST_MEMORY))


def test_names_of_no_kernels_are_not_asked_for(codes):
    """NVIDIA's runtime ends the process that does."""
    assert build._kernel_names(answering(0, AssertionError("asked"))) == []
    assert build._kernel_names(answering(2, "climb;fall\0")) == ["climb", "fall"]
