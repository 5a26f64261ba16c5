"""Which parameters has each copy of a launch? Those of a row of a table, changed by interventions.

A table has a column for every key that varies and a row for every copy. A row makes a
configuration of its own, which is checked like any other. Copies with the same parameters share
one, so a hundred replicates of a parameter point are one point.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from societies.config.model import (
    CONFLICTS_LATER,
    SHAPE,
    TABULATED,
    VALUE,
    Section,
    WorkloadConfig,
)
from societies.config.problems import Path, dotted, plain_words, quoted, suggestion
from societies.errors import ConfigError
from societies.output import Coordinate
from societies.words import counted
from societies.workload.tables import Table, table_of

_MOST_REPORTED = 8
"""Problems of a table that are reported; there may be one in each of ten thousand rows."""


class NotVarying(Exception):
    """Raised for a key that cannot differ between copies; says why."""


@dataclass(frozen=True, eq=False)
class Points:
    """The configurations of an ensemble, and which of them holds for which copy and when.

    Attributes
    ----------
    configs : the different ones, each as of a single society
    of : (stretch, copy) int, index into ``configs``
    after : ticks after which parameters change, ascending: stretch i + 1 follows tick ``after[i]``
    """

    configs: tuple[Any, ...]
    of: NDArray[np.intp]
    after: tuple[int, ...] = ()

    def stretch(self, tick: int) -> int:
        """Return which stretch of time a tick lies in."""
        return bisect_left(self.after, tick)


# ---------------------------------------------------------------- keys


def varying(model: type[Section], data: Any, key: str) -> Path:
    """Return the path of a key that may differ between copies, as parts.

    Parameters
    ----------
    model : of the configuration
    data : the configuration as plain data; a number in a key selects an entry of a list in it

    Raises
    ------
    NotVarying
        With the reason, if there is no such key or all copies of a launch share it.
    """
    path: Path = ()
    section: Any = model
    kind = ""
    for part in key.split("."):
        if isinstance(data, list | tuple):
            if not part.isdigit() or int(part) >= len(data):
                raise NotVarying(f"{dotted(path)} has no entry {quoted(part)}")
            path, data = (*path, int(part)), data[int(part)]
            continue
        if section is None or part not in section.model_fields:
            known = section.model_fields if section is not None else ()
            raise NotVarying(f"unknown key{suggestion(part, known)}")
        field = section.model_fields[part]
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        kind = str(extra.get("kind", "")) or kind
        section = _section(field.annotation)
        path, data = (*path, part), data.get(part) if isinstance(data, dict) else None
    if kind not in (VALUE, TABULATED) or section is not None:
        raise NotVarying(_why_not(kind, section))
    return path


def coordinates(config: Any, copies: str) -> list[Coordinate]:
    """Return the keys that differ from copy to copy, as coordinates of the file."""
    table = config.table
    if table is None:
        return []
    found = []
    for key, column in table.columns.items():
        unit, meaning = _described(type(config), key)
        dims = (copies, "resource")[: column.ndim]
        found.append(Coordinate(key, column, unit, meaning, dims))
    return found


def _described(model: Any, key: str) -> tuple[str, str]:
    """Return unit and meaning of a key that may vary."""
    unit = meaning = ""
    for part in key.split("."):
        if model is not None and part in model.model_fields:
            field = model.model_fields[part]
            unit = str((field.json_schema_extra or {}).get("unit", ""))
            meaning, model = field.description or "", _section(field.annotation)
    return unit, meaning


def _why_not(kind: str, section: Any) -> str:
    if section is not None:
        return f"is a section; name one of its keys: {', '.join(section.model_fields)}"
    if kind == SHAPE:
        return "is a shape, which sizes arrays or chooses code: all copies of a launch share it"
    return "is the same in all copies of a launch; only parameters of the model may differ"


def _section(annotation: Any) -> Any:
    """Return the section that a type is or holds, None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((found for one in get_args(annotation) if (found := _section(one))), None)


# ---------------------------------------------------------------- tables


