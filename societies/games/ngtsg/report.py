"""What does the report of a node-by-node search contain?"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from societies.games.ngtsg.results import SUPERSTEPS
from societies.output import open_results
from societies.words import counted
from societies.workload.running.measured import MEASURED_TABLE
from societies.workload.running.report import RunReport


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
