"""Which signals end a run: Ctrl-C, SIGTERM (Slurm, ``docker stop``), SIGHUP (a closed terminal)?

They become the exception `Stopped` wherever nothing has to be saved first; a run turns the first
one into a flag (`societies.workload.running.interrupts`). A signal that was ignored when the
process started, as under nohup, stays ignored, and a handler of the calling program stays in place.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that end a run; Windows has no SIGHUP."""

HANGUP = getattr(signal, "SIGHUP", None)

ONE_HANGUP = 1.0
"""Seconds in which several signals of a closed terminal are one: the shell sends SIGHUP to its
jobs, the kernel sends it to the same processes, and systemd sends it right after SIGTERM."""

_newest = -float("inf")
_last = 0
"""Time of the newest of these signals, by `time.monotonic`, and which one it was."""


class Stopped(KeyboardInterrupt):
    """Raised because of a signal; ``number`` is which one."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def number_of(error: BaseException | None) -> int:
    """Return which signal an exception, or one that it came from, stands for; default: SIGINT."""
    while error is not None and not isinstance(error, Stopped):
        error = error.__cause__ or error.__context__
    return int(signal.SIGINT if error is None else error.number)


def exit_code(number: int) -> int:
    """Return the exit code of a process that a signal has ended, as shells count it."""
    return 128 + number


def came_after(moment: float) -> int:
    """Return which signal came last, if it came after a moment of `time.monotonic`; else 0."""
    return _last if _newest > moment else 0


def counts(number: int) -> bool:
    """Note a signal, and return whether it counts: SIGHUP shortly after another one does not."""
    global _newest, _last
    before, _newest, _last = _newest, time.monotonic(), number
    if number == HANGUP:
        _leave_closed_terminal()
    return number != HANGUP or _newest - before > ONE_HANGUP


def _leave_closed_terminal() -> None:
    """Write to nowhere instead of to a terminal that is gone: each write would be an error."""
    for stream in (1, 2):
        with suppress(OSError):
            try:
                os.write(stream, b"")
            except OSError:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream)
                os.close(nowhere)


def handled(number: int) -> bool:
    """Return whether a signal ends the process, or raises `Stopped`, in this thread."""
    here = threading.current_thread() is threading.main_thread()
    return here and signal.getsignal(number) in (signal.SIG_DFL, stop)


def stop(number: int, frame: FrameType | None) -> None:
    """Handle a signal where nothing has to be saved; the next SIGTERM ends the process at once."""
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


def last_words() -> None:
    """Let only the last words be said: Ctrl-C is ignored, the others end the process at once."""
    if signal.getsignal(signal.SIGINT) is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in ENDING:
        if signal.getsignal(number) is stop:
            signal.signal(number, signal.SIG_DFL)


def ignore() -> None:
    """Leave all of them to the process that started this one."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def say(text: str) -> None:
    """Write last words on stderr, if it can still be written to."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)
