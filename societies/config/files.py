"""Which files does a configuration name, and where are they for a reader in another folder?

The paths of a configuration in memory lead from the current folder. A text that is saved for later,
or printed, is read from anywhere, so in it paths are absolute. A file of results has them as they
are, and in `FOLDER` from where they lead: seen from its own folder, so that a folder of a project
may be moved as a whole, and a file names no folder of its author without need.

A YAML file may name a file of Python that is not in its folder if this machine has carried that
file out before, for then its user has named it. There is an empty file for each in the cache.
"""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any

from societies.config.problems import Path, dotted
from societies.inputs import PYTHON_FUNCTION
from societies.kerneltext.cache import cache_directory

FOLDER, FILES = "folder", "files"
"""Attributes of a file of results: from where the paths of its configuration lead, and the keys of
data that it names, by spaces. Rules and models are known by the names of their keys."""

SECTION, MODEL = "rules", "model"
"""Keys that name files of Python: functions that replace rules, and the file of a whole model."""

_PYTHON = "python"
"""Folder of the cache with the names of files that were carried out."""


def python_files(data: Any) -> list[Path]:
    """Return the paths of all texts of rules, and of the keys ``model``."""
    return [*(path for path, _ in texts_of_rules(data)), *models(data)]


def texts_of_rules(data: Any, path: Path = (), inside: bool = False) -> Iterator[tuple[Path, str]]:
    """Yield path and value of every text in or below a key ``rules`` or ``rules.NAME``."""
    if isinstance(data, dict | list):
        pairs = data.items() if isinstance(data, dict) else enumerate(data)
        for name, value in pairs:
            rules = str(name) == SECTION or str(name).startswith(f"{SECTION}.")
            yield from texts_of_rules(value, (*path, name), inside or rules)
    elif isinstance(data, str) and inside:
        yield path, data


def models(data: Any) -> list[Path]:
    """Return the paths of the keys ``model``, at the top and in the base of a sweep."""
    if not isinstance(data, dict):
        return []
    found: list[Path] = [(MODEL,)] if MODEL in data else []
    base = data.get("base")
    return found + ([("base", MODEL)] if isinstance(base, dict) and MODEL in base else [])


def value_at(data: Any, path: Path) -> Any:
    """Return the value at a path of plain data."""
    for part in path:
        data = data[part]
    return data


def file_attributes(out: FilePath, data: Any, keys: Iterable[Path]) -> dict[str, str]:
    """Return the attributes of a file of results; {} if its configuration names no file.

    Parameters
    ----------
    out : the file of results
    data : the configuration, or the definition of a sweep
    keys : those of data that it names
    """
    known = list(keys)
    if not known and not python_files(data):
        return {}
    return {FOLDER: seen_from(out, os.curdir), FILES: " ".join(map(dotted, known))}


def seen_from(out: FilePath, folder: str | os.PathLike[str]) -> str:
    """Return the path of a folder from that of a file of results."""
    try:
        return os.path.relpath(folder, out.parent)
    except ValueError:  # another drive of Windows
        return os.path.abspath(folder)


def anywhere(data: Any, keys: Iterable[Path], folder: str | os.PathLike[str] = "") -> Any:
    """Return plain data whose paths are absolute.

    Parameters
    ----------
    data : a configuration or a sweep
    keys : those that name files of data; rules and models are known by the names of their keys
    folder : from where the paths lead
    """
    found = copy.deepcopy(data)
    for path in [*python_files(found), *keys]:
        inside = value_at(found, path[:-1])
        inside[path[-1]] = _absolute(inside[path[-1]], folder)
    return found


def as_saved(data: Any, attributes: Mapping[str, Any], path: FilePath) -> Any:
    """Return the configuration or the sweep of a file of results, with absolute paths."""
    if FOLDER not in attributes:
        return data
    keys = [_path(data, name) for name in str(attributes.get(FILES, "")).split()]
    folder = path.parent / str(attributes[FOLDER])
    return anywhere(data, [one for one in keys if one], folder)


def _path(data: Any, name: str) -> Path:
    """Return the path of a dotted key, () if the data have no such key: the file may be foreign."""
    path: Path = ()
    for part in name.split("."):
        one: str | int = int(part) if isinstance(data, list) and part.isdecimal() else part
        try:
            data = data[one]
        except (KeyError, IndexError, TypeError):
            return ()
        path = (*path, one)
    return path


def _absolute(text: Any, folder: str | os.PathLike[str]) -> Any:
    """Return a path as an absolute one, with what follows it; as it is if there is no such file.

    What follows is the function of a rule or the dataset of a matrix, after a colon, or the words
    that a program is handed.
    """
    if isinstance(text, list):
        return [_absolute(one, folder) for one in text]
    if not isinstance(text, str) or not text:
        return text
    for name in (text, text.rpartition(":")[0], text.partition(" ")[0]):
        whole = os.path.abspath(os.path.join(folder, name))
        if name and os.path.isfile(whole):
            return whole + text[len(name) :]
    return text


def note_carried_out(path: FilePath) -> None:
    """Record that a file of Python was carried out on this machine."""
    with suppress(OSError):  # without a folder for a cache, files are named for each command
        place = _place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()


def was_carried_out(path: FilePath) -> bool:
    """Return whether a file of Python was carried out on this machine before."""
    return _place(path).exists()


def never_carried_out(data: Any) -> str:
    """Return a file of Python that plain data name and this machine never carried out; "": none."""
    texts = [str(value_at(data, path)) for path in python_files(data)]
    known = [found["file"] if (found := PYTHON_FUNCTION.fullmatch(one)) else one for one in texts]
    files = [one for one in known if one.endswith(".py")]
    return next((one for one in files if not was_carried_out(FilePath(one))), "")


def _place(path: FilePath) -> FilePath:
    return cache_directory() / _PYTHON / hashlib.sha256(os.path.realpath(path).encode()).hexdigest()
