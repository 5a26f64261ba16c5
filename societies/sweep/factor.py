"""What are keys that vary together, and the rows of values that they have?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from societies.config.document import Document
from societies.config.problems import Path, Place, suggestion

Row = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """Keys that vary together, and the rows of values that they have.

    Attributes
    ----------
    keys : dotted
    count : of rows
    rows : makes them
    place : where the value of a key in a row was written
    key_place : where a key was written
    definition : what the file says of it, as plain data, tables from CSV files included
    distinct : whether two equal rows are a mistake
    """

    keys: tuple[str, ...]
    count: int
    rows: Callable[[], list[Row]]
    place: Callable[[int, str], Place]
    key_place: Callable[[str], Place]
    definition: Any
    distinct: bool = True


class Refused(Exception):
    """Raised for something in the document that cannot be meant; says where and why."""

    def __init__(self, path: Path, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.path, self.place = path, place


class Unknown(Refused):
    """Raised for a word that means nothing here, though perhaps elsewhere."""

    def __init__(self, path: Path, what: str, known: Sequence[str], place: Place) -> None:
        self.word = str(path[-1])
        near = suggestion(self.word, known) or f"; there are {', '.join(known)}"
        super().__init__(path, f"unknown {what}{near}", place)
        self.what = what


def key_place(document: Document, above: Path) -> Callable[[str], Place]:
    """Return what says where a key below a path was written."""
    return lambda key: document.place((*above, key), of_key=True)
