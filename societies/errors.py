"""Which errors a user can meet, and which exit code each one ends the command line with.

Every class here carries a message of one or two lines that says what is wrong, where, and what
to do. The command line prints that message without a traceback (``--debug`` shows it).
"""

from __future__ import annotations

import re
import signal
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

OPTIONS = {"start": "--from", "form": "-o"}
"""Options of the command line whose name is not that of the argument."""

_TYPED: ContextVar[dict[str, str] | None] = ContextVar("_TYPED", default=None)
"""Options by the word with which they were given (``tick``: ``day``); None outside of a shell."""


@contextmanager
def shell_words() -> Iterator[None]:
    """Let errors speak of options (``--resume``), as the command line does, not of arguments."""
    token = _TYPED.set(dict(_TYPED.get() or {}))
    try:
        yield
    finally:
        _TYPED.reset(token)


def typed(name: str, word: str) -> None:
    """Let errors call an option by the word with which it is given: ``tick`` by ``day``."""
    words = _TYPED.get()
    if words is not None:
        words[name] = word


def option(name: str, value: object = None) -> str:
    """Return how the caller writes an argument: ``--day 3`` in a shell, ``day=3`` in Python.

    Every message that tells people to give an argument asks for its name here. The name alone is
    ``--out`` or ``the argument out``; the value True stands for a switch, ``--resume``.
    """
    typed_words = _TYPED.get()
    if typed_words is not None:
        words = OPTIONS.get(name, f"--{typed_words.get(name, name).replace('_', '-')}")
        return (
            words
            if value is None or value is True
            else f"{words} {shortened(str(value), LONGEST_VALUE)}"
        )
    return (
        f"the argument {name}"
        if value is None
        else f"{name}={shortened(repr(value), LONGEST_VALUE)}"
    )


def override(text: str) -> str:
    """Return how the caller overrides a key: ``--set days=3``, or ``override days=3``."""
    return f"override {text}" if _TYPED.get() is None else f"--set {text}"


class SocietiesError(Exception):
    """Base of every error that is meant for the user; ``exit_code`` is the process's exit code."""

    exit_code = 1


class DamageWarning(UserWarning):
    """A part of a file is damaged that a run can go on without."""


class OriginWarning(UserWarning):
    """A file was made by other rules than those of today, or may have been."""


class SocietiesWarning(UserWarning):
    """Something is probably not meant so, but the run goes on."""


class SweepWarning(SocietiesWarning):
    """A sweep is much more work than its author may have meant."""


class ConfigError(SocietiesError):
    """The configuration or the usage is wrong; ``str(error)`` has one line per problem."""

    exit_code = 2


class DeviceError(SocietiesError):
    """No suitable device, or the device cannot do what is asked."""

    exit_code = 3


class BuildError(DeviceError):
    """A kernel did not compile; the message names the real file, line and column."""


class DeviceFailed(DeviceError):
    """The device failed in the middle of a run; every day up to the one named is in the file.

    Attributes
    ----------
    path : Path of the file to resume.
    """

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.path = path


class OutputError(SocietiesError):
    """The output file cannot be written, exists already, or does not fit the configuration."""

    exit_code = 4


class Interrupted(SocietiesError):
    """A signal interrupted the run; every day up to the one named is in the file.

    Attributes
    ----------
    path : Path of the file to resume, or None if there is none.
    exit_code : 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP
    """

    exit_code = 130

    def __init__(self, message: str, path: Path | None = None, number: int = signal.SIGINT) -> None:
        super().__init__(message)
        self.path, self.number, self.exit_code = path, number, 128 + number

    def followed_by(self, line: str) -> Interrupted:
        """Return the same with another line."""
        return Interrupted(f"{self}\n{line}", self.path, self.number)


COMPUTING = ("run", "sweep")
WRITING = ("bench", "capture", "export", "new", "play", "plot")
"""Commands that write files; each of the first writes one, which is never touched before a tick."""


def interruption(error: BaseException, words: Sequence[str]) -> str:
    """Return what to say of a signal that ended a command: what is in its file, or that nothing is.

    Parameters
    ----------
    error : of an earlier signal, if another one came while that was reported
    words : of the command line
    """
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, Interrupted):
        behind = behind.__context__
    if behind is not None:
        return str(behind)
    command = words[0] if words else ""
    if command in WRITING:
        return "interrupted before it was done"
    if command not in COMPUTING:
        return "interrupted; this command writes no file"
    begun = "the first tick" if command == "run" else "the first run of the sweep"
    changed = "the file is unchanged" if "--resume" in words else "nothing was written"
    return f"interrupted before {begun}; {changed}"


def printable(text: str) -> str:
    """Return the text as a terminal may have it: what is no character to be seen is escaped.

    A stranger's file may hold sequences that clear the screen, retitle the window or turn the
    order of letters round.
    """
    text = _LONG_RUN.sub(lambda found: f"{found[1]}(and {len(found[0]) - 1} more)", text)
    return "".join(
        c if c == "\n" or c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c)
        for c in text
    )


LONGEST_VALUE, LONGEST_SHOWN = 200, 60
"""Characters of what a user typed that messages show: of an option's value, and of a word."""


def shortened(text: str, most: int = LONGEST_SHOWN) -> str:
    """Return the beginning of what a user typed, on one line; short texts are whole."""
    text = " ".join(text.splitlines()) if "\n" in text or "\r" in text else text
    return text if len(text) <= most else f"{text[: most - 3]}..."


_LONG_RUN = re.compile(r"([\x00-\x09\x0b-\x1f\x7f])\1{7,}")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
