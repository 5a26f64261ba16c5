"""How many replicates does a study need until the intervals of its means are narrow enough?

A study is run in rounds. How many replicates the next round has follows from the widest interval of
any point, since a width shrinks with the square root of their number. As rounds end once intervals
happen to be narrow, an interval of 95 % contains the true mean a little less often.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, prod
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from societies.config.model import LARGEST_INTEGER, Section, key
from societies.config.problems import quoted, suggestion
from societies.errors import ConfigError, option
from societies.output import open_study
from societies.sweep.factor import INTERVENTIONS
from societies.sweep.report import SweepReport
from societies.words import worded
from societies.workload.drawing.bands import student_half

FIRST = 20
"""Replicates of the first round: fewer say too little about the width of an interval."""
MOST_GROWTH = 4
LEVEL = 0.95
MOST_LISTED = 8
"""Most labels that a message lists."""


class UntilConfig(Section):
    """A number of replicates that follows from how precisely means must be known."""

    until: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = key(
        ...,
        "Width of the 95 % interval (Student's t) of the mean over replicates, by variable; of a "
        "variable along the clock, the mean over the recorded ticks counts",
        examples=[{"gini": 0.01}],
        min_length=1,
    )
    base: int | str | None = key(
        None,
        "Number of a point, or its label: the intervals are those of the effects, which are the "
        "differences of the replicates of all other points and of this one; default: those of each "
        "point",
    )
    at_most: int = key(1000, "Most replicates", "runs", ge=2, le=LARGEST_INTEGER)


def problems(
    asked: UntilConfig, recorded: Sequence[str] | None, points: int
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the key and what is wrong with it, for each key that does not fit the study."""
    for name in asked.until:
        if recorded is not None and name not in recorded:
            said = f"the study records no variable '{name}'{suggestion(name, recorded)}"
            yield ("replicates", "until", name), said
    if asked.base is None:
        return
    if points < 2:
        yield ("replicates", "base"), "an effect needs another point, and the study has one"
    elif asked.base not in range(points):
        yield ("replicates", "base"), f"the study has {points} points, numbers 0 to {points - 1}"


def with_number(asked: UntilConfig, points: Callable[[], Iterable[Mapping[str, Any]]]) -> Any:
    """Return the section with the number of the base in place of its label.

    Raises ValueError if no point has the label, with the labels that there are.
    """
    if not isinstance(asked.base, str):
        return asked
    labels = [_label(one) for one in points()]
    if asked.base not in labels:
        available = ", ".join(map(quoted, labels[:MOST_LISTED]))
        more = f" and {len(labels) - MOST_LISTED} more" if labels[MOST_LISTED:] else ""
        raise ValueError(
            f"no point has the label {quoted(asked.base)}"
            f"{suggestion(asked.base, labels) or f'; there are {available}{more}'}"
        )
    return asked.model_copy(update={"base": labels.index(asked.base)})


def _label(point: Mapping[str, Any]) -> str:
    """Return the label of a point, as in figures, or its keys with their values."""
    if point.get("label"):
        return str(point["label"])
    said = ((name, worded(json.dumps(value))) for name, value in point.items())
    return ", ".join(text if name == INTERVENTIONS else f"{name} {text}" for name, text in said)


@dataclass(frozen=True)
class Widths:
    """Largest width of any point by variable, which one that is, and its label."""

    of: Mapping[str, float]
    point: Mapping[str, int]
    label: Mapping[str, str] = field(default_factory=dict)


