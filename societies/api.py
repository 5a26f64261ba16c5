"""Which functions does a program call to run, plan, verify or time a configuration?"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies.config import WorkloadConfig
from societies.config.load import find_config
from societies.config.problems import dotted
from societies.errors import ConfigError, SocietiesWarning, option
from societies.progress import progress_bar
from societies.workload.declare.registry import load_config, workload
from societies.workload.running.programs import allowed, allowing

if TYPE_CHECKING:
    from societies.opencl import Device
    from societies.workload.checking.bench import Timing
    from societies.workload.checking.coverage import VerifyReport
    from societies.workload.running.plan import Plan
    from societies.workload.running.report import RunReport
    from societies.workload.running.run import Tick

_TABLES = (".csv", ".tsv", ".txt", ".xls", ".xlsx", ".ods", ".parquet", ".json")
_NO_RESULTS = (".yaml", ".yml", ".png", ".svg", ".pdf", ".py", ".cl")
"""File suffixes of formats other than HDF5."""


def run(
    config: WorkloadConfig | str | PathLike[str],
    *,
    device: str | Device = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    table: Any = None,
    batch: int | None = None,
    start: str | Path | None = None,
    tick: int | None = None,
    values: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
    profile: bool = False,
    allow_programs: bool = False,
    **clock: int | None,
) -> RunReport:
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
        Replace an existing file, which otherwise is an error.
    table : xarray.Dataset, dict of arrays or path of a CSV file, optional
        Parameters that differ from society to society: a variable, (society,) or (society,
        resource), named like its key (``trading.min_surplus``), with a number for each society. In
        a dataset the names of dimensions identify the axes, and the coordinate ``society``, if
        present, the society of each row. Without ``replicates`` the number of societies is the
        number of rows. Shapes cannot differ.
    batch : int, optional
        Maximum number of societies in the device's memory at a time. Default: as many as fit.
        Results do not depend on it.
    start : path, optional
        A result of this configuration (ticks and ``record`` may differ): the run is a branch of it,
        a new file with the same history.
    tick : int, optional
        Tick after which the branch begins; the name of the clock can be used too (``day=300``).
        Default: the last tick of ``start``.
    values : mapping of key to value, optional
        Values that change at the end of that tick, as by an intervention of the configuration.
    progress : callable, optional
        Called with (ticks done, ticks). Default: a bar below the cell in a notebook, else nothing.
    profile : bool
        Measure every phase: the report's ``profile`` has launches, seconds and bytes of each. This
        makes a run a little slower.
    allow_programs : bool
        Allow the programs that the configuration names, such as chess engines. Otherwise only
        programs on the user's list are allowed (docs/games.md).

    Returns
    -------
    RunReport
        Path, device, wall seconds, work per second (in the economy agent-days), means of the last
        tick, the state's hash.

    Raises
    ------
    ConfigError, DeviceError, OutputError
        The message says in one or two lines what is wrong, where, and what to do.
    Interrupted
        After Ctrl-C, once all computed ticks are in the file ``path``. After SIGTERM or SIGHUP
        the process ends, also once all computed ticks are in the file.

    Warns
    -----
    SocietiesWarning
        If the configuration is valid but names ticks after the end of the run.
    """
    config, out = _configuration("run", config, out, table)
    tick = _ticks(workload(config.workload).clock, tick, clock)
    config = _branch(config, start, tick, values)
    if resume and overwrite:
        raise ConfigError(
            f"run: {option('resume', True)} continues the file and {option('overwrite', True)} "
            "replaces it: choose one"
        )
    _require_name_of_result(out)
    for text in config_warnings(config):
        warnings.warn(text, SocietiesWarning, stacklevel=2)
    from societies.workload.running import run as core

    with ExitStack() as stack:
        if progress is None:
            progress = stack.enter_context(progress_bar(config, device, notebook=True))
        stack.enter_context(allowed(allow_programs))
        return core.run(
            workload(config.workload),
            config,
            device=device,
            out=out,
            resume=resume,
            overwrite=overwrite,
            batch=_batch(batch),
            parent=start,
            tick=tick,
            progress=progress,
            profile=profile,
        )


