"""Does the file of a search that is over have the supersteps that there were, and no others?"""

import io
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr
from datasets import datasets
from rich.console import Console

from societies import config_from_dict, open_results, plan, run, verify
from societies.errors import ConfigError, Interrupted
from societies.output import inspect
from societies.workload.running import blocks, progress
from societies.workload.running.engines import ReferenceEngine
from societies.workload.running.registry import workload

TABLES = ("supersteps", "measured")
ROOT = Path(__file__).resolve().parents[3]
SETTINGS = {
    "workload": "tictactoe",
    "position": "X.. .O. ...",
    "depth": 4,
    "batch": {"leaves": 9, "branches": 4},
    "record": {"checkpoint": 5},
}
CONFIG = config_from_dict(SETTINGS)


def compared(path):
    """Return the bytes of every dataset but those that differ from run to run."""
    return datasets(path, lambda name: name.startswith("provenance/s") or "measured" in name)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Return the report of a run that was not stopped."""
    return run(CONFIG, device="reference", out=tmp_path_factory.mktemp("straight") / "run.h5")


def check(path, last):
    """Compare what plain xarray shows with the supersteps that there were."""
    with xr.open_dataset(path) as plain:
        assert "superstep" not in plain.sizes
        assert (plain.attrs["ticks"], int(plain.ticks_committed)) == (last, last)
    for table in TABLES:
        with xr.open_dataset(path, group=f"events/{table}") as plain:
            assert plain.superstep.values.tolist() == [*range(1, last + 1)]
        with open_results(path, events=table) as ours:
            assert ours.sizes["event"] == last
    found = inspect(path, check=True)
    assert found.complete and found.damages == []
    assert f"ended at superstep {last}: the root is closed" in dict(found.rows)["state"]


def test_plain_xarray_sees_the_supersteps_that_there_were(straight):
    assert 9 < straight.last_tick < 100
    check(straight.path, straight.last_tick)


def test_a_search_that_is_cut_off_has_room_for_no_more(tmp_path):
    config = config_from_dict({**SETTINGS, "supersteps": 5})
    run(config, device="reference", out=tmp_path / "run.h5")
    for table in TABLES:
        with xr.open_dataset(tmp_path / "run.h5", group=f"events/{table}") as plain:
            assert plain.superstep.values.tolist() == [*range(1, 6)]


def test_more_supersteps_than_there_is_room_for_at_first(tmp_path):
    config = config_from_dict({**SETTINGS, "depth": 7, "batch": {"leaves": 1, "branches": 1}})
    report = run(config, out=tmp_path / "run.h5")
    assert report.last_tick > 1100
    check(report.path, report.last_tick)


KILLED = """
import os, signal, sys
from societies import config_from_dict, run
from societies.output import resultfile

place, shorten = resultfile.place, resultfile.ResultFile.shorten

def dying(*given, **named):
    if sys.argv[2] == "after":
        place(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)

def shortened(file):
    resultfile.place = dying
    shorten(file)

resultfile.ResultFile.shorten = shortened
run(config_from_dict(eval(sys.argv[3])), device="reference", out=sys.argv[1])
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_while_the_file_is_cut(moment, straight, tmp_path):
    """The one or the other file exists, whole; resuming cuts what was not."""
    path, last = tmp_path / "run.h5", straight.last_tick
    command = [sys.executable, "-c", KILLED, path, moment, repr(SETTINGS)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert inspect(path, check=True).complete
    for table in TABLES:
        with open_results(path, events=table) as ours:
            assert ours.superstep.values.tolist() == [*range(1, last + 1)]
    again = run(CONFIG, device="reference", out=path, resume=True)
    assert (again.state_sha256, again.ended) == (straight.state_sha256, straight.ended)
    check(path, last)
    assert compared(path) == compared(straight.path)
    assert [one.name for one in tmp_path.iterdir()] == ["run.h5"]


def test_a_branch_of_a_search_that_is_over_is_the_search(straight, tmp_path):
    last = straight.last_tick
    given = {"start": straight.path, "tick": last - 1, "device": "reference"}
    branch = run(CONFIG, out=tmp_path / "branch.h5", **given)
    assert 1 < branch.first_tick == (last - 1) // 5 * 5 + 1
    assert (branch.state_sha256, branch.last_tick) == (straight.state_sha256, last)
    check(branch.path, last)
    with pytest.raises(ConfigError, match="there is no superstep left to compare"):
        verify(CONFIG, start=straight.path)


def test_nothing_said_on_the_way_has_the_bound(tmp_path, monkeypatch):
    path, most = tmp_path / "run.h5", workload("tictactoe").ticks(CONFIG)
    original, shown = ReferenceEngine.run_ticks, io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    monkeypatch.setattr(progress, "open_console", lambda **given: console)

    def failing(engine, first, last):
        if last >= 7:
            raise KeyboardInterrupt
        original(engine, first, last)

    monkeypatch.setattr(blocks, "paced", lambda *given: 1)
    with monkeypatch.context() as patch, progress.progress_bar(CONFIG, "reference") as advance:
        patch.setattr(ReferenceEngine, "run_ticks", failing)
        with pytest.raises(Interrupted) as stopped:
            run(CONFIG, device="reference", out=path, progress=advance)
    last = int(re.search(r"after superstep (\d+); all of it is in", str(stopped.value))[1])
    state = dict(inspect(path).rows)["state"]
    assert state == f"unfinished: complete up to superstep {last}" and 0 < last < 7
    assert f"superstep {last}" in shown.getvalue()
    assert not any(str(most) in text for text in (str(stopped.value), state, shown.getvalue()))


def test_where_the_end_is_known_it_is_said(monkeypatch):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    monkeypatch.setattr(progress, "open_console", lambda **given: console)
    config = config_from_dict({"workload": "laplace", "steps": 30})
    with progress.progress_bar(config, "reference") as advance:
        for step in (0, 10, 20):
            advance(step, 30)
    assert "step 20 of 30" in shown.getvalue()


def test_a_plan_says_that_no_one_knows_how_many_supersteps_there_will_be():
    for most in (5, 10**9):
        rows = plan(config_from_dict({**SETTINGS, "supersteps": most}), device="reference").rows
        found = [value for name, value in rows if name == "supersteps"]
        assert found == [f"until the root is closed, at most {most:,}"]
