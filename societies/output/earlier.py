"""Which numbers of a file stand for nothing, though they look like numbers?

Files of the economy that were written earlier have zeros for agents that were removed. In newer
ones these values are missing; that is what is looked for, so newer files stay as they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import yaml
from numpy.typing import NDArray

from societies.output.layout import is_clock, nothing

if TYPE_CHECKING:
    import xarray as xr

AGENT, TARGETS = "agent", "shock_target"

Removals = Sequence[Mapping[str, Any]]


def without_codes(data: xr.Dataset, file: h5py.File, clock: str) -> xr.Dataset:
    """Return a dataset in which fill values of integers that do not go along the clock are missing.

    They are codes: -1 for nobody, day 0 for what was never invented. What goes along the clock is
    complete, and has none.
    """
    found = {}
    for name, one in data.data_vars.items():
        if one.dtype.kind not in "iu" or any(is_clock(str(dim), clock) for dim in one.dims):
            continue
        fill = file[name].fillvalue
        if one.dims and fill != nothing(one.dtype):
            found[name] = one.where(one != fill)
    return data.assign(found)


def without_removed(data: xr.Dataset, file: h5py.File, clock: str) -> xr.Dataset:
    """Return a dataset in which the values of removed agents are missing.

    Variables for which the file does not say who was removed are left out, with a warning.
    """
    removals = _removals(data, clock)
    stale = [name for name, one in data.data_vars.items() if _stale(one, clock, removals)]
    if not stale:
        return data
    targets = _targets(file, removals)
    if targets is None:
        warnings.warn(
            f"left out {', '.join(map(str, stale))}: an earlier version wrote zeros for removed "
            "agents, and the file does not say which agents these are; run it again",
            stacklevel=3,
        )
        return data.drop_vars(stale)
    return data.assign({name: _masked(data[name], clock, removals, targets) for name in stale})


def _removals(data: xr.Dataset, clock: str) -> Removals:
    """Return what the configuration removes, shocks first; nothing if the runs differ in it."""
    text = str(data.attrs.get("configuration", ""))
    if "remove: agent" not in text:
        return []
    keys = str(data.attrs.get("vary", "")).split(", ")
    if any(key.startswith(("shocks", "interventions")) for key in keys):
        return []
    try:
        said = yaml.safe_load(text)
        listed = [*(said.get("shocks") or ()), *(said.get("interventions") or ())]
        return [one for one in listed if one.get("remove") and one[clock] >= 0 and "index" in one]
    except (yaml.YAMLError, AttributeError, KeyError, TypeError):
        return []  # a very long one is cut off, and a stranger's may be anything


def _days(one: xr.DataArray, clock: str) -> str:
    """Return the dimension of an array that goes along the clock, if it is one of agents."""
    found = [str(dim) for dim in one.dims if is_clock(str(dim), clock)]
    return found[0] if found and AGENT in one.dims else ""


def _stale(one: xr.DataArray, clock: str, removals: Removals) -> bool:
    """Whether some copy has values of all agents on a day on which one is removed already."""
    removed = [removal[clock] for removal in removals if removal["remove"] == AGENT]
    dim = _days(one, clock)
    if not removed or not dim:
        return False
    late = np.flatnonzero(one[dim].values >= min(removed))
    return bool(len(late)) and bool(one.isel({dim: int(late[-1])}).notnull().all(AGENT).any())


def _targets(file: h5py.File, removals: Removals) -> NDArray[Any] | None:
    """Return what each removal takes, (copy or 1, removal); None if the file does not say it."""
    numbers = [one["index"] for one in removals]
    if "random" not in numbers:
        return np.array([numbers])
    for slot in file.get("checkpoint", {}).values():
        if int(slot["tick"][()]) >= 0 and TARGETS in slot["state"]:
            found: NDArray[Any] = slot["state"][TARGETS][...]
            return found
    return None


def _masked(
    one: xr.DataArray, clock: str, removals: Removals, targets: NDArray[Any]
) -> xr.DataArray:
    """Return an array without the values of agents on the days at or after their removal."""
    import xarray as xr

    dim = _days(one, clock)
    gone = np.zeros((len(targets), one.sizes[dim], one.sizes[AGENT]), bool)
    for removal, target in zip(removals, targets.T, strict=True):
        if removal["remove"] == AGENT:
            since = one[dim].values >= removal[clock]
            gone |= since[:, None] & (target[:, None, None] == one[AGENT].values)
    copies = () if len(targets) == 1 else tuple(d for d in one.dims[:1])
    return one.where(~xr.DataArray(gone if copies else gone[0], dims=(*copies, dim, AGENT)))
