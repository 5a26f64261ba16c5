"""Which agents does a table describe? A CSV file with a row for each agent, in place of groups.

A column is a key of a group: ``trade_power``, ``inventiveness``; ``extraction.min_effort`` for all
resources, or ``extraction.min_effort.3`` for one. The column ``agent`` may number the agents, which
shows that none is missing. Consecutive agents with equal rows are a group.
The configuration in a result has the groups, so it needs no file.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticCustomError

from societies.config.columns import rows_of
from societies.config.model import KEY, accepts
from societies.config.problems import quoted, suggestion
from societies.economy.config.groups import GroupConfig
from societies.errors import ConfigError
from societies.inputs import LONGEST_TABLE, read_text, shown, whole_number

NAME = "group"
"""Column with the name of the agent's group, which need not be unique."""
AGENT = "agent"
"""Column with the number of the agent, from 0 on."""
SECTIONS = ("utility", "extraction", "consumption", "device", "endowment")

_NUMBER = re.compile(r"[-+.0-9a-z]+", re.ASCII | re.IGNORECASE)
"""Excludes what Python alone reads as a number, such as 1_000."""

Cell = tuple[str, str, int | None]
"""Section or "", key, and resource or None, of a column."""


def with_people(data: Any, resources: int, defaults: Mapping[str, BaseModel]) -> Any:
    """Return plain data of a configuration with the groups of a file that ``agents`` names.

    ``defaults`` has the sections of the economy by name, for resources without a column.

    Raises
    ------
    PydanticCustomError
        With the line and the column of the first mistake in the file.
    """
    name = data.get("agents") if isinstance(data, dict) else None
    if not isinstance(name, str) or not name.lower().endswith(".csv"):
        return data
    if data.get("groups"):
        raise _wrong("a file of agents and groups exclude each other; give one of them")
    rows = list(_rows(name, resources, data, defaults))
    if not rows:
        raise _wrong(f"{name} has no agents below its first line")
    return {**data, "agents": len(rows), "groups": _groups(rows)}


def _wrong(text: str) -> PydanticCustomError:
    return PydanticCustomError("people", "{text}", {"text": text, KEY: "agents"})


def _rows(
    name: str, resources: int, data: Mapping[str, Any], defaults: Mapping[str, BaseModel]
) -> Iterator[dict[str, Any]]:
    """Yield what a group of one agent would have, for each line of the file."""
    looked_up = "it is looked up in the current folder"
    if not os.path.lexists(name):
        raise _wrong(f"{name}: No such file or directory; {looked_up}")
    try:
        lines = rows_of(shown(name), read_text(name, LONGEST_TABLE))
    except ConfigError as error:
        raise _wrong(f"{error}; {looked_up}") from None
    first, head = lines[0] if lines else (1, [])
    cells = [
        _cell(f"{name}:{first}:{place}", column, resources) for place, column in enumerate(head, 1)
    ]
    for place, column in enumerate(head, 1):
        if column in head[: place - 1]:
            raise _wrong(f"{name}:{first}:{place}  {quoted(column)}: there are two such columns")
    for agent, (line, row) in enumerate(lines[1:]):
        if not any(row):
            raise _wrong(f"{name}:{line}  is empty; every line is an agent")
        if len(row) != len(head):
            raise _wrong(f"{name}:{line}  has {len(row)} columns, the first {len(head)}")
        found: dict[str, Any] = {NAME: ""}
        for place, (cell, value) in enumerate(zip(cells, row, strict=True), 1):
            section, key, resource = cell
            if key == NAME:
                found[NAME] = value
                continue
            if key == AGENT:
                if whole_number(value) != agent:
                    said = f"expected {agent}, got {quoted(value)}; agents are numbered from 0 on"
                    raise _wrong(f"{name}:{line}:{place}  {AGENT}: {said}, line by line")
                continue
            where = f"{name}:{line}:{place}  {head[place - 1]}"
            number = _number(where, value)
            if not accepts(_section(section) if section else GroupConfig, key, number):
                raise _wrong(f"{where}: {number:g} is not a value that this key can have")
            if not section:
                found[key] = number
                continue
            own = found.setdefault(section, {})
            if resource is None:
                own[key] = number
                continue
            if not isinstance(own.get(key), list):
                base = own.get(key, _of_base(data, defaults, section, key))
                own[key] = list(base) if isinstance(base, list | tuple) else [base] * resources
            if resource < len(own[key]):
                own[key][resource] = number
        yield found


def _cell(place: str, column: str, resources: int) -> Cell:
    """Return what a column is about; ``place`` is that of its name, in messages."""
    where = f"{place}  {quoted(column)}"
    if column in (NAME, AGENT):
        return "", column, None
    section, _, rest = column.partition(".")
    if column in SECTIONS:
        keys = ", ".join(f"{column}.{one}" for one in _section(column).model_fields)
        raise _wrong(f"{where}: is a section of a group; its keys are {keys}")
    if not rest:
        others = ("name", "count", "share", *SECTIONS)
        known = [one for one in GroupConfig.model_fields if one not in others]
        if column not in known:
            columns = [*known, NAME, AGENT]
            known_ones = f"{', '.join(columns)} and keys of sections: {', '.join(SECTIONS)}"
            near = suggestion(column, columns) or f"; columns are {known_ones}"
            raise _wrong(f"{where}: no key of a group{near}")
        return "", column, None
    key, _, number = rest.partition(".")
    if section not in SECTIONS:
        raise _wrong(f"{where}: no section of a group{suggestion(section, SECTIONS)}")
    model = _section(section)
    if key not in model.model_fields:
        raise _wrong(f"{where}: no key of {section}{suggestion(key, model.model_fields)}")
    resource = whole_number(number)
    if number and (resource is None or resource >= resources):
        raise _wrong(f"{where}: there is no resource {number}: they are 0 to {resources - 1}")
    return section, key, resource


def _section(name: str) -> type[BaseModel]:
    """Return the class of a section of a group."""
    annotation: Any = GroupConfig.model_fields[name].annotation
    found: type[BaseModel] = next(one for one in annotation.__args__ if one is not type(None))
    return found


def _number(where: str, text: str) -> float:
    try:
        number = float(text if _NUMBER.fullmatch(text) else "no number")
    except ValueError:
        raise _wrong(f"{where}: expected a number, got {quoted(text)}") from None
    if not math.isfinite(number):
        raise _wrong(f"{where}: expected a finite number, got {quoted(text)}")
    return int(number) if number.is_integer() else number


def _of_base(
    data: Mapping[str, Any], defaults: Mapping[str, BaseModel], section: str, key: str
) -> Any:
    """Return what all agents have: the value of the configuration, or the default."""
    said = data.get(section)
    if isinstance(said, Mapping) and key in said:
        return said[key]
    return getattr(defaults[section], key)


def _groups(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a group for each stretch of equal rows, with a name that is used once."""
    found: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        if found and found[-1]["row"] == row:
            found[-1]["count"] += 1
            continue
        found.append({"row": row, "first": number, "count": 1})
    names = Counter(one["row"][NAME] for one in found)
    return [
        {
            **{key: value for key, value in one["row"].items() if key != NAME},
            "name": own if own and names[own] == 1 else f"{own or 'agent'} {one['first']}",
            "count": one["count"],
        }
        for one in found
        for own in [one["row"][NAME]]
    ]
