"""What is in a table of parameters? A column for every key that varies, a row for every copy."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from societies.config.columns import key_shown, read_columns
from societies.config.problems import described
from societies.errors import ConfigError
from societies.lazily import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_WHOLE = 2**53
"""Largest whole number up to which double precision represents every whole number."""


@dataclass(frozen=True, eq=False)
class ValueTable:
    """Values of the keys that differ from copy to copy.

    Attributes
    ----------
    columns : dotted key -> (copy,) float64, or bool for a key that is true or false; (copy,
        resource) for a key with a value per resource
    name : name in messages: "table", or the name of its file
    lines : line number of each row in the file; None if the table was not read from a file
    checked : whether the configuration of every row was checked before
    """

    columns: Mapping[str, NDArray[Any]]
    name: str = "table"
    lines: Sequence[int] | None = None
    checked: bool = False

    @property
    def rows(self) -> int:
        """Number of copies that the table describes."""
        return len(next(iter(self.columns.values())))

    @property
    def sha256(self) -> str:
        """Hash of keys and numbers; it does not depend on the order of the columns."""
        digest = hashlib.sha256()
        for key in sorted(self.columns):
            column = np.ascontiguousarray(self.columns[key], "<f8")
            digest.update(f"{key} {column.shape}\n".encode())
            digest.update(column.tobytes())
        return digest.hexdigest()

    def place(self, row: int) -> str:
        """Return the name of a row in messages."""
        return f"{self.name}, row {row}" if self.lines is None else f"{self.name}:{self.lines[row]}"


def table_of(source: Any, copies: str = "society", first: int = 0) -> ValueTable:
    """Return a table from a dataset of xarray, a dictionary of arrays or the name of a CSV file.

    In a dataset the dimension named ``copies`` is the axis of the copies. If it has a coordinate of
    this name, that holds the number of each row's copy; the numbers begin with ``first``.

    Raises ConfigError if ``source`` is none of these, or its columns differ in length or are not
    finite numbers.
    """
    if isinstance(source, ValueTable):
        return source
    if isinstance(source, str | PathLike):
        return _from_file(Path(source))
    if hasattr(source, "data_vars"):
        source = _of_dataset(source, copies, first)
    if not isinstance(source, Mapping):
        raise ConfigError(
            "table: expected a dataset of xarray, a dictionary of arrays or the name of a CSV "
            f"file, got {type(source).__name__}"
        )
    return _checked({str(key): column for key, column in source.items()}, "table", None)


def _of_dataset(dataset: Any, copies: str, first: int) -> dict[str, NDArray[Any]]:
    """Return the variables of a dataset with the copies along the first axis, sorted by number."""
    if not dataset.data_vars:
        raise ConfigError(
            "table: has no columns; each is named by the key that it varies (reset_coords makes "
            "columns of coordinates)"
        )
    for name, one in dataset.data_vars.items():
        if copies not in one.dims:
            dims = ", ".join(map(str, one.dims)) or "none"
            raise ConfigError(f"table: {name}: needs a dimension {copies}; it has {dims}")
    if copies in dataset.indexes:
        dataset = dataset.sortby(copies)
        labels = dataset[copies].values.tolist()
        wrong = [one for i, one in enumerate(labels) if one != first + i]
        if wrong:
            raise ConfigError(
                f"table: coordinate {copies} has {wrong[0]}; it numbers the rows from {first} to "
                f"{first + len(labels) - 1}, each once, or is left out"
            )
    return {str(name): one.transpose(copies, ...).values for name, one in dataset.data_vars.items()}


def _from_file(path: Path) -> ValueTable:
    found = read_columns(path, "copy")
    columns: list[list[Any]] = [[] for _ in found.keys]
    for line, row in zip(found.lines, found.rows, strict=True):
        for key, column, value in zip(found.keys, columns, row, strict=True):
            where = f"{found.name}:{line}  {key_shown(key)}"
            if not isinstance(value, int | float):
                raise ConfigError(
                    f"{where}: expected a number, got {described(value)}; keys that are words are "
                    "the same in all copies of a launch"
                )
            if column and isinstance(value, bool) != isinstance(column[0], bool):
                raise ConfigError(f"{where}: is {described(value)}, above it {column[0]}")
            if abs(value) > LARGEST_WHOLE and not isinstance(value, float):
                raise ConfigError(f"{where}: {_too_large(value)}")
            column.append(value if isinstance(value, bool) else float(value))
    return _checked(dict(zip(found.keys, columns, strict=True)), found.name, found.lines)


def _too_large(value: int) -> str:
    what = f"must be at most {LARGEST_WHOLE} in size, got {described(value)}"
    return f"{what}; a table has double precision"


def _checked(source: Mapping[str, Any], name: str, lines: Sequence[int] | None) -> ValueTable:
    if not source:
        raise ConfigError(f"{name}: has no columns; each is named by the key that it varies")
    columns: dict[str, NDArray[Any]] = {}
    for key, given in source.items():
        array = np.asarray(given)
        if array.ndim not in (1, 2) or array.dtype.kind not in "biuf":
            raise ConfigError(
                f"{name}: {key}: expected an array of numbers, one for each copy, got "
                f"{array.dtype} {array.shape}"
            )
        whole = array.ravel().tolist() if array.dtype.kind in "iu" else []
        if large := [one for one in whole if abs(one) > LARGEST_WHOLE]:
            raise ConfigError(f"{name}: {key}: {_too_large(large[0])}")
        columns[key] = array if array.dtype.kind == "b" else array.astype(np.float64)
    table = ValueTable(columns, name, lines)
    if not table.rows:
        raise ConfigError(f"{name}: has no rows")
    for key, column in columns.items():
        if len(column) != table.rows:
            first = next(iter(columns))
            raise ConfigError(
                f"{name}: {key} has {len(column)} rows, {first} has {table.rows}; each has one row "
                "for each copy"
            )
        bad = np.flatnonzero(~np.isfinite(column.reshape(len(column), -1)).all(axis=1))
        if len(bad):
            raise ConfigError(f"{table.place(int(bad[0]))}: {key}: must be a finite number")
    return table
