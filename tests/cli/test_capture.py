"""Does a captured phase run on its own, and say when it comes out differently?"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from societies import load_config
from societies.economy import schedule
from societies.errors import DeviceError
from societies.opencl import Program, choose_device
from societies.workload.checking import capture as core
from societies.workload.checking import capture_driver, capture_folder
from societies.workload.checking.capture_folder import capture_launches

pytestmark = pytest.mark.ci

RUN = """
workload: economy
agents: 6
resources: 8
days: 20
trading: {rounds: 2}
shocks:
  - {day: 0, remove: agent, index: 1}
  - {day: 2, remove: resource, index: random, holdings: lose}
  - {day: 2, remove: agent, index: random}
"""


DEALS = {
    "trading": ("--day", "12", "--time", "3"),
    "trading (round 1)": ("--day", "20", "--time", "2"),
}
"""When an agent finds something to trade."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text(RUN)
    return tmp_path


def drive(folder, *words):
    """Run the folder's driver where Societies cannot be imported; exit code, stdout, stderr."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    alone = "import sys; sys.modules['societies'] = None; sys.argv = sys.argv[1:]; "
    alone += "import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-W", "error", "-c", alone, "driver.py", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def captured(shell, folder, *words, code=0):
    result = shell("capture", "run.yaml", "--device", "cpu", "--out", str(folder), *words)
    assert result == (code, f"{folder}\n", "")
    return json.loads((folder / "launch.json").read_text())


@pytest.fixture(scope="module")
def capture_made(tmp_path_factory):
    """Return a folder with a capture, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "run.yaml").write_text(RUN)
    config = load_config(folder / "run.yaml")
    out = folder / "captured"
    return core.capture(config, phase="end_day", device="cpu", out=out)


def test_a_capture_of_an_nvidia_gpu_is_built_by_others(capture_made, tmp_path):
    """Its compiler was given the most registers of a work-item."""
    folder = shutil.copytree(capture_made, tmp_path / "captured")
    launch = json.loads((folder / "launch.json").read_text())
    for options in launch["programs"].values():
        options.append("-cl-nv-maxrregcount=64")
    (folder / "launch.json").write_text(json.dumps(launch))
    code, out, err = drive(folder)
    assert (code, err) == (0, ""), out


@pytest.mark.parametrize("phase", ["trading (round 1)", "shocks"])
def test_a_phase_reproduces_itself(phase, shell, tmp_path):
    folder = tmp_path / "captured"
    launch = captured(shell, folder, "--phase", phase, *DEALS.get(phase, ()))
    code, out, err = drive(folder)
    assert (code, err) == (0, ""), out
    assert out.splitlines()[-1].startswith("identical: ")
    assert launch["state_sha256_before"] != launch["state_sha256_after"]


def test_another_input_gives_another_result(shell, tmp_path):
    folder = tmp_path / "captured"
    captured(shell, folder, "--phase", "extraction")
    with np.load(folder / "inputs.npz") as file:
        arrays = {name: file[name] for name in file.files}
    arrays["state_experience"][0, 3, 4] += 30.0
    np.savez(folder / "inputs.npz", **arrays)
    code, out, err = drive(folder)
    assert (code, err) == (1, "")
    last = out.splitlines()[-1]
    assert re.fullmatch(
        r"different: array \w+, index \[0, 3, \d+\]: expected \S+, found \S+ "
        r"\(\d+ elements? of \d+ arrays? differs?\)",
        last,
    ), last


