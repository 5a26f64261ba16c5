"""How does a configuration get a table of parameters, and are its interventions possible?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from societies.config.model import Conflict, accepts
from societies.config.problems import Path, plain_words
from societies.errors import ConfigError, override
from societies.words import counted
from societies.workload.declare import points
from societies.workload.declare.points import Points
from societies.workload.declare.registry import workload
from societies.workload.declare.varying import NotVarying, varying
from societies.workload.running.tables import ValueTable, table_of


def points_of(config: Any) -> Points | None:
    """Return the parameters of the copies; None if all have those of the configuration."""
    return points.points_of(workload(config.workload), config)


def with_table(config: Any, source: Any) -> Any:
    """Return the configuration of an ensemble whose copies have the parameters of a table.

    If the configuration does not set ``replicates``, there is one copy per row.

    Raises
    ------
    ConfigError
        If a key cannot vary, a value is not allowed, or there are not as many rows as copies.
    """
    chosen = workload(config.workload)
    table = table_of(source, chosen.copies, chosen.first(config))
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
        copy = chosen.copies
        there, asked = counted(table.rows, "row"), counted(config.replicates, copy)
        raise ConfigError(
            f"{table.name}: has {there} for {asked} (replicates); each {copy} needs one\n"
            "give both the same number"
            + (
                f", such as {override(f'replicates={table.rows}')}"
                if accepts(type(config), "replicates", table.rows)
                else ""
            )
        )
    found = config.model_copy()
    found._table = table
    points_of(found)  # raises if a key or value is not allowed
    return found


def with_rows(config: Any, table: ValueTable | None, numbers: NDArray[np.int64] | None) -> Any:
    """Return the configuration whose copies have the rows of a table and the given numbers.

    Nothing is checked: the caller takes rows that were checked before.
    """
    count = table.rows if table else len(numbers) if numbers is not None else config.replicates
    found = config.model_copy(update={"replicates": count})
    found._table, found._numbers = table, numbers
    return found


def intervention_conflicts(config: Any) -> Iterator[Conflict]:
    """Yield the conflicts of interventions: wrong ticks, copies, keys or values.

    The keys of an intervention are named after the clock and the copies, as in day, societies.
    """
    if not config.interventions:
        return
    base, wrong, chosen = points.plain_data(config), False, workload(config.workload)
    clock, copy, copies = chosen.clock, chosen.copies, chosen.copies_plural
    first, ticks = chosen.first(config), chosen.ticks(config)
    last = first + chosen.count(config) - 1
    for i, one in enumerate(config.interventions):
        path: Path = ("interventions", i)
        if (tick := getattr(one, clock)) >= ticks:
            message = f"must be before the last {clock}, {ticks}, got {tick}"
            yield Conflict((*path, clock), message, ((chosen.ticks_key,),))
        for place, number in enumerate(getattr(one, copies)):
            if not first <= number <= last:
                message = f"there is no {copy} {number}; they are numbered {first} to {last}"
                needs: tuple[Path, ...] = (("replicates",), (f"first_{copy}",))
                yield Conflict((*path, copies, place), message, needs)
        if not one.set and getattr(one, "remove", None) is None:
            yield Conflict((*path, "set"), "names no key that it changes")
        for key in one.set:
            try:
                varying(type(config), base, key, later=True)
            except NotVarying as why:
                wrong = True
                yield Conflict((*path, "set", key), str(why))
    if wrong or not points.interventions(config):
        return
    try:
        points.in_time(chosen, config, base, [{}], np.zeros(config.replicates, np.intp), {})
    except points.NotThen as error:
        path = ("interventions",)
        for i, one in enumerate(config.interventions):
            path = ("interventions", i) if one is error.newest else path
        for line in str(error).split("\n"):
            yield Conflict(path, line)
