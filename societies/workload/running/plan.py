"""Which sizes, memory and launches would a run have? Nothing is built or written to find out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from societies.errors import OutputError
from societies.opencl import Device
from societies.output.checkpoints import interval
from societies.words import plural
from societies.workload.declare.config import recorded
from societies.workload.declare.protocol import Setup
from societies.workload.running.batches import OwnCopies, Room, batch_size
from societies.workload.running.branch import parent_of
from societies.workload.running.contents import contents_of
from societies.workload.running.devices import chosen_device
from societies.workload.running.file import parts, require_room
from societies.workload.running.launches import launches_of
from societies.workload.running.programs import program_lines
from societies.workload.running.request import Config, Request, config_warnings, request
from societies.workload.running.several import devices_of, shown
from societies.workload.running.sufficiency import byte_count, duration, room_warnings, time_warning


@dataclass(frozen=True)
class Plan:
    """Description of a run that has not been started.

    Attributes
    ----------
    rows : list of (label, value)
    warnings : a sentence for everything that is probably a mistake or will probably fail
    """

    rows: list[tuple[str, str]]
    warnings: tuple[str, ...] = ()


class NotKnown(Exception):
    """Raised if a schedule reads an array of the state, which a plan does not have."""


class Unseen(dict[str, Any]):
    """Replaces the arrays of the state in a plan; reading one raises `NotKnown`."""

    def __missing__(self, name: str) -> Any:
        raise NotKnown(name)


def plan(
    config: Config,
    *,
    device: str | Device = "auto",
    out: str | Path | None = None,
    table: Any = None,
    batch: int | None = None,
    start: str | Path | None = None,
    tick: int | None = None,
    values: Mapping[str, Any] | None = None,
    fan: int | None = None,
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
    of: Any = {"out": out, "table": table, "batch": batch}
    asked = request("plan", config, clock, start=start, tick=tick, values=values, fan=fan, **of)
    made = _plan(asked, device)
    return replace(made, warnings=(*config_warnings(asked.setup.config), *made.warnings))


def _plan(asked: Request, device: str | Device) -> Plan:
    """Describe a run without building or writing anything."""
    setup, path, batch = asked.setup, asked.path, asked.batch
    history = []
    if asked.start is not None:
        with parent_of(setup, asked.start, asked.tick) as found:
            clock = setup.workload.clock
            after = f"{found.path} after {clock} {found.tick}"
            computed = f"computed from {clock} {found.begin + 1}"
            history = [("branches off", f"{after}, {computed}")]
    devices = devices_of(setup, device)
    chosen, name, _ = chosen_device(devices[0])
    if devices[1:]:
        name = shown(devices, [chosen_device(one)[2]["device"] for one in devices])
    setup = setup.on(chosen)
    workload, config, p = setup.workload, setup.config, setup.p
    contents, clock, count = contents_of(setup), workload.clock, setup.copies
    made = parts(setup, contents)
    saved = sum(
        math.prod(shape) * np.dtype(kind).itemsize for shape, kind in made["state"].values()
    )
    lengths = {one.name: len(one.values) for one in made["coordinates"] if not one.along}
    results = sum(
        math.prod(lengths[dim] for dim in one.dims) * np.dtype(one.dtype).itemsize
        for one in made["variables"]
    )
    results += sum(table.nbytes(lengths) for table in made["tables"])
    own, ticks = workload.plan_rows(config, p), (plural(clock), str(setup.ticks))
    named = [("program", line) for line in program_lines(workload.programs(p))]
    rows = [
        (plural(workload.copies), numbers(setup.first, count)),
        *own,
        *named,
        *([] if ticks[0] in dict(own) else [ticks]),
        *history,
        ("device", name if chosen else f"{name} (plain Python)"),
    ]
    most = math.ceil(count / len(devices))
    part = OwnCopies(0, most, len(devices), devices.count(devices[0])) if devices[1:] else None
    room = Room(setup, chosen, part) if chosen else None
    size = most if room is None or room.lack() else batch_size(most, room.copies, batch)
    if chosen is None and batch:
        size = batch_size(count, count, batch)
    on_each = f" on each of the {len(devices)} devices" if devices[1:] else ""
    rows.append((f"{plural(workload.copies)} at once", f"{_batches(most, size, room)}{on_each}"))
    if chosen:
        rows += [
            *workload.device_rows(config, chosen),
            ("work-items per workgroup", str(workload.work_items(p, count, chosen))),
            (f"launches per {clock}", _launches(setup, size, chosen)),
        ]
    every = recorded(config, "checkpoint", "auto")
    memory = state_bytes(setup) if room is None else room.nbytes(size)
    seconds = workload.seconds(config, chosen)
    rows += [
        ("memory on the device" if chosen else "memory of the state", byte_count(memory)),
        ("checkpoints in the file", describe_checkpoints(every, saved, clock)),
        ("results in the file", byte_count(results)),
        *([] if seconds is None else [("time, roughly", duration(seconds))]),
        ("output", f"{path.absolute()}{' (exists)' if path.exists() else ''}"),
    ]
    largest = (
        max(f.nbytes(setup.sizes) for f in setup.fields.values()) if room is None else room.largest
    )
    lacking = room_warnings(
        chosen,
        memory,
        size * largest,
        path,
        lambda: require_room(setup, contents, path, overwrite=True),
        plural(workload.copies),
    )
    if room is not None and room.lack():
        lacking = (room.lack(),)
    invalid: tuple[str, ...] = ()
    try:
        workload.require_outputs(config, path)
    except OutputError as error:
        invalid = ("; ".join(str(error).split("\n")),)
    return Plan(rows, (*lacking, *invalid, *time_warning(seconds)))


def _batches(count: int, size: int, room: Room | None) -> str:
    """Return a text with the number of copies per batch, and how many fit the device."""
    if room is not None and room.lack():
        return "none fits"
    batches = math.ceil(count / size)
    fit = "" if room is None or room.copies >= 2**31 else f"; {room.copies:,} fit"
    return f"all{fit}" if batches == 1 else f"{size}, in {batches} batches{fit}"


def describe_checkpoints(asked: int | str, nbytes: int, clock: str) -> str:
    """Return a text with the size and interval of checkpoints that have ``nbytes`` each."""
    every = interval(asked, nbytes)
    return f"2 x {byte_count(nbytes)}, every {every} {plural(clock)}" if every else "none"


def state_bytes(setup: Setup[Any, Any]) -> int:
    """Return the bytes of all arrays of the state."""
    return setup.copies * sum(field.nbytes(setup.sizes) for field in setup.fields.values())


def _launches(setup: Setup[Any, Any], copies: int, device: Device) -> str:
    """Return a text with the launches of the first and last tick.

    If the number depends on an array of the state, the text names this array.
    """
    workload, p = setup.workload, setup.p
    found = []
    last = setup.ticks
    for tick in sorted({min(1, last), last}):
        try:
            steps = tuple(workload.schedule(p, tick, Unseen()))
            found.append(str(launches_of(workload.phases(p, copies), steps, tick, device)))
        except NotKnown as name:
            found.append(f"as many as {name} asks for")
    first, end = found[0], found[-1]
    clock = workload.clock
    return first if first == end else f"{first} in {clock} 1, {end} in {clock} {last}"


def numbers(first: int, count: int) -> str:
    """Return a text with the number of copies, and their numbers in the ensemble."""
    return (
        f"1 (number {first})" if count == 1 else f"{count} (numbers {first} to {first + count - 1})"
    )
