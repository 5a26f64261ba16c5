"""Which points does a calibration try next, given how far those before were from the targets?

Every method is a generator in the unit cube, which the quantiles of the priors map to values: it
yields points, (n, parameter), and receives an `Answer`. It draws all random numbers from its own
seed, so that a calibration that is resumed asks for the same points again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from societies.errors import needing
from societies.study.statistics import Reals

Count = Annotated[int, Field(gt=0, le=1_000_000)]
Seed = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(gt=0, lt=1)]


@dataclass(frozen=True, eq=False)
class Answer:
    """What came of some points.

    Attributes
    ----------
    distance : (n,) weighted root mean square of the residuals; infinite if a statistic failed
    residuals : (n, statistic) signed distances from the targets, in units of their scale, times the
        root of their weight; 0 for a statistic without weight
    statistics : (n, statistic)
    cells : (n, statistic), the statistics in whole units of their scale; NaN where they failed
    """

    distance: Reals
    residuals: Reals
    statistics: Reals
    cells: Reals


@dataclass(frozen=True, eq=False)
class Found:
    """What a method ends with.

    Attributes
    ----------
    draws : (draw, parameter) draws of the posterior; empty if the method has none
    trace : a value of progress after each batch: tolerance, least distance, number of cells
    profile : (parameter, bin) least distance; empty if the method has none
    trials : numbers of the trials that the result is made of: the last population, one of each cell
    notes : what the user should know, one sentence each
    """

    draws: Reals
    trace: list[float]
    profile: Reals
    trials: NDArray[np.int64]
    notes: list[str]


Method = Generator[Reals, Answer, Found]
NO_DRAWS = np.empty((0, 0))
NO_TRIALS = np.empty(0, np.int64)


def _spread(random: np.random.Generator, count: int, dims: int) -> Reals:
    """Return a Latin hypercube: (count, dims)."""
    places = random.permuted(np.tile(np.arange(count), (dims, 1)), axis=1).T
    return (places + random.random((count, dims))) / count


def _reflected(x: Reals) -> Reals:
    """Return points that left the unit cube, reflected at its faces."""
    found: Reals = np.clip(1 - np.abs(1 - np.abs(x) % 2), 1e-9, 1 - 1e-9)
    return found


def _inside(x: Reals) -> Any:
    """Return which points lie within the unit cube, beyond which a prior is 0."""
    return np.all((x > 0) & (x < 1), axis=1)


def abc_smc(
    dims: int,
    *,
    population: Count = 100,
    generations: Count = 6,
    quantile: Share = 0.5,
    least_accepted: Share = 0.03,
    regression: bool = True,
    draws: Count = 400,
    seed: Seed = 1,
) -> Method:
    """Approximate Bayesian computation by population Monte Carlo (Beaumont et al., 2009).

    The tolerance of a generation is a quantile of the distances of the last one. Points are those
    of the last population, moved by a normal kernel with twice its covariance. At the end draws
    are adjusted by a local linear regression on the residuals (Beaumont et al., 2002).
    """
    random, notes, trace = np.random.default_rng(seed), [], []
    points = _spread(random, 2 * population, dims)
    answer = yield points
    order = np.argsort(answer.distance, kind="stable")[:population]
    if np.isfinite(answer.distance).any():
        order = order[np.isfinite(answer.distance[order])]
    x, distance, residuals = points[order], answer.distance[order], answer.residuals[order]
    trials, asked = order.astype(np.int64), len(points)
    weights: Any = np.full(len(x), 1 / len(x))
    trace.append(float(distance.max()))
    rate = 0.5
    for _ in range(generations - 1):
        tolerance = float(np.quantile(distance, quantile, method="lower"))
        if distance.max() in (0, np.inf):  # nothing is nearer than all, or all failed
            break
        if len(x) < dims + 2:
            notes.append(f"only {len(x)} of the first {len(points)} trials did not fail")
            break
        root = _root(x, weights)
        got: list[tuple[Reals, Any, Reals, Any]] = []
        accepted = tried = 0
        while accepted < population:
            if tried and accepted / tried < least_accepted:
                break
            size = int(np.clip((population - accepted) / rate, population / 2, 4 * population))
            moved = np.full((size, dims), np.nan)
            while len(out := np.flatnonzero(~_inside(moved))):
                parents = x[random.choice(len(x), len(out), p=weights)]
                moved[out] = parents + random.normal(size=(len(out), dims)) @ root.T
            answer = yield moved
            good = np.flatnonzero(answer.distance <= tolerance)
            got.append((moved[good], answer.distance[good], answer.residuals[good], asked + good))
            asked, tried, accepted = asked + size, tried + size, accepted + len(good)
            rate = accepted / tried
        if accepted < population:
            notes.append(f"stopped at the tolerance {trace[-1]:.3g}: fewer trials than "
                         f"{100 * least_accepted:g} % came nearer")  # fmt: skip
            break
        new, distance, residuals, trials = (
            np.concatenate(parts)[:population] for parts in zip(*got, strict=True)
        )
        weights = np.reciprocal(_kernel(new, x, root) @ weights)
        x, weights = new, weights / weights.sum()
        trace.append(tolerance)
    chosen = random.choice(len(x), draws, p=weights)
    found = x[chosen]
    # Where nothing came near, a linear model would lead far away from all trials.
    if regression and 0 < distance.max() <= 1 and len(x) > 3 * dims:
        found = adjusted(x, residuals, distance, weights)[chosen]
    return Found(found, trace, NO_DRAWS, trials.astype(np.int64), notes)


def _root(x: Reals, weights: Reals) -> Reals:
    covariance: Any = 2 * np.atleast_2d(np.cov(x.T, aweights=weights)) + 1e-10 * np.eye(x.shape[1])
    return np.asarray(np.linalg.cholesky(covariance), np.float64)


def _kernel(new: Reals, x: Reals, root: Reals) -> Reals:
    """Return the density of each new point around each old one, without its constant."""
    far = np.linalg.solve(root, (new[:, None, :] - x[None]).reshape(-1, x.shape[1]).T)
    found: Reals = np.exp(-0.5 * (far**2).sum(0)).reshape(len(new), len(x))
    return found


def adjusted(x: Reals, residuals: Reals, distance: Reals, weights: Reals) -> Reals:
    """Return points moved to where a linear model expects them at residuals of 0.

    The regression is that of the logits, so that points remain in the cube.
    """
    near = weights * (1 - (distance / (distance.max() * 1.001)) ** 2)
    logit = np.log(x / (1 - x))
    design = np.column_stack([np.ones(len(x)), residuals])
    root = np.sqrt(near)[:, None]
    slopes = np.linalg.lstsq(root * design, root * logit, rcond=1e-8)[0][1:]
    moved = np.clip(logit - residuals @ slopes, -30, 30)
    found: Reals = 1 / (1 + np.exp(-moved))
    return found


def surrogate(
    dims: int, *, points: Count = 50, batch: Count = 10, rounds: Count = 8, seed: Seed = 1
) -> Method:
    """Bayesian optimisation: a Gaussian process of the distance, and expected improvement.

    The points of a batch keep away from each other: the improvement expected near one that is
    chosen already is discounted.
    """
    import xarray as xr
    from scipy.stats import norm

    from societies.analysis.emulation import emulator

    random, names = np.random.default_rng(seed), [f"p{i}" for i in range(dims)]
    x = _spread(random, max(points, dims + 2), dims)
    y = (yield x).distance
    trace = [float(y.min())]
    for _ in range(rounds):
        finite = np.isfinite(y)
        if finite.sum() < dims + 2:
            new = random.random((batch, dims))
        else:
            known = np.log1p(y[finite])
            coords = {name: ("run", x[finite][:, i]) for i, name in enumerate(names)}
            process = emulator(xr.DataArray(known, coords, ("run",), "distance"), names, restarts=1)
            best = x[np.argmin(np.where(finite, y, np.inf))]
            near = _reflected(best + 0.1 * random.normal(size=(500, dims)))
            candidates = np.concatenate([random.random((1500, dims)), near])
            said = process.predict(dict(zip(names, candidates.T, strict=True)))
            mean, sd = said["mean"].values, np.maximum(said["sd"].values, 1e-9)
            z = (known.min() - mean) / sd
            gain = sd * (z * norm.cdf(z) + norm.pdf(z))
            chosen = []
            for _ in range(batch):
                chosen.append(candidates[int(np.argmax(gain))])
                away = ((candidates - chosen[-1]) ** 2).sum(1)
                gain = gain * (1 - np.exp(-away / (2 * 0.1**2 * dims)))
            new = np.array(chosen)
        answer = yield new
        x, y = np.concatenate([x, new]), np.concatenate([y, answer.distance])
        trace.append(float(y.min()))
    nearest = np.argsort(y, kind="stable")[:batch].astype(np.int64)
    return Found(NO_DRAWS, trace, NO_DRAWS, nearest, [])


def _finite(residuals: Reals) -> Reals:
    """Return residuals, with large ones in the place of those of failed statistics."""
    return np.nan_to_num(residuals, nan=1e3)


def least_squares(
    dims: int, *, starts: Count = 8, iterations: Count = 10, step: Share = 0.02, seed: Seed = 1
) -> Method:
    """Levenberg and Marquardt's least squares, from several starts in the same launches.

    Derivatives are differences of runs with the same random draws.
    """
    random = np.random.default_rng(seed)
    x = _spread(random, starts, dims)
    damping = np.full(starts, 1e-2)
    answer = yield x
    r, best = _finite(answer.residuals), answer.distance
    trace = [float(best.min())]
    for _ in range(iterations):
        steps = np.where(x + step < 1, step, -step)
        moved = x[:, None, :] + steps[:, :, None] * np.eye(dims)
        answer = yield moved.reshape(-1, dims)
        changed = _finite(answer.residuals).reshape(starts, dims, -1)
        slopes = (changed - r[:, None, :]) / steps[:, :, None]
        tried = np.empty_like(x)
        for k in range(starts):
            normal = slopes[k] @ slopes[k].T
            normal += damping[k] * np.diag(np.diag(normal))
            move = np.linalg.lstsq(normal, slopes[k] @ r[k], rcond=None)[0]
            tried[k] = np.clip(x[k] - move, 1e-6, 1 - 1e-6)
        answer = yield tried
        better = answer.distance < best
        x, best = np.where(better[:, None], tried, x), np.where(better, answer.distance, best)
        r = np.where(better[:, None], _finite(answer.residuals), r)
        damping = np.where(better, damping / 3, damping * 4)
        trace.append(float(best.min()))
    return Found(NO_DRAWS, trace, NO_DRAWS, NO_TRIALS, [])


def profiles(
    dims: int, *, bins: Count = 10, batch: Count = 100, rounds: Count = 20, seed: Seed = 1
) -> Method:
    """Calibration profiles (Reuillon et al., 2015): how near can each value of a parameter come?

    For each parameter and each interval of its values the nearest point is remembered. New points
    are such points, moved, with one parameter set into an interval chosen at random.
    """
    random = np.random.default_rng(seed)
    least, where = np.full((dims, bins), np.inf), np.full((dims, bins, dims), np.nan)
    best_trial, asked, trace = np.zeros((dims, bins), np.int64), 0, []
    x = _spread(random, max(batch, bins), dims)
    for _ in range(rounds):
        answer = yield x
        for trial, (point, distance) in enumerate(zip(x, answer.distance, strict=True), asked):
            for i, place in enumerate(np.minimum((point * bins).astype(int), bins - 1)):
                if distance < least[i, place]:
                    least[i, place], where[i, place] = distance, point
                    best_trial[i, place] = trial
        asked += len(x)
        trace.append(float(np.where(np.isfinite(least), least, 0).mean()))
        known = where[np.isfinite(least)]
        if not len(known):
            x = random.random((batch, dims))
            continue
        mothers, fathers = (known[random.integers(len(known), size=batch)] for _ in range(2))
        mixed = np.where(random.random((batch, dims)) < 0.7, mothers, fathers)
        x = _reflected(mixed + 0.08 * random.normal(size=(batch, dims)))
        which, place = random.integers(dims, size=batch), random.integers(bins, size=batch)
        x[np.arange(batch), which] = (place + random.random(batch)) / bins
    return Found(NO_DRAWS, trace, least, np.unique(best_trial[np.isfinite(least)]), [])


def pattern_space(dims: int, *, batch: Count = 100, rounds: Count = 20, seed: Seed = 1) -> Method:
    """Pattern space exploration (Cherel et al., 2015): which statistics can the model have at all?

    Statistics are rounded to whole scales; a combination is a cell. New points are moved ones of
    cells that few trials have hit.
    """
    random = np.random.default_rng(seed)
    trials: dict[tuple[int, ...], list[int]] = {}  # of each cell
    first, trace = NO_TRIALS, []
    asked, x = np.empty((0, dims)), _spread(random, batch, dims)
    for _ in range(rounds):
        answer = yield x
        for i in np.flatnonzero(np.isfinite(answer.statistics).all(1)).tolist():
            trials.setdefault(tuple(answer.cells[i].tolist()), []).append(len(asked) + i)
        asked = np.concatenate([asked, x])
        trace.append(float(len(trials)))
        if not trials:
            x = random.random((batch, dims))
            continue
        first = np.array([one[0] for one in trials.values()], np.int64)
        rare = np.reciprocal([float(len(one)) for one in trials.values()])
        parents = asked[random.choice(first, batch, p=rare / rare.sum())]
        x = _reflected(parents + 0.15 * random.normal(size=(batch, dims)))
    return Found(NO_DRAWS, trace, NO_DRAWS, first, [f"{len(trials)} patterns were found"])


METHODS: Mapping[str, Callable[..., Method]] = {
    one.__name__: one for one in (abc_smc, surrogate, least_squares, profiles, pattern_space)
}
COMMON = ("surrogate", "least_squares", "profiles")
"""Methods whose trials all have the same random draws, by default."""


def require_scipy() -> None:
    """Raise SocietiesError if SciPy is not installed."""
    with needing("a calibration needs", "SciPy"):
        import scipy  # noqa: F401
