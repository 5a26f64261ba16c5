"""Which values do twins have after a shock, in all societies and by their state before it?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.labels import unused
from societies.analysis.pairs import (
    NEVER,
    PAIR,
    Compared,
    aligned,
    compared_aligned,
    warn_of_changed_sources,
)
from societies.analysis.selecting import unknown
from societies.errors import ConfigError, option
from societies.words import counted
from societies.workload.drawing.bands import Reals
from societies.workload.drawing.figure import clock_of

if TYPE_CHECKING:
    from typing import TypeAlias

    import xarray as xr

    After: TypeAlias = int | Mapping[int, int]


@dataclass(frozen=True, eq=False)
class Twins:
    """Series of societies and their twins after a shock, by state.

    Attributes
    ----------
    labels, units, meanings : names, units and meanings of the series
    clock : name of a tick
    horizon : ticks after the shock
    base, shocked : by the name of the state, (series, pair, horizon)
    pasts : for a fan, by the name of the state, the number of the past of each pair; else None
    """

    labels: list[str]
    units: list[str]
    meanings: list[str]
    clock: str
    horizon: NDArray[Any]
    base: dict[str, Reals]
    shocked: dict[str, Reals]
    pasts: dict[str, NDArray[Any] | None]


def twins(
    one: xr.Dataset,
    two: xr.Dataset,
    variables: str | Sequence[str] | None,
    after: After,
    horizon: int | None,
    by: str | None,
    states: int,
    among: NDArray[Any] | None = None,
) -> Twins:
    """Return the series of two results after the shock of each society; see `irf`.

    With ``among`` only societies with these numbers are used.
    """
    warn_of_changed_sources(one, two)
    a, b, paired = aligned(one, two)
    if not paired:
        raise ConfigError("an impulse response needs twins: results with the same seed")
    numbers = a[PAIR].values.tolist()
    given = after if isinstance(after, Mapping) else dict.fromkeys(numbers, after)
    chosen = [n for n in numbers if n in given and (among is None or n in among)]
    if not chosen:
        raise ConfigError("no society has a shock and a twin without it")
    a, b = (data.sel({PAIR: chosen}) for data in (a, b))
    ticks_of_shock = np.array([given[number] for number in chosen])
    dim = None if by is None else _divided(a, by)
    found = compared_aligned(a, b, True, by if dim and variables is None else variables)
    at, horizons = _positions(found, ticks_of_shock, horizon)
    _require_past(found, ticks_of_shock)
    base, shocked = (np.take_along_axis(v, at[None], 2) for v in (found.base, found.other))
    labels, units, meanings, pasts = found.labels, found.units, found.meanings, found.pasts[0]
    rows: dict[str, NDArray[np.intp]] = {}
    if by is None:
        parts = {"all": (base, shocked)}
    else:
        values = _values_at(a, by, ticks_of_shock)
        if dim is None:
            rows = _rows(by, values, states, ticks_of_shock, found.clock)
            parts = {name: (base[:, own], shocked[:, own]) for name, own in rows.items()}
        else:
            labels = list(dict.fromkeys(name.partition("[")[0] for name in labels))
            _require_entries(a, labels, by, dim)
            units, meanings = units[:: a.sizes[dim]], meanings[:: a.sizes[dim]]
            shape = (len(labels), a.sizes[dim], *base.shape[1:])
            parts = _of_entries(by, values, states, base.reshape(shape), shocked.reshape(shape))
    return Twins(
        labels,
        units,
        meanings,
        found.clock,
        horizons,
        {name: pair[0] for name, pair in parts.items()},
        {name: pair[1] for name, pair in parts.items()},
        {name: pasts if pasts is None or name not in rows else pasts[rows[name]] for name in parts},
    )


def _divided(a: xr.Dataset, by: str) -> str | None:
    """Return the dimension that a variable divides, such as that of agents; None: societies.

    Raises ConfigError if it is no series, or has more dimensions.
    """
    clock, known = clock_of(a), []
    for name in map(str, a.data_vars):
        more = [str(dim) for dim in a[name].dims if dim not in (PAIR, clock)]
        numbered = not more or a[more[0]].dtype.kind in "iu"
        if len(a[name].dims) == 2 + len(more) and len(more) < 2 and numbered:
            if name == by:
                return more[0] if more else None
            known.append(name)
    if by in a and any(str(dim).endswith(f"_{clock}") for dim in a[by].dims):
        raise ConfigError(f"{option('by', by)}: is not recorded every {clock}, as other series are")
    if by in a:
        raise ConfigError(
            f"{option('by', by)}: has no single number for each society or agent and {clock}"
        )
    raise unknown(by, known, "by")


def _require_entries(a: xr.Dataset, chosen: Sequence[str], by: str, dim: str) -> None:
    """Raise ConfigError if a variable has not one number for each agent, say, and tick."""
    for name in chosen:
        if {*a[name].dims} != {PAIR, clock_of(a), dim}:
            raise ConfigError(
                f"{option('variables', name)}: has no number for each {dim}, by which "
                f"{option('by', by)} divides"
            )


def _positions(
    found: Compared, after: NDArray[Any], horizon: int | None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the positions (pair, horizon) of the ticks after each shock, and the horizons.

    A horizon counts if it is recorded after the shock of each society, so that all responses along
    it are those of the same societies.
    """
    ticks, days = found.ticks, np.unique(after)
    horizons = ticks[ticks > days[0]] - days[0]
    for day in days[1:]:
        horizons = np.intersect1d(horizons, ticks[ticks > day] - day)
    if horizon is not None:
        horizons = horizons[horizons <= horizon]
    if not len(horizons):
        raise ConfigError(
            f"the results have no {found.clock} after {days[-1]}, that of the shock"
            if len(days) == 1
            else f"the results have no {found.clock} that is as long after each shock, from "
            f"{found.clock} {days[0]} to {days[-1]}"
        )
    return np.searchsorted(ticks, after[:, None] + horizons), horizons


