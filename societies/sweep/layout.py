"""Which runs, coordinates and variables does the file of a study hold?"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.config import to_yaml
from societies.config.problems import Path, config_error, suggestion
from societies.errors import ConfigError
from societies.output import Column, Coordinate, EventTable, Variable
from societies.output.study_layout import OWN, StudyLayout
from societies.sweep.batch import Shape, run_shape
from societies.sweep.designs import described_factors
from societies.sweep.document import Sweep, digest
from societies.sweep.in_memory import Keep
from societies.sweep.points import Bucket, Point
from societies.version import package_version
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import contents_of
from societies.workload.running.plugged import rule_attributes
from societies.workload.running.provenance import git_commit, how_made, now
from societies.workload.running.varying import unit_and_meaning

MOST_SHAPES = 4
"""Most values of a non-numeric key whose configurations are examined for the longest dimensions; a
key may have thousands of values. Of a numeric key the least and the largest are examined."""


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of a study.

    Attributes
    ----------
    number : (run,) int64; runs that are added later get the next numbers
    point, replicate : (run,) int64, number of the point and of the replicate
    """

    number: NDArray[np.int64]
    point: NDArray[np.int64]
    replicate: NDArray[np.int64]

    @classmethod
    def of(cls, points: Iterable[int], replicates: Iterable[int], first: int = 0) -> Runs:
        """Return all replicates of all points; the replicates of a point are consecutive."""
        replicates = np.array(list(replicates), np.int64)
        places = np.array(list(points), np.int64)
        point = np.repeat(places, len(replicates))
        number = first + np.arange(len(point), dtype=np.int64)
        return cls(number, point, np.tile(replicates, len(places)))

    def joined(self, other: Runs) -> Runs:
        """Return these runs and others."""
        pairs = [(vars(self)[name], vars(other)[name]) for name in vars(self)]
        return Runs(*(np.concatenate(pair) for pair in pairs))

    def part(self, k: int, n: int) -> Runs:
        """Return the k-th of n parts: every n-th point."""
        own = self.point % n == k - 1
        return Runs(self.number[own], self.point[own], self.replicate[own])

    def copies(self, sweep: Sweep) -> NDArray[np.int64]:
        """Return the copy number of each run, which selects its random stream: (run,) int64."""
        first = sweep.workload.first(sweep.base)
        return first + (self.replicate if sweep.config.common_random_numbers else self.number)


def keep_of(sweep: Sweep, setups: Sequence[Setup[Any, Any]]) -> Keep:
    """Return what the study records of each run; ``setups`` has one of each shape.

    Raises ConfigError if the sweep asks for a variable, array or tick that no run has.
    """
    record, problems = sweep.config.record, []
    chosen = sweep.workload

    def refuse(path: Path, message: str) -> None:
        problems.append(sweep.document.problem(path, message))

    every = [contents_of(setup) for setup in setups]
    variables = {one.name for contents in every for one in contents.variables()}
    fields = {name for setup in setups for name in setup.fields}
    for name, available, wanted in (
        ("variables", variables, record.variables or ()),
        ("final", fields, record.final),
    ):
        for i, one in enumerate(wanted):
            if one not in available:
                near = suggestion(one, available) or f"; it has {', '.join(sorted(available))}"
                what = "variable" if name == "variables" else "array of the state"
                refuse(("record", name, i), f"unknown {what} '{one}'{near}")
    recorded = {
        int(tick)
        for contents in every
        for one in contents.coordinates()
        if one.name == chosen.clock
        for tick in one.values
    }
    for i, tick in enumerate(record.ticks or ()):
        if tick not in recorded:
            said = f"recorded are {min(recorded)} to {max(recorded)}" if recorded else "none is"
            refuse(("record", "ticks", i), f"{chosen.clock} {tick} is not recorded; {said}")
    if problems:
        raise config_error(problems)
    ticks = None if record.ticks is None else tuple(record.ticks)
    repeated = "replicates" in type(sweep.base).model_fields
    copies = not repeated and any(setup.copies > 1 for setup in setups)
    events = {one.name: None for contents in every for one in contents.tables() if one.in_study}
    return Keep(record.variables, ticks, tuple(record.final), copies, tuple(events))


def different_shapes(sweep: Sweep, buckets: Sequence[Bucket]) -> list[Setup[Any, Any]]:
    """Return setups of some points, which include those with the longest dimensions."""
    chosen: dict[int, Bucket] = {}
    for key in buckets[0].settings if buckets else ():
        by_value = {json.dumps(one.settings[key]): one for one in reversed(buckets)}
        values = [one.settings[key] for one in by_value.values()]
        if all(type(value) in (int, float) for value in values):
            ends = (min(values), max(values))
            found = [one for one in by_value.values() if one.settings[key] in ends]
        else:
            found = list(by_value.values())[-MOST_SHAPES:]
        chosen |= {id(one): one for one in found}
    largest = {id(one): one for one in buckets[:1]} | chosen
    return [Setup(sweep.workload, one.config) for one in largest.values()]


def joined_shape(sweep: Sweep, setups: Sequence[Setup[Any, Any]], keep: Keep) -> Shape:
    """Return dimensions and variables of a file with runs of several shapes.

    A dimension gets the largest length of all runs; shorter runs are padded with the fill value.
    A name that differs between runs, as of a group, is replaced by its place: "group 0".
    """
    shapes = [run_shape(setup, keep) for setup in setups]
    coordinates: dict[str, Coordinate] = {}
    variables: dict[str, Variable] = {}
    for shape in shapes:
        for name, one in shape.coordinates.items():
            coordinates[name] = _joined(coordinates.get(name, one), one)
        for name, variable in shape.variables.items():
            if variables.setdefault(name, variable).dims != variable.dims:
                raise ConfigError(
                    f"{sweep.name}: the variable {name} has other dimensions at some points; leave "
                    "it out with record.variables"
                )
            wider = np.promote_types(variables[name].dtype, variable.dtype)
            if wider != variables[name].dtype:
                variables[name] = replace(variable, dtype=wider, fill=None)
    return Shape(coordinates, variables, _joined_tables(shapes))


