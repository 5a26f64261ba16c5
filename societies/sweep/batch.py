"""How is a batch, some runs that share a launch, computed in memory and in any process?"""

from __future__ import annotations

import json
import platform
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.config.model import LARGEST_INTEGER, WorkloadConfig
from societies.errors import SocietiesError
from societies.output import Column, Coordinate, EventTable, Variable
from societies.output.layout import is_clock, nothing
from societies.output.run_events import Columns
from societies.output.study_layout import RUN
from societies.sweep.in_memory import InMemory, Keep, wanted_variables
from societies.sweep.points import Policies, launch_config
from societies.sweep.program_cache import PROGRAMS, Loan, program_of
from societies.version import package_version
from societies.workload.declare.protocol import Setup
from societies.workload.running.batches import OwnCopies, engine_of
from societies.workload.running.blocks import Simulation
from societies.workload.running.contents import contents_of
from societies.workload.running.engines import Engine
from societies.workload.running.interrupts import interrupts
from societies.workload.running.pasts import SharedPasts, pasts_of
from societies.workload.running.programs import allowed
from societies.workload.running.registry import workload, workload_of_file
from societies.workload.running.sources import sources_of
from societies.workload.running.state import file_values

FINAL = "final_{}"
"""Name of the variable with an array of the state after the last tick."""
MOST_REMEMBERED = 4096
"""Entries of `_RECORDED` after which it is cleared."""
_RECORDED: dict[str, set[str]] = {}
"""Variables that a run of a configuration with a policy has; to find them takes milliseconds."""
NUMBER = Column(RUN, "int64", "", "number of the run")


@dataclass(frozen=True, eq=False)
class Batch:
    """Some runs, as they are sent to the process that computes them.

    Attributes
    ----------
    name : name of the workload
    base : configuration that all points share, as plain data
    settings : keys that have the same value in these runs
    columns : (run,) or (run, resource) values of each key that differs
    numbers : (run,) int64, copy number of each run, which selects its random stream
    rows : rows of the runs in the study
    keep : what is recorded of each run
    device : as for `societies.run`
    version : version of Societies
    allow_programs : as for `societies.run`
    sources : hashes of the model's sources at the process that made the batch, by name
    failed_on : number of the executor's device that failed to compute it; None: none has
    sharing : number of processes that divide the memory of the device
    policies : interventions in which these runs differ
    """

    name: str
    base: Mapping[str, Any]
    settings: Mapping[str, Any]
    columns: Mapping[str, NDArray[Any]]
    numbers: NDArray[np.int64]
    rows: Sequence[int]
    keep: Keep
    device: str = "auto"
    version: str = field(default_factory=package_version)
    allow_programs: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    failed_on: int | None = None
    sharing: int = 1
    policies: Policies | None = None

    @property
    def config(self) -> WorkloadConfig:
        """Configuration of these runs."""
        base = workload(self.name).config.model_validate(self.base)
        return launch_config(base, self.settings, self.columns, self.numbers, self.policies)

    def part(self, first: int, stop: int) -> Batch:
        """Return the batch of some of these runs, which no device has failed to compute."""
        columns = {key: column[first:stop] for key, column in self.columns.items()}
        some = slice(first, stop)
        one = replace(self, columns=columns, numbers=self.numbers[some], rows=self.rows[some])
        policies = self.policies and self.policies.part(first, stop)
        return replace(one, failed_on=None, policies=policies)

    def on(self, device: str, sharing: int = 1) -> Batch:
        """Return the same batch on another device, which ``sharing`` processes use."""
        return replace(self, device=device, sharing=sharing)


@dataclass(frozen=True, eq=False)
class Result:
    """Results of a batch.

    Attributes
    ----------
    values : (run, ...) by variable
    events : columns by table, in the order of the runs; ``run`` is the index within the batch
    seconds : wall time of the batch
    device : description of the device that computed it
    computing : seconds of it in which the device had something to do
    """

    values: Mapping[str, NDArray[Any]]
    events: Mapping[str, Columns]
    seconds: float
    device: str
    computing: float = 0.0


class WrongVersion(SocietiesError):
    """Raised by a process with another version of Societies, or other rules, than the study."""


def _require_sources(batch: Batch, setup: Setup[Any, Any]) -> None:
    """Raise WrongVersion if a source of the model has another text than where the batch was made.

    Different settings have different sources; those of the same settings are compared once.
    """
    what = f"{batch.name} {sorted(batch.settings.items())} {hash(frozenset(batch.sources.items()))}"
    if not batch.sources or what in _SAME_SOURCES:
        return
    here = sources_of(setup)
    changed = [name for name, digest in here.items() if batch.sources.get(name, digest) != digest]
    if changed:
        more = f" and {len(changed) - 1} more" if changed[1:] else ""
        raise WrongVersion(
            f"a worker ({platform.node()}) has another text of the model's source {changed[0]}"
            f"{more} than the process that runs the study; install the same commit on both"
        )
    _SAME_SOURCES.add(what)


