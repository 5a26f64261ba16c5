"""Which version of the package is installed?"""

from __future__ import annotations

from functools import cache


@cache  # reading it takes milliseconds, and every batch of a study names it
def package_version() -> str:
    """Return the installed version, or "0+checkout" if the package is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # takes long to import

    try:
        return version("societies")
    except PackageNotFoundError:
        return "0+checkout"
