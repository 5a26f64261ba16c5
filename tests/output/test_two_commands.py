"""Two writers of one path as users have them: two commands, each a process of its own."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from societies.output import inspect

COMMAND = (sys.executable, "-m", "societies")
LONG = """workload: boltzmann
agents: 4
days: 1000000
replicates: 1
record: {detail: 0, checkpoint: 50}
"""
SHORT = LONG.replace("1000000", "3")
SWEEP = """workload: sweep
base: long.yaml
vary: {grid: {money: [10, 20, 30]}}
"""
ON = ("--device", "reference", "-q")
REFUSED = ("another run is writing it", "is open elsewhere", "a sweep is writing it", "exists")

pytestmark = pytest.mark.ci


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "long.yaml").write_text(LONG)
    (tmp_path / "short.yaml").write_text(SHORT)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    (tmp_path / "quick.yaml").write_text(SWEEP.replace("long", "short"))
    return tmp_path


def start(folder, *words):
    # a shell that runs the tests in the background ignores SIGINT, and so would the command
    return subprocess.Popen(
        [*COMMAND, *words, *ON],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@contextmanager
def writing(folder, *words):
    """Start a command that writes out.h5 for long; at the end interrupt it, which saves."""
    process, path = start(folder, *words), folder / "out.h5"
    before = path.stat().st_mtime_ns if path.exists() else 0
    try:
        end = time.monotonic() + 120
        while not path.exists() or path.stat().st_mtime_ns == before:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.05)
        yield process
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=120)
    assert process.returncode == 130, said


def run(folder, *words):
    process = start(folder, *words)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


OTHERS = [
    ("run", "short.yaml", "--out", "out.h5"),
    ("run", "short.yaml", "--out", "out.h5", "--overwrite"),
    ("run", "long.yaml", "--out", "out.h5", "--resume"),
    ("sweep", "quick.yaml", "--out", "out.h5"),
    ("sweep", "quick.yaml", "--out", "out.h5", "--overwrite"),
    ("sweep", "sweep.yaml", "--out", "out.h5", "--resume"),
]


@pytest.mark.parametrize(
    ("first", "others"),
    [
        (("run", "long.yaml"), OTHERS[:2]),
        (("run", "long.yaml", "--overwrite"), OTHERS[1:3]),
        (("sweep", "sweep.yaml", "--batch", "1"), OTHERS[3:]),
    ],
    ids=["run", "run over a file", "sweep"],
)
def test_a_command_is_refused_a_file_that_another_writes(folder, first, others):
    path = folder / "out.h5"
    with writing(folder, *first, "--out", "out.h5"):
        number = path.stat().st_ino
        for words in others:
            code, out, err = run(folder, *words)
            assert code == 4 and out == "", (words, out, err)
            assert "out.h5" in err and any(one in err for one in REFUSED), (words, err)
            assert "Traceback" not in err and len(err.strip().split("\n")) <= 3, (words, err)
            assert path.stat().st_ino == number
    assert inspect(path, check=True).damages == []
    assert not [one for one in os.listdir(folder) if one.endswith((".part", ".tmp"))]


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)], ids=["", "overwrite"])
def test_of_two_commands_at_once_one_writes_the_file(folder, overwrite):
    """Neither waits for the other: they start together."""
    configs = {f"{seed}.yaml": SHORT + f"seed: {seed}\n" for seed in (1, 2)}
    for name, text in configs.items():
        (folder / name).write_text(text)
    for _ in range(2):
        processes = [start(folder, "run", n, "--out", "out.h5", *overwrite) for n in configs]
        said = [one.communicate(timeout=120) for one in processes]
        codes = [one.returncode for one in processes]
        # with --overwrite both may write, one after the other; else one alone
        assert sorted(codes) in ([[0, 4], [0, 0]] if overwrite else [[0, 4]]), said
        assert all(err == "" for (_, err), code in zip(said, codes, strict=True) if not code), said
        found = inspect(folder / "out.h5", check=True)
        assert found.damages == []
        assert sorted(os.listdir(folder)) == sorted(
            [*configs, "long.yaml", "short.yaml", "sweep.yaml", "quick.yaml", "out.h5"]
        )
        (folder / "out.h5").unlink()


def test_a_table_is_not_written_over_a_file_that_a_run_writes(folder):
    """`export` has a name of its own for its result, which may be that of a run."""
    run(folder, "run", "short.yaml", "--out", "done.h5")
    with writing(folder, "run", "long.yaml", "--out", "out.h5"):
        number = (folder / "out.h5").stat().st_ino
        process = subprocess.run(
            [*COMMAND, "export", "done.h5", "--out", "out.h5"],
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        assert process.returncode != 0, process
        assert (folder / "out.h5").stat().st_ino == number
    assert inspect(folder / "out.h5", check=True).damages == []
