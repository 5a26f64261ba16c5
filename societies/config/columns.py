"""How is a CSV table of keys and values read?

The first line has the keys, and every row below it a value of each key. Columns are separated by
commas or, if the first line has none, by semicolons or tabs. Additions of spreadsheets are ignored:
a byte-order mark, spaces around values, empty rows and columns at the end. Ambiguous values are
refused with their line and column.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from societies.config.document import plain_scalar
from societies.config.problems import described, quoted
from societies.errors import ConfigError
from societies.inputs import LONGEST_TABLE, read_text, shown
from societies.words import counted

Value = str | int | float | bool | None

_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
MOST_ROWS = 1_000_000
"""Most lines of a table: reading as many takes some seconds. Arrays from Python may be longer."""

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Columns:
    """The values of a table.

    Attributes
    ----------
    name : name of the file, for messages
    keys : keys of the columns
    head : number of the line with the keys
    rows : values of each row, by the core rules of YAML 1.2
    lines : line number of each row
    """

    name: str
    keys: tuple[str, ...]
    head: int
    rows: list[tuple[Value, ...]]
    lines: list[int]


def read_columns(path: Path, each: str) -> Columns:
    """Return the table in a file; ``each`` is the word for a row in messages, such as "copy".

    Raises ConfigError if the file cannot be read, or with the line and the column of the first
    mistake in it.
    """
    name, text = shown(path), read_text(path, LONGEST_TABLE)
    found = rows_of(name, text)
    if len(found) < 2:
        raise ConfigError(f"{name}: needs a line with keys and a line of values for each {each}")
    (head, keys), *below = found
    _require_keys(f"{name}:{head}", keys)
    rows, lines = [], []
    for line, cells in below:
        if len(keys) > 1 and not any(cells):  # of a single key it is a missing value
            if len(cells) > 1:
                raise ConfigError(f"{name}:{line}  has no values; delete the row, or fill it in")
            continue
        cells = cells or [""]
        if len(cells) != len(keys):
            entries, wanted = counted(len(cells), "entry"), counted(len(keys), "key")
            raise ConfigError(f"{name}:{line}  has {entries} for {wanted}")
        where = f"{name}:{line}  "
        rows.append(tuple(_value(where, key, cell) for key, cell in zip(keys, cells, strict=True)))
        lines.append(line)
    return Columns(name, tuple(keys), head, rows, lines)


def key_shown(key: str) -> str:
    """Return a key as messages show it."""
    return key if re.fullmatch(r"[\w.-]{1,60}", key) else quoted(key)


def rows_of(name: str, text: str) -> list[tuple[int, list[str]]]:
    """Return line number and cells of each row, with spaces around the cells removed.

    Empty rows at the beginning and the end, and empty columns at the end, as spreadsheets write
    them, are left out.

    Raises ConfigError if there are too many lines, or with the line at which the text stops being
    CSV; ``name`` is that of its file.
    """
    if strange := _CONTROL.search(text):
        line = text.count("\n", 0, strange.start()) + 1
        raise ConfigError(
            f"{name}:{line}  is not text: it has the character #x{ord(strange[0]):04x}"
        )
    if max(text.count("\n"), text.count("\r")) > MOST_ROWS + 1:
        raise ConfigError(f"{name}: has more than {MOST_ROWS:,} lines, the most that are read")
    first = re.split(r"[\r\n]", text.lstrip(), maxsplit=1)[0]
    divider = next((one for one in ",;\t" if one in first), ",")
    reader = csv.reader(
        StringIO(text, newline=""), delimiter=divider, skipinitialspace=True, strict=True
    )
    try:
        found = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        line = max(reader.line_num, 1)
        said = str(error).replace("unexpected end of data", "a quotation mark is never closed")
        said = said.replace("'\t'", "a tab")
        raise ConfigError(f"{name}:{line}  cannot be read as CSV ({said})") from None
    while found and not any(found[-1][1]):
        found.pop()
    while found and not any(found[0][1]):
        found.pop(0)
    width = 0
    for _, row in found:
        while len(row) > width and not row[-1]:
            row.pop()
        width = width or len(row)
    return found


def _require_keys(where: str, keys: list[str]) -> None:
    """Raise ConfigError if a column has no key, or two columns have the same."""
    seen: dict[str, int] = {}
    for number, key in enumerate(keys, start=1):
        if not key:
            raise ConfigError(f"{where}  column {number} has no key")
        if key in seen:
            columns = f"columns {seen[key]} and {number}"
            raise ConfigError(f"{where}  {key_shown(key)}: appears twice, in {columns}")
        seen[key] = number


def _value(where: str, key: str, cell: str) -> Value:
    if not cell:
        raise ConfigError(f"{where}{key_shown(key)}: has no value in this row")
    if _DECIMAL_COMMA.fullmatch(cell):
        raise ConfigError(
            f"{where}{key_shown(key)}: expected a number, got {described(cell)}; write a point "
            "before decimals, and no commas"
        )
    try:
        return plain_scalar(cell)
    except ValueError as error:
        raise ConfigError(f"{where}{key_shown(key)}: {error}") from None