def widths(path: Path, asked: UntilConfig) -> Widths:
    """Return the widths of the intervals of a study so far.

    Raises ConfigError if the study does not record a variable, or has no such point.
    """
    with open_study(path) as study:
        done = study.isel(run=np.flatnonzero(study["status"].values == "done"))
        point, replicate = done["point"].values, done["replicate"].values
        found: dict[str, float] = {}
        worst: dict[str, int] = {}
        labels: dict[str, str] = {}
        keys = [key for key in str(study.attrs.get("vary", "")).split(", ") if key in done.coords]
        for name in asked.until:
            if name not in done:
                near = suggestion(name, list(map(str, done.data_vars)))
                raise ConfigError(f"replicates.until: the study records no variable '{name}'{near}")
            values = np.asarray(done[name].values, float)
            values = values.reshape(len(point), prod(values.shape[1:]))
            present = ~np.isnan(values)
            with np.errstate(invalid="ignore"):
                means = np.where(present, values, 0.0).sum(1) / present.sum(1)
            samples = _samples(means, point, replicate, asked.base)
            each = {number: _width(one) for number, one in samples.items()}
            worst[name] = max(each, key=each.__getitem__, default=0)
            found[name] = each.get(worst[name], float("inf"))
            here = {key: done[key].values[point == worst[name]] for key in keys}
            said = {key: own[0].item() for key, own in here.items() if len(own)}
            if INTERVENTIONS in said:
                said[INTERVENTIONS] = json.loads(said[INTERVENTIONS])
            if label := _label(said):
                labels[name] = label
    return Widths(found, worst, labels)


def _width(values: NDArray[np.float64]) -> float:
    values = values[np.isfinite(values)]  # as everywhere, what has no number is left out
    if len(values) < 2:
        return float("inf")
    error = float(values.std(ddof=1)) / float(np.sqrt(len(values)))
    return 2 * float(student_half(LEVEL, len(values) - 1, error))


def _samples(
    values: NDArray[np.float64],
    point: NDArray[np.int64],
    replicate: NDArray[np.int64],
    base: int | str | None,
) -> dict[int, NDArray[np.float64]]:
    """Return the values of each point, or their differences to those of the base, by replicate."""
    of = {
        int(number): dict(
            zip(replicate[point == number].tolist(), values[point == number], strict=True)
        )
        for number in np.unique(point)
    }
    if not isinstance(base, int):
        return {number: np.array(list(one.values())) for number, one in of.items()}
    return {
        number: np.array([one[k] - of[base][k] for k in one if k in of[base]])
        for number, one in of.items()
        if number != base
    }


def next_count(count: int, found: Widths, asked: UntilConfig) -> int:
    """Return how many replicates the next round has; ``count`` if no more are needed."""
    ratio = max(found.of[name] / width for name, width in asked.until.items())
    if ratio <= 1:
        return count
    wanted = ceil(count * min(MOST_GROWTH, 1.05 * ratio**2))
    return max(count, min(asked.at_most, wanted))


def run_until(
    once: Callable[..., SweepReport], asked: UntilConfig, path: Path, resume: bool, **options: Any
) -> SweepReport:
    """Run a study in rounds until its intervals are narrow enough or replicates are ``at_most``.

    ``once`` runs the study with the option ``replicates``, or continues it with ``resume``.
    """
    for name in ("add_points", "retry_failed"):
        if options.get(name):
            raise ConfigError(f"replicates.until adds runs by itself; leave out {option(name)}")
    if options.get("part") is not None:
        raise ConfigError("replicates.until: a part of a study cannot grow; run the whole study")
    count = min(FIRST, asked.at_most)
    if resume and path.exists():
        with open_study(path) as study:
            count = max(count, int(study.attrs["replicates"]))
    computed, seconds, launches = 0, 0.0, 0.0
    while True:
        report = once(replicates=count, resume=resume, **options)
        computed, seconds = computed + report.computed, seconds + report.seconds
        launches += report.launch_seconds
        found = widths(path, asked)
        wanted = next_count(count, found, asked)
        if wanted == count or not report.done:
            break
        count, resume = wanted, True
        options["overwrite"] = False
    notes = [
        f"{name}: the widest interval is {width:.4g}, at point {place}, with {count} replicates"
        + (f"; {asked.until[name]:g} were asked for" if width > asked.until[name] else "")
        if np.isfinite(width)
        else f"{name}: no interval at point {place}, of whose {count} replicates fewer than two "
        "have a number"
        for name, width in found.of.items()
        for label in [found.label.get(name, "")]
        for place in [f"{found.point[name]}{f' ({label})' * bool(label)}"]
    ]
    return replace(
        report,
        computed=computed,
        seconds=seconds,
        launch_seconds=launches,
        notes=[*report.notes, *notes],
    )
