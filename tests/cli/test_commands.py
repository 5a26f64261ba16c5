"""Do the commands of the shell do what they say, with the right exit code, on the right stream?"""

from __future__ import annotations

import importlib
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
import xarray as xr

import societies
from societies import load_config
from societies.errors import BuildError, ConfigError, DeviceError, Interrupted, OutputError
from societies.paths import data_directory, shipped_configurations, shipped_sweeps
from societies.workload.declare.fields import Field
from societies.workload.declare.protocol import Workload
from societies.workload.running.registry import workload_names

SMALL = "workload: economy\nagents: 5\nresources: 4\ndays: 6\n"
PLATE = "workload: laplace\nside: 8\nsteps: 40\nrecord: {series: 10}\n"
ENDLESS = "workload: economy\nagents: 5\nresources: 4\ndays: 1000000\nrecord: {society: 1000}\n"


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch) -> Path:
    """A folder of its own with a small configuration, and the terminal of a pipe."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SMALL)
    return tmp_path


def process(*words: str, **options) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    root = str(Path(societies.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root}
    return subprocess.Popen([sys.executable, "-m", "societies", *words], env=environment, **options)


# -- what starts at once -------------------------------------------------------------------------


HEAVY = {"numpy", "xarray", "h5py", "matplotlib", "pyopencl", "clang", "pcpp", "pygments"}
OF_OURS = {"societies.opencl", "societies.translate", "societies.localmem", "societies.output"}


@pytest.mark.sample
@pytest.mark.parametrize(
    ("words", "without"),
    [
        (["check", "economy/quickstart"], {*HEAVY, *OF_OURS, "rich", "filelock", "platformdirs"}),
        (["--help"], {*HEAVY, *OF_OURS, "pydantic", "yaml", "markdown_it", "importlib.metadata"}),
        (["--version"], {*HEAVY, *OF_OURS, "pydantic", "yaml", "rich"}),
        (["run", "--help"], {*HEAVY, *OF_OURS, "pydantic", "yaml", "markdown_it"}),
        (["schema", "economy"], {*HEAVY, *OF_OURS}),
        (
            ["run", "economy/quickstart", "--device", "reference", "--ticks", "1", "-q"],
            {"rich", "societies.translate"},
        ),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_imports_only_what_it_needs(words, without, tmp_path):
    """Modules are counted, as a limit of time would fail on a busy machine."""
    code = (
        "import sys\n"
        "from societies.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"assert not {without} & set(sys.modules), {without} & set(sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(societies.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_check_says_valid_or_every_mistake_with_its_place(shell, small):
    assert shell("check", "small.yaml") == (0, "small.yaml: valid, workload economy\n", "")
    (small / "wrong.yaml").write_text(SMALL + "seed: -1\ntrading:\n  menu_sise: 3\n")
    code, out, err = shell("check", "wrong.yaml")
    assert (code, out) == (2, "")
    assert re.search(r"^wrong\.yaml:5:\d+ +seed: ", err, re.M)
    assert re.search(r"^wrong\.yaml:7:\d+ +trading\.menu_sise: .*menu_size", err, re.M)
    assert "Traceback" not in err


def test_check_verbose_prints_a_configuration_that_means_the_same(shell, small):
    code, out, _ = shell("check", "small.yaml", "--set", "seed=9", "-v")
    assert code == 0
    (small / "resolved.yaml").write_text(out)
    assert load_config("resolved.yaml") == load_config("small.yaml", ["seed=9"])


@pytest.mark.ci
def test_schema_accepts_the_shipped_configurations(shell):
    import yaml

    code, out, _ = shell("schema", "economy")
    assert code == 0
    shipped = sorted((data_directory("configs") / "economy").glob("*.yaml"))
    assert shipped
    for path in shipped:
        jsonschema.validate(yaml.safe_load(path.read_text()), json.loads(out))
    for words in ([], ["alchemy"]):
        code, out, err = shell("schema", *words)
        assert (code, out) == (2, "")
        assert ", ".join(workload_names()) in err and ("alchemy" in err) == bool(words)


# -- which file CONFIG is ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["economy/quickstart", "economy/quickstart.yaml", "configs/economy/quickstart.yaml"]
)
def test_shipped_configurations_are_found_from_any_folder(shell, name):
    code, out, _ = shell("check", name)
    assert code == 0
    assert out.startswith(str(data_directory("configs") / "economy/quickstart.yaml"))


def test_a_file_on_disk_comes_before_a_shipped_one(shell, small):
    (small / "economy").mkdir()
    (small / "economy/quickstart.yaml").write_text(SMALL)
    assert shell("check", "economy/quickstart.yaml")[1].startswith("economy/quickstart.yaml: ")


@pytest.mark.parametrize("name", ["nowhere.yaml", "../kernels", "configs", "economy"])
def test_a_missing_configuration_says_where_the_shipped_ones_are_listed(shell, name):
    code, out, err = shell("run", name)
    assert (code, out) == (2, "")
    assert err.startswith(f"{name}: no such file")
    assert err.endswith("\n`societies list` names those that are shipped\n")
    assert err.count("\n") == 2


@pytest.mark.ci
def test_shipped_configurations_and_sweeps_are_listed_and_guessed(shell):
    out = shell("list")[1]
    for name in (*shipped_configurations(), *shipped_sweeps()):
        assert re.search(rf"^  {name} +\S", out, re.M), name
        assert f"did you mean '{name}'?" in shell("run", f"{name}s")[2]


@pytest.mark.ci
def test_a_result_or_a_sweep_is_no_configuration_of_a_run(shell, small):
    shell("run", "small.yaml", "-q")
    assert shell("run", "small.h5") == (
        2,
        "",
        "small.h5: is an HDF5 file, not a configuration\n"
        "`societies info --config small.h5` prints the one that a result was made with\n",
    )
    (small / "sweep.yaml").write_text("base: economy/quickstart\nvary: {}\n")
    code, _, err = shell("run", "sweep.yaml")
    assert code == 2
    assert err == (
        "sweep.yaml:1:1  workload: is missing; if this is a sweep, give it to `societies sweep`\n"
    )
    (small / "sweep.yaml").write_text("workload: sweep\n")
    assert "'sweep' is not a workload; give a sweep to" in shell("check", "sweep.yaml")[2]


@pytest.mark.ci
def test_a_run_made_with_set_is_extended_by_the_configuration_that_its_file_has(shell, small):
    set_ = ["--set", "first_society=3"]  # with the kernels of other tests
    for out, days in (("short.h5", "2"), ("long.h5", "4")):
        assert shell("run", "small.yaml", *set_, "--days", days, "--out", out, "-q")[0] == 0
    code, text, _ = shell("info", "short.h5", "--config")
    assert code == 0
    (small / "short.yaml").write_text(text)
    more = ["--from", "short.h5", "--days", "4", "--out", "more.h5", "-q"]
    assert shell("run", "small.yaml", *more)[0] == 4  # which lacks what was set
    assert shell("run", "short.yaml", *more) == (0, "more.h5\n", "")
    with xr.open_dataset("more.h5") as found, xr.open_dataset("long.h5") as expected:
        assert found.equals(expected)


@pytest.mark.ci
def test_a_branch_goes_on_without_its_parent_also_where_the_plan_is_shown(shell, small):
    assert shell("run", "small.yaml", "--days", "2", "--out", "parent.h5", "-q")[0] == 0
    words = ["run", "small.yaml", "--from", "parent.h5", "--tick", "2", "--days", "4"]
    assert shell(*words, "--out", "more.h5", "-v")[0] == 0
    (small / "parent.h5").unlink()
    assert shell(*words, "--out", "more.h5", "--resume", "-v")[0] == 0
    assert shell(*words, "--out", "other.h5", "--dry-run")[0] == 4


def test_the_configuration_of_a_run_with_a_table_says_that_there_was_one(shell, small):
    (small / "table.csv").write_text("trading.min_surplus\n1\n2\n")
    assert shell("run", "small.yaml", "--table", "table.csv", "-q", "--device", "reference")[0] == 0
    first, _, rest = shell("info", "small.h5", "--config")[1].partition("\n")
    assert first == "# Besides, a table gave each copy its own trading.min_surplus: --table"
    assert rest.startswith("workload: economy\n")


def test_a_study_is_distinguished_from_a_result(shell, small):
    (small / "sweep.yaml").write_text("base: small.yaml\nvary: {grid: {day_length: [500, 600]}}\n")
    assert shell("sweep", "sweep.yaml", "-q", "--device", "reference")[0] == 0
    for words in (["--out", "sweep.h5", "--resume"], ["--from", "sweep.h5", "--out", "x.h5"]):
        assert shell("run", "small.yaml", *words) == (
            4,
            "",
            "sweep.h5: is a study of `societies sweep`. Name the result of a run.\n",
        )


@pytest.mark.ci
def test_a_file_of_another_workload_reports_it_alone(shell, small):
    """Found in use: ``workload is economy in the file and laplace here (and 80 more)``."""
    shell("run", "small.yaml", "-q")
    (small / "plate.yaml").write_text("workload: laplace\nside: 8\nsteps: 4\n")
    for words in (
        ["run", "plate.yaml", "--out", "small.h5", "--resume"],
        ["verify", "plate.yaml", "--from", "small.h5"],
    ):
        assert shell(*words) == (
            4,
            "",
            "small.h5 is a result of the workload economy, the configuration is of laplace\n"
            "name another file, or a configuration of that workload\n",
        )


@pytest.mark.parametrize("command", ["info", "plot"])
def test_a_folder_is_not_a_result(shell, small, command):
    """Found in use: ``Choose another place with --out``, of a file that is read."""
    (small / "folder").mkdir()
    assert shell(command, "folder") == (4, "", "folder: is a folder. Name a file in it.\n")
    assert shell("run", "small.yaml", "--from", "small.yaml", "--out", "x.h5")[2] == (
        "small.yaml: not a result file of societies, or damaged (no HDF5 file). "
        "Name another file.\n"
    )


def test_a_result_is_no_table_but_exports_to_one(shell, small):
    code, _, err = shell("run", "small.yaml", "--out", "x.csv")
    assert code == 2
    assert err.endswith("\nfor tables, then: societies export --to csv x.h5\n")


@pytest.mark.ci
def test_commands_that_are_advised_can_be_pasted(shell, small):
    """Found in use: a path with a space fell apart in two."""
    shell("run", "small.yaml", "--out", "my run.h5", "-q")

    def advised(before, *words):
        said = shell(*words)[2].partition(before)[2].partition("`")[0].partition("\n")[0]
        return shlex.split(said)

    info = ["societies", "info", "--config", "my run.h5"]
    assert advised("`", "run", "my run.h5") == info
    to_resume = ["run", "small.yaml", "--out", "my run.h5", "--resume", "--seed", "9"]
    assert advised("`", *to_resume) == info
    table = advised("then: ", "run", "small.yaml", "--out", "my $table.csv")
    assert table == ["societies", "export", "--to", "csv", "my $table.h5"]


def test_a_workload_that_is_not_known_is_guessed(shell):
    assert (
        "unknown workload 'econmy'; did you mean 'economy'? (known: "
        in shell("schema", "econmy")[2]
    )


@pytest.mark.ci
def test_results_of_two_workloads_are_not_compared(shell, small):
    """Found in use: ``--variables agents_alive: no such variable``, though it was not requested."""
    (small / "plate.yaml").write_text("workload: laplace\nside: 8\nsteps: 4\n")
    shell("run", "small.yaml", "-q")
    shell("run", "plate.yaml", "-q")
    for words in ([], ["--figure", "gini"]):
        assert shell("plot", "small.h5", "plate.h5", *words) == (
            2,
            "",
            "plot: results of different workloads (economy, laplace) are not compared in one "
            "figure; plot each by itself\n",
        )
    err = shell("plot", "small.h5", "--figure", "trade_network")[2]
    assert err.count("small") == 1


def test_a_folder_is_not_a_configuration(shell, small):
    (small / "folder").mkdir()
    code, _, err = shell("check", "folder")
    assert code == 2
    assert "folder" in err


# -- run -----------------------------------------------------------------------------------------


def test_run_ends_with_a_table_on_stdout_and_nothing_on_stderr(shell):
    code, out, err = shell("run", "small.yaml")
    assert (code, err) == (0, "")
    with xr.open_dataset("small.h5") as results:
        for name in ("units_extracted", "units_held", "units_traded", "utility", "gini"):
            label, unit = name.replace("_", " "), results[name].attrs["units"]
            value = f"{float(results[name][0, -1]):.6g}" + f" {unit}" * (unit != "1")
            assert re.search(rf"^{label} +{re.escape(value)}$", out, re.M)
    assert re.search(r"^wall time +[0-9.]+ s, of which [0-9.]+ s to build kernels$", out, re.M)
    assert re.search(r"^agent-days per second +[0-9,]+$", out, re.M)
    assert re.search(r"^state sha256 +[0-9a-f]{64}$", out, re.M)
    assert re.search(r"^written to +small\.h5$", out, re.M)


def test_quiet_prints_the_path_alone(shell):
    assert shell("run", "small.yaml", "--out", "here.h5", "-q") == (0, "here.h5\n", "")


def test_verbose_prints_the_plan_on_stderr(shell):
    _, plan, _ = shell("run", "small.yaml", "--dry-run")
    code, out, err = shell("run", "small.yaml", "-v", "-q")
    assert (code, out) == (0, "small.h5\n")

    def but_for_free_memory(text):
        # How many societies fit follows from the memory that the machine has free at the moment.
        return re.sub(r"[\d,]+ fit", "some fit", text)

    assert but_for_free_memory(err) == but_for_free_memory(plan)


def test_a_dry_run_prints_the_plan_and_writes_nothing(shell, small):
    code, out, err = shell("run", "small.yaml", "--dry-run", "--out", "never.h5")
    assert (code, err) == (0, "")
    for words in ("launches per day", "memory on the device", "never.h5"):
        assert words in out
    assert [path.name for path in small.iterdir()] == ["small.yaml"]


def test_flags_are_the_same_as_set_and_win_over_it(shell):
    keys = ["--set", "replicates=2", "--set", "seed=8", "--set", "days=3"]
    assert shell("run", "small.yaml", "--out", "a.h5", "-q", *keys)[0] == 0
    flags = ["--replicates", "2", "--seed", "8", "--days", "3", "--set", "seed=5"]
    assert shell("run", "small.yaml", "--out", "b.h5", "-q", *flags)[0] == 0
    with xr.open_dataset("a.h5") as a, xr.open_dataset("b.h5") as b:
        assert a.attrs["configuration"] == b.attrs["configuration"]
        assert a.sizes["society"] == 2
        xr.testing.assert_identical(a.drop_attrs(), b.drop_attrs())


def test_a_flag_obeys_the_rules_of_its_key(shell, small):
    code, _, err = shell("run", "small.yaml", "--days", "0")
    assert code == 2
    assert "days" in err
    assert not (small / "small.h5").exists()


def test_an_existing_file_stays_unless_asked_otherwise(shell, small):
    result = small / "small.h5"
    result.write_text("precious")
    code, _, err = shell("run", "small.yaml")
    assert code == 4
    assert "--overwrite" in err
    assert result.read_text() == "precious"
    assert shell("run", "small.yaml", "--overwrite", "-q")[0] == 0
    assert xr.open_dataset(result).sizes["day"] == 6


def test_resume_and_overwrite_exclude_each_other(shell):
    code, _, err = shell("run", "small.yaml", "--resume", "--overwrite")
    assert code == 2
    assert "choose one" in err


def test_devices_can_be_chosen_and_agree(shell):
    hashes = set()
    for device in ("cpu", "reference"):
        _, out, _ = shell("run", "small.yaml", "--device", device, "--out", f"{device}.h5")
        hashes.update(re.findall(r"[0-9a-f]{64}", out))
    assert len(hashes) == 1


def test_an_unknown_device_ends_with_3(shell):
    code, _, err = shell("run", "small.yaml", "--device", "abacus")
    assert code == 3
    assert "abacus" in err


def test_ctrl_c_says_how_to_continue_and_ends_with_130(small):
    (small / "endless.yaml").write_text(ENDLESS)
    child = process("run", "endless.yaml", stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        until(lambda: committed(small / "endless.h5") > 0)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 130, err
    assert out == b""
    assert b"--resume" in err
    assert b"Traceback" not in err
    with societies.open_results(small / "endless.h5") as results:
        assert results.sizes["day"] > 0


def committed(path: Path) -> int:
    try:
        with societies.open_results(path) as results:
            return int(results.sizes["day"])
    except societies.SocietiesError:
        return 0


def until(condition) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited without success"
        time.sleep(0.2)


@pytest.mark.ci
def test_progress_is_shown_on_a_terminal_alone(small):
    shown, out = on_a_terminal("run", "small.yaml", "--replicates", "3")
    assert b"day 6 of 6, 3 societies" in shown
    assert b"day 6 of 6" not in out


def on_a_terminal(*words: str) -> tuple[bytes, bytes]:
    """Run a command whose stderr is a terminal; return what is written to it, and its stdout."""
    master, slave = pty.openpty()
    child = process(*words, stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            block = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        shown += block
    os.close(master)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0, shown
    return shown, out


# -- the other commands --------------------------------------------------------------------------


def test_verify_says_identical(shell):
    code, out, _ = shell("verify", "small.yaml", "--days", "2", "--set", "seed=3")
    assert code == 0
    assert re.match(r"identical: 2 days, \d+ arrays\n7 of 8 phases acted: \d+ units extracted", out)
    assert "warning: did not happen on the days compared: trading" in out


class Identical:
    """What `verify` returns where nothing differs."""

    identical = True

    def __str__(self) -> str:
        return "identical: 4 days"


def test_verify_writes_now_and_then_where_it_is(shell, monkeypatch):
    """Lines on stderr if it is no terminal; what is done lasts until its line is printed."""
    done = ["day 1, extraction, device", "day 1, extraction, reference", "day 3, end_day, device"]

    def verify(*_, progress, **__):
        until(lambda: "s: building kernels\n" in sys.stderr.getvalue())
        for days, what in enumerate(done):
            progress(days, 4, what)
            until(lambda what=what: what in sys.stderr.getvalue())
        return Identical()

    monkeypatch.setattr("societies.workload.checking.verify.verify", verify)
    monkeypatch.setattr("societies.terminal.SECONDS_BETWEEN_LINES", 0.01)
    code, out, err = shell("verify", "small.yaml")
    assert (code, out) == (0, "identical: 4 days\n")
    lines = [re.fullmatch(r"\d+ s: (.+)", line).group(1) for line in err.splitlines()]
    expected = [f"{what} ({days} of 4 days done)" for days, what in enumerate(done)]
    assert list(dict.fromkeys(lines)) == ["building kernels", *expected]


def test_a_quick_verify_writes_nothing_of_where_it_is(shell, monkeypatch):
    monkeypatch.setattr("societies.terminal.SECONDS_BETWEEN_LINES", 600.0)
    assert shell("verify", "small.yaml", "--days", "2")[2] == ""


def test_verify_shows_day_phase_and_who_on_a_terminal(shell, monkeypatch):
    """What is done lasts until the terminal shows it."""
    master, slave = pty.openpty()
    shown = b""

    def verify(*_, progress, **__):
        nonlocal shown
        progress(1, 4, "day 2, trading (round 3), device")
        while b"day 2, trading (round 3), device" not in shown:
            assert select.select([master], [], [], 60)[0], shown
            shown += os.read(master, 4096)
        return Identical()

    monkeypatch.setattr("societies.workload.checking.verify.verify", verify)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with open(slave, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        code, out, _ = shell("verify", "small.yaml")
        monkeypatch.undo()
    os.close(master)
    assert (code, out) == (0, "identical: 4 days\n")


def test_verify_ends_with_1_where_bits_differ(shell, monkeypatch):
    class Different:
        identical = False

        def __str__(self) -> str:
            return "different: day 1, phase extraction"

    monkeypatch.setattr("societies.workload.checking.verify.verify", lambda *_, **__: Different())
    assert shell("verify", "small.yaml") == (1, "different: day 1, phase extraction\n", "")


def test_devices_are_listed_with_limits_and_the_choice_of_auto(shell):
    code, out, _ = shell("devices")
    assert code == 0
    for device in societies.list_devices():
        assert f"{device.index}  {device.name}" in out
        assert device.platform in out
    chosen = societies.choose_device("auto")
    assert f"{chosen.index}  {chosen.name}  (auto)" in out
    assert re.search(rf"^chosen because +{re.escape(chosen.reason)}$", out, re.M)
    assert out.count("(auto)") == 1


@pytest.mark.ci
def test_plot_prints_the_pictures_it_drew(shell, small):
    assert shell("run", "small.yaml", "-q")[0] == 0
    code, out, _ = shell("plot", "small.h5", "--out", "pictures")
    assert code == 0
    assert {Path(line).suffix for line in out.split()} == {".png", ".svg"}
    assert all(Path(line).parent.name == "pictures" for line in out.split())
    assert all((small / line).stat().st_size > 1000 for line in out.split())


def test_plot_of_something_else_is_a_clear_error(shell):
    for name in ("small.yaml", "missing.h5"):
        code, out, err = shell("plot", name)
        assert (code, out) == (4, "")
        assert name in err


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [(ConfigError, 2), (DeviceError, 3), (BuildError, 3), (OutputError, 4), (Interrupted, 130)],
)
def test_an_error_for_people_is_its_message_and_its_exit_code(shell, monkeypatch, error, code):
    def fail(*_, **__):
        raise error("what, where\nwhat to do")

    monkeypatch.setattr("societies.workload.running.registry.load_config", fail)
    assert shell("check", "small.yaml") == (code, "", "what, where\nwhat to do\n")


def test_a_defect_of_ours_is_one_line_that_asks_for_a_report(shell, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("societies.workload.running.registry.load_config", fail)
    code, out, err = shell("check", "small.yaml")
    assert (code, out) == (1, "")
    assert err == (
        "internal error: ZeroDivisionError: division by zero "
        "(--debug shows the traceback; please report)\n"
    )


def test_a_mistake_in_the_code_of_a_workload_has_its_place(shell, monkeypatch, tmp_path):
    """Found in use: what was wrong in one's own file was an internal error, to be reported."""
    (tmp_path / "own_model.py").write_text("def load_config(*_):\n    return {}['agnt']\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        "societies.workload.running.registry.foreign_packages", lambda: {"own_model"}
    )
    own = importlib.import_module("own_model")
    monkeypatch.setattr("societies.workload.running.registry.load_config", own.load_config)
    code, out, err = shell("check", "small.yaml")
    assert (code, out) == (1, "")
    assert err == (
        f"{tmp_path}/own_model.py:2: KeyError: 'agnt'\n"
        "this is the workload's own code; --debug shows the traceback\n"
    )


