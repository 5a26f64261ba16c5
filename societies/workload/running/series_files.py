"""Which values does a key have on successive ticks, if an intervention sets it to a series?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic_core import PydanticCustomError

from societies.config.columns import Columns, key_shown, read_columns
from societies.config.problems import described, suggestion
from societies.errors import ConfigError
from societies.numbers import is_finite
from societies.words import counted, plural
from societies.workload.running.varying import field_of

VALUES, FILE, COLUMN = "values", "file", "column"


def read(key: str, value: Any, clock: str, first: int) -> Any:
    """Return the value that an intervention sets; a column of a file is replaced by its numbers.

    The result is ``{values: [...]}``, so that a result file holds the numbers and does not need the
    CSV file. A column with the name of the clock may number the rows, beginning with ``first``.

    Raises PydanticCustomError if it is a series that cannot be read.
    """
    if not isinstance(value, dict):
        return value
    if set(value) == {VALUES}:
        return value
    if set(value) != {FILE, COLUMN}:
        raise _wrong(key, "a series is {file: FILE.csv, column: NAME}, or a list of numbers")
    try:
        table = read_columns(Path(str(value[FILE])), "tick")
        column = str(value[COLUMN])
        if column not in table.keys:
            near = suggestion(column, table.keys)
            raise ConfigError(f"{table.name}: has no column {key_shown(column)}{near}")
        place = table.keys.index(column)
        for row, line in zip(table.rows, table.lines, strict=True):
            if not is_finite(row[place]):
                raise ConfigError(
                    f"{table.name}:{line}  {key_shown(column)}: expected a finite number, "
                    f"got {described(row[place])}"
                )
        _require_ticks(table, clock, first)
    except ConfigError as error:
        raise _wrong(key, str(error)) from None
    return {VALUES: [row[place] for row in table.rows]}


def _require_ticks(table: Columns, clock: str, first: int) -> None:
    """Raise ConfigError if a table has a column of ticks that does not count up from ``first``."""
    if clock not in table.keys:
        return
    place = table.keys.index(clock)
    for tick, (row, line) in enumerate(zip(table.rows, table.lines, strict=True), first):
        if row[place] != tick:
            raise ConfigError(
                f"{table.name}:{line}  {clock}: expected {tick}, got {described(row[place])}; the "
                f"first value is that of {clock} {first}, and a row of each {clock} follows"
            )


def _wrong(key: str, message: str) -> PydanticCustomError:
    return PydanticCustomError("series", "{message}", {"message": f"{key}: {message}"})


def series_of(model: Any, key: str, value: Any) -> Sequence[Any] | None:
    """Return the values of a series; None for a single value.

    A list is the value itself for a key that takes a list, such as a number for each resource; its
    series is written ``{values: [...]}``.
    """
    if isinstance(value, dict) and set(value) == {VALUES}:
        found = value[VALUES]
        return found if isinstance(found, list | tuple) else ()
    if isinstance(value, list | tuple) and not _takes_lists(field_of(model, key)):
        return value
    return None


def _takes_lists(annotation: Any) -> bool:
    return get_origin(annotation) in (list, tuple) or any(map(_takes_lists, get_args(annotation)))


def problem_of(values: Sequence[Any], clock: str, first: int, last: int | None) -> str:
    """Return why a series cannot be followed from tick ``first`` to ``last``; "" if it can."""
    if not values:
        return "the series has no values"
    for place, one in enumerate(values):
        lists = isinstance(one, list | tuple) and one and all(map(is_finite, one))
        if not lists and not is_finite(one):
            where = f"value {place} of the series, that of {clock} {first + place}"
            return f"{where}, is {described(one)}; expected a finite number"
    if last is not None and len(values) < last - first + 1:
        have = counted(len(values), "value")
        return (
            f"the series has {have} for the {last - first + 1} {plural(clock)} {first} to {last}\n"
            f"add the others, or let it end: until: {first + len(values) - 1}"
        )
    return ""
