"""Is every phase of every workload captured so that its driver runs without Societies?"""

import json
import os
import subprocess
import sys

import pytest
from small import names, small, tried

from societies.errors import ConfigError
from societies.workload.checking.capture import capture
from societies.workload.running.registry import workload


def phases(name):
    config = small(name)
    return workload(name).phases(workload(name).parameters(config), 1)


def launching(name):
    """Return the phases of a workload that launch kernels."""
    return [phase for phase, one in phases(name).items() if one.launches]


ALONE = """
import os, runpy, sys
folders, sys.argv, sys.modules["societies"] = sys.argv[1:], ["driver.py"], None
for folder in folders:
    os.chdir(folder)
    try:
        runpy.run_path("driver.py", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
"""


def drive(*folders):
    """Run the drivers of captures where Societies cannot be imported."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-c", ALONE, *folders], env=environment, capture_output=True, text=True
    )


def captured(name, phase, out):
    """Capture a phase and return the folder."""
    folder = capture(small(name), phase=phase, out=out)
    reported = json.loads((folder / "launch.json").read_text())
    assert reported["phase"].partition(" (")[0] == phase and reported["workload"] == name
    return folder


@pytest.mark.sample
@pytest.mark.parametrize("name", names())
def test_a_captured_phase_runs_alone(name, tmp_path):
    """The first phase of each workload; the others are left to the thorough tests."""
    done = drive(captured(name, launching(name)[0], tmp_path / "capture"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "identical" in done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in tried() if len(launching(name)) > 1])
def test_all_captured_phases_run_without_societies(name, tmp_path):
    """One after the other in a process; that a driver needs no other before it is tested above."""
    _, *others = launching(name)
    done = drive(*(captured(name, phase, tmp_path / phase) for phase in others))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("identical: ") == len(others)


@pytest.mark.ci
def test_what_comes_after_the_last_step(tmp_path):
    """It ends before the last step of its configuration."""
    folder = capture(small("laplace"), phase="totals", out=tmp_path / "totals")
    reported = json.loads((folder / "launch.json").read_text())
    assert reported["what"].startswith("totals after step ")
    assert 8 < reported["step"] < 60
    assert drive(folder).returncode == 0


def test_a_phase_without_kernels_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="laplace launches no kernel in it"):
        capture(small("laplace"), phase="advance", out=tmp_path / "no")
    assert not (tmp_path / "no").exists()


@pytest.mark.ci
def test_without_a_tick_it_is_the_first_that_has_the_step_on_this_device(tmp_path):
    """On a CPU one work-item searches few plies alone, and there are no boards to expand."""
    config = small("kalah", alone="auto")
    folder = capture(config, phase="expand", out=tmp_path / "capture")
    assert json.loads((folder / "launch.json").read_text())["depth"] >= 3