def test_what_is_in_the_folder(shell, tmp_path):
    launch = captured(shell, tmp_path / "c d", "--phase", "trading (round 1)", "--day", "2")
    assert sorted(path.name for path in (tmp_path / "c d").iterdir()) == [
        "README.txt",
        "config.yaml",
        "driver.py",
        "expected.npz",
        "inputs.npz",
        "kernel.cl",
        "launch.json",
        "processor.py",
        "source.cl",
    ]
    assert launch["what"] == "trading (round 1) of day 2"
    assert launch["macros"]["AGENTS"] == 6
    assert launch["device"]["name"] and launch["device"]["driver"]
    assert list(launch["programs"]) == ["kernel.cl"] and launch["programs"]["kernel.cl"]
    (one,) = launch["launches"]
    assert one["kernel"] == "trading"
    arguments = {argument["name"]: argument for argument in one["arguments"]}
    assert arguments["market_round"]["value"] == "1"
    assert arguments["state_held"]["array"] == "state_held"
    assert "__kernel void trading(" in (tmp_path / "c d/kernel.cl").read_text()
    assert "#define AGENTS 6" in (tmp_path / "c d/source.cl").read_text()
    assert load_config(tmp_path / "c d/config.yaml") == load_config("run.yaml")
    readme = (tmp_path / "c d/README.txt").read_text()
    assert "driver.py" in readme and "`tar czf capture.tar.gz 'c d'`" in readme


def test_it_starts_where_a_run_is(shell, tmp_path):
    """The state at the end of the last phase of a day is that of a run of that many days."""
    import societies

    launch = captured(shell, tmp_path / "c", "--phase", "shocks", "--day", "2")
    assert [one["kernel"] for one in launch["launches"]] == ["shocks", "shocks"]
    report = societies.run(load_config("run.yaml", ["days=2"]), device="reference", out="two.h5")
    assert launch["state_sha256_after"] == report.state_sha256


def test_the_second_market_of_the_day(shell, tmp_path):
    first = captured(shell, tmp_path / "a", "--phase", "trading")
    second = captured(shell, tmp_path / "b", "--phase", "trading (round 0)", "--time", "2")
    assert first["step_of_day"] < second["step_of_day"]
    assert first["state_sha256_before"] != second["state_sha256_before"]


DEVICES = ["--set", "devices=all", "--set", "shocks=[]"]


@pytest.mark.parametrize(
    "phase, time, step",
    [
        ("own_use", 1, "own_use (industry)"),
        ("own_use", 6, "own_use (tool)"),
        ("own_use (machine)", 1, "own_use (machine)"),
        ("open_device_market", 2, "open_device_market (factory)"),
        ("device_matching (tool, round 1)", 1, "device_matching (tool, round 1)"),
        ("device_matching (round 1, tool)", 1, "device_matching (tool, round 1)"),
        ("device_trading (round 2)", 1, "device_trading (industry, round 2)"),
        ("trading (round 1)", 9, "trading (round 1)"),
    ],
)
def test_phases_of_the_device_market(phase, time, step, monkeypatch):
    """A label in part means every step that has it; which of them, says the number."""
    reached = []
    monkeypatch.setattr(core, "prepare", lambda *_, **__: (Path("c"), None, ""))
    monkeypatch.setattr(core, "capture_launches", lambda *_, **words: reached.append(words))

    class Engine:
        def __init__(self, workload, p, *_, **__):
            self.p = p

        def start(self): ...
        def step(self, step, tick): ...
        def hash(self): ...
        def ended(self): ...

        def steps(self, tick):
            return schedule.day_schedule(self.p, tick)

    monkeypatch.setattr(core, "DeviceEngine", Engine)
    core.capture(load_config("run.yaml", DEVICES[1::2]), phase=phase, tick=1, time=time)
    assert reached[0]["facts"]["phase"] == step


@pytest.mark.thorough
def test_a_device_market_reproduces_itself(shell, tmp_path):
    phase = "own_use (tool)"
    captured(shell, tmp_path / "c", "--phase", phase, "--day", "2", *DEVICES)
    code, out, err = drive(tmp_path / "c")
    assert (code, err) == (0, ""), out


