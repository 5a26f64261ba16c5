"""Killed, interrupted, stopped and continued: does an economy's file end as if nothing had been?"""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from datasets import datasets

import societies
from societies import load_config
from societies.economy.workload import Economy
from societies.errors import Interrupted
from societies.output import ResultFile
from societies.workload.running import blocks, run
from societies.workload.running.engines import DeviceEngine

KILLS, CHAINS = 20, 2
LONG, SHORT, CHECKPOINT = 80, 20, 7
SEED = int(os.environ.get("SOCIETIES_TEST_SEED", "20240611"))
RUN = f"""
workload: economy
agents: 6
resources: 8
days: {SHORT}
replicates: 2
first_society: 1
shocks: [{{day: 8, remove: resource, index: random, holdings: lose}}]
record: {{agent: 1, agent_resource: 2, checkpoint: {CHECKPOINT}}}
"""
LAGGED = ("gini_3day", "gini_paper")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of its own with the configuration; the shell's commands run there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text(RUN)
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return everything in the file of a run that nothing disturbed."""
    place = tmp_path_factory.mktemp("whole")
    (place / "run.yaml").write_text(RUN)
    societies.run(load_config(place / "run.yaml"), out=place / "run.h5")
    return everything(place / "run.h5")


def everything(path):
    """Return the bytes of every dataset but those of the provenance, checkpoints included."""
    found = datasets(path)
    assert len(found) > 40
    return found


OFTEN = """
from societies.workload.running import blocks
blocks._next_length, blocks.RAREST_SECONDS = lambda ticks, seconds: 1, 0.0
from societies.__main__ import command
command()
"""
"""A command whose runs write each day at once, since a fast run writes once a second otherwise."""


def process(*words, folder=None):
    root = str(Path(societies.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", OFTEN, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Stop(Exception):
    """Ends a run in the middle, without a checkpoint of that day."""


def stop_at(day):
    def progress(done, _):
        if done >= day:
            raise Stop

    return progress


# -- killed --------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_killed_at_random_moments_and_resumed(folder):
    """SIGKILL, at least twenty times in all; a resumed run is killed again."""
    words = ["run", "run.yaml", "--days", str(LONG), "-q", "--out"]
    with process(*words, "whole.h5") as child:
        assert child.wait() == 0
    expected = everything("whole.h5")
    with xr.open_dataset("whole.h5") as data:
        truth = data.load()
    reading = threading.Lock()  # of HDF5 and of Python's warnings

    def chain(number):
        moment, path = random.Random(SEED + number), folder / f"{number}.h5"
        days, kills, resumed = 0, 0, 0
        while True:
            resume = ["--resume"] if path.exists() else []
            if resume and moment.random() < 0.3:
                resume += ["--device", "reference"]
            child = process(*words, path.name, *resume, folder=folder)
            if kills < KILLS / CHAINS:
                if moment.random() < 0.2:  # while it starts and makes or opens the file
                    time.sleep(moment.uniform(0, 1))
                else:  # some time after one of the next days
                    wait_for_day(child, path, days + moment.randint(0, 8), reading)
                    time.sleep(moment.uniform(0, 0.02))
                child.send_signal(signal.SIGKILL)
            out, err = child.communicate()
            assert child.returncode in (0, -signal.SIGKILL), err
            kills += child.returncode != 0
            if path.exists():
                with reading:
                    days = assert_committed_days(path, truth)
                resumed += child.returncode != 0 and 0 < days < LONG
            if child.returncode == 0:
                assert out == f"{path.name}\n"
                with reading:
                    assert everything(path) == expected
                path.unlink()
                days = 0
                if kills >= KILLS / CHAINS:
                    return resumed

    with ThreadPoolExecutor(CHAINS) as pool:
        resumed = sum(pool.map(chain, range(CHAINS)))
    assert resumed >= KILLS / 4  # otherwise the moments are badly chosen


def wait_for_day(child, path, day, reading):
    """Return when the day is committed or the process has ended."""
    place = None
    while child.poll() is None:
        if place is None and path.exists():  # nothing in the file moves once it has its name
            with reading, h5py.File(path, "r", locking=False) as data:
                place = data["ticks_committed"].id.get_offset()
        if place is not None:
            with path.open("rb") as data:
                data.seek(place)
                if int.from_bytes(data.read(8), "little", signed=True) >= day:
                    return
        time.sleep(0.002)


def assert_committed_days(path, truth):
    """Compare every committed day with the undisturbed run; return how many there are."""
    with xr.open_dataset(path) as data:
        days = int(data.ticks_committed)
        for name in truth.data_vars:
            recorded, expected = data[name], truth[name]
            for dim in {"day", "resource_day"} & set(recorded.dims):
                known = days - 1 if name in LAGGED else days
                recorded = recorded.sel({dim: slice(known)})
                expected = expected.sel({dim: slice(known)})
            if name != "ticks_committed":
                assert recorded.values.tobytes() == expected.values.tobytes(), name
    with societies.open_results(path) as data:
        assert data.sizes["day"] == days
    return days


# -- continued -----------------------------------------------------------------------------------


@pytest.mark.ci
@pytest.mark.sample
@pytest.mark.parametrize(
    ("day", "before", "after"),
    [
        (3, "auto", "reference"),  # before the first checkpoint
        (9, "auto", "reference"),  # at a day that is not a checkpoint
        (14, "reference", "auto"),  # at one that is
        (SHORT - 1, "reference", "auto"),
    ],
)
def test_continued_on_another_device(day, before, after, whole, folder):
    config, path = load_config("run.yaml"), folder / "run.h5"
    with pytest.raises(Stop):
        societies.run(config, device=before, out=path, progress=stop_at(day))
    with societies.open_results(path) as data:
        assert data.sizes["day"] == day
    report = societies.run(config, device=after, out=path, resume=True)
    first = day - day % CHECKPOINT + 1
    assert report.first_day == first
    assert everything(path) == whole
    with xr.open_dataset(path) as data:  # the row across the seam, which two days make
        assert not np.isnan(data.gini_3day.sel(day=[d for d in (first - 1, first) if d > 1])).any()
    with ResultFile.resume(path) as continued:
        records = continued.sessions
    assert [record.split(" | ")[0] for record in records] == ["from day 1", f"from day {first}"]
    for record, device in zip(records, (before, after), strict=True):
        name = device if device == "reference" else societies.choose_device(device).name
        assert name in record.split(" | ")[1]
        assert "societies " in record


@pytest.mark.sample
@pytest.mark.parametrize("days", [(2,), (7,), (8, 9), (10, 14, 15), (16, 20), (3, 5, 19)])
def test_after_ctrl_c_the_file_is_that_of_a_straight_run(days, whole, folder):
    """All of it but the provenance: both checkpoints too, whichever days were interrupted."""
    config, path = load_config("run.yaml"), folder / "run.h5"

    def interrupt_at(day):
        def progress(done, _):
            if done == day:
                signal.raise_signal(signal.SIGINT)

        return progress

    for number, day in enumerate(days):
        last_begun = day >= SHORT - 1  # the day after the one that is reported has been begun
        with nullcontext() if last_begun else pytest.raises(Interrupted):
            societies.run(
                config,
                device="reference",
                out=path,
                resume=number > 0,
                progress=interrupt_at(day),
            )
    societies.run(config, device="reference", out=path, resume=True)
    assert everything(path) == whole


@pytest.mark.parametrize("refused", ["configuration", "damage"])
def test_a_refused_resume_leaves_every_byte(refused, folder, shell):
    config, path = load_config("run.yaml"), folder / "run.h5"
    with pytest.raises(Stop):
        societies.run(config, device="reference", out=path, progress=stop_at(9))
    if refused == "damage":
        with h5py.File(path) as data:
            place = data["units_extracted"].id.get_offset()
        content = bytearray(path.read_bytes())
        content[place + 3] ^= 4
        path.write_bytes(content)
    before, status = path.read_bytes(), path.stat()
    words = ["run", "run.yaml", "--resume", "--device", "reference"]
    code, _, err = shell(*words, *(["--seed", "5"] if refused != "damage" else []))
    assert code == 4
    if refused == "damage":
        assert "run.h5: damaged: 'units_extracted', day 1, bytes" in err
        assert "Still good: " in err and "checkpoint of day 7" in err
    assert path.read_bytes() == before and path.stat().st_mtime_ns == status.st_mtime_ns
    assert os.listdir(folder).count("run.h5") == 1


def test_a_damaged_checkpoint_is_reported_and_the_older_one_taken(folder, shell, whole):
    config, path = load_config("run.yaml"), folder / "run.h5"
    with pytest.raises(Stop):
        societies.run(config, device="reference", out=path, progress=stop_at(16))
    with h5py.File(path) as data:
        place = data["checkpoint/0/state/held"].id.get_offset()  # of day 14, the second
        assert int(data["checkpoint/0/tick"][()]) == 14
    content = bytearray(path.read_bytes())
    content[place + 1] ^= 1
    path.write_bytes(content)
    code, out, err = shell("run", "run.yaml", "--resume", "--device", "reference")
    assert code == 0 and re.search(r"^days run now +8 to 20$", out, re.M)
    assert err.startswith("warning: run.h5: damaged: checkpoint 0, of day 14, bytes ")
    assert err.endswith("; the run continues without it\n") and len(err.splitlines()) == 1
    assert everything(path) == whole


@pytest.mark.ci
def test_stopped_every_few_days(whole, folder):
    config, path = load_config("run.yaml"), folder / "run.h5"
    for number, day in enumerate((2, 8, 9, 15, 16, SHORT)):
        try:
            societies.run(config, out=path, resume=number > 0, progress=stop_at(day))
        except Stop:
            assert day <= SHORT
    societies.run(config, out=path, resume=True)
    assert everything(path) == whole


@pytest.mark.ci
def test_a_complete_file_is_left_as_it_is(shell, folder):
    code, out, _ = shell("run", "run.yaml")
    assert code == 0
    before = (folder / "run.h5").read_bytes()
    code, again, err = shell("run", "run.yaml", "--resume")
    assert (code, err) == (0, "")
    assert re.search(r"^days run now +none, the file was complete$", again, re.M)
    rows, rows_again = (
        {re.sub(" +", " ", row) for row in text.splitlines()} for text in (out, again)
    )
    lost = rows - rows_again  # all but these are the same numbers and the same hash of the state
    assert all(row.startswith(("wall time", "agent-days", "device")) for row in lost)
    assert shell("run", "run.yaml", "--resume", "-q") == (0, "run.h5\n", "")
    assert (folder / "run.h5").read_bytes() == before


@pytest.mark.ci
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (["--set", "utility.scale=601"], "utility.scale is 600.0 in the file and 601.0 here"),
        (["--seed", "5"], "seed is 1 in the file and 5 here"),
        (["--days", "40"], f"days is {SHORT} in the file and 40 here"),
        (["--set", "shocks.0.day=9"], "shocks.0.day is 8 in the file and 9 here"),
        (["--set", "shocks=[]"], r"shocks.0.day is 8 in the file and absent here (and 3 more)"),
        (["--replicates", "3", "--seed", "2"], "seed is 1 in the file and 2 here (and 1 more)"),
        (["--set", "record.agent=2"], "record.agent is 1 in the file and 2 here"),
    ],
)
def test_another_configuration_is_refused(changes, named, stopped, shell):
    code, out, err = shell("run", "run.yaml", "--resume", *changes)
    assert (code, out) == (4, "")
    assert err.startswith("run.h5 was made with another configuration: ")
    assert named in err
    assert len(err.splitlines()) == 2


def test_another_model_version_is_refused(stopped, shell, monkeypatch):
    monkeypatch.setattr(Economy, "version", "2")
    code, _, err = shell("run", "run.yaml", "--resume")
    assert code == 4
    assert err.startswith("run.h5 was made by model version 1, this is 2: ")
    assert len(err.splitlines()) == 2


def test_refusals_come_before_kernels_are_built(stopped, shell, monkeypatch):
    monkeypatch.setattr(run, "engine_of", None)  # calling it would be an error
    assert shell("run", "run.yaml", "--resume", "--seed", "3")[0] == 4
    assert shell("run", "run.yaml", "--resume", "--out", "missing.h5")[0] == 4
    assert shell("run", "run.yaml", "--out", "missing/run.h5")[0] == 4
    assert shell("run", "run.yaml")[0] == 4
    (stopped.parent / "text.h5").write_text("precious")
    assert shell("run", "run.yaml", "--resume", "--out", "text.h5")[0] == 4
    assert (stopped.parent / "text.h5").read_text() == "precious"


def test_a_missing_device_does_not_harm_the_file(stopped, shell):
    code, _, err = shell("run", "run.yaml", "--resume", "--device", "abacus")
    assert code == 3
    assert "abacus" in err


@pytest.fixture
def stopped(folder):
    """Return a file that ends in the middle and must not be touched; checked after the test."""
    path = folder / "run.h5"
    with pytest.raises(Stop):
        societies.run(load_config("run.yaml"), device="reference", out=path, progress=stop_at(1))
    before = path.read_bytes()
    yield path
    assert path.read_bytes() == before


# -- interrupted ---------------------------------------------------------------------------------


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def interrupting(monkeypatch, owner, name, call=1, times=1):
    """Press Ctrl-C at the beginning of one call of a function."""
    original, calls = getattr(owner, name), []

    def wrapper(*arguments, **options):
        calls.append(name)
        if len(calls) == call:
            for _ in range(times):
                interrupt()
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, wrapper)


def continues(err, shell, monkeypatch, expected):
    """Type the command that the message proposes, and compare what comes out."""
    monkeypatch.undo()
    first, second = err.splitlines()
    assert first.startswith("interrupted ")
    assert first.endswith(" in run.h5")
    command = shlex.split(second.removeprefix("continue with: "))
    assert command[0] == "societies"
    assert "--resume" in command
    os.chdir(Path("run.yaml").parent)
    assert shell(*command[1:])[0] == 0
    assert everything("run.h5") == expected


def test_ctrl_c_while_kernels_are_built_writes_nothing(shell, monkeypatch, folder):
    (folder / "run.h5").write_text("precious")
    for times in (1, 2):
        with monkeypatch.context() as patch:
            interrupting(patch, run, "engine_of", times=times)
            code, out, err = shell("run", "run.yaml", "--overwrite")
        assert (code, out) == (130, "")
        assert err == "interrupted before day 1; nothing was written\n"
        assert (folder / "run.h5").read_text() == "precious"
        assert len(list(folder.iterdir())) == 2


@pytest.mark.thorough
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    ("owner", "name", "call"),
    [
        (DeviceEngine, "start", 1),
        (DeviceEngine, "run_ticks", 1),
        (DeviceEngine, "run_ticks", 10),
        (ResultFile, "commit", 10),
        (ResultFile, "checkpoint", 2),
    ],
    ids=lambda item: getattr(item, "__name__", str(item)),
)
def test_ctrl_c_says_how_to_continue(owner, name, call, times, whole, shell, monkeypatch, folder):
    with monkeypatch.context() as patch:
        if owner is ResultFile:  # each day is written at once
            patch.setattr(blocks, "_next_length", lambda ticks, seconds: 1)
            patch.setattr(blocks, "RAREST_SECONDS", 0.0)
            start = blocks.Simulation._start_writing

            def awaited(simulation):  # no later day is computed meanwhile
                start(simulation)
                wait([simulation._writing])

            patch.setattr(blocks.Simulation, "_start_writing", awaited)
        interrupting(patch, owner, name, call, times)
        code, out, err = shell("run", "run.yaml", "--set", "seed=1", "--overwrite")
    assert (code, out) == (130, "")
    with societies.open_results("run.h5") as data:
        days = data.sizes["day"]
    reported = (
        f"after day {days} of {SHORT}; all of it is" if days else "before day 1; the start is"
    )
    assert err.splitlines()[0] == f"interrupted {reported} in run.h5"
    if times == 1:  # the day was finished and all of it stored
        with ResultFile.resume("run.h5") as continued:
            assert (continued.latest_checkpoint() or [0])[0] == days  # of the start there is none
    assert err.splitlines()[1] == "continue with: societies run run.yaml --set seed=1 --resume"
    continues(err, shell, pytest.MonkeyPatch(), whole)


def test_ctrl_c_on_the_last_day_comes_too_late(whole, shell, monkeypatch, folder):
    interrupting(monkeypatch, DeviceEngine, "run_ticks", SHORT)
    assert shell("run", "run.yaml", "-q") == (0, "run.h5\n", "")
    assert everything("run.h5") == whole


def test_ctrl_c_in_the_library(folder):
    config = load_config("run.yaml")
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted) as caught:
        societies.run(config, out="run.h5", progress=lambda day, _: day == 5 and interrupt())
    assert caught.value.path == Path("run.h5")
    assert caught.value.exit_code == 130
    with societies.open_results("run.h5") as data:
        assert data.sizes["day"] == 6
    # A day is reported when the device has begun the next one, which is finished.
    assert str(caught.value).startswith("interrupted after day 6 of 20")
    assert signal.getsignal(signal.SIGINT) == before


def test_ctrl_c_is_not_meant_for_those_in_the_background(folder):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for `command &`
    try:
        societies.run(
            load_config("run.yaml"), out="run.h5", progress=lambda day, _: day == 5 and interrupt()
        )
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.ci
@pytest.mark.sample
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_in_a_process_of_its_own(times, folder):
    words = ["run", "run.yaml", "--days", "100000", "--set", "record={society: 1000}"]
    child = process(*words)
    try:  # a process that is interrupted before Python is ready has nothing to say
        while not (folder / "run.h5").exists():
            assert child.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        for _ in range(times):
            child.send_signal(signal.SIGINT)
            time.sleep(0.01)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (child.returncode, out) == (130, "")
    first, second = err.splitlines()
    assert re.fullmatch(r"interrupted (after|before) day .* in run\.h5", first)
    assert second == f"continue with: {shlex.join(['societies', *words, '--resume'])}"
    with xr.open_dataset("run.h5") as data:
        assert data.sizes["day"] == 100


LATE = """
import atexit, os, signal, sys
from societies import __main__, signals
from societies.workload.running.engines import DeviceEngine

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)

