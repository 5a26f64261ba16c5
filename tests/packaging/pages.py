"""What do the blocks of a page do when a reader carries them out unchanged, one after another?

A fence says what becomes of a block: ``sh`` and ``python`` are executed; ``yaml`` and ``diff``
begin with a comment that names the file in which they are saved; ``console`` has commands after
``$`` and what they print; ``text`` shows what a block before it prints; ``c`` is a fragment of a
kernel; ``r`` is for a test of its own, ``stata`` and ``julia`` for programs that are not here. One
folder serves a page from first to last.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from societies.opencl import race

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(
    r"^ *(\$ |[A-Z_]+=\S+ )?(\.ci/|benchmarks/|(societies|python3?|pip|pytest|git|apt(-get)?|cd) )"
)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """Return the name in the first line of a block that is a file."""
        found = re.match(r"# (\S+\.\w+)\n", self.text)
        return found[1] if found and self.language in ("yaml", "diff") else None


@dataclass(frozen=True)
class Change:
    """A text of the pages in whose place another is executed here, and why."""

    page: str
    text: str
    instead: str
    why: str


NOT_EXECUTED = {
    "python3 -m venv .venv": "needs the network; .ci/run does it, test_wheel.py the same offline",
    ".venv/bin/pip install -e": "would run these tests again; .ci/run executes it",
    "apt install oclgrind": "needs root and the network; .ci/run does it",
    "pip install 'societies[view]'": "needs the network; .ci/run installs the same with the tests",
    "societies view ": "serves until Ctrl-C; tests/cli/test_page_command.py and tests/view do that",
    "ssh -L ": "the same on another machine",
    "societies bench economy/": "takes minutes or two GPUs; tests/cli/test_waits.py does it small",
    "python benchmarks/studies.py --points 10000": "needs a GPU",
    "python benchmarks/curves.py": "takes ten minutes and the C++ program",
    "python benchmarks/two_cores.py": "takes ten minutes and the C++ program",
    "python experiments/physics/opencl_cuda/run.py": "needs an NVIDIA GPU and CuPy",
    "python experiments/physics/opencl_cuda/crossed.py": "needs an NVIDIA GPU and CuPy",
    "python experiments/physics/opencl_cuda/two_gpus.py": "needs two GPUs",
    "python benchmarks/kalah.py --games": "needs OpenSpiel, which is no dependency",
    "python tests/races/check.py": "takes minutes; .ci/run and .ci/nightly execute it",
}
"""First words of blocks that are not executed by these tests, and why."""

CHANGES = (
    Change("README.md", "--device gpu", "--device cpu", "not every machine has a GPU"),
    Change(
        "README.md",
        "--set devices=all --seed 4",
        "--set devices=all --seed 4 --days 3",
        "twelve days take the reference a minute; a test marked thorough runs all of them",
    ),
    Change(
        "README.md",
        "configs/economy/long_run.yaml",
        "configs/economy/long_run.yaml --days 3",
        "1500 days take minutes",
    ),
    Change(
        "experiments/randomness/README.md",
        "battery.py   ",
        "battery.py --list ",
        "takes an hour, and the Debian package dieharder",
    ),
    Change(
        "experiments/randomness/README.md",
        "battery.py --quick",
        "battery.py --quick --list",
        "takes the Debian package dieharder",
    ),
    Change(
        "experiments/randomness/README.md",
        "battery.py --only",
        "battery.py --list --only",
        "takes minutes, and the Debian package dieharder",
    ),
    Change(
        "benchmarks/README.md",
        "--societies 1 16",
        "--societies 2 --days 12 --scenarios no_trade devices",
        "500 days of 16 societies with devices take many minutes",
    ),
    Change(
        "benchmarks/README.md",
        "--societies 16 --scenarios",
        "--societies 16 --days 12 --scenarios",
        "500 days of 16 societies take half a minute",
    ),
    Change(
        "benchmarks/README.md",
        "--agents 48 1000 10000 --days 50",
        "--agents 48 --days 3",
        "ten thousand agents take minutes; 48 have their kernels from another block",
    ),
    Change(
        "benchmarks/README.md",
        "--agents 100000 --days 6",
        "--agents 48 --days 3",
        "a hundred thousand agents take minutes",
    ),
    Change(
        "benchmarks/README.md",
        "--device gpu --societies 1 --agents 1000 10000 100000 --days 10",
        "--device cpu --societies 1 --agents 48 --days 3",
        "not every machine has a GPU",
    ),
    Change(
        "experiments/economy/scenarios/README.md",
        "scenarios/run.py\n",
        "scenarios/run.py --societies 2 no_trade trade\n",
        "all six scenarios with 20 societies take half an hour",
    ),
    Change(
        "experiments/economy/scenarios/README.md",
        "--societies 5",
        "--societies 3",
        "time; a cache of another number of societies must not be reused either",
    ),
    Change(
        "experiments/physics/molecular_dynamics/README.md",
        "molecular_dynamics/run.py\n",
        "molecular_dynamics/run.py --small\n",
        "takes minutes",
    ),
    Change(
        "tests/faults/README.md",
        "--flips 1000 --seed 1",
        "--flips 5 --seed 1",
        "minutes to hours; tests/faults/test_faults.py runs a few of each as well",
    ),
    Change(
        "tests/faults/README.md",
        "--swaps 300 --seed 1",
        "--swaps 3 --seed 1",
        "minutes to hours; tests/faults/test_faults.py runs a few of each as well",
    ),
    Change(
        "tests/faults/README.md",
        "--kills 200 --seed 101",
        "--kills 2 --seed 101",
        "minutes to hours; tests/faults/test_faults.py runs a few of each as well",
    ),
    Change(
        "tests/faults/README.md",
        "--kills 20 --seed 1",
        "--kills 1 --seed 1",
        "minutes to hours; tests/faults/test_faults.py runs a few of each as well",
    ),
    Change(
        "tests/faults/README.md",
        "for signal in INT TERM HUP KILL; do python tests/faults/kills.py --signal $signal "
        "--count 200 --jobs 16; done",
        "python tests/faults/kills.py --signal TERM --count 2 --jobs 1",
        "minutes to hours; tests/faults/test_faults.py runs a few of each as well",
    ),
    Change(
        "tests/faults/README.md",
        "--count 1000 --seed 1",
        "--count 20 --seed 1",
        "minutes to hours; tests/faults/test_faults.py runs a few of each as well",
    ),
    Change(
        "tests/faults/README.md",
        "--tables 1000 --seed 1",
        "--tables 20 --seed 1",
        "minutes to hours; tests/faults/test_faults.py runs a few of each as well",
    ),
    Change(
        "tests/faults/README.md",
        "--configurations 2500 --seed 1",
        "--configurations 20 --seed 1",
        "minutes to hours; tests/faults/test_faults.py runs a few of each as well",
    ),
    Change(
        "tests/faults/README.md",
        "--societies 300 --seed 1",
        "--societies 1 --seed 17",
        "minutes to hours; tests/faults/test_faults.py runs a few of each as well",
    ),
)
"""Shortenings: what the page says is executed, but for a size or a device."""

FRAGMENT = re.compile(r"docs/changes/(?!README\.md$)")

WITHOUT_OCLGRIND = "SOCIETIES_DEBUG=race "
"""Left out where the simulator is not installed; .ci/nightly executes the page with it."""


def pages() -> list[str]:
    """Return every page of the repository, but the data's and fragments of the changelog."""
    folders = ("docs", "experiments", "benchmarks", "tests", "societies")
    found = [ROOT.glob("*.md"), *((ROOT / folder).rglob("*.md") for folder in folders)]
    names = {path.relative_to(ROOT).as_posix() for group in found for path in group}
    return sorted(name for name in names if not FRAGMENT.match(name))


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    text = (ROOT / page).read_text()
    return [
        Block(found[1], found[2], text[: found.start()].count("\n") + 1)
        for found in FENCE.finditer(text)
    ]


