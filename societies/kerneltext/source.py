"""How do kernel files become one text? Includes once each, macros in front, lines traceable.

The text is what the compiler gets, what caches hash and what `Program.source` returns. Files in
the text are named relative to the kernels folder, so that the text, and every cache keyed by it,
is the same wherever the project is installed; messages show the real paths.
"""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from societies.errors import BuildError, ConfigError
from societies.inputs import read_text
from societies.paths import data_directory

MACROS_NAME = "<macros>"
HEADER_NAME = "<header>"

_INCLUDE = re.compile(r'\s*#\s*include\b\s*(?:"([^"]*)"|<([^>]*)>)?')
_LINE = re.compile(r'\s*#\s*line\s+(\d+)\s*(?:"((?:[^"\\]|\\.)*)")?')
_JOINED = re.compile(r"\\[ \t]*\n")
# what may hide the start of a comment: strings, characters, line comments, block comments
_TOKENS = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL
)


LONGEST_KERNEL = 16 * 2**20
"""Bytes of a file of OpenCL text."""


@dataclass
class AmalgamatedText:
    """One amalgamated text.

    ``files`` maps each name used in a ``#line`` directive to the real file; ``lines`` maps that
    name to the file's own lines (also for the generated parts, which have no file).
    """

    text: str = ""
    files: dict[str, Path] = field(default_factory=dict)
    lines: dict[str, list[str]] = field(default_factory=dict)

    def append(self, name: str, text: str) -> None:
        """Add a generated part under a name in angle brackets."""
        self.lines[name] = text.split("\n")
        self.text += _line_directive(1, name) + text.rstrip("\n") + "\n"

    def copy(self) -> AmalgamatedText:
        """Return an independent copy."""
        return AmalgamatedText(self.text, dict(self.files), dict(self.lines))

    def own_text(self, source: str) -> str:
        """Return the lines of a part without those of other parts, by its name or its file."""
        names = [name for name, path in self.files.items() if str(path).endswith(str(source))]
        return "\n".join(self.lines[names[0] if names else source])

    def shown(self, name: str) -> str:
        """Return the name of a part as a message shows it: the real path if it has one."""
        return str(self.files.get(name, name))

    def origin(self, line: int) -> tuple[str, int]:
        """Return part and line that line ``line`` (from 1) of the text came from."""
        if line < 1:
            return "", 0
        origins = line_origins(self.text)
        return origins[min(line, len(origins)) - 1]

    def without_directives(self) -> str:
        """Return the text with every ``#line`` blanked, so that compilers count its own lines."""
        return "\n".join("" if _LINE.match(row) else row for row in self.text.split("\n"))


class Generated(str):
    """Kernel text that is in no file: the name of the part, which other text must not have too.

    Attributes
    ----------
    text : may include kernel files, and refer to ``files`` by ``#line``
    files : real files by the names that the text gives them
    """

    text: str
    files: Mapping[str, Path]

    def __new__(cls, name: str, text: str, files: Mapping[str, Path] | None = None) -> Generated:
        """Return the name, which is a string like that of a file."""
        made = super().__new__(cls, name)
        made.text, made.files = text, dict(files or {})
        return made


def line_origins(text: str) -> list[tuple[str, int]]:
    """Return for each line of an amalgamated text the part and the line that it came from."""
    result = []
    name, number = "", 0
    for row in text.split("\n"):
        directive = _LINE.match(row)
        if directive:
            number = int(directive[1]) - 1
            name = _unescaped(directive[2]) if directive[2] is not None else name
        else:
            number += 1
        result.append((name, number))
    return result


def amalgamate(
    sources: Iterable[str | Path], macros: Mapping[str, Any] | None = None, header: str = ""
) -> AmalgamatedText:
    """Return the text of some kernel files with all their includes.

    Parameters
    ----------
    sources
        Files, absolute or relative to the kernels folder. An include is looked up next to the
        including file, then in the kernels folder, and is expanded the first time only.
    macros : becomes ``#define`` lines at the top; see `macro_text`
    header : OpenCL text between the macros and the first file

    Raises
    ------
    BuildError
        If a file is missing or not text, naming file and line of the include.
    """
    result = AmalgamatedText()
    kernels = data_directory("kernels")
    seen: set[Any] = set()
    if macros:
        result.append(MACROS_NAME, macro_text(macros))
    if header:
        result.text += _insert(HEADER_NAME, header, kernels, kernels.resolve(), seen, result)
    for source in sources:
        if isinstance(source, Generated):
            for name, file in source.files.items():
                result.files[name] = file
                result.lines[name] = read_text(file, LONGEST_KERNEL).split("\n")
            own = (str(source), source.text, kernels, kernels.resolve())
            result.text += _insert(*own, seen, result)
            continue
        path = Path(source) if Path(source).is_absolute() else kernels / source
        if not os.path.isfile(path):
            raise BuildError(f"kernel file '{source}' not found (looked at {path})")
        result.text += _expand(path.resolve(), kernels.resolve(), seen, result)
    return result


