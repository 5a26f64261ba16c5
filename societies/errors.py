"""Which errors a user can meet, and which exit code each one ends the command line with.

Every class here carries a message of one or two lines that says what is wrong, where, and what
to do. The command line prints that message without a traceback (``--debug`` shows it).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
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
        return words if value is None or value is True else f"{words} {value}"
    return f"the argument {name}" if value is None else f"{name}={value!r}"


def override(text: str) -> str:
    """Return how the caller overrides a key: ``--set days=3``, or ``override days=3``."""
    return f"override {text}" if _TYPED.get() is None else f"--set {text}"


class SocietiesError(Exception):
    """Base of every error that is meant for the user; ``exit_code`` is the process's exit code."""

    exit_code = 1


class DamageWarning(UserWarning):
    """A part of a file is damaged that a run can go on without."""


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
    """The user interrupted the run; every day up to the one named is in the file.

    Attributes
    ----------
    path : Path of the file to resume, or None if there is none.
    """

    exit_code = 130

    def __init__(self, message: str, path: Path | None = None) -> None:
        super().__init__(message)
        self.path = path


def interruption(error: BaseException) -> str:
    """Return what to say of a Ctrl-C: of an earlier one, if it came while that was reported."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, Interrupted):
        behind = behind.__context__
    return str(behind or "interrupted")


def printable(text: str) -> str:
    """Return the text as a terminal may have it: what is no character to be seen is escaped.

    A stranger's file may hold sequences that clear the screen, retitle the window or turn the
    order of letters round.
    """
    return "".join(
        c if c == "\n" or c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c)
        for c in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
