"""How is an economy run from its configuration to its file: plan, run, resume, verify."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies import running, sufficiency, verifying
from societies.device import Device
from societies.economy import coverage, duration, schedule
from societies.economy.config import EconomyConfig
from societies.economy.conflicts import LARGEST_COUNT
from societies.economy.engine import (
    DeviceEngine,
    Engine,
    ReferenceEngine,
    State,
    kept,
    state_hash,
    workgroup_size,
)
from societies.economy.file import (
    MODEL_VERSION,
    create,
    describe_tables,
    reopen,
    require_checkpoint,
    require_room,
)
from societies.economy.parameters import Parameters, parameters
from societies.economy.phases import LOG_DAYS, launches_per_day, working_bytes
from societies.economy.results import Layout, grouped
from societies.economy.state import series_of, sizes, state_fields
from societies.errors import ConfigError
from societies.output import ResultFile, open_results
from societies.output.provenance import checkpoint_of, session
from societies.running import (
    Interruption,
    Plan,
    Progress,
    block_end,
    byte_count,
    checkpoint_number,
    chosen_device,
    describe_checkpoints,
    device_failures,
    interrupted,
    interrupts,
    is_checkpoint,
    next_block,
    society_numbers,
)
from societies.verifying import VerifyReport, days_to_verify

HEADLINES = ("units_extracted", "units_held", "units_traded", "utility", "gini")
"""Series of the closing table, of those that are recorded."""


@dataclass(frozen=True)
class RunReport(running.RunReport):
    """What a run did; further attributes are those of every run.

    Attributes
    ----------
    agents, resources : int
    agent_days_per_second : float
    """

    agents: int
    resources: int
    agent_days_per_second: float

    @property
    def headlines(self) -> list[str]:
        """Series of the closing table."""
        return [name for name in HEADLINES if name in self.final]

    @property
    def means_over(self) -> str:
        """What the numbers of the closing table are means over."""
        return "living agents" if self.societies == 1 else f"{self.societies} societies' agents"

    @property
    def rate(self) -> tuple[str, float]:
        """How fast it went, and what is counted."""
        return "agent-days per second", self.agent_days_per_second


def run(
    config: EconomyConfig,
    *,
    device: str | Device = "auto",
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> RunReport:
    """Run a configuration and write its file while running.

    Parameters
    ----------
    config : EconomyConfig
    device : str or Device
        ``auto``, ``cpu``, ``gpu``, ``reference``, ``PLATFORM:INDEX`` or part of a name.
    out : path, optional
        Default: ``economy.h5`` in the current folder.
    resume : bool
        Continue the file from its last checkpoint.
    overwrite : bool
        Replace an existing file.
    progress : callable, optional
        Called with (days done, days).

    Raises
    ------
    ConfigError, DeviceError, OutputError
        As `societies.errors` says; nothing is lost that was committed before.
    Interrupted
        After Ctrl-C; its ``path`` is the file to resume, if one was begun.
    """
    began = time.perf_counter()
    path = Path(out) if out is not None else Path("economy.h5")
    p = parameters(config)
    layout = Layout(config)
    file, start = None, None
    with ExitStack() as stack:
        stop = stack.enter_context(interrupts())
        # What stands in the way of the file is said before any kernel is built.
        if resume:
            file = stack.enter_context(reopen(path, config))
            start = file.latest_checkpoint()
            if start:
                require_checkpoint(path, p, *start)
        else:
            require_room(path, p, layout, overwrite=overwrite)
        first = start[0] + 1 if start else 1
        try:
            if file and start and first > config.days:  # complete: there is nothing to simulate
                name, last_row, digest = str(file.attributes["device"]), None, state_hash(start[1])
            else:
                with stop.building():
                    engine, name, facts = _engine(device, p)
                file = file or stack.enter_context(
                    create(path, p, layout, facts, overwrite=overwrite)
                )
                file.log_session(session(first, facts))
                with device_failures(file, config.days):
                    if start:
                        engine.load(start[1])
                    else:
                        engine.start()
                    last_row = _simulate(engine, file, layout, first, stop, progress)
                    digest = state_hash(engine.state())
        except KeyboardInterrupt:
            raise interrupted(file, config.days) from None
    seconds = time.perf_counter() - began
    simulated = config.agents * config.replicates * (config.days - first + 1)
    return RunReport(
        path=path,
        first_day=first,
        days=config.days,
        societies=config.replicates,
        agents=config.agents,
        resources=config.resources,
        device=name,
        wall_seconds=seconds,
        agent_days_per_second=simulated / seconds,
        final=_final(path, p, config.days, last_row),
        state_sha256=digest,
    )


def _simulate(
    engine: Engine,
    file: ResultFile,
    layout: Layout,
    first: int,
    stop: Interruption,
    progress: Progress | None,
) -> Any:
    """Run from day ``first`` to the end, writing on the way; return the last day's series."""
    config = layout.config
    details, days = layout.detail_days(), config.days
    every = file.checkpoint_interval(config.record.checkpoint)
    block, day, last_row = 1, first - 1, None
    ledger, morning = layout.ledger, None
    if ledger.societies(first):
        ledger.begin(day, engine.state())
    file.rewind(day)
    if progress:
        progress(day, days)
    while day < days and not stop.is_set():
        began = time.perf_counter()
        end = block_end(day, block, days, details, every)
        with stop.at_once():
            series = engine.run_days(day + 1, end)
        _refuse_beyond_tables(series, engine.parameters)
        layout.write_series(file, day + 1, series)
        if layout.devices:
            layout.write_inventions(file, engine.inventions())
            layout.write_knowledge(file, day + 1, engine.agents_knowing())
        state = engine.state() if end in details else None
        if state is not None:
            layout.write_detail(file, end, state)
            morning = ledger.write(file, engine.parameters, end, state, stop)
            if morning is not None:
                break  # the day is left out, and begun again by who resumes
            ledger.begin(end, state)
        file.commit(end)
        if is_checkpoint(end, days, every) or end == days:
            _checkpoint(file, layout, end, state or engine.state())
        block = next_block(end - day, time.perf_counter() - began, LOG_DAYS)
        last_row, day = series[:, -1], end
        if progress:
            progress(day, days)
    if day < days:
        _checkpoint(file, layout, day, morning or engine.state())
        raise KeyboardInterrupt
    return last_row


