"""Where does a key belong that stands at a wrong place of a sweep: in its base, or in the sweep?"""

from __future__ import annotations

from societies.config.check import Elsewhere, places_of
from societies.config.model import Section
from societies.config.problems import Path


def in_base(base: type[Section] | None) -> Elsewhere:
    """Return what says of a key that it is one of the base configuration, and how to set it.

    Parameters
    ----------
    base : its model; None if that is not known
    """

    def elsewhere(path: Path) -> str:
        found = _without_workload(base, path)
        lines = " or ".join(f"'set: {{{key}: ...}}'" for key in found)
        return f"; it belongs to the base: {lines}" if found else ""

    return elsewhere


def in_sweep(sweep: type[Section]) -> Elsewhere:
    """Return what says of a key that it is one of the sweep, which has it beside ``base``."""

    def elsewhere(path: Path) -> str:
        found = _without_workload(sweep, path)
        return f"; it belongs to the sweep, beside 'base': {' or '.join(found)}" if found else ""

    return elsewhere


def _without_workload(model: type[Section] | None, path: Path) -> list[str]:
    """Return the places of a key in a model; both have a workload, which is never misplaced."""
    return [] if model is None or path[-1] == "workload" else places_of(model, path)
