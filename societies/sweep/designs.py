"""Which points does a sweep have: a grid, a table, or a sample of ranges and distributions?

This module reads and checks the section ``vary`` of a sweep and combines its factors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from societies.config.check import Elsewhere
from societies.config.columns import read_columns
from societies.config.document import Document
from societies.config.problems import (
    Origin,
    Path,
    Problem,
    config_error,
    described,
    quoted,
    suggestion,
)
from societies.sweep.factor import Factor, InvalidFactor, Row, Unknown, key_place
from societies.sweep.ranges import is_number
from societies.sweep.sampling import SAMPLES, sample
from societies.words import counted
from societies.workload.running.varying import NotVarying, found_key, is_section, value_at

MOST_STEPS = 1_000_000
"""Most values of a range with equal steps."""

_WHOLE_STEPS = "choose whole ends whose steps are whole, or list the values"
METHODS = ("grid", "zip", "points", *SAMPLES)


def factors(
    document: Document,
    model: type[Any],
    base: Mapping[str, Any],
    folder: FilePath,
    elsewhere: Elsewhere,
) -> list[Factor]:
    """Return the factors in the section ``vary`` of a document.

    Raises ConfigError with a line for every problem.

    Parameters
    ----------
    model, base : model of the base configuration, and this configuration as plain data
    folder : folder in which files of points are searched
    elsewhere : returns where a key belongs that is not one of the base
    """
    vary = document.data["vary"]
    if not vary:
        message = f"is empty; name a method: {', '.join(METHODS)}"
        raise document.error(("vary",), message)
    found: list[Factor] = []
    problems: list[Problem] = []

    def refuse(why: InvalidFactor) -> None:
        message = str(why)
        if isinstance(why, Unknown):
            below = "keys" if why.path[1] in SAMPLES else "a method: grid"
            varies = not unusable(model, base, why.word, elsewhere)
            hint = f"; a key of the base belongs below {below}" if varies else ""
            hint = hint or elsewhere((why.word,))
            message = f"unknown {why.what}{hint}" if hint else message
        problems.append(Problem(why.place or document.place(why.path), why.path, message))

    for method, said in vary.items():
        path: Path = ("vary", method)
        try:
            if method not in METHODS:
                place = document.place(path, of_key=True)
                raise Unknown(path, "method", METHODS, place)
            each = [{key: one} for key, one in said.items()] if _is_grid(method, said) else [said]
        except InvalidFactor as why:
            refuse(why)
            continue
        for part in each:
            try:
                found += _factors(document, path, method, part, folder)
            except InvalidFactor as why:
                refuse(why)
    places: dict[str, str] = {}
    for factor in found:
        for key in factor.keys:
            where = factor.key_place(key)
            message = unusable(model, base, key, elsewhere)
            if key in places:
                message = f"varies twice{f', also at {places[key]}' if places[key] else ''}"
            if message:
                problems.append(Problem(where, tuple(key.split(".")), message))
            places[key] = where.text
    if problems:
        raise config_error(problems)
    return found


def _is_grid(method: str, said: Any) -> bool:
    """Whether each key of a method is a factor of its own, so that each can have problems."""
    return method == "grid" and isinstance(said, dict) and bool(said)


def unusable(model: type[Any], base: Mapping[str, Any], key: str, elsewhere: Elsewhere) -> str:
    """Return why a key cannot vary in a study; "" if it can."""
    if key == "workload" or key.split(".")[0] == "record":
        return "is the same at all points"
    if key == "replicates":
        return "is not varied: a study has its own key 'replicates'"
    if key.startswith("first_") and "replicates" in model.model_fields:
        return f"is not varied: every run has a number of its own; 'set' gives {key} to all points"
    try:
        _, _, section = found_key(model, base, key)
    except NotVarying as why:
        other = elsewhere(tuple(key.split(".")))
        return f"unknown key{other}, and the same at all points" if other else str(why)
    if section is not None and not isinstance(value_at(base, key), list | tuple):
        return is_section(section)
    return ""


def _factors(
    document: Document, path: Path, method: str, said: Any, folder: FilePath
) -> Iterator[Factor]:
    if method == "points":
        yield _points(document, path, said, folder)
        return
    if not isinstance(said, dict) or not said:
        got = "is empty" if not said else f"expected 'key: value' lines, got {described(said)}"
        raise InvalidFactor(path, got)
    if method == "grid":
        for key, values in said.items():
            yield _grid(document, (*path, key), key, values)
    elif method == "zip":
        yield _zip(document, path, said)
    else:
        yield sample(document, path, method, said)


def _values(document: Document, path: Path, said: Any) -> list[Any]:
    """Return a list of values, or the equal steps of a range."""
    if isinstance(said, dict):
        known = ("low", "high", "steps", "scale")
        for name in said:
            if name not in known:
                place = document.place((*path, name), of_key=True)
                raise InvalidFactor((*path, name), f"unknown key{suggestion(name, known)}", place)
        low, high = (_number(said, name, path) for name in ("low", "high"))
        steps = said.get("steps")
        if not isinstance(steps, int) or not 2 <= steps <= MOST_STEPS:  # True is 1
            at = (*path, "steps") if "steps" in said else path
            raise InvalidFactor(at, f"needs steps, a whole number from 2 to {MOST_STEPS:,}")
        if low >= high:
            raise InvalidFactor(path, f"low must be less than high, got {low} and {high}")
        scale = said.get("scale", "linear")
        if scale not in ("linear", "log"):
            raise InvalidFactor((*path, "scale"), f"expected linear or log, got {described(scale)}")
        if scale == "log" and low <= 0:
            raise InvalidFactor(path, f"low must be more than 0 for a logarithmic scale, got {low}")
        wide = high - low if scale == "linear" else high / low
        if not math.isfinite(wide):
            raise InvalidFactor(path, f"from {low} to {high} is too wide for double precision")
        return _steps(low, high, steps, scale)
    if not isinstance(said, list):
        raise InvalidFactor(path, f"expected a list of values or a range, got {described(said)}")
    if not said:
        raise InvalidFactor(path, "is empty")
    return said


def _number(said: Mapping[str, Any], name: str, path: Path) -> float:
    value: Any = said.get(name)
    if not is_number(value):
        got = f", got {described(value)}" if name in said else ""
        raise InvalidFactor((*path, name) if name in said else path, f"needs {name}, a number{got}")
    found: float = value
    return found


def _steps(low: float, high: float, steps: int, scale: str) -> list[Any]:
    """Return equal steps from low to high; if all are whole, as exact whole numbers."""
    if scale != "log" and isinstance(low, int) and isinstance(high, int):
        step, rest = divmod(high - low, steps - 1)
        if not rest:
            return list(range(low, high + 1, step))
    if scale == "log":
        ratio = math.log(high / low) / (steps - 1)
        inner = [low * math.exp(i * ratio) for i in range(1, steps - 1)]
    else:
        inner = [low + i * (high - low) / (steps - 1) for i in range(1, steps - 1)]
    values = [low, *inner, high]
    if (
        isinstance(low, int)
        and isinstance(high, int)
        and all(float(v).is_integer() for v in values)
    ):
        return [int(v) for v in values]
    return [float(v) for v in values]


def _grid(document: Document, path: Path, key: str, said: Any) -> Factor:
    if key == "label":
        raise InvalidFactor(path, "names points, so a grid has none; give it in points or zip")
    values = _values(document, path, said)
    listed = isinstance(said, list)

    def place(row: int, key: str) -> Origin:
        return document.place((*path, row) if listed else path)

    rows = [(value,) for value in values]
    above = path[:-1]
    heads, whole = key_place(document, above), {} if listed else {key: _WHOLE_STEPS}
    return Factor((key,), len(rows), lambda: rows, place, heads, {key: values}, whole=whole)


def _zip(document: Document, path: Path, said: Mapping[str, Any]) -> Factor:
    columns = {key: _values(document, (*path, key), one) for key, one in said.items()}
    first = next(iter(columns))
    for key, values in columns.items():
        if len(values) != len(columns[first]):
            message = f"has {len(values)} values, {first} has {len(columns[first])}"
            raise InvalidFactor((*path, key), f"{message}; zip takes one of each")

    def place(row: int, key: str) -> Origin:
        return document.place((*path, key, row))

    rows = list(zip(*columns.values(), strict=True))
    keys = key_place(document, path)
    whole = {key: _WHOLE_STEPS for key, one in said.items() if not isinstance(one, list)}
    definition = {"zip": columns}
    return Factor(tuple(columns), len(rows), lambda: rows, place, keys, definition, whole=whole)


def _points(document: Document, path: Path, said: Any, folder: FilePath) -> Factor:
    if isinstance(said, str):
        return _table(document, path, folder / said)
    if not isinstance(said, list):
        raise InvalidFactor(path, f"expected a list of points or a CSV file, got {described(said)}")
    if not said:
        raise InvalidFactor(path, "is empty")
    for i, point in enumerate(said):
        if not isinstance(point, dict) or not point:
            raise InvalidFactor((*path, i), f"expected 'key: value' lines, got {described(point)}")
        if point.keys() != said[0].keys():
            first, own = ", ".join(said[0]), ", ".join(point)
            raise InvalidFactor((*path, i), f"has the keys {own}; the first point has {first}")
    keys = tuple(said[0])

    def place(row: int, key: str) -> Origin:
        return document.place((*path, row, key))

    rows = [tuple(point[key] for key in keys) for point in said]
    heads = key_place(document, (*path, 0))
    return Factor(keys, len(rows), lambda: rows, place, heads, {"points": said})


def _table(document: Document, path: Path, file: FilePath) -> Factor:
    found = read_columns(file, "point")

    def place(row: int, key: str) -> Origin:
        return Origin((2, found.lines[row]), f"{found.name}:{found.lines[row]}")

    definition = {"points": [dict(zip(found.keys, row, strict=True)) for row in found.rows]}
    head = Origin((2, found.head), f"{found.name}:{found.head}")
    rows: list[Row] = list(found.rows)
    return Factor(found.keys, len(rows), lambda: rows, place, lambda key: head, definition)


def combined(parts: Sequence[Factor]) -> Iterator[tuple[dict[str, Any], dict[str, Origin]]]:
    """Yield every point, and where each of its values was written.

    Raises ConfigError if two points of a factor are the same.
    """
    for factor in parts:
        seen: dict[str, int] = {}
        for number, row in enumerate(factor.rows() if factor.distinct else ()):
            before = seen.setdefault(identity(row), number)
            if before != number:
                key = factor.keys[0]
                place = factor.place(number, key)
                values = ", ".join(f"{k} {v}" for k, v in zip(factor.keys, row, strict=True))
                first = factor.place(before, key).text
                also = f", first at {first}" if first else ""
                message = f"the point {quoted(values)} appears twice{also}"
                raise config_error([Problem(place, (), message)])
    numbered = [list(enumerate(factor.rows())) for factor in parts]
    for choice in itertools.product(*numbered):
        point: dict[str, Any] = {}
        places: dict[str, Origin] = {}
        for factor, (number, row) in zip(parts, choice, strict=True):
            for key, value in zip(factor.keys, row, strict=True):
                point[key], places[key] = value, factor.place(number, key)
        yield point, places


def identity(value: Any) -> str:
    """Return a text that is the same for equal values of keys: 1, 1.0; 0, -0.0; in lists too."""

    def plain(one: Any) -> Any:
        if isinstance(one, Mapping):
            return {key: plain(item) for key, item in sorted(one.items())}
        if isinstance(one, list | tuple):
            return [plain(item) for item in one]
        return int(one) if isinstance(one, float) and one.is_integer() else one

    return repr(plain(value))


def described_factors(parts: Sequence[Factor]) -> str:
    """Return the factors and their numbers of values as text: "trading.rounds 3 x seed 5"."""
    return " x ".join(
        f"{', '.join(one.keys) if len(one.keys) < 4 else counted(len(one.keys), 'key')} {one.count}"
        for one in parts
    )
