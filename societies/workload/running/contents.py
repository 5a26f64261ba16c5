"""What does a workload's file hold by default? Series, events, logged, recorded, final fields.

Each series and each logged field is a variable (copy, tick, ...), with a value every
``record.series`` ticks (default: 1). Each list of events is a table with all its rows. Measured
times are variables (tick,). Recorded fields have a value every ``record.detail`` ticks, and final
fields one at the end. The detail of a field that is also final, or has the name of a series, is
named ``detail_NAME``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.output import Column, Coordinate, EventTable, ResultFile, Variable
from societies.output.layout import Layout
from societies.words import plural
from societies.workload.declare.config import recorded
from societies.workload.declare.fields import SERIES, Field, State
from societies.workload.declare.naming import object_named
from societies.workload.declare.protocol import Setup
from societies.workload.running.measured import MEASURED
from societies.workload.running.state import file_values
from societies.workload.running.varying import coordinates
from societies.workload.running.written import Block, Contents

ROOM = 4096
"""Initial capacity of a table of events, in rows; a full one grows."""


def contents_of(setup: Setup[Any, Any]) -> Contents:
    """Return the contents of a configuration's file."""
    return object_named(setup.workload.contents_class)(setup)  # type: ignore[no-any-return]


def lacking(stored: ResultFile | Layout, contents: Contents) -> list[str]:
    """Return the variables and tables that a file of an earlier version of Societies lacks."""
    needed = [one.name for one in contents.variables()] + [one.name for one in contents.tables()]
    return [name for name in needed if name not in {*stored.variables, *stored.tables}]


