"""Is every phase of every workload captured so that its driver runs without Societies?"""

import json
import os
import subprocess
import sys

import pytest
from small import names, small

from societies.errors import ConfigError
from societies.workload.capture import capture
from societies.workload.registry import workload


def phases(name):
    config = small(name)
    return workload(name).phases(workload(name).parameters(config), 1)


def cases():
    """Yield every phase; all but the first of each workload are left to the thorough tests."""
    for name in names():
        launching = [phase for phase, one in phases(name).items() if one.launches]
        for phase in launching:
            marks = [] if phase == launching[0] else [pytest.mark.thorough]
            yield pytest.param(name, phase, id=f"{name}-{phase}", marks=marks)


def drive(folder):
    alone = "import sys; sys.modules['societies'] = None; import runpy; "
    alone += "runpy.run_path('driver.py', run_name='__main__')"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-c", alone], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(("name", "phase"), list(cases()))
def test_a_captured_phase_runs_alone(name, phase, tmp_path):
    folder = capture(workload(name), small(name), phase=phase, out=tmp_path / "capture")
    reported = json.loads((folder / "launch.json").read_text())
    assert reported["phase"].partition(" (")[0] == phase and reported["workload"] == name
    done = drive(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "identical" in done.stdout


def test_what_comes_after_the_last_step(tmp_path):
    """It ends before the last step of its configuration."""
    folder = capture(workload("laplace"), small("laplace"), phase="totals", out=tmp_path / "totals")
    reported = json.loads((folder / "launch.json").read_text())
    assert reported["what"].startswith("totals after step ")
    assert 8 < reported["step"] < 60
    assert drive(folder).returncode == 0


def test_a_phase_without_kernels_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="laplace launches no kernel in it"):
        capture(workload("laplace"), small("laplace"), phase="advance", out=tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_without_a_tick_it_is_the_first_that_has_the_step_on_this_device(tmp_path):
    """On a CPU one work-item searches few plies alone, and there are no boards to expand."""
    config = small("kalah", alone="auto")
    folder = capture(workload("kalah"), config, phase="expand", out=tmp_path / "capture")
    assert json.loads((folder / "launch.json").read_text())["depth"] >= 3
