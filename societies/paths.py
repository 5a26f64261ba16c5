"""Where the kernels and the shipped configurations are; and what is no file at all."""

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


@cache
def data_directory(name: str) -> Path:
    """Return the folder ``kernels`` or ``configs``.

    In a wheel it lies inside the package (``societies/_data``); in a checkout it lies beside it.

    Raises
    ------
    FileNotFoundError
        If the installation has neither.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the folder '{name}' is missing from this installation of societies")


def kind_unless_file(path: str | os.PathLike[str]) -> str | None:
    """Say what is at ``path`` if reading it could wait for ever or never end: a pipe, a device.

    Returns None for files, for folders and for what is not there, which the system itself refuses.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return None
    for is_kind, kind in _KINDS:
        if is_kind(mode):
            return kind
    return None
