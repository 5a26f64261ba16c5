"""How uncertain is a mean over replicates, and how much do the replicates differ?"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.selecting import require_dims
from societies.errors import ConfigError, option
from societies.workload.drawing import bands

if TYPE_CHECKING:
    import xarray as xr


def mean_interval(
    data: xr.DataArray,
    dim: str = "society",
    *,
    level: float = 0.95,
    resamples: int = bands.RESAMPLES,
    seed: int = 0,
) -> xr.Dataset:
    """Return the mean over replicates and the bootstrap interval of the mean.

    Samples are drawn from the replicates with replacement (Efron, 1979), the same along all other
    dimensions; the ends of the interval are percentiles of the samples' means. The interval shows
    the uncertainty of the mean and gets narrower with more replicates; with fewer than about ten
    it is too narrow. Missing values are ignored.

    Parameters
    ----------
    data : DataArray with the dimension ``dim``
    dim : dimension of the replicates: ``"society"``, ``"replicate"``, ``"run"``
    level : share of the samples whose mean lies in the interval
    resamples : number of samples
    seed : seed of the random samples

    Returns
    -------
    Dataset with ``mean``, ``low`` and ``high``, without ``dim``; with one replicate ``low`` and
    ``high`` are missing

    Raises
    ------
    ConfigError
        If the dimension does not exist, the level is not between 0 and 1, or the runs are
        replicates of several points.
    """
    values = _replicates(data, dim, level)
    if resamples < 1:
        raise ConfigError(f"{option('resamples', resamples)}: must be at least 1")
    ends, count = bands.ends_of_mean(values, level, resamples, seed), len(values)
    mean = data.mean(dim, keep_attrs=True)
    about_interval = {"statistic": "mean", "over": dim, "replicates": count}
    about = f"{level:g} bootstrap interval of the mean over {dim}, {resamples} samples"
    return _three(mean, "mean", ends, about_interval, about)


def quantile_interval(
    data: xr.DataArray, dim: str = "society", *, level: float = 0.9
) -> xr.Dataset:
    """Return the median over replicates and the quantiles that enclose the given part of them.

    The quantiles show how much replicates differ. More replicates make them more precise, but not
    closer to each other. They are interpolated linearly, as by `numpy.quantile`.

    Parameters
    ----------
    data : DataArray with the dimension ``dim``
    dim : dimension of the replicates
    level : share of the replicates between the quantiles: 0.9 for the quantiles 0.05 and 0.95

    Returns
    -------
    Dataset with ``median``, ``low`` and ``high``, without ``dim``

    Raises
    ------
    ConfigError
        If the dimension does not exist, the level is not between 0 and 1, or the runs are
        replicates of several points.
    """
    values = _replicates(data, dim, level)
    found = np.empty((3, *values.shape[1:]))
    if values.size:
        parts = [(1 - level) / 2, 0.5, (1 + level) / 2]
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # where all values are missing
            found = np.nanquantile(values, parts, axis=0)
    median, ends = data.isel({dim: 0}, drop=True).copy(data=found[1]), found[[0, 2]]
    about = f"quantile over {dim}, {level:g} in the middle"
    about_interval = {"statistic": "median", "over": dim, "replicates": data.sizes[dim]}
    return _three(median, "median", ends, about_interval, about)


def _three(
    middle: xr.DataArray, name: str, ends: NDArray[Any], attributes: dict[str, Any], about: str
) -> xr.Dataset:
    """Return the middle and the ends of an interval as a dataset, with units and meanings."""
    import xarray as xr

    unit, meaning = middle.attrs.get("units", "1"), middle.attrs.get("long_name", middle.name or "")
    found: dict[Hashable, Any] = {
        name: middle.assign_attrs(long_name=f"{name} of {meaning}" if meaning else name)
    }
    for end, values, word in zip(("low", "high"), ends, ("lower", "upper"), strict=True):
        found[end] = middle.copy(data=values).assign_attrs(
            units=unit, long_name=f"{word} end: {about}"
        )
    return xr.Dataset(found, attrs={**attributes, "interval": about})


def _replicates(data: xr.DataArray, dim: str, level: float) -> NDArray[np.float64]:
    """Return the values along the replicates first.

    Raises ConfigError for a wrong level, or if the dimension mixes several points of a study.
    """
    require_dims(data, dim)
    if not data.sizes[dim]:
        raise ConfigError(f"'{data.name}': the dimension '{dim}' is empty, so there is no mean")
    if "point" in data.coords and data["point"].dims == (dim,):
        counts = np.unique(data["point"].values, return_counts=True)[1]
        if len(counts) > 1 and counts.max() > 1:
            raise ConfigError(
                f"'{data.name}': has {len(counts)} points with up to {counts.max()} replicates; "
                "choose the runs of one point, or one run for each point: over_replicates"
            )
    require_level(level)
    return np.moveaxis(np.asarray(data.values, float), data.get_axis_num(dim), 0)


def require_level(level: float) -> None:
    """Raise ConfigError unless this is a valid level of an interval."""
    if not 0 < level < 1:
        raise ConfigError(f"{option('level', level)}: must be between 0 and 1")
