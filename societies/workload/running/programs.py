"""May a program run that a configuration names? Only if the user says so, each time or in a list.

A configuration is data, and may be somebody else's. What it names is started only with
``allow_programs``, or if the user's list has the same line: a program by its absolute path, and the
words that it is handed. A program of the list is sent only options that are numbers, ``true`` or
``false``, since others may name files to read or to write.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from platformdirs import user_config_path

from societies.errors import ConfigError, option

T = TypeVar("T")

LIST = "programs.txt"
"""File in the user's folder of settings, with a line for each program that may run."""

_HARMLESS = re.compile(r"[+-]?\d+(\.\d+)?|true|false")

_ALLOWED: ContextVar[bool] = ContextVar("_ALLOWED", default=False)


@dataclass(frozen=True)
class NamedProgram:
    """A program that a configuration names.

    Attributes
    ----------
    key : of the configuration
    command : the program, and words that it is handed
    options : names and values that are sent to it
    """

    key: str
    command: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        sent = ", ".join(f"{name} {value}" for name, value in self.options)
        return f"{self.key}: {self.command}" + (f" ({sent})" if sent else "")


def list_path() -> Path:
    """Return the file that lists the programs which may run."""
    return user_config_path("societies") / LIST


@contextmanager
def allowed(yes: bool) -> Iterator[None]:
    """Let the programs run that configurations name in the block, if the user said so."""
    token = _ALLOWED.set(yes or _ALLOWED.get())
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def allowing(yes: bool, results: Iterator[T]) -> Iterator[T]:
    """Yield what an iterator does, whose work is done in blocks of `allowed`."""
    while True:
        with allowed(yes):
            try:
                found = next(results)
            except StopIteration:
                return
        yield found


def why_not(named: NamedProgram) -> str:
    """Return why a program may not run by the user's list alone; "" if it may."""
    words = _resolved(shlex.split(named.command))
    if not any(words == one for one in _listed()):
        return "it is not in your list"
    for name, value in named.options:
        if not _HARMLESS.fullmatch(value):
            return f"its option {name} is no number, true or false"
    return ""


def require_allowed(programs: Sequence[NamedProgram]) -> None:
    """Raise ConfigError unless all programs may run."""
    if _ALLOWED.get():
        return
    refused = [(one, why) for one in programs if (why := why_not(one))]
    if refused:
        lines = [f"{one}: is a program, which may not run: {why}" for one, why in refused]
        lines.append(
            f"if you trust it, allow it with {option('allow_programs', True)}, or list it as a "
            f"line of {list_path()}"
        )
        raise ConfigError("\n".join(lines))


def _listed() -> list[list[str]]:
    """Return the words of each line of the user's list."""
    path, found = list_path(), []
    try:
        rows = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    for number, row in enumerate(rows, 1):
        try:
            words = shlex.split(row, comments=True)
        except ValueError as error:
            raise ConfigError(f"{path}:{number}: {error}") from None
        if words and not os.path.isabs(words[0]):
            raise ConfigError(f"{path}:{number}: {words[0]}: write the program's absolute path")
        if words:
            found.append(_resolved(words))
    return found


def _resolved(words: list[str]) -> list[str]:
    """Return a command whose program is the file that is started."""
    found = shutil.which(words[0]) if words else None
    return [os.path.realpath(found), *words[1:]] if found else words


def described(workload: Any, config: Any) -> list[str]:
    """Return a line for each program that a configuration names, and whether it may run."""
    lines = []
    for one in workload.programs(workload.parameters(config)):
        why = why_not(one)
        how = "in your list" if not why else f"runs only with --allow-programs, {why}"
        lines.append(f"program {one}: {how}")
    return lines
