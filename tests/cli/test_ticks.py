"""Does the command line speak of every workload's ticks in that workload's words?"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
import xarray as xr

from societies.paths import shipped_configurations, shipped_sweeps
from societies.workload.running.registry import workload_names

ECONOMY = "workload: economy\nagents: 5\nresources: 4\ndays: 6\n"
PLATE = "workload: laplace\nside: 8\nsteps: 20\nrecord: {series: 5}\n"
REFERENCE = ("--device", "reference")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("society.yaml").write_text(ECONOMY)
    Path("plate.yaml").write_text(PLATE)
    Path("flow.yaml").write_text('{"workload": "laplace", "side": 8, "steps": 20}\n')


@pytest.mark.ci
@pytest.mark.parametrize(
    ("config", "clock", "words"),
    [
        ("society.yaml", "day", ["--ticks", "3"]),
        ("society.yaml", "day", ["--ticks=3"]),
        ("society.yaml", "day", ["--days", "3"]),
        ("society.yaml", "day", ["--days=3"]),
        ("society.yaml", "day", ["--set", "days=3"]),
        ("society.yaml", "day", ["--days", "5", "--days", "3"]),
        ("plate.yaml", "step", ["--ticks", "10"]),
        ("plate.yaml", "step", ["--steps=10"]),
    ],
)
def test_a_run_takes_ticks_by_either_word(config, clock, words, shell):
    # The options may come before CONFIG as well, whose workload says what they mean.
    for line in ([config, *words], [*words, config]):
        code, out, err = shell("run", *line, *REFERENCE, "-q", "--out", "x.h5", "--overwrite")
        assert (code, out, err) == (0, "x.h5\n", "")
        with xr.open_dataset("x.h5") as data:
            assert int(data[clock][-1]) == int(re.split("[ =]", " ".join(words))[-1])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "plate.yaml", "--days", "3"], "--days: the clock of laplace is the step; give "),
        (["run", "--days", "3", "plate.yaml"], "give --steps or --ticks\n"),
        (["verify", "plate.yaml", "--days=3"], "give --steps or --ticks\n"),
        (["capture", "plate.yaml", "--phase", "sweep", "--day", "3"], "give --step or --tick\n"),
        (["bench", "society.yaml", "--steps", "3"], "the clock of economy is the day; give --days"),
        (["check", "plate.yaml", "--days", "3"], "this command takes no ticks\n"),
        (["run", "society.yaml", "--days", "x"], "'--days': expected a whole number, got x"),
        (["run", "society.yaml", "--ticks", "x"], "'--ticks': expected a whole number, got x"),
        (["run", "plate.yaml", "--steps", "0"], "steps: must be at least 1, got 0"),
        (["verify", "plate.yaml", "--steps", "0"], "'--steps': must be at least 1, got 0"),
        (["run", "nowhere.yaml", "--days", "3"], "nowhere.yaml: no such file"),
        (
            ["run", "--from", "a.h5", "--day", "60", "--fan", "20"],
            "CONFIG is missing: societies run",
        ),
        (["verify", "--days", "3"], "CONFIG is missing: societies verify CONFIG --days ..."),
        (
            ["run", "society.yaml", "--ticks", "3", "--days=4"],
            "--days and --ticks are one option: g",
        ),
        (["trace", "society.yaml", "--tick", "3", "--day", "4"], "--day and --tick are one option"),
        (["run", "flow.yaml", "--days", "3"], "--days: the clock of laplace is the step"),
        (["verify", "plate.yaml", "--ticks", "30"], "30 steps are requested"),
    ],
    ids=" ".join,
)
def test_mistakes_are_reported_in_the_words_of_the_workload(words, said, shell):
    code, out, err = shell(*words)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--", "-society.yaml"],
        ["run", "-q", *REFERENCE, "--days", "1", "--", "-society.yaml"],
        ["verify", *REFERENCE, "--days", "1", "--", "-society.yaml"],
        ["kernel", "--phase", "extraction", "--", "-society.yaml"],
        ["trace", *REFERENCE, "--day", "1", "--agent", "0", "--", "-society.yaml"],
    ],
    ids=" ".join,
)
def test_what_follows_two_dashes_is_no_option(words, shell):
    Path("-society.yaml").write_text(ECONOMY)
    code, _, err = shell(*words)
    assert (code, "CONFIG is missing" in err) == (0, False)
    refused = shell("run", "-q", "--out", "--", "-society.yaml", "--days", "1")
    assert refused[0] == 2


def test_help_has_the_word_of_the_configuration(shell):
    assert "--days,--ticks" in shell("run", "society.yaml", "--help")[1]
    assert "--steps,--ticks" in shell("verify", "plate.yaml", "--help")[1]
    assert "--step,--tick " in shell("capture", "plate.yaml", "--help")[1]
    code, out, _ = shell("run", "--help")
    assert code == 0 and "--ticks" in out and "--days" not in out.replace("--set days", "")


def test_verify_and_its_report_speak_of_steps(shell):
    code, out, _ = shell("verify", "plate.yaml", "--steps", "3")
    assert code == 0 and out.startswith("identical: 3 steps, ")


def test_a_short_option_for_a_key_that_a_workload_has_not(shell):
    code, out, err = shell("run", "plate.yaml", "--seed", "3", *REFERENCE)
    assert (code, out) == (2, "")
    assert err == "--seed: the configuration of laplace has no key 'seed'\n"
    assert shell("check", "society.yaml", "--set", "seed=3")[0] == 0


# -- list, bench, plot ---------------------------------------------------------------------------


def test_all_workloads_and_configurations_are_listed(shell):
    code, out, err = shell("list")
    assert (code, err) == (0, "")
    names = [line.split()[0] for line in out.splitlines()]
    shipped = {*shipped_configurations(), *shipped_sweeps()}
    assert set(names) == {*workload_names(), "sweeps", *shipped}
    rooms = [names.index(name) for name in ("economy", "boltzmann", "chess", "blur", "sweeps")]
    assert rooms == sorted(rooms)
    assert re.search(r"^economy .*; a tick is a day, a copy a society$", out, re.M)
    assert re.search(r"^blur .*; a tick is a pass, a copy an image$", out, re.M)
    assert "?;" not in out
    assert re.search(r"^  economy/quickstart +A small society for a first look", out, re.M)


def test_timings_are_a_table_and_a_file(shell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")  # numbers are whole on a narrow terminal, too
    words = ("--copies", "1,3", "--steps", "4", "--repeats", "2", *REFERENCE)
    code, out, _ = shell("bench", "plate.yaml", *words, "--out", "speed.csv")
    assert code == 0
    assert (
        "plates" in out and "cell-steps per second" in out and "\N{HORIZONTAL ELLIPSIS}" not in out
    )
    with open("speed.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["copies"], row["ticks"]) for row in rows] == [("1", "4")] * 2 + [("3", "4")] * 2
    assert all(float(row["work_per_second"]) > 0 for row in rows)
    before = Path("speed.csv").read_bytes()
    code, out, err = shell("bench", "plate.yaml", *words, "--out", "speed.csv")
    assert (code, out) == (4, "") and "exists already" in err and "--overwrite" in err
    assert Path("speed.csv").read_bytes() == before
    assert shell("bench", "plate.yaml", *words, "--out", "speed.csv", "--overwrite")[0] == 0


@pytest.mark.ci
def test_a_workload_draws_its_own_figure_with_its_own_options(shell):
    assert shell("run", "plate.yaml", *REFERENCE, "-q")[0] == 0
    pictures = []
    for words in ([], ["--palette", "viridis"]):
        code, out, _ = shell("plot", "plate.h5", "--out", "plate.png", *words)
        assert (code, out) == (0, "plate.png\n")
        pictures.append(Path("plate.png").read_bytes())
    assert pictures[0] != pictures[1]
    assert "--palette" in shell("plot", "plate.h5", "--help")[1]
    code, _, err = shell("plot", "plate.h5", "--palette", "virids")
    assert code == 2 and err == "--palette virids: no colour map; did you mean 'viridis'?\n"
    code, _, err = shell("plot", "plate.h5", "--plate", "1")
    assert code == 2 and err == "--plate 1: the plates are 0 to 0\n"
    assert shell("run", "society.yaml", *REFERENCE, "-q")[0] == 0
    code, _, err = shell("plot", "society.h5", "--palette", "viridis")
    assert code == 2 and "No such option: --palette" in err
