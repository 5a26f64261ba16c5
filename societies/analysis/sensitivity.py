"""Which parameters does an outcome depend on? Sobol indices and Morris's elementary effects.

SALib computes both from the outcomes at the points of a design. Its groups of points (or
trajectories) must be complete and in order. The coordinates of a study identify the point of each
run. So runs are sorted, incomplete groups are left out with a warning, and points that do not fit a
design raise an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis import designs
from societies.analysis.selecting import require_dims
from societies.errors import ConfigError, needing, option

if TYPE_CHECKING:
    import xarray as xr

NO_KEYS = ("run", "point", "replicate", "seed", "status", "error", "wall_time", "label")
"""Coordinates along the runs of a study that are not keys of the configuration."""


def varied(study: xr.DataArray | xr.Dataset, dim: str = "run") -> list[str]:
    """Return the keys that a study varies: coordinates along its runs that have several values.

    The order is that of the design if the study records it, else that of the coordinates.
    """
    said = study.attrs.get("vary")
    found = [
        str(name)
        for name, one in study.coords.items()
        if one.dims == (dim,)
        and name not in NO_KEYS
        and not str(one.attrs.get("long_name", "")).startswith("number of the ")
        and len(np.unique(one.values.astype(str))) > 1
    ]
    order = [key.strip() for key in str(said).split(",")]
    places = {key: order.index(key.removeprefix("vary.")) for key in found if key in order}
    return sorted(found, key=lambda key: places.get(key, len(order)))


def over_replicates(data: xr.DataArray, dim: str = "run") -> xr.DataArray:
    """Return the mean over the replicates of every point, in the order of the points.

    The coordinate ``point`` identifies the runs of one point. Without it all replicates must have
    the same points in the same order, which is checked by their parameters; a study that also lacks
    the coordinate ``replicate`` has one run for each point.

    Warns
    -----
    UserWarning
        If some points have fewer replicates than others.

    Raises
    ------
    ConfigError
        If there is no run, if runs of one point have different parameters, or if a replicate occurs
        twice.
    """
    require_dims(data, dim)
    if not data.sizes[dim]:
        raise ConfigError(f"'{data.name}' has no {dim}")
    if "point" in data.coords:
        return _over_points(data, dim, data["point"].values)
    if "replicate" not in data.coords:
        return data
    numbers = data["replicate"].values
    sizes = sorted({int(size) for size in np.unique(numbers, return_counts=True)[1]})
    if len(sizes) > 1:
        raise ConfigError(
            f"'{data.name}': the replicates have {sizes[0]} to {sizes[-1]} points, and there is no "
            "coordinate 'point' to tell them apart; complete the study first"
        )
    order = np.argsort(numbers, kind="stable")
    places = np.empty(len(order), int)
    places[order] = np.tile(np.arange(sizes[0]), len(order) // sizes[0])
    return _over_points(data, dim, places)


def _over_points(data: xr.DataArray, dim: str, point: NDArray[Any]) -> xr.DataArray:
    """Return the mean over the runs of every point, in the order of the points."""
    _, first, place, counts = np.unique(
        point, return_index=True, return_inverse=True, return_counts=True
    )
    for key in varied(data, dim):
        values = data[key].values
        if (values != values[first][place]).any():
            number = point[np.flatnonzero(values != values[first][place])[0]]
            raise ConfigError(
                f"'{data.name}': runs of point {number} have different values of '{key}'; take the "
                "runs of one study, in its order"
            )
    if "replicate" in data.coords:
        pairs = np.stack([point, data["replicate"].values])
        if len(np.unique(pairs, axis=1).T) < len(point):
            raise ConfigError(f"'{data.name}': a replicate of a point appears twice")
    fewer = int((counts < counts.max()).sum())
    if fewer:
        warnings.warn(
            f"'{data.name}': {fewer} of {len(counts)} points have fewer than {counts.max()} "
            "replicates; their means are over fewer replicates",
            stacklevel=2,
        )
    rows = np.moveaxis(np.asarray(data.values, float), data.get_axis_num(dim), 0)
    total = np.zeros((len(first), *rows.shape[1:]))
    np.add.at(total, place, rows)
    means = (total.T / counts).T
    found = data.isel({dim: first}).drop_vars(["replicate", "seed", dim], errors="ignore")
    result: xr.DataArray = found.copy(data=np.moveaxis(means, 0, data.get_axis_num(dim)))
    return result


def sobol(
    outcome: xr.DataArray,
    names: Sequence[str] | None = None,
    *,
    dim: str = "run",
    second_order: bool = False,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> xr.Dataset:
    """Return Sobol indices of an outcome at the points of a Saltelli design.

    ``first`` is the share of the outcome's variance that a parameter explains alone, ``total`` the
    share that it explains alone or with others (Saltelli et al., 2010; Jansen's estimator of the
    total). Intervals are SALib's: normal, with the standard deviation over bootstrap samples.

    Parameters
    ----------
    outcome : DataArray along ``dim``, (2 + k) N points for k parameters, (2 + 2 k) N with second
        order, with the coordinate ``point`` or in the order of the design; replicates of a point
        are averaged first. Other dimensions, days for example, are retained
    names : names of the parameters; default: the keys that the study varies. If they are
        coordinates, their order is found from the design
    dim : dimension of the runs
    second_order : whether the design is one for indices of pairs
    level, resamples, seed : of the intervals

    Returns
    -------
    Dataset along ``parameter``: ``first``, ``total`` and their ``_low`` and ``_high``; with second
    order also ``second`` (parameter, with_parameter) and its ends, missing on and below the
    diagonal; all missing where the outcome does not vary

    Raises
    ------
    ConfigError
        If the points are not such a design, or an outcome is missing or infinite.
    SocietiesError
        If SALib is not installed.
    """
    outcome, names = _points(outcome, names, dim)
    outcome, names = designs.saltelli(outcome, names, dim, second_order=second_order)
    analyze = _salib("sobol")
    problem = {"num_vars": len(names), "names": list(names), "bounds": [[0, 1]] * len(names)}

    def of(y: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        found = analyze(
            problem,
            y,
            calc_second_order=second_order,
            num_resamples=resamples,
            conf_level=level,
            seed=seed + 1,  # SALib treats 0 as no seed
        )
        return {
            **_with_ends("first", found["S1"], found["S1_conf"]),
            **_with_ends("total", found["ST"], found["ST_conf"]),
            **(_with_ends("second", found["S2"], found["S2_conf"]) if second_order else {}),
        }

    dims = {"second": ("parameter", "with_parameter")}
    found = _everywhere(outcome, dim, names, of, dims)
    meanings = {
        "first": "part of the variance explained by the parameter alone",
        "total": "part of the variance in which the parameter takes part",
        "second": "part of the variance explained by two parameters together only",
    }
    return _described(found, meanings, f"{level:g} interval, {resamples} bootstrap samples", "1")


def morris(
    outcome: xr.DataArray,
    names: Sequence[str] | None = None,
    *,
    dim: str = "run",
    levels: int | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> xr.Dataset:
    """Return Morris's measures of elementary effects at the points of a Morris design.

    An elementary effect is the change of the outcome from one point of a trajectory to the next,
    divided by the step of the one parameter that differs, as a share of its range (Morris, 1991;
    Campolongo et al., 2007).

    Parameters
    ----------
    outcome : DataArray along ``dim``, k + 1 points for each trajectory, with the coordinate
        ``point`` or in the order of the design; replicates of a point are averaged first. It needs
        the coordinates of the parameters
    names : names of the parameters; default: the keys that the study varies
    dim : dimension of the runs
    levels : number of values of each parameter in the design; default: as recorded in the study,
        else as found from the points
    level, resamples, seed : of the interval of ``mu_star``

    Returns
    -------
    Dataset along ``parameter``: ``mu`` mean effect, ``mu_star`` mean absolute effect with ``_low``
    and ``_high``, ``sigma`` standard deviation over trajectories

    Raises
    ------
    ConfigError
        If the points are not such a design, an outcome is missing or infinite, or the number of
        levels is unknown.
    SocietiesError
        If SALib is not installed.
    """
    outcome, names = _points(outcome, names, dim)
    outcome, levels = designs.trajectories(outcome, names, dim, levels)
    analyze = _salib("morris")
    problem = {"num_vars": len(names), "names": list(names), "bounds": [[0, 1]] * len(names)}
    x = np.column_stack([designs.as_numbers(outcome[name].values) for name in names])

    def of(y: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        found = analyze(
            problem,
            x,
            y,
            num_levels=levels,
            num_resamples=resamples,
            conf_level=level,
            seed=seed,
        )
        return {
            "mu": np.asarray(found["mu"], float),
            **_with_ends("mu_star", found["mu_star"], found["mu_star_conf"]),
            "sigma": np.asarray(found["sigma"], float),
        }

    found = _everywhere(outcome, dim, names, of, {})
    meanings = {
        "mu": "mean elementary effect of the parameter's whole range",
        "mu_star": "mean size of the elementary effects",
        "sigma": "standard deviation of the elementary effects",
    }
    unit = str(outcome.attrs.get("units", "1"))
    return _described(found, meanings, f"{level:g} interval, {resamples} bootstrap samples", unit)


def _points(
    outcome: xr.DataArray, names: Sequence[str] | None, dim: str
) -> tuple[xr.DataArray, list[str]]:
    """Return one outcome for each point, and the parameters."""
    require_dims(outcome, dim)
    chosen = varied(outcome, dim) if names is None else list(names)
    if not chosen:
        raise ConfigError(
            f"{option('names')}: '{outcome.name}' has no keys that vary along '{dim}'"
        )
    for name in chosen:
        if name not in outcome.coords and outcome.coords:
            keys = ", ".join(varied(outcome, dim)) or "none"
            raise ConfigError(
                f"{option('names')}: '{name}' is not a key of the study; it has {keys}"
            )
    found = over_replicates(outcome, dim)
    wrong = ~np.isfinite(found.astype(float))
    if bool(wrong.any()):
        count = int(wrong.any([d for d in found.dims if d != dim]).sum())
        infinite = "" if bool(found.isnull().any()) else " (infinite)"
        raise ConfigError(
            f"'{outcome.name}' is missing{infinite} at {count} of {found.sizes[dim]} points: "
            "choose ticks and variables that all runs have, or complete the study"
        )
    return found, chosen


def _with_ends(name: str, middle: Any, half: Any) -> dict[str, NDArray[np.float64]]:
    middle, half = np.asarray(middle, float), np.asarray(half, float)
    return {name: middle, f"{name}_low": middle - half, f"{name}_high": middle + half}


def _everywhere(
    outcome: xr.DataArray,
    dim: str,
    names: Sequence[str],
    of: Callable[[NDArray[np.float64]], dict[str, NDArray[np.float64]]],
    dims: Mapping[str, tuple[str, ...]],
) -> xr.Dataset:
    """Apply a function to the outcomes at every index of the other dimensions."""
    import xarray as xr

    ordered = outcome.transpose(dim, ...).astype(float)
    others, shape = ordered.dims[1:], ordered.shape[1:]
    flat = ordered.values.reshape(ordered.sizes[dim], -1)
    found: list[dict[str, NDArray[np.float64]]] = []
    for y in flat.T:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # about outcomes that do not vary
            one = of(y)
        found.append(one if np.ptp(y) > 0 else {k: np.full_like(v, np.nan) for k, v in one.items()})
    coords = {d: ordered[d] for d in others if d in ordered.coords}
    data = {}
    for name in found[0]:
        own = dims.get(name.removesuffix("_low").removesuffix("_high"), ("parameter",))
        values = np.stack([one[name] for one in found], -1)
        data[name] = ((*own, *others), values.reshape(*values.shape[:-1], *shape))
    result = xr.Dataset(data, {**coords, "parameter": list(names)})
    if any("with_parameter" in one.dims for one in result.values()):
        result = result.assign_coords(with_parameter=list(names))
    return result.assign_attrs(of=str(outcome.name or ""))


def _described(found: xr.Dataset, meanings: dict[str, str], interval: str, unit: str) -> xr.Dataset:
    for name, one in found.data_vars.items():
        word = str(name).removesuffix("_low").removesuffix("_high")
        end = " low" if str(name).endswith("_low") else " high"
        about = meanings[word] + (f":{end} end" if word != name else "")
        one.attrs.update(units=unit, long_name=about)
    return found.assign_attrs(interval=interval)


def _salib(method: str) -> Any:
    """Return SALib's function that analyses a design."""
    with needing("sensitivity needs", "SALib"):
        return import_module(f"SALib.analyze.{method}").analyze