def _require_past(found: Compared, after: NDArray[Any]) -> None:
    """Raise ConfigError if twins differ before their shock."""
    same = (found.base == found.other) | (np.isnan(found.base) & np.isnan(found.other))
    early = ~same.all(0) & (found.ticks <= after[:, None])
    first, least = found.first, int(after.min())
    if early.any():
        pair, tick = np.argwhere(early)[0]
        first, least = int(found.ticks[tick]), int(after[pair])
    if NEVER != first <= least:
        raise ConfigError(
            f"the results differ from {found.clock} {first} on, before the shock at the end "
            f"of {found.clock} {least}; name the {found.clock} of the shock"
        )


def _values_at(a: xr.Dataset, by: str, after: NDArray[Any]) -> Reals:
    """Return the values of a variable on the tick of each society's shock: (pair, ...)."""
    clock = clock_of(a)
    for tick in np.setdiff1d(after, a[clock].values):
        raise ConfigError(f"{option('by', by)}: {clock} {tick}, that of the shock, is not recorded")
    values = a[by].transpose(PAIR, clock, ...).values.astype(float)
    at = np.searchsorted(a[clock].values, after)
    found: Reals = values[np.arange(len(at)), at]
    found[np.isinf(found)] = np.nan  # a society without a number is in no state
    return found


def _rows(
    by: str, values: Reals, states: int, after: NDArray[Any], clock: str
) -> dict[str, NDArray[np.intp]]:
    """Return the positions of the pairs of each state by its name; all of them first."""
    found = {"all": np.arange(len(after))}
    if np.isnan(values).all():
        when = f" {after[0]}" if len({*after.tolist()}) == 1 else " of the shock"
        raise ConfigError(f"{option('by', by)}: has no number in {clock}{when}")
    edges = np.nanquantile(values, np.arange(1, states) / states)
    place = np.searchsorted(edges, values, side="left")
    for state in range(states):
        low = "" if state == 0 else f"above {edges[state - 1]:.4g}"
        high = "" if state == states - 1 else f"up to {edges[state]:.4g}"
        name = f"{by} {low}{' ' if low and high else ''}{high}".strip()
        rows = np.flatnonzero((place == state) & np.isfinite(values))
        if len(rows) < 2:
            raise ConfigError(
                f"{option('by', by)}: the state '{name}' has {counted(len(rows), 'society')}; take "
                "more replicates, or fewer states"
            )
        found[unused(name, found)] = rows
    return found


def _of_entries(
    by: str, values: Reals, states: int, base: Reals, shocked: Reals
) -> dict[str, tuple[Reals, Reals]]:
    """Return the means over the agents of each state, (series, pair, horizon) of base and twin.

    Each society has as many agents in a state as in another, as far as the values differ: agents
    are divided by the quantiles of their own society. A mean is over those that live in both.

    Parameters
    ----------
    values : (pair, agent) on the tick of the shock
    base, shocked : (series, agent, pair, horizon)
    """
    if np.isnan(values).all():
        raise ConfigError(f"{option('by', by)}: has no number on the tick of the shock")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a society whose agents have no number
        edges = np.nanquantile(values, np.arange(1, states) / states, axis=1)
    place = (values > edges[..., None]).sum(0)
    found = {}
    present = ~(np.isnan(base) | np.isnan(shocked))
    masks = {"all": np.ones(values.shape, bool)}
    for state in range(states):
        which = {0: ", least", states - 1: ", most"}.get(state, "") if states > 1 else ""
        masks[f"{by} {state + 1}/{states}{which}"] = (place == state) & np.isfinite(values)
    for name, mask in masks.items():
        own = present & mask.T[None, :, :, None]
        if not own.any():
            raise ConfigError(
                f"{option('by', by)}: the state '{name}' has no one in it; take fewer states"
            )
        with np.errstate(invalid="ignore"):
            first, second = (np.where(own, v, 0.0).sum(1) / own.sum(1) for v in (base, shocked))
        found[name] = first, second
    return found
