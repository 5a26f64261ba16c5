"""What may be appended to a list of events? Every row has the tick, numbers that fit, and room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.errors import SocietiesError
from societies.words import counted
from societies.workload.declare.fields import Events

LARGEST = 2**31 - 1
"""Largest number in a row. The least is its negative: -2**31 stands for a number that did not fit,
and in files for no value."""

LIMITS = f"numbers of events are from {-LARGEST} to {LARGEST}"


class EventRows:
    """The rows that plain Python appends to a list of events of one copy; rules cannot read them.

    Parameters
    ----------
    name, kind, clock : name of the list, its columns and room, and what a tick is called
    tick : the present tick

    Attributes
    ----------
    rows : the rows in the order in which they were appended
    """

    def __init__(self, name: str, kind: Events, clock: str, tick: int) -> None:
        self._name, self._kind, self._clock, self.tick = name, kind, clock, tick
        self.rows: list[tuple[int, ...]] = []

    def append(self, row: Any, /) -> None:
        """Append a row of whole numbers, the first of which is the tick."""
        name, clock, kind = f"'{self._name}'", self._clock, self._kind
        if not isinstance(row, tuple) or len(row) != kind.columns:
            write = f".append(({clock},{' ...' * (kind.columns > 1)}))"
            many = counted(kind.columns, "number")
            raise TypeError(f"a row of {name} has {many}: write {write}")
        for number in row:
            if not isinstance(number, int | np.integer | np.bool_):
                raise TypeError(f"a row of {name} has whole numbers, and gets {number!r}")
            if not -LARGEST <= number <= LARGEST:
                raise OverflowError(f"{number} does not fit a row of {name}: {LIMITS}")
        if self.tick < 1:
            raise ValueError(f"rows are appended to {name} from {clock} 1 on")
        if row[0] != self.tick:
            raise ValueError(f"a row of {name} begins with the {clock}, {self.tick}: not {row[0]}")
        most = kind.rows
        if len(self.rows) >= most and self.rows[-most][0] == self.tick:
            raise OverflowError(f"more than {most} rows of {name} in a {clock}")
        self.rows.append(tuple(map(int, row)))

    def _read(self, *given: Any) -> Any:
        """Raise TypeError: the rows are those of a block, whose length depends on the device."""
        raise TypeError(f"rows are appended to '{self._name}', and read from the file")

    __len__ = __iter__ = __getitem__ = _read


def require_events(
    kinds: Mapping[str, Events],
    found: Mapping[str, NDArray[Any]],
    ticks: range,
    clock: str,
    copies: str,
    first: int = 0,
) -> None:
    """Raise SocietiesError unless what kernels appended in some ticks is right.

    Kernels store -2**31 for a number that does not fit, and ``-1 - tick`` in a row that does not
    begin with its tick. Rows for which there is no room are lost, but the room is for one more than
    a tick may have: the number of rows is judged for each tick, because the length of a block
    depends on the device. Messages number the copies from ``first``.
    """
    for name, rows in found.items():
        kind = kinds[name]
        wrong = (rows[:, 1] < ticks.start) | (rows[:, 1] >= ticks.stop)
        by_copy = rows[np.argsort(rows[:, 0], kind="stable")]  # and of each by tick
        beyond = (by_copy[kind.rows :, :2] == by_copy[: -kind.rows, :2]).all(axis=1)
        room = f"Events({kind.columns}, {kind.rows})"
        faults = {
            f"a row of '{name}' begins with another number than the {clock}": rows[wrong],
            f"a number does not fit '{name}': {LIMITS}": rows[(rows < -LARGEST).any(axis=1)],
            f"more than {kind.rows} rows of '{name}': {room}": by_copy[kind.rows :][beyond],
        }
        for said, bad in faults.items():
            if len(bad):
                found_at = np.maximum(bad[:, 1], -1 - bad[:, 1])
                at = found_at.argmin()
                raise SocietiesError(
                    f"{clock} {found_at[at]}, {copies} {first + bad[at, 0]}: {said}\n"
                    "a run with SOCIETIES_DEBUG=checked names the line of the rule"
                )
