"""Where are the kernels and the shipped configurations, and which paths are not regular files?"""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_KERNEL = ("/proc", "/sys", "/sys/kernel/debug", "/sys/kernel/tracing")


@cache
def data_directory(name: str) -> Path:
    """Return the folder ``kernels``, ``configs`` or ``experiments``.

    In a wheel it is inside the package (``societies/_data``), in a checkout next to the package.

    Raises FileNotFoundError if the installation has neither.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the folder '{name}' is missing from this installation of societies")


def kind_unless_file(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of a path that reading could block on or never end: a pipe, a device.

    Returns None for files and folders, and for paths that do not exist: opening those fails.
    """
    try:
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode) and not found.st_size and found.st_dev in _streams():
            return "a stream of the system"
    except (OSError, ValueError):
        return None
    for is_kind, kind in _KINDS:
        if is_kind(found.st_mode):
            return kind
    return None


@cache
def _streams() -> frozenset[int]:
    """Return the file systems whose files may wait for data like a pipe, such as /proc/kmsg.

    Files in them say that they are regular and that they have no bytes.
    """
    return frozenset(os.stat(one).st_dev for one in _KERNEL if os.path.isdir(one))


SWEEPS = "sweeps"
"""Name of the folders with files of sweeps, which are not configurations of a run."""
TARGETS = "validation"
"""Name of the folder with targets files, which are not configurations of a run either."""


def shipped_configurations() -> list[str]:
    """Return the names of the shipped configurations: ``economy/quickstart`` and others."""
    return [name for name in _shipped() if not {SWEEPS, TARGETS} & {*name.split("/")}]


def shipped_sweeps() -> list[str]:
    """Return the names of the shipped sweeps: ``economy/sweeps/utility_exponent`` and others."""
    return [name for name in _shipped() if SWEEPS in name.split("/")]


def _shipped() -> list[str]:
    shipped = data_directory("configs")
    files = (file.relative_to(shipped).with_suffix("") for file in shipped.rglob("*.yaml"))
    return sorted(file.as_posix() for file in files)


def shipped_configuration(name: str | os.PathLike[str]) -> Path | None:
    """Return the file of a shipped configuration, or None if the name is unknown.

    ``economy/quickstart``, ``economy/quickstart.yaml`` and ``configs/economy/quickstart.yaml`` are
    the same, and so are ``bam/quickstart`` and ``models/bam/quickstart``.
    """
    asked, shipped = Path(name), data_directory("configs")
    if asked.parts[:1] == ("configs",):
        asked = Path(*asked.parts[1:])
    folders = (shipped, shipped / "models")
    for candidate in (one / name for one in folders for name in (asked, f"{asked}.yaml")):
        # The second test prevents ".." from leaving the folder of shipped configurations.
        # os.path, as Path.is_file raises an error for a name that is too long.
        if os.path.isfile(candidate) and candidate.resolve().is_relative_to(shipped.resolve()):
            return candidate
    return None
