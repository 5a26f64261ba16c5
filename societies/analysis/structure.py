"""How is an economy organised, and how does it get over a shock? Concentration, interdependence,
the use of time, recovery, and whether inequality rises and falls with income.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from numpy.typing import NDArray

from societies.analysis.selecting import require_dims, ticks_of
from societies.errors import ConfigError, option
from societies.words import one_of

if TYPE_CHECKING:
    import xarray as xr


def hhi(data: xr.DataArray, dim: str = "agent") -> xr.DataArray:
    """Return the Herfindahl-Hirschman index: the sum of squared shares.

    1/n if all of n have the same, 1 if one has all, 0 if nobody has anything (as in the series
    ``hhi`` of the economy, which is of the units extracted of each resource). Values that are
    missing are left out; where all are, so is the index.

    Parameters
    ----------
    data : DataArray with the dimension ``dim``, not negative
    dim : over whose shares: agents, resources, sources

    Returns
    -------
    DataArray without ``dim``, float64; missing where a value is negative
    """
    require_dims(data, dim)
    values = data.astype(float)
    total = values.sum(dim)
    shares = values / total.where(total > 0, 1.0)
    found = (shares**2).sum(dim, min_count=1).where(~(values < 0).any(dim))
    return _named(found, data, "hhi", "Herfindahl-Hirschman index of {}")


def interdependence(
    extracted: xr.DataArray, contained: Sequence[float], dim: str = "source"
) -> xr.DataArray:
    """Return how many resources the device contains that extracted a unit, mean over units.

    A tool is made of so many resources, a machine of so many tools, and so on; who works by hand
    depends on nobody. The series ``interdependence`` of the economy is that of a whole society;
    this one can be that of every agent or group.

    Parameters
    ----------
    extracted : units extracted by source, such as ``agent_extracted_with``
    contained : resources that each source contains, in order: `resources_contained`
    dim : the dimension of the sources

    Returns
    -------
    DataArray without ``dim``, float64; 0 where nothing was extracted, missing for who is missing

    Raises
    ------
    ConfigError
        If there is no such dimension, or another number of sources.
    """
    import xarray as xr

    require_dims(extracted, dim)
    if len(contained) != extracted.sizes[dim]:
        raise ConfigError(
            f"{option('contained', list(contained))}: {len(contained)} numbers for "
            f"{extracted.sizes[dim]} sources"
        )
    units = extracted.astype(float)
    total = units.sum(dim)
    weights = xr.DataArray(np.asarray(contained, float), dims=dim)
    weighted = (units * weights).sum(dim, min_count=1)
    found = weighted / total.where(total > 0, 1.0)
    found.attrs = {"units": "1", "long_name": "resources in the devices that extract, per unit"}
    return found.rename("interdependence")


def resources_contained(results: xr.Dataset) -> list[float]:
    """Return how many resources each source of a result contains: hand, tool, machine, ...

    Raises
    ------
    ConfigError
        If it is no result of the economy with devices.
    """
    said = yaml.safe_load(str(results.attrs.get("configuration", "")))
    devices = said.get("device") if isinstance(said, Mapping) else None
    try:
        if said.get("devices") not in ("tools", "all"):
            raise KeyError("devices")
        tool, parts = devices["resources_in_tool"], devices["components"]  # type: ignore[index]
    except (AttributeError, KeyError, TypeError):
        raise ConfigError("the result has no devices, so nothing is contained in them") from None
    return [0.0, *(float(tool * parts**level) for level in range(4))]


def time_budget(minutes: xr.DataArray, dim: str = "activity") -> xr.DataArray:
    """Return the shares of the time worked that each activity takes.

    Parameters
    ----------
    minutes : minutes by activity, such as the variable ``minutes``
    dim : the dimension of the activities

    Returns
    -------
    DataArray of the same dimensions, float64; missing where nothing was done
    """
    require_dims(minutes, dim)
    total = minutes.astype(float).sum(dim)
    found = minutes / total.where(total > 0)
    return _named(found, minutes, "time_budget", "share of the time: {}")


def recovery_time(
    series: xr.DataArray,
    at: int,
    *,
    to: float = 0.95,
    before: int = 50,
    hold: int = 10,
    clock: str | None = None,
) -> xr.Dataset:
    """Return how long a series takes to come back after a shock at the end of a tick.

    The level before is the mean of the ticks up to the shock. The series falls when it is below
    the part ``to`` of that level, and is back on the first tick after its first fall from which on
    it is at that part, or above, for ``hold`` ticks: in every value that is recorded, from this
    tick to one that is at least ``hold - 1`` ticks later. A series that never falls has a recovery
    time of 0, one that does not come back, or has no level above 0, a missing one. Ticks that are
    not recorded, or whose value is missing, say nothing: where only every tenth is recorded, times
    are known to ten ticks.

    Parameters
    ----------
    series : DataArray with the dimension of ticks
    at : the tick at whose end the shock comes; the first one concerned is the next
    to : part of the level before, above 0
    before : ticks over which the level before is the mean
    hold : ticks for which it stays
    clock : the dimension of ticks; default: the one that has the clock's name, or ends in it

    Returns
    -------
    Dataset without the clock: ``recovery_time`` [ticks] from the shock until the series is back,
    ``level`` before, ``lowest`` value after the shock, and ``loss``, the part of the level that was
    lost at the worst, 0 or less if it never fell below

    Raises
    ------
    ConfigError
        If the file has no ticks before the shock, or not ``hold`` after it.
    """
    import xarray as xr

    clock = clock or ticks_of(series)
    require_dims(series, clock)
    series = series.sortby(clock)
    ticks = series[clock].values
    earlier, later = (ticks > at - before) & (ticks <= at), ticks > at
    if not earlier.any() or not later.any() or ticks[-1] < at + hold:
        there = f"{ticks[0]} to {ticks[-1]}" if len(ticks) else "none"
        raise ConfigError(
            f"{option('at', at)}: needs {one_of(clock)} before and {hold} after; "
            f"the file has {there}"
        )
    level = series.isel({clock: earlier}).mean(clock)
    level = level.where(level > 0)
    after = series.isel({clock: later}).transpose(*level.dims, clock)
    rows, levels = after.values.reshape(-1, after.sizes[clock]), level.values.ravel()
    took = [
        _recovered(row, to * base, ticks[later] - (at + 1), hold)
        for row, base in zip(rows, levels, strict=True)
    ]
    lowest = after.min(clock)
    times = xr.DataArray(np.reshape(took, level.shape), level.coords, level.dims)
    unit = series.attrs.get("units", "1")
    found = xr.Dataset(
        {
            "recovery_time": times.assign_attrs(
                units=clock, long_name=f"time until {to:g} of the level before, for {hold} or more"
            ),
            "level": level.assign_attrs(units=unit, long_name=f"mean of {before} before"),
            "lowest": lowest.assign_attrs(units=unit, long_name="least value after the shock"),
            "loss": ((level - lowest) / level).assign_attrs(
                units="1", long_name="part of the level lost at the worst"
            ),
        }
    )
    found.attrs = {"of": str(series.name or ""), "shock": int(at)}
    return found


def _recovered(values: NDArray[Any], least: float, since: NDArray[Any], hold: int) -> float:
    """Return when values are back at the least, in ticks since the first one concerned."""
    known = ~np.isnan(values)
    if np.isnan(least) or not known.any():
        return np.nan
    good, since = values[known] >= least, since[known]
    if good.all():
        return 0.0
    begun: Any = None
    for is_good, tick in zip(good[good.argmin() :], since[good.argmin() :], strict=True):
        begun = None if not is_good else tick if begun is None else begun
        if begun is not None and tick - begun >= hold - 1:
            return float(begun)
    return np.nan


def kuznets(income: xr.DataArray, inequality: xr.DataArray, *, bins: int = 12) -> xr.Dataset:
    """Return inequality by income, and the parabola through it: does it rise, then fall?

    Kuznets (1955) expected inequality to rise and fall as an economy grows. The parabola is that of
    least squares in the logarithm of income over all points; the curve has fallen again if
    ``curvature`` is below 0 and ``turning_point`` lies among the incomes.

    Parameters
    ----------
    income : DataArray, above 0; its logarithm counts
    inequality : DataArray of the same dimensions, such as ``gini``
    bins : intervals of income that hold equally many points each

    Returns
    -------
    Dataset along ``bin``: ``income`` and ``inequality``, means of the points of the bin, and their
    number ``points``; and the numbers ``constant``, ``slope``, ``curvature`` (of 1, ``ln income``
    and its square) and ``turning_point`` [unit of income], missing if there is none

    Raises
    ------
    ConfigError
        If there are fewer than three different incomes, or fewer points than bins.
    """
    import xarray as xr

    x, y = (np.asarray(one.values, float).ravel() for one in xr.broadcast(income, inequality))
    there = (x > 0) & np.isfinite(x) & np.isfinite(y)
    x, y = np.log(x[there]), y[there]
    if len(np.unique(x)) < 3 or len(x) < bins:
        raise ConfigError(f"{len(x)} points with income are too few for a curve of {bins} bins")
    curvature, slope, constant = np.polyfit(x - x.mean(), y, 2)
    shift = float(x.mean())  # centred, the fit does not cancel
    constant, slope = constant - slope * shift + curvature * shift**2, slope - 2 * curvature * shift
    turn = float(np.exp(-slope / (2 * curvature))) if curvature else np.nan
    order = np.array_split(np.argsort(x, kind="stable"), bins)
    means: list[NDArray[Any]] = [
        np.array([np.exp(x[part]).mean() for part in order]),
        np.array([y[part].mean() for part in order]),
    ]
    unit = income.attrs.get("units", "1")
    about = {"units": unit, "long_name": str(income.attrs.get("long_name", income.name))}
    return xr.Dataset(
        {
            "income": ("bin", means[0], about),
            "inequality": (
                "bin",
                means[1],
                {
                    "units": inequality.attrs.get("units", "1"),
                    "long_name": str(inequality.attrs.get("long_name", inequality.name)),
                },
            ),
            "points": ("bin", np.array([len(part) for part in order])),
            "constant": ((), constant),
            "slope": ((), slope),
            "curvature": ((), curvature),
            "turning_point": ((), turn, {"units": unit, "long_name": "income at the vertex"}),
        },
        coords={"bin": np.arange(bins)},
    )


def _named(found: xr.DataArray, data: xr.DataArray, name: str, meaning: str) -> xr.DataArray:
    found = found.rename(name)
    of = data.attrs.get("long_name", data.name or "values")
    found.attrs = {"units": "1", "long_name": meaning.format(of)}
    return found
