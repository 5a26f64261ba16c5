"""Does a plan warn of what cannot suffice, and only of that?"""

import mmap
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

import societies
from societies import config_from_dict
from societies.economy import duration
from societies.errors import shell_words
from societies.opencl import choose_device
from societies.workload.running import sufficiency

SMALL = "workload: economy\nagents: 5\nresources: 4\ndays: 3\n"
Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SMALL)
    return tmp_path


def said(shell, *words):
    code, out, err = shell("run", "small.yaml", "--dry-run", *words)
    assert code == 0
    assert "agents x resources" in out  # the plan, whatever it lacks
    return err.splitlines()


def test_a_plan_that_suffices_warns_of_nothing(shell):
    assert said(shell) == []
    assert said(shell, "--device", "reference") == []
    assert societies.plan("small.yaml", device="reference").warnings == ()


def test_too_little_memory_of_the_device(monkeypatch):
    device = choose_device("cpu")
    monkeypatch.setattr(device, "global_memory", 1000)
    monkeypatch.setattr(device, "max_alloc", 0)
    (line,) = societies.plan("small.yaml", device=device).warnings
    assert line.startswith("memory: one society needs ")
    assert line.endswith(f", {device.name} has 1000 B for it")
    monkeypatch.setattr(device, "max_alloc", 100)
    (line,) = societies.plan("small.yaml", device=device).warnings
    assert "one society has an array of" in line
    assert "at most 100 B in one" in line


def test_too_little_memory_of_the_machine(shell, monkeypatch):
    monkeypatch.setattr(sufficiency, "available_memory", lambda: 2048)
    (line,) = said(shell, "--device", "cpu")
    assert line.startswith("warning: memory: ")
    assert "2.0 KiB are free at present" in line
    assert said(shell, "--device", "reference") == []


def test_available_memory_is_what_the_system_says():
    free = sufficiency.available_memory()
    total = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    assert free is not None
    assert 2**20 < free <= total


def test_a_limit_of_the_address_space_counts(monkeypatch):
    """Otherwise OpenCL on a CPU allocates too much, and ends the process."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
    monkeypatch.setattr(sufficiency, "address_space", lambda: used + 2**24)
    assert sufficiency.available_memory() <= 2**24
    monkeypatch.setattr(sufficiency, "address_space", lambda: 2**20)
    assert sufficiency.available_memory() == 0


def test_too_little_disk(shell, monkeypatch, folder):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**6, 10**6 - 500, 500))
    (line,) = said(shell, "--device", "reference")
    assert line.startswith("warning: small.h5: the disk is full: ")
    assert "500 bytes free" in line
    assert line.endswith("choose another place with --out.")
    (folder / "small.h5").write_text("")  # to be continued or replaced: said by the run
    assert said(shell, "--device", "reference") == []


def test_a_folder_that_is_missing(shell):
    (line,) = said(shell, "--device", "reference", "--out", "no/run.h5")
    assert "the folder 'no' does not exist" in line


def test_too_little_time(shell):
    lines = said(shell, "--device", "reference", "--set", "agents=5000", "--days", "20000")
    (line,) = [line for line in lines if "time" in line]
    assert line.startswith("warning: time: roughly 3 days by speeds measured elsewhere")
    assert line.endswith("--resume")
    code, out, _ = shell("run", "small.yaml", "--dry-run", "--device", "reference")
    assert code == 0
    assert "time, roughly" in out
    assert "less than a minute" in out


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "less than a minute"),
        (100, "2 minutes"),
        (3000, "50 minutes"),
        (3600, "1 hour"),
        (86400 * 1.6, "2 days"),
        (86400 * 43, "43 days"),
        (86400 * 366 * 250, "250 years"),
    ],
)
def test_times_are_said_without_false_precision(seconds, words):
    assert sufficiency.duration(seconds) == words
    with shell_words():
        assert bool(sufficiency.time_warning(seconds)) == (seconds >= 86400)
    assert sufficiency.time_warning(None) == ()


class Chip:
    kind, compute_units = "cpu", 2


class Board:
    kind, compute_units = "gpu", 132


def test_estimates_grow_with_the_work_and_are_those_measured():
    """48 agents, 48 resources, 500 days: benchmarks/README.md, and results/economy-h100.csv."""

    def config(**keys):
        return config_from_dict({"workload": "economy", **keys})

    assert duration.seconds(config(), Chip) == pytest.approx(1.0 / 2, rel=0.5)
    assert duration.seconds(config(devices="all"), Chip) == pytest.approx(14 / 2, rel=0.5)
    assert duration.seconds(config(), Board) == pytest.approx(0.68, rel=0.5)
    assert duration.seconds(config(replicates=1000), Board) == pytest.approx(5.6, rel=0.5)
    assert duration.seconds(config(devices="all"), Board) == pytest.approx(18.8, rel=0.5)
    one = duration.seconds(config(), None)
    assert duration.seconds(config(days=1000), None) == 2 * one
    assert duration.seconds(config(agents=96), Chip) == 2 * duration.seconds(config(), Chip)
    assert duration.seconds(config(trade=False), Chip) < duration.seconds(config(), Chip)
