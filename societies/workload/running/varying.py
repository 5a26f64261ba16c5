"""Which keys may differ between the copies of a launch, and how are they set for one copy?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from societies.config.check import path_of, places_of
from societies.config.model import (
    CONFLICTS_LATER,
    INITIAL,
    SHAPE,
    TABULATED,
    VALUE,
    Section,
    WorkloadConfig,
    in_type,
)
from societies.config.problems import Path, dotted, plain_words, quoted, suggestion
from societies.inputs import whole_number
from societies.lazily import np

if TYPE_CHECKING:
    from societies.output import Coordinate


class NotVarying(Exception):
    """Raised for a key that cannot differ between copies; its text is the reason."""


class UnknownKey(NotVarying):
    """Raised for a key that does not exist."""


SHARED = "is the same in all copies of a launch; only parameters of the model may differ"
"""Reason to refuse different values of a key that is no parameter of the model, such as a seed."""

ONLY_AT_FIRST = "is read before the first tick only, so that a change on the way has no effect"

SHARED_SHAPE = "all copies of a launch share it"


def varying(model: type[Section], data: Any, key: str, *, later: bool = False) -> Path:
    """Return the path of a key that may differ between copies, as parts.

    Raises NotVarying with the reason, if there is no such key or all copies of a launch share it.

    Parameters
    ----------
    model : class of the configuration
    data : configuration as plain data; a number in the key selects an entry of a list in it
    later : whether the key must also have an effect if it changes during a run
    """
    path, kind, section = found_key(model, data, key)
    if kind not in (VALUE, TABULATED, INITIAL) or section is not None:
        raise NotVarying(_why_not(kind, section) + (_instead(model, key) if later else ""))
    if later and kind == INITIAL:
        raise NotVarying(ONLY_AT_FIRST)
    return path


def field_of(model: Any, key: str) -> Any:
    """Return the type of the value of an existing key."""
    annotation: Any = model
    for part in key.split("."):
        section = section_of(annotation)
        if section is not None and part in section.model_fields:
            annotation = section.model_fields[part].annotation
    return annotation


def takes_whole_numbers(model: Any, key: str) -> bool:
    """Return whether an existing key takes whole numbers, and no real ones."""
    found = list(kinds(field_of(model, key)))
    return int in found and float not in found


def kinds(kind: Any) -> Iterator[Any]:
    """Yield a type and those that it is made of."""
    yield kind
    for one in get_args(kind):
        yield from kinds(one)


def leaves(data: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the keys of plain data that hold no section, each with those above it and dots."""
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}"


def value_at(data: Any, key: str) -> Any:
    """Return the value of a key in plain data; None if the data lack it."""
    for part in key.split("."):
        data = data[int(part)] if isinstance(data, list | tuple) else (data or {}).get(part)
    return data


def found_key(model: type[Section], data: Any, key: str) -> tuple[Path, str, Any]:
    """Return path and kind of a key, and its section class, or None if the key holds a value.

    Raises NotVarying if there is no such key.
    """
    path: Path = ()
    section: Any = model
    kind = ""
    for part in key.split("."):
        if isinstance(data, list | tuple):
            entry = whole_number(part)
            if entry is None or entry >= len(data):
                raise NotVarying(f"{dotted(path)} has no entry {quoted(part)}")
            path, data = (*path, entry), data[entry]
            continue
        if section is None or part not in section.model_fields:
            known = section.model_fields if section is not None else ()
            others = places_of(model, (*path, part))  # of the same name, which says more
            near = f"; did you mean '{others[0]}'?" if others else suggestion(part, known)
            raise UnknownKey(f"unknown key{near}")
        field = section.model_fields[part]
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        kind = str(extra.get("kind", "")) or kind
        section = section_of(field.annotation)
        path, data = (*path, part), data.get(part) if isinstance(data, dict) else None
    return path, kind, section


