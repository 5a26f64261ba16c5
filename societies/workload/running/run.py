"""How does a configuration become a result file? Running and resuming, and running tick by tick."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from societies.config.model import LARGEST_INTEGER
from societies.errors import ConfigError, DeviceError, OutputError, SocietiesWarning, option
from societies.opencl import Device
from societies.output import open_results
from societies.workload.declare.fields import SERIES
from societies.workload.declare.naming import object_named
from societies.workload.declare.protocol import Setup
from societies.workload.running.batches import copies_that_fit, engine_of
from societies.workload.running.blocks import Simulation
from societies.workload.running.branch import Parent, copy_history, parent_of, require_other
from societies.workload.running.contents import contents_of
from societies.workload.running.engines import Engine
from societies.workload.running.file import create, require_checkpoint, require_room
from societies.workload.running.interrupts import device_failures, interrupted, interrupts
from societies.workload.running.programs import allowed, allowing
from societies.workload.running.progress import Advance, progress_bar
from societies.workload.running.provenance import reopen, session
from societies.workload.running.report import RunReport
from societies.workload.running.request import (
    Config,
    Request,
    config_warnings,
    request,
    setup_of,
)
from societies.workload.running.several import Several, devices_of
from societies.workload.running.state import state_hash
from societies.workload.running.written import Contents

QUANTITY = "quantity"
"""Dimension along which `Tick.dataset` has the series."""


def run(
    config: Config,
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
    fan: int | None = None,
    progress: Advance | None = None,
    profile: bool = False,
    allow_programs: bool = False,
    **clock: int | None,
) -> RunReport:
    """Run a configuration and write its file while running.

    Parameters
    ----------
    config : WorkloadConfig, path or Setup
        From `load_config` or `config_from_dict`; it names its workload. Or a YAML file, or the
        name of a shipped configuration: ``economy/quickstart``. Or a `societies.workload.Setup`,
        whose workload need not be installed.
    device : str or Device
        ``auto`` (a GPU if there is one, else a CPU), ``cpu``, ``gpu``, ``reference`` (plain
        Python), ``PLATFORM:INDEX``, part of a name, or what `choose_device` returned. Copies are
        split over several devices, with a process for each: over those of a list, ``0:0,0:1``, and
        with ``auto`` and ``gpu`` over all GPUs like the best one if each gets 32 copies at least.
        The file is the same, whatever their number.
    out : the HDF5 file; default: in the current folder, with the name of the configuration's file
        or, if there is none, of its workload
    resume : continue the file from its last checkpoint, on any device
    overwrite : replace an existing file, which otherwise is an error
    table : xarray.Dataset, dict of arrays or path of a CSV file, optional
        Parameters that differ from society to society: a variable, (society,) or (society,
        resource), named like its key (``trading.min_surplus``), with a number for each society. In
        a dataset the names of dimensions identify the axes, and the coordinate ``society``, if
        present, the society of each row. Without ``replicates`` the number of societies is the
        number of rows. Shapes cannot differ.
    batch : int, optional
        Maximum number of societies in the device's memory at a time. Default: as many as fit.
        Results do not depend on it.
    start : a result of this configuration (ticks and ``record`` may differ): the run is a branch of
        it, a new file with the same history
    tick : int, optional
        Tick after which the branch begins; the name of the clock can be used too (``day=300``).
        Default: the last tick of ``start``.
    values : values that change at the end of that tick, as by an intervention of the configuration
    fan : number of futures of every society of ``start``, which draw their own numbers from the
        next tick on
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
    of: Any = {"out": out, "table": table, "batch": batch}
    asked = request("run", config, clock, start=start, tick=tick, values=values, fan=fan, **of)
    if resume and overwrite:
        raise ConfigError(
            f"run: {option('resume', True)} continues the file and {option('overwrite', True)} "
            "replaces it: choose one"
        )
    for text in config_warnings(asked.setup.config):
        warnings.warn(text, SocietiesWarning, stacklevel=2)
    with ExitStack() as stack:
        if progress is None:
            progress = stack.enter_context(progress_bar(asked.setup, device, notebook=True))
        stack.enter_context(allowed(allow_programs))
        return _run(asked, device, resume, overwrite, progress, profile)


