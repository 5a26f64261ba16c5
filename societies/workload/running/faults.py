"""Where did a rule go wrong? A checked build tests every operation of the Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from societies.translate import Site

FAULT = "python_fault"
"""Field of a checked build: the number of the first place where a rule went wrong; 0: none."""
FAULT_MEANING = "first place where a rule went wrong"


def require_no_fault(
    sites: Sequence[Site],
    clock: str,
    copies: str,
    arrays: Mapping[str, Any],
    tick: int,
    **arguments: int,
) -> None:
    """Raise RuleError if a phase noted a fault.

    Parameters
    ----------
    sites : the places that are tested; the fault 1 is the first of them
    clock, copies : what a tick and a copy are called
    arrays, tick, arguments : as for the function of a `Phase` on the host
    """
    faults = arrays[FAULT].get()
    if not faults.any():
        return
    from societies.translate import RuleError

    place = int(np.flatnonzero(faults)[0])
    file, line, what = sites[int(faults[place]) - 1]
    count = int((faults != 0).sum())
    many = f" (one of {count})" if count > 1 else ""
    raise RuleError(
        f"{file.path}:{line}: {what}\n    {file.line(line).strip()}\n"
        f"  on {clock} {tick}, in the {copies} with index {place} of the launch{many}"
    )
