"""Which numbers can no run pass: limits of the fields of a checkpoint that have a name."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from reference_py.economy.parameters import REMOVE_AGENT, Parameters
from societies.economy.ensemble import Ensemble
from societies.economy.state import MOST_UNITS

MOST_DEVICES = 64
"""Devices of one kind that an agent may own, whatever their lifetime; it wants a few at most."""


def limits(p: Parameters, day: int) -> dict[str, ArrayLike]:
    """Return the limits of fields that have a name (`Field.within`) on the evening of a day."""
    removable = [p.agents if s.remove == REMOVE_AGENT else p.resources for s in p.shocks]
    if isinstance(p, Ensemble):
        p = p.bounds  # of points, which have no interventions and so lack their removals
    least = min(min(curve.minutes) for curve in p.effort_curves)
    fastest = 1.0 if p.devices is None else max(p.device_factor)
    a_day = math.floor(min(p.day_length * fastest / least, MOST_UNITS)) + 2
    found: dict[str, ArrayLike] = {
        "last to be removed": np.array(removable or [1]) - 1,
        "most units": min(MOST_UNITS, p.agents * day * a_day),  # all that was ever extracted
    }
    if p.devices is not None:
        # What is done in these minutes, with all types one after the other, is counted in 63 bits.
        curves = (*p.effort_curves, *p.devices.effort_curves)
        least = min(min(curve.minutes) for curve in curves)
        counted = 2.0**57 * least / max(p.device_factor)
        found["most minutes"] = max(counted, MOST_DEVICES * max(p.device_lifetime))
    return found