def plan(
    config: WorkloadConfig | str | PathLike[str],
    *,
    device: str | Device = "auto",
    out: str | Path | None = None,
    table: Any = None,
    batch: int | None = None,
    start: str | Path | None = None,
    tick: int | None = None,
    values: Mapping[str, Any] | None = None,
    **clock: int | None,
) -> Plan:
    """Return what `run` would do: shapes, memory, launches per tick, output path. Writes nothing.

    With ``start`` the plan has the first tick of the branch too, and errors are those of `run`.

    Returns
    -------
    Plan
        With ``rows``, a list of (label, value), and ``warnings``, a sentence for each setting that
        is probably a mistake or will probably fail.
    """
    config, out = _configuration("plan", config, out, table)
    tick = _ticks(workload(config.workload).clock, tick, clock)
    config = _branch(config, start, tick, values)
    _require_name_of_result(out)
    from societies.workload.running import plan as core

    made = core.plan(
        workload(config.workload),
        config,
        device=device,
        out=out,
        batch=_batch(batch),
        parent=start,
        tick=tick,
    )
    return replace(made, warnings=(*config_warnings(config), *made.warnings))


def verify(
    config: WorkloadConfig | str | PathLike[str],
    *,
    device: str | Device = "auto",
    ticks: int | None = None,
    start: str | Path | None = None,
    table: Any = None,
    progress: Callable[[int, int, str], None] | None = None,
    **clock: int | None,
) -> VerifyReport:
    """Run device and reference step by step and compare every array after every phase.

    Parameters
    ----------
    ticks : int, optional
        Number of first ticks to compare; the name of the clock can be used too (``days=3``).
        Default: all ticks of a short run; for a longer run the first ticks and some later ones,
        with the device running alone in between.
    start : path, optional
        A result of this configuration (ticks and ``record`` may differ): begin with its newest
        checkpoint instead of tick 0, and compare ``ticks`` ticks after it, or all.
    table : xarray.Dataset, dict of arrays or path of a CSV file, optional
        As for `run`.
    progress : callable, optional
        Called before every step with (ticks compared, ticks to compare, text on the step).

    Returns
    -------
    VerifyReport
        With ``identical`` and, if False, the first ``difference``: tick, phase, array, index and
        both values; else ``coverage``: the phases that changed anything at these ticks, the counts
        that the workload defines, and those that stayed 0 (``coverage.missing``).
        ``str(report)`` is a summary of a few lines.
    """
    config, _ = _configuration("verify", config, table=table)
    from societies.workload.checking import verify as core

    chosen = workload(config.workload)
    ticks = _ticks(chosen.clock_plural, ticks, clock)
    return core.verify(chosen, config, device=device, ticks=ticks, start=start, progress=progress)


def steps(
    config: WorkloadConfig | str | PathLike[str],
    *,
    device: str | Device = "auto",
    table: Any = None,
    allow_programs: bool = False,
) -> Iterator[Tick]:
    """Run a configuration tick by tick and yield its state; nothing is written.

    Reading the state has no effect: the state at every tick has the same bits as in `run`.

    Parameters
    ----------
    config, device, table, allow_programs
        As for `run`.

    Yields
    ------
    Tick
        ``number``, ``state`` (arrays by name, the copy first), ``dataset`` (the same with named
        dimensions and units) and ``sha256``.
    """
    config, _ = _configuration("steps", config, table=table)
    from societies.workload.running import run as core

    return allowing(allow_programs, core.steps(workload(config.workload), config, device=device))


