"""What does the file of a calibration say: parameters with priors, targets, a method?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from societies.config.document import Document
from societies.config.load import find_config
from societies.config.model import LARGEST_INTEGER, WorkloadConfig, key
from societies.config.problems import Problem, config_error, described, first_reason, suggestion
from societies.errors import ConfigError
from societies.study.bands import residuals, scale_of
from societies.study.calibration.methods import COMMON, METHODS, Answer
from societies.study.simulate import Simulator, mean_over_replicates, shapes_among, sweep_of
from societies.study.source import near, read_validated
from societies.study.statistics import Reals, checked_options, options_of
from societies.study.target_file import BASE, CHANGES, CHOICE, name_and_options
from societies.study.targets import Targets, load_targets
from societies.study.validation import required
from societies.sweep.document import Sweep, digest
from societies.sweep.ranges import Range, Wrong, range_of
from societies.workload.running.varying import takes_whole_numbers

FAR = 0.001
"""Probability at whose quantiles a prior without ends is compared with the range of its key."""
FIRST_TRIALS = ("population", "points", "batch")
"""Options that say with how many trials a method begins."""


class CalibrationConfig(WorkloadConfig):
    """The contents of a calibration's file."""

    workload: Literal["calibration"] = key("calibration", "Kind of the file")
    base: Any = BASE
    set: dict[str, Any] = CHANGES
    parameters: dict[str, Any] = key(..., "Keys with their priors", examples=[{}])
    targets: Any = key(..., "A targets file, or a section of statistics", examples=[{}])
    case: str | None = key(None, "Case of the targets")
    replicates: int = key(1, "Seeds of each trial", "runs", ge=1, le=LARGEST_INTEGER)
    method: dict[str, Any] | str = key("abc_smc", CHOICE)
    common_random_numbers: bool | None = key(
        None, "Whether all trials have the same draws; default: as the method needs"
    )


@dataclass(frozen=True, eq=False)
class Calibration:
    """A checked calibration.

    Attributes
    ----------
    name : name of the file
    base, changes : configuration that all trials share, as the file names it, and changed keys
    sweep : configuration that all trials share
    priors : ranges of the parameters by key
    targets : what the model must show
    method, options : how trials are chosen
    replicates, common : seeds of a trial, and whether they are those of every trial
    shapes : parameters whose values cannot share a launch
    definition : plain data that identify the calibration
    """

    name: str
    base: Any
    changes: Mapping[str, Any]
    sweep: Sweep
    priors: Mapping[str, Range]
    targets: Targets
    method: str
    options: Mapping[str, Any]
    replicates: int
    common: bool
    shapes: list[str]
    definition: Mapping[str, Any]

    @property
    def sha256(self) -> str:
        """Hash of the definition."""
        return digest(self.definition)

    def values(self, unit: Reals) -> list[list[Any]]:
        """Return the values of the parameters at points of the unit cube: (n, parameter)."""
        columns = [one.values(unit[:, i]) for i, one in enumerate(self.priors.values())]
        return [list(row) for row in zip(*columns, strict=True)]

    def numbers(self, first: int, count: int) -> Any:
        """Return the numbers that select the draws of some trials: (trial, replicate) int64."""
        own = np.arange(first, first + count, dtype=np.int64)[:, None] * (not self.common)
        return own * self.replicates + np.arange(self.replicates, dtype=np.int64)

    def simulator(self, device: str, workers: int, scheduler: str) -> Simulator:
        """Return the model as a function of the parameters."""
        names = tuple(self.priors)
        more = (device, workers, scheduler)
        found = Simulator(self.sweep, names, self.targets, self.replicates, *more)
        found.require_statistics()
        return found

    def answer(self, runs: Reals, aim: Targets | None = None) -> Answer:
        """Return how far trials are from the targets; ``runs`` is (trial, replicate, statistic)."""
        return answer_of(mean_over_replicates(runs), (aim or self.targets))


def answer_of(statistics: Reals, aim: Targets) -> Answer:
    """Return how far statistics, (trial, statistic), are from targets."""
    own = list(aim.statistics.values())
    away = residuals(aim.statistics, statistics)
    weights = np.array([one.weight for one in own])
    with np.errstate(invalid="ignore"):
        away = np.where(weights > 0, np.sqrt(weights) * away, 0)
        square = (away**2).sum(1) / weights.sum()
        scales = np.array([scale_of(one) for one in own])
        cells = np.floor(statistics / scales)
    distance = np.where(np.isnan(square), np.inf, np.sqrt(square))
    return Answer(distance, away, statistics, cells)


