"""What do people meet who run an economy from a shell: results, refusals, mistakes, differences?"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import societies
from societies.errors import Interrupted
from societies.workload.running.engines import DeviceEngine

RUN = """
workload: economy
agents: 6
resources: 8
days: 4
shocks: [{day: 2, remove: resource, index: random, holdings: lose}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text(RUN)
    return tmp_path


def in_a_shell(line):
    """Run a line of bash in which ``societies`` is the command."""
    command = f"{sys.executable} -m societies"
    environment = {**os.environ, "PYTHONPATH": str(Path(societies.__file__).parents[1])}
    return subprocess.run(
        ["bash", "-c", line.replace("societies", command)],
        env=environment,
        capture_output=True,
        text=True,
    )


def assert_refused(result, code, *words):
    """Check an error: its exit code, one or two lines on stderr, nothing else."""
    assert result[0] == code, result
    assert result[1] == ""
    assert 1 <= len(result[2].splitlines()) <= 2, result[2]
    assert "Traceback" not in result[2]
    for word in words:
        assert word in result[2], result[2]


# -- results -------------------------------------------------------------------------------------


@pytest.mark.ci
def test_a_society_of_an_ensemble_is_the_same_alone(shell):
    assert shell("run", "run.yaml", "--replicates", "8", "-q") == (0, "run.h5\n", "")
    with xr.open_dataset("run.h5") as data:
        ensemble = data.load()
    assert ensemble.society.values.tolist() == list(range(8))
    assert len(np.unique(ensemble.utility[:, -1])) == 8
    for k in (0, 3, 7):
        alone = ["--set", f"first_society={k}", "--out", f"{k}.h5", "-q"]
        assert shell("run", "run.yaml", *alone) == (0, f"{k}.h5\n", "")
        with xr.open_dataset(f"{k}.h5") as data:
            xr.testing.assert_identical(data.drop_attrs(), ensemble.sel(society=[k]).drop_attrs())


@pytest.mark.parametrize("device", ["auto", "reference"])
def test_a_dry_run_writes_nothing(device, shell, folder):
    code, out, err = shell("run", "run.yaml", "--replicates", "8", "--device", device, "--dry-run")
    assert (code, err) == (0, "")
    for row in (
        r"societies +8 \(numbers 0 to 7\)",
        r"agents x resources +6 x 8",
        r"days +4",
        r"results in the file +[0-9.]+ [KM]?i?B",
        rf"output +{re.escape(str(folder / 'run.h5'))}",
    ):
        assert re.search(rf"^{row}$", out, re.M), out
    assert os.listdir() == ["run.yaml"]


@pytest.mark.ci
def test_verify_finds_nothing(shell):
    code, out, _ = shell("verify", "run.yaml", "--days", "2", "--replicates", "2")
    assert code == 0
    assert re.match(
        r"identical: 2 days, \d+ arrays\nall 10 phases acted: .*\d units extracted", out
    )
    assert os.listdir() == ["run.yaml"]


@pytest.mark.ci
def test_verify_begins_with_the_checkpoint_of_a_result(shell, monkeypatch):
    assert shell("run", "run.yaml", "--days", "2", "--out", "two.h5", "-q")[0] == 0
    code, out, _ = shell("verify", "run.yaml", "--from", "two.h5")
    assert code == 0
    assert re.match(r"identical: 2 days from day 3 on, \d+ arrays\nall 7 phases acted: ", out)

    days = []
    original = DeviceEngine.step
    monkeypatch.setattr(
        DeviceEngine, "step", lambda s, step, day: (days.append(day), original(s, step, day))
    )
    assert shell("verify", "run.yaml", "--from", "two.h5", "--days", "1")[0] == 0
    assert set(days) == {3}


@pytest.mark.sample
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--days", "3"], 2, "--set days=5"),
        (["--set", "agents=7"], 4, "agents is 6 in the file and 7 here"),
        (["--set", "days=2"], 2, "the checkpoint is of day 2, the configuration has 2 days"),
    ],
)
def test_verify_refuses_a_checkpoint_that_does_not_fit(words, code, said, shell):
    assert shell("run", "run.yaml", "--days", "2", "--out", "two.h5", "-q")[0] == 0
    assert_refused(shell("verify", "run.yaml", "--from", "two.h5", *words), code, said)


def test_verify_refuses_a_file_that_is_no_result(shell, folder):
    assert_refused(shell("verify", "run.yaml", "--from", "none.h5"), 4, "none.h5")
    (folder / "text.h5").write_text("no HDF5")
    assert_refused(shell("verify", "run.yaml", "--from", "text.h5"), 4, "text.h5")