def _checkpoint(file: ResultFile, layout: Layout, day: int, state: State) -> None:
    if layout.devices:
        layout.write_recipes(file, state)
    if every := file.checkpoint_interval(layout.config.record.checkpoint):
        file.checkpoint(day, kept(state), checkpoint_number(day, every))


def _refuse_beyond_tables(series: NDArray[np.float64], p: Parameters) -> None:
    """Stop before results are wrong: the ends of tables and counts are estimates (`bounds`).

    Half of the limit leaves room for what is held between two evenings.
    """
    limit = p.largest_holding if p.tables_cut_off else LARGEST_COUNT
    held = series[..., list(series_of(p)).index("units_held_max")].max()
    if held > limit // 2:
        raise ConfigError(
            f"utility.min_marginal: an agent holds {held:.0f} units of a resource, too near to the "
            f"{limit} that tables and counts are made for\n"
            "raise utility.min_marginal; what was done before is in the file"
        )


def plan(
    config: EconomyConfig, *, device: str | Device = "auto", out: str | Path | None = None
) -> Plan:
    """Say what a run would do, without building or writing anything."""
    p = parameters(config)
    lengths = sizes(p)
    fields = state_fields(p)
    bytes_of = {
        name: int(np.prod(field.shape(lengths))) * np.dtype(field.dtype).itemsize
        for name, field in fields.items()
    }
    saved = sum(n for name, n in bytes_of.items() if fields[name].kept)
    layout = Layout(config)
    lengths_of = {c.name: len(c.values) for c in layout.coordinates()}
    output = sum(
        int(np.prod([lengths_of[dim] for dim in v.dims])) * np.dtype(v.dtype).itemsize
        for v in layout.variables()
    )
    output += sum(table.nbytes(lengths_of) for table in layout.tables())
    rows = [
        ("societies", society_numbers(p.first_society, p.societies)),
        ("agents x resources", f"{p.agents} x {p.resources}"),
        ("days", str(config.days)),
        ("agents per group", ", ".join(str(n) for n in config.group_sizes())),
        ("utility tables", describe_tables(p)),
    ]
    on_device = sum(bytes_of.values())
    chosen, name, _ = chosen_device(device)
    rows += [("device", name if chosen else f"{name} (plain Python)")]
    if chosen:
        rows += [
            ("work-items per workgroup", str(workgroup_size(chosen, p))),
            ("launches per day", str(launches_per_day(p))),
        ]
        on_device += working_bytes(p)
    path = Path(out) if out is not None else Path("economy.h5")
    rows += [
        ("memory on the device", byte_count(on_device)),
        (
            "checkpoints in the file",
            describe_checkpoints(config.record.checkpoint, saved),
        ),
        ("results in the file", byte_count(output)),
        ("output", f"{path.absolute()}{' (exists)' if path.exists() else ''}"),
    ]
    seconds = duration.seconds(config, chosen)
    rows.insert(-1, ("time, roughly", sufficiency.duration(seconds)))
    lacking = sufficiency.room_warnings(
        chosen,
        on_device,
        max(bytes_of.values()),
        path,
        lambda: require_room(path, p, layout, overwrite=True),
    )
    return Plan(rows, (*lacking, *sufficiency.time_warning(seconds)))


