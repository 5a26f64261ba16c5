"""Which values can fields of a checkpoint never exceed? Fields name these limits in `within`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from reference_py.economy.parameters import REMOVE_AGENT, Parameters
from societies.economy.ensemble import Ensemble
from societies.economy.state import MOST_UNITS

MOST_DEVICES = 64
"""Most devices of one kind that an agent can own, for any lifetime; it wants a few at most."""


def limits(p: Parameters, day: int) -> dict[str, ArrayLike]:
    """Return the named limits that fields refer to (`Field.within`) for the evening of a day."""
    removable = [p.agents if s.remove == REMOVE_AGENT else p.resources for s in p.shocks]
    if isinstance(p, Ensemble):
        p = p.bounds  # made from points, which have no interventions: shocks are read above
    least = min(min(curve.minutes) for curve in p.effort_curves)
    fastest = 1.0 if p.devices is None else max(p.device_factor)
    a_day = math.floor(min(p.day_length * fastest / least, MOST_UNITS)) + 2
    first = max(map(max, p.endowment))
    found: dict[str, ArrayLike] = {
        "last to be removed": np.array(removable or [1]) - 1,
        # all units extracted so far, and those that all agents had before
        "most units": min(MOST_UNITS, p.agents * (day * a_day + first)),
    }
    if p.devices is not None:
        # The work done in these minutes, summed over all types, is counted in 63 bits.
        curves = (*p.effort_curves, *p.devices.effort_curves)
        least = min(min(curve.minutes) for curve in curves)
        counted = 2.0**57 * least / max(p.device_factor)
        found["most minutes"] = max(counted, MOST_DEVICES * max(p.device_lifetime))
    return found
