"""Which file does a run of the economy write, and may a run go on with it?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from societies.economy.config import EconomyConfig
from societies.economy.parameters import REMOVE_AGENT, Parameters
from societies.economy.results import Layout
from societies.economy.state import MOST_UNITS, sizes, state_fields
from societies.output import ResultFile, provenance
from societies.output.checkpoints import slots
from societies.output.files import require_allowed, require_target
from societies.output.layout import declare
from societies.output.ranges import Expected, require_state
from societies.streams import LAST_STATE

MODEL_VERSION = "1"
"""Changes when, and only when, results change; see CHANGELOG, "Results change"."""

MOST_DEVICES = 64
"""Of one kind that an agent may own whatever their lifetime; it wants no more than a few."""

DEVICES = {"none": "no devices", "tools": "tools", "all": "all devices"}


def require_room(path: Path, p: Parameters, layout: Layout, *, overwrite: bool) -> None:
    """Raise OutputError if the file plainly cannot be made, before any work is done."""
    nbytes = declare(**_parts(p, layout), attributes={}).nbytes_on_disk
    require_target(path, nbytes, overwrite=overwrite)
    require_allowed(path, nbytes)


def _parts(p: Parameters, layout: Layout) -> dict[str, Any]:
    """Return what the file is made of, attributes aside."""
    lengths = sizes(p)
    state = {name: (f.shape(lengths), f.dtype) for name, f in state_fields(p).items() if f.kept}
    return {
        "coordinates": layout.coordinates(),
        "variables": layout.variables(),
        "tables": layout.tables(),
        "state": state,
        "ticks": layout.config.days,
        "slots": slots(layout.config.record.checkpoint),
    }


def create(
    path: Path, p: Parameters, layout: Layout, facts: dict[str, str], *, overwrite: bool
) -> ResultFile:
    """Make the file; ``facts`` are attributes that tell the device."""
    config = layout.config
    attributes: dict[str, str | int] = {
        "title": f"economy, {config.agents} agents x {config.resources} resources",
        "scenario": f"{'trade' if config.trade else 'no trade'}, {DEVICES[config.devices]}",
        "agents": config.agents,
        "resources": config.resources,
        "utility_tables": describe_tables(p),
        **provenance.origin(config, MODEL_VERSION),
        **facts,
    }
    parts = _parts(p, layout)
    file = ResultFile.create(path, **parts, attributes=attributes, overwrite=overwrite)
    layout.write_groups(file)
    return file


def reopen(path: Path, config: EconomyConfig) -> ResultFile:
    """Open the file to write on, after checking that it is one of this configuration."""
    return provenance.reopen(path, config, MODEL_VERSION)


def require_checkpoint(
    path: Path, p: Parameters, day: int, state: Mapping[str, NDArray[Any]]
) -> None:
    """Raise OutputError unless a state read from a file can be the evening of a society's day."""
    lengths = sizes(p)
    expected = {
        name: Expected(f.shape(lengths), f.dtype, f.within, f.some)
        for name, f in state_fields(p).items()
        if f.kept
    }
    require_state(path, day, state, expected, limits(p, day))


def limits(p: Parameters, day: int) -> dict[str, ArrayLike]:
    """Return the limits of fields that have a name (`Field.within`) on the evening of a day."""
    least = min(float(curve.minutes.min()) for curve in p.effort_curves)
    fastest = 1.0 if p.device is None else max(p.device.factor)
    a_day = math.floor(min(p.day_length * fastest / least, MOST_UNITS)) + 2
    removable = [p.agents if s.remove == REMOVE_AGENT else p.resources for s in p.shocks]
    found: dict[str, ArrayLike] = {
        "agents - 1": p.agents - 1,
        "resources - 1": p.resources - 1,
        "last to be removed": np.array(removable or [1]) - 1,
        "most units": min(MOST_UNITS, p.agents * day * a_day),  # all that was ever extracted
        "last state": LAST_STATE,
    }
    if p.device is not None:
        # What is done in these minutes, with all types one after the other, is counted in 63 bits.
        curves = (*p.effort_curves, *p.device.effort_curves)
        least = min(float(curve.minutes.min()) for curve in curves)
        counted = 2.0**57 * least / max(p.device.factor)
        found["most minutes"] = max(counted, MOST_DEVICES * max(p.device.lifetime))
    return found


def describe_tables(p: Parameters) -> str:
    """Say how long the utility tables are, and whether one ends before utility does."""
    ended = " (cut off at more than an agent will hold)" if p.tables_cut_off else ""
    return f"{', '.join(str(n) for n in p.table_lengths)} units{ended}"