def excused(text: str) -> bool:
    """Return whether all lines of a block are among those that are not executed here."""
    return all(line.startswith(tuple(NOT_EXECUTED)) for line in text.splitlines())


def executed(page: str, text: str) -> str:
    """Return what is executed for a block."""
    for change in CHANGES:
        if change.page == page:
            text = text.replace(change.text, change.instead)
    if race.runtime() is None:
        assert not os.environ.get("SOCIETIES_REQUIRE_OCLGRIND"), race.NOT_INSTALLED
        text = text.replace(WITHOUT_OCLGRIND, "")
    return text


class ReaderFolder:
    """A folder with a virtual environment, in which a reader without network follows a page.

    Parameters
    ----------
    folder
        An empty one.
    packages
        What is importable in it in front of the dependencies of these tests: the checkout, or the
        ``site-packages`` into which the wheel was installed.
    """

    def __init__(self, folder: Path, packages: Path) -> None:
        self.folder = folder
        environment = folder / ".venv"  # where the README puts it
        venv.create(environment, with_pip=False, symlinks=True)
        self._bin = environment / "bin"
        paths = {"base": str(environment), "platbase": str(environment)}
        site = Path(sysconfig.get_path("purelib", "venv", vars=paths))
        # Paths in a .pth file come last, and .pth files found through them are not read: even if
        # the tests run from an editable installation, `societies` is the one of ``packages``.
        dependencies = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
        (site / "packages.pth").write_text("\n".join([str(packages), *sorted(dependencies)]) + "\n")
        python = self._bin / "python"
        self._command("societies", f'exec "{python}" -m societies "$@"')
        self._command("pytest", f'exec "{python}" -m pytest -p no:cacheprovider -p no:xdist "$@"')
        offline = "--quiet --no-deps --no-index --no-build-isolation"
        self._command(
            "pip",
            f'test "$1" = install && shift && "{sys.executable}" -m pip --python "{python}" '
            f'install {offline} "$@"',
        )

    def _command(self, name: str, line: str) -> None:
        path = self._bin / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def run(self, *words: str) -> str:
        """Run a command that must succeed; return what it prints."""
        return self.said(*words)[0]

    def said(self, *words: str) -> tuple[str, str]:
        """The same with what it prints on standard error."""
        variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        variables["PATH"] = f"{self._bin}{os.pathsep}{variables['PATH']}"
        done = subprocess.run(
            words, cwd=self.folder, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout, done.stderr

    def with_checkout(self) -> None:
        """Copy what scripts of the repository read and write, for pages that are about them."""
        for name in ("experiments", "benchmarks", "tests", "configs", "kernels"):
            skip = shutil.ignore_patterns("__pycache__", "*.h5", "*.nc")
            shutil.copytree(ROOT / name, self.folder / name, ignore=skip)


def carry_out(page: str, place: ReaderFolder) -> Iterator[tuple[Block, str, str]]:
    """Do what a page says; yield its blocks with what each of them printed, and on stderr."""
    for block in blocks(page):
        out = err = ""
        if block.file:
            (place.folder / block.file).write_text(block.text)
        elif block.language == "sh" and not excused(block.text):
            out, err = place.said("bash", "-euc", executed(page, block.text))
        elif block.language == "console":
            commands = [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
            out, err = place.said("bash", "-euc", executed(page, "\n".join(commands)))
        elif block.language == "python":
            out, err = place.said("python", "-W", "error", "-c", block.text)
            assert out or "print(" not in block.text, block.text
        yield block, out, err


def missing(shown: str, printed: str) -> list[str]:
    """Return the lines of what a page shows that were not printed; names of logs may differ."""

    def plain(text: str) -> str:
        return re.sub(r"/\S+/(societies-race-)\w+\.log", r"\1.log", " ".join(text.split()))

    return [line for line in shown.splitlines() if plain(line) not in plain(printed)]
