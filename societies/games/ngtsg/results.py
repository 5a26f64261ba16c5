"""What do the file and the report of a search hold, and the file of a match?

A search has its result, counts by level and a row for each superstep; a match its games, the
players and the first position.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from societies.output import Coordinate, EventTable, ResultFile, open_results
from societies.output.tables import Column
from societies.words import counted
from societies.workload.declare.protocol import Setup
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.measured import MEASURED, MEASURED_TABLE
from societies.workload.running.report import RunReport
from societies.workload.running.written import Block

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


class SearchReport(RunReport):
    """The result of the search (of the first game), and the rows that every run reports."""

    @cached_property
    def _work(self) -> tuple[float, float]:
        """Number of nodes of this run, and the seconds of its supersteps."""
        nodes, seconds = (
            float(self._now(table)[column].sum())
            for table, column in ((SUPERSTEPS, "nodes_taken"), (MEASURED_TABLE, "seconds"))
        )
        return nodes, seconds

    def _now(self, table: str) -> Any:
        """Return the rows of a table that belong to this run."""
        with open_results(self.path, events=table) as rows:
            now = rows[self.workload.clock] >= self.first_tick
            return rows.isel(event=now.values).load()

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The closing table: the result, then the run."""
        return [*self._found(), *super().rows]

    def _found(self) -> list[tuple[str, str]]:
        with open_results(self.path) as results:
            one = results.isel({self.workload.copies: 0})
            found = {name: int(one[name]) for name in FOUND if one[name].notnull()}
            repeated = int(one.repeated) if "repeated" in one else 0
            visited = [int(nodes) for nodes in one.visited.values]
            more = self.workload.found_rows(self.config, one)
        if "ended" not in found:
            return [*more, ("value", "none: the root is not closed yet")]
        batches = found["branch_batches"], found["leaf_batches"]
        rows = [
            *more,
            ("value", f"{found['value']:,} to the side to move"),
            ("best move", self._best(found)),
            ("nodes visited", f"{sum(visited):,} of {self._whole_tree(visited)}"),
            ("of these evaluated", f"{found['leaves']:,}"),
            ("batches", f"{batches[0]:,} of branches, {batches[1]:,} of leaves"),
            ("most nodes in memory", f"{found['peak']:,}"),
        ]
        if repeated:
            rows.append(
                ("window missed", f"{counted(repeated, 'search')} repeated with a wide one")
            )
        if found["shortened"]:
            fewer = counted(found["shortened"], "batch")
            rows.append(("pool full", f"{fewer} made smaller, so more nodes may have been visited"))
        return rows

    def _best(self, found: dict[str, int]) -> str:
        """Return the best move and whether others are as good, or why there is no move."""
        workload, config = self.workload, self.config
        if "move" in found:
            return f"{workload.move_text(config, found['move'])}, {_unique(found)}"
        if workload.rules.branch(workload.parameters(config), config.roots()[0]):
            return "depth 0: evaluated, no move searched"
        return str(workload.over_text(config))

    def _whole_tree(self, visited: list[int]) -> str:
        """Return how many nodes the whole tree has: exactly, if all of them were visited."""
        if self.config.pruning == "none":
            return f"{sum(visited):,}"
        if not sum(visited[1:]):  # depth 0, or a root without moves
            return "1"
        return f"roughly {self.config.nodes_estimate():.2g}"


FOUND = (
    *("value", "move", "as_good", "perhaps_as_good", "leaves", "branch_batches", "leaf_batches"),
    *("peak", "shortened", "ended"),
)


def _unique(found: dict[str, int]) -> str:
    """Return in words whether other moves are as good as the best one."""
    others, perhaps = found["as_good"] - 1, found["perhaps_as_good"]
    if others > 0:
        return f"and {counted(others, 'other')} as good"
    if perhaps:
        return f"and {counted(perhaps, 'other')} may be as good: cut off, with a bound alone"
    return "the only best one"