class SeriesInFile:
    """The variables of series, and of logged fields, which are written every ``every`` ticks."""

    def __init__(self, setup: Setup[Any, Any], every: int, logged: Iterable[str]) -> None:
        workload = setup.workload
        self.every, self._when = every, (workload.copies, workload.clock)
        self.series = workload.series(setup.p)
        self.logged = {name: setup.fields[name] for name in logged}
        entries, ends = workload.entries(setup.p), Counter[str]()
        self._columns = {}
        for name, one in self.series.items():
            shape = [len(entries[dim]) for dim in one.dims]
            first, ends[one.log] = ends[one.log], ends[one.log] + math.prod(shape)
            self._columns[name] = slice(first, ends[one.log]), shape

    def variables(self) -> list[Variable]:
        """Return the variables of the file."""
        found = [
            Variable(name, (*self._when, *one.dims), "float64", one.unit, one.meaning, lag=one.lag)
            for name, one in self.series.items()
        ]
        return found + [variable(name, one, self._when) for name, one in self.logged.items()]

    def values(self, block: Block) -> dict[str, NDArray[Any]]:
        """Return the values of a block by variable: (copy, tick, ...)."""
        found = {}
        for name, (columns, shape) in self._columns.items():
            log = block.logs[self.series[name].log]
            found[name] = log[:, :, columns].reshape(*log.shape[:2], *shape)
        return found | {name: block.logs[name] for name in self.logged}

    def write(self, file: ResultFile, block: Block) -> None:
        """Write the values of a block at the ticks that are recorded."""
        parts = []
        for name, values in self.values(block).items():
            lag = self.series[name].lag if name in self.series else 0
            if found := self.rows(block.first - lag, block.last - lag):
                parts.append((name, values[:, found[0]], {self._when[1]: found[1]}))
        file.write_each(parts)

    def rows(self, first: int, last: int) -> tuple[slice, slice] | None:
        """Return which of some ticks are recorded, and their places in the file; None if none."""
        begin, end = max(1, -(-first // self.every)), last // self.every
        ticks = slice(begin * self.every - first, None, self.every)
        return (ticks, slice(begin - 1, end)) if begin <= end else None

    def scalars(self) -> list[str]:
        """Return the variables with one number per copy and tick that is known at once."""
        found = [name for name, one in self.series.items() if not one.dims and not one.lag]
        return found + [name for name, one in self.logged.items() if not one.dims]


def variable(name: str, field: Field, when: tuple[str, ...]) -> Variable:
    """Return the variable of a field, whose first dimensions are ``when``."""
    dims, facts = (*when, *field.dims), (field.unit, field.meaning)
    return Variable(name, dims, field.file_dtype, *facts, none=field.file_none)


class SeriesAndDetail:
    """The default contents of a configuration's file; see `Contents`."""

    def __init__(self, setup: Setup[Any, Any]) -> None:
        self.setup, self.workload, self.config = setup, setup.workload, setup.config
        self._p, config = setup.p, setup.config
        ticks, every = setup.ticks, recorded(config, "detail", 0)
        self._every = recorded(config, "series", 1)
        self._detail_ticks = range(every, ticks + 1, every) if every else range(0)
        self._detail_dim = f"detail_{self.workload.clock}"
        fields = setup.fields.items()
        logged = [name for name, one in fields if one.logged and name != SERIES]
        self._recorded = SeriesInFile(setup, self._every, logged)
        self._detail: dict[str, Field] = {
            name: one for name, one in fields if one.recorded and self._detail_ticks
        }
        self._final: dict[str, Field] = {name: one for name, one in fields if one.final}
        self._events = self.workload.events(self._p)

    def coordinates(self) -> list[Coordinate]:
        """Return the coordinates of the file."""
        workload, config = self.workload, self.config
        setup, clock = self.setup, workload.clock
        numbers = np.arange(setup.first, setup.first + setup.copies)
        ticks = np.arange(self._every, setup.ticks + 1, self._every)
        unit = clock if clock == "day" else ""
        result = [
            Coordinate(workload.copies, numbers, "", f"number of the {workload.copies}"),
            Coordinate(clock, ticks, unit, f"{clock}, counted from 1"),
            *coordinates(config, workload.copies, {one.name for one in self.variables()}),
        ]
        if self._detail:
            meaning = f"{clock} of detail"
            result.append(Coordinate(self._detail_dim, np.array(self._detail_ticks), unit, meaning))
        entries = {**{dim: range(n) for dim, n in setup.sizes.items()}, **workload.entries(self._p)}
        dims = {dim for one in self._recorded.series.values() for dim in one.dims}
        for fields in (self._recorded.logged, self._detail, self._final):
            dims.update(dim for one in fields.values() for dim in one.dims)
        return result + [
            Coordinate(dim, np.arange(len(of)), "", f"number of the {dim}")
            if isinstance(of, range)
            else Coordinate(dim, np.array(of), "", f"name of the {dim}")
            for dim, of in entries.items()
            if dim in dims
        ]

    def variables(self) -> list[Variable]:
        """Return the variables of the file."""
        copies, clock = self.workload.copies, self.workload.clock
        result, count = self._recorded.variables(), len(self._recorded.series)
        detail = {self._detail_name(name): one for name, one in self._detail.items()}
        if self.workload.timed:
            times = [Variable(name, (clock,), *facts) for name, facts in MEASURED.items()]
            result[count:count] = times
        kinds = (((self._detail_dim,), detail), ((), self._final))
        return result + [
            variable(name, one, (copies, *when))
            for when, fields in kinds
            for name, one in fields.items()
        ]

    def tables(self) -> list[EventTable]:
        """Return a table for every list of events."""
        copies, clock = self.workload.copies, self.workload.clock
        unit = clock if clock == "day" else ""
        found = []
        for name, kind in self._events.items():
            columns = [
                Column(copies, "int32", "", f"number of the {copies}"),
                Column(clock, "int32", unit, f"{clock} of the event"),
                *(Column(one, "int32", *facts) for one, facts in kind.further.items()),
            ]
            room = min(kind.rows * self.setup.ticks, ROOM // self.setup.copies)
            rows = max(1, room) * self.setup.copies
            found.append(EventTable(name, tuple(columns), rows, in_study=True))
        return found

    def attributes(self) -> dict[str, str | int]:
        """Return title and sizes."""
        sizes = self.workload.sizes(self._p)
        counted = {plural(dim): length for dim, length in sizes.items()}
        chosen = type(self.setup.config).model_fields
        shape = " x ".join(f"{length} {name}" for name, length in counted.items() if name in chosen)
        title = f"{self.workload.name}, {shape}" if shape else self.workload.name
        return {"title": title, **{f"{dim}s": length for dim, length in sizes.items()}}

    def stops(self) -> Collection[int]:
        """Return the ticks of detail."""
        return self._detail_ticks

    def detail(self, tick: int, state: State) -> State:
        """Return the recorded fields."""
        return {name: file_values(self.setup.fields, name, state) for name in self._detail}

    def pauses(self) -> Collection[int]:
        """Return no tick: `detail` already records everything of a state."""
        return ()

    def begin(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Do nothing: the first block needs no earlier state."""

    def write(self, file: ResultFile, block: Block) -> None:
        """Write the series and events of a block, and the states in it that are recorded."""
        self._recorded.write(file, block)
        for table in self.tables():
            rows = block.events[table.name].T
            columns = dict(zip((one.name for one in table.columns), rows, strict=True))
            numbers = rows[0] + np.int32(self.setup.first)
            file.append(table.name, {**columns, self.workload.copies: numbers})
        if found := self._recorded.rows(block.first, block.last):
            for name, values in block.measured.items():
                file.write(name, values[found[0]], **{self.workload.clock: found[1]})
        for name in self._detail if block.detail else ():
            first = self._detail_ticks.index(min(block.detail))
            places = {self._detail_dim: slice(first, first + len(block.detail))}
            values = np.stack([state[name] for state in block.detail.values()], axis=1)
            file.write(self._detail_name(name), values, **places)

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write the final fields."""
        if self._final:
            last = state()
            for name in self._final:
                file.write(name, file_values(self.setup.fields, name, last))

    def write_checkpoint(self, file: ResultFile, state: Mapping[str, NDArray[Any]]) -> None:
        """Do nothing: the checkpoint needs no additional data."""

    def means(self, block: Block) -> dict[str, float]:
        """Return means over copies of the series and logged fields without dimensions."""
        values = self._recorded.values(block)
        return {name: self._mean(name, values[name][:, -1]) for name in self._recorded.scalars()}

    def recorded_means(self, dataset: Any, tick: int) -> dict[str, float]:
        """Return these means for a file's last tick; for a run without ticks, of final fields."""
        clock = self.workload.clock
        if not self.setup.ticks:
            ends = [name for name, one in self._final.items() if not one.dims]
            return {name: self._mean(name, dataset[name].values) for name in ends}
        until = dataset.sel({clock: slice(None, tick)})
        names = self._recorded.scalars() if until.sizes[clock] else ()
        return {name: self._mean(name, until[name].values[:, -1]) for name in names}

    def _mean(self, name: str, numbers: NDArray[Any]) -> float:
        """Return the mean of a contiguous copy: NumPy's order of addition depends on the layout.

        Numbers that stand for no value are left out; files have NaN instead.
        """
        fields = self.setup.fields
        if name in fields and (none := fields[name].none) is not None:
            numbers = numbers[(numbers != none) & ~np.isnan(numbers)]
        return float(np.ascontiguousarray(numbers).mean()) if numbers.size else math.nan

    def _detail_name(self, name: str) -> str:
        """Return the variable of a field's detail; `Field.final` or a series may take its name."""
        taken = name in self._final or name in self._recorded.series
        return f"detail_{name}" if taken else name
