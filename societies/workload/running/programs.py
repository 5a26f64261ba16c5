"""May a program run that a configuration names? Only if the user allows it, per run or in a list.

A configuration is data and may come from another person. A program that it names is started only
with ``allow_programs``, or if the user's list has the same command line, with the absolute path of
the program. A program on the list may only get options that are numbers, ``true`` or ``false``,
because other options may name files to read or to write.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from platformdirs import user_config_path

from societies.errors import ConfigError, option
from societies.workload.declare.optional import NamedProgram

T = TypeVar("T")

LIST = "programs.txt"
"""File in the user's settings folder, with one line per program that may run."""

_HARMLESS = re.compile(r"[+-]?\d+(\.\d+)?|true|false")

_ALLOWED: ContextVar[bool] = ContextVar("_ALLOWED", default=False)


def list_path() -> Path:
    """Return the file that lists the programs which may run."""
    return user_config_path("societies") / LIST


@contextmanager
def allowed(yes: bool) -> Iterator[None]:
    """Within the block, let the programs run that configurations name, if ``yes``."""
    token = _ALLOWED.set(yes or _ALLOWED.get())
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def allowing(yes: bool, results: Iterator[T]) -> Iterator[T]:
    """Yield the items of an iterator; each is computed within `allowed`."""
    while True:
        with allowed(yes):
            try:
                found = next(results)
            except StopIteration:
                return
        yield found


def why_not(named: NamedProgram) -> str:
    """Return why the user's list does not allow a program to run; "" if it does."""
    words = _resolved(shlex.split(named.command))
    if not any(words == one for one in _listed()):
        return "it is not in your list"
    for name, value in named.options:
        if not _HARMLESS.fullmatch(value):
            return f"its option {name} is not a number, true or false"
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
    """Return a command with the program replaced by the real path of its file."""
    found = shutil.which(words[0]) if words else None
    return [os.path.realpath(found), *words[1:]] if found else words


def program_lines(programs: Sequence[NamedProgram]) -> list[str]:
    """Return a line for each program, which says if it may run."""
    lines = []
    for one in programs:
        why = why_not(one)
        allowed = option("allow_programs", True)
        how = "in your list" if not why else f"runs only with {allowed}, {why}"
        lines.append(f"{one}: {how}")
    return lines
