"""How is an economy run from its configuration to its file: plan, run, resume, verify."""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.device import Device, choose_device
from societies.economy import schedule
from societies.economy.config import EconomyConfig
from societies.economy.conflicts import LARGEST_COUNT
from societies.economy.engine import (
    LOG_DAYS,
    DeviceEngine,
    Engine,
    ReferenceEngine,
    kept,
    launches_per_day,
    scratch_bytes,
    state_hash,
    workgroup_size,
)
from societies.economy.file import create, describe_tables, reopen, require_room, session
from societies.economy.parameters import Parameters, parameters
from societies.economy.results import Layout, grouped
from societies.economy.state import series_of, sizes, state_fields
from societies.errors import ConfigError, DeviceError, Interrupted
from societies.output import ResultFile, open_results

REFERENCE = "reference"
Progress = Callable[[int, int], None]
_CHUNK_SECONDS = 0.5


@dataclass(frozen=True)
class RunReport:
    """What a run did.

    Attributes
    ----------
    path : Path of the file
    first_day, days : int
        First day simulated by this run, and the last.
    societies, agents, resources : int
    device : str
    wall_seconds : float, including the building of kernels
    agent_days_per_second : float
    final : dict
        Mean over societies of every series on the last day.
    state_sha256 : str
        Hash of the complete state at the end; equal on every device.
    """

    path: Path
    first_day: int
    days: int
    societies: int
    agents: int
    resources: int
    device: str
    wall_seconds: float
    agent_days_per_second: float
    final: dict[str, float]
    state_sha256: str


@dataclass(frozen=True)
class Plan:
    """What a run would do: rows of (label, value), nothing written."""

    rows: list[tuple[str, str]]


@dataclass(frozen=True)
class Difference:
    """The first place where device and reference differ."""

    day: int
    phase: str
    array: str
    index: tuple[int, ...]
    device_value: Any
    reference_value: Any

    def __str__(self) -> str:
        return (
            f"day {self.day}, phase {self.phase}, array {self.array}, index {list(self.index)}: "
            f"device {self.device_value!r}, reference {self.reference_value!r}"
        )


@dataclass(frozen=True)
class VerifyReport:
    """The outcome of running device and reference side by side; ``str`` is the line to print."""

    identical: bool
    days: int
    arrays: int
    device: str
    difference: Difference | None = None

    def __str__(self) -> str:
        if self.difference is not None:
            return f"different: {self.difference}"
        return f"identical: {self.days} days, {self.arrays} arrays"


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
        interrupted = stack.enter_context(_interrupts())
        # What stands in the way of the file is said before any kernel is built.
        if resume:
            file = stack.enter_context(reopen(path, config))
            start = file.latest_checkpoint()
        else:
            require_room(path, p, layout, overwrite=overwrite)
        first = start[0] + 1 if start else 1
        try:
            if file and start and first > config.days:  # complete: there is nothing to simulate
                name, last_row, digest = str(file.attributes["device"]), None, state_hash(start[1])
            else:
                try:
                    with interrupted.at_once():
                        engine, name, facts = _engine(device, p)
                except DeviceError:
                    if interrupted.is_set():  # compilers stop at Ctrl-C with errors of their own
                        raise KeyboardInterrupt from None
                    raise
                if interrupted.is_set():
                    raise KeyboardInterrupt
                file = file or stack.enter_context(
                    create(path, p, layout, facts, overwrite=overwrite)
                )
                file.log_session(session(first, facts))
                if start:
                    engine.load(start[1])
                else:
                    engine.start()
                last_row = _simulate(engine, file, layout, first, interrupted, progress)
                digest = state_hash(engine.state())
        except KeyboardInterrupt:
            raise _interrupted(file, config.days) from None
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
    interrupted: _Interruption,
    progress: Progress | None,
) -> Any:
    """Run from day ``first`` to the end, writing on the way; return the last day's series."""
    config = layout.config
    details, days, every = layout.detail_days(), config.days, config.record.checkpoint
    chunk, day, last_row = 1, first - 1, None
    if progress:
        progress(day, days)
    while day < days and not interrupted.is_set():
        began = time.perf_counter()
        end = _chunk_end(day, chunk, days, details, every)
        with interrupted.at_once():
            series = engine.run_days(day + 1, end)
        _refuse_beyond_tables(series, engine.parameters)
        layout.write_series(file, day + 1, series)
        state = engine.state() if end in details else None
        if state is not None:
            layout.write_detail(file, end, state)
        file.commit(end)
        if end % every == 0 or end == days:
            file.checkpoint(end, kept(state or engine.state()))
        last_row, chunk = series[:, -1], _next_chunk(end - day, time.perf_counter() - began)
        day = end
        if progress:
            progress(day, days)
    if day < days:
        file.checkpoint(day, kept(engine.state()))
        raise KeyboardInterrupt
    return last_row


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