def late(last_words=signals.last_words, again=[]):
    if {before} and not again:  # the one that comes before is reported in its turn
        again.append(1)
        interrupt()
    last_words()
    interrupt()

def run_ticks(self, first, last, run=DeviceEngine.run_ticks):
    if first == 4:
        interrupt()
    return run(self, first, last)

signals.last_words, DeviceEngine.run_ticks = late, run_ticks
atexit.register(interrupt)
sys.argv = ["societies", "run", "run.yaml"]
__main__.command()
"""


@pytest.mark.ci
@pytest.mark.parametrize("before", [False, True])
def test_ctrl_c_again_while_the_first_one_is_reported(before, folder):
    root = str(Path(societies.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", LATE.format(before=before)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (130, "")
    first, second = done.stderr.splitlines()
    assert re.fullmatch(r"interrupted after day .* in run\.h5", first)
    assert second == "continue with: societies run run.yaml --resume"


def test_ctrl_c_while_the_command_is_imported():
    code = (
        "import os, signal, sys, types\n"
        "from societies.__main__ import command\n"
        "class Impatient(types.ModuleType):\n"
        "    def __getattr__(self, name):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.modules['typer'] = Impatient('typer')\n"
        "command()\n"
    )
    root = str(Path(societies.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        130,
        "",
        "interrupted; this command writes no file\n",
    )
