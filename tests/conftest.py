"""Settings that all tests share: their environment, their rooms, a repeatable hypothesis."""

import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import cached_property

import environment
import pytest
import rooms
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

environment.enter()

# More than 8000 tests are collected, none of which is garbage: to look through them again and again
# costs each process seconds. What the tests allocate themselves is collected as always.
gc.disable()

# A process started by `nohup`, by `&` in a script and by some CI services ignores Ctrl-C, and so do
# its children, which `societies` respects. Tests of Ctrl-C need what a terminal gives: a handler
# of Python's here, which becomes the default of the system in every child.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "societies",
    deadline=None,
    derandomize=True,
    max_examples=25,  # the same ones in every run: more of them are time, not chance
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("thorough", settings.get_profile("societies"), max_examples=100)
settings.load_profile("societies")

# A result file is handed to the disk after every block, against power cuts alone: what a killed
# process wrote is in the system's memory. Processes that tests start wait for the disk as always.
for _name in ("fsync", "fdatasync"):
    if hasattr(os, _name):
        setattr(os, _name, os.fstat)  # still refuses a file that is closed

# With SOCIETIES_TEST_DEVICE='Intel(R) OpenCL' all tests run on that device, or the session fails.
_asked = os.environ.get("SOCIETIES_TEST_DEVICE", "")
_opened: set[str] = set()
_second: set[str] = set()
"""The CPU's devices that took small batches of a search, next to the device asked for."""

ON_PAPER = "on paper"
"""What stands for CuPy's version in tests that need no GPU (cuda_on_paper.py)."""


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tell a process of pytest-xdist which marks to run; it knows the command line alone."""
    node.workerinput["marks"] = node.config.option.markexpr


def pytest_configure(config):
    """Leave out rooms; make the device asked for the one that ``auto`` takes, and note others."""
    if sys.flags.optimize and not getattr(config.option, "tx", None):
        raise pytest.UsageError("PYTHONOPTIMIZE leaves out what the tests assert: unset it")
    given = config.invocation_params
    usual = config.option.markexpr == rooms.DEFAULT and not rooms.asks_for_marks(given.args)
    if hasattr(config, "workerinput"):  # a process of pytest-xdist
        config.option.markexpr = config.workerinput["marks"]
    elif usual:
        config.option.markexpr = rooms.expression(config.rootpath, given.dir, config.args)
    rooms.excluded[:] = rooms.left_out(config.option.markexpr)
    if rooms.has_thorough(config.option.markexpr):
        settings.load_profile("thorough")
    if not _asked:
        return
    from societies.opencl.device import Device

    os.environ["SOCIETIES_DEVICE"] = _asked
    opening = Device.context.func

    def context(device):
        _opened.add(_identity(device))
        return opening(device)

    Device.context = cached_property(context)
    Device.context.__set_name__(Device, "context")

    from societies.games.ngtsg import small_batches as few

    choose = few.choose_device

    def chosen(*given, **named):
        device = choose(*given, **named)
        _second.add(_identity(device))
        return device

    few.choose_device = chosen
    from societies.opencl.cuda import CudaDevice

    stream = CudaDevice.queue.fget

    def queue(device):
        if not device.platform_version.endswith(ON_PAPER):
            _opened.add(_identity(device))
        return stream(device)

    CudaDevice.queue = property(queue)


def pytest_report_header(config):
    """Say which rooms are left out, and how to run them."""
    if rooms.excluded:
        names = " and ".join(rooms.excluded)
        return (
            f"left out: {names}, since no file of theirs has changed (pytest -m '' runs all tests)"
        )
    return None


def pytest_ignore_collect(collection_path, config):
    """Do not even read the files of rooms, or of tests, that are all left out."""
    folder = config.rootpath / "tests"
    if any(collection_path == folder / room for room in rooms.excluded):
        return True
    if rooms.excluded and collection_path.name.startswith("test_"):
        left_out = set(re.findall(r"\w+", config.option.markexpr))
        return bool(rooms.marked_as_a_whole(collection_path.read_text()) & left_out) or None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark each test with its room, and give the tests of a file to one process.

    That process makes their fixtures and caches once. Tests of documents share nothing; files that
    say more of their groups keep these. Of a test marked `sample` the default runs one.
    """
    sampled, paths = set(), {}
    for item in items:
        path = paths.get(item.path)
        if path is None:
            path = paths[item.path] = str(item.path.relative_to(item.config.rootpath))
        parameters = item.name.partition("[")[2]
        if room := rooms.room_of(path, parameters):
            item.add_marker(room)
        elif item.get_closest_marker("sample") and not any(
            map(item.get_closest_marker, ("thorough", "ci"))
        ):
            test = path, item.originalname
            if test in sampled:
                item.add_marker("ci")
            sampled.add(test)
        if item.path.name != "test_documents.py" and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(path))


@pytest.hookimpl(trylast=True)
def pytest_sessionstart():
    """Let hypothesis make its generator of random numbers before anything is frozen.

    It asks the collector who holds the generator. From Python 3.14 on a frozen dictionary is not
    found, so that hypothesis would warn in the first of its tests, and a warning is an error.
    """
    given(st.none())(lambda _: None)()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop():
    """Leave what has been collected out of every later search for cycles, and search less often.

    Nothing waits for the collector: files are closed and devices released without it.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def _identity(device):
    return f"{device.name}, {device.platform}, {device.platform_version}"


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["opened"] = sorted(_opened)
        session.config.workeroutput["second"] = sorted(_second)
    elif _asked and not _as_asked():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    output = getattr(node, "workeroutput", {})
    _opened.update(output.get("opened", ()))
    _second.update(output.get("second", ()))


def pytest_terminal_summary(terminalreporter):
    if _asked:
        found = "; ".join(sorted(_opened)) or "none"
        wrong = "" if _as_asked() else f", but {_wanted()} was asked for"
        terminalreporter.write_line(f"device used: {found}{wrong}")


def _as_asked():
    """Return whether the tests ran on the device asked for and, but for small batches, no other."""
    return _wanted() in _opened <= {_wanted(), *_second}


def _wanted():
    """Return the device that the variable asks for."""
    from societies.errors import DeviceError
    from societies.opencl import choose_device

    try:
        return _identity(choose_device(_asked))
    except DeviceError as error:
        return str(error)


@pytest.fixture
def shell(capsys):
    """Run a command in this process; return its exit code, stdout and stderr.

    Whatever goes wrong, a user never sees a traceback unasked.
    """
    from societies.cli import main

    def command(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(list(words))
        out, err = capsys.readouterr()
        assert "Traceback" not in err or "--debug" in words
        return int(end.value.code or 0), out, err

    return command


@pytest.fixture
def kernel_file(tmp_path):
    """Write a kernel file and return its path."""

    def write(text, name="test.cl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.fixture
def small_disk(tmp_path):
    """Mount a small file system."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1200k", "societies-test", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user cannot mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