@pytest.mark.parametrize(
    "words, said",
    [
        (
            ["--phase", "dinner"],
            "--phase dinner: economy has the phases ",
        ),
        (
            ["--phase", "shocks", "--day", "1"],
            "--phase shocks: day 1 has no such step; it comes in days 0, 2",
        ),
        (
            ["--phase", "extraction", "--day", "21"],
            "--day 21: the configuration has the days 0 to 20",
        ),
        (
            ["--phase", "extraction", "--tick", "21"],
            "--tick 21: the configuration has the days 0 to 20",
        ),
        (["--phase", "trading (round 2)"], "day 1 has: trading (round 0), trading (round 1)"),
        (["--phase", "extraction", "--time", "2"], "--time 2: day 1 has extraction once"),
        (["--phase", "trading (round 1)", "--time", "3"], "day 1 has trading (round 1) 2 times"),
        (["--phase", "extraction", "--device", "reference"], "choose an OpenCL device"),
        (["--phase", "extraction (tool)"], "day 1 has no such step; day 1 has: extraction"),
        pytest.param(
            ["--phase", "own_use (machine)", "--set", "devices=tools"],
            "--phase own_use (machine): day 1 has no such step; day 1 has: own_use (tool)",
            marks=pytest.mark.thorough,  # builds further kernels
        ),
    ],
)
def test_mistakes(words, said, shell, tmp_path):
    code, out, err = shell("capture", "run.yaml", "--out", "folder", *words)
    assert (code, out) == (2, "")
    assert said in err and len(err.splitlines()) <= 2
    assert not (tmp_path / "folder").exists()


@pytest.mark.thorough
def test_no_one_meets_a_lone_agent(shell):
    alone = ["--set", "agents=1", "--set", "shocks=[]"]
    code, out, err = shell("capture", "run.yaml", "--phase", "trading", *alone)
    assert (code, out) == (3, "")
    assert err == "trading (round 0) of day 1 launches nothing\n"


def test_a_folder_that_exists_stays_unless_it_is_a_capture_to_be_replaced(shell, tmp_path):
    folder, other = tmp_path / "capture-extraction-day-1", tmp_path / "other"
    command = ("capture", "run.yaml", "--phase", "extraction", "--device", "cpu")
    assert shell(*command) == (0, f"{folder.name}\n", "")
    (folder / "note").write_text("mine")
    code, _, err = shell(*command)
    assert code == 4 and "exists already" in err and "--overwrite" in err
    assert (folder / "note").exists()
    assert shell(*command, "--overwrite") == (0, f"{folder.name}\n", "")
    assert not (folder / "note").exists()
    other.mkdir()
    code, _, err = shell(*command, "--overwrite", "--out", "other")
    assert code == 4 and "is not a capture" in err and other.is_dir()
    code, _, err = shell(*command, "--out", "nowhere/folder")
    assert code == 4 and "no folder" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name, "other", "run.yaml"]


def test_the_driver_chooses_devices_and_says_what_it_has_not(shell, tmp_path):
    folder = tmp_path / "c"
    captured(shell, folder, "--phase", "end_day")
    listed = drive(folder, "--list")
    assert listed[0] == 0 and listed[1].startswith("0:0 ")
    code, out, _ = drive(folder, "--device", listed[1].split()[0])
    assert code == 0 and "identical" in out
    code, out, err = drive(folder, "--device", "abacus")
    assert (code, out) == (3, "") and "no device abacus; available: 0:0 " in err
    shutil.move(folder, tmp_path / "elsewhere")
    assert drive(tmp_path / "elsewhere")[0] == 0


