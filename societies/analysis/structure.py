"""How is an economy organised, and how does it recover from a shock? Measures of concentration,
interdependence, time use and recovery, and the relation of inequality and income.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from numpy.typing import NDArray

from reference_py.economy.devices import SOURCES
from societies.analysis.inequality import named
from societies.analysis.selecting import in_order, require_dims, ticks_of
from societies.errors import ConfigError, option
from societies.words import one_of

if TYPE_CHECKING:
    import xarray as xr


def hhi(data: xr.DataArray, dim: str = "agent") -> xr.DataArray:
    """Return the Herfindahl-Hirschman index: the sum of squared shares.

    It is 1/n if all n values are equal, 1 if one has everything, 0 if all are 0 (as in the series
    ``hhi`` of the economy, computed from the units extracted of each resource). Missing values are
    ignored; if all are missing, the index is missing.

    Parameters
    ----------
    data : DataArray with the dimension ``dim``, not negative
    dim : dimension of the shares: agents, resources, sources

    Returns
    -------
    DataArray without ``dim``, float64; missing where a value is negative or the sum is infinite
    """
    require_dims(data, dim)
    values = data.astype(float)
    with np.errstate(over="ignore"):
        total = values.sum(dim)
    shares = values / total.where(total > 0, 1.0)
    found = (shares**2).sum(dim, min_count=1).where(~(values < 0).any(dim) & (total < np.inf))
    return named(found, data, "hhi", "Herfindahl-Hirschman index of {}")


def interdependence(
    extracted: xr.DataArray, contained: Sequence[float], dim: str = "source"
) -> xr.DataArray:
    """Return the mean over extracted units of the number of resources in the extracting device.

    A tool is made of several resources, a machine of several tools, and so on; extraction by hand
    counts 0. The series ``interdependence`` of the economy is for a whole society; this function
    also computes it for every agent or group.

    Parameters
    ----------
    extracted : units extracted by source, such as ``agent_extracted_with``
    contained : number of resources in each source (`resources_contained`): in the order of
        ``extracted`` or, if that has the names of sources, from hand to industry
    dim : the dimension of the sources

    Returns
    -------
    DataArray without ``dim``, float64; 0 where nothing was extracted, missing where units are
        missing

    Raises
    ------
    ConfigError
        If the dimension does not exist, or has another number of sources.
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
    if sorted(map(str, units[dim].values)) == sorted(SOURCES):
        weights = weights.assign_coords({dim: list(SOURCES)}).sel({dim: units[dim].values})
    weighted = (units * weights).sum(dim, min_count=1)
    found = weighted / total.where(total > 0, 1.0)
    found.attrs = {"units": "1", "long_name": "resources in the devices that extract, per unit"}
    return found.rename("interdependence")


def resources_contained(results: xr.Dataset) -> list[float]:
    """Return the number of resources in each source of a result: hand, tool, machine, ...

    Raises
    ------
    ConfigError
        If the file is not a result of the economy with devices.
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
    """Return the share of each activity in the working time.

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
    return named(found, minutes, "time_budget", "share of the time: {}")


