"""A copy of what somebody changes who has cloned the repository, and commands that run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from pages import ROOT


def cloned(folder: Path) -> Path:
    """Return a folder with the package, its kernels, its reference and its configurations."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name in ("societies", "reference_py", "kernels", "configs"):
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
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
