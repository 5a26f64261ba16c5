"""Which line of which kernel file does a position of the text come from? For error messages."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from societies.errors import BuildError
from societies.kerneltext.source import AmalgamatedText, line_origins


class SourceLocation(NamedTuple):
    """A position in a kernel file: its name in ``#line``, line and column from 1."""

    file: str
    line: int
    column: int

    def shown(self, source: AmalgamatedText) -> str:
        """Return ``file:line`` with the real path."""
        return f"{source.shown(self.file)}:{self.line}"


def failure(source: AmalgamatedText, place: SourceLocation, message: str) -> BuildError:
    """Return an error that names the place and shows its line."""
    text = f"{place.shown(source)}:{place.column}: {message}"
    lines = source.lines.get(place.file, [])
    if 0 < place.line <= len(lines):
        text += f"\n    {lines[place.line - 1].strip()}"
    return BuildError(text)


class Places:
    """Positions of a text whose lines are those of ``source``.

    ``columns`` has for each line the columns of the text at which tokens start, and the columns
    in the file where these (or the macros they came from) stood.
    """

    def __init__(self, source: AmalgamatedText, text: str, columns: list[list[tuple[int, int]]]):
        self.source = source
        self._origins = line_origins(source.text)
        self._columns = columns
        self._starts = [0]
        for row in text.split("\n"):
            self._starts.append(self._starts[-1] + len(row.encode()) + 1)

    def at(self, offset: int) -> SourceLocation:
        """Return the place of a byte of the text."""
        line = bisect_right(self._starts, offset) - 1
        return self.of_line(line + 1, offset - self._starts[line])

    def of_line(self, line: int, column: int = 0) -> SourceLocation:
        """Return the place of a line (from 1) and column (from 0) of the text."""
        line = min(line, len(self._origins))
        name, number = self._origins[line - 1]
        known = self._columns[line - 1] if line <= len(self._columns) else []
        index = bisect_right(known, (column, 1 << 30)) - 1
        if index >= 0:
            start, original = known[index]
            end = known[index + 1][0] if index + 1 < len(known) else 1 << 30
            # inside a token the columns count on, between tokens they need not be exact
            column = original + min(column, end) - start
        else:
            column += 1
        return SourceLocation(name, max(number, 1), column)

    def failure(self, offset: int, message: str) -> BuildError:
        """Return an error at a byte of the text."""
        return failure(self.source, self.at(offset), message)
