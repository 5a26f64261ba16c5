"""What does the translator know of a model besides its rules?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class FieldLike(Protocol):
    """What the translator reads of a field."""

    @property
    def dims(self) -> tuple[str, ...]:
        """Dimensions after the copy."""

    @property
    def dtype(self) -> str:
        """NumPy type."""


def keys_of(settings: Any) -> list[str]:
    """Return the names of what rules may read of a configuration, or of a section of it."""
    names = (name for name in dir(settings) if not name.startswith("_"))
    return list(getattr(type(settings), "model_fields", names))


@dataclass(frozen=True)
class Declared:
    """What a model declares, as far as its rules can name it.

    Attributes
    ----------
    fields : arrays of the state by name, without the series
    lengths : of every dimension
    series : names of the series, in order, with the dimension of each ("": a number)
    settings : the configuration, or whatever rules get as their first argument
    others : settings of all copies of a launch, if they differ
    events : lists of events by name: number of columns, and of rows in a tick
    arguments : names of the arguments that steps may have
    ended : whether there is a field ``ended``, after which nothing happens to a copy
    copies, clock : name of a copy and of a tick
    hidden : fields that messages do not name
    """

    fields: Mapping[str, FieldLike]
    lengths: Mapping[str, int]
    series: Sequence[str] = ()
    settings: Any = None
    others: Sequence[Any] = ()
    events: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    ended: bool = False
    copies: str = "society"
    clock: str = "day"
    hidden: Sequence[str] = ()
