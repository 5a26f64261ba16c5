"""Were these rules ever verified on this machine? A small record in the folder of the cache.

An error of the translator is found by `verify` only, so `run` says once that rules which are
translated were never verified. There is an empty file for each hash of rules.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from societies.kerneltext.cache import cache_directory
from societies.workload.declare.protocol import Setup

VERIFIED, SHOWN = "verified", "shown"


def note_verified(setup: Setup[Any, Any]) -> None:
    """Record that the rules of a setup have the bits of Python."""
    _note(setup.workload.translated_sha256(setup.config), VERIFIED)


def never_verified(setup: Setup[Any, Any]) -> bool:
    """Return whether translated rules were never verified; True once for each hash of rules."""
    digest = setup.workload.translated_sha256(setup.config)
    if not digest or any(_file(digest, kind).exists() for kind in (VERIFIED, SHOWN)):
        return False
    _note(digest, SHOWN)
    return True


def _note(digest: str, kind: str) -> None:
    with suppress(OSError):  # without a folder for a cache it is shown every time
        if digest:
            _file(digest, kind).parent.mkdir(parents=True, exist_ok=True)
            _file(digest, kind).touch()


def _file(digest: str, kind: str) -> Path:
    return cache_directory() / "rules" / f"{digest}.{kind}"
