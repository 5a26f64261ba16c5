"""Does a calibration know how sure it may be? It is tried on data whose true parameters are known.

Simulation-based calibration (Talts et al., 2018): true points are drawn from the priors, the model
makes data at each, and the posterior of the data is computed. Over many points an interval of 90 %
must contain the truth in 90 % of the cases, and the rank of the truth among the draws is uniform.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from societies.errors import ConfigError, option
from societies.study.calibration.conduct import Watch
from societies.study.calibration.document import Calibration, answer_of
from societies.study.calibration.methods import METHODS
from societies.study.simulate import mean_over_replicates
from societies.study.statistics import Reals
from societies.study.targets import Targets

LEVELS = (0.5, 0.9)
"""Intervals whose coverage is reported."""
BINS = 10
"""Bins of the ranks."""


@dataclass(frozen=True, eq=False)
class Recovery:
    """What a calibration made of data whose true parameters are known.

    Attributes
    ----------
    names : parameters
    truth : (point, parameter) in the unit cube
    ranks : (point, parameter) share of the draws below the truth
    coverage : (level, parameter) share of the points whose interval contains the truth
    bounds : (level, 2) of the coverage, in 95 % of the cases if the intervals are right
    p : (parameter) p value of uniform ranks (chi-square)
    trials : number of trials of all calibrations
    """

    names: list[str]
    truth: Reals
    ranks: Reals
    coverage: Reals
    bounds: Reals
    p: Reals
    trials: int

    @property
    def right(self) -> bool:
        """Whether every coverage lies within its bounds."""
        low, high = self.bounds[:, :1], self.bounds[:, 1:]
        return bool(((self.coverage >= low) & (self.coverage <= high)).all())

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Names and values to print."""
        found = [("points", str(len(self.truth))), ("trials", str(self.trials))]
        for level, (low, high) in zip(LEVELS, self.bounds, strict=True):
            found.append((f"{100 * level:g} % intervals", f"right if {low:.2f} to {high:.2f}"))
        for i, name in enumerate(self.names):
            said = f"contain the truth {self.covered(i)}; uniform ranks p {self.p[i]:.3f}"
            found.append((name, said))
        return found

    def covered(self, i: int) -> str:
        """Return the coverage of parameter ``i`` by level, as text."""
        both = zip(LEVELS, self.coverage[:, i], strict=True)
        return ", ".join(f"{100 * level:g} %: {one:.2f}" for level, one in both)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        names = ("truth", "ranks", "coverage", "bounds", "p")
        arrays = {name: getattr(self, name).tolist() for name in names}
        return {"parameters": self.names, "levels": LEVELS, "trials": self.trials, **arrays}


def recover(
    own: Calibration,
    points: int,
    *,
    device: str = "auto",
    workers: int = 0,
    scheduler: str = "",
    seed: int = 1,
    progress: Watch | None = None,
) -> Recovery:
    """Calibrate on data of true points, all at once: their trials share launches.

    Parameters
    ----------
    points : number of true points, drawn from the priors

    Raises
    ------
    ConfigError
        If the method has no posterior.
    """
    if own.method != "abc_smc":
        raise ConfigError(f"{option('recover')}: {own.method} has no posterior; take abc_smc")
    random = np.random.default_rng(seed)
    dims = len(own.priors)
    truth = random.random((points, dims))
    with own.simulator(device, workers, scheduler) as simulate:
        # Data have random draws that no trial has: those of the last numbers.
        first = 1 << 24
        numbers = first + np.arange(points * own.replicates).reshape(points, -1)
        data = mean_over_replicates(simulate.runs(own.values(truth), numbers))
        if bad := int((~np.isfinite(data).all(1)).sum()):
            raise ConfigError(f"{option('recover')}: {bad} true points have no statistics")
        aims = [_aimed(own.targets, row, data.std(0)) for row in data]
        methods = [
            METHODS[own.method](dims, **{**own.options, "seed": seed + 1 + k})
            for k in range(points)
        ]
        asked = {k: next(method) for k, method in enumerate(methods)}
        draws: dict[int, Reals] = {}
        trials = 0
        while asked:
            unit = np.concatenate(list(asked.values()))
            runs = simulate.runs(own.values(unit), own.numbers(trials, len(unit)))
            trials += len(unit)
            statistics, place = mean_over_replicates(runs), 0
            for k, one in list(asked.items()):
                answer = answer_of(statistics[place : place + len(one)], aims[k])
                place += len(one)
                try:
                    asked[k] = methods[k].send(answer)
                except StopIteration as end:
                    draws[k] = end.value.draws
                    del asked[k]
            if progress:
                progress(trials, len(draws))
    return recovered(list(own.priors), truth, np.stack([draws[k] for k in range(points)]), trials)


def recovered(names: list[str], truth: Reals, draws: Reals, trials: int) -> Recovery:
    """Return coverage and ranks from draws, (point, draw, parameter), in the unit cube."""
    from scipy.stats import binom, chisquare

    ranks = (draws < truth[:, None]).mean(1)
    coverage = np.stack([(np.abs(ranks - 0.5) <= level / 2).mean(0) for level in LEVELS])
    count = len(truth)
    bounds = np.array([binom.ppf([0.025, 0.975], count, level) / count for level in LEVELS])
    bins = np.minimum((ranks * BINS).astype(int), BINS - 1)
    counts = np.stack([np.bincount(column, minlength=BINS) for column in bins.T])
    p = np.array([float(chisquare(row).pvalue) for row in counts])
    return Recovery(names, truth, ranks, coverage, bounds, p, trials)


def _aimed(targets: Targets, data: Reals, spread: Reals) -> Targets:
    """Return the targets with data as values, each in units of its spread over the true points."""
    statistics = {
        name: one.model_copy(
            update={"target": float(value), "band": None, "scale": float(wide) or 1.0}
        )
        for (name, one), value, wide in zip(targets.statistics.items(), data, spread, strict=True)
    }
    case = targets.case.model_copy(update={"statistics": statistics})
    return replace(targets, case=case)
