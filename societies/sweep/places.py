"""Where does a misplaced key of a sweep's file belong: to the base configuration or the sweep?"""

from __future__ import annotations

from societies.config.check import Elsewhere, places_of
from societies.config.model import Section
from societies.config.problems import Path


def in_base(base: type[Section] | None) -> Elsewhere:
    """Return a function that says whether a key belongs to a base, and how to set it."""

    def elsewhere(path: Path) -> str:
        found = _without_workload(base, path)
        lines = " or ".join(f"'set: {{{key}: ...}}'" for key in found)
        return f"; it belongs to the base: {lines}" if found else ""

    return elsewhere


def in_sweep(sweep: type[Section]) -> Elsewhere:
    """Return a function that says whether a key belongs to the sweep, next to ``base``."""

    def elsewhere(path: Path) -> str:
        found = _without_workload(sweep, path)
        return f"; it belongs to the sweep, next to 'base': {' or '.join(found)}" if found else ""

    return elsewhere


def _without_workload(model: type[Section] | None, path: Path) -> list[str]:
    """Return the paths of a key in a model; none for ``workload``, which sweep and base have."""
    return [] if model is None or path[-1] == "workload" else places_of(model, path)
