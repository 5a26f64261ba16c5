"""Which societies of two results are twins, and from which tick on do they differ?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.selecting import (
    RUN,
    copies_of,
    in_order,
    names,
    unknown,
    with_ticks,
    workload_of,
)
from societies.errors import ConfigError, EffectWarning, SocietiesError, option
from societies.words import counted
from societies.workload.declare.protocol import Setup
from societies.workload.drawing.bands import Reals
from societies.workload.drawing.figure import clock_of, configuration_of, pasts_of, series_of
from societies.workload.running.contents import contents_of
from societies.workload.running.registry import config_from_dict
from societies.workload.running.sources import changed, hashes_of

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.selecting import Ticks

PAIR = "pair"
"""Dimension of the societies of two runs with the same random draws."""
NEVER = -1
"""First tick on which something differs, if nothing does."""


@dataclass(frozen=True, eq=False)
class Compared:
    """The series of two results, in pairs if they have the same random draws.

    Attributes
    ----------
    labels, units, meanings : names, units and meanings of the series
    clock, ticks : name of a tick, and the common ticks
    base, other : (series, pair, tick); without pairs the second axes may differ in length
    paired : whether the societies of both results have the same random draws
    firsts : first tick on which each series differs, -1 if none does
    first : first tick on which any recorded series differs
    pasts : for a fan, the number of the past of each copy of base and other; else None
    """

    labels: list[str]
    units: list[str]
    meanings: list[str]
    clock: str
    ticks: NDArray[Any]
    base: Reals
    other: Reals
    paired: bool
    firsts: list[int]
    first: int
    pasts: tuple[NDArray[Any] | None, NDArray[Any] | None] = (None, None)


def compared(
    a: xr.Dataset, b: xr.Dataset, variables: str | Sequence[str] | None, window: Ticks = None
) -> Compared:
    """Return the series of two results, in pairs if they have the same draws; see `effect`."""
    warn_of_changed_sources(a, b)
    return compared_aligned(*aligned(a, b), variables, window)


def warn_of_changed_sources(a: xr.Dataset, b: xr.Dataset) -> None:
    """Warn if the rules changed between two results: differences may be due to this."""
    names = sorted(changed(*(hashes_of(data.attrs) or {} for data in (a, b))))
    if names:
        more = f", and {len(names) - 1} more" if names[1:] else ""
        said = f"the results were made by different rules: {names[0]}{more} changed between them"
        warnings.warn(said, EffectWarning, stacklevel=4)


def compared_aligned(
    a: xr.Dataset,
    b: xr.Dataset,
    paired: bool,
    variables: str | Sequence[str] | None,
    window: Ticks = None,
) -> Compared:
    """Return the series of two results that are `aligned`."""
    clock = clock_of(a)
    chosen = _chosen(a, b, variables)
    first = first_difference(a, b) if paired else NEVER
    if paired and first == NEVER:
        warnings.warn(
            "nothing differs: all recorded series are the same to the last bit. Can what was "
            "changed act at all in these societies?",
            EffectWarning,
            stacklevel=3,
        )
    one, two = (with_ticks(data[chosen], window) for data in (a, b))
    left, right = dict(_series(one, clock)), dict(_series(two, clock))
    labels = [name for name in left if name in right]
    ticks = one[clock].values
    firsts = [_first(left[n], right[n], ticks) if paired else NEVER for n in labels]
    said = [a[name.partition("[")[0]].attrs for name in labels]
    units = [str(one.get("units", "1")) for one in said]
    meanings = [str(one.get("long_name", "")) for one in said]
    base, other = (np.stack([own[name] for name in labels]) for own in (left, right))
    pasts = pasts_of(a, PAIR), pasts_of(b, PAIR)
    return Compared(
        labels, units, meanings, clock, ticks, base, other, paired, firsts, first, pasts
    )


def first_difference(a: xr.Dataset, b: xr.Dataset) -> int:
    """Return the first tick on which any series of two aligned results differs; -1: none does.

    Series with a lag, whose values depend on later ticks, count only if no other series differs.
    """
    clock, later = clock_of(a), _with_lag(a)
    a, b = (
        data.drop_vars([n for n in data.data_vars if not _recorded(data, n)]) for data in (a, b)
    )
    firsts = {
        str(name): _first(one, two, a[clock].values)
        for name in a.data_vars
        if name in b and clock in a[name].dims and {*a[name].dims} == {*b[name].dims}
        for one, two in [_common(a[name], b[name].transpose(*a[name].dims), clock)]
        if one.shape == two.shape
    }
    found = {name: one for name, one in firsts.items() if one != NEVER}
    at_once = [one for name, one in found.items() if name not in later]
    return min(at_once or found.values(), default=NEVER)


def _with_lag(data: xr.Dataset) -> set[str]:
    """Return the variables that have a lag; a study does not record which they are."""
    found = {str(name) for name, one in data.data_vars.items() if one.attrs.get("lag")}
    chosen = workload_of(data)
    if found or chosen is None or "points" not in data.attrs:
        return found
    try:
        config = config_from_dict({**configuration_of(data)})
        return {one.name for one in contents_of(Setup(chosen, config)).variables() if one.lag}
    except SocietiesError:  # the configuration of another version
        return found


def _values(values: Any, clock: str) -> NDArray[Any]:
    found: NDArray[Any] = values.transpose(..., clock).values
    return found.reshape(-1, found.shape[-1])


def _common(a: xr.DataArray, b: xr.DataArray, clock: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the values of two variables of the same entries, found by their names."""
    for dim in (str(one) for one in a.dims if one in a.coords and one in b.coords):
        one, other = a[dim].values, b[dim].values
        if len(one) == len(other) and not np.array_equal(one, other):
            entries = np.intersect1d(a[dim].values, b[dim].values)
            a, b = (in_order(data, dim).sel({dim: entries}) for data in (a, b))
    return _values(a, clock), _values(b, clock)


