"""Failures: one clear OutputError, nothing left behind, and an existing file never touched."""

import errno
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
import xarray as xr

from societies import config_from_dict, run
from societies.errors import OutputError
from societies.output import (
    Coordinate,
    ResultFile,
    Variable,
    files,
    lock,
    making,
    open_results,
    resultfile,
)
from societies.output.disk import Disk
from societies.output.layout import declare
from societies.output.stored_seal import MAGIC
from societies.workload.running.engines import ReferenceEngine

DECLARED = {
    "coordinates": [
        Coordinate("society", np.arange(10)),
        Coordinate("day", np.arange(1, 101), "day"),
        Coordinate("agent", np.arange(100)),
    ],
    "variables": [
        Variable("gini", ("society", "day"), np.float64, "1", "Gini"),
        Variable("held", ("society", "day", "agent"), np.float64, "units", "units held"),
    ],
    "attributes": {"agents": 100},
    "state": {"held": ((10, 100), np.int32)},
}
PROGRAM = """
import os, resource, signal, sys
import numpy as np
from societies.errors import OutputError
from societies.output import Coordinate, ResultFile, Variable
from societies.output.layout import declare
declared = dict(
    coordinates=[Coordinate("day", np.arange(1, 101)), Coordinate("agent", np.arange(1000))],
    variables=[Variable("held", ("day", "agent"), "f8", "units", "units held")],
    attributes={}, state={"held": ((1000,), np.int32)},
)
"""


def python(program, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM + program, *map(str, arguments)],
        capture_output=True,
        text=True,
        **options,
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.h5"


@pytest.fixture
def existing(path):
    """Return a file that must not be touched; checked after the test."""
    path.write_bytes(b"precious")
    before = path.stat()
    yield path
    assert path.read_bytes() == b"precious"
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert list(path.parent.iterdir()) == [path]


def assert_clear(error, path, *words):
    text = str(error)
    assert text.startswith(str(path)) and len(text.splitlines()) <= 2
    assert text.rstrip().endswith(".")
    for word in words:
        assert word in text, text


def test_existing_file_is_refused(existing):
    with pytest.raises(OutputError) as caught:
        ResultFile.create(existing, declare(**DECLARED))
    assert_clear(caught.value, existing, "exists already", "resume=True", "overwrite=True")
    assert caught.value.exit_code == 4


def test_a_run_that_fails_in_its_first_tick_leaves_its_name_free(path, monkeypatch):
    """A mistake in a model of one's own: the next run needs neither --overwrite nor --resume."""
    config = config_from_dict({"workload": "boltzmann", "agents": 4, "days": 3})
    whole = ReferenceEngine.run_ticks

    def failing(first):
        def run_ticks(engine, tick, *more):
            if tick >= first:
                raise ZeroDivisionError("a mistake in a phase")
            return whole(engine, tick, *more)

        return run_ticks

    with monkeypatch.context() as patch:
        patch.setattr(ReferenceEngine, "run_ticks", failing(0))
        with pytest.raises(ZeroDivisionError):
            run(config, device="reference", out=path)
    assert not path.exists() and not list(path.parent.iterdir())
    run(config, device="reference", out=path)
    with monkeypatch.context() as patch:
        patch.setattr(ReferenceEngine, "run_ticks", failing(0))
        with pytest.raises(ZeroDivisionError):
            run(config, device="reference", out=path, overwrite=True)
    with open_results(path) as data:  # the earlier one
        assert data.sizes["day"] == 3


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_replaced(existing, links, monkeypatch):
    """The first look finds nothing; the name is taken when the file is placed."""
    monkeypatch.setattr(resultfile, "require_target", lambda *a, **k: None)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(OutputError) as caught:
        ResultFile.create(existing, declare(**DECLARED))
    assert_clear(caught.value, existing, "exists already")


def no_links(*_):
    raise PermissionError(errno.EPERM, "no hard links here")


def test_a_file_system_without_hard_links_will_do(path, monkeypatch):
    monkeypatch.setattr(os, "link", no_links)
    with ResultFile.create(path, declare(**DECLARED)) as file:
        file.commit(1)
    assert list(path.parent.iterdir()) == [path]
    with open_results(path) as data:
        assert data.sizes["day"] == 1