def test_what_a_workload_lacks_is_no_defect_of_ours(shell, monkeypatch):
    def run(*_, **__):
        Field(("agnt",), "int32", "units", "money of an agent").shape({"agent": 3})

    monkeypatch.setattr("societies.workload.running.run.run", run)
    assert shell("run", "small.yaml") == (
        1,
        "",
        "the field 'money of an agent' has the dimension 'agnt', of which the workload says no "
        "length; it has agent\n",
    )
    monkeypatch.setattr(
        "societies.workload.running.run.run", lambda *_, **__: Workload().sizes(None)
    )
    monkeypatch.setattr(Workload, "name", "mine", raising=False)
    assert shell("run", "small.yaml")[2] == "workload mine does not define sizes\n"


def test_too_little_memory_is_no_defect(shell, monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("societies.workload.running.run.run", fail)
    code, _, err = shell("run", "small.yaml")
    assert code == 3
    assert "memory" in err
    assert "--replicates" in err


@pytest.mark.parametrize(
    ("words", "traceback"),
    [
        ("--debug check nowhere.yaml", True),
        ("check nowhere.yaml --debug", True),
        ("run nowhere.yaml --debug", True),
        ("run --debug --days 3 nowhere.yaml", True),
        ("run nowhere.yaml --out --debug", False),  # the name of a file
    ],
)
def test_debug_shows_the_traceback_and_keeps_the_exit_code(words, traceback, shell):
    code, _, err = shell(*words.split())
    assert code == 2
    assert ("Traceback" in err) == traceback
    assert "nowhere.yaml: no such file" in err


@pytest.mark.parametrize(
    "words",
    [
        ["walk"],
        ["run"],
        ["run", "small.yaml", "--speed", "9"],
        ["run", "small.yaml", "--seed", "x"],
        ["verify", "small.yaml", "--days", "0"],
    ],
)
def test_usage_errors_end_with_2(shell, words):
    code, out, err = shell(*words)
    assert (code, out) == (2, "")
    assert "Usage" in err


def test_the_report_of_another_workload_speaks_its_words(shell, small):
    (small / "plate.yaml").write_text(PLATE)
    code, out, _ = shell("run", "plate.yaml", "--steps", "30", "--device", "reference")
    assert code == 0
    rows = dict(re.split("  +", line) for line in out.splitlines())
    assert list(rows) == [
        "last step",
        "change",
        "device",
        "wall time",
        "cell-steps per second",
        "state sha256",
        "written to",
    ]
    assert rows["last step"] == "30"


def test_a_short_run_loads_no_library_for_analysis(tmp_path):
    """xarray and what it loads take a second, and the closing table needs only units."""
    code = (
        "import sys\n"
        "from societies.cli import main\n"
        "try:\n"
        "    main(['run', 'short.yaml', '--device', 'reference'])\n"
        "except SystemExit as end:\n"
        "    assert not end.code\n"
        "heavy = {'xarray', 'pandas', 'scipy', 'dask', 'matplotlib'}\n"
        "heavy.add('societies.opencl.cuda.device')\n"
        "print(heavy & sys.modules.keys())\n"
    )
    (tmp_path / "short.yaml").write_text("workload: economy\nagents: 5\nresources: 4\ndays: 1\n")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "units extracted" in done.stdout and done.stdout.endswith("set()\n"), done.stdout
