"""Which errors can a user meet, and with which exit code does each end the command line?

The message of every error says in one or two lines what is wrong, where, and what to do. The
command line prints it without a traceback (``--debug`` shows the traceback).
"""

from __future__ import annotations

import errno
import re
import shlex
import signal
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

OPTIONS = {"start": "--from", "form": "-o"}
"""Options of the command line whose name differs from the argument's."""

LACKING = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk's quota is used up"}
"""What a write lacks, by the number of the system's error."""

_TYPED: ContextVar[dict[str, str] | None] = ContextVar("_TYPED", default=None)
"""Names that the user typed for options (``tick``: ``day``); None if called from Python."""


_COMMAND: ContextVar[str] = ContextVar("_COMMAND", default="")
"""The command line, empty if called from Python."""


@contextmanager
def shell_words(words: Sequence[str] | None = None) -> Iterator[None]:
    """Make error messages name options (``--resume``) in place of Python's arguments.

    Parameters
    ----------
    words : arguments of the command line, for `command_line`; default: as they are known
    """
    token = _TYPED.set(dict(_TYPED.get() or {}))
    line = _COMMAND.get() if words is None else shlex.join(["societies", *words])
    command = _COMMAND.set(line)
    try:
        yield
    finally:
        _COMMAND.reset(command)
        _TYPED.reset(token)


def command_line() -> str:
    """Return the command that is being carried out, empty if called from Python."""
    return _COMMAND.get()


def typed(name: str, word: str) -> None:
    """Make error messages name an option as the user typed it: ``day`` for ``tick``."""
    words = _TYPED.get()
    if words is not None:
        words[name] = word


def option(name: str, value: object = None) -> str:
    """Return an argument in the form that the caller uses: ``--day 3`` or, in Python, ``day=3``.

    Every message that names an argument gets the name from here. Without a value it is ``--out`` or
    ``the argument out``; the value True means a switch, ``--resume``.
    """
    typed_words = _TYPED.get()
    if typed_words is not None:
        words = OPTIONS.get(name, f"--{typed_words.get(name, name).replace('_', '-')}")
        bare = value is None or value is True
        return words if bare else f"{words} {shortened(str(value), LONGEST_VALUE)}"
    if value is None:
        return f"the argument {name}"
    return f"{name}={shortened(repr(value), LONGEST_VALUE)}"


def override(text: str) -> str:
    """Return an override in the caller's form: ``--set days=3``, or ``override days=3``."""
    if _TYPED.get() is None:
        return f"override {text}"
    rule = text.removeprefix("rules.")
    return f"--set {text}" if rule == text else f"--rule {rule}"


class SocietiesError(Exception):
    """Base of every error that is meant for the user; ``exit_code`` is the process's exit code."""

    exit_code = 1


@contextmanager
def needing(what: str, package: str) -> Iterator[None]:
    """Raise SocietiesError if an import in the block fails; ``what`` is "emulators need", say."""
    try:
        yield
    except ImportError as error:
        missing = f"{package}, which is missing: pip install 'societies[study]'"
        raise SocietiesError(f"{what} {missing}") from error


class DamageWarning(UserWarning):
    """A part of a file is damaged, but the run can continue without it."""


class OriginWarning(UserWarning):
    """A file was, or may have been, made by another version of the model."""


class SocietiesWarning(UserWarning):
    """A setting is probably a mistake, but the run continues."""


class SweepWarning(SocietiesWarning):
    """A sweep is probably much more work than its author intended."""


class TranslationWarning(SocietiesWarning):
    """A phase cannot be translated, so plain Python carries it out, which is slow."""


class EffectWarning(UserWarning):
    """Two results are no twins, or do not differ at all."""


class ConfigError(SocietiesError):
    """The configuration or the usage is wrong; ``str(error)`` has one line per problem."""

    exit_code = 2


class DeviceError(SocietiesError):
    """No suitable device was found, or the device cannot do what is requested."""

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


COMPUTING = ("run", "sweep")
WRITING = (
    *("bench", "calibrate", "capture", "effect", "export", "fan", "irf", "new", "play", "plot"),
    *("reproduce", "validate", "view"),
)
"""Commands that write files; those in `COMPUTING` write nothing before the first tick."""


def interruption(error: BaseException, words: Sequence[str]) -> str:
    """Return the message for a signal that ended a command: whether its file has results.

    Parameters
    ----------
    error : exception of the signal, or of an earlier one that was being reported
    words : words of the command line
    """
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, Interrupted):
        behind = behind.__context__
    if behind is not None:
        return str(behind)
    command = next((word for word in words if not word.startswith("-")), "")
    if command in WRITING:
        return "interrupted before it was done"
    if command not in COMPUTING:
        return "interrupted; this command writes no file"
    begun = "the first tick" if command == "run" else "the first run of the sweep"
    changed = "the file is unchanged" if "--resume" in words else "nothing was written"
    return f"interrupted before {begun}; {changed}"


def one_line(error: BaseException) -> str:
    """Return an error in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def printable(text: str) -> str:
    """Return the text in a form that is safe for a terminal: invisible characters are escaped.

    A file from an unknown source may have sequences that clear the screen, change the window's
    title or reverse the order of letters.
    """
    text = _LONG_RUN.sub(lambda found: f"{found[1]}(and {len(found[0]) - 1} more)", text)
    return "".join(
        c if c == "\n" or c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c)
        for c in text
    )


LONGEST_VALUE, LONGEST_SHOWN = 200, 60
"""Most characters of typed text that messages show: of an option's value, and of a word."""


def shortened(text: str, most: int = LONGEST_SHOWN) -> str:
    """Return a text on one printable line, cut off at its end if it is longer than ``most``."""
    text = printable(" ".join(text.splitlines()) if "\n" in text or "\r" in text else text)
    return text if len(text) <= most else f"{text[: most - 3]}..."


_LONG_RUN = re.compile(r"([\x00-\x09\x0b-\x1f\x7f])\1{7,}")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
