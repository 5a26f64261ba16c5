"""Which workloads are installed?

A workload is found by its entry point in the group ``societies.workloads``. Only pyproject.toml
lists the workloads of this package; a checkout that is not installed reads that file. A workload is
imported when it is first requested, and reading a configuration opens no device.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies.config import load
from societies.config.document import LARGEST_FILE
from societies.config.model import WorkloadConfig
from societies.config.problems import described, suggestion
from societies.errors import ConfigError
from societies.inputs import read_text
from societies.workload.declare.protocol import Workload

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "societies.workloads"


def workload_names() -> list[str]:
    """Return the names of all workloads without importing any."""
    return sorted(_GIVEN.keys() | _entries().keys())


def installed(one: Workload[Any, Any]) -> bool:
    """Return whether a workload is that of an entry point, which other processes find, too."""
    return one.name in _entries() and one.name not in _GIVEN and workload(one.name) is one


def foreign_packages() -> set[str]:
    """Return the other installed packages that have workloads."""
    packages = {entry.module.partition(".")[0] for entry in _entries().values()}
    packages |= {type(one).__module__.partition(".")[0] for _, one in _GIVEN.values()}
    return packages - {__package__.partition(".")[0]}


def workload(name: str) -> Workload[Any, Any]:
    """Return the workload of this name.

    Raises ConfigError if there is no workload of this name, or it cannot be imported.
    """
    if name in _GIVEN:
        return _GIVEN[name][1]
    entry = _own().get(name)
    if entry is not None:
        return _loaded(entry)  # an error of our own is shown as it is
    entries = _entries()
    if name not in entries:
        near = suggestion(name, entries)
        raise ConfigError(
            f"unknown workload {described(name)}{near} (known: {', '.join(sorted(entries))})"
        )
    entry = entries[name]
    try:
        return _loaded(entry)
    except Exception as error:
        raise ConfigError(f"workload '{name}' ({entry.value}) cannot be loaded: {error}") from error


_GIVEN: dict[str, tuple[Path, Workload[Any, Any]]] = {}
"""Workloads of files that configurations name by ``model``, with the files."""


def workload_of_file(name: str) -> Workload[Any, Any]:
    """Return the workload in a file of Python, ``WORKLOAD``; it is known by its name from then on.

    Raises SocietiesError if the file is missing, does not import or has no workload; or if there is
    another workload of this name.
    """
    from societies.translate.files import load_module

    found, path = getattr(load_module(Path(name)), "WORKLOAD", None), Path(name).resolve()
    if isinstance(found, type) and issubclass(found, Workload):
        raise ConfigError(f"{name}: WORKLOAD is a class; write WORKLOAD = {found.__name__}()")
    if not isinstance(found, Workload):
        raise ConfigError(f"{name}: has no line WORKLOAD = ..., which makes the workload")
    for one in ("name", "summary", "config"):
        if not hasattr(found, one):
            raise ConfigError(f"{name}: the class {type(found).__name__} has no line {one} = ...")
    found.require_class()
    entry = _entries().get(found.name)
    if entry is not None and not _is_in(entry, path):
        package = entry.value.partition(":")[0]
        raise ConfigError(
            f"two models of one name: {name} has the workload '{found.name}', and so has the "
            f"installed {package}; give yours another name"
        )
    before = _GIVEN.get(found.name)
    if before is not None and before[0] != path:
        raise ConfigError(
            f"two models of one name: {name} and {before[0]} both have the workload "
            f"'{found.name}'; give one of them another name"
        )
    _GIVEN[found.name] = path, found
    return found


def _is_in(entry: EntryPoint, path: Path) -> bool:
    """Return whether an installed workload is the one in a file."""
    with suppress(Exception):  # also of a module that is not found, or in no file
        spec: Any = find_spec(entry.module)
        return Path(spec.origin).resolve() == path
    return False


def named_workload(path: Path) -> str | None:
    """Return the workload that a file names, even if the file is not valid otherwise."""
    try:
        text = read_text(path, LARGEST_FILE)
    except ConfigError:
        return None
    return named_in(text)


def named_in(text: str) -> str | None:
    """Return the workload that a configuration's text names, if there is such a workload."""
    found = re.search(r"^[\"']?workload[\"']?\s*:\s*[\"']?([\w-]+)", text, re.MULTILINE)
    return found[1] if found and _is_known(found[1]) else None


