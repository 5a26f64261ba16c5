"""Will memory, disk and time suffice for a planned run?

A warning and no error: memory may become free, a disk be cleared, and nobody knows how long a
machine is left alone. What a run itself finds out, it reports itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from societies.errors import OutputError, option
from societies.opencl import Device

A_LONG_TIME = 24 * 3600.0
"""Seconds above which a run gets a warning that it is long."""


def room_warnings(
    device: Device | None,
    memory: int,
    largest: int,
    path: Path,
    require_room: Callable[[], None],
    copies: str = "copies",
) -> tuple[str, ...]:
    """Return what memory and disk lack for a run, a sentence each.

    Parameters
    ----------
    device : Device, or None for the reference, whose memory cannot be foretold
    memory, largest : bytes on the device, in all and of its largest array
    path : of the file
    require_room : raises OutputError if the file cannot be made
    copies : what there may be fewer of
    """
    found = []
    if device is not None:
        free = available_memory() if device.kind == "cpu" else None
        if device.max_alloc and largest > device.max_alloc:
            found.append(
                f"memory: one array needs {byte_count(largest)}, {device.name} takes at most "
                f"{byte_count(device.max_alloc)} in one: run fewer {copies} at once"
            )
        elif device.global_memory and memory > device.global_memory:
            found.append(
                f"memory: {byte_count(memory)} are needed, {device.name} has "
                f"{byte_count(device.global_memory)}: run fewer {copies} at once"
            )
        elif free is not None and memory > free:
            found.append(
                f"memory: {byte_count(memory)} are needed, {byte_count(free)} are free at present: "
                f"run fewer {copies} at once, or end other programs"
            )
    if not path.exists():  # else it is continued, or replaced, and said then
        try:
            require_room()
        except OutputError as error:
            found.append(" ".join(str(error).split("\n")))
    return tuple(found)


def time_warning(seconds: float | None) -> tuple[str, ...]:
    """Return a sentence if a run will take long by a rough estimate; None: there is none."""
    if seconds is None or seconds < A_LONG_TIME:
        return ()
    return (
        f"time: roughly {duration(seconds)} by speeds measured elsewhere; try a part of it first, "
        f"and mind that an interrupted run goes on with {option('resume', True)}",
    )


def duration(seconds: float) -> str:
    """Write a time as people say it, in one unit and without false precision."""
    for unit, length in (("year", 365.25 * 86400), ("day", 86400.0), ("hour", 3600.0)):
        if seconds >= length:
            count = float(
                f"{seconds / length:.1g}" if seconds < 10 * length else f"{seconds / length:.2g}"
            )
            return f"{count:,.0f} {unit}{'' if count == 1 else 's'}"
    return f"{max(1, round(seconds / 60)):.0f} minutes" if seconds >= 60 else "less than a minute"


def available_memory() -> int | None:
    """Return the bytes of memory that are free for programs, None where the system does not say."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def byte_count(count: float) -> str:
    """Write a number of bytes as people read it."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
