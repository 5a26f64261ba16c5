"""Which variables of a run does a study record, and how are they held until it writes them?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from societies.output import Variable
from societies.output.run_events import Columns
from societies.workload.running.written import Contents


@dataclass(frozen=True)
class Keep:
    """What a study records of each run.

    Attributes
    ----------
    variables : names of variables; None: all
    ticks : ticks of which variables are recorded; None: all
    final : arrays of the state that are recorded after the last tick
    copies : whether one run has several copies that are not replicates, such as games or frames
    events : tables of events
    """

    variables: tuple[str, ...] | None = None
    ticks: tuple[int, ...] | None = None
    final: tuple[str, ...] = ()
    copies: bool = False
    events: tuple[str, ...] = ()


class InMemory:
    """Variables and events that a study records, in memory, with the methods of a `ResultFile`.

    Other variables are discarded, and methods that only concern a file, such as checkpoints, do
    nothing. A workload that writes pictures next to its file writes them into ``folder()``, which
    is called for these alone: a process that is killed leaves its folder.
    """

    writable = True

    def __init__(self, contents: Contents, folder: Callable[[], str], keep: Keep) -> None:
        lengths = {one.name: len(one.values) for one in contents.coordinates()}
        self._folder = folder
        self.events: dict[str, list[Columns]] = {name: [] for name in keep.events}
        self.variables = wanted_variables({one.name: one for one in contents.variables()}, keep)
        self.values = {
            name: np.full([lengths[dim] for dim in one.dims], one.fill, one.dtype)
            for name, one in self.variables.items()
        }

    @cached_property
    def path(self) -> Path:
        """Path of a file that is not written."""
        return Path(self._folder()) / "run.h5"

    def write(self, name: str, values: ArrayLike, **index: int | slice) -> None:
        """Write a block of one variable, if it is recorded."""
        if name not in self.variables:
            return
        places = tuple(index.get(dim, slice(None)) for dim in self.variables[name].dims)
        self.values[name][places] = values

    def write_each(self, parts: Iterable[tuple[str, ArrayLike, Mapping[str, int | slice]]]) -> None:
        """Write a block of each of several variables, if it is recorded."""
        for name, values, index in parts:
            self.write(name, values, **index)

    def append(self, table: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """Append events, if their table is recorded."""
        if table in self.events:
            self.events[table].append(columns)

    def checkpoint_interval(self, asked: int | str) -> int:
        """Return 0, for no checkpoints: an interrupted run is computed again."""
        return 0

    def commit(self, *given: Any, **named: Any) -> None:
        """Do nothing: the study commits whole runs, which begin at the first tick."""

    rewind = checkpoint = end = shorten = commit


def wanted_variables(variables: Mapping[str, Variable], keep: Keep) -> dict[str, Variable]:
    """Return the variables that a study records."""
    wanted = variables if keep.variables is None else keep.variables
    return {name: one for name, one in variables.items() if name in wanted}
