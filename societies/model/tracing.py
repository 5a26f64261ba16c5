"""What did each phase of a tick change? For a model in one file, from its fields and events alone.

Earlier ticks run on any OpenCL device. The traced tick runs phase by phase in plain Python and must
end in the same state as on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError, DeviceError, option
from societies.opencl import Device
from societies.words import counted
from societies.workload.checking.coverage import first_difference
from societies.workload.checking.verify import REPORT_IT
from societies.workload.declare.fields import SERIES
from societies.workload.declare.protocol import Setup
from societies.workload.running.batches import OwnCopies, engine_of
from societies.workload.running.engines import LOG_TICKS, Engine
from societies.workload.running.forms import in_form, require_form
from societies.workload.running.state import checkpointed

SHOWN = 6
"""Entries of a field, or rows of events, that a text names of each phase."""


@dataclass
class TracedPhase:
    """What a phase changed.

    Attributes
    ----------
    fields : by field: index, value before and value after of each entry that changed
    drawn : fields of random streams that changed
    rows : by list of events, the rows that the phase appended
    """

    phase: str
    fields: dict[str, list[tuple[tuple[int, ...], Any, Any]]] = field(default_factory=dict)
    drawn: list[str] = field(default_factory=list)
    rows: dict[str, list[list[int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class TracedTick:
    """The phases of a tick of one copy, and how it was computed."""

    clock: str
    copies: str
    copy: int
    tick: int
    entry: int | None
    phases: list[TracedPhase]
    series: dict[str, float]
    reached: str

    def data(self) -> dict[str, Any]:
        """Return everything as data."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the text of the command line."""
        of = "" if self.entry is None else f", of entry {self.entry}"
        lines = [
            f"{self.copies} {self.copy}, {self.clock} {self.tick}: what each phase changed{of}"
        ]
        for one in self.phases:
            lines += ["", one.phase, *(f"  {line}" for line in _lines(one) or ["nothing"])]
        if self.series:
            lines += ["", f"series of {self.clock} {self.tick}"]
            lines += [f"  {name}: {value:,.10g}" for name, value in self.series.items()]
        return "\n".join([*lines, "", self.reached])


def trace(
    setup: Setup[Any, Any],
    *,
    tick: int = 1,
    entry: int | None = None,
    copy: int | None = None,
    form: str = "text",
    device: str | Device = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """Return a text on what each phase of a tick changed.

    Parameters
    ----------
    tick : int
        The tick, such as a day, from 1.
    entry : int, optional
        Only entries of this index, such as an agent, from 0, and events that hold this number.
    copy : int, optional
        The number of the copy, such as a society; default: the first.
    form : str
        text or json.

    Raises
    ------
    ConfigError
        If there is no such tick, entry or copy.
    DeviceError
        If the tick ends in another state than on the device.
    """
    require_form(form)
    return in_form(form, _traced(setup, tick, entry, copy, device, progress))


def _traced(
    setup: Setup[Any, Any],
    tick: int,
    entry: int | None,
    copy: int | None,
    device: str | Device,
    progress: Callable[[int, int], None] | None,
) -> TracedTick:
    """Return what each phase of a tick changed; see `trace`."""
    workload, p = setup.workload, setup.p
    clock, copies = workload.clock, workload.copies
    number = setup.first if copy is None else copy
    place = number - setup.first
    if not 1 <= tick <= setup.ticks:
        raise ConfigError(f"{option('tick', tick)}: the {clock}s are 1 to {setup.ticks}")
    if not 0 <= place < setup.copies:
        last = setup.first + setup.copies - 1
        raise ConfigError(f"{option('copy', number)}: the numbers are {setup.first} to {last}")
    longest = max(workload.lengths(p).values(), default=0)
    if entry is not None and not 0 <= entry < longest:
        raise ConfigError(f"{option('entry', entry)}: the entries are 0 to {longest - 1}")
    part = OwnCopies(place, 1, 1, 1)
    engine, name, _ = engine_of(setup, device, part=part)
    plain, _, _ = engine_of(setup, "reference", part=part)
    engine.start()
    for begin in range(1, tick, LOG_TICKS):
        engine.run_ticks(begin, min(tick - 1, begin + LOG_TICKS - 1))
        if progress:
            progress(begin, tick)
    if (end := engine.ended()) is not None:
        raise ConfigError(f"{option('tick', tick)}: {copies} {number} ended on {clock} {end}")
    plain.load(engine.state())
    phases = [*_phases(plain, workload.fields(p), tick, entry)]
    engine.run_ticks(tick, tick)
    fields = workload.arrays(p)
    found, expected = checkpointed(fields, engine.state()), checkpointed(fields, plain.state())
    compared = {one: array for one, array in expected.items() if fields[one].compared}
    if difference := first_difference(clock, tick, phases[-1].phase, found, compared):
        raise DeviceError(f"the device's {clock} is not that of the reference: {difference}\n"
                          f"{REPORT_IT}")  # fmt: skip
    if progress:
        progress(tick, tick)
    series = engine.logs()[SERIES][0, -1] if workload.series(p) else np.empty(0)
    before = f"{clock}s before it ran" if tick > 1 else f"{clock} ran"
    return TracedTick(
        clock,
        copies,
        number,
        tick,
        entry,
        phases,
        dict(zip(workload.columns(p), series.tolist(), strict=True)),
        f"The {before} on {name}; the phases ran in plain Python, to the same state.",
    )


def _phases(
    engine: Engine, fields: Mapping[str, Any], tick: int, entry: int | None
) -> Iterator[TracedPhase]:
    """Run the steps of a tick one after another and yield what each changes."""
    engine.forget_events()
    had = {name: len(rows) for name, rows in engine.events().items()}
    before = engine.state()
    for step in engine.steps(tick):
        engine.step(step, tick)
        after, seen = engine.state(), TracedPhase(str(step))
        for name in fields:
            if before[name].dtype == np.uint64:
                seen.drawn += [name] * (before[name].tobytes() != after[name].tobytes())
            elif found := [*_changed(before[name][0], after[name][0], entry)]:
                seen.fields[name] = found
        for name, rows in engine.events().items():
            new = [row[1:].tolist() for row in rows[had[name] :]]
            had[name] = len(rows)
            if chosen := [row for row in new if entry is None or entry in row[1:]]:
                seen.rows[name] = chosen
        yield seen
        before = after


def _changed(
    before: NDArray[Any], after: NDArray[Any], entry: int | None
) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """Yield index, value before and value after of entries that differ, of one or of all."""
    differ = before != after
    if before.dtype.kind == "f":
        differ = differ & ~(np.isnan(before) & np.isnan(after))
    for place in np.argwhere(differ).tolist():
        if entry is None or not place or place[0] == entry:
            index = tuple(place)
            yield index, before[index].item(), after[index].item()


def _lines(one: TracedPhase) -> list[str]:
    """Return what a phase changed, line by line."""
    lines = []
    for name, found in one.fields.items():
        for index, was, now in found[:SHOWN]:
            where = f"{name}{list(index)}" if index else name
            lines.append(f"{where}: {was:,.10g} to {now:,.10g}")
        lines += [f"{name}: {counted(len(found) - SHOWN, 'more entry')}"] * (len(found) > SHOWN)
    for name, rows in one.rows.items():
        lines += [f"{name}: row {', '.join(map(str, row))}" for row in rows[:SHOWN]]
        lines += [f"{name}: {counted(len(rows) - SHOWN, 'more row')}"] * (len(rows) > SHOWN)
    lines += [f"{name}: random numbers were drawn" for name in one.drawn]
    return lines
