"""How does a run stop after a signal, or when its device fails?

It completes the tick, saves the state and then raises an error that says what the file holds.
"""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any

from societies import signals
from societies.errors import DeviceError, DeviceFailed, Interrupted
from societies.output import ResultFile
from societies.signals import Stopped
from societies.words import plural

_OF_PROCESS = (signals.stop, signal.default_int_handler)
"""Handlers of this package and of Python. A signal that arrives after the run has completed is not
passed on to them, because they would end the process before it prints the report."""

GRACE = 5.0
"""Longest wait for a device after a second signal that came during writing, in seconds."""


class Interruption:
    """Records whether Ctrl-C, SIGTERM or SIGHUP arrived.

    A second signal ends the run at once. One that arrives while the run is writing ends it if the
    device does not answer afterwards.

    Attributes
    ----------
    number : number of the first signal; 0 if none has arrived
    again : whether a second one has arrived
    let_go : function that ends what has waited for a device for a number of seconds, in any thread;
        called again and again after the second signal
    over : whether the run has ended
    """

    def __init__(self) -> None:
        self.number = 0
        self.let_go: Callable[[float], None] = lambda seconds: None
        self.again = self.over = False
        self._first = self._second = False

    def is_set(self) -> bool:
        """Return True if a signal has arrived."""
        return bool(self.number)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let a second signal end the block with `Stopped`.

        If one arrived earlier, the block has `GRACE` seconds left, to save the state.
        """
        self._second = True
        try:
            grace = _signal_later(self.number) if self.again else nullcontext()
            with grace, signals.writing(False):
                yield
        finally:
            self._second = False

    @contextmanager
    def at_first(self) -> Iterator[None]:
        """Let the first signal, even one that arrived earlier, end the block with `Stopped`."""
        self._first = True
        try:
            self.check()
            with signals.writing(False):
                yield
        finally:
            self._first = False
        self.check()

    @contextmanager
    def building(self) -> Iterator[None]:
        """Let the first signal end the block, which builds kernels, with `Stopped`."""
        try:
            with self.at_first():
                yield
        except DeviceError:
            self.check()  # compilers stop at Ctrl-C with errors of their own
            raise

    def check(self) -> None:
        """Raise `Stopped` if a signal has arrived."""
        if self.number:
            raise Stopped(self.number)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if not signals.counts(number):
            return
        once, self.again = self.again, self.is_set()
        self.number = self.number or number
        if self.again and not once:
            with suppress(RuntimeError):  # the system has no thread left
                _thread.start_new_thread(self._leave, ())  # a Timer takes locks, also this thread's
        if self._first or (self.again and self._second):
            raise Stopped(self.number)

    def _leave(self) -> None:
        while not self.over:
            time.sleep(GRACE / 10)
            self.let_go(GRACE)


@contextmanager
def _signal_later(number: int) -> Iterator[None]:
    """Send the main thread a signal if the block takes more than `GRACE` seconds."""
    main = threading.main_thread().ident or 0
    timer = threading.Timer(GRACE, signal.pthread_kill, (main, number))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def interrupts() -> Iterator[Interruption]:
    """Turn the first signal into a flag, so that a tick is finished and saved before stopping.

    An ignored signal stays ignored. SIGTERM and SIGHUP go to the handler of the calling program if
    it has one; without a handler they end the process after the block instead of at once. Python
    handles signals only in the main thread, so in other threads this does nothing.
    """
    flag = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    before: dict[int, Any] = {}
    for number in signals.ENDING:
        now = signal.getsignal(number)
        if _replaceable(number, now):
            before[number] = now
            signal.signal(number, flag.handle)
    whole = False
    try:
        with signals.writing(True):
            yield flag
        whole = True
    finally:
        flag.over = True
        for number, handler in before.items():
            signal.signal(number, handler)
        former = before.get(flag.number)
        if isinstance(outer := _owner(former), Interruption):
            outer.number = outer.number or flag.number
        elif former == signal.SIG_DFL:
            signal.raise_signal(flag.number)
        elif whole and callable(former) and former not in _OF_PROCESS:
            former(flag.number, None)  # too late to stop this run, but the caller may start others


def _replaceable(number: int, handler: Any) -> bool:
    """Return whether a run may replace the present handler of a signal."""
    if handler in (None, signal.SIG_IGN):  # set by C code; ignored, as in a background job
        return False
    ours = handler in (signal.SIG_DFL, signals.stop)
    return ours or number == signal.SIGINT or isinstance(_owner(handler), Interruption)


def _owner(handler: Any) -> Any:
    return getattr(handler, "__self__", None)


def interrupted(
    clock: str, file: ResultFile | None, last: int, error: BaseException
) -> Interrupted:
    """Return the error to raise after a first or second signal; it says what the file holds."""
    number = signals.number_of(error)
    if file is None or not file.placed:
        return Interrupted(f"interrupted before {clock} 1; nothing was written", None, number)
    tick = file.ticks_committed
    done = f"after {clock} {tick}{_of(last, file)}; all of it is"
    if not tick:
        done = f"before {clock} 1; the start is"
    lost = (
        "" if file.slots else f"\nit has no checkpoints, so resuming it begins with {clock} 1 again"
    )
    return Interrupted(f"interrupted {done} in {file.path}{lost}", file.path, number)


def _of(last: int, file: ResultFile) -> str:
    """Return " of LAST"; an empty text if ``last`` is only an upper bound, as in a search."""
    return "" if file.open_ended else f" of {last}"


@contextmanager
def device_failures(clock: str, file: ResultFile, last: int) -> Iterator[None]:
    """If the device fails in a run of ``last`` ticks, add to the error what the file holds."""
    try:
        yield
    except DeviceError as error:
        tick = file.ticks_committed
        done = (
            f"all {plural(clock)} up to {tick}{_of(last, file)}"
            if tick
            else f"the start, before {clock} 1,"
        )
        start = "" if file.slots else f" from {clock} 1 on, as it has no checkpoints"
        raise DeviceFailed(
            f"{error}\n{file.path} holds {done} and can be resumed{start}", file.path
        ) from error
