"""How does a configuration become a result file? Running and resuming, and running tick by tick."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from societies.config.model import LARGEST_INTEGER, WorkloadConfig
from societies.errors import OutputError
from societies.opencl import Device
from societies.output import open_results
from societies.workload.declare.contents import contents_of
from societies.workload.declare.fields import SERIES, state_hash
from societies.workload.declare.protocol import Contents, Workload
from societies.workload.running.batches import Batches, Room, batch_size, require_fit
from societies.workload.running.blocks import Simulation
from societies.workload.running.branch import Parent, copy_history, parent_of, require_other
from societies.workload.running.devices import chosen_device
from societies.workload.running.engines import Built, DeviceEngine, Engine, ReferenceEngine
from societies.workload.running.file import create, require_checkpoint, require_room
from societies.workload.running.interrupts import device_failures, interrupted, interrupts
from societies.workload.running.provenance import reopen, session
from societies.workload.running.report import RunReport

Progress = Callable[[int, int], None]

QUANTITY = "quantity"
"""Dimension along which `Tick.dataset` has the series."""


def engine_of(
    workload: Workload[Any, Any],
    config: WorkloadConfig,
    device: str | Device,
    *,
    profiling: bool = False,
    batch: int | None = None,
    like: Built | None = None,
) -> tuple[Engine, str, dict[str, str]]:
    """Return an engine, the displayed name of its device, and attributes for the file.

    Parameters
    ----------
    batch : int, optional
        Largest number of copies on the device at a time; fewer if they do not fit. The engine can
        then run whole ticks only. Default: all copies at once, so that single steps can be run.
    like : Built, optional
        Program of another engine on the device, which is reused if its text is the same.

    Raises
    ------
    DeviceError
        If not even one copy fits the device.
    """
    chosen, name, facts = chosen_device(device, profiling=profiling)
    p = workload.parameters(workload.fitted(config, chosen))
    first, copies, numbers = workload.first(config), workload.count(config), config.numbers
    size = copies if batch is None else batch_size(copies, _fit(workload, p, chosen), batch)
    inner: DeviceEngine[Any] | ReferenceEngine[Any]
    if chosen is None:
        inner = ReferenceEngine(
            workload, p, first=first, copies=size, numbers=numbers, ensemble=copies
        )
    else:
        inner = DeviceEngine(
            workload, p, chosen, first=first, copies=size, numbers=numbers, like=like
        )
    engine: Engine = inner if size == copies else Batches(inner, copies)
    return engine, name, facts


def _fit(workload: Workload[Any, Any], p: Any, device: Device | None) -> int:
    """Return how many copies fit a device, before anything is built on it."""
    if device is None:
        return LARGEST_INTEGER
    room = Room(workload, p, device)
    require_fit(room)
    return room.copies


def _require_memory(
    workload: Workload[Any, Any], config: WorkloadConfig, device: str | Device
) -> None:
    """Raise DeviceError if not even one copy fits a device."""
    chosen, _, _ = chosen_device(device)
    _fit(workload, workload.parameters(workload.fitted(config, chosen)), chosen)


def run(
    workload: Workload[Any, Any],
    config: WorkloadConfig,
    *,
    device: str | Device = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    batch: int | None = None,
    parent: str | Path | None = None,
    tick: int | None = None,
    progress: Progress | None = None,
    profile: bool = False,
) -> RunReport:
    """Run a configuration, and write its file while it runs; see `societies.run`."""
    began = time.perf_counter()
    path = Path(out) if out is not None else Path(f"{workload.name}.h5")
    contents = contents_of(workload, config)
    last = workload.ticks(config)
    fields = workload.arrays(workload.parameters(config))
    file, start, means, measured = None, None, None, None
    building = 0.0
    branch: Parent | None = None
    with ExitStack() as stack:
        stop = stack.enter_context(interrupts())
        # A file that cannot be made is reported before any kernel is built.
        if resume:
            file = stack.enter_context(reopen(path, workload, config))
            start = file.latest_checkpoint()
            if start:
                require_checkpoint(workload, config, path, *start)
        else:
            if parent is not None:
                require_other(path, Path(parent))
                branch = stack.enter_context(parent_of(workload, config, Path(parent), tick))
                start = (branch.begin, branch.state) if branch.state is not None else None
            try:
                require_room(workload, config, contents, path, overwrite=overwrite)
            except OutputError:
                _require_memory(workload, config, device)  # report first that nothing fits
                raise
            workload.require_outputs(config, path)
        first = start[0] + 1 if start else 1
        try:
            if file and start and start[0] >= (file.ticks_committed if file.ended else last):
                name, digest = str(file.attributes["device"]), state_hash(fields, start[1])
                file.shorten()  # in case the run was killed before it did
                ended, why = start[0], file.ended
            else:
                building_began = time.perf_counter()
                with stop.building():
                    # A queue that times launches is slower, so it is used for profiles only.
                    timed: dict[str, Any] = {"profiling": True} if profile else {}
                    engine, name, facts = engine_of(
                        workload, config, device, batch=batch or LARGEST_INTEGER, **timed
                    )
                    measured = engine.profiled() if profile else None
                building = time.perf_counter() - building_began
                if file is None:
                    about = facts | (branch.attributes if branch else {})
                    file = stack.enter_context(
                        create(workload, config, contents, path, about, overwrite=overwrite)
                    )
                    if branch:
                        copy_history(branch, file, config)
                file.log_session(session(workload.clock, first, facts))
                with device_failures(workload.clock, file, last):
                    if start:
                        engine.load(start[1])
                    else:
                        engine.start()
                    simulation = Simulation(workload, config, engine, file, contents, stop)
                    for tick in simulation.blocks(first - 1, last):
                        if progress:
                            with simulation.keeping(last):
                                progress(tick, last)
                    ended, means, why = simulation.tick, simulation.means, simulation.why
                    digest = simulation.state_sha256
        except KeyboardInterrupt as error:
            raise interrupted(workload.clock, file, last, error) from None
    return workload.report(
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


def _recorded(contents: Contents, path: Path, tick: int) -> dict[str, float]:
    with open_results(path) as dataset:
        return contents.recorded_means(dataset, tick)


def steps(
    workload: Workload[Any, Any], config: WorkloadConfig, *, device: str | Device = "auto"
) -> Iterator[Tick]:
    """Run a configuration and yield the state after each tick; see `societies.steps`."""
    engine, _, _ = engine_of(workload, config, device)
    engine.start()
    for number in range(1, workload.ticks(config) + 1):
        if engine.ended() is not None:
            return
        engine.run_ticks(number, number)
        yield Tick(workload, config, number, engine)


class Tick:
    """The state after a tick; it must be read before the run continues.

    Attributes
    ----------
    number : number of the tick, from 1
    """

    def __init__(
        self, workload: Workload[Any, Any], config: WorkloadConfig, number: int, engine: Engine
    ) -> None:
        self.number = number
        self._workload, self._config, self._engine = workload, config, engine

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

        workload, p = self._workload, self._workload.parameters(self._config)
        first, count = workload.first(self._config), workload.count(self._config)
        fields, state = workload.arrays(p), self.state
        coordinates: dict[str, Any] = {workload.copies: range(first, first + count)}
        variables = {}
        for name, array in state.items():
            dims, about = fields[name].dims, {"long_name": fields[name].meaning}
            about["units"] = fields[name].unit
            if name == SERIES:
                all_of_them = workload.series(p)
                # The value of a series with a lag belongs to the tick before.
                now = [i for i, one in enumerate(all_of_them.values()) if not one.lag]
                coordinates[QUANTITY] = [list(all_of_them)[i] for i in now]
                dims, array = (QUANTITY,), array[:, now]
            variables[name] = ((workload.copies, *dims), array, about)
        attributes = {"workload": workload.name, workload.clock: self.number}
        return xr.Dataset(variables, coords=coordinates, attrs=attributes)