@pytest.mark.sample
@pytest.mark.parametrize(
    ("phase", "day", "array", "index", "change"),
    [
        ("extraction", 2, "held", (0, 3, 5), lambda x: x + 1),
        ("trading", 1, "value", (0, 5, 7), lambda x: np.nextafter(x, 9e9)),
        ("society_statistics", 3, "series", (0, 0), lambda x: -x),
        ("consumption", 1, "stream", (0, 6, 15), lambda x: x ^ np.uint64(1)),
        ("shocks", 2, "experience", (0, 1, 0), lambda x: np.nan),
        ("draw_shocks", 0, "available", (0, 7), lambda x: 0),
    ],
)
def test_verify_names_the_first_difference(phase, day, array, index, change, shell, monkeypatch):
    original, values = DeviceEngine.step, []

    def sabotaged(self, step, today):
        original(self, step, today)
        if (step.phase, step.round, today) == (phase, 0, day) and not values:
            content = self._state[array].get()
            before = content[index].item()
            content[index] = change(content[index])
            values.extend([content[index].item(), before])
            self._state[array].set(content)

    monkeypatch.setattr(DeviceEngine, "step", sabotaged)
    code, out, err = shell("verify", "run.yaml")
    assert code == 1 and "Traceback" not in err  # on a slow machine err tells the progress
    where = f"{phase} (round 0)" if phase == "trading" else phase
    assert out == (
        f"different: day {day}, phase {where}, array {array}, index {list(index)}: "
        f"device {values[0]!r}, reference {values[1]!r}\n"
    )


def test_verify_sees_the_sign_of_zero(shell, monkeypatch):
    original = DeviceEngine.step

    def sabotaged(self, step, day):
        original(self, step, day)
        if step.phase == "seed_streams":
            self._state["minutes"].set(np.full((1, 6), -0.0))

    monkeypatch.setattr(DeviceEngine, "step", sabotaged)
    code, out, _ = shell("verify", "run.yaml")
    assert code == 1
    assert out.endswith("array minutes, index [0, 0]: device -0.0, reference 0.0\n")


def test_verify_can_be_interrupted(shell, monkeypatch):
    def step(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(DeviceEngine, "step", step)
    code, out, err = shell("verify", "run.yaml")
    assert (code, out, err) == (130, "", "interrupted; this command writes no file\n")


# -- refusals ------------------------------------------------------------------------------------


def test_an_existing_file_is_not_touched(shell, folder):
    (folder / "run.h5").write_text("precious")
    before = (folder / "run.h5").stat()
    assert_refused(shell("run", "run.yaml"), 4, "run.h5", "--resume", "--overwrite", "--out")
    assert_refused(shell("run", "run.yaml", "--resume"), 4, "run.h5", "not a result file")
    assert_refused(shell("run", "run.yaml", "--overwrite", "--device", "abacus"), 3, "abacus")
    assert_refused(shell("run", "run.yaml", "--overwrite", "--days", "0"), 2, "days")
    after = (folder / "run.h5").stat()
    assert (folder / "run.h5").read_text() == "precious"
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(os.listdir()) == ["run.h5", "run.yaml"]


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("missing/run.h5", ["the folder 'missing' does not exist", "--out"]),
        ("run.yaml/run.h5", ["the folder 'run.yaml' does not exist", "--out"]),
        ("/proc/run.h5", ["cannot write here", "--out"]),
        (".", ["is not a file", "--out"]),
    ],
)
def test_places_where_nothing_can_be_written(out, words, shell):
    assert_refused(shell("run", "run.yaml", "--out", out), 4, *words)
    assert os.listdir() == ["run.yaml"]


@pytest.fixture
def mount(folder):
    """Return a function that mounts a small file system in this folder."""
    mounted = []

    def small(options):
        disk = folder / "disk"
        disk.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", options, "societies-test", str(disk)]
        if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("this user cannot mount a file system; see test_output_failures.py")
        mounted.append(disk)
        return disk

    yield small
    for disk in mounted:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.mount
def test_a_read_only_disk(mount, shell):
    mount("size=1m,ro")
    assert_refused(shell("run", "run.yaml", "--out", "disk/run.h5"), 4, "disk/run.h5", "--out")


@pytest.mark.mount
def test_a_full_disk(mount, shell):
    disk = mount("size=200k")
    for words in ([], ["--overwrite"]):
        (disk / "run.h5").unlink(missing_ok=True)
        if words:
            (disk / "run.h5").write_text("precious")
        refused = shell("run", "run.yaml", "--out", "disk/run.h5", *words)
        assert_refused(refused, 4, "disk/run.h5: the disk is full", "--out")
    assert (disk / "run.h5").read_text() == "precious"
    assert os.listdir(disk) == ["run.h5"]


