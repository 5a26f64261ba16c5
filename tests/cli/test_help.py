"""Are help, usage and completion those that a user of a shell expects?"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from marks import offenders

import societies
from societies import completion
from societies.cli import app
from societies.errors import DeviceError
from societies.paths import shipped_configurations

COMMANDS = sorted(typer.main.get_command(app).commands)
SMALL = "workload: economy\nagents: 5\nresources: 4\ndays: 3\n"


@pytest.mark.ci
def test_switches_show_no_type(shell, monkeypatch):
    """Found in use: ``--quiet <bool>``, which takes no value."""
    monkeypatch.setenv("COLUMNS", "200")

    def wrong(command):
        code, out, _ = shell(*command.split(), "--help")
        assert code == 0 and re.search(r"--help +(-h )? +Show this message", out), command
        types = [one for one in ("<bool>", "<path>", "list[", "FILE...") if one in out]
        return types + ["--debug"] * (out.count("--debug ") != 1)

    assert offenders(wrong, ["", *COMMANDS]) == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trace", "physics/matmul/product", "-h"], "workload matmul cannot be traced"),
        (["play", "economy/quickstart"], "workload economy cannot be played"),
        (["run", "strange.yaml"], "unknown workload 'alchemy[red]'"),
    ],
)
def test_help_is_given_of_what_cannot_be_done(words, said, shell, monkeypatch, tmp_path):
    """Found in use: instead of help there was the error alone. It is the last line now."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    Path("strange.yaml").write_text("workload: alchemy[red]\n")
    code, out, err = shell(*words, "--help")
    assert (code, err) == (0, "")
    assert f"Usage: societies {words[0]}" in out and "--device" in out
    assert said in out.partition("Show this message")[2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--days", "10.5"], "'--days': expected a whole number, got 10.5"),
        (["run", "--seed", "one"], "'--seed': expected a whole number, got one"),
        (["run", "--replicates", ""], "'--replicates': expected a whole number, got nothing"),
        (["verify", "--days", "0"], "'--days': must be at least 1, got 0"),
        (["trace", "--day", "2.", "--agent", "1"], "'--day': expected a whole number, got 2."),
        (["capture", "--phase", "x", "--day", "-1"], "'--day': must be at least 0, got -1"),
    ],
)
def test_a_number_that_is_none_is_said_in_plain_words(words, said, shell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, _, err = shell(words[0], "economy/quickstart", *words[1:])
    assert code == 2
    assert f"Invalid value for {said}" in err
    assert shell("check", "economy/quickstart", "--set", "days=10.5")[2] == (
        "--set days=10.5  days: expected a whole number, got 10.5\n"
    )


HEAVY = {"numpy", "pyopencl", "xarray", "h5py", "yaml", "pydantic", "societies.config"}


def completed(*words: str, without: set[str] | None = None) -> list[str]:
    """Return what bash would offer for the last word, by a process as bash starts it."""
    code = (
        "import sys\n"
        "from societies.cli import main\n"
        "try: main()\n"
        f"finally: assert not {without or set()} & set(sys.modules), sorted(sys.modules)\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(societies.__file__).parents[1]),
        "_SOCIETIES_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["societies", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


def test_configurations_are_completed_without_heavy_imports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("economy.yaml").write_text(SMALL)
    Path("economics.csv").write_text("")
    Path("ec").mkdir()
    Path(".econ.yaml").write_text("")
    offered = completed("run", "ec", without=HEAVY)
    shipped = [name for name in shipped_configurations() if name.startswith("ec")]
    assert offered == [*shipped, "ec/", "economy.yaml"]
    assert completed("check", "economy/tr", without=HEAVY) == ["economy/trade"]
    assert completion.configurations(str(tmp_path / "econ")) == [str(tmp_path / "economy.yaml")]
    assert completion.configurations("nowhere/x") == []


@pytest.mark.ci
def test_devices_are_completed():
    offered = completed("run", "economy/quickstart", "--device", "")
    assert offered[:4] == ["auto", "cpu", "gpu", "reference"]
    assert re.fullmatch(r"\d+:\d+", offered[4])
    assert completed("verify", "economy/quickstart", "--device", "re") == ["reference"]


def test_devices_are_completed_without_opencl(monkeypatch):
    def nothing(platforms=None):
        raise DeviceError("no OpenCL")

    monkeypatch.setattr("societies.opencl.list_devices", nothing)
    assert [word for word, _ in completion.devices("")] == ["auto", "cpu", "gpu", "reference"]


@pytest.mark.ci
def test_keys_of_the_workload_are_completed():
    without = {"numpy", "pyopencl", "xarray", "h5py", "societies.translate", "rich"}
    offered = completed("run", "economy/quickstart", "--set", "trad", without=without)
    assert offered[:2] == ["trade=", "trading.rounds="]
    assert all(word.startswith("trad") for word in offered)
    values = [word for word, _ in completion.overrides(Path("economy/tools"), "devices=")]
    assert values == ["devices=none", "devices=tools", "devices=all"]
    assert [word for word, _ in completion.overrides(Path("economy/tools"), "trade=f")] == [
        "trade=false"
    ]
    assert completion.overrides(Path("economy/tools"), "agents=") == []  # any number
    assert completion.overrides(Path("economy/tools"), "agen") == [
        ("agents=", "Number of agents in a society, or a CSV file with a row for each agent")
    ]


def test_every_key_that_is_completed_is_one(tmp_path):
    keys = [word.rstrip("=") for word, _ in completion.overrides(Path("economy/tools"), "")]
    assert len(keys) > 60
    from societies import load_config
    from societies.config import to_yaml

    given = load_config("economy/quickstart", ["label=free"])
    lines = to_yaml(given)
    assert "rules.trading.price" in keys
    for key in keys:
        if key.startswith("rules.") or key == "model":  # left out as long as none is given
            continue
        assert re.search(rf"^ *{key.split('.')[-1]}:", lines, re.MULTILINE), key


@pytest.mark.ci
def test_the_words_of_the_clock_and_of_the_workload_are_completed():
    assert completed("run", "economy/quickstart", "--da") == ["--days", "--day"]
    assert completed("schema", "ec") == ["economy"]
    assert completed("trace", "economy/quickstart", "--ag") == ["--agent"]
    assert completed("trace", "nowhere", "--ag") == []


def test_without_a_configuration_no_key_is_completed():
    assert completion.overrides(None, "") == []


def test_an_unknown_workload_completes_nothing(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("workload: alchemy\n")
    assert completion.overrides(path, "") == []
