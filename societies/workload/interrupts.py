"""How does a run stop: at Ctrl-C, after a tick that is whole, or when its device fails?"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from societies.errors import DeviceError, DeviceFailed, Interrupted
from societies.output import ResultFile
from societies.words import plural


class Interruption:
    """Whether Ctrl-C was pressed. The second time it stops at once, unless a file is written."""

    def __init__(self) -> None:
        self._set = self._computing = False

    def is_set(self) -> bool:
        """Whether Ctrl-C was pressed."""
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
        """Handle SIGINT."""
        if self._set and self._computing:
            raise KeyboardInterrupt
        self._set = True


@contextmanager
def interrupts() -> Iterator[Interruption]:
    """Turn the first Ctrl-C into a flag, so that a tick is finished and flushed before stopping."""
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


def interrupted(clock: str, file: ResultFile | None, last: int) -> Interrupted:
    """Return the message after Ctrl-C, the first one or an impatient second one."""
    if file is None or not file.placed:
        return Interrupted(f"interrupted before {clock} 1; nothing was written")
    tick = file.ticks_committed
    done = f"after {clock} {tick}{_of(last, file)}; all of it is"
    if not tick:
        done = f"before {clock} 1; the start is"
    lost = (
        "" if file.slots else f"\nit has no checkpoints, so resuming it begins with {clock} 1 again"
    )
    return Interrupted(f"interrupted {done} in {file.path}{lost}", file.path)


def _of(last: int, file: ResultFile) -> str:
    """Return of how many ticks; nothing where that is only a bound, as of a search."""
    return "" if file.open_ended else f" of {last}"


@contextmanager
def device_failures(clock: str, file: ResultFile, last: int) -> Iterator[None]:
    """Add what is in the file to the error of a device that fails in a run of ``last`` ticks."""
    try:
        yield
    except DeviceError as error:
        tick = file.ticks_committed
        done = (
            f"all {plural(clock)} up to {tick}{_of(last, file)}"
            if tick
            else f"the start, before {clock} 1,"
        )
        anew = "" if file.slots else f" from {clock} 1 on, as it has no checkpoints"
        raise DeviceFailed(
            f"{error}\n{file.path} holds {done} and can be resumed{anew}", file.path
        ) from error