def _first(a: NDArray[Any], b: NDArray[Any], ticks: NDArray[Any]) -> int:
    """Return the first tick on which two series (row, tick) differ; NEVER if none does."""
    same = a == b
    if a.dtype.kind == "f" and b.dtype.kind == "f":
        same |= np.isnan(a) & np.isnan(b)
    places = np.flatnonzero(~same.all(0))
    return int(ticks[places[0]]) if len(places) else NEVER


def aligned(a: xr.Dataset, b: xr.Dataset) -> tuple[xr.Dataset, xr.Dataset, bool]:
    """Return two results along their pairs and common ticks, and whether pairs have equal draws."""
    clock = clock_of(a)
    kinds = [one.name if (one := workload_of(data)) else "" for data in (a, b)]
    if kinds[0] != kinds[1] or clock_of(b) != clock:
        raise ConfigError(f"results of {kinds[0]} and of {kinds[1]} cannot be compared")
    one, two = (in_order(in_order(by_draws(data), PAIR), clock) for data in (a, b))
    ticks = np.intersect1d(one[clock].values, two[clock].values)
    if not len(ticks):
        raise ConfigError(f"the results have no {clock} in common, so they cannot be compared")
    one, two = (data.sel({clock: ticks}) for data in (one, two))
    why = _not_paired(one, two)
    if why:
        text = f"{why}: they have no pairs, so the effect is the difference of two means"
        warnings.warn(text, EffectWarning, stacklevel=3)
        return *_completed(one, two), False
    shared = np.intersect1d(one[PAIR].values, two[PAIR].values)
    alone = one.sizes[PAIR] + two.sizes[PAIR] - 2 * len(shared)
    if alone:
        text = f"{counted(alone, 'society')} without a partner in the other result left out"
        warnings.warn(text, EffectWarning, stacklevel=3)
    return *_completed(one.sel({PAIR: shared}), two.sel({PAIR: shared})), True


