"""How unequally is a quantity divided: Gini, Lorenz, Theil, Atkinson, top shares, and mobility?

Every function takes a quantity of agents (income, wealth, consumption, utility) and names it in
the attribute ``long_name`` of the result. Missing values (agents that were removed) are ignored.
Where a value or the sum is infinite, the result is missing. Other dimensions are retained.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.selecting import in_order, require_dims, ticks_of
from societies.errors import ConfigError, option

if TYPE_CHECKING:
    import xarray as xr

    Array = NDArray[np.float64]

POINTS = 101
"""Points of a Lorenz curve."""


def gini(data: xr.DataArray, dim: str = "agent") -> xr.DataArray:
    """Return the Gini coefficient: half the mean difference of two agents, relative to the mean.

    ``2 sum(i x_i) / (n sum(x)) - (n + 1) / n`` over values in ascending order, i from 1, as for
    all Gini coefficients of the package: 0 if all values are equal or all are 0, ``(n - 1) / n`` if
    one agent has everything. The coefficient is meant for values from 0 on: with negative values
    the result is missing if the sum is not positive, and may exceed 1 otherwise.

    Parameters
    ----------
    data : DataArray with the dimension ``dim``
    dim : over whom

    Returns
    -------
    DataArray without ``dim``, float64
    """

    def of(x: Array) -> Array:
        ordered, n = np.sort(x, axis=-1), _count(x)  # missing values come last
        rank = np.arange(1, x.shape[-1] + 1)
        total = np.nansum(ordered, axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = 2 * np.nansum(rank * ordered, axis=-1) / (n * total) - (n + 1) / n
        low, high = (
            of(np.where(np.isnan(x), end, x), -1, initial=end)
            for of, end in ((np.min, np.inf), (np.max, -np.inf))
        )
        found = np.where(low == high, 0.0, found)  # in spite of rounding
        found = np.where((total > 0) | ((low == 0) & (high == 0)), found, np.nan)
        return np.where(n > 0, found, np.nan)

    return _over(data, dim, of, "gini", "Gini coefficient of {}")


def lorenz(data: xr.DataArray, dim: str = "agent", *, points: int = POINTS) -> xr.DataArray:
    """Return the Lorenz curve: the share of the total held by the poorest agents, by their share.

    It is linear between agents, so the area between it and the diagonal is half of the Gini
    coefficient.

    Parameters
    ----------
    data : DataArray with the dimension ``dim``, not negative
    dim : over whom
    points : shares of the agents, equally spaced from 0 to 1

    Returns
    -------
    DataArray with ``poorest`` in place of ``dim``, float64; missing where the sum is 0 or a
    value is negative
    """
    import xarray as xr

    require_dims(data, dim)
    if points < 2:
        raise ConfigError(f"{option('points', points)}: at least 2 are needed")
    share = np.linspace(0, 1, points)

    def of(x: Array) -> Array:
        flat = np.sort(_flat(x), axis=-1)
        found = np.full((len(flat), points), np.nan)
        for row, values in zip(found, flat, strict=True):
            present = values[~np.isnan(values)]
            with np.errstate(over="ignore"):
                sums = np.concatenate([[0.0], np.cumsum(present)])
            if len(present) and present[0] >= 0 and 0 < sums[-1] < np.inf:
                row[:] = np.interp(share, np.linspace(0, 1, len(sums)), sums / sums[-1])
        return found.reshape(*x.shape[:-1], points)

    found = xr.apply_ufunc(
        of,
        data.astype(float),
        input_core_dims=[[dim]],
        output_core_dims=[["poorest"]],
    ).assign_coords(poorest=share)
    found.poorest.attrs.update(units="1", long_name=f"share of {dim}, the poorest first")
    return named(found, data, "lorenz", "share of all {} that the poorest have")


def theil(data: xr.DataArray, dim: str = "agent") -> xr.DataArray:
    """Return Theil's index T: the mean of x/m ln(x/m), where m is the mean.

    It is 0 if all values are equal, ln n if one of n agents has everything; missing where a value
    is negative or the sum is 0 (Theil, *Economics and Information Theory*, 1967).

    Parameters
    ----------
    data : DataArray with the dimension ``dim``
    dim : over whom

    Returns
    -------
    DataArray without ``dim``, float64
    """

    def of(x: Array) -> Array:
        relative, defined = _relative(x)
        with np.errstate(invalid="ignore", divide="ignore"):
            terms = np.where(relative > 0, relative * np.log(relative), 0.0)
            return np.where(defined, terms.sum(-1) / _count(x), np.nan)

    return _over(data, dim, of, "theil", "Theil's index T of {}")


def within_and_between(data: xr.DataArray, group: xr.DataArray, dim: str = "agent") -> xr.Dataset:
    """Return the parts of Theil's index T within groups and between their means.

    ``between`` is the sum of s_g ln(m_g / m), ``within`` that of s_g T_g, where s_g is the group's
    share of the total and m_g its mean (Shorrocks, 1980). Their sum is ``total``, the index of
    `theil`.

    Parameters
    ----------
    data : DataArray with the dimension ``dim``, not negative
    group : (dim,) group of each agent, such as ``agent_group``
    dim : over whom

    Returns
    -------
    Dataset without ``dim``: ``within``, ``between`` and ``total``; ``mean`` and ``share`` of the
    total along ``group`` as well

    Raises
    ------
    ConfigError
        If there are no values, or one has no group. If both arrays have the coordinate ``dim``, it
        matches groups to values.
    """
    import xarray as xr

    require_dims(data, dim)
    require_dims(group, dim)
    values = data.astype(float)
    if dim in data.coords and dim in group.coords:
        absent = np.setdiff1d(data[dim].values, group[dim].values)
        if len(absent):
            raise ConfigError(f"{dim} {absent[0]} has no group")
        group = in_order(group, dim).sel({dim: data[dim].values})
    elif group.sizes[dim] != data.sizes[dim]:
        raise ConfigError(f"{data.sizes[dim]} values along {dim} have {group.sizes[dim]} groups")
    if not data.sizes[dim]:
        raise ConfigError(f"'{data.name}' has no {dim}, so there are no groups")
    total, count = values.sum(dim), values.count(dim)
    means, shares, each = [], [], []
    numbers = np.unique(group.values)
    for number in numbers:
        own = values.isel({dim: np.flatnonzero(group.values == number)})
        means.append(own.mean(dim))
        shares.append(own.sum(dim) / total)
        each.append(theil(own, dim).fillna(0.0))
    along = xr.DataArray(numbers, dims="group", name="group")
    mean, share = (xr.concat(parts, along) for parts in (means, shares))
    relative = mean / (total / count)
    logs = np.log(relative.where(relative > 0)).fillna(0.0)
    found = {
        "within": (share * xr.concat(each, along)).sum("group"),
        "between": (share * logs).sum("group"),
        "total": theil(data, dim),
    }
    defined = found["total"].notnull()
    of = data.attrs.get("long_name", data.name or "values")
    result = xr.Dataset({name: one.where(defined) for name, one in found.items()})
    for name, one in result.data_vars.items():
        one.attrs = {"units": "1", "long_name": f"Theil's index T of {of}, {name}"}
    units = {"units": data.attrs.get("units", "1")}
    return result.assign(mean=mean.assign_attrs(units), share=share.assign_attrs(units="1"))


def atkinson(data: xr.DataArray, dim: str = "agent", *, epsilon: float = 0.5) -> xr.DataArray:
    """Return Atkinson's index: the share of the total that equality could save at equal welfare.

    ``1 - mean((x/m)^(1 - epsilon))^(1 / (1 - epsilon))``, for epsilon 1: one minus the geometric
    mean divided by the mean m (Atkinson, 1970). Missing where a value is negative or the sum is 0.

    Parameters
    ----------
    data : DataArray with the dimension ``dim``
    dim : over whom
    epsilon : aversion to inequality, above 0

    Returns
    -------
    DataArray without ``dim``, float64
    """
    if not 0 < epsilon < np.inf:
        raise ConfigError(f"{option('epsilon', epsilon)}: must be above 0, and finite")

    def of(x: Array) -> Array:
        relative, defined = _relative(x)
        n, present = _count(x), ~np.isnan(x)
        with np.errstate(invalid="ignore", divide="ignore"):
            if epsilon == 1:
                terms = np.where(present, np.log(relative), 0.0)
                equal = np.exp(terms.sum(-1) / n)
            else:
                terms = np.where(present, relative ** (1 - epsilon), 0.0)
                equal = (terms.sum(-1) / n) ** (1 / (1 - epsilon))
        return np.where(defined, 1 - equal, np.nan)

    return _over(data, dim, of, "atkinson", f"Atkinson's index ({epsilon:g}) of {{}}")


def top_share(data: xr.DataArray, dim: str = "agent", *, top: float = 0.1) -> xr.DataArray:
    """Return the share of the total that the richest agents have.

    If ``top`` is not a whole number of agents, the next agent counts in part: the richest 10 % of
    48 agents are four agents and 0.8 of the fifth.

    Parameters
    ----------
    data : DataArray with the dimension ``dim``
    dim : over whom
    top : part of the agents, between 0 and 1

    Returns
    -------
    DataArray without ``dim``, float64; missing where the total is not positive
    """
    if not 0 < top <= 1:
        raise ConfigError(f"{option('top', top)}: must be above 0 and at most 1")

    def of(x: Array) -> Array:
        ordered = -np.sort(-x, axis=-1)  # the richest first, missing values last
        counted = np.clip(top * _count(x)[..., None] - np.arange(x.shape[-1]), 0, 1)
        total = np.nansum(x, -1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.nansum(counted * ordered, -1) / total
        return np.where(total > 0, found, np.nan)

    return _over(data, dim, of, "top_share", f"share of all {{}} that the richest {top:.4g} have")


def mobility(
    data: xr.DataArray, since: int | None = None, dim: str = "agent", *, clock: str | None = None
) -> xr.DataArray:
    """Return the rank correlation of one tick with every other: 1 if all ranks stay the same.

    It is Spearman's coefficient; tied agents get their mean rank. An agent that is missing at one
    of two ticks is left out of their coefficient.

    Parameters
    ----------
    data : DataArray with the dimensions ``dim`` and ``clock``
    since : tick that the others are compared with; default: the first
    dim : dimension of the agents that are ranked
    clock : dimension of ticks; default: the one whose name is or ends in the clock's name

    Returns
    -------
    DataArray without ``dim``, float64

    Raises
    ------
    ConfigError
        If the dimension or the tick does not exist.
    """
    import xarray as xr

    clock = clock or ticks_of(data)
    require_dims(data, dim, clock)
    data = in_order(data, clock)
    ticks = data[clock].values
    if not len(ticks):
        raise ConfigError(f"'{data.name}' has no {clock}, so nothing can be compared")
    since = int(ticks[0]) if since is None else since
    if since not in ticks:
        raise ConfigError(
            f"{option('since', since)}: not among the ticks of '{data.name}', which are "
            f"{ticks[0]} to {ticks[-1]}"
        )
    first = data.sel({clock: since}, drop=True)

    def of(x: Array, y: Array) -> Array:
        both = ~(np.isnan(x) | np.isnan(y))
        a, b = (_ranks(np.where(both, values, np.nan)) for values in (x, y))
        with np.errstate(invalid="ignore", divide="ignore"):
            n = _count(a)[..., None]
            a, b = (r - np.nansum(r, -1, keepdims=True) / n for r in (a, b))
            scale = np.sqrt(np.nansum(a * a, -1) * np.nansum(b * b, -1))
            return np.where(scale > 0, np.nansum(a * b, -1) / scale, np.nan)

    found = xr.apply_ufunc(
        of, *xr.broadcast(data.astype(float), first.astype(float)), input_core_dims=[[dim], [dim]]
    )
    found = found.transpose(*(d for d in data.dims if d != dim))
    return named(found, data, "mobility", f"rank correlation of {{}} with tick {since}")


def _ranks(x: Array) -> Array:
    """Return ranks along the last axis from 1; ties have their mean; missing values stay so."""
    import pandas as pd  # which xarray has

    found: Array = pd.DataFrame(_flat(x)).rank(axis=1).to_numpy()
    return found.reshape(x.shape)


def _flat(x: Array) -> Array:
    """Return values as (row, last axis), also where the last axis has no length."""
    return x.reshape(int(np.prod(x.shape[:-1])), x.shape[-1])


def _count(x: Array) -> Array:
    return np.asarray(np.sum(~np.isnan(x), axis=-1), float)


def _relative(x: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return values / mean, and where it is defined: no value below 0 and a positive sum."""
    total = np.nansum(x, -1)
    least = np.min(np.where(np.isnan(x), np.inf, x), -1, initial=np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        return x / (total / _count(x))[..., None], (total > 0) & (least >= 0)


def _over(
    data: xr.DataArray, dim: str, of: Callable[[Any], Any], name: str, meaning: str
) -> xr.DataArray:
    import xarray as xr

    def of_finite(x: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return np.where(np.isfinite(np.nansum(np.abs(x), -1)), of(x), np.nan)

    require_dims(data, dim)
    found = xr.apply_ufunc(of_finite, data.astype(float), input_core_dims=[[dim]])
    return named(found, data, name, meaning)


def named(found: xr.DataArray, data: xr.DataArray, name: str, meaning: str) -> xr.DataArray:
    """Return the array with a name, a unit, and a meaning that names the quantity of ``data``."""
    of = data.attrs.get("long_name", data.name or "values")
    found = found.rename(name)
    found.attrs = {"units": "1", "long_name": meaning.format(of)}
    return found
