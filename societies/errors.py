"""Which errors a user can meet, and which exit code each one ends the command line with.

Every class here carries a message of one or two lines that says what is wrong, where, and what
to do. The command line prints that message without a traceback (``--debug`` shows it).
"""

from __future__ import annotations

from pathlib import Path


class SocietiesError(Exception):
    """Base of every error that is meant for the user; ``exit_code`` is the process's exit code."""

    exit_code = 1


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
    """Return what to tell of a Ctrl-C: of an earlier one, if it came while that was told."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, Interrupted):
        behind = behind.__context__
    return str(behind or "interrupted")