@pytest.mark.parametrize("file", ["inputs.npz", "expected.npz", "kernel.cl", "launch.json"])
@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_the_driver_misses_a_file(file, damage, capture_made, tmp_path):
    folder = shutil.copytree(capture_made, tmp_path / "c")
    if damage == "missing":
        (folder / file).unlink()
    else:
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(b"{" + whole[: len(whole) // 2])
    code, _, err = drive(folder)
    unbuilt = (file, damage) == ("kernel.cl", "damaged")
    assert code == (3 if unbuilt else 4)
    last = err.splitlines()[-1]  # compilers may count their errors in a line before
    assert len(err.splitlines()) <= 2 and last.startswith("failed: ")
    assert ("kernel.cl does not build" if unbuilt else "incomplete or damaged") in last


def doubling(tmp_path):
    """Return a device, an array, and functions that double it and add one, of two programs."""
    device = choose_device("cpu")
    a = device.array(np.arange(4.0))
    bound = []
    for name, does in (("twice", "a[i] * 2.0"), ("next", "a[i] + 1.0")):
        path = tmp_path / f"{name}.cl"
        path.write_text(
            f"__kernel void {name}(__global double *a)\n"
            f"{{\n    uint i = get_global_id(0);\n    a[i] = {does};\n}}\n"
        )
        bound.append(Program(device, path).kernel(name).bind(global_size=4, local_size=4, a=a))
    return device, a, *bound


def test_launches_of_two_programs(tmp_path):
    device, a, twice, following = doubling(tmp_path)

    def launch():
        a.set(np.ones(4))
        twice()
        following.kernel(global_size=4, local_size=4, a=a)
        twice.launch(global_size=4)

    folder = tmp_path / "c"
    facts = {"what": "a test"}
    capture_launches(folder, device, launch, config_text="", facts=facts, state_hash=str)
    code, out, _ = drive(folder)
    assert (code, out.splitlines()[-1]) == (0, "identical: 1 array")
    with np.load(folder / "inputs.npz") as before, np.load(folder / "expected.npz") as after:
        assert (before["a"].tolist(), after["a"].tolist()) == ([1.0] * 4, [6.0] * 4)
    launches = json.loads((folder / "launch.json").read_text())["launches"]
    assert [one["program"] for one in launches] == ["kernel.cl", "kernel_2.cl", "kernel.cl"]


@pytest.mark.parametrize("write", [lambda a: a.set(np.zeros(4)), lambda a: a.fill(3.0)])
def test_what_the_host_writes_between_launches_cannot_be_captured(write, tmp_path):
    device, a, twice, following = doubling(tmp_path)

    def launch():
        twice()
        write(a)
        following()

    with pytest.raises(DeviceError, match=r"\(a\) between two launches that are recorded"):
        capture_launches(
            tmp_path / "c", device, launch, config_text="", facts={"what": "x"}, state_hash=str
        )
    launch()  # nothing is recorded any more
    assert device.recording is None
    assert not (tmp_path / "c").exists()


PLATE = """
workload: laplace
side: 12
steps: 40
tolerance: 1.0e-2
check_every: 4
record: {series: 20}
"""


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--phase", "sweep", "--step", "3"], "sweep of step 3"),
        (["--phase", "sweep", "--tick=3"], "sweep of step 3"),
        (["--phase", "change"], "change of step 4"),
        (["--phase", "totals"], "totals after step 16"),
    ],
)
def test_another_workload_is_captured_in_its_own_words(words, what, shell, tmp_path):
    (tmp_path / "plate.yaml").write_text(PLATE)
    folder = tmp_path / "c"
    code, out, err = shell("capture", "plate.yaml", "--device", "cpu", "--out", str(folder), *words)
    assert (code, out, err) == (0, f"{folder}\n", "")
    assert json.loads((folder / "launch.json").read_text())["what"] == what
    code, out, _ = drive(folder)
    assert (code, out.splitlines()[-1][:9]) == (0, "identical")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--phase", "sweep", "--day", "3"],
            "--day: the clock of laplace is the step; give --step",
        ),
        (["--phase", "change", "--step", "2"], "it comes in steps 4, 8, 12"),
        (["--phase", "sweep", "--step", "39"], "--step 39: the run ends in step 16"),
        (["--phase", "totals", "--step", "2"], "after the last step: leave out --step"),
    ],
)
def test_mistakes_in_the_words_of_another_clock(words, said, shell, tmp_path):
    (tmp_path / "plate.yaml").write_text(PLATE)
    code, out, err = shell("capture", "plate.yaml", "--device", "cpu", *words)
    assert (code, out) == (2, "")
    assert said in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o700), (0o027, 0o750), (0o022, 0o755)])
def test_a_folder_has_the_rights_that_the_umask_leaves(umask, mode, tmp_path):
    before = os.umask(umask)
    try:
        capture_folder._write(tmp_path / "c", {"README.txt": ""}, {}, overwrite=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == mode
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


@pytest.mark.parametrize("file", ["../kernel.cl", "/etc/passwd", "kernel.cl/../x", "driver.py"])
def test_the_driver_builds_nothing_but_kernels_of_the_folder(file):
    assert capture_driver.kernels("kernel_2.cl") == "kernel_2.cl"
    with pytest.raises(ValueError, match="is not a file of kernels"):
        capture_driver.kernels(file)
