"""How is a workload run, resumed and planned, from its configuration to its file?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from societies.config.model import LARGEST_INTEGER, WorkloadConfig
from societies.opencl import Device
from societies.output import ResultFile, open_results
from societies.workload.batches import Batches, Room, batch_size, require_fit
from societies.workload.branch import Parent, copy_history, parent_of, require_other
from societies.workload.config import kept_ticks, recorded
from societies.workload.contents import contents_of
from societies.workload.devices import chosen_device
from societies.workload.engines import (
    BLOCK_SECONDS,
    ENDED,
    LOG_TICKS,
    Built,
    DeviceEngine,
    Engine,
    ReferenceEngine,
)
from societies.workload.fields import SERIES, State, kept, state_hash
from societies.workload.file import create, require_checkpoint, require_room
from societies.workload.interrupts import Interruption, device_failures, interrupted, interrupts
from societies.workload.protocol import Block, Contents, LeftOut, Workload
from societies.workload.provenance import reopen, session
from societies.workload.report import RunReport
from societies.workload.slices import paced

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
    """Return who carries out the steps, its name for people, and facts for the file.

    Parameters
    ----------
    batch : int, optional
        Whole ticks are enough, and at most so many copies are on the device at a time, or as many
        as fit. Default: all copies are there at once, so that single steps can be run.
    like : Built, optional
        Program of an engine on the device, used if this one has the same text.

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
    """Run a configuration and write its file while running; see `societies.run`."""
    began = time.perf_counter()
    path = Path(out) if out is not None else Path(f"{workload.name}.h5")
    contents = contents_of(workload, config)
    last = workload.ticks(config)
    fields = workload.arrays(workload.parameters(config))
    file, start, means, measured = None, None, None, None
    branch: Parent | None = None
    with ExitStack() as stack:
        stop = stack.enter_context(interrupts())
        # A file that cannot be made is reported before any kernel is built.
        if resume:
            file = stack.enter_context(reopen(path, config, workload.version))
            start = file.latest_checkpoint()
            if start:
                require_checkpoint(workload, config, path, *start)
        else:
            if parent is not None:
                require_other(path, Path(parent))
                branch = stack.enter_context(parent_of(workload, config, Path(parent), tick))
                start = (branch.begin, branch.state) if branch.state is not None else None
            require_room(workload, config, contents, path, overwrite=overwrite)
        first = start[0] + 1 if start else 1
        try:
            if file and start and start[0] >= (file.ticks_committed if file.ended else last):
                name, digest = str(file.attributes["device"]), state_hash(fields, start[1])
                ended, why = start[0], file.ended
            else:
                with stop.building():
                    # It times launches only if asked to: that costs time itself.
                    timed: dict[str, Any] = {"profiling": True} if profile else {}
                    engine, name, facts = engine_of(
                        workload, config, device, batch=batch or LARGEST_INTEGER, **timed
                    )
                    measured = engine.profiled() if profile else None
                if file is None:
                    about = facts | (branch.attributes if branch else {})
                    file = stack.enter_context(
                        create(workload, config, contents, path, about, overwrite=overwrite)
                    )
                    if branch:
                        copy_history(branch, file)
                file.log_session(session(workload.clock, first, facts))
                with device_failures(workload.clock, file, last):
                    if start:
                        engine.load(start[1])
                    else:
                        engine.start()
                    simulation = Simulation(workload, config, engine, file, contents, stop)
                    for tick in simulation.blocks(first - 1, last):
                        if progress:
                            progress(tick, last)
                    ended, means, why = simulation.tick, simulation.means, simulation.why
                    digest = engine.hash()
        except KeyboardInterrupt:
            raise interrupted(workload.clock, file, last) from None
    return workload.report(
        config,
        path=path,
        first_tick=first,
        last_tick=ended,
        device=name,
        wall_seconds=time.perf_counter() - began,
        final=_recorded(contents, path, ended) if means is None else means,
        ended=why,
        state_sha256=digest,
        profile=measured,
    )