def test_a_file_removed_before_its_maker_locked_it_is_made_again(path, monkeypatch):
    """Until it is locked, a new file looks like what a killed process left behind."""
    acquire, removed = lock.acquire, []

    def late(descriptor, **how):
        monkeypatch.setattr(lock, "acquire", acquire)
        removed.extend(lock.remove_stale(path))
        return acquire(descriptor, **how)

    monkeypatch.setattr(lock, "acquire", late)
    ResultFile.create(path, declare(**DECLARED)).close()
    assert len(removed) == 1
    assert list(path.parent.iterdir()) == [path]


def test_a_process_started_while_a_file_is_made_does_not_keep_its_lock(path, monkeypatch):
    """It inherits what HDF5 has open at that moment, and keeps it until it ends."""
    children, build = [], making.build

    def with_a_child(*arguments):
        command = [sys.executable, "-c", "input()"]
        children.append(subprocess.Popen(command, stdin=subprocess.PIPE, close_fds=False))
        return build(*arguments)

    monkeypatch.setattr(making, "build", with_a_child)
    try:
        with ResultFile.create(path, declare(**DECLARED)) as file:
            file.commit(1)
    finally:
        children[0].communicate(b"\n")
    with open_results(path) as data:
        assert data.sizes["day"] == 1


def test_of_many_that_start_at_once_exactly_one_makes_the_file(path):
    barrier, outcomes = threading.Barrier(6), []

    def attempt():
        barrier.wait()
        try:
            ResultFile.create(path, declare(**DECLARED)).close()
            outcomes.append("made")
        except OutputError as error:
            outcomes.append("exists" if "exists already" in str(error) else str(error))

    threads = [threading.Thread(target=attempt) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["exists"] * 5 + ["made"]
    assert list(path.parent.iterdir()) == [path]


def test_overwrite_replaces(path):
    path.write_bytes(b"old")
    with ResultFile.create(path, declare(**DECLARED), overwrite=True) as file:
        file.commit(1)
        with open_results(path) as data:
            assert data.sizes["day"] == 1
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.ci
def test_a_run_without_ticks_replaces_too(path):
    for cells in (3, 2):
        asked = {"workload": "molecular_dynamics", "steps": 0, "cells": cells, "density": 0.3}
        config = config_from_dict(asked | {"cutoff": 1.2})
        run(config, device="reference", out=path, overwrite=True)
        with open_results(path) as data:
            assert data.sizes["atom"] == 4 * cells**3
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.sample
@pytest.mark.parametrize("how", ["closed", "killed"])
def test_overwrite_that_reaches_no_day_changes_nothing(path, how):
    with ResultFile.create(path, declare(**DECLARED)) as file:
        file.commit(3)
    before, inode = path.read_bytes(), path.stat().st_ino
    program = """
file = ResultFile.create(sys.argv[1], declare(**declared), overwrite=True)
file.log_session("about to begin")
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
file.close()
"""
    python(program, path, how)
    assert (path.read_bytes(), path.stat().st_ino) == (before, inode)
    # What a killed process leaves behind is removed by the next one that writes here.
    left = [p.suffix for p in path.parent.iterdir()]
    assert sorted(left) == [".h5"] + [".partial"] * (how == "killed")
    ResultFile.resume(path).close()
    assert list(path.parent.iterdir()) == [path]


def test_partial_files_of_the_living_and_of_others_stay(path):
    program = """
file = ResultFile.create(sys.argv[1], declare(**declared), overwrite=True)
print("made", flush=True)
sys.stdin.readline()
"""
    path.write_bytes(b"old")
    others = [
        "run.h5.partial",
        "run.0123.partial",
        "other.01234567.partial",
        "run.1234567g.partial",
    ]
    for name in others:
        (path.parent / name).write_bytes(b"mine")
    stale = path.parent / "run.01234567.partial"
    stale.write_bytes(b"of a killed process")
    command = [sys.executable, "-c", PROGRAM + program, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as maker:
        maker.stdout.readline()
        assert not stale.exists()
        # A second one that wants to replace the same file is refused, and harms no other.
        with pytest.raises(OutputError) as caught:
            ResultFile.create(path, declare(**DECLARED), overwrite=True)
        assert_clear(caught.value, path, "another run is writing it")
        with pytest.raises(OutputError):
            ResultFile.create(path, declare(**DECLARED))
        unplaced = {p.name for p in path.parent.iterdir()} - {*others, "run.h5"}
        assert len(unplaced) == 1 and path.read_bytes() == b"old"
        maker.stdin.close()
    assert {p.name for p in path.parent.iterdir()} >= {*others, "run.h5"}


@pytest.mark.parametrize("kind", ["folder", "pipe", "missing folder", "folder is a file"])
def test_places_where_no_file_can_be(tmp_path, kind):
    path = tmp_path / "thing"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "missing folder":
        path = path / "run.h5"
    else:
        path.write_text("")
        path = path / "run.h5"
    for overwrite in (False, True):
        with pytest.raises(OutputError) as caught:
            ResultFile.create(path, declare(**DECLARED), overwrite=overwrite)
        assert_clear(caught.value, path, "the argument out", "not")
    with pytest.raises(OutputError):
        ResultFile.resume(tmp_path)


def test_a_folder_without_write_permission(tmp_path):
    """As root, who may write everywhere, the program becomes another user first."""
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "old.h5").write_bytes(b"precious")
    folder.chmod(0o555)
    done = python(
        """
import h5py._hl.dims, multiprocessing.util
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
for overwrite in (False, True):
    for name in ("run.h5", "old.h5"):
        try:
            ResultFile.create(name, declare(**declared), overwrite=overwrite)
        except OutputError as error:
            print(error)
""",
        folder,
    )
    folder.chmod(0o755)
    assert done.stderr == ""
    refusals = done.stdout.splitlines()
    assert len(refusals) == 4, refusals
    for number in (0, 2, 3):
        assert "no permission" in refusals[number]
    assert "exists already" in refusals[1]
    assert [p.name for p in folder.iterdir()] == ["old.h5"]
    assert (folder / "old.h5").read_bytes() == b"precious"


@pytest.mark.ci
@pytest.mark.parametrize("limit", [1, 4096, 300_000, 805_000])
def test_largest_file_size_reached_while_the_file_is_made(existing, limit):
    """The system itself refuses to write, at the first bytes, amid fill values, near the end."""
    done = python(
        """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    ResultFile.create(sys.argv[1], declare(**declared), overwrite=True)
except OutputError as error:
    print(error)
print(sorted(os.listdir(os.path.dirname(sys.argv[1]))))
""",
        existing,
        limit,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    message, folder = done.stdout.splitlines()
    assert_clear(message, existing, "ulimit", "the argument out")
    assert folder == "['run.h5']"


@pytest.mark.mount
@pytest.mark.parametrize("forewarned", [True, False])
@pytest.mark.parametrize("overwrite", [True, False])
def test_full_disk(small_disk, forewarned, overwrite, monkeypatch):
    if not forewarned:  # as when others fill the disk while the file is made
        plenty = SimpleNamespace(total=10**12, free=10**12)
        monkeypatch.setattr(files, "shutil", SimpleNamespace(disk_usage=lambda _: plenty))
    path = small_disk / "run.h5"
    (small_disk / "filler").write_bytes(bytes(600 * 1024))
    if overwrite:
        path.write_bytes(b"precious")
    with pytest.raises(OutputError) as caught:
        ResultFile.create(path, declare(**DECLARED), overwrite=overwrite)
    assert_clear(caught.value, path, "the disk is full", "the argument out")
    assert sorted(os.listdir(small_disk)) == ["filler"] + ["run.h5"] * overwrite
    if overwrite:
        assert path.read_bytes() == b"precious"
    free = os.statvfs(small_disk)
    assert free.f_bavail * free.f_frsize > 550_000  # no open handle holds the space


@pytest.mark.mount
def test_after_creation_a_full_disk_does_no_harm(small_disk):
    """All space is claimed at the start: a run that has begun continues to its end."""
    declared = DECLARED | {"variables": DECLARED["variables"][:1]}
    path = small_disk / "run.h5"
    with ResultFile.create(path, declare(**declared)) as file:
        with pytest.raises(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        file.write("gini", np.ones((10, 100)))
        file.commit(100)
        file.checkpoint(100, {"held": np.ones((10, 100), np.int32)})
        assert file.latest_checkpoint()[0] == 100
    with open_results(path) as data:
        assert (data.gini == 1).all()


@pytest.mark.ci
@pytest.mark.mount
@pytest.mark.parametrize("size", [96, 200, 400, 700, 900, 1000, 1100])
def test_hdf5_itself_meets_a_full_disk(small_disk, size):
    """As where the system cannot set space aside: HDF5 fails midway, and the process lives on."""
    (small_disk / "filler").write_bytes(bytes(1024 * max(0, 1200 - size)))
    done = python(
        """
import gc, shutil
from types import SimpleNamespace
from societies.output import files, making
files.shutil = SimpleNamespace(disk_usage=lambda _: SimpleNamespace(total=10**12, free=10**12))
making.claim = lambda *_: None
try:
    ResultFile.create(sys.argv[1], declare(**declared)).close()
    print("made")
except OutputError as error:
    print(error)
gc.collect()
""",
        small_disk / "run.h5",
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    left = sorted(os.listdir(small_disk))
    if done.stdout == "made\n":
        assert left == ["filler", "run.h5"] and size >= 900
    else:
        assert_clear(done.stdout, small_disk / "run.h5", "the disk is full")
        assert left == ["filler"] and size <= 1000


@pytest.mark.ci
@pytest.mark.parametrize("limit", [1, 3000, 100_000, 400_000, 806_000, 810_000])
def test_a_run_that_cannot_continue_writing_keeps_its_committed_days(path, limit):
    """The system refuses writes beyond a limit, wherever in the file it lies."""
    done = python(
        """
import gc
ResultFile.create(sys.argv[1], declare(**declared)).close()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = ResultFile.resume(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    for day in range(1, 101):
        file.write("held", np.full(1000, float(day)), day=day - 1)
        file.commit(day)
        file.checkpoint(day, {"held": np.full(1000, day, np.int32)})
except OutputError as error:
    print(file.ticks_committed, error)
try:
    file.write("held", np.zeros(1000), day=99)
except OutputError as error:
    print(error)
file.close()
del file
gc.collect()
""",
        path,
        limit,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    reported, closed = done.stdout.splitlines()
    day, message = reported.split(" ", 1)
    assert_clear(message, path, "ulimit")
    assert_clear(closed, path, "closed")
    with open_results(path) as data:
        assert data.sizes["day"] == int(day)
        assert data.held.mean("agent").values.tolist() == list(range(1, int(day) + 1))
    with ResultFile.resume(path) as file:
        found = file.latest_checkpoint()
        if int(day) > 1:
            assert found is not None
        if found:
            assert found[0] >= int(day) - 1 and (found[1]["held"] == found[0]).all()


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "the disk's quota is used up")],
)
def test_a_write_that_the_disk_refuses(number, said, path, monkeypatch):
    file = ResultFile.create(path, declare(**DECLARED))
    file.commit(3)

    def full(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Disk, "sync", full)
    with pytest.raises(OutputError) as caught:
        file.commit(4)
    assert_clear(caught.value, path, said)
    assert file.ticks_committed == 3
    file.close()
    with open_results(path) as data:
        assert data.sizes["day"] == 3


def test_a_file_that_another_process_writes(path):
    program = (
        PROGRAM
        + """
with ResultFile.create(sys.argv[1], declare(**declared)) as file:
    for day in (1, 2, 3):
        file.write("held", np.full(1000, float(day)), day=day - 1)
        file.commit(day)
        print(day, flush=True)
        sys.stdin.readline()
"""
    )
    command = [sys.executable, "-c", program, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        for day in (1, 2, 3):
            assert int(writer.stdout.readline()) == day
            with pytest.raises(OutputError) as caught:
                ResultFile.resume(path)
            assert_clear(caught.value, path, "open elsewhere", "try again")
            with pytest.raises(OutputError) as caught:
                ResultFile.create(path, declare(**DECLARED), overwrite=True)
            assert_clear(caught.value, path, "another run is writing it")
            with open_results(path) as data, open_results(path) as again:
                assert data.held.mean("agent").values.tolist() == list(range(1, day + 1))
                assert again.identical(data)
                with pytest.raises(OutputError) as caught:
                    ResultFile.resume(path)
                assert_clear(caught.value, path, "open elsewhere", "try again")
            with xr.open_dataset(path) as data, h5py.File(path) as raw:
                assert int(data.ticks_committed) == day
                assert data.held.isel(day=slice(day)).mean("agent").values.tolist() == list(
                    range(1, day + 1)
                )
                assert np.isnan(data.held.isel(day=slice(day, None))).all()
                assert (raw["held"][day - 1] == day).all()
            writer.stdin.write(b"\n")
            writer.stdin.flush()
    assert writer.returncode == 0
    ResultFile.resume(path).close()


def test_a_file_that_is_open_for_reading_can_be_resumed(path):
    ResultFile.create(path, declare(**DECLARED)).close()
    reader = "import h5py, sys; file = h5py.File(sys.argv[1]); print(1, flush=True); input()"
    command = [sys.executable, "-c", reader, path]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as elsewhere,
        open_results(path),
        xr.open_dataset(path) as data,
        h5py.File(path) as raw,
    ):
        elsewhere.stdout.readline()
        with ResultFile.resume(path) as file:
            file.write("gini", np.ones(10), day=0)
            file.commit(1)
            assert (raw["gini"][:, 0] == 1).all() and np.isnan(raw["gini"][:, 1:]).all()
            assert (data.gini[:, 0] == 1).all()
        elsewhere.stdin.close()


def test_two_writers_in_one_process(path):
    with ResultFile.create(path, declare(**DECLARED)) as file:
        file.commit(1)
        before = path.read_bytes()
        with pytest.raises(OutputError) as caught:
            ResultFile.resume(path)
        assert_clear(caught.value, path, "open elsewhere", "try again")
        with pytest.raises(OutputError) as caught:
            ResultFile.create(path, declare(**DECLARED), overwrite=True)
        assert_clear(caught.value, path, "another run is writing it")
        assert path.read_bytes() == before
        file.commit(2)
    with open_results(path) as data:
        assert data.sizes["day"] == 2


@pytest.mark.parametrize("content", ["text", "nothing", "other hdf5", "half", "future layout"])
def test_files_that_are_not_ours_or_damaged(path, content):
    if content == "text":
        path.write_text("agents: 4\n")
    elif content == "nothing":
        path.write_bytes(b"")
    elif content == "other hdf5":
        with h5py.File(path, "w") as file:
            file["a"] = 1
    else:
        ResultFile.create(path, declare(**DECLARED)).close()
        if content == "half":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        else:
            with h5py.File(path, "r+") as file:
                file.attrs["societies_layout"] = 99
            path.write_bytes(path.read_bytes().replace(MAGIC, MAGIC.replace(b"seal", b"SEAL")))
    before = path.read_bytes()
    for opening in (ResultFile.resume, open_results):
        with pytest.raises(OutputError) as caught:
            opening(path)
        says = {"future layout": "has file layout 99", "half": "damaged: length of the file"}
        assert_clear(caught.value, path, says.get(content, "not a result file"))
    assert path.read_bytes() == before


def test_missing_files_and_folders(path):
    for opening in (ResultFile.resume, open_results):
        with pytest.raises(OutputError) as caught:
            opening(path)
        assert_clear(caught.value, path, "does not exist")
        with pytest.raises(OutputError) as caught:
            opening(path.parent)
        assert_clear(caught.value, path.parent, "is a folder")


def test_interrupted_while_the_file_is_made(existing, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Disk, "sync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ResultFile.create(existing, declare(**DECLARED), overwrite=True)