def bench(
    config: WorkloadConfig | str | PathLike[str],
    *,
    device: str | Device = "auto",
    copies: Sequence[int] = (),
    ticks: int | None = None,
    repeats: int = 3,
    allow_programs: bool = False,
    **clock: int | None,
) -> Iterator[Timing]:
    """Time a configuration with different numbers of copies; nothing is written.

    Parameters
    ----------
    copies : sequence of int
        Numbers of copies (societies, plates); default: 1, 4, 16 and so on, as long as they fit
        the device and increase the work per second; with a table, the number of its rows; if
        copies are frames or positions, their number in the configuration.
    ticks : int, optional
        Number of ticks per measurement; the name of the clock can be used too. Default: that of
        the configuration, at most 64.
    repeats : int
        Number of measurements for each number of copies.
    allow_programs : bool
        As for `run`.

    Yields
    ------
    Timing
        One for each measurement, as soon as it is complete.
    """
    config, _ = _configuration("bench", config)
    from societies.workload.checking import bench as core

    chosen = workload(config.workload)
    ticks = _ticks(chosen.clock_plural, ticks, clock)
    timings = core.bench(chosen, config, device=device, copies=copies, ticks=ticks, repeats=repeats)
    return allowing(allow_programs, timings)


def _ticks(own: str, ticks: int | None, words: Mapping[str, int | None]) -> int | None:
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


def _configuration(
    called: str, config: object, out: str | Path | None = None, table: Any = None
) -> tuple[WorkloadConfig, str | Path | None]:
    """Return a configuration, given as such or by name, with its table, and its result's path.

    Raises
    ------
    ConfigError
        If it is neither a configuration nor a name, or if the named file has mistakes.
    """
    if isinstance(config, WorkloadConfig):
        return _tabled(config, table), out
    if isinstance(config, str | PathLike):
        path = find_config(config)
        loaded = _tabled(load_config(path), table)
        return loaded, out if out is not None else Path(f"{path.stem}.h5")
    hint = "; config_from_dict makes one of a dictionary" if isinstance(config, Mapping) else ""
    raise ConfigError(
        f"{called}: expected a configuration, a YAML file or the name of a shipped configuration, "
        f"got {type(config).__name__}{hint}"
    )


def _branch(
    config: WorkloadConfig,
    start: str | Path | None,
    tick: int | None,
    values: Mapping[str, Any] | None,
) -> WorkloadConfig:
    """Return the configuration of a branch, whose values are changed after a tick."""
    if start is None and (tick is not None or values):
        said = "values" if values else "tick"
        raise ConfigError(
            f"run: {option(said)} is of a run that branches off another: name that with "
            f"{option('start')}"
        )
    if start is None or not values:
        return config
    from societies.workload.running.branch import last_tick, with_values

    changed: WorkloadConfig = with_values(
        config, last_tick(Path(start)) if tick is None else tick, values
    )
    return changed


def _batch(batch: int | None) -> int | None:
    """Return the largest number of copies in a batch, None if not given."""
    if batch is not None and batch < 1:
        raise ConfigError(f"{option('batch', batch)}: at least 1 is needed")
    return batch


def _tabled(config: WorkloadConfig, table: Any) -> WorkloadConfig:
    """Return the configuration with the parameters of a table, if one is given."""
    if table is None:
        return config
    from societies.workload.running.points import with_table

    found: WorkloadConfig = with_table(config, table)
    return found


def _require_name_of_result(out: str | Path | None) -> None:
    """Raise ConfigError if the suffix of the name belongs to a format other than HDF5."""
    path = Path(out) if out is not None else Path()
    ending = path.suffix.lower()
    if ending not in (*_TABLES, *_NO_RESULTS):
        return
    file, how = path.with_suffix(".h5"), ""
    if ending in _TABLES:
        how = f"\nfor tables, then: societies export --to csv {shlex.quote(str(file))}"
    raise ConfigError(f"{path}: a run writes an HDF5 file; give it a name like {file}{how}")
