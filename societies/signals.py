"""Which signals end a run: Ctrl-C, SIGTERM (Slurm, ``docker stop``), SIGHUP (a closed terminal)?

They raise the exception `Stopped` wherever no data has to be saved first; a run turns the first
signal into a flag (`societies.workload.running.interrupts`). A signal that was ignored when the
process started, as under nohup, stays ignored, and handlers of the calling program are not
replaced.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that end a run; Windows has no SIGHUP."""

HANGUP = getattr(signal, "SIGHUP", None)

ONE_HANGUP = 1.0
"""Seconds within which several signals of a closed terminal count as one: the shell sends SIGHUP to
its jobs, the kernel to the same processes, and systemd sends it right after SIGTERM."""

AGAIN = 0.01
"""Seconds until a signal is sent again that arrived where Python ignores exceptions."""

UNANSWERED = 1.0
"""Seconds after a second signal after which a process ends that has not handled the first one."""

COMPUTING = "renderer"
"""Name of the thread that computes what a page shows, which a signal does not interrupt."""

_newest = -float("inf")
_last = 0
_writing = False
"""Time of the last of these signals, by `time.monotonic`; number of the last one that counts;
whether a run may be writing, which a second signal does not interrupt."""


class Stopped(KeyboardInterrupt):
    """Raised because of a signal; ``number`` is the number of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def number_of(error: BaseException | None) -> int:
    """Return the signal that caused an exception, also through its causes; default: SIGINT."""
    while error is not None and not isinstance(error, Stopped):
        error = error.__cause__ or error.__context__
    return int(signal.SIGINT if error is None else error.number)


def exit_code(number: int) -> int:
    """Return the exit code that shells report for a process ended by a signal."""
    return 128 + number


def came_after(moment: float) -> int:
    """Return the last signal if it came after ``moment`` (of `time.monotonic`), else 0."""
    return _last if _newest > moment else 0


def counts(number: int) -> bool:
    """Record a signal and return True if it counts: SIGHUP shortly after another does not."""
    global _newest, _last
    before, _newest = _newest, time.monotonic()
    if number == HANGUP:
        _leave_closed_terminal()
    if number == HANGUP and _newest - before <= ONE_HANGUP:
        return False
    _last = number
    return True


def _leave_closed_terminal() -> None:
    """Redirect output from a closed terminal to the null device, since each write would fail."""
    for stream in (1, 2):
        with suppress(OSError):
            try:
                os.write(stream, b"")
            except OSError:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream)
                os.close(nowhere)


def pass_on(moment: float) -> None:
    """Raise `Stopped` if a signal came after ``moment``, for callers that continue after a run.

    A run ignores signals that arrive after its last tick, so that it can print its report.
    """
    if number := came_after(moment):
        raise Stopped(number)


def handled(number: int) -> bool:
    """Return True if a signal ends the process, or raises `Stopped`, in this thread."""
    here = threading.current_thread() is threading.main_thread()
    return here and signal.getsignal(number) in (signal.SIG_DFL, stop)


def stop(number: int, frame: FrameType | None) -> None:
    """Handle a signal if no data has to be saved; the next SIGTERM ends the process at once."""
    if not counts(number):
        return
    if number == signal.SIGTERM:
        signal.signal(number, signal.SIG_DFL)
    raise Stopped(number)


def handle() -> None:
    """Let signals raise `Stopped` in this process, unless they are ignored or have a handler."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, stop)
    if sys.unraisablehook is not _repeat:
        sys.unraisablehook = _repeat


@contextmanager
def writing(may_write: bool) -> Iterator[None]:
    """Say whether a run may be writing in the block, so that only SIGKILL ends the process."""
    global _writing
    before, _writing = _writing, may_write
    try:
        yield
    finally:
        _writing = before


@contextmanager
def deferred() -> Iterator[None]:
    """Handle signals that arrive in the block after it, such as while pyopencl is imported.

    Its C++ code calls Python to make its enums, and an exception that a handler raises in it
    aborts the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {one: signal.getsignal(one) for one in ENDING if callable(signal.getsignal(one))}
    for number in before:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def watch() -> None:
    """End this process at a second signal if Python handles none, as while a device hangs.

    Python calls handlers in the main thread between its own instructions only, so never while a
    driver waits for a kernel with an endless loop. Another thread reads the numbers of signals.
    """
    if sys.platform == "win32":  # where Python takes sockets alone
        return
    reading, sending = os.pipe()
    os.set_blocking(sending, False)
    signal.set_wakeup_fd(sending, warn_on_full_buffer=False)
    threading.Thread(target=_end_unanswered, args=(reading,), daemon=True).start()


def _end_unanswered(reading: int) -> None:
    """End the process if a signal follows one that was not handled, and this one is not either."""
    came = before = -float("inf")
    while number := os.read(reading, 1):
        (one,) = number
        before, came = came, time.monotonic()
        if one not in ENDING or _newest >= before or (one == HANGUP and came - before < ONE_HANGUP):
            continue
        while _newest < before and (_writing or time.monotonic() - came < UNANSWERED):
            time.sleep(0.05)
        if _newest < before:
            say("ended at once, as the device did not answer; a result file has what was committed")
            os._exit(exit_code(one))


def _repeat(ignored: sys.UnraisableHookArgs) -> None:
    """Send a signal again whose `Stopped` Python ignores, as in ``__del__`` and in callbacks of C.

    It is sent from another thread, after this function: its own exceptions are ignored, too.
    """
    global _newest
    if not isinstance(ignored.exc_value, Stopped):
        sys.__unraisablehook__(ignored)
        return
    number = ignored.exc_value.number
    _newest = -float("inf")
    if signal.getsignal(number) == signal.SIG_DFL:
        signal.signal(number, stop)
    again = threading.Timer(AGAIN, _thread.interrupt_main, (number,))
    again.daemon = True
    again.start()


def last_words() -> None:
    """Prepare for the final message: ignore Ctrl-C, let other signals end the process at once."""
    if signal.getsignal(signal.SIGINT) is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in ENDING:
        if signal.getsignal(number) is stop:
            signal.signal(number, signal.SIG_DFL)


def ignore() -> None:
    """Ignore all of these signals: the parent process handles them."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def end_with(parent: int) -> None:
    """Let this process end within a second after its parent, whatever ended that: also SIGKILL."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def leave(code: object) -> None:
    """End the process now, if a thread that was to end still builds kernels or computes a long day.

    Python would end first what the driver of the device needs, so that the process crashes.
    """
    if any(one.name.startswith(COMPUTING) for one in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def say(text: str) -> None:
    """Write the final message to stderr, unless writing fails."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)
