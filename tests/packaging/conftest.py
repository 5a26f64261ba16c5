"""An installation as users have it: the wheel, in an environment and a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Installation:
    wheel: Path
    environment: Path

    def run(self, words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a command with this environment first in the path, far from the checkout."""
        variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        variables["PATH"] = f"{self.environment / 'bin'}{os.pathsep}{variables['PATH']}"
        return subprocess.run(
            words, cwd=folder, env=variables, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Return an installation that all processes of a test run share: the first one makes it."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, made = base / "installation", base / "installation" / "made"
    with FileLock(base / "installation.lock"):
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a process that was stopped
            folder.mkdir()
            install(folder)
            made.touch()
    (wheel,) = folder.glob("*.whl")
    return Installation(wheel, folder / "environment")


def install(folder: Path) -> None:
    """Build the wheel from the checkout and install it without touching the network.

    The new environment has our wheel and nothing else; the dependencies are those of the
    environment that runs the tests, put behind it.
    """
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")

    environment = folder / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    paths = {"base": str(environment), "platbase": str(environment)}
    site = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    # A path in a .pth file comes last, and .pth files found through it are not read: even if the
    # tests run from an editable installation, `societies` is the one from the wheel.
    ours = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    (site / "dependencies.pth").write_text("\n".join(sorted(ours)) + "\n")
