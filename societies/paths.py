"""Where the kernels and the shipped configurations are, in a wheel and in a checkout alike."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


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
