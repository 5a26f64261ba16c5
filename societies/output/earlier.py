"""Which values of a result file are missing, although the file has ordinary numbers for them?

Earlier versions wrote zeros for agents that were removed. In newer files these values are missing.
A variable is changed only if all agents have values after a removal, so newer files stay as they
are.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import yaml

from societies.output.layout import FILL, is_clock, nothing
from societies.output.study_layout import POINTS
from societies.output.tables import EVENT, NONE, none_of

if TYPE_CHECKING:
    import xarray as xr

AGENT, TARGETS = "agent", "shock_target"
FINAL_ALIVE = "final_alive"
"""Of a study: whether each agent is left, which is never missing."""
REMOVALS = ("shocks", "interventions")
"""Sections of a configuration that may remove agents, in the order in which they do."""

Removed = list[tuple[int, int | None]]
"""Removed agents and the tick at whose end each is removed; None: an agent that is not known."""


def without_codes(
    data: xr.Dataset,
    file: h5py.Group,
    clock: str = "",
    *,
    complete: bool = True,
) -> xr.Dataset:
    """Return a dataset in which integers that stand for no value are missing (NaN).

    Such values are codes: -1 for no agent, day 0 for a device that was never invented. A file
    declares them (`Variable.none`). Earlier versions did so by the fill value alone, and not for
    variables along the clock; in their tables of events only the code -1 is a negative index.
    Until a run is ``complete``, values not along the clock are missing as well if not written yet.
    """
    import xarray as xr

    coded = {}
    for name, one in data.data_vars.items():
        if one.dtype.kind not in "iu":
            continue
        none = none_of(file[name])
        if none is None and EVENT in one.dims:
            none = -1 if one.attrs.get("units") == "index" and one.ndim > 1 else None
        elif none is None and not any(is_clock(str(dim), clock) for dim in one.dims):
            fill = file[name].fillvalue
            code = one.dims and fill != nothing(one.dtype)
            none = fill if code or (FILL in file[name].attrs and not complete) else None
        if none is not None:
            coded[name] = one.assign_attrs({FILL: none, NONE: none})
    masked = xr.decode_cf(xr.Dataset(coded), decode_times=False, decode_coords=False)  # lazily
    return data.assign({name: masked[name].variable for name in coded})


def without_removed(data: xr.Dataset, file: h5py.File, clock: str) -> xr.Dataset:
    """Return a dataset in which the values of removed agents are missing.

    Variables for which the file does not say who was removed are left out, with a warning.
    """
    removed = _removed(data, file, clock)
    if not any(removed):
        return data
    stale = [name for name, one in data.data_vars.items() if _is_stale(one, clock, removed)]
    if any(agent is None for removals in removed for _, agent in removals) and stale:
        warnings.warn(
            f"left out {', '.join(map(str, stale))}: an earlier version wrote zeros for removed "
            "agents, and the file does not say which agents these are; run it again",
            stacklevel=3,
        )
        return data.drop_vars(stale)
    return data.assign({name: _masked(data[name], clock, removed) for name in stale})


def _removed(data: xr.Dataset, file: h5py.File, clock: str) -> list[Removed]:
    """Return the removed agents of each copy or run, or those of all of them as the only item."""
    text = str(data.attrs.get("configuration", ""))
    points = bytes(file[POINTS][...]).decode() if POINTS in file else "[]"
    if "remove" not in text + points:
        return []
    try:
        base = yaml.safe_load(text)
        settings = [_settings(base, point) for point in json.loads(points)]
        if settings:
            of_points = [_agents(_removals(one, clock), clock) for one in settings]
            return [of_points[point] for point in data["point"].values]
        removals = _removals(base, clock)
        return [_agents(removals, clock, one) for one in _targets(file, removals)]
    except (yaml.YAMLError, ValueError, AttributeError, KeyError, IndexError, TypeError):
        return []  # the text may be cut off, or not be a configuration if the file is foreign


def _settings(base: Any, point: Mapping[str, Any]) -> Any:
    """Return the configuration of a point, as far as removals are concerned."""
    found = {name: copy.deepcopy(base.get(name)) for name in REMOVALS}
    for key, value in point.items():
        path = [int(part) if part.isdecimal() else part for part in key.split(".")]
        if path[0] in REMOVALS:
            inner: Any = found
            for part in path[:-1]:
                inner = inner[part]
            inner[path[-1]] = value
    return found


def _removals(said: Any, clock: str) -> list[Mapping[str, Any]]:
    """Return the removals of a configuration, shocks first."""
    listed = [one for name in REMOVALS for one in said.get(name) or ()]
    return [one for one in listed if one.get("remove") and one[clock] >= 0 and "index" in one]


def _targets(file: h5py.File, removals: list[Mapping[str, Any]]) -> list[list[Any]]:
    """Return the index of what each removal removes for each copy, or once if all have the same."""
    numbers = [one["index"] for one in removals]
    for slot in file.get("checkpoint", {}).values() if "random" in numbers else ():
        if int(slot["tick"][()]) >= 0 and TARGETS in slot["state"]:
            found: list[list[Any]] = slot["state"][TARGETS][...].tolist()
            return found
    return [numbers]


def _agents(
    removals: list[Mapping[str, Any]], clock: str, targets: list[Any] | None = None
) -> Removed:
    """Return when which agents are removed; None for an agent that the file does not name."""
    which = [one["index"] for one in removals] if targets is None else targets
    return [
        (int(one[clock]), None if agent == "random" else int(agent))
        for one, agent in zip(removals, which, strict=True)
        if one["remove"] == AGENT
    ]


def _clock_of(one: xr.DataArray, clock: str) -> str:
    """Return the dimension along which an array has the clock, "" if it has none."""
    return next((str(dim) for dim in one.dims if is_clock(str(dim), clock)), "")


def _is_stale(one: xr.DataArray, clock: str, removed: list[Removed]) -> bool:
    """Whether some copy has values of all agents after one of them was removed."""
    dim = _clock_of(one, clock)
    if AGENT not in one.dims or not (dim or str(one.name).startswith("final_")):
        return False
    if one.name == FINAL_ALIVE:
        return False
    for place, removals in enumerate(removed):
        first = min((day for day, _ in removals), default=None)
        if first is None or (dim and not (one[dim] >= first).any()):
            continue
        last = one.isel({dim: -1}) if dim else one
        part = last if len(removed) == 1 else last.isel({one.dims[0]: place})
        if bool(part.notnull().all(AGENT).any()):
            return True
    return False


def _masked(one: xr.DataArray, clock: str, removed: list[Removed]) -> xr.DataArray:
    """Return an array without the values of agents on the days at or after their removal."""
    import xarray as xr

    dim = _clock_of(one, clock)
    days = one[dim].values if dim else np.array([np.iinfo(np.int64).max])
    gone = np.zeros((len(removed), len(days), one.sizes[AGENT]), bool)
    for removals, found in zip(removed, gone, strict=True):
        for day, agent in removals:
            found |= (days >= day)[:, None] & (one[AGENT].values == agent)
    shown = gone if dim else gone[:, 0]
    copies = () if len(removed) == 1 else one.dims[:1]
    dims = (*copies, dim, AGENT) if dim else (*copies, AGENT)
    return one.where(~xr.DataArray(shown if copies else shown[0], dims=dims))
