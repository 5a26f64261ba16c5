"""Which functions of which Python files does a YAML file name, and may it name them?

``rules: {trading.price: my_rules.py:price}`` names a function, whose file is looked up in the
folder of the YAML file. A configuration may come from another person, so a file elsewhere has to be
named by the user (``--rule``). Nothing is imported here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from societies.config.document import Document
from societies.config.problems import Path
from societies.inputs import PYTHON_FUNCTION, nearest_file, shown

SECTION, MODEL = "rules", "model"
"""Keys that name files of Python: functions that replace rules, and the file of a whole model."""


def name_rules(document: Document, folder: FilePath | None = None) -> None:
    """Write keys ``trading.price`` of a section ``rules`` as sections, and complete paths.

    Parameters
    ----------
    folder : that of the YAML file; None: paths are the user's own
    """
    for path in list(_sections(document.data, ())):
        _spread(document, path)
    for path, text in list(_texts(document.data, (), False)) if folder is not None else ():
        found = PYTHON_FUNCTION.fullmatch(text)
        if found is not None and folder is not None:
            file, why = beside(folder, found["file"])
            if why:
                _put(document.data, path, None)
                document.refuse(path, why)
            else:
                _put(document.data, path, f"{file}:{found['function']}")
    for path in _models(document.data) if folder is not None else ():
        name = _get(document.data, path)
        if folder is not None and isinstance(name, str):
            file, why = beside(folder, name)
            _put(document.data, path, None if why else file)
            if why:
                document.refuse(path, why)


def beside(folder: FilePath, name: str) -> tuple[str, str]:
    """Return the path of a Python file that a YAML file in a folder names, or why it may not.

    The path is relative to the current folder if it is below it: so a file of results names no
    folder of its author.
    """
    path = folder / name
    # `Path.resolve` would raise an error for links that lead to each other.
    if not FilePath(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        return "", (
            f"{shown(name)}: is not in the folder of this file, and only the user may name files "
            "elsewhere: give it on the command line"
        )
    if not path.is_file():
        near = nearest_file(path, ".py")
        also = f"; did you mean '{near}'?" if near else ""
        return "", f"{shown(name)}: no such file{also}"
    whole = path.absolute()
    here = FilePath.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole), ""


def _models(data: Any) -> list[Path]:
    """Return the paths of the keys ``model``, at the top and in the base of a sweep."""
    if not isinstance(data, dict):
        return []
    found: list[Path] = [(MODEL,)] if MODEL in data else []
    base = data.get("base")
    return found + ([("base", MODEL)] if isinstance(base, dict) and MODEL in base else [])


def _get(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def _sections(data: Any, path: Path) -> Iterator[Path]:
    """Yield the paths of all sections ``rules``, at the top and in the base of a sweep."""
    if isinstance(data, dict):
        for name, inside in data.items():
            if name == SECTION and isinstance(inside, dict):
                yield (*path, name)
            elif name == "base":
                yield from _sections(inside, (*path, name))


def _texts(data: Any, path: Path, inside: bool) -> Iterator[tuple[Path, str]]:
    """Yield path and value of every text in or below a key ``rules`` or ``rules.NAME``."""
    if isinstance(data, dict | list):
        pairs = data.items() if isinstance(data, dict) else enumerate(data)
        for name, value in pairs:
            rules = str(name) == SECTION or str(name).startswith(f"{SECTION}.")
            yield from _texts(value, (*path, name), inside or rules)
    elif isinstance(data, str) and inside:
        yield path, data


def _put(data: Any, path: Path, value: Any) -> None:
    _get(data, path[:-1])[path[-1]] = value


def _spread(document: Document, path: Path) -> None:
    """Replace dotted keys of a section by sections."""
    section = _get(document.data, path)
    for name in [one for one in section if "." in str(one)]:
        parts, value = str(name).split("."), section.pop(name)
        inner = section
        for part in parts[:-1]:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                break
        if not isinstance(inner, dict) or not all(parts):
            document.refuse(path, f"has a key {name!r} that is no name of a rule")
            continue
        inner[parts[-1]] = value
        for table in (document.keys, document.values):
            if (*path, name) in table:
                place = table[(*path, name)]
                for length in range(1, len(parts) + 1):
                    table.setdefault((*path, *parts[:length]), place)
