"""How does ``--set a.b=c`` change the values of a file?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from societies.config.document import DEEPEST_NESTING, Document, read_text
from societies.config.problems import Origin, Path, Problem, described, quoted
from societies.errors import ConfigError, override
from societies.inputs import whole_number

_LONGEST = 80


def apply_overrides(document: Document, overrides: Sequence[str]) -> None:
    """Put each ``key=value`` into the document's data; later ones win.

    The value is read as YAML. A number in the key selects an existing entry of a list. Problems of
    an override are added to those of the document.
    """
    for number, given in enumerate(overrides):
        place = Origin((1, number), _location(given))
        name, equals, text = given.partition("=")
        path = tuple(part.strip() for part in name.split("."))
        if not equals or not all(path):
            document.problems.append(
                Problem(place, (), "expected key=value, for example trading.rounds=4")
            )
            continue
        try:
            value = read_text(text, "value")
        except ConfigError as error:
            document.problems.append(Problem(place, path, str(error).replace("  ", " ", 1)))
            continue
        set_key(document, path, value, place)


def set_key(document: Document, path: Sequence[str], value: Document, place: Origin) -> None:
    """Set a key of a document to the data of another, which was written at ``place``."""
    if len(path) > DEEPEST_NESTING:
        message = f"is nested more than {DEEPEST_NESTING} levels deep"
        document.problems.append(Problem(place, (), message))
        return
    try:
        where = _put(document.data, path, value.data)
    except _CannotPut as error:
        document.problems.append(Problem(place, error.path, error.message))
        return
    _note(document, where, value, place)


class _CannotPut(Exception):
    def __init__(self, path: Path, message: str) -> None:
        self.path, self.message = path, message


def _put(data: Any, parts: Sequence[str], value: Any) -> Path:
    """Set a value in the data and return its path, with numbers for entries of lists."""
    path: Path = ()
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        if isinstance(data, list):
            index = whole_number(part)
            if index is None or index >= len(data):
                entries = f"0 to {len(data) - 1}" if data else "none"
                raise _CannotPut(path, f"has no entry {quoted(part)}; its entries are {entries}")
            path = (*path, index)
            if last:
                data[index] = value
            data = data[index]
            continue
        if not isinstance(data, dict):
            raise _CannotPut(path, f"is {described(data)} and has no key {quoted(part)} inside")
        path = (*path, part)
        if last:
            data[part] = value
        elif part not in data and whole_number(parts[depth + 1]) is not None:
            raise _CannotPut(path, "is not a list in the file, so no entry of it can be set")
        else:
            data = data.setdefault(part, {})
    return path


def _note(document: Document, path: Path, value: Document, place: Origin) -> None:
    """Set the position of everything at and below the path to that of the override."""
    document.forget(path)
    for length in range(1, len(path) + 1):  # sections that the override has created
        document.keys.setdefault(path[:length], place)
        document.values.setdefault(path[:length], place)
    document.written.update({path + below: text for below, text in value.written.items()})
    document.keys.update({path + below: place for below in value.keys})
    gone = {p for p in document.unusable if p[: len(path)] == path}
    document.problems = [p for p in document.problems if p.path not in gone]
    document.problems += [Problem(place, path + p.path, p.message) for p in value.problems]
    document.unusable -= gone
    document.unusable |= {path + below for below in value.unusable}


def _location(given: str) -> str:
    text = given if given.isprintable() else repr(given)[1:-1]
    return override(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "...")
