"""Will memory, disk and time suffice for a planned run?

The answers are warnings and not errors: memory may become free, the disk may be cleared, and we do
not know how long the machine is available. A run that then lacks something reports that itself.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable
from pathlib import Path

from societies.errors import OutputError, option
from societies.memory import address_space
from societies.opencl import Device

A_LONG_TIME = 24 * 3600.0
"""A run that is estimated to take longer, in seconds, gets a warning."""


def room_warnings(
    device: Device | None,
    memory: int,
    largest: int,
    path: Path,
    require_room: Callable[[], None],
    copies: str = "copies",
) -> tuple[str, ...]:
    """Return a sentence for each shortage of memory or disk space that a run would meet.

    Parameters
    ----------
    device : Device, or None for the reference, whose use of memory cannot be estimated
    memory, largest : bytes on the device: of all arrays together, and of the largest one
    path : path of the file
    require_room : raises OutputError if the file cannot be made
    copies : plural noun for the copies, such as "societies", used in the advice
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
    if not path.exists():  # otherwise the run continues or replaces it, and checks it then
        try:
            require_room()
        except OutputError as error:
            found.append(" ".join(str(error).split("\n")))
    return tuple(found)


def time_warning(seconds: float | None) -> tuple[str, ...]:
    """Return a warning if the estimated ``seconds`` are long; None means there is no estimate."""
    if seconds is None or seconds < A_LONG_TIME:
        return ()
    return (
        f"time: roughly {duration(seconds)} by speeds measured elsewhere; try a part of it first, "
        f"and mind that an interrupted run continues with {option('resume', True)}",
    )


def duration(seconds: float) -> str:
    """Return a duration as text, in one unit and without false precision."""
    for unit, length in (("year", 365.25 * 86400), ("day", 86400.0), ("hour", 3600.0)):
        if seconds >= length:
            count = float(
                f"{seconds / length:.1g}" if seconds < 10 * length else f"{seconds / length:.2g}"
            )
            return f"{count:,.0f} {unit}{'' if count == 1 else 's'}"
    return f"{max(1, round(seconds / 60)):.0f} minutes" if seconds >= 60 else "less than a minute"


def available_memory() -> int | None:
    """Return the bytes of memory available to this process; None if the system does not report it.

    A limit of the address space (``ulimit -v``) counts too: OpenCL on a CPU may allocate an array
    only when it is used, and then end the process.
    """
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return None
    limit = address_space()
    left = sys.maxsize if limit is None else max(0, limit - pages * mmap.PAGESIZE)
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return min(int(line.split()[1]) * 1024, left)
    return None


def byte_count(count: float) -> str:
    """Return a number of bytes as text with a binary unit."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