def _recorded(data: xr.Dataset, name: Any) -> bool:
    """Return whether a result has the variable; in a study it is missing at points without it."""
    return name in data and not bool(data[name].isnull().all())


def _completed(a: xr.Dataset, b: xr.Dataset) -> tuple[xr.Dataset, xr.Dataset]:
    """Return both results with the series that only one records, where the other's are known.

    `Workload.left_out` names them, such as the units taxed in societies without taxes: 0.
    """
    chosen, both = workload_of(a), [a, b]
    for name, equal in chosen.left_out().items() if chosen is not None else ():
        like = next((data[name] for data in both if name in data), None)
        for place, own in enumerate(both):
            if like is None or _recorded(own, name) or (equal and not _recorded(own, equal)):
                continue
            size = {**like.sizes, PAIR: own.sizes[PAIR]}
            values = own[equal].values if equal else np.zeros(list(size.values()))
            both[place] = own.assign({name: (like.dims, values, like.attrs)})
    return both[0], both[1]


def by_draws(data: xr.Dataset) -> xr.Dataset:
    """Return a result along the numbers that determine the draws of its societies."""
    dim = copies_of(data)
    if dim != RUN:
        return data.rename({dim: PAIR})
    points = np.unique(data["point"].values if "point" in data.coords else [])
    if len(points) > 1:
        raise ConfigError(
            f"a study with {len(points)} points is not one result; compare two of its points"
        )
    own = str(data.attrs.get("copies", "society"))
    number = data[own].values if own in data.coords else data["replicate"].values
    seeds = np.unique(data["seed"].values if "seed" in data.coords else [])
    more = {"seed": int(*seeds)} if len(seeds) == 1 else {}
    drop = [name for name in data.coords if data[name].dims == (RUN,)]
    found = data.drop_vars(drop).rename({RUN: PAIR}).assign_coords({PAIR: number})
    return found.assign_attrs({**data.attrs, **more})


def _not_paired(a: xr.Dataset, b: xr.Dataset) -> str:
    """Return why the societies of two results have no common random draws; "" if they have."""
    seeds = [str(data.attrs.get("seed", "")) for data in (a, b)]
    if seeds[0] != seeds[1]:
        return f"the results have other seeds ({seeds[0] or 'none'}, {seeds[1] or 'none'})"
    if not len(np.intersect1d(a[PAIR].values, b[PAIR].values)):
        return "the results have no society with the same number"
    return ""


def _chosen(a: xr.Dataset, b: xr.Dataset, variables: str | Sequence[str] | None) -> list[str]:
    clock = clock_of(a)
    known = [
        str(name)
        for name in a.data_vars
        if name in b and {PAIR, clock} <= {*a[name].dims} & {*b[name].dims}
    ]
    recorded = [name for name in series_of(a, (PAIR, clock)) if name in known]
    if variables is None:
        usual = getattr(workload_of(a), "headlines", lambda: ())()
        return [name for name in usual if name in recorded] or recorded
    chosen = names(variables)
    for name in chosen:
        if (name in a) != (name in b):
            which, has = ("base", "other result") if name in b else ("other result", "base")
            raise ConfigError(
                f"{option('variables', name)}: the {has} has this variable, the {which} does not "
                "record it, so there is no difference"
            )
        if name not in known:
            raise unknown(name, known)
    return chosen


def _series(data: xr.Dataset, clock: str) -> Iterator[tuple[str, Reals]]:
    """Yield the name and the values (pair, tick) of every series, one for each further entry."""
    for name, values in data.data_vars.items():
        others = [str(dim) for dim in values.dims if dim not in (PAIR, clock)]
        ordered = values.transpose(*others, PAIR, clock)
        numbers = np.asarray(ordered.values, float)
        for place in np.ndindex(*numbers.shape[: len(others)]):
            entries = [data[dim].values[i] for dim, i in zip(others, place, strict=True)]
            said = f"[{', '.join(map(str, entries))}]" if entries else ""
            yield f"{name}{said}", numbers[place]