def _interrupted(file: ResultFile | None, days: int) -> Interrupted:
    """Return what to tell after Ctrl-C, the first one or an impatient second one."""
    if file is None:
        return Interrupted("interrupted before day 1; nothing was written")
    day = file.days_committed
    done = f"after day {day} of {days}; all of it is" if day else "before day 1; the start is"
    return Interrupted(f"interrupted {done} in {file.path}", file.path)


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
    rows = [
        ("societies", _numbers(p.first_society, p.societies)),
        ("agents x resources", f"{p.agents} x {p.resources}"),
        ("days", str(config.days)),
        ("agents per group", ", ".join(str(n) for n in config.group_sizes())),
        ("utility tables", describe_tables(p)),
    ]
    on_device = sum(bytes_of.values())
    if _is_reference(device):
        rows += [("device", "reference (plain Python)")]
    else:
        chosen = device if isinstance(device, Device) else choose_device(device, profiling=False)
        rows += [
            ("device", f"{chosen} ({chosen.reason})" if chosen.reason else str(chosen)),
            ("work-items per workgroup", str(workgroup_size(chosen, p))),
            ("launches per day", str(launches_per_day(p))),
        ]
        on_device += scratch_bytes(p)
    path = Path(out) if out is not None else Path("economy.h5")
    rows += [
        ("memory on the device", _bytes(on_device)),
        ("checkpoints in the file", f"2 x {_bytes(saved)}, every {config.record.checkpoint} days"),
        ("results in the file", _bytes(output)),
        ("output", f"{path.absolute()}{' (exists)' if path.exists() else ''}"),
    ]
    return Plan(rows)


def verify(
    config: EconomyConfig,
    *,
    device: str | Device = "auto",
    days: int | None = None,
    progress: Progress | None = None,
) -> VerifyReport:
    """Run device and reference side by side and compare every array after every phase.

    Equal means equal bits. The comparison stops at the first difference.

    Raises
    ------
    ConfigError
        If more days are asked for than the configuration has.
    """
    if days is not None and not 1 <= days <= config.days:
        raise ConfigError(
            f"verify: {days} days are asked for, the configuration has {config.days}; "
            f"raise it with --set days={days}"
            if days > 0
            else f"verify: {days} days are asked for; there must be at least 1"
        )
    p = parameters(config)
    engine, name, _ = _engine(device, p)
    reference = ReferenceEngine(p)
    last = config.days if days is None else days
    for day in range(last + 1):
        steps = schedule.start(p) if day == 0 else schedule.day_schedule(p, day)
        for step in steps:
            engine.step(step, day)
            reference.step(step, day)
            difference = _compare(day, step, engine, reference)
            if difference is not None:
                return VerifyReport(False, last, len(state_fields(p)), name, difference)
        if progress and day:
            progress(day, last)
    return VerifyReport(True, last, len(state_fields(p)), name)


def _compare(day: int, step: schedule.Step, engine: Engine, reference: Engine) -> Difference | None:
    found, expected = engine.state(), reference.state()
    for name, b in expected.items():
        a = found[name]
        bits = a.dtype.str.replace("f", "u")
        different = np.argwhere(a.view(bits) != b.view(bits))
        if len(different):
            index = tuple(int(i) for i in different[0])
            return Difference(day, str(step), name, index, a[index].item(), b[index].item())
    return None


def _is_reference(device: str | Device) -> bool:
    """Whether the reference is asked for, by the argument or by SOCIETIES_DEVICE."""
    if isinstance(device, Device):
        return False
    asked = device.strip().lower()
    if asked in ("", "auto"):
        asked = os.environ.get("SOCIETIES_DEVICE", "").strip().lower()
    return asked == REFERENCE


def _engine(device: str | Device, p: Parameters) -> tuple[Engine, str, dict[str, str]]:
    if _is_reference(device):
        python = f"Python {platform.python_version()}"
        facts = {"device": REFERENCE, "driver": python, "build_options": ""}
        return ReferenceEngine(p), REFERENCE, facts
    chosen = device if isinstance(device, Device) else choose_device(device, profiling=False)
    facts = {
        "device": f"{chosen.name} ({chosen.platform})",
        "driver": f"{chosen.driver}; {chosen.version}",
        "build_options": " ".join(chosen.build_options),
    }
    why = f" ({chosen.reason})" if chosen.reason else ""
    return DeviceEngine(chosen, p), f"{chosen}{why}", facts


def _chunk_end(day: int, chunk: int, days: int, details: set[int], checkpoint: int) -> int:
    """Return the day up to which to go before something has to be written."""
    for end in range(day + 1, min(day + chunk, days) + 1):
        if end in details or end % checkpoint == 0:
            return end
    return min(day + chunk, days)


def _next_chunk(days: int, seconds: float) -> int:
    """Return how many days take about half a second: what an interruption can lose."""
    return max(1, min(LOG_DAYS, 4 * days, int(days * _CHUNK_SECONDS / max(seconds, 1e-9))))


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


class _Interruption:
    """Whether Ctrl-C was pressed. The second time it stops at once, unless a file is written."""

    def __init__(self) -> None:
        self._set = self._computing = False

    def is_set(self) -> bool:
        return self._set

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let a second Ctrl-C end the block with KeyboardInterrupt."""
        self._computing = True
        try:
            yield
        finally:
            self._computing = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Be called for SIGINT."""
        if self._set and self._computing:
            raise KeyboardInterrupt
        self._set = True


@contextmanager
def _interrupts() -> Iterator[_Interruption]:
    """Turn the first Ctrl-C into a flag, so that a day is finished and flushed before stopping."""
    flag = _Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:  # started in the background, where Ctrl-C is meant for others
        yield flag
        return
    signal.signal(signal.SIGINT, flag.handle)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)


def _numbers(first: int, count: int) -> str:
    return (
        f"1 (number {first})" if count == 1 else f"{count} (numbers {first} to {first + count - 1})"
    )


def _bytes(count: int) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024  # type: ignore[assignment]
    return f"{count:.1f} GiB"