def _is_known(name: str) -> bool:
    return name in _GIVEN or name in _own() or name in _entries()


def workloads() -> dict[str, Workload[Any, Any]]:
    """Return all workloads by name.

    Raises ConfigError if one of them cannot be imported.
    """
    return {name: workload(name) for name in workload_names()}


class _Models(Mapping[str, type[WorkloadConfig]]):
    """Configuration classes by workload; each workload is imported when it is requested."""

    def __getitem__(self, name: str) -> type[WorkloadConfig]:
        return workload(name).config

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _is_known(name)

    def __iter__(self) -> Iterator[str]:
        return iter(workload_names())

    def __len__(self) -> int:
        return len(workload_names())

    def of_file(self, name: str) -> str:
        """Return the name of the workload in a file, which is known from then on."""
        return workload_of_file(name).name


MODELS = _Models()


def load_config(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> WorkloadConfig:
    """Read and check a YAML file.

    Parameters
    ----------
    path
        The file, or the name of a shipped configuration: ``economy/quickstart``.
    overrides
        ``"a.b=c"`` each, obeying the rules of the file; the value is YAML, and a number in the
        key selects an entry of a list (``groups.0.count=3``).

    Raises
    ------
    ConfigError
        With one line ``file.yaml:12:5  key.path: message`` per problem, all at once (a file that
        is not YAML has only the first).
    """
    return load.load_config(path, overrides, MODELS)


def config_from_dict(mapping: Mapping[str, Any], overrides: Sequence[str] = ()) -> WorkloadConfig:
    """Check a configuration that is given as plain Python data; see `load_config`.

    Raises
    ------
    ConfigError
        With one line ``key.path: message`` per problem, all at once.
    """
    return load.config_from_dict(mapping, overrides, MODELS)


def json_schema(workload: str) -> dict[str, Any]:
    """Return the JSON schema (2020-12) of a workload's configuration, for editors.

    Raises
    ------
    ConfigError
        If there is no such workload.
    """
    return load.json_schema(MODELS[workload])


def _entries() -> dict[str, EntryPoint]:
    return _installed(_places()) | _of_checkout()


def _own() -> Mapping[str, EntryPoint]:
    """Return the entry points of this package alone, which are read sooner than those of all."""
    return _of_checkout() or _of_distribution()


@cache
def _of_distribution() -> dict[str, EntryPoint]:
    from importlib.metadata import PackageNotFoundError, distribution

    with suppress(PackageNotFoundError):
        found = distribution(__package__.partition(".")[0]).entry_points
        return {entry.name: entry for entry in found.select(group=GROUP)}
    return {}


def _places() -> tuple[tuple[str, int], ...]:
    """Return the folders of packages, each with the time of the last installation into it."""
    found = []
    for path in map(os.path.abspath, sys.path):
        with suppress(OSError):
            found.append((path, os.stat(path).st_mtime_ns))
    return tuple(found)


@lru_cache(maxsize=1)
def _installed(_places: tuple[tuple[str, int], ...]) -> dict[str, EntryPoint]:
    """Return the entry points of all packages in these folders; cached, as reading them is slow."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


@cache
def _of_checkout() -> dict[str, EntryPoint]:
    """Return the entry points in pyproject.toml if this package is run from a checkout."""
    project = Path(__file__).resolve().parents[3] / "pyproject.toml"
    if not project.is_file():
        return {}
    import tomllib
    from importlib.metadata import EntryPoint

    tables = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    if tables.get("name") != "societies":
        return {}
    found = tables["entry-points"][GROUP]
    return {name: EntryPoint(name, value, GROUP) for name, value in found.items()}


def _loaded(entry: EntryPoint) -> Workload[Any, Any]:
    loaded = entry.load()
    if not isinstance(loaded, Workload):
        raise TypeError(f"{entry.value} is not a societies.workload.Workload")
    loaded.require_class()
    return loaded
