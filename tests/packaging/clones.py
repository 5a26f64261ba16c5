"""A copy of what a contributor changes in a clone, and commands that run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from pages import ROOT


def cloned(folder: Path) -> Path:
    """Return a folder with the package, its kernels, its reference and its configurations.

    Files keep their times, so that Python compiles only those that are changed there.
    """
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name in ("societies", "reference_py", "kernels", "configs"):
        being_written = shutil.ignore_patterns("*.pyc.*")
        shutil.copytree(ROOT / name, folder / name, ignore=being_written)
    return folder


def societies(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a clone."""
    return subprocess.run(
        [sys.executable, "-m", "societies", *words],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=False,
    )
