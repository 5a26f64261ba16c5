"""Does experiments/economy/scenarios/run.py do what it is asked, and say what it did?"""

import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr

SCRIPT = Path(__file__).resolve().parents[2] / "experiments/economy/scenarios/run.py"
SCENARIOS = ("no_trade", "trade", "tools", "devices", "long_run", "shock")


def run(folder, *words):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words], cwd=folder, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.ci
def test_help_lists_the_scenarios(tmp_path):
    code, out, _ = run(tmp_path, "--help")
    assert code == 0
    assert ", ".join(SCENARIOS) in " ".join(out.split())


@pytest.mark.ci
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no_trade", "trades"], "no scenario 'trades'; there are no_trade, trade, tools"),
        (["--societies", "1"], "two at least"),
    ],
)
def test_mistakes_are_reported_before_anything_runs(words, said, tmp_path):
    code, out, err = run(tmp_path, *words)
    assert (code, out) == (2, "")
    assert said in err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_a_choice_of_scenarios_is_drawn_and_named_and_leaves_the_committed_tables(tmp_path):
    before = {path: path.stat().st_mtime_ns for path in SCRIPT.parent.iterdir()}
    code, out, err = run(tmp_path, "no_trade", "--societies", "2")
    assert code == 0, err
    written = {"comparison.csv", "comparison.md", "scenarios.png"}
    assert {f"scenarios/{name}" for name in written} <= set(out.splitlines())
    assert written <= {path.name for path in (tmp_path / "scenarios").iterdir()}
    assert (tmp_path / "scenarios/scenarios.png").stat().st_size > 20_000
    left = {path: path.stat().st_mtime_ns for path in SCRIPT.parent.iterdir()}
    assert {p: t for p, t in left.items() if p.name != "__pycache__"} == {
        p: t for p, t in before.items() if p.name != "__pycache__"
    }

    stored = tmp_path / "scenarios/no_trade.nc"
    made = stored.stat().st_mtime_ns
    code, out, err = run(tmp_path, "no_trade", "--societies", "2", "--no-tables")
    assert code == 0, err
    assert (out, stored.stat().st_mtime_ns) == ("", made)  # the series of before
    code, out, err = run(tmp_path, "no_trade", "--societies", "3", "--no-tables")
    assert code == 0, err
    assert "2 societies of another configuration or version; made again" in out
    with xr.open_dataset(stored, engine="h5netcdf") as series:
        assert series.sizes["society"] == 3
