"""Which workloads are there?

A workload is found by its entry point in the group ``societies.workloads``. Those of this package
stand in pyproject.toml alone; a checkout that is not installed reads that file. Nothing is imported
before it is asked for: reading a configuration touches no device.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from societies.errors import ConfigError
from societies.workload.protocol import Workload

GROUP = "societies.workloads"


def workload_names() -> list[str]:
    """Return the names of all workloads without importing any."""
    return sorted(_entries())


def workload(name: str) -> Workload[Any, Any]:
    """Return the workload of this name.

    Raises
    ------
    ConfigError
        If there is none, or if it cannot be imported.
    """
    entries = _entries()
    if name not in entries:
        raise ConfigError(f"unknown workload '{name}' (known: {', '.join(sorted(entries))})")
    entry = entries[name]
    if entry.module.partition(".")[0] == __package__.partition(".")[0]:
        return _loaded(entry)  # an error of our own is shown as it is
    try:
        return _loaded(entry)
    except Exception as error:
        raise ConfigError(f"workload '{name}' ({entry.value}) cannot be loaded: {error}") from error


def workloads() -> dict[str, Workload[Any, Any]]:
    """Return all workloads by name.

    Raises
    ------
    ConfigError
        If one of them cannot be imported.
    """
    return {name: workload(name) for name in workload_names()}


def _entries() -> dict[str, EntryPoint]:
    installed = {entry.name: entry for entry in entry_points(group=GROUP)}
    return installed | _of_checkout()


@cache
def _of_checkout() -> dict[str, EntryPoint]:
    """Return the entry points in pyproject.toml, if this runs from a checkout."""
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if not project.is_file():
        return {}
    tables = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    if tables.get("name") != "societies":
        return {}
    found = tables["entry-points"][GROUP]
    return {name: EntryPoint(name, value, GROUP) for name, value in found.items()}


def _loaded(entry: EntryPoint) -> Workload[Any, Any]:
    loaded = entry.load()
    if not isinstance(loaded, Workload):
        raise TypeError(f"{entry.value} is no societies.workload.Workload")
    return loaded