def recovery_time(
    series: xr.DataArray,
    at: int,
    *,
    to: float = 0.95,
    before: int = 50,
    hold: int = 10,
    clock: str | None = None,
) -> xr.Dataset:
    """Return how long a series takes to recover after a shock at the end of a tick.

    The level before is the mean of the ticks up to the shock; the threshold is ``to`` times this
    level. A series falls when it is below the threshold. It recovers on the first tick after its
    first fall from which it stays at or above the threshold for ``hold`` ticks: in all recorded
    values from this tick to one at least ``hold - 1`` ticks later. The recovery time is 0 if the
    series never falls. It is missing if the series does not recover, if it ends before ``hold``
    ticks after the shock without a fall, or if the level is not above 0. Ticks that are not
    recorded, or whose value is missing, are ignored: if only every tenth tick is recorded, times
    are known to ten ticks.

    Parameters
    ----------
    series : DataArray with the dimension of ticks
    at : tick at whose end the shock comes; the next tick is the first one affected
    to : threshold as a share of the level before, above 0
    before : number of ticks over which the level before is the mean
    hold : number of ticks that the series must stay at or above the threshold
    clock : dimension of ticks; default: the one whose name is or ends in the clock's name

    Returns
    -------
    Dataset without the clock: ``recovery_time`` [ticks] from the shock until the recovery,
    ``level`` before, ``lowest`` value after the shock, and ``loss``, the largest loss as a share of
    the level, 0 or less if the series never fell below the level

    Raises
    ------
    ConfigError
        If the file has no ticks before the shock, or fewer than ``hold`` after it, or if ``to``,
        ``before`` or ``hold`` is not positive.
    """
    import xarray as xr

    if not to > 0:
        raise ConfigError(f"{option('to', to)}: must be above 0")
    for name, count in (("before", before), ("hold", hold)):
        if count < 1:
            raise ConfigError(f"{option(name, count)}: must be at least 1")
    clock = clock or ticks_of(series)
    require_dims(series, clock)
    series = in_order(series, clock)
    ticks = series[clock].values
    earlier, later = (ticks > at - before) & (ticks <= at), ticks > at
    if not earlier.any() or ticks[-1] < at + hold:
        available = f"{ticks[0]} to {ticks[-1]}" if len(ticks) else "none"
        raise ConfigError(
            f"{option('at', at)}: needs {one_of(clock)} before and {hold} after; "
            f"the file has {available}"
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
    """Return the number of ticks until values reach the required level again, from the first."""
    known = ~np.isnan(values)
    if not known.any():
        return np.nan
    good, since = values[known] >= least, since[known]
    if good.all():
        return 0.0 if since[-1] >= hold - 1 else np.nan
    begun: Any = None
    for is_good, tick in zip(good[good.argmin() :], since[good.argmin() :], strict=True):
        begun = None if not is_good else tick if begun is None else begun
        if begun is not None and tick - begun >= hold - 1:
            return float(begun)
    return np.nan


def kuznets(income: xr.DataArray, inequality: xr.DataArray, *, bins: int = 12) -> xr.Dataset:
    """Return inequality by income, and a parabola fitted to it: does it rise, then fall?

    Kuznets (1955) expected inequality to rise, then fall as an economy grows. The parabola in the
    logarithm of income is fitted to all points by least squares; inequality rises and falls if
    ``curvature`` is below 0 and ``turning_point`` lies among the incomes.

    Parameters
    ----------
    income : DataArray, above 0; its logarithm is used
    inequality : DataArray of the same dimensions, such as ``gini``
    bins : number of intervals of income with equal numbers of points

    Returns
    -------
    Dataset along ``bin``: ``income`` and ``inequality``, means of the points of the bin, and their
    number ``points``; also the coefficients ``constant``, ``slope``, ``curvature`` (of 1,
    ``ln income`` and its square) and ``turning_point`` [unit of income], missing if none exists

    Raises
    ------
    ConfigError
        If there are fewer than three different incomes, or fewer points than bins.
    """
    import xarray as xr

    if bins < 1:
        raise ConfigError(f"{option('bins', bins)}: must be at least 1")
    x, y = (np.asarray(one.values, float).ravel() for one in xr.broadcast(income, inequality))
    valid = (x > 0) & np.isfinite(x) & np.isfinite(y)
    x, y = np.log(x[valid]), y[valid]
    if len(np.unique(x)) < 3 or len(x) < bins:
        raise ConfigError(f"{len(x)} points with income are too few for a curve of {bins} bins")
    curvature, slope, constant = np.polyfit(x - x.mean(), y, 2)
    shift = float(x.mean())  # centred values avoid cancellation in the fit
    constant, slope = constant - slope * shift + curvature * shift**2, slope - 2 * curvature * shift
    turn = float(np.exp(-slope / (2 * curvature))) if curvature else np.nan
    order = np.array_split(np.argsort(x, kind="stable"), bins)
    means: list[NDArray[Any]] = [
        np.array([np.exp(x[part]).mean() for part in order]),
        np.array([y[part].mean() for part in order]),
    ]
    about, of_inequality = (
        {"units": of.attrs.get("units", "1"), "long_name": str(of.attrs.get("long_name", of.name))}
        for of in (income, inequality)
    )
    unit = about["units"]
    return xr.Dataset(
        {
            "income": ("bin", means[0], about),
            "inequality": ("bin", means[1], of_inequality),
            "points": ("bin", np.array([len(part) for part in order])),
            "constant": ((), constant),
            "slope": ((), slope),
            "curvature": ((), curvature),
            "turning_point": ((), turn, {"units": unit, "long_name": "income at the vertex"}),
        },
        coords={"bin": np.arange(bins)},
    )
