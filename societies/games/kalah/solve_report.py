"""What does the report of a solution of games of Kalah contain?"""

from __future__ import annotations

from math import isnan

from societies.output import open_results
from societies.workload.running.report import RunReport


class SolveReport(RunReport):
    """The margin of every start, and the rows that every run reports."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """A row for each game: the margins with 1, 2, ... stones a pit."""
        games = self.workload.parameters(self.config).games
        with open_results(self.path) as results:
            margins = results.margin.values
        table = [
            (
                f"{one.pits} pits{', empty capture' if one.empty_capture else ''}",
                ", ".join("?" if isnan(value) else f"{int(value):+d}" for value in found),
            )
            for one, found in zip(games, margins, strict=True)
        ]
        stones = ", ".join(map(str, range(1, self.config.stones + 1)))
        return [("margin with stones a pit", stones), *table, *self.rows_of_run]
