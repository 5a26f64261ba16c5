"""Which functions of which Python files does a YAML file name, and may it name them?

``rules: {trading.price: my_rules.py:price}`` names a function, whose file is looked up in the
folder of the YAML file. A configuration may come from another person, so a file elsewhere has to be
named by the user (``--rule``), now or when this machine has carried it out before. Nothing is
imported here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from societies.config.document import Document
from societies.config.files import MODEL, SECTION, python_files, value_at, was_carried_out
from societies.config.problems import Path, dotted
from societies.errors import override
from societies.inputs import PYTHON_FUNCTION, nearest_file, shown


def name_rules(document: Document, folder: FilePath | None = None) -> None:
    """Write keys ``trading.price`` of a section ``rules`` as sections, and complete paths.

    Paths lead from the folder of the YAML file; without a folder they are the user's own.
    """
    for path in list(_sections(document.data, ())):
        _spread(document, path)
    if folder is None:
        return
    for path in python_files(document.data):
        text = value_at(document.data, path)
        if not isinstance(text, str):
            continue
        found = PYTHON_FUNCTION.fullmatch(text) if path[-1] != MODEL else None
        if path[-1] != MODEL and found is None:
            continue  # a word for a built-in rule
        name = text if found is None else found["file"]
        file, why = python_file_in(
            folder, name, dotted(tuple(one for one in path if one != "base"))
        )
        _put(document.data, path, None if why else file + text[len(name) :])
        if why:
            document.refuse(path, why)


def python_file_in(folder: FilePath, name: str, key: str) -> tuple[str, str]:
    """Return the path of a Python file that a YAML file in a folder names, or why it may not.

    The path is relative to the current folder if it is below it: so a file of results names no
    folder of its author.
    """
    path = folder / name
    # `Path.resolve` would raise an error for links that lead to each other.
    inside = FilePath(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    if not inside and not (FilePath(name).is_absolute() and was_carried_out(path)):
        return "", (
            f"{shown(name)}: is not in the folder of this file, and was never carried out on this "
            f"machine; if you trust it, name it yourself: {override(f'{key}=...')}"
        )
    if not path.is_file():
        near = nearest_file(path, ".py")
        also = f"; did you mean '{near}'?" if near else ""
        return "", f"{shown(name)}: no such file{also}"
    whole = path.absolute()
    here = FilePath.cwd()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole), ""


def _sections(data: Any, path: Path) -> Iterator[Path]:
    """Yield the paths of all sections ``rules``, at the top and in the base of a sweep."""
    if isinstance(data, dict):
        for name, inside in data.items():
            if name == SECTION and isinstance(inside, dict):
                yield (*path, name)
            elif name == "base":
                yield from _sections(inside, (*path, name))


def _put(data: Any, path: Path, value: Any) -> None:
    value_at(data, path[:-1])[path[-1]] = value


def _spread(document: Document, path: Path) -> None:
    """Replace dotted keys of a section by sections."""
    section = value_at(document.data, path)
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