def _run(
    asked: Request,
    device: str | Device,
    resume: bool,
    overwrite: bool,
    progress: Advance | None,
    profile: bool,
) -> RunReport:
    """Run a configuration, and write its file while it runs."""
    began = time.perf_counter()
    setup, path, parent = asked.setup, asked.path, asked.start
    workload, config, last = setup.workload, setup.config, setup.ticks
    contents = contents_of(setup)
    file, start, means, measured = None, None, None, None
    building = 0.0
    branch: Parent | None = None
    devices = devices_of(setup, device)[: 1 if profile else None]
    with ExitStack() as stack:
        stop = stack.enter_context(interrupts())
        # A file that cannot be made is reported before any kernel is built.
        if resume:
            file = stack.enter_context(reopen(path, setup))
            start = file.latest_checkpoint()
            if start:
                require_checkpoint(setup, path, *start)
        else:
            if parent is not None:
                require_other(path, parent)
                branch = stack.enter_context(parent_of(setup, parent, asked.tick))
                start = (branch.begin, branch.state) if branch.state is not None else None
            try:
                require_room(setup, contents, path, overwrite=overwrite)
            except OutputError:
                copies_that_fit(setup.on(devices[0]))  # report first that nothing fits
                raise
            workload.require_outputs(config, path)
        first = start[0] + 1 if start else 1
        try:
            if file and start and start[0] >= (file.ticks_committed if file.ended else last):
                name, digest = str(file.attributes["device"]), state_hash(setup.fields, start[1])
                file.shorten()  # in case the run was killed before it did
                ended, why = start[0], file.ended
            else:
                building_began = time.perf_counter()
                engine: Engine
                with stop.building():
                    # A queue that times launches is slower, so it is used for profiles only.
                    timed: dict[str, Any] = {"profiling": True} if profile else {}
                    size = asked.batch or LARGEST_INTEGER
                    if devices[1:]:
                        engine = Several(setup, devices, size)
                        name, facts = engine.name, engine.facts
                    else:
                        engine, name, facts = engine_of(setup, devices[0], batch=size, **timed)
                    stack.callback(engine.close)
                    measured = engine.profiled() if profile else None
                building = time.perf_counter() - building_began
                if file is None:
                    about = facts | (branch.attributes if branch else {})
                    file = stack.enter_context(
                        create(setup, contents, path, about, overwrite=overwrite)
                    )
                    if branch:
                        copy_history(branch, file, config)
                file.log_session(session(workload.clock, first, facts))
                with device_failures(workload.clock, file, last):
                    if start:
                        engine.load(start[1])
                    else:
                        engine.start()
                    simulation = Simulation(setup, engine, file, contents, stop)
                    for tick in simulation.blocks(first - 1, last):
                        if progress:
                            with simulation.salvaging(last):
                                progress(tick, last)
                    ended, means, why = simulation.tick, simulation.means, simulation.why
                    digest = simulation.state_sha256
        except KeyboardInterrupt as error:
            raise interrupted(workload.clock, file, last, error) from None
        except Exception as error:
            # After the others the file can be resumed, as their messages say.
            if file and not resume and not isinstance(error, DeviceError | OutputError):
                file.remove_if_empty()
            raise
    made: RunReport = object_named(workload.report_class)(
        workload,
        config,
        path=path,
        first_tick=first,
        last_tick=ended,
        device=name,
        wall_seconds=time.perf_counter() - began,
        building_seconds=building,
        final=_recorded(contents, path, ended) if means is None else means,
        ended=why,
        state_sha256=digest,
        profile=measured,
    )
    return made


def _recorded(contents: Contents, path: Path, tick: int) -> dict[str, float]:
    with open_results(path) as dataset:
        return contents.recorded_means(dataset, tick)


def steps(
    config: Config,
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
    return allowing(allow_programs, _steps(setup_of(config, table, called="steps"), device))


def _steps(setup: Setup[Any, Any], device: str | Device) -> Iterator[Tick]:
    engine, _, _ = engine_of(setup, device)
    engine.start()
    for number in range(1, setup.ticks + 1):
        if engine.ended() is not None:
            return
        engine.run_ticks(number, number)
        yield Tick(setup, number, engine)


class Tick:
    """The state after a tick; it must be read before the run continues.

    Attributes
    ----------
    number : number of the tick, from 1
    """

    def __init__(self, setup: Setup[Any, Any], number: int, engine: Engine) -> None:
        self.number = number
        self._setup, self._engine = setup, engine

    def __int__(self) -> int:
        return self.number

    @property
    def state(self) -> dict[str, NDArray[Any]]:
        """Copies of all arrays; their first axis is the copy (society, plate)."""
        return self._engine.state()

    @property
    def sha256(self) -> str:
        """Hash of the checkpointed state; equal on every device."""
        return self._engine.hash()

    @property
    def dataset(self) -> Any:
        """The state as an `xarray.Dataset` with named dimensions and units.

        The coordinate ``quantity`` has the names of the series, as in
        ``dataset.series.sel(quantity="gini")``. Series that are known only a tick later are absent.
        """
        import xarray as xr

        workload, first, count = self._setup.workload, self._setup.first, self._setup.copies
        fields, state = self._setup.fields, self.state
        coordinates: dict[str, Any] = {workload.copies: range(first, first + count)}
        variables = {}
        for name, array in state.items():
            dims, about = fields[name].dims, {"long_name": fields[name].meaning}
            about["units"] = fields[name].unit
            if name == SERIES:
                of, columns = workload.series(self._setup.p), workload.columns(self._setup.p)
                names = [(name, of[one].lag) for one in columns for name in columns[one]]
                # The value of a series with a lag belongs to the tick before.
                now = [i for i, (_, lag) in enumerate(names) if not lag]
                coordinates[QUANTITY] = [names[i][0] for i in now]
                dims, array = (QUANTITY,), array[:, now]
            variables[name] = ((workload.copies, *dims), array, about)
        attributes = {"workload": workload.name, workload.clock: self.number}
        return xr.Dataset(variables, coords=coordinates, attrs=attributes)