_SAME_SOURCES: set[str] = set()
"""Workloads and settings whose sources were compared in this process."""


def run_batch(batch: Batch) -> Result:
    """Compute a batch.

    Raises WrongVersion if this process has another version of Societies than the one that made the
    batch, or other texts of the model's sources. Raises SocietiesError as `societies.run` does.
    Raises Stopped after Ctrl-C, SIGTERM or SIGHUP.
    """
    if batch.version != package_version():
        raise WrongVersion(
            f"a worker has societies {package_version()}, the study is run by {batch.version}"
        )
    began = time.perf_counter()
    try:
        if batch.base.get("model"):
            workload_of_file(str(batch.base["model"]))  # this may be another process
        setup = Setup(workload(batch.name), batch.config)
        _require_sources(batch, setup)
        with (
            ExitStack() as stack,
            PROGRAMS.borrow(batch.device, program_of(batch.settings)) as loan,
            allowed(batch.allow_programs),
        ):
            # A workload may write a picture next to its result file; here it is discarded.
            def folder() -> str:
                return stack.enter_context(TemporaryDirectory(prefix="societies-"))

            found = computed(setup, batch.keep, loan, folder, batch.sharing, began)
            return found if batch.policies is None else _left_out(batch, batch.policies, found)
    except BaseException as error:
        drop_arrays(error)
        raise


def _left_out(batch: Batch, policies: Policies, result: Result) -> Result:
    """Return a result without what runs do not have in a launch of their own: no tax, no taxes."""
    values = dict(result.values)
    launch = [batch.name, batch.base, batch.settings, [*batch.columns], batch.sources]
    shared = json.dumps(launch)
    for number, row in zip(*np.unique(policies.of, return_index=True), strict=True):
        text = f"{shared} {json.dumps(policies.lists[number])}"
        if text not in _RECORDED:
            own = Policies([policies.lists[number]], np.zeros(1, np.intp))
            alone = replace(batch.part(row, row + 1), policies=own)
            setup = Setup(workload(batch.name), alone.config)
            known = {one.name for one in contents_of(setup).variables()}
            if len(_RECORDED) >= MOST_REMEMBERED:
                _RECORDED.clear()
            _RECORDED[text] = known | {FINAL.format(name) for name in setup.fields}
        for name in values.keys() - _RECORDED[text]:
            values[name] = values[name].copy()
            values[name][policies.of == number] = nothing(values[name].dtype)
    return replace(result, values=values)


def drop_arrays(error: BaseException | None) -> None:
    """Drop the local variables that an error's traceback refers to, such as device arrays.

    Otherwise they would stay in memory as long as the error, while parts of the failed batch are
    tried again and need that memory.
    """
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def computed(
    setup: Setup[Any, Any],
    keep: Keep,
    loan: Loan,
    folder: Callable[[], str],
    sharing: int,
    began: float,
) -> Result:
    """Run a configuration without a file; ``began`` is the time at which its batch began."""
    chosen, contents = setup.workload, contents_of(setup)
    file: Any = InMemory(contents, folder, keep)
    with interrupts() as stop:
        with stop.building():
            engine, facts = _engine(setup, loan, sharing)
            loan.take(engine)
        started = time.perf_counter()
        engine.start()
        simulation = Simulation(setup, engine, file, contents, stop, hashed=False)
        for _ in simulation.blocks(0, setup.ticks):
            pass
        fields = setup.fields
        flags = [fields[name].present for name in keep.final]
        last = engine.arrays(*dict.fromkeys([*keep.final, *filter(None, flags)]))
        computing = time.perf_counter() - started
    clock, copies, found = chosen.clock, setup.copies, {}
    named = {one.name: one.values for one in contents.coordinates()}
    for name, variable in file.variables.items():
        values = file.values[name]
        if clock in variable.dims and keep.ticks is not None:
            axis = variable.dims.index(clock)
            values = np.compress(np.isin(named[clock], list(keep.ticks)), values, axis=axis)
        if values.dtype.kind in "iu" and variable.fill != nothing(values.dtype):
            values = np.where(values == variable.fill, nothing(values.dtype), values)
        found[name] = of_runs(values, variable.dims, chosen.copies, copies, whole=keep.copies)
    for name in keep.final:
        values, dims = file_values(fields, name, last), (chosen.copies,)
        found[FINAL.format(name)] = of_runs(values, dims, chosen.copies, copies, whole=keep.copies)
    events: dict[str, Columns] = {
        name: events_of_runs(blocks, chosen.copies, setup.first, whole=keep.copies)
        for name, blocks in file.events.items()
        if blocks
    }
    return Result(found, events, time.perf_counter() - began, facts["device"], computing)


