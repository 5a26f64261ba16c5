"""What does the file of a search or of a match hold?

Of a search its result, counts by level and a row for each superstep; of a match its games, the
players and the first position.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from societies.output import Coordinate, EventTable, ResultFile
from societies.output.tables import Column
from societies.workload.declare.protocol import Block, Setup
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.measured import MEASURED, MEASURED_TABLE

SUPERSTEPS = "supersteps"
ROOM = 1024
"""Initial capacity of the table in rows; the table grows when it is full."""

LOGGED = ("batch_level_of", "nodes_taken", "children", "horizon")
"""Logged fields that become columns; only a search of several depths has the last one."""


class SearchContents(SeriesAndDetail):
    """Coordinates, variables and the table of supersteps of a configuration's file.

    The number of supersteps is not known in advance, so they form a table of events.
    """

    def __init__(self, setup: Setup[Any, Any]) -> None:
        super().__init__(setup)
        self._every = setup.ticks  # no coordinate for all possible supersteps
        logged = self._recorded.logged
        self._columns = {name: logged[name] for name in LOGGED if name in logged}
        logged.clear()

    def coordinates(self) -> list[Coordinate]:
        """Return the coordinates of the file without supersteps, which are rows of tables."""
        return [one for one in super().coordinates() if one.name != self.workload.clock]

    def variables(self) -> list[Any]:
        """Return the variables of the file without measurements, which are in a table."""
        return [one for one in super().variables() if one.name not in MEASURED]

    def tables(self) -> list[EventTable]:
        """Return the table of supersteps and the table of their measurements."""
        game, clock = self.workload.copies, self.workload.clock
        columns = [
            Column(game, "int32", "", f"number of the {game}"),
            Column(clock, "int32", clock, f"{clock}, counted from 1"),
            *(Column(n, "int32", one.unit, one.meaning) for n, one in self._columns.items()),
        ]
        measured = (columns[1], *(Column(name, *facts) for name, facts in MEASURED.items()))
        most = self.setup.ticks
        return [
            EventTable(SUPERSTEPS, tuple(columns), min(ROOM, most * self.setup.copies)),
            EventTable(MEASURED_TABLE, measured, min(ROOM, most)),
        ]

    def write(self, file: ResultFile, block: Block) -> None:
        """Append a row for each superstep of each game that had not ended before it."""
        copies, ticks = self.setup.copies, block.last - block.first + 1
        assert block.ended is not None
        ended = block.ended
        numbers = np.arange(block.first, block.last + 1)
        game, at = np.divmod(np.arange(copies * ticks), ticks)
        order = np.lexsort((game, at))
        game, at = game[order], at[order]
        running = (ended[game] < 0) | (numbers[at] <= ended[game])
        game, at = game[running], at[running]
        file.append(
            SUPERSTEPS,
            {
                self.workload.copies: game + self.setup.first,
                self.workload.clock: numbers[at],
                **{name: block.logs[name][game, at] for name in self._columns},
            },
        )
        ticks = len(np.unique(at))  # number of supersteps over all games
        measured = {name: values[:ticks] for name, values in block.measured.items()}
        file.append(MEASURED_TABLE, {self.workload.clock: numbers[:ticks], **measured})

    def means(self, block: Block) -> dict[str, float]:
        """Return no means: the report shows the result instead."""
        return {}

    def recorded_means(self, dataset: Any, tick: int) -> dict[str, float]:
        """Return no means, as `means` does."""
        return {}


class MatchContents(SeriesAndDetail):
    """The default contents, with the players and the first position."""

    def attributes(self) -> dict[str, str | int]:
        """Return the attributes of the file with the players and the first position."""
        first, second = self.workload.names(self.config)  # type: ignore[attr-defined]
        return {
            **super().attributes(),
            "title": f"{first} against {second}",
            "first_player": first,
            "second_player": second,
            **self.workload.position(self.config),  # type: ignore[attr-defined]
        }
