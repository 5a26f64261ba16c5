"""Which workloads are there, and what does one consist of?

A workload is found by its entry point in the group ``societies.workloads``; those of this package
are found as well in a plain checkout, where no entry point is installed. Nothing is imported
before it is asked for: reading a configuration touches no device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from societies.errors import ConfigError

if TYPE_CHECKING:
    from societies.config.model import WorkloadConfig
    from societies.device.source import Source

GROUP = "societies.workloads"
_BUILT_IN = {"economy": "societies.economy:WORKLOAD"}


@dataclass(frozen=True)
class Workload:
    """What `societies run FILE` needs to know of a workload.

    Attributes
    ----------
    name : the value of the key ``workload``
    summary : one line for lists
    config_model : the pydantic model of its configuration
    run, plan, verify : called with the configuration, as `societies.run`, `societies.plan` and
        `societies.verify` are
    capture : called with the configuration and ``phase``, ``day``, ``market_round``, ``market``,
        ``device``, ``out`` and ``overwrite``, writes a folder (`societies.capture`) and returns
        its path; None if the workload cannot be captured
    trace : called with the configuration and ``day``, ``agent``, ``society``, ``start``, ``phase``,
        ``device`` and ``progress``, returns what an agent did that day, with ``text(full=...)`` and
        ``data()``; None if the workload cannot tell
    source : called with the configuration and further macros, returns the text of its kernels
        (`societies.device.source.Source`) for `societies localmem --config`, or None
    """

    name: str
    summary: str
    config_model: type[WorkloadConfig]
    run: Callable[..., Any]
    plan: Callable[..., Any]
    verify: Callable[..., Any]
    capture: Callable[..., Any] | None = None
    source: Callable[..., Source] | None = None
    trace: Callable[..., Any] | None = None


def workload_names() -> list[str]:
    """Return the names of all workloads without importing any."""
    return sorted(_entries())


def workload(name: str) -> Workload:
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
    if name in _BUILT_IN:
        return _loaded(entry)
    try:
        return _loaded(entry)
    except Exception as error:
        raise ConfigError(f"workload '{name}' ({entry.value}) cannot be loaded: {error}") from error


def workloads() -> dict[str, Workload]:
    """Return all workloads by name.

    Raises
    ------
    ConfigError
        If one of them cannot be imported.
    """
    return {name: workload(name) for name in workload_names()}


def _entries() -> dict[str, EntryPoint]:
    installed = {entry.name: entry for entry in entry_points(group=GROUP)}
    own = {name: EntryPoint(name, value, GROUP) for name, value in _BUILT_IN.items()}
    return installed | own


def _loaded(entry: EntryPoint) -> Workload:
    loaded = entry.load()
    if not isinstance(loaded, Workload):
        raise TypeError(f"{entry.value} is no societies.workloads.Workload")
    return loaded
