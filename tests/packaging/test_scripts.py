"""Does every script of the repository start, and say what it takes?"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [
    path.relative_to(ROOT).as_posix()
    for folder in ("benchmarks", "docs", "experiments", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "argparse" in (text := path.read_text()) and '\nif __name__ == "__main__":' in text
]


def test_there_are_scripts():
    assert {"benchmarks/economy.py", "tests/races/check.py"} <= set(SCRIPTS)


@pytest.mark.thorough
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_imports_what_there_is(script, tmp_path):
    """Nothing but its own imports runs: what a rename leaves behind shows here."""
    done = subprocess.run(
        [sys.executable, ROOT / script, "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
