"""What does the file of a workload hold by default? Series, logged, recorded and final fields.

Each series and each logged field is a variable (copy, tick, ...), with a value every
``record.series`` ticks (default: 1). Measured times are variables (tick,). Recorded fields have a
value every ``record.detail`` ticks, and final fields one at the end. If a field is both recorded
and final, its detail is named ``detail_NAME``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.output import Coordinate, EventTable, ResultFile, Variable
from societies.workload.declare.config import recorded
from societies.workload.declare.fields import SERIES, Field, State, file_values
from societies.workload.declare.measured import MEASURED
from societies.workload.declare.protocol import Block, Contents, Setup
from societies.workload.declare.varying import coordinates


def contents_of(setup: Setup[Any, Any]) -> Contents:
    """Return the contents of a configuration's file: the workload's own or the default ones."""
    return setup.workload.contents(setup) or SeriesAndDetail(setup)


class SeriesAndDetail:
    """The default contents of a configuration's file; see `Contents`.

    Parameters
    ----------
    setup : Setup
    """

    def __init__(self, setup: Setup[Any, Any]) -> None:
        self.setup, self.workload, self.config = setup, setup.workload, setup.config
        self._p, config = setup.p, setup.config
        self.series = setup.workload.series(self._p)
        ticks, every = setup.ticks, recorded(config, "detail", 0)
        self._every = recorded(config, "series", 1)
        self._detail_ticks = range(every, ticks + 1, every) if every else range(0)
        self._detail_dim = f"detail_{self.workload.clock}"
        fields = setup.fields.items()
        self._logged: dict[str, Field] = {
            name: one for name, one in fields if one.logged and name != SERIES
        }
        self._detail: dict[str, Field] = {
            name: one for name, one in fields if one.recorded and self._detail_ticks
        }
        self._final: dict[str, Field] = {name: one for name, one in fields if one.final}

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
        shown = [*self._logged.values(), *self._detail.values(), *self._final.values()]
        dims = {dim for one in shown for dim in one.dims}
        return result + [
            Coordinate(dim, np.arange(length), "", f"number of the {dim}")
            for dim, length in setup.sizes.items()
            if dim in dims
        ]

    def variables(self) -> list[Variable]:
        """Return the variables of the file."""
        copies, clock = self.workload.copies, self.workload.clock
        result = [
            Variable(name, (copies, clock), "float64", one.unit, one.meaning)
            for name, one in self.series.items()
        ]
        detail = {self._detail_name(name): one for name, one in self._detail.items()}
        if self.workload.timed:
            result += [Variable(name, (clock,), *facts) for name, facts in MEASURED.items()]
        kinds = (((clock,), self._logged), ((self._detail_dim,), detail), ((), self._final))
        return result + [
            Variable(
                name,
                (copies, *when, *one.dims),
                one.file_dtype,
                one.unit,
                one.meaning,
                none=one.file_none,
            )
            for when, fields in kinds
            for name, one in fields.items()
        ]

    def tables(self) -> list[EventTable]:
        """Return no tables of events."""
        return []

    def attributes(self) -> dict[str, str | int]:
        """Return title and sizes."""
        sizes = self.workload.sizes(self._p)
        shape = " x ".join(f"{length} {dim}s" for dim, length in sizes.items())
        title = f"{self.workload.name}, {shape}" if shape else self.workload.name
        return {"title": title, **{f"{dim}s": length for dim, length in sizes.items()}}

    def stops(self) -> Collection[int]:
        """Return the ticks of detail."""
        return self._detail_ticks

    def begin(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Do nothing: the first block needs no earlier state."""

    def write(self, file: ResultFile, block: Block) -> None:
        """Write the series of a block, and the state at its end if it is recorded."""
        ticks = [tick for tick in range(block.first, block.last + 1) if tick % self._every == 0]
        if ticks:
            rows = slice(ticks[0] - block.first, None, self._every)
            places = slice(ticks[0] // self._every - 1, ticks[-1] // self._every)
            for name, values in self._logs(block).items():
                file.write(name, values[:, rows], **{self.workload.clock: places})
            for name, values in block.measured.items():
                file.write(name, values[rows], **{self.workload.clock: places})
        if block.last in self._detail_ticks:
            state, place = block.state(), self._detail_ticks.index(block.last)
            for name in self._detail:
                values = file_values(self.setup.fields, name, state)
                file.write(self._detail_name(name), values, **{self._detail_dim: place})

    def finish(self, file: ResultFile, tick: int, state: Callable[[], State]) -> None:
        """Write the final fields."""
        if self._final:
            last = state()
            for name in self._final:
                file.write(name, file_values(self.setup.fields, name, last))

    def write_checkpoint(self, file: ResultFile, state: Mapping[str, NDArray[Any]]) -> None:
        """Do nothing: the checkpoint needs no additional data."""

    def means(self, block: Block) -> dict[str, float]:
        """Return means over copies of the series and scalar logged fields at the last tick."""
        logs = self._logs(block)
        return {name: _mean(of[:, -1]) for name, of in logs.items() if of.ndim == 2}

    def recorded_means(self, dataset: Any, tick: int) -> dict[str, float]:
        """Return these means for a file's last tick; for a run without ticks, of final fields."""
        clock = self.workload.clock
        if not self.setup.ticks:
            ends = [name for name, one in self._final.items() if not one.dims]
            return {name: _mean(dataset[name].values) for name in ends}
        until = dataset.sel({clock: slice(None, tick)})
        names = [*self.series, *(name for name, one in self._logged.items() if not one.dims)]
        return {name: _mean(until[name].values[:, -1]) for name in names if until.sizes[clock]}

    def _detail_name(self, name: str) -> str:
        """Return the variable of a field's detail, whose final value may have the field's name."""
        return f"detail_{name}" if name in self._final else name

    def _logs(self, block: Block) -> dict[str, NDArray[Any]]:
        """Return the values of each series and logged field in a block: (copy, tick, ...)."""
        series = block.logs.get(SERIES)
        found = {} if series is None else {n: series[:, :, i] for i, n in enumerate(self.series)}
        return found | {name: block.logs[name] for name in self._logged}


def _mean(numbers: NDArray[Any]) -> float:
    """Return the mean of a contiguous copy: NumPy's order of addition depends on the layout."""
    return float(np.ascontiguousarray(numbers).mean())
