"""Does a model have the statistics that it should? A verdict on each target over many seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.effect_table import digits
from societies.analysis.effects import for_json, open_source
from societies.analysis.intervals import require_level
from societies.analysis.selecting import RUN
from societies.analysis.study_cases import point_labels, runs_done
from societies.errors import ConfigError, SocietiesError, option
from societies.study.assumptions import Assumptions, assumptions
from societies.study.bands import distances, ends_of
from societies.study.forecasts import Forecast, forecasts
from societies.study.simulate import Progress, Simulator, sweep_of
from societies.study.source import near
from societies.study.statistics import Reals, deviations, mean_within
from societies.study.target_file import SHARE, Target, name_and_options
from societies.study.targets import Targets, load_targets
from societies.terminal import table_of
from societies.workload.drawing.bands import student_half

if TYPE_CHECKING:
    import xarray as xr

SEEDS = 20
"""Seeds of a configuration if neither the targets nor the caller give their number."""
PASS, WARN, FAIL = "PASS", "WARN", "FAIL"
POINTS = {PASS: 1.0, WARN: 0.5, FAIL: 0.0}
"""Points of each verdict in the score."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """A statistic over many seeds, compared with its band.

    Attributes
    ----------
    case, name, unit : case, name and unit of the statistic
    verdict : PASS, WARN or FAIL
    values : (seed,) the statistic of every seed; NaN where it cannot be computed
    mean, sd : over the seeds that have a number
    low, high : ends of the interval of the mean (Student's)
    share : share of all seeds in the band
    failed : seeds without a number
    distance : distance of the mean from the target, or else from the band, in units of the scale
    tests, errors : tests of the series, and errors of forecasts, if asked for
    """

    case: str
    name: str
    unit: str
    target: Target
    verdict: str
    values: Reals
    mean: float
    sd: float
    low: float
    high: float
    share: float
    failed: int
    distance: float
    tests: Assumptions | None = None
    errors: list[Forecast] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        numbers = ("mean", "sd", "low", "high", "share", "distance")
        found: dict[str, Any] = {
            **({"case": self.case} if self.case else {}),
            **{"name": self.name, "verdict": self.verdict, "unit": self.unit},
            **{name: for_json(getattr(self, name)) for name in numbers},
            "seeds": len(self.values),
            "failed": self.failed,
            "band": [for_json(one) for one in ends_of(self.target)],
            "target": self.target.target,
            "weight": self.target.weight,
        }
        if self.target.source:
            found["source"] = self.target.source
        if self.tests is not None:
            tests = {name: for_json(one) for name, one in asdict(self.tests).items()}
            found["tests"] = {**tests, "problems": self.tests.problems}
        if self.errors:
            found["forecasts"] = [
                {name: for_json(value) for name, value in asdict(one).items()}
                for one in self.errors
            ]
        return found


@dataclass(frozen=True, eq=False)
class Validation:
    """The verdicts of a targets file."""

    verdicts: list[Verdict]
    level: float
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Weighted mean over the targets: 1 for PASS, 0.5 for WARN, 0 for FAIL."""
        return score(self.verdicts)

    @property
    def cases(self) -> list[str]:
        """Names of the cases, in order."""
        return list(dict.fromkeys(one.case for one in self.verdicts))

    @property
    def passed(self) -> bool:
        """Whether no target failed."""
        return all(one.verdict != FAIL for one in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        counts = {word: sum(one.verdict == word for one in self.verdicts) for word in POINTS}
        by_case = {
            name: score([one for one in self.verdicts if one.case == name]) for name in self.cases
        }
        return {
            "score": self.score,
            **({"scores": by_case} if len(by_case) > 1 else {}),
            "counts": counts,
            "level": self.level,
            "failures": self.failures,
            "statistics": [one.as_dict() for one in self.verdicts],
        }


def score(verdicts: Sequence[Verdict]) -> float:
    """Return the weighted mean of the scores of verdicts."""
    weights = [one.target.weight for one in verdicts]
    if not sum(weights):
        return 1.0
    return float(np.average([POINTS[one.verdict] for one in verdicts], weights=weights))


def validate(
    targets: str | PathLike[str] | Mapping[str, Any] | Sequence[Targets],
    results: str | PathLike[str] | xr.Dataset | None = None,
    *,
    case: str | None = None,
    base: str | PathLike[str] | Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    replicates: int | None = None,
    device: str = "auto",
    level: float = 0.95,
    tests: bool = False,
    progress: Progress | None = None,
) -> Validation:
    """Compare a model with targets over many seeds.

    Parameters
    ----------
    targets : a targets file, the name of a shipped one, or its contents
    results : an existing result or study, whose points are judged one by one; default: the
        configuration of the targets is run
    case : name of the only case to judge
    base, set : configuration in place of that of the targets, and keys of it to change
    replicates : number of seeds, run in one launch; default: that of the targets, or 20
    level : level of the intervals of the mean
    tests : also test whether a mean over seeds and ticks may be taken

    Returns
    -------
    Validation

    Raises
    ------
    ConfigError
        If the targets are not valid, or the results lack one of their variables or ticks.
    """
    require_level(level)
    own: list[Targets]
    if isinstance(targets, Sequence) and not isinstance(targets, str):
        own = list(targets)
    else:
        own = load_targets(targets, case)
    required(own)
    failures: dict[str, int] = {}
    verdicts: list[Verdict] = []
    if results is not None:
        if len(own) > 1:
            names = ", ".join(one.name for one in own)
            raise ConfigError(f"{option('case')}: the targets have the cases {names}; choose one")
        (only,) = own
        for name, data in _cases_of(results):
            verdicts += judged(only, data, name, level, tests)
        return Validation(verdicts, level)
    for one in own:
        data, more = _computed(one, base, set or {}, replicates, device, progress)
        for why, count in more.items():
            failures[why] = failures.get(why, 0) + count
        verdicts += judged(one, data, one.name, level, tests)
    return Validation(verdicts, level, failures)


def required(targets: Sequence[Targets]) -> None:
    """Raise ConfigError if a statistic has neither a band nor a target."""
    for one in targets:
        for name, target in one.statistics.items():
            if target.target is None and not np.isfinite(ends_of(target)).any():
                raise one.refused(name, "band", "is missing: a target needs a band or a target")


def _cases_of(results: str | PathLike[str] | xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Yield the points of a study, or a result as a whole."""
    with open_source(results) as data:
        if RUN not in data.dims:
            yield "", data
            return
        done = runs_done(data)
        labels = point_labels(done)
        for point, label in labels.items():
            own = done.isel({RUN: np.flatnonzero(done["point"].values == point)})
            yield label if len(labels) > 1 else "", own


def _computed(
    targets: Targets,
    base: Any,
    set: Mapping[str, Any],
    replicates: int | None,
    device: str,
    progress: Progress | None,
) -> tuple[xr.Dataset, dict[str, int]]:
    """Run the configuration of a case with many seeds in one launch."""
    import xarray as xr

    named = targets.case.base if base is None else base
    if named is None:
        raise ConfigError(f"{targets.file}: names no base; give a result to validate, or a base")
    sweep = sweep_of(near(targets.folder, named), {**targets.case.set, **set})
    count = replicates or targets.case.replicates or SEEDS
    if "replicates" not in type(sweep.base).model_fields:
        count = 1
    with Simulator(sweep, (), targets, count, device) as simulate:
        simulate.require_statistics()
        numbers = np.arange(count, dtype=np.int64)[None, :]
        parts = list(simulate.computed([[]], numbers, progress))
        if not parts:
            why = next(iter(simulate.failures), "no run was done")
            raise SocietiesError(f"no seed could be run: {why}")
        data = xr.concat([one for _, one in sorted(parts, key=lambda p: p[0])], RUN)
        return data, simulate.failures


def judged(
    targets: Targets, data: xr.Dataset, case: str, level: float, tests: bool = False
) -> list[Verdict]:
    """Return the verdict on every target from the runs of a dataset."""
    values = targets.evaluate(data)
    found = []
    for i, (name, target) in enumerate(targets.statistics.items()):
        share = targets.case.share if target.share is None else target.share
        more: dict[str, Any] = {}
        if tests:
            x, at, _, sample = targets.series(name, data)
            more["tests"] = None if sample else assumptions(x, values[:, i], at)
        if name_and_options(target.statistic)[0] == "rmse":
            x, at, _, sample = targets.series(name, data)
            whole = x[np.isfinite(x).all(1)]
            if len(whole) and not sample:
                more["errors"] = forecasts(whole.mean(0), targets.observed[name], at)
        unit = targets.units[name]
        found.append(verdict_on(case, name, unit, target, values[:, i], share, level, **more))
    return found


def verdict_on(
    case: str,
    name: str,
    unit: str,
    target: Target,
    values: Reals,
    needed: float = SHARE,
    level: float = 0.95,
    **more: Any,
) -> Verdict:
    """Return the verdict on a statistic.

    Parameters
    ----------
    values : (seed,) float64; NaN where it cannot be computed
    needed : share of the seeds that must be in the band
    level : level of the interval of the mean
    more : `Verdict.tests` and `Verdict.errors`
    """
    low, high = ends_of(target)
    good = values[np.isfinite(values)]
    failed = len(values) - len(good)
    if not len(good):
        nothing = (np.nan,) * 4
        return Verdict(
            case, name, unit, target, FAIL, values, *nothing, 0.0, failed, np.nan, **more
        )
    with np.errstate(over="ignore"):
        mean, square = float(mean_within(good)), float((deviations(good) ** 2).sum())
    sd = np.sqrt(square / (len(good) - 1)) if len(good) > 1 else np.nan
    half = student_half(level, len(good) - 1, sd / np.sqrt(len(good))) if len(good) > 1 else 0.0
    begin, end = mean - half, mean + half
    inside = float(((good >= low) & (good <= high)).sum() / len(values))
    if end < low or begin > high:
        verdict = FAIL
    else:
        verdict = PASS if low <= mean <= high and inside >= needed else WARN
    distance = distances({name: target}, np.array([mean])).item()
    numbers = (mean, sd, begin, end, inside, failed, distance)
    return Verdict(case, name, unit, target, verdict, values, *numbers, **more)


def validation_table(found: Validation) -> Any:
    """Return the verdicts as tables of rich, one for each case."""
    from rich.console import Group
    from rich.text import Text

    colours = {PASS: "green", WARN: "yellow", FAIL: "red"}
    parts: list[Any] = []
    for case in found.cases:
        own = [one for one in found.verdicts if one.case == case]
        interval_of = f"{100 * found.level:g} % interval"
        columns = ["", "statistic", "mean", interval_of, "band", "in band", "seeds", "failed"]
        columns += ["tests"] if any(one.tests is not None for one in own) else []
        rows = []
        for one in own:
            unit = "" if one.unit == "1" else f" [{one.unit}]"
            ends = f"{digits(for_json(one.low))} to {digits(for_json(one.high))}"
            row: list[Any] = [Text(one.verdict, colours[one.verdict]), f"{one.name}{unit}"]
            row += [digits(for_json(one.mean)), ends, band_text(one.target)]
            row += [f"{100 * one.share:.0f} %", str(len(one.values)), str(one.failed or "")]
            problems = ", ".join(one.tests.problems) or "none" if one.tests is not None else ""
            rows.append([*row, problems][: len(columns)])
        title = f"{f'{case}: ' if case else ''}score {score(own):.2f}"
        left = ("", "statistic", "tests")
        parts.append(table_of(columns, rows, left=left, wrap=left[2:], title=title))
        parts += [_errors(one) for one in own if one.errors]
    if len(found.cases) > 1:
        parts.append(f"score of all: {found.score:.2f}")
    return Group(*parts)


def _errors(verdict: Verdict) -> Any:
    columns = ("ahead", "model", "AR", "random walk", "p (AR)", "p (walk)")
    rows = [
        [str(one.horizon), *(digits(for_json(number)) for number in numbers)]
        for one in verdict.errors
        for numbers in [(one.model, one.ar, one.walk, one.ar_p, one.walk_p)]
    ]
    return table_of(columns, rows, title=f"errors of forecasts: {verdict.name}", wrap=columns)


def band_text(target: Target) -> str:
    """Return a band as text: ``0.04 to 0.09``, ``at most 0.2``, ``0.34``."""
    low, high = ends_of(target)
    if low == high:
        return f"{low:g}"
    if np.isinf(low):
        return "any" if np.isinf(high) else f"at most {high:g}"
    return f"at least {low:g}" if np.isinf(high) else f"{low:g} to {high:g}"