def verify(
    config: EconomyConfig,
    *,
    device: str | Device = "auto",
    days: int | None = None,
    start: str | Path | None = None,
    progress: verifying.Progress | None = None,
) -> VerifyReport:
    """Run device and reference side by side and compare every array after every phase.

    Equal means equal bits. The comparison stops at the first difference.

    Parameters
    ----------
    days : int, optional
        Compare the first so many. Default: all, or days at several times of a longer run.
    start : path, optional
        A result of this configuration (``days`` and ``record`` aside): both begin with its newest
        checkpoint instead of day 0.

    Raises
    ------
    ConfigError
        If more days are asked for than the configuration has.
    OutputError
        If there is no such checkpoint.
    """
    begin = checkpoint_of(Path(start), config, MODEL_VERSION) if start else None
    days_to_verify(days, config.days, begin[0] if begin else 0)  # before any kernel is built
    p = parameters(config)
    if start and begin:
        require_checkpoint(Path(start), p, *begin)
    engine, name, _ = _engine(device, p)
    subject = verifying.Subject(
        engine=engine,
        reference=ReferenceEngine(p),
        device=name,
        days=config.days,
        schedule=lambda day: schedule.day_schedule(p, day) if day else schedule.start(p),
        kept=kept,
        series=tuple(series_of(p)),
        counts=coverage.counts(p),
        phase=coverage.phase,
    )
    return verifying.verify(subject, days=days, begin=begin, progress=progress)


def _engine(device: str | Device, p: Parameters) -> tuple[Engine, str, dict[str, str]]:
    chosen, name, facts = chosen_device(device)
    return (DeviceEngine(chosen, p) if chosen else ReferenceEngine(p)), name, facts


def _final(path: Path, p: Parameters, days: int, last_row: Any) -> dict[str, float]:
    """Return the last day's means over societies: as simulated or, if nothing was, as recorded."""
    series = series_of(p)
    names = [name for name, one in series.items() if not one.lag and grouped(name) is None]
    if last_row is not None:
        means = dict(zip(series, last_row.mean(axis=0).tolist(), strict=True))
        return {name: means[name] for name in names}
    with open_results(path) as dataset:
        if dataset["day"].values[-1:] != [days]:  # the last day is none of those recorded
            return {}
        return {name: float(dataset[name].isel(day=-1).mean()) for name in names}