class Simulation:
    """The loop over blocks of ticks, and what is written of each.

    Attributes
    ----------
    tick : the last tick that is committed
    means : means over copies of the last tick's series, by variable; None before the first block
    why : why the run ended before its last tick, if it did
    """

    def __init__(
        self,
        workload: Workload[Any, Any],
        config: WorkloadConfig,
        engine: Engine,
        file: ResultFile,
        contents: Contents,
        stop: Interruption,
    ) -> None:
        self.workload, self.config, self.engine = workload, config, engine
        self.file, self.contents = file, contents
        self.every = file.checkpoint_interval(recorded(config, "checkpoint", "auto"))
        self.keep = kept_ticks(config)
        self.p = workload.parameters(config)
        self.fields = workload.arrays(self.p)
        self.stops = {*contents.stops(), *self.keep}
        self.stop = stop
        self.tick = 0
        self.means: dict[str, float] | None = None
        self.why = ""

    def blocks(self, tick: int, last: int) -> Iterator[int]:
        """Run from after a tick to the last one, or until all copies have ended.

        A block is written while the next one is computed, unless the state at its end is needed.
        Yields the tick up to which the file is written, at first the one begun with.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; the state is saved.
        """
        length, self.tick = 1, tick
        self.contents.begin(self.file, tick, self.engine.state)
        self.file.rewind(tick)
        yield tick
        ended = self.engine.ended()
        if self.tick < last and ended is not None:  # before the first tick: there is only an end
            self._commit(ended, last, ended, cache(self.engine.state))
        elif not last:  # a run without ticks: what it finds is there after its start
            self._commit(0, last, ended, cache(self.engine.state))
        computed, behind = self.tick, None
        while computed < last and ended is None and not self.stop.is_set():
            began = time.perf_counter()
            end = block_end(computed, length, last, self.stops, self.every)
            try:
                with self.stop.at_once():
                    self.engine.run_ticks(computed + 1, end)
                    ended = self.engine.ended()
            except BaseException:
                if behind:
                    self._write(behind, last, None)
                raise
            if behind:
                self._write(behind, last, None)
                yield self.tick
            block = self._read(computed + 1, end if ended is None else ended)
            behind = block if self._can_wait(end, last) else None
            if behind is None:
                try:
                    self._write(block, last, ended)
                except LeftOut as left:
                    self._save(self.tick, left.state)
                    raise KeyboardInterrupt from None
                yield self.tick
            took = (time.perf_counter() - began) / self.engine.block_seconds
            length = _next_length(end - computed, took * BLOCK_SECONDS)
            computed = block.last
        if behind:
            self._write(behind, last, None)
            yield self.tick
        if self.tick < last and ended is None:
            self._save(self.tick, self.engine.state())
            raise KeyboardInterrupt

    def _can_wait(self, end: int, last: int) -> bool:
        """Return whether the block up to ``end`` may be written when the engine has gone on.

        Runs that may end at any tick are asked after each block whether they did, which waits.
        """
        there = end == last or end in self.stops or ENDED in self.fields
        return not there and not self.workload.timed

    def _read(self, first: int, last: int) -> Block:
        """Return what happened in the ticks that the engine has just been through."""
        ticks = last - first + 1
        state = cache(self.engine.state)
        logs = {name: log[:, :ticks] for name, log in self.engine.logs().items()}
        measured = {name: values[:ticks] for name, values in self.engine.measured().items()}
        block = Block(first, last, logs, self.engine.events(), state, self.stop, measured)
        self.workload.check(block, self.p)
        if self._saves(last):
            state()  # before the engine goes on
        return block

    def _saves(self, tick: int) -> bool:
        """Return whether a checkpoint is due after a tick that is not the last."""
        return bool(self.every) and tick % self.every == 0

    def _write(self, block: Block, last: int, ended: int | None) -> None:
        """Write and commit a block."""
        self.contents.write(self.file, block)
        self.means = self.contents.means(block)
        self._commit(block.last, last, ended, block.state)
        self.tick = block.last

    def _commit(self, end: int, last: int, ended: int | None, state: Callable[[], State]) -> None:
        """Commit the ticks up to ``end``; write the end of a run that is over, and checkpoints."""
        over = end == last or ended is not None
        if over:
            state()  # as it is before the steps that follow the last tick
            self.engine.finish()
            self.contents.finish(self.file, end, self.engine.state)
        if ended is None:
            self.file.commit(end)
        else:
            self.why = self.workload.why_ended(self.config, state())
            self.file.end(end, self.why)
        if end in self.keep:
            saved = kept(self.fields, state())
            self.file.checkpoint(end, saved, keep=self.keep.index(end))
        # This is done last: with the checkpoint of the last tick a file counts as complete.
        if over or self._saves(end):
            self._save(end, state())

    def _save(self, tick: int, state: Mapping[str, NDArray[Any]]) -> None:
        self.contents.write_checkpoint(self.file, state)
        if self.every:
            number = checkpoint_number(tick, self.every)
            self.file.checkpoint(tick, kept(self.fields, state), number)


def _recorded(contents: Contents, path: Path, tick: int) -> dict[str, float]:
    with open_results(path) as dataset:
        return contents.recorded_means(dataset, tick)


def checkpoint_number(tick: int, every: int) -> int:
    """Return the number of a tick's checkpoint; one between two regular ones has the later's."""
    return -(-tick // every)


def block_end(tick: int, length: int, last: int, stops: Any, checkpoint: int) -> int:
    """Return the last tick of the block after ``tick``.

    That is the next tick at which the file must be written, at most ``length`` ticks on.
    """
    for end in range(tick + 1, min(tick + length, last) + 1):
        if end in stops or (checkpoint and end % checkpoint == 0):
            return end
    return min(tick + length, last)


def _next_length(ticks: int, seconds: float) -> int:
    """Return how many ticks take about `BLOCK_SECONDS`."""
    return paced(ticks, seconds, BLOCK_SECONDS, LOG_TICKS)


def steps(
    workload: Workload[Any, Any], config: WorkloadConfig, *, device: str | Device = "auto"
) -> Iterator[Tick]:
    """Run a configuration tick by tick, to look in between; see `societies.steps`."""
    engine, _, _ = engine_of(workload, config, device)
    engine.start()
    for number in range(1, workload.ticks(config) + 1):
        if engine.ended() is not None:
            return
        engine.run_ticks(number, number)
        yield Tick(workload, config, number, engine)


class Tick:
    """The state after a tick, to be looked at before the run goes on.

    Attributes
    ----------
    number : the tick, from 1
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
        """Copies of all arrays, the copy (society, plate) first."""
        return self._engine.state()

    @property
    def sha256(self) -> str:
        """Hash of the kept state; equal on every device."""
        return self._engine.hash()

    @property
    def dataset(self) -> Any:
        """The state as an `xarray.Dataset` with named dimensions and units.

        ``series`` is along ``quantity``, which has their names, without those that are known only a
        tick later: ``dataset.series.sel(quantity="gini")``.
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
                # The number of a series that lags is that of the tick before.
                now = [i for i, one in enumerate(all_of_them.values()) if not one.lag]
                coordinates[QUANTITY] = [list(all_of_them)[i] for i in now]
                dims, array = (QUANTITY,), array[:, now]
            variables[name] = ((workload.copies, *dims), array, about)
        attributes = {"workload": workload.name, workload.clock: self.number}
        return xr.Dataset(variables, coords=coordinates, attrs=attributes)
