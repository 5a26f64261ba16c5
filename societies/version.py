"""Which version of the package is this?"""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache  # reading it takes milliseconds, and every batch of a study names it
def package_version() -> str:
    """Return the installed version, or a word for a checkout that is not installed."""
    try:
        return version("societies")
    except PackageNotFoundError:
        return "0+checkout"
