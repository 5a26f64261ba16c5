"""What does a caller of `run`, `plan`, `verify`, `steps` or `bench` ask for?

A configuration may be given as such, by the name of a file, or as a `Setup`; ticks also by the name
of the clock (``days``).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from societies.config import WorkloadConfig
from societies.config.load import find_config
from societies.config.problems import dotted
from societies.errors import ConfigError, option
from societies.workload.declare.protocol import Setup
from societies.workload.running.branch import last_tick, with_values
from societies.workload.running.fans import with_fan
from societies.workload.running.points import with_table
from societies.workload.running.registry import load_config, workload

Config = WorkloadConfig | Setup[Any, Any] | str | PathLike[str]

_TABLES = (".csv", ".tsv", ".txt", ".xls", ".xlsx", ".ods", ".parquet", ".json")
_NO_RESULTS = (".yaml", ".yml", ".png", ".svg", ".pdf", ".py", ".cl")
"""File suffixes of formats other than HDF5."""


def setup_of(config: Config, table: Any = None, *, called: str) -> Setup[Any, Any]:
    """Return the setup of a configuration, with the parameters of a table if one is given.

    Raises ConfigError if it is neither a configuration nor a name, or if the named file has
    mistakes; ``called`` is the function that the message names.
    """
    chosen = None
    if isinstance(config, Setup):
        chosen, config = config.workload, config.config
    elif isinstance(config, str | PathLike):
        config = load_config(find_config(config))
    if not isinstance(config, WorkloadConfig):
        hint = "; config_from_dict makes one of a dictionary" if isinstance(config, Mapping) else ""
        raise ConfigError(
            f"{called}: expected a configuration, a YAML file or the name of a shipped "
            f"configuration, got {type(config).__name__}{hint}"
        )
    config = config if table is None else with_table(config, table)
    return Setup(chosen or workload(config.workload), config)


def result_path(config: Config, setup: Setup[Any, Any], out: str | Path | None) -> Path:
    """Return the path of the result; by default named like the file or workload that was given.

    Raises ConfigError if the suffix of the name belongs to a format other than HDF5.
    """
    if out is None and isinstance(config, str | PathLike):
        out = f"{find_config(config).stem}.h5"
    path = Path(f"{setup.workload.name}.h5" if out is None else out)
    ending = path.suffix.lower()
    if ending not in (*_TABLES, *_NO_RESULTS):
        return path
    file, how = path.with_suffix(".h5"), ""
    if ending in _TABLES:
        how = f"\nfor tables, then: societies export --to csv {shlex.quote(str(file))}"
    raise ConfigError(f"{path}: a run writes an HDF5 file; give it a name like {file}{how}")


def ticks_of(own: str, ticks: int | None, words: Mapping[str, int | None]) -> int | None:
    """Return the number of ticks, given as ``ticks`` or by the name of the clock."""
    for word, number in words.items():
        if word != own:
            raise TypeError(f"unexpected keyword argument '{word}'; ticks are {own} here")
        if ticks is not None and number is not None:
            raise TypeError(f"ticks and {own} say the same; give one of them")
        ticks = ticks if number is None else number
    return ticks


def config_warnings(config: WorkloadConfig) -> tuple[str, ...]:
    """Return a sentence for each setting that is valid but probably a mistake."""
    return tuple(f"{dotted(found.path)}: {found.message}" for found in config.warnings())


@dataclass(frozen=True)
class Request:
    """What a caller asks `run` and `plan` for.

    Attributes
    ----------
    setup : Setup, of a branch with its intervention
    path : path of the result
    batch : largest number of copies on the device at a time
    start, tick : file from which the run branches off, and the tick after which it does
    """

    setup: Setup[Any, Any]
    path: Path
    batch: int | None
    start: Path | None
    tick: int | None


def request(
    called: str,
    config: Config,
    clock: Mapping[str, int | None],
    *,
    out: str | Path | None,
    table: Any,
    batch: int | None,
    start: str | Path | None,
    tick: int | None,
    values: Mapping[str, Any] | None,
    fan: int | None = None,
) -> Request:
    """Check the arguments that `run` and `plan` have in common."""
    setup = setup_of(config, table, called=called)
    tick = ticks_of(setup.workload.clock, tick, clock)
    if start is None and (tick is not None or values or fan is not None):
        said = "values" if values else "tick" if tick is not None else "fan"
        raise ConfigError(
            f"run: {option(said)} is of a run that branches off another: name that with "
            f"{option('start')}"
        )
    parent = None if start is None else Path(start)
    if values or fan is not None:
        assert parent is not None  # as was checked above
        after, changed = last_tick(parent) if tick is None else tick, setup.config
        if values:
            changed = with_values(changed, {after: values})
        if fan is not None:
            changed = with_fan(changed, after, fan)
        setup = Setup(setup.workload, changed)
    path = result_path(config, setup, out)
    if batch is not None and batch < 1:
        raise ConfigError(f"{option('batch', batch)}: at least 1 is needed")
    return Request(setup, path, batch, parent, tick)
