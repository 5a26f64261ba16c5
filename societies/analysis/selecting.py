"""Which variables and ticks of a result does the caller select, and does the file have them?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.config.problems import suggestion
from societies.errors import ConfigError, option, shortened
from societies.inputs import whole_number
from societies.words import plural
from societies.workload.drawing.figure import clock_of
from societies.workload.running.registry import named_in, workload, workloads

if TYPE_CHECKING:
    import xarray as xr

    from societies.workload.declare.protocol import Workload

    Ticks = str | slice | int | Sequence[int] | None


RUN = "run"
"""The dimension of the runs of a study."""


def names(text: str | Iterable[str]) -> list[str]:
    """Return names from a sequence or from a text with commas."""
    parts = text.split(",") if isinstance(text, str) else list(text)
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def with_variables(results: xr.Dataset, chosen: Sequence[str]) -> xr.Dataset:
    """Return the dataset with only the chosen variables.

    Raises ConfigError for a name that no variable has.
    """
    for name in chosen:
        if name not in results.data_vars:
            raise unknown(name, map(str, results.data_vars))
    return results[list(chosen)]


def unknown(name: str, available: Iterable[str], word: str = "variables") -> ConfigError:
    """Return the error for a missing variable of an option; it suggests a similar name."""
    known = sorted(available)
    return ConfigError(
        f"{option(word, name)}: the file has no such variable{suggestion(name, known)}"
    )


def with_ticks(results: xr.Dataset, asked: Ticks) -> xr.Dataset:
    """Return the dataset with only the selected ticks, both ends of a range included.

    Variables with their own dimension of ticks (``agent_day``) keep their ticks that are selected.

    Raises ConfigError if ``asked`` is none of these, or selects no tick of the file.

    Parameters
    ----------
    asked : ``"1:300"``, ``"1:300:10"`` or ``"10,20"``, a slice of ticks, a tick or several;
        None: all
    """
    if asked is None:
        return results
    clock = clock_of(results)
    wanted = _read(asked)
    cut = {}
    for dim in map(str, results.dims):
        if (dim == clock or dim.endswith(f"_{clock}")) and dim in results.coords:
            ticks = results[dim].values
            cut[dim] = np.flatnonzero(_among(ticks, wanted))
            if dim == clock and not len(cut[dim]):
                available = f"{ticks[0]} to {ticks[-1]}" if len(ticks) else "none yet"
                raise ConfigError(
                    f"{option('ticks', _shown(asked))}: none of the {plural(clock)} of the file, "
                    f"which are {available}"
                )
    return results.isel(cut)


def workload_of(results: xr.Dataset) -> Workload[Any, Any] | None:
    """Return the workload that made a result, None if it is unknown or not installed.

    If a processed dataset has lost its attributes, the workload is one whose headline variables are
    all present.
    """
    configuration = results.attrs.get("configuration")
    if configuration is not None:
        name = named_in(str(configuration))
        return None if name is None else workload(name)
    for one in workloads().values():
        if one.headlines() and all(variable in results for variable in one.headlines()):
            return one
    return None


def copies_of(results: xr.Dataset) -> str:
    """Return the dimension of repeated runs: the copies of a result, or the runs of a study."""
    named = str(results.attrs.get("copies", "society"))
    return RUN if RUN in results.dims and named not in results.dims else named


def _tick(text: str) -> int:
    tick = whole_number(text.strip().removeprefix("-"))
    if tick is None:
        raise ValueError
    return -tick if text.strip().startswith("-") else tick


def _read(asked: Ticks) -> slice | list[int]:
    if isinstance(asked, slice):
        return asked
    if not isinstance(asked, str):
        return [int(one) for one in np.atleast_1d(np.asarray(asked))]
    try:
        if ":" not in asked:
            return [_tick(part) for part in asked.split(",")]
        ends = [_tick(part) if part.strip() else None for part in asked.split(":")]
        if len(ends) > 3 or (ends[2:] and (ends[2] is None or ends[2] < 1)):
            raise ValueError
        return slice(*ends)
    except ValueError:
        raise ConfigError(
            f"{option('ticks', shortened(asked))}: expected a range such as 1:300 or 1:300:10, "
            "or numbers with commas"
        ) from None


def _among(ticks: NDArray[np.int64], wanted: slice | list[int]) -> NDArray[np.bool_]:
    """Return True for selected ticks; a step counts from the beginning of the range."""
    if isinstance(wanted, list):
        return np.isin(ticks, wanted)
    first = wanted.start if wanted.start is not None else (ticks[0] if len(ticks) else 0)
    inside = ticks >= first
    if wanted.stop is not None:
        inside &= ticks <= wanted.stop
    chosen: NDArray[np.bool_] = inside & ((ticks - first) % (wanted.step or 1) == 0)
    return chosen


def _shown(asked: Ticks) -> object:
    if isinstance(asked, slice):
        step = "" if asked.step is None else f":{asked.step}"
        return f"{asked.start}:{asked.stop}{step}"
    return asked


def ticks_of(data: xr.DataArray) -> str:
    """Return the dimension of ticks of an array, even if it lost the file's attributes.

    Raises ConfigError if it has no such dimension.
    """
    clock = clock_of(data.to_dataset(name="data"))
    found = [str(d) for d in data.dims if d == clock or str(d).endswith(f"_{clock}")]
    if not found:
        require_dims(data, clock)
    return found[0]


def in_order(data: Any, dim: str) -> Any:
    """Return a dataset or an array sorted by a coordinate along a dimension.

    Raises ConfigError if an entry occurs twice, as in two joined results.
    """
    if dim not in data.coords:
        return data
    ordered = data.sortby(dim)
    entries = ordered[dim].values
    if len(twice := entries[1:][entries[1:] == entries[:-1]]):
        raise ConfigError(f"{dim} {twice[0]} is in the data twice; are they two results, joined?")
    return ordered


def require_dims(data: xr.DataArray, *dims: str) -> None:
    """Raise ConfigError unless an array has these dimensions."""
    for dim in dims:
        if dim not in data.dims:
            dims_of_data = ", ".join(map(str, data.dims)) or "none"
            raise ConfigError(
                f"'{data.name or 'the array'}' has no dimension '{dim}'; it has {dims_of_data}"
            )
