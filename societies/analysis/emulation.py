"""What would the outcome be at points that were not run? A Gaussian process estimates it, with a
standard deviation.

If a design is too expensive to run (Sobol indices of ten parameters need thousands of points), it
can be evaluated on an emulator fitted to a few hundred points.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from societies.analysis.sensitivity import over_replicates, varied
from societies.errors import ConfigError, needing, option

if TYPE_CHECKING:
    import xarray as xr

NEED = "emulators need"


@dataclass(frozen=True, eq=False)
class Emulator:
    """A Gaussian process that was fitted to the runs of a study.

    Attributes
    ----------
    names : the parameters
    low, high : (parameter,) float, least and largest value of each parameter at the points
    outcome : name of the predicted quantity
    units : unit of the outcome
    q2 : share of the outcome's variance that leave-one-out predictions explain; below about 0.9
        the emulator must not replace the model
    """

    names: tuple[str, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    outcome: str
    units: str
    q2: float
    _process: Any
    _shift: float
    _scale: float

    def predict(self, points: Mapping[str, ArrayLike]) -> xr.Dataset:
        """Return the expected outcome at points and its standard deviation.

        Parameters
        ----------
        points : for each parameter its values, (point,) each

        Returns
        -------
        Dataset along ``point`` with the parameters as coordinates: ``mean`` and ``sd``, the
        standard deviation of the expected outcome, without the noise of single runs

        Raises
        ------
        ConfigError
            If a parameter is missing or unknown, or if the numbers of values differ.
        """
        import xarray as xr

        if set(points) != set(self.names):
            raise ConfigError(f"{option('points')}: needs values of {', '.join(self.names)}")
        columns = [np.atleast_1d(np.asarray(points[name], float)) for name in self.names]
        if len({column.shape for column in columns}) > 1:
            raise ConfigError(f"{option('points')}: parameters have different numbers of values")
        mean, sd = self._process.predict(self._unit(np.column_stack(columns)))
        data = {}
        for name, values, meaning in (
            ("mean", mean * self._scale + self._shift, f"expected {self.outcome}"),
            ("sd", sd * self._scale, "standard deviation of what is expected"),
        ):
            data[name] = "point", values, {"units": self.units, "long_name": meaning}
        return xr.Dataset(data, {n: ("point", c) for n, c in zip(self.names, columns, strict=True)})

    def sobol(self, points: int = 1024, *, seed: int = 0, **options: Any) -> xr.Dataset:
        """Return Sobol indices of the emulator for uniform parameters in the box of its points.

        Parameters
        ----------
        points : base of the Saltelli design, a power of 2; for k parameters (2 + k) times as many
            points are predicted
        options : as for `societies.analysis.sobol`

        Returns
        -------
        Dataset as from `societies.analysis.sobol`; its intervals cover only the error of the
        design, not that of the emulator
        """
        import xarray as xr

        from societies.analysis.sensitivity import sobol

        with needing(NEED, "SALib"):
            from SALib.sample import sobol as sample
        second = bool(options.get("second_order", False))
        problem = {
            "num_vars": len(self.names),
            "names": list(self.names),
            "bounds": np.column_stack([self.low, self.high]).tolist(),
        }
        x = sample.sample(problem, points, calc_second_order=second, seed=seed)
        mean = self.predict(dict(zip(self.names, x.T, strict=True)))["mean"].values
        coords = {name: ("run", column) for name, column in zip(self.names, x.T, strict=True)}
        outcome = xr.DataArray(mean, coords, ("run",), self.outcome)
        return sobol(outcome, self.names, seed=seed, **options)

    def _unit(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        unit: NDArray[np.float64] = (x - self.low) / (self.high - self.low)
        return unit


def emulator(
    outcome: xr.DataArray,
    names: Sequence[str] | None = None,
    *,
    dim: str = "run",
    restarts: int = 3,
    seed: int = 0,
) -> Emulator:
    """Fit a Gaussian process to the outcome of a study's runs.

    The covariance is a Matern kernel with smoothness 5/2 and a length scale for each parameter,
    plus noise, since runs of one point differ. scikit-learn fits both by maximum likelihood.

    Parameters
    ----------
    outcome : (run) DataArray with the parameters as coordinates, as from a study; replicates of a
        point are averaged first
    names : names of the parameters; default: the keys that the study varies
    dim : dimension of the runs
    restarts, seed : restarts and seed of the search for the maximum likelihood

    Returns
    -------
    Emulator

    Raises
    ------
    ConfigError
        If a parameter is not numeric or has only one value, or an outcome is missing.
    SocietiesError
        If scikit-learn is not installed.
    """
    with needing(NEED, "scikit-learn"):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    if outcome.dims != (dim,):
        dims = ", ".join(map(str, outcome.dims))
        raise ConfigError(
            f"'{outcome.name}' has the dimensions {dims}; choose one number per {dim}"
        )
    chosen = varied(outcome, dim) if names is None else list(names)
    points = over_replicates(outcome, dim)
    x = np.column_stack([_numbers(points, name) for name in chosen]) if chosen else np.empty((0, 0))
    y = points.values.astype(float)
    if not chosen or (x.min(0) == x.max(0)).any():
        raise ConfigError(f"{option('names')}: needs parameters that have several values")
    if not np.isfinite(y).all():
        raise ConfigError(f"'{outcome.name}' is missing or infinite at some points")
    low, high = x.min(0), x.max(0)
    shift, scale = float(y.mean()), float(y.std()) or 1.0
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * Matern(
        np.full(len(chosen), 0.5), (1e-2, 1e2), nu=2.5
    ) + WhiteKernel(1e-3, (1e-8, 1.0))
    process = GaussianProcessRegressor(
        kernel, alpha=1e-10, n_restarts_optimizer=restarts, random_state=seed
    )
    unit, target = (x - low) / (high - low), (y - shift) / scale
    with warnings.catch_warnings():
        # scikit-learn warns about values at their bounds. Both are valid results: a length scale
        # at its bound means that a parameter has no effect, noise at its bound means no noise.
        warnings.simplefilter("ignore", ConvergenceWarning)
        process.fit(unit, target)
    # Leave-one-out errors of a Gaussian process from the inverse covariance of all points
    # (Rasmussen and Williams, Gaussian Processes for Machine Learning, equation 5.12).
    inverse = np.linalg.inv(process.kernel_(unit) + 1e-10 * np.eye(len(y)))
    errors = (inverse @ target) / np.diag(inverse)
    q2 = 1.0 - float(np.mean(errors**2) / np.mean(target**2)) if np.ptp(y) else 0.0
    # The expected outcome has no noise: predict with the first part of the kernel.
    smooth = _Smooth(process, inverse @ target, inverse, unit)
    unit_of = str(outcome.attrs.get("units", "1"))
    name = str(outcome.name or "outcome")
    return Emulator(tuple(chosen), low, high, name, unit_of, q2, smooth, shift, scale)


class _Smooth:
    """The prediction of a fitted process without the noise of a single run."""

    def __init__(self, process: Any, weights: Any, inverse: Any, unit: Any) -> None:
        self._kernel, self._weights = process.kernel_.k1, weights
        self._inverse, self._unit = inverse, unit

    def predict(self, x: NDArray[np.float64]) -> tuple[Any, Any]:
        """Return mean and standard deviation."""
        across = self._kernel(x, self._unit)
        variance = self._kernel.diag(x) - np.einsum("ij,jk,ik->i", across, self._inverse, across)
        return across @ self._weights, np.sqrt(np.maximum(variance, 0.0))


def _numbers(points: xr.DataArray, name: str) -> NDArray[np.float64]:
    if name not in points.coords or points[name].dtype.kind not in "iufb":
        raise ConfigError(f"{option('names')}: '{name}' is not a key of the study that has numbers")
    found: NDArray[np.float64] = points[name].values.astype(float)
    return found
