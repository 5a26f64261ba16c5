"""What are the observations of a target, and are the rows of a file in the order of time?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path as FilePath
from typing import TypeAlias

import numpy as np

from societies.config.columns import Columns, Value, read_columns
from societies.config.document import Document
from societies.config.problems import Path, suggestion
from societies.errors import ConfigError
from societies.numbers import is_finite
from societies.study.statistics import Reals
from societies.study.target_file import DataColumn

Times: TypeAlias = list[tuple[int, ...]]
"""A time for each row: (month, day) of dates, or one number."""

UNORDERED = ("kolmogorov_smirnov", "wasserstein")
"""Statistics that compare distributions, so that the order of the observations does not matter."""

TIMES = ("date", "time", "year", "quarter", "month", "week", "day", "tick", "period", "step")
"""Names of a column of whole numbers that number the rows in time."""

_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?|[- ]?[qQ]([1-4]))")


def observations(
    said: DataColumn, statistic: str, folder: FilePath, document: Document, path: Path
) -> Reals:
    """Return the observations that a target has.

    Raises ConfigError if there are none, one is not a finite number, or the rows are not in order
    of time.

    Parameters
    ----------
    statistic : statistic that is computed from them
    folder : folder of their file
    path : path of the section in the document, for messages
    """
    if said.values:
        return np.array(said.values, float)
    if said.file is None:
        raise document.error(path, "needs a file and a column, or values")
    found = read_columns(folder / said.file, "observation")
    times = {key: times_of(found, key) for key in found.keys}
    first = next((key for key, value in times.items() if value is None), found.keys[0])
    wanted = said.column if said.column is not None else first
    if wanted not in found.keys:
        message = f"{found.name} has no column '{wanted}'{suggestion(wanted, found.keys)}"
        raise document.error(path, message)
    column = [row[found.keys.index(wanted)] for row in found.rows]
    if not all(map(is_finite, column)):
        message = f"column '{wanted}' of {found.name} has entries that are no finite numbers"
        raise document.error(path, message)
    clocks = {key: one for key, one in times.items() if one is not None and key != wanted}
    if statistic not in UNORDERED:
        require_order(found, {key: clocks[key] for key in sorted(clocks, key=_coarseness)})
    return np.array(column, float)


def _coarseness(key: str) -> int:
    return TIMES.index(key.lower()) if key.lower() in TIMES else -1


def times_of(table: Columns, key: str) -> Times | None:
    """Return (month, day) for a column of dates, (number,) for one of ticks; None for others."""
    place = table.keys.index(key)
    values = [row[place] for row in table.rows]
    if key.lower() in TIMES and all(type(one) is int for one in values):
        return [(int(str(one)),) for one in values]
    found = [one for one in map(_date, values) if one is not None]
    return found if len(found) == len(values) else None


def _date(value: Value) -> tuple[int, ...] | None:
    """Return the month, counted from the year 0, and the day of the month of a date."""
    read = _DATE.fullmatch(value) if isinstance(value, str) else None
    if read is None:
        return None
    year, month, day, quarter = (int(one or 0) for one in read.groups())
    month = 3 * quarter - 2 if quarter else month
    try:
        date(year, month, day or 1)
    except ValueError:
        return None
    return 12 * year + month, day


def require_order(table: Columns, clocks: Mapping[str, Times]) -> None:
    """Raise ConfigError unless each row is later than the one before, and none is missing.

    Missing rows are not looked for if the day of the month varies, as with working days or ends of
    months, or if several columns, such as year and month, number the rows. The columns ``clocks``,
    as from `times_of`, are in order, the coarsest first.
    """
    times = [*zip(*clocks.values(), strict=True)]
    months = [one[0][0] for one in times]
    regular = len(clocks) == 1 and len({one[1:] for row in times for one in row}) == 1
    for row in range(1, len(times)):
        gap = regular and months[row] - months[row - 1] != months[1] - months[0]
        if times[row] > times[row - 1] and not gap:
            continue
        after, before = (
            " ".join(str(table.rows[one][table.keys.index(key)]) for key in clocks)
            for one in (row, row - 1)
        )
        what = "does not follow" if times[row] > times[row - 1] else "is not later than"
        raise ConfigError(
            f"{table.name}:{table.lines[row]}  {', '.join(clocks)}: {after} {what} {before}; "
            "the statistic needs a row for each tick, in order"
        )
