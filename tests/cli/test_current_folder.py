"""Does `python -m societies` find the same workloads as `societies`: none in the current folder?"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import societies

ROOT = Path(societies.__file__).parents[1]
STRANGER = """
from pathlib import Path
Path("ran").touch()
raise SystemExit("a stranger's code ran")
"""


@pytest.fixture
def stranger_s_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[societies.workloads]\nstranger = stranger:WORKLOAD\n")
    for name in ("stranger.py", "h5py.py", "yaml.py", "pydantic.py", "typer.py"):
        (tmp_path / name).write_text(STRANGER)
    (tmp_path / "stranger.yaml").write_text("workload: stranger\n")
    (tmp_path / "economy.yaml").write_text("workload: economy\nagents: 2\nresources: 2\ndays: 2\n")
    return tmp_path


def command(*words, **variables):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, "-m", "societies", *words],
        capture_output=True,
        text=True,
        env=environment | variables,
    )


@pytest.mark.ci
def test_the_current_folder_has_no_workloads(stranger_s_folder):
    done = command("check", "stranger.yaml", PYTHONPATH=str(ROOT))
    assert done.returncode == 2, done.stderr
    assert "workload" in done.stderr and "stranger" in done.stderr
    done = command("run", "economy.yaml", "--device", "reference", PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    assert not (stranger_s_folder / "ran").exists()


def test_a_folder_that_is_named_on_purpose_counts(stranger_s_folder):
    paths = os.pathsep.join([str(ROOT), str(stranger_s_folder)])
    done = command("check", "stranger.yaml", PYTHONPATH=paths)
    assert (stranger_s_folder / "ran").exists(), done.stderr


@pytest.mark.ci
def test_a_checkout_that_is_not_installed_runs_in_its_own_folder(tmp_path, monkeypatch):
    """With -S nothing installed is seen; the dependencies are put behind by name."""
    monkeypatch.chdir(ROOT)
    installed = os.pathsep.join(
        path for path in sys.path if path.endswith("-packages") and "checkout" not in path
    )
    program = tmp_path / "small.yaml"
    program.write_text("workload: economy\nagents: 2\nresources: 2\ndays: 2\n")
    done = subprocess.run(
        [
            *(sys.executable, "-S", "-m", "societies", "run", program),
            *("--device", "reference", "--out", tmp_path / "run.h5"),
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": installed},
    )
    assert done.returncode == 0, done.stderr
