"""How fast is a workload on a device? Units of work per second for several numbers of copies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from societies.errors import ConfigError
from societies.opencl import Device
from societies.words import counted, plural
from societies.workload.declare.protocol import Setup, Workload
from societies.workload.running.batches import copies_that_fit, engine_of
from societies.workload.running.devices import chosen_device
from societies.workload.running.engines import LOG_TICKS
from societies.workload.running.profile import Profile
from societies.workload.running.programs import allowing
from societies.workload.running.request import Config, setup_of, ticks_of

MUCH = 0.2
"""Share of the time from which on a translated phase may be worth a kernel written by hand."""

PAYS = 1.1
"""Larger numbers of copies are tried while four times as many increase the speed by this factor."""


@dataclass(frozen=True)
class Timing:
    """One measurement.

    Attributes
    ----------
    seconds : float, time of the ticks, after kernels were built and launched once
    build_seconds : float, time until the first tick was complete
    """

    workload: str
    device: str
    copies: int
    ticks: int
    seconds: float
    work: str
    work_per_second: float
    build_seconds: float


def bench(
    config: Config,
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
    copies : numbers of copies (societies, plates); default: 1, 4, 16 and so on, as long as they fit
        the device and increase the work per second; with a table, the number of its rows; if copies
        are frames or positions, their number in the configuration
    ticks : int, optional
        Number of ticks per measurement; the name of the clock can be used too. Default: that of
        the configuration, at most 64.
    repeats : number of measurements for each number of copies
    allow_programs : as for `run`

    Yields
    ------
    Timing
        One for each measurement, as soon as it is complete.

    Raises
    ------
    ConfigError
        If the configuration has no ticks or fewer than requested, or if a number of copies or
        measurements is less than 1.
    DeviceError
        If not even one copy fits the device, or the device fails.
    """
    setup = setup_of(config, called="bench")
    ticks = ticks_of(plural(setup.workload.clock), ticks, clock)
    return allowing(allow_programs, _bench(setup, device, copies, ticks, repeats))


def _bench(
    setup: Setup[Any, Any],
    device: str | Device,
    copies: Sequence[int],
    ticks: int | None,
    repeats: int,
) -> Iterator[Timing]:
    workload, config = setup.workload, setup.config
    if not setup.ticks:
        raise ConfigError(f"bench: the configuration has no {workload.clock} to time")
    wanted = _wanted(setup, ticks)
    if not _numbers(copies):
        raise ConfigError("bench: copies must be a list of numbers: [1, 8]")
    if min((*copies, 1)) < 1:
        raise ConfigError(
            f"bench: {counted(min(copies), workload.copies)} are requested; at least 1 is needed"
        )
    if repeats < 1:
        raise ConfigError(f"bench: {repeats} measurements are requested; at least 1 is needed")
    chosen, _, facts = chosen_device(device)
    name = facts["device"]
    if config.table is not None and any(one != config.table.rows for one in copies):
        raise ConfigError(
            f"bench: the table has {config.table.rows} rows, so there are as many copies"
        )
    if config.table is not None:
        copies = (config.table.rows,)
    elif not copies and type(workload).count is not Workload.count:
        copies = (setup.copies,)  # copies are frames or positions of the configuration

    timings = partial(_timings, setup, chosen, name, wanted, repeats)
    if copies:
        for count in copies:
            yield from timings(count)
        return
    yield from _while_they_pay(timings, copies_that_fit(setup.on(chosen)))


def _wanted(setup: Setup[Any, Any], ticks: int | None) -> int:
    """Return the number of ticks to measure.

    Raises ConfigError if the configuration has fewer.
    """
    most = setup.ticks
    wanted = min(most, LOG_TICKS) if ticks is None else ticks
    if not 1 <= wanted <= most:
        raise ConfigError(
            f"bench: {wanted} {plural(setup.workload.clock)} are requested; the configuration has "
            f"1 to {most}"
        )
    return wanted


