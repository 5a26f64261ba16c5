"""How does a program run a configuration: the three calls that every workload answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies.config import WorkloadConfig, load_config
from societies.config.load import find_config
from societies.config.problems import dotted
from societies.errors import ConfigError, SocietiesWarning
from societies.progress import progress_bar
from societies.workloads import workload

if TYPE_CHECKING:
    from societies.device import Device

_TABLES = (".csv", ".tsv", ".txt", ".xls", ".xlsx", ".ods", ".parquet", ".json")
_NO_RESULTS = (".yaml", ".yml", ".png", ".svg", ".pdf", ".py", ".cl")
"""Endings that promise another format than HDF5."""


def run(
    config: WorkloadConfig | str | PathLike[str],
    *,
    device: str | Device = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """Run a configuration and write its file while running.

    Parameters
    ----------
    config : WorkloadConfig or path
        From `load_config` or `config_from_dict`; it names its workload. Or a YAML file, or the
        name of a shipped configuration: ``economy/quickstart``.
    device : str or Device
        ``auto`` (a GPU if there is one, else a CPU), ``cpu``, ``gpu``, ``reference`` (plain
        Python), ``PLATFORM:INDEX``, part of a name, or what `choose_device` returned.
    out : path, optional
        The HDF5 file; default: in the current folder, with the name of the configuration's file
        or, if there is none, of its workload.
    resume : bool
        Continue the file from its last checkpoint, on any device.
    overwrite : bool
        Replace an existing file, which is otherwise never touched.
    progress : callable, optional
        Called with (days done, days). Default: a bar below the cell in a notebook, else nothing.

    Returns
    -------
    RunReport
        Path, device, wall seconds, agent-days per second, the last day's means, the state's hash.

    Raises
    ------
    ConfigError, DeviceError, OutputError
        One or two lines that say what is wrong, where, and what to do.
    Interrupted
        After Ctrl-C, when everything done so far is in the file, its ``path``.

    Warns
    -----
    SocietiesWarning
        If the configuration is valid but says what such a run does not reach.
    """
    config, out = _configuration("run", config, out)
    _require_name_of_result(out)
    for text in config_warnings(config):
        warnings.warn(text, SocietiesWarning, stacklevel=2)
    with ExitStack() as stack:
        if progress is None:
            progress = stack.enter_context(progress_bar(config, device, notebook=True))
        return workload(config.workload).run(
            config, device=device, out=out, resume=resume, overwrite=overwrite, progress=progress
        )


def plan(
    config: WorkloadConfig | str | PathLike[str],
    *,
    device: str | Device = "auto",
    out: str | Path | None = None,
) -> Any:
    """Say what `run` would do: shapes, memory, launches per day, output path. Writes nothing.

    Returns
    -------
    Plan
        With ``rows``, a list of (label, value), and ``warnings``, a sentence for each thing that
        is probably not meant or will probably fail.
    """
    config, out = _configuration("plan", config, out)
    _require_name_of_result(out)
    made = workload(config.workload).plan(config, device=device, out=out)
    return replace(made, warnings=(*config_warnings(config), *made.warnings))


def verify(
    config: WorkloadConfig | str | PathLike[str],
    *,
    device: str | Device = "auto",
    days: int | None = None,
    start: str | Path | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Any:
    """Run device and reference side by side and compare every array after every phase.

    Parameters
    ----------
    days : int, optional
        Compare the first so many days. Default: a short run as a whole, of a longer one the first
        days and some at several times, to which the device runs alone.
    start : path, optional
        A result of this configuration (``days`` and ``record`` may differ): begin with its newest
        checkpoint instead of day 0, and compare so many days, or all, from there.
    progress : callable, optional
        Called before every phase with days compared, days to be compared, and what is being done.

    Returns
    -------
    VerifyReport
        With ``identical`` and, if they differ, the first ``difference``: day, phase, array,
        index and both values; else ``coverage``: which phases did anything on these days, how often
        what the workload counts has happened, and what has not (``coverage.missing``).
        ``str(report)`` says it in a few lines.
    """
    more = {} if start is None else {"start": start}
    config, _ = _configuration("verify", config)
    chosen = workload(config.workload)
    return chosen.verify(config, device=device, days=days, progress=progress, **more)


def config_warnings(config: WorkloadConfig) -> tuple[str, ...]:
    """Return what is valid in a configuration but probably not meant, a sentence each."""
    return tuple(f"{dotted(found.path)}: {found.message}" for found in config.warnings())


def _configuration(
    called: str, config: object, out: str | Path | None = None
) -> tuple[WorkloadConfig, str | Path | None]:
    """Return the configuration that was given or named, and the name of its result.

    Raises
    ------
    ConfigError
        If it is neither a configuration nor a name, or if the file named has mistakes.
    """
    if isinstance(config, WorkloadConfig):
        return config, out
    if isinstance(config, str | PathLike):
        path = find_config(config)
        return load_config(path), out if out is not None else Path(f"{path.stem}.h5")
    hint = "; config_from_dict makes one of a dictionary" if isinstance(config, Mapping) else ""
    raise ConfigError(
        f"{called}: expected a configuration, a YAML file or the name of a shipped configuration, "
        f"got {type(config).__name__}{hint}"
    )


def _require_name_of_result(out: str | Path | None) -> None:
    """Raise ConfigError for a name that promises another format than the one that is written."""
    path = Path(out) if out is not None else Path()
    ending = path.suffix.lower()
    if ending not in (*_TABLES, *_NO_RESULTS):
        return
    file, how = path.with_suffix(".h5"), ""
    if ending in _TABLES:
        how = (
            f'\nfor a table, then in Python: societies.open_results("{file}")["NAME"].to_series()'
            f'.to_csv("{path.with_suffix(".csv")}"), where NAME is a variable of the file'
        )
    raise ConfigError(f"{path}: a run writes an HDF5 file; give it a name like {file}{how}")