def with_table(config: Any, source: Any, copies: str = "society") -> Any:
    """Return the configuration of an ensemble whose copies have the parameters of a table.

    Without ``replicates`` in the configuration there is a copy for each row.

    Raises
    ------
    ConfigError
        If a key cannot vary, a value is not allowed or the number of rows is not that of copies.
    """
    table = table_of(source)
    if "replicates" not in type(config).model_fields:
        raise ConfigError(f"{table.name}: {config.workload} has no replicates that could differ")
    if "replicates" not in config.model_fields_set:
        data = {**config.model_dump(), "replicates": table.rows}
        try:
            config = type(config).model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise ConfigError(f"{table.name}: {plain_words(first)}") from None
    if config.replicates != table.rows:
        there, asked = counted(table.rows, "row"), counted(config.replicates, copies)
        raise ConfigError(
            f"{table.name}: has {there} for {asked} (replicates); each {copies} needs one"
        )
    found = config.model_copy()
    found._table = table
    points_of(found)  # refuses what is not allowed
    return found


# ---------------------------------------------------------------- points


def points_of(config: Any) -> Points | None:
    """Return the parameters of an ensemble's copies; None if all have those of the configuration.

    Raises
    ------
    ConfigError
        If a key of the table cannot vary, or a value is not allowed.
    """
    table = config.table
    if table is None:
        return None
    memo = config.__dict__.get("_points")
    if memo is None or memo[0] != id(config):  # a copy of a configuration has its dictionary
        memo = (id(config), _points(config, table))
        config.__dict__["_points"] = memo
    found: Points = memo[1]
    return found


def _points(config: Any, table: Table) -> Points:
    base = config.model_dump()
    paths: dict[str, Path] = {}
    for key in table.columns:
        try:
            paths[key] = varying(type(config), base, key)
        except NotVarying as why:
            raise ConfigError(f"{table.name}: {key}: {why}") from None
    flat = np.concatenate(
        [column.reshape(table.rows, -1) for column in table.columns.values()], axis=1
    )
    _, firsts, of = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    appearance = np.argsort(firsts)  # points are in the order of the rows
    of = np.argsort(appearance)[of.reshape(-1)]
    problems: list[str] = []
    configs = []
    for row in firsts[appearance].tolist():
        settings = {paths[key]: _plain(column[row]) for key, column in table.columns.items()}
        try:
            configs.append(changed(config, base, settings))
        except ValueError as error:
            number = config.first_society + row if hasattr(config, "first_society") else row
            copy = "" if number == row else f" (society {number})"
            problems += [f"{table.place(row)}{copy}: {line}" for line in str(error).split("\n")]
    if problems:
        more = len(problems) - _MOST_REPORTED
        rest = [f"and {more} more problems of this table"] if more > 0 else []
        raise ConfigError("\n".join([*sorted(problems[:_MOST_REPORTED]), *rest]))
    return Points(tuple(configs), of.reshape(1, -1))


def _plain(value: Any) -> Any:
    """Return numbers of a table as YAML has them: whole ones may stand for either kind."""
    if value.ndim:
        return [_plain(one) for one in value]
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)


def changed(config: Any, base: Mapping[str, Any], settings: Mapping[Path, Any]) -> Any:
    """Return the configuration with some keys set, as that of a single copy.

    Parameters
    ----------
    base : the configuration as plain data

    Raises
    ------
    ValueError
        With a line for every problem.
    """
    data: Any = dict(base)
    for path, value in settings.items():
        _put(data, path, value)
    model: type[WorkloadConfig] = type(config)
    try:
        found = model.model_validate(data, context=CONFLICTS_LATER)
    except ValidationError as errors:
        lines = [
            f"{dotted(_inside(error['loc'], data))}: {plain_words(error)}"
            for error in errors.errors(include_url=False)
        ]
        raise ValueError("\n".join(lines)) from None
    lines = [f"{dotted(conflict.path)}: {conflict.message}" for conflict in found.conflicts()]
    if lines:
        raise ValueError("\n".join(lines))
    return found


def _put(data: Any, path: Path, value: Any) -> None:
    """Set a value; sections on the way are copied, as others share them."""
    for part, below in pairwise(path):
        there = data[part] if isinstance(part, int) or part in data else None
        inner = list(there) if isinstance(there, list | tuple) else dict(there or {})
        assert isinstance(inner, list) == isinstance(below, int)
        data[part] = inner
        data = inner
    data[path[-1]] = value


def _inside(location: Sequence[str | int], data: Any) -> Path:
    """Return pydantic's location without the names that it adds for alternatives of a type."""
    path: Path = ()
    for part in location:
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list | tuple) and isinstance(part, int)
        )
        if inside:
            path, data = (*path, part), data[part]
    return path
