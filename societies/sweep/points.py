"""Which configurations does a sweep have, and which of them can share a launch?

Points that differ only in values of the model (`societies.workload.running.varying`) are rows of a
table of parameters, so one program and one launch computes all of them. Points that differ in
another key are in different buckets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.config.model import CONFLICTS_LATER, LABEL, WorkloadConfig
from societies.config.problems import Origin, Problem, config_error
from societies.errors import ConfigError
from societies.sweep.designs import combined
from societies.sweep.document import Sweep
from societies.sweep.factor import INTERVENTIONS
from societies.workload.declare.protocol import Workload
from societies.workload.running.ensembles import MOST_REPORTED, plain_number
from societies.workload.running.points import with_rows
from societies.workload.running.tables import ValueTable
from societies.workload.running.varying import (
    NotVarying,
    changed,
    found_key,
    takes_whole_numbers,
    varying,
)

Point = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Policies:
    """Interventions that differ among the runs of a launch.

    Attributes
    ----------
    lists : different lists of interventions, as plain data
    of : (run,) int, index into ``lists``
    """

    lists: Sequence[Sequence[Mapping[str, Any]]]
    of: NDArray[np.intp]

    def part(self, first: int, stop: int) -> Policies:
        """Return those of some of these runs."""
        return replace(self, of=self.of[first:stop])


@dataclass(frozen=True, eq=False)
class Bucket:
    """Points that can share a launch.

    Attributes
    ----------
    settings : keys that have the same value in all of these points
    config : configuration of the first point, with the interventions of all
    points : numbers of the points
    columns : keys that differ, in order
    policies : the different lists of interventions, as text, and their index; {} if all have one
    """

    settings: dict[str, Any]
    config: WorkloadConfig
    points: list[int] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    policies: dict[str, int] = field(default_factory=dict)

    def values_of(self, points: Sequence[Point]) -> tuple[dict[str, NDArray[Any]], Policies | None]:
        """Return columns and interventions of runs, given the point of each."""
        columns: dict[str, NDArray[Any]] = {}
        for key in self.columns:
            column = [point[key] for point in points]
            columns[key] = np.array(column, bool if type(column[0]) is bool else np.float64)
        if not self.policies:
            return columns, None
        of = np.array([self.policies[json.dumps(point[INTERVENTIONS])] for point in points])
        return columns, Policies([json.loads(text) for text in self.policies], of)


def sweep_points(sweep: Sweep) -> tuple[list[Point], list[Mapping[str, Origin]]]:
    """Return all points of a sweep, and where the values of each were written.

    Raises ConfigError if two points are the same.
    """
    found = list(combined(sweep.factors))
    return [values for values, _ in found], [places for _, places in found]


def checked_points(
    sweep: Sweep,
    points: Sequence[Point],
    places: Sequence[Mapping[str, Origin]] | None = None,
    *,
    copies: int = 1,
) -> list[Bucket]:
    """Check the configuration of every point, and return which points can share a launch.

    Raises ConfigError with a line ``file:line  key: message`` for every problem, or for the first
    of very many.

    Parameters
    ----------
    copies : how many consecutive copy numbers the runs may have
    """
    base, data = sweep.base, data_of(sweep.base, copies)
    problems: list[Problem] = []
    shared = shared_keys(base, data, points) - {LABEL}
    by_run = INTERVENTIONS in shared and sweep.workload.numbered and not sweep.workload.timed
    paths = {key: found_key(type(base), data, key)[0] for key in points[0]}
    buckets: dict[str, Bucket] = {}
    policies: dict[str, list[Any]] = {}  # of a bucket, by its name
    whole = {
        key: advice
        for factor in sweep.factors
        for key, advice in factor.whole.items()
        if takes_whole_numbers(type(base), key)
    }
    for number, point in enumerate(points):
        settings = {paths[key]: value for key, value in point.items()}
        try:
            config = changed(type(base), data, settings)
        except ValueError as error:
            for line in str(error).split("\n"):
                key = next((k for k in point if line.startswith(f"{k}:")), "")
                where = places[number] if places else {}
                place = where.get(key) or next(iter(where.values()), Origin((0,), sweep.name))
                said = ", ".join(f"{k} {v}" for k, v in point.items() if k != key)
                also = f" (point {number}{': ' if said else ''}{said})"
                if place.names:
                    path, _, message = line.partition(": ")
                    below = ".".join(path.split(".")[2:])  # of list.3.key it is key
                    line, also = f"{below}: {message}" if below else message, ""
                text = line + (also if len(points) > 1 else "")
                if type(point.get(key)) is float and key in whole:
                    text = f"{key}: takes whole numbers: {whole[key]}"  # once for all points
                if (problem := Problem(place, (), text)) not in problems:
                    problems.append(problem)
            if len(problems) > MOST_REPORTED:
                break
            continue
        own = {key: point[key] for key in shared if not (by_run and key == INTERVENTIONS)}
        name = json.dumps(own, sort_keys=True)
        if name not in buckets:
            columns = tuple(key for key in point if key not in {*shared, LABEL, INTERVENTIONS})
            buckets[name] = Bucket(own, config, columns=columns)
        bucket = buckets[name]
        bucket.points.append(number)
        if by_run and (text := json.dumps(point[INTERVENTIONS])) not in bucket.policies:
            bucket.policies[text] = len(bucket.policies)
            policies.setdefault(name, []).append(config.interventions)
    if problems:
        more = len(problems) > MOST_REPORTED
        text = str(config_error(problems[:MOST_REPORTED]))
        raise ConfigError(f"{text}\nand more problems like these" if more else text)
    for name, each in policies.items():
        one = buckets[name]
        every = together(one.config, each, np.zeros(data["replicates"], np.intp))
        buckets[name] = replace(one, config=every)
    for bucket in buckets.values():
        sweep.workload.plugged(bucket.config)  # loads the rules, so that a wrong one is said first
    return list(buckets.values())


def together(config: Any, policies: Sequence[Any], of: NDArray[np.intp]) -> Any:
    """Return the configuration whose copies have different interventions.

    Parameters
    ----------
    policies : lists of checked interventions
    of : (copy,) int, index into ``policies``
    """
    listed = _removals(policies, of)
    listed += [(one, of == k) for k, own in enumerate(policies) for one in own if one.set]
    found = config.model_copy(update={INTERVENTIONS: tuple(one for one, _ in listed)})
    found._applies = np.array([applies for _, applies in listed], bool).reshape(-1, len(of))
    return found


def _removals(policies: Sequence[Any], of: NDArray[np.intp]) -> list[tuple[Any, NDArray[Any]]]:
    """Return what policies remove, and the copies concerned; what several remove is listed once.

    Those of each policy stay in order, in which those of one tick are carried out.
    """
    found: list[tuple[Any, NDArray[Any]]] = []
    for k, own in enumerate(policies):
        place = 0
        for one in own:
            if getattr(one, "remove", None) is None:
                continue
            same = (i for i in range(place, len(found)) if found[i][0] == one)
            at = next(same, None)
            if at is None:
                found.insert(place, (one, of == k))
            else:
                found[at] = one, found[at][1] | (of == k)
            place = (place if at is None else at) + 1
    return found


def data_of(base: WorkloadConfig, copies: int) -> dict[str, Any]:
    """Return a configuration as plain data, with ``copies`` replicates if it has replicates."""
    data = base.model_dump()
    return data | {"replicates": copies} if "replicates" in data else data


def shared_keys(base: WorkloadConfig, data: Mapping[str, Any], points: Sequence[Point]) -> set[str]:
    """Return the varied keys that must have the same value in all runs of a launch."""
    found = set()
    for key in points[0]:
        try:
            if "replicates" not in type(base).model_fields:
                raise NotVarying
            varying(type(base), data, key)
            values = [point[key] for point in points]
            kinds = {type(value) for value in values}
            if not (kinds <= {int, float} or kinds == {bool} or _rows(values)):
                raise NotVarying
        except NotVarying:
            found.add(key)
    return found


def _rows(values: Sequence[Any]) -> bool:
    """Whether all values are lists of numbers with the same length."""
    if not all(isinstance(value, list) for value in values) or len({*map(len, values)}) != 1:
        return False
    return all(type(number) in (int, float) for value in values for number in value)


def launch_config(
    base: WorkloadConfig,
    settings: Mapping[str, Any],
    columns: Mapping[str, NDArray[Any]],
    numbers: NDArray[np.int64],
    policies: Policies | None = None,
) -> WorkloadConfig:
    """Return the configuration of runs that share a launch.

    Parameters
    ----------
    settings : keys that have the same value in all of these runs
    columns : (run,) or (run, resource) values of each key that differs
    numbers : (run,) copy number of each run, which selects its random stream
    policies : interventions in which these runs differ
    """
    repeated = "replicates" in type(base).model_fields
    first = next((getattr(base, k) for k in type(base).model_fields if k.startswith("first_")), 0)
    # Interventions may name copies that are in another launch, so no fewer than the base has.
    copies = max(int(numbers.max()) - first + 1, getattr(base, "replicates", 1))
    data = data_of(base, copies)
    paths = {found_key(type(base), data, key)[0]: value for key, value in settings.items()}
    # Keys that differ get the value of the first run: the base's may not be valid with `settings`.
    own = {
        varying(type(base), data, key): plain_number(column[0]) for key, column in columns.items()
    }
    if policies is not None:
        paths[INTERVENTIONS,] = []
    config: WorkloadConfig = changed(type(base), data, paths | own)
    if policies is not None:
        each = [
            type(base).model_validate({**data, INTERVENTIONS: one}, context=CONFLICTS_LATER)
            for one in policies.lists
        ]
        config = together(config, [getattr(one, INTERVENTIONS) for one in each], policies.of)
    if not repeated:
        return config
    table = ValueTable(columns, "point", checked=True) if columns else None
    contiguous = np.array_equal(numbers, np.arange(len(numbers)) + numbers[0])
    found: WorkloadConfig = with_rows(config, table, numbers)
    if contiguous:
        for name in type(base).model_fields:
            if name.startswith("first_"):
                found = found.model_copy(update={name: int(numbers[0])})
                found._numbers = None
    return found


def groups(
    chosen: Workload[Any, Any], runs: Sequence[int], numbers: NDArray[np.int64], repeated: bool
) -> Iterator[list[int]]:
    """Yield lists of runs of a bucket that can share a launch, in order.

    Parameters
    ----------
    runs : rows of the study
    numbers : copy numbers of all rows
    repeated : whether the workload has replicates; otherwise every run is a launch of its own
    """
    group: list[int] = []
    for run in runs:
        if group and not (repeated and (chosen.numbered or numbers[run] == numbers[group[-1]] + 1)):
            yield group
            group = []
        group.append(run)
    if group:
        yield group