def _while_they_pay(timings: Callable[[int], Iterator[Timing]], fit: int) -> Iterator[Timing]:
    """Yield the measurements of 1, 4, 16 copies and so on, up to ``fit`` copies."""
    count, before = 1, None
    while count <= fit:
        rates = []
        for timing in timings(count):
            rates.append(timing.work_per_second)
            yield timing
        if before is not None and not median(rates) >= PAYS * before > 0.0:
            return  # also if the work is 0, as in a match of random players without search
        count, before = 4 * count, median(rates)


def _timings(
    setup: Setup[Any, Any],
    device: Device | None,
    name: str,
    ticks: int,
    repeats: int,
    count: int,
) -> Iterator[Timing]:
    """Yield the measurements of a number of copies."""
    workload = setup.workload
    setup = setup if setup.config.table else with_copies(setup, count)
    began = time.perf_counter()
    engine = engine_of(setup, device or "reference")[0]
    engine.start()
    engine.run_ticks(1, 1)
    engine.wait()
    built = time.perf_counter() - began
    logged = workload.counted_by
    for repeat in range(repeats + 1):
        engine.start()
        engine.wait()
        began, work, counting = time.perf_counter(), 0.0, 0.0
        for first in range(1, ticks + 1, LOG_TICKS):
            engine.run_ticks(first, min(first + LOG_TICKS - 1, ticks))
            if logged:
                engine.wait()
                paused = time.perf_counter()
                work += float(engine.logs()[logged].sum())
                counting += time.perf_counter() - paused
        engine.wait()
        seconds = time.perf_counter() - began - counting
        if not repeat:  # not timed: drivers finish kernels at their first launch, which may be late
            ended = engine.ended()
            ticks = ticks if ended is None else ended  # ticks after the end have no work
            continue
        if not logged:
            work = workload.work_done(setup.config, ticks)
        yield Timing(
            workload.name, name, count, ticks, seconds, workload.work, work / seconds, built
        )


def with_copies(setup: Setup[Any, Any], count: int | None) -> Setup[Any, Any]:
    """Return a setup with this number of copies; the same setup for None.

    A blur then takes this number of its frames, although it has no key for them.
    """
    if count is None:
        return setup
    return Setup(setup.workload, setup.config.model_copy(update={"replicates": count}))


def bench_phases(
    config: Config,
    *,
    device: str | Device = "auto",
    ticks: int | None = None,
    **clock: int | None,
) -> tuple[Profile, str]:
    """Measure the phases of a configuration, and return the times and the name of the device.

    Raises ConfigError if the configuration has no ticks or fewer than requested.

    Parameters
    ----------
    ticks : as for `bench`
    """
    setup = setup_of(config, called="bench")
    wanted = _wanted(setup, ticks_of(plural(setup.workload.clock), ticks, clock))
    engine, _, facts = engine_of(setup, device, profiling=True)
    for _ in range(2):  # the first is not timed: drivers finish kernels at their first launch
        engine.start()
        engine.wait()
        profile = engine.profiled()
        for first in range(1, wanted + 1, LOG_TICKS):
            engine.run_ticks(first, min(first + LOG_TICKS - 1, wanted))
    return profile, facts["device"]


def worth_a_kernel(profile: Profile, translated: Sequence[str]) -> list[str]:
    """Return a line for each translated phase that takes much of the time, the longest first."""
    lines, total = [], profile.kernel_seconds
    for one in sorted(profile.phases, key=lambda one: -one.seconds):
        share = one.seconds / total if total else 0.0
        if one.phase in translated and share >= MUCH:
            line = f"{one.phase} takes {share:.0%} of the kernels' time"
            if share < 0.995:  # else there is nothing to compare with
                most = f"{1.0 / (1.0 - share):.1f} times as fast"
                line += f": if a kernel written by hand took none, they would be {most}"
            lines.append(line)
    return lines


def _numbers(copies: object) -> bool:
    """Return True for a sequence of whole numbers."""
    return isinstance(copies, Sequence) and all(isinstance(count, int) for count in copies)