def _engine(setup: Setup[Any, Any], loan: Loan, sharing: int) -> tuple[Engine, dict[str, str]]:
    """Return the engine of a batch, and attributes; it computes a past that runs share once."""
    own = OwnCopies(0, setup.copies, sharing, sharing)
    make = partial(engine_of, setup, loan.device, batch=LARGEST_INTEGER, part=own)
    pasts = pasts_of(setup)
    if not pasts:
        engine, _, facts = make(like=loan.built)
        return engine, facts
    first, _, facts = make(like=loan.built, some=pasts[0].chosen)
    settled = setup.workload.settled(setup.p)
    return SharedPasts(
        first, lambda some, like: make(like=like, some=some)[0], pasts, settled
    ), facts


def events_of_runs(
    blocks: Sequence[Columns], name: str, first: int, *, whole: bool
) -> dict[str, NDArray[Any]]:
    """Return a table of events in the order of the runs, with the index of the run of each event.

    Parameters
    ----------
    blocks : consecutive blocks of columns
    name : column with the number of the copy
    first : number of the first copy
    whole : whether all copies are one run; otherwise each copy is a run
    """
    columns = {one: np.concatenate([block[one] for block in blocks]) for one in blocks[0]}
    copy = columns[name] if whole else columns.pop(name)
    run = np.zeros(len(copy), np.int64) if whole else copy.astype(np.int64) - first
    order = np.argsort(run, kind="stable")
    return {RUN: run[order], **{one: values[order] for one, values in columns.items()}}


def of_runs(
    values: NDArray[Any], dims: Sequence[str], name: str, copies: int, *, whole: bool
) -> NDArray[Any]:
    """Return the values of each run: every copy is a run or, if ``whole``, all copies are one."""
    if whole:
        return values[np.newaxis]
    if name in dims:
        return np.moveaxis(values, dims.index(name), 0)
    return np.broadcast_to(values, (copies, *values.shape))


@dataclass(frozen=True, eq=False)
class Shape:
    """Contents of a run of one configuration: coordinates, variables without ``run``, tables."""

    coordinates: dict[str, Coordinate]
    variables: dict[str, Variable]
    tables: dict[str, EventTable] = field(default_factory=dict)


def _has_missing(one: Variable, clock: str) -> bool:
    """Whether readers of a run's own file take some whole numbers of a variable for missing."""
    dtype = np.dtype(one.dtype)
    coded = one.none is not None or one.fill != nothing(dtype)
    byte_of_tick = dtype.itemsize == 1 and any(is_clock(dim, clock) for dim in one.dims)
    return dtype.kind in "iu" and (coded or byte_of_tick)


def run_shape(setup: Setup[Any, Any], keep: Keep) -> Shape:
    """Return dimensions and variables that a run of a configuration adds to a study."""
    chosen, contents = setup.workload, contents_of(setup)
    left_out = set() if keep.copies else {chosen.copies}
    coordinates = {one.name: one for one in contents.coordinates()}
    if keep.ticks is not None and chosen.clock in coordinates:
        clock = coordinates[chosen.clock]
        some = clock.values[np.isin(clock.values, list(keep.ticks))]
        coordinates[chosen.clock] = Coordinate(clock.name, some, clock.units, clock.long_name)
    every = wanted_variables({one.name: one for one in contents.variables()}, keep)
    # In a study a missing value must read as missing, whatever fill value a run's own file has.
    variables = {
        name: replace(
            one,
            dims=tuple(dim for dim in one.dims if dim not in left_out),
            fill=None,
            none=int(nothing(one.dtype)) if _has_missing(one, chosen.clock) else None,
        )
        for name, one in every.items()
    }
    for name in keep.final:
        of = setup.fields[name]
        dims = (chosen.copies, *of.dims) if keep.copies else of.dims
        variables[FINAL.format(name)] = Variable(
            FINAL.format(name),
            dims,
            of.file_dtype,
            of.unit,
            f"{of.meaning}, after the last tick",
            none=of.file_none,
        )
        for dim in dims:
            if dim not in coordinates:
                count = setup.sizes.get(dim, setup.copies)
                coordinates[dim] = Coordinate(dim, np.arange(count), "", f"number of the {dim}")
    tables = {one.name: one for one in contents.tables() if one.name in keep.events}
    for name, table in tables.items():
        columns = [one for one in table.columns if keep.copies or one.name != chosen.copies]
        rows = -(-table.rows // (1 if keep.copies else setup.copies))
        tables[name] = replace(table, columns=(NUMBER, *columns), rows=rows)
    used = {dim for one in variables.values() for dim in one.dims}
    used |= {column.dim for one in tables.values() for column in one.columns}
    return Shape(
        {name: one for name, one in coordinates.items() if name in used}, variables, tables
    )
