"""What do the runs of all workloads share: reports, Ctrl-C, blocks of days, words for sizes?"""

from __future__ import annotations

import os
import platform
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from societies.device import Device, choose_device
from societies.errors import DeviceError, DeviceFailed, Interrupted
from societies.output import ResultFile, open_results
from societies.output.checkpoints import interval

REFERENCE = "reference"
Progress = Callable[[int, int], None]
_BLOCK_SECONDS = 0.5


@dataclass(frozen=True)
class RunReport:
    """What a run did.

    Attributes
    ----------
    path : Path of the file
    first_day, days : int
        First day simulated by this run, and the last.
    societies : int
    device : str
    wall_seconds : float, including the building of kernels
    final : dict
        Mean over societies of every series on the last day.
    state_sha256 : str
        Hash of the complete state at the end; equal on every device.
    """

    path: Path
    first_day: int
    days: int
    societies: int
    device: str
    wall_seconds: float
    final: dict[str, float]
    state_sha256: str

    @property
    def headlines(self) -> list[str]:
        """Series of the closing table."""
        return list(self.final)

    @property
    def means_over(self) -> str:
        """What the numbers of the closing table are means over; empty if over nothing."""
        return "" if self.societies == 1 else f"{self.societies} societies"

    @property
    def rate(self) -> tuple[str, float]:
        """How fast it went, and what is counted."""
        days = self.societies * (self.days - self.first_day + 1)
        return "society-days per second", days / self.wall_seconds

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table: the last day under the file's own names and units, then the run."""
        names = self.headlines
        with open_results(self.path) as results:
            units = [results[name].attrs["units"] if name in results else "1" for name in names]
        over = f", means over {self.means_over}" if self.means_over else ""
        rows = [("last day", f"{self.days}{over}")]
        complete = self.first_day > self.days
        if complete:
            rows.append(("days run now", "none, the file was complete"))
        elif self.first_day > 1:
            rows.append(("days run now", f"{self.first_day} to {self.days}"))
        for name, unit in zip(names, units, strict=True):
            value = f"{self.final[name]:.6g}"
            rows.append((name.replace("_", " "), value if unit == "1" else f"{value} {unit}"))
        rows.append(("device", self.device))
        if not complete:
            what, rate = self.rate
            rows += [("wall time", f"{self.wall_seconds:.1f} s"), (what, f"{rate:,.0f}")]
        return [*rows, ("state sha256", self.state_sha256), ("written to", str(self.path))]


@dataclass(frozen=True)
class Plan:
    """What a run would do, nothing written.

    Attributes
    ----------
    rows : list of (label, value)
    warnings : what is probably not meant so, or will probably fail; a sentence each
    """

    rows: list[tuple[str, str]]
    warnings: tuple[str, ...] = ()


def is_reference(device: str | Device) -> bool:
    """Whether the reference is asked for, by the argument or by SOCIETIES_DEVICE."""
    if isinstance(device, Device):
        return False
    asked = device.strip().lower()
    if asked in ("", "auto"):
        asked = os.environ.get("SOCIETIES_DEVICE", "").strip().lower()
    return asked == REFERENCE


def chosen_device(device: str | Device) -> tuple[Device | None, str, dict[str, str]]:
    """Return the device (None: the reference), its name for people, and facts for the file."""
    if is_reference(device):
        python = f"Python {platform.python_version()}"
        return None, REFERENCE, {"device": REFERENCE, "driver": python, "build_options": ""}
    chosen = device if isinstance(device, Device) else choose_device(device, profiling=False)
    facts = {
        "device": f"{chosen.name} ({chosen.platform})",
        "driver": f"{chosen.driver}; {chosen.version}",
        "build_options": " ".join(chosen.build_options),
    }
    why = f" ({chosen.reason})" if chosen.reason else ""
    return chosen, f"{chosen}{why}", facts


class Interruption:
    """Whether Ctrl-C was pressed. The second time it stops at once, unless a file is written."""

    def __init__(self) -> None:
        self._set = self._computing = False

    def is_set(self) -> bool:
        """Whether it was."""
        return self._set

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let a second Ctrl-C end the block with KeyboardInterrupt."""
        self._computing = True
        try:
            yield
        finally:
            self._computing = False

    @contextmanager
    def building(self) -> Iterator[None]:
        """Let Ctrl-C end the building of kernels, which a block does, with KeyboardInterrupt."""
        try:
            with self.at_once():
                yield
        except DeviceError:
            if self.is_set():  # compilers stop at Ctrl-C with errors of their own
                raise KeyboardInterrupt from None
            raise
        if self.is_set():
            raise KeyboardInterrupt

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Be called for SIGINT."""
        if self._set and self._computing:
            raise KeyboardInterrupt
        self._set = True


@contextmanager
def interrupts() -> Iterator[Interruption]:
    """Turn the first Ctrl-C into a flag, so that a day is finished and flushed before stopping."""
    flag = Interruption()
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


def interrupted(file: ResultFile | None, days: int) -> Interrupted:
    """Return what to tell after Ctrl-C, the first one or an impatient second one."""
    if file is None or not file.placed:
        return Interrupted("interrupted before day 1; nothing was written")
    day = file.ticks_committed
    done = f"after day {day} of {days}; all of it is" if day else "before day 1; the start is"
    again = "" if file.slots else "\nit has no checkpoints, so resuming it begins with day 1 again"
    return Interrupted(f"interrupted {done} in {file.path}{again}", file.path)


@contextmanager
def device_failures(file: ResultFile, days: int) -> Iterator[None]:
    """Let a device that fails while a run of ``days`` days goes on say what is in the file."""
    try:
        yield
    except DeviceError as error:
        day = file.ticks_committed
        done = f"all days up to {day} of {days}" if day else "the start, before day 1,"
        raise DeviceFailed(
            f"{error}\n{file.path} holds {done} and can be resumed", file.path
        ) from error


def block_end(day: int, block: int, days: int, details: Iterable[int], checkpoint: int) -> int:
    """Return the day up to which to go before something has to be written."""
    for end in range(day + 1, min(day + block, days) + 1):
        if end in details or (checkpoint and end % checkpoint == 0):
            return end
    return min(day + block, days)


def is_checkpoint(day: int, days: int, every: int) -> bool:
    """Whether the state after a day is kept, every so many days and at the end; 0: never."""
    return every > 0 and (day % every == 0 or day == days)


def checkpoint_number(day: int, every: int) -> int:
    """Return the number of a day's checkpoint; one between two regular ones has the later's."""
    return -(-day // every)


def describe_checkpoints(asked: int | str, nbytes: int) -> str:
    """Say for a plan how much checkpoints take and how often there is one."""
    every = interval(asked, nbytes)
    return f"2 x {byte_count(nbytes)}, every {every} days" if every else "none"


def next_block(days: int, seconds: float, most: int) -> int:
    """Return how many days take about half a second: what an interruption can lose."""
    return max(1, min(most, 4 * days, int(days * _BLOCK_SECONDS / max(seconds, 1e-9))))


def society_numbers(first: int, count: int) -> str:
    """Say how many societies there are, and which."""
    return (
        f"1 (number {first})" if count == 1 else f"{count} (numbers {first} to {first + count - 1})"
    )


def byte_count(count: float) -> str:
    """Write a number of bytes as people read it."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