def _expand(path: Path, kernels: Path, seen: set[Any], result: AmalgamatedText) -> str:
    """Return the text of one file with its includes; "" if it was inserted before."""
    if path in seen:
        return ""
    seen.add(path)
    try:
        text = read_text(path, LONGEST_KERNEL)
    except ConfigError as error:
        raise BuildError(str(error)) from None
    name = path.relative_to(kernels).as_posix() if path.is_relative_to(kernels) else str(path)
    result.files[name] = path
    return _insert(name, text, path.parent, kernels, seen, result)


def _insert(
    name: str, text: str, folder: Path, kernels: Path, seen: set[Any], result: AmalgamatedText
) -> str:
    """Return a text with its includes, which are looked up in ``folder`` and in ``kernels``."""
    rows, includes = _read(text)
    result.lines[name] = list(rows)
    pieces = [_line_directive(1, name)]
    begin = 0
    for number, include in includes.items():
        pieces += [f"{row}\n" for row in rows[begin : number - 1]]
        begin = number
        wanted = include[1] if include[1] is not None else include[2]
        if not wanted:
            shown = result.shown(name)
            raise BuildError(f'{shown}:{number}: #include needs a file name: #include "file.cl"')
        if (folder, wanted) not in seen:  # to look for a file asks the system several times
            candidates = [(folder / wanted), (kernels / wanted)]
            found = next((c for c in candidates if os.path.isfile(c)), None)
            if found is None:
                raise BuildError(
                    f"{result.shown(name)}:{number}: include file '{wanted}' not found\n"
                    f"    looked in {folder} and {kernels}"
                )
            pieces.append(_expand(found.resolve(), kernels, seen, result))
            seen.add((folder, wanted))
        pieces.append(_line_directive(number + 1, name))
    pieces += [f"{row}\n" for row in rows[begin:]]
    return "".join(pieces)


@lru_cache(maxsize=256)  # files: a process that builds many programs reads each but once
def _read(text: str) -> tuple[tuple[str, ...], dict[int, re.Match[str]]]:
    """Return the lines of a file, and by their numbers from 1 those that include another."""
    # not splitlines(): compilers count neither form feeds nor Unicode separators as lines
    rows = tuple(text.removesuffix("\n").split("\n"))
    visible = without_comments(text, keep_strings=True).split("\n")
    matches = {number: _INCLUDE.match(code) for number, code in enumerate(visible, start=1)}
    return rows, {number: match for number, match in matches.items() if match is not None}


def without_comments(text: str, *, keep_strings: bool = False) -> str:
    """Return the text with comments (and string contents) blanked; every line keeps its place."""

    def blank(match: re.Match[str]) -> str:
        token = match[0]
        if token[0] in "\"'" and keep_strings:
            return token
        return "\n".join([" " * len(row) for row in token.split("\n")])

    return _TOKENS.sub(blank, text)


def lines_joined(text: str) -> str:
    """Return the text with continued lines in one, followed by empty lines in their place."""
    if not _JOINED.search(text):
        return text
    result = []
    for piece in _JOINED.sub("\0", text).split("\n"):
        result.append(piece.replace("\0", "") + "\n" * piece.count("\0"))
    return "\n".join(result)


def macro_text(macros: Mapping[str, Any]) -> str:
    """Return ``#define`` lines: integers plain, floats in hexadecimal (exact), booleans 0 or 1.

    Raises
    ------
    BuildError
        If a name is not an identifier or a value is not a finite number, string or boolean.
    """
    rows = []
    for name, value in macros.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise BuildError(f"macro name '{name}' is not a C identifier")
        rows.append(f"#define {name} {_macro_value(name, value)}")
    return "\n".join(rows) + "\n"


def _macro_value(name: str, value: Any) -> str:
    if isinstance(value, str):
        if "\n" in value:
            raise BuildError(f"macro {name}: a value has one line")
        return value
    if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # NumPy scalars
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BuildError(f"macro {name}: {value} is not a finite number")
        return value.hex() if math.copysign(1.0, value) > 0 else f"({value.hex()})"
    try:
        whole = operator.index(value)
    except TypeError:
        raise BuildError(f"macro {name}: {value!r} is not a number, string or boolean") from None
    if not -(2**63) <= whole < 2**64:
        raise BuildError(f"macro {name}: {whole} does not fit 64 bits")
    if whole == -(2**63):
        return "(-9223372036854775807L - 1)"  # C has no negative literals
    if whole < 0:
        return f"({whole})"
    return f"{whole}UL" if whole >= 2**63 else str(whole)


def _line_directive(number: int, name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {number} "{escaped}"\n'


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)