def _joined(one: Coordinate, other: Coordinate) -> Coordinate:
    """Return the longer of two coordinates, with places for the names in which they differ."""
    shorter, longer = sorted((other, one), key=lambda some: len(some.values))
    names = longer.values.tolist()
    both = list(enumerate(zip(names, shorter.values.tolist(), strict=False)))
    if longer.values.dtype.kind != "U" or all(name == own for _, (name, own) in both):
        return longer
    for place, (name, own) in both:
        names[place] = name if name == own else f"{one.name} {place}"
    return replace(longer, values=np.array(names))


def _joined_tables(shapes: Sequence[Shape]) -> dict[str, EventTable]:
    """Return tables with the columns of all shapes and the largest number of rows of a run."""
    found: dict[str, EventTable] = {}
    for table in (one for shape in shapes for one in shape.tables.values()):
        earlier = found.get(table.name, table)
        columns: dict[str, Column] = {one.name: one for one in (*earlier.columns, *table.columns)}
        rows = max(earlier.rows, table.rows)
        found[table.name] = replace(earlier, columns=tuple(columns.values()), rows=rows)
    return found


def layout_of(
    sweep: Sweep, points: Sequence[Point], runs: Runs, shape: Shape, **more: str | int
) -> StudyLayout:
    """Return the layout of the study's file, which has the attributes ``more`` as well."""
    chosen, base = sweep.workload, sweep.base
    taken = {*OWN, chosen.copies, *shape.coordinates, *shape.variables}
    along = [
        Coordinate("point", runs.point, "", "number of the point", ("run",)),
        Coordinate("replicate", runs.replicate, "", "number of the replicate", ("run",)),
    ]
    if "replicates" in type(base).model_fields:
        meaning = f"number of the {chosen.copies}, by which it draws"
        along.append(Coordinate(chosen.copies, runs.copies(sweep), "", meaning, ("run",)))
    own_seed = "seed" in type(base).model_fields and "seed" not in points[0]
    if own_seed:
        seeds = values_of([base.seed])[np.zeros_like(runs.point)]  # type: ignore[attr-defined]
        along.append(_along("seed", seeds, "", "seed of all random draws"))
    for key in points[0]:
        name = key if key == "seed" or key not in taken else f"vary.{key}"
        unit, meaning = unit_and_meaning(type(base), key)
        # The type follows from all points, so that all parts of a study have the same type.
        column = values_of([point[key] for point in points])
        along.append(_along(name, column[runs.point], unit, meaning))
    definition = sweep.definition
    attributes: dict[str, str | int | float] = {
        "title": f"sweep of {base.workload}: {described_factors(sweep.factors)}"[:500],
        **({"label": sweep.config.label} if sweep.config.label else {}),
        "workload": base.workload,
        "vary": ", ".join(points[0])[:2000],
        "configuration": to_yaml(base),
        "design": json.dumps(definition["vary"]) if len(points) <= 100 else _methods(definition),
        "clock": chosen.clock,
        "copies": chosen.copies,
        "model_version": chosen.version_of(base),
        "societies_version": package_version(),
        "git_commit": git_commit(),
        "created": now(),
        **how_made(base.workload),
        "python": platform.python_version(),
        "definition_sha256": digest(definition),
        "replicates": int(runs.replicate.max()) + 1,
        "points": len(points),
        **rule_attributes(sweep.plugged),
        **more,
    }
    for key in ("design", "configuration"):
        if len(str(attributes[key])) > 60_000:  # HDF5 stores attributes of at most 64 KiB
            attributes[key] = f"{str(attributes[key])[:60_000]}..."
    tables = {
        name: replace(one, rows=one.rows * len(runs.number)) for name, one in shape.tables.items()
    }
    return StudyLayout(
        runs.number,
        along,
        shape.coordinates,
        shape.variables,
        points,
        definition,
        attributes,
        tables,
    )


def _methods(definition: Mapping[str, Any]) -> str:
    """Return the design as JSON, with long lists of values replaced by their length."""
    short: Callable[[Any], Any] = lambda one: (  # noqa: E731
        {key: short(value) for key, value in one.items()}
        if isinstance(one, dict)
        else f"{len(one)} values"
        if isinstance(one, list) and len(one) > 100
        else one
    )
    return json.dumps([short(one) for one in definition["vary"]])


def _is_float(value: float) -> bool:
    """Whether float64 can represent a number exactly."""
    try:
        return float(value) == value or value != value
    except OverflowError:
        return False


def _along(name: str, values: NDArray[Any], unit: str, meaning: str) -> Coordinate:
    return Coordinate(name, values, unit, meaning, ("run",))


def values_of(column: Sequence[Any]) -> NDArray[Any]:
    """Return the values of a key as numbers if NumPy can represent them exactly, else as text."""
    kinds = {type(value) for value in column}
    if kinds == {int}:
        for kind in (np.int64, np.uint64):
            if all(np.iinfo(kind).min <= value <= np.iinfo(kind).max for value in column):
                return np.array(column, kind)
    if kinds <= {int, float} and all(_is_float(value) for value in column):
        return np.array(column, np.float64)
    texts = [value if isinstance(value, str) else json.dumps(value) for value in column]
    return np.array(texts)
