"""Does `societies bench --waits` measure the commands that it names, and pass on how they fail?"""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import pytest

from societies.errors import SocietiesError
from societies.workload.checking import waits

SMALL = "workload: economy\nagents: 2\nresources: 2\ndays: 3\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("society.yaml").write_text(SMALL)


@pytest.fixture
def commands(monkeypatch):
    """The commands that would be timed, with the variables of their environment; none is run."""
    found = []

    def note(words, variables):
        found.append((words, dict(variables)))
        return float(len(found)), 0.5

    monkeypatch.setattr(waits, "_seconds", note)
    return found


@pytest.mark.ci
def test_waits_are_those_of_commands(shell):
    words = ("--device", "reference", "--days", "2", "--repeats", "1", "--out", "waits.csv")
    code, out, err = shell("bench", "society.yaml", "--waits", *words)
    assert (code, err) == (0, "") and "processor seconds" in out
    with open("waits.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    starts = ["help", "check", "completion of CONFIG"]
    runs = ["first day, empty caches", "first day", "2 days, written"]
    assert [row["wait"] for row in rows] == starts + runs
    assert [row["device"] for row in rows] == [""] * 3 + ["reference"] * 3
    assert all(float(row["processor_seconds"]) > 0 for row in rows)
    assert sorted(path.name for path in Path().iterdir()) == ["society.yaml", "waits.csv"]


def test_runs_are_made_on_one_of_several_devices_and_on_all(shell, commands, monkeypatch):
    monkeypatch.setattr(waits, "devices_of", lambda setup, device: device.split(","))
    monkeypatch.setattr(waits, "chosen_device", lambda device: (None, "", {"device": "GPU"}))
    given = ("--set", "trading.rounds=3", "--seed", "7", "--copies", "40", "--repeats", "2")
    code, out, _ = shell("bench", "society.yaml", "--waits", "--device", "0:0,0:1", *given)
    assert code == 0
    keys = ["society.yaml", "--set=trading.rounds=3", "--set=seed=7"]
    starts = [["--help"], ["--help"], ["check", *keys], ["check", *keys], [], []]
    assert [words for words, _ in commands[:6]] == starts
    runs = [words for words, _ in commands[6:]]
    assert all(words[:5] == ["run", *keys, "--replicates=40"] for words in runs)
    devices = [words[words.index("--device") + 1] for words in runs]
    assert devices == ["0:0"] * 6 + ["0:0,0:1"] * 6
    assert [words[-1] for words in runs] == ["1", "1", "3"] * 4
    caches = [variables["POCL_CACHE_DIR"] for _, variables in commands[6:]]
    assert [caches.count(one) for one in dict.fromkeys(caches)] == [3] * 4
    last = " ".join(out.splitlines()[-1].split())  # median, least and most by the clock; processor
    assert last == "3 days, written 40 0:0, 0:1: 2 x GPU 16.5 15 18 0.5"


def test_a_command_that_fails_ends_them_with_its_message_and_code():
    with pytest.raises(SocietiesError, match=r"^no room$") as failed:
        code = "import sys; print('no room', file=sys.stderr); sys.exit(4)"
        waits.timed([sys.executable, "-c", code], os.environ)
    assert failed.value.exit_code == 4


def test_one_kind_of_measurement_is_made(shell):
    code, out, err = shell("bench", "society.yaml", "--waits", "--phases")
    assert (code, out) == (2, "") and "choose one" in err