def coordinates(
    config: Any, copies: str, taken: Collection[str] = (), entries: str = ""
) -> list[Coordinate]:
    """Return the keys that differ from copy to copy, as coordinates of the file.

    A key with the name of a variable (``taken``) is called ``vary.KEY``, as in a study. Those with
    a list of numbers have the dimension ``entries``, or else each a dimension of its own.
    """
    from societies.output import Coordinate  # imported here: a configuration needs no HDF5

    found = []
    for key, column in config.table.columns.items() if config.table is not None else ():
        unit, meaning = unit_and_meaning(type(config), key)
        own = entries or f"{key}.entry"
        if column.ndim > 1 and not entries:
            numbers = np.arange(column.shape[1])
            found.append(Coordinate(own, numbers, "", f"number of the entry of {key}"))
        if column.dtype == bool:  # as studies write them
            column = np.where(column, "true", "false")
        name, dims = f"vary.{key}" if key in taken else key, (copies, own)[: column.ndim]
        found.append(Coordinate(name, column, unit, meaning, dims))
    return found


def unit_and_meaning(model: Any, key: str) -> tuple[str, str]:
    """Return unit and meaning of a key."""
    field = last_field(model, key)
    if field is None:
        return "", ""
    return str((field.json_schema_extra or {}).get("unit", "")), field.description or ""


def _instead(model: Any, key: str) -> str:
    """Return the advice to use what has nearly the effect of a key that cannot change later."""
    nearly = (last_field(model, key).json_schema_extra or {}).get("nearly")
    return f"; {nearly}" if nearly else ""


def last_field(model: Any, key: str) -> Any:
    """Return the field of the last part of a key that exists; None if no part does."""
    found = None
    for part in key.split("."):
        if model is not None and part in model.model_fields:
            found = model.model_fields[part]
            model = section_of(found.annotation)
    return found


def is_section(section: Any) -> str:
    """Return what is wrong with the key of a section where that of a value is needed."""
    return f"is a section; name one of its keys: {', '.join(section.model_fields)}"


def _why_not(kind: str, section: Any) -> str:
    if section is not None:
        return is_section(section)
    if kind == SHAPE:
        return f"is a shape, which sizes arrays or chooses code: {SHARED_SHAPE}"
    return SHARED


def section_of(annotation: Any) -> Any:
    """Return the section class that a type is or contains; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((found for one in get_args(annotation) if (found := section_of(one))), None)


def changed(model: type[Any], base: Mapping[str, Any], settings: Mapping[Path, Any]) -> Any:
    """Return the configuration with some keys set, without a table.

    Raises ValueError if values are not allowed; one line per problem.

    Parameters
    ----------
    model : class of the configuration
    base : configuration as plain data
    settings : values by the path of their key
    """
    data: Any = dict(base)
    for path, value in settings.items():
        _put(data, path, value)
    try:
        found: WorkloadConfig = model.model_validate(data, context=CONFLICTS_LATER)
    except ValidationError as errors:
        lines = [
            f"{dotted(path_of(error, data))}: {plain_words(error)}" for error in errors.errors()
        ]
        raise ValueError("\n".join(lines)) from None
    lines = [f"{dotted(conflict.path)}: {conflict.message}" for conflict in found.conflicts()]
    if lines:
        raise ValueError("\n".join(lines))
    return found


def copied(config: Any, settings: Mapping[Path, Any]) -> Any:
    """Return what `changed` returns for values that it has accepted before, some ten times faster.

    Numbers still get the type of their key. The sections on the way must be present.
    """
    for path, value in settings.items():
        config = _with(config, path, value)
    return config


def _with(content: Any, path: Path, value: Any) -> Any:
    """Return a section, a list or a value with the value at a path below it."""
    if not path:
        return value
    part, below = path[0], path[1:]
    if not isinstance(content, Section):
        entries, at = list(content), int(part)
        entries[at] = _with(entries[at], below, value)
        return tuple(entries)
    name = str(part)
    inner = _with(getattr(content, name), below, value)
    if not isinstance(inner, Section):
        inner = in_type(type(content), name, inner)
    return content.model_copy(update={name: inner})


def _put(data: Any, path: Path, value: Any) -> None:
    """Set a value; sections on its path are copied first, because other data may share them."""
    for part, below in pairwise(path):
        old = data[part] if isinstance(part, int) or part in data else None
        inner = list(old) if isinstance(old, list | tuple) else dict(old or {})
        assert isinstance(inner, list) == isinstance(below, int)
        data[part] = inner
        data = inner
    data[path[-1]] = value