def load_calibration(source: str | os.PathLike[str] | Mapping[str, Any]) -> Calibration:
    """Read and check the file of a calibration.

    Raises
    ------
    ConfigError
        With one line ``file.yaml:12:5  key.path: message`` per problem.
    """
    name, folder, document, config = read_validated(source, CalibrationConfig, find_config)
    method, options = _method(document, config)
    said = config.targets
    if not isinstance(said, str | dict):
        message = "expected the name of a file of targets, or a section of statistics"
        raise document.error(("targets",), f"{message}, got {described(said)}")
    section = document.below("targets") if isinstance(said, dict) else None
    if section is not None and "statistics" not in section.data:
        section = document.below("targets", under="statistics")
    several = load_targets(section or near(folder, said), config.case, folder)
    if len(several) > 1:
        names = ", ".join(one.name for one in several)
        raise document.error(("case",), f"the targets have the cases {names}; choose one")
    (targets,) = several
    required([targets])
    if not sum(one.weight for one in targets.statistics.values()):
        raise document.error(("targets",), "have no weight, so every trial is as good as another")
    base = config.base if config.base is not None else targets.case.base
    if base is None:
        raise document.error(("base",), "is missing: neither the file nor its targets name one")
    base = near(folder if config.base is not None else targets.folder, base)
    changes = config.set if config.base is not None else {**targets.case.set, **config.set}
    sweep = sweep_of(base, changes)
    priors = _priors(document, config, sweep)
    if config.replicates > 1 and "replicates" not in type(sweep.base).model_fields:
        raise document.error(("replicates",), f"{sweep.base.workload} has no random draws")
    common = config.common_random_numbers
    common = method in COMMON if common is None else common
    trials = next((options[one] for one in FIRST_TRIALS if one in options), np.inf)
    if trials <= len(priors):
        message = f"{method} begins with {trials} trials, fewer than needed for {len(priors)}"
        raise document.error(("method",), f"{message} parameters")
    definition = {
        "base": sweep.base.model_dump(mode="json"),
        "model_version": sweep.workload.version_of(sweep.base),
        "parameters": config.parameters,
        "targets": targets.case.model_dump(mode="json"),
        "observed": {name: one.tolist() for name, one in targets.observed.items()},
        "method": {method: dict(options)},
        "replicates": config.replicates,
        "common_random_numbers": common,
    }
    shapes = shapes_among(sweep, list(priors))
    more = (config.replicates, common, shapes, definition)
    return Calibration(name, base, changes, sweep, priors, targets, method, options, *more)


def _method(document: Document, config: CalibrationConfig) -> tuple[str, dict[str, Any]]:
    try:
        name, given = name_and_options(config.method)
        if name not in METHODS:
            near = suggestion(name, METHODS) or f"; there are {', '.join(METHODS)}"
            raise ConfigError(f"unknown method '{name}'{near}")
        checked_options(name, given, METHODS[name])
    except ConfigError as error:
        raise document.error(("method",), str(error)) from None
    return name, {n: given.get(n, one.default) for n, one in options_of(METHODS[name]).items()}


def _priors(document: Document, config: CalibrationConfig, sweep: Sweep) -> dict[str, Range]:
    """Return the priors; every end must be allowed for its key."""
    from societies.sweep.designs import unusable
    from societies.sweep.points import checked_points

    problems: list[Problem] = []
    found: dict[str, Range] = {}
    for name, said in config.parameters.items():
        try:
            model, data = type(sweep.base), sweep.base.model_dump()
            if why := unusable(model, data, str(name), lambda _: ""):
                raise Wrong(why)
            found[name] = range_of(said)
            for value in _extremes(found[name]):
                checked_points(sweep, [{name: value}])
        except Wrong as error:
            path = ("parameters", name, *([error.key] if error.key else []))
            problems.append(document.problem(path, str(error)))
        except ConfigError as error:
            message = first_reason(error, name)
            real = not found[name].whole and found[name].distribution != "choice"
            if real and takes_whole_numbers(model, str(name)):
                message = "takes whole numbers: add 'whole: true' to its prior"
            problems.append(document.problem(("parameters", name), message))
    if not config.parameters:
        problems.append(document.problem(("parameters",), "needs a key with a prior"))
    if problems:
        raise config_error(problems)
    return found


def _extremes(prior: Range) -> list[Any]:
    """Return values of a prior that must be allowed: each of a choice, else the ends."""
    if prior.distribution == "choice":
        return list(prior.given["values"])
    ends = [0.0, 1 - 1e-12] if {"low", "high"} <= prior.given.keys() else [FAR, 1 - FAR]
    return prior.values(np.array(ends))
