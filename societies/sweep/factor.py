"""What is a factor of a sweep: keys that vary together, and their rows of values?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from societies.config.document import Document
from societies.config.problems import Origin, Path, suggestion

INTERVENTIONS = "interventions"
"""Key of policies: the points of a study that differ in it share launches."""

Row = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """Keys that vary together, and their rows of values.

    Attributes
    ----------
    keys : dotted keys
    count : number of rows
    rows : returns the rows
    place : returns where the value of a key in a row was written
    key_place : returns where a key was written
    definition : the factor as plain data, including tables from CSV files
    distinct : whether two equal rows are a mistake
    whole : what to do for each key whose values were computed, if it takes whole numbers alone
    """

    keys: tuple[str, ...]
    count: int
    rows: Callable[[], list[Row]]
    place: Callable[[int, str], Origin]
    key_place: Callable[[str], Origin]
    definition: Any
    distinct: bool = True
    whole: Mapping[str, str] = field(default_factory=dict)


class InvalidFactor(Exception):
    """Raised for a part of the document that is not valid; says where and why."""

    def __init__(self, path: Path, message: str, place: Origin | None = None) -> None:
        super().__init__(message)
        self.path, self.place = path, place


class Unknown(InvalidFactor):
    """Raised for a word that is unknown at this position, though it may be known elsewhere."""

    def __init__(self, path: Path, what: str, known: Sequence[str], place: Origin) -> None:
        self.word = str(path[-1])
        near = suggestion(self.word, known) or f"; it has {', '.join(known)}"
        super().__init__(path, f"unknown {what}{near}", place)
        self.what = what


def key_place(document: Document, above: Path) -> Callable[[str], Origin]:
    """Return a function that returns where a key below the path ``above`` was written."""
    return lambda key: document.place((*above, key), of_key=True)