@pytest.mark.mount
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["export", "run.h5", "--to", "netcdf", "--out", "disk"], "--out"),
        (["plot", "run.h5", "--out", "disk/p.pdf"], "--out"),
        (["validate", "targets.yaml", "run.h5", "--figure", "disk/v.png"], "--figure"),
        (["calibrate", "calibration.yaml", "--out", "disk/c.nc", "--device", "reference"], "--out"),
        (["new", "my_model", "--out", "disk"], "--out"),
    ],
    ids=lambda words: words[0],
)
def test_a_full_disk_is_said_whatever_is_written(words, named, mount, shell, folder):
    """HDF5 and matplotlib have errors of their own for it, or none."""
    small = {"workload": "economy", "agents": 2, "resources": 2, "days": 2}
    target = {"of": "gini", "target": 0, "scale": 1}
    societies.run(societies.config_from_dict(small), device="reference", out="run.h5")
    given = {"base": small, "targets": {"gini": target}}
    given["parameters"] = {"utility.exponent": {"low": 2, "high": 3}}
    given["method"] = {"abc_smc": {"population": 3, "generations": 1}}
    Path("calibration.yaml").write_text(json.dumps(given))
    Path("targets.yaml").write_text(json.dumps({"base": small, "statistics": {"gini": target}}))
    disk = mount("size=8k")
    done = in_a_shell(f"exec societies {shlex.join(words)}")
    said = [line for line in done.stderr.splitlines() if not re.match(r"\d+ s: ", line)]
    assert done.returncode == 4 and len(said) == 1, done.stderr  # with a load, progress comes first
    assert named in said[0] and os.listdir(disk) == []


@pytest.mark.ci
def test_the_largest_file_size(folder):
    (folder / "run.h5").write_text("precious")
    done = in_a_shell("ulimit -f 100; exec societies run run.yaml --overwrite")
    assert_refused((done.returncode, done.stdout, done.stderr), 4, "run.h5", "ulimit -f", "--out")
    assert (folder / "run.h5").read_text() == "precious"
    assert sorted(os.listdir()) == ["run.h5", "run.yaml"]


@pytest.mark.ci
def test_a_table_that_cannot_be_printed():
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = in_a_shell("societies schema economy > /dev/full")
    assert_refused((done.returncode, done.stdout, done.stderr), 4, "the disk is full")


# -- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["run", "check", "verify"])
def test_mistakes_are_reported_at_once_with_their_places(command, shell, folder):
    (folder / "wrong.yaml").write_text(RUN + "sed: 3\ntrading: {menu_sise: 2, rounds: -1}\n")
    code, out, err = shell(command, "wrong.yaml", "--set", "record.society=9")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "wrong.yaml:7:1  sed: unknown key; did you mean 'seed'?",
        "wrong.yaml:8:11  trading.menu_sise: unknown key; did you mean 'menu_size'?",
        "wrong.yaml:8:33  trading.rounds: must be at least 0, got -1",
        "--set record.society=9  record.society: 9 days are more than the run has (4); "
        "nothing would be recorded",
    ]
    assert sorted(os.listdir()) == ["run.yaml", "wrong.yaml"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "run.yaml", "--device", "abacus"], 3, ["--device abacus: no such device"]),
        (["verify", "run.yaml", "--device", "9:9"], 3, ["--device 9:9: no such device"]),
        (["run", "run.yaml", "--dry-run", "--device", "abacus"], 3, ["abacus"]),
        (["run", "economy/trades"], 2, ["economy/trades: no such file", "economy/trade"]),
        (["verify", "run.yaml", "--days", "9"], 2, ["9 days are requested", "--set days=9"]),
        (["run", "run.yaml", "--set", "days"], 2, ["--set days"]),
        (["run", "run.yaml", "--set", "days=three"], 2, ["--set days=three", "days"]),
        (["run", "run.yaml", "--resume"], 4, ["run.h5: does not exist", "without --resume"]),
        (["run", "run.yaml", "--resume", "--overwrite"], 2, ["choose one"]),
        (["plot", "run.h5"], 4, ["run.h5: does not exist"]),
        (["fan", "run.yaml", "--tick", "2", "--pasts", "1"], 2, ["--pasts 1: ", "at least two"]),
    ],
    ids=lambda item: " ".join(item) if isinstance(item, list) else "",
)
def test_a_mistake_is_said_in_a_line_or_two(words, code, said, shell):
    assert_refused(shell(*words), code, *said)
    assert os.listdir() == ["run.yaml"]


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["fan", "economy/quickstart", "--tick", "5", "--out", "f.h5"], "societies.run"),
        (
            ["irf", "economy/quickstart", "--shock", "{day: 3, set: {seed: 1}}", "--out", "f.h5"],
            "societies.sweep.run",
        ),
    ],
)
def test_what_is_computed_for_an_analysis_is_continued(words, where, shell, monkeypatch):
    asked = []

    def interrupted(*_, resume, **__):
        asked.append(resume)
        raise Interrupted("interrupted", Path("f.h5"), signal.SIGTERM)

    monkeypatch.setattr(where, interrupted)
    again = shlex.join(["societies", *words, "--resume"])
    for more in ([], ["--resume"]):
        code, out, err = shell(*words, *more)
        assert (code, out, err) == (143, "", f"interrupted\ncontinue with: {again}\n")
    assert asked == [False, True]
    assert shell(*words, "--resume", "--overwrite")[0] == 2
    command, config, *more = words  # what follows -- is no option, so --resume has to come before
    again = shlex.join(["societies", command, *more, "--resume", "--", config])
    assert shell(command, *more, "--", config)[2] == f"interrupted\ncontinue with: {again}\n"
