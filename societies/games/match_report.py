"""What does the report of matches of any game contain?"""

from __future__ import annotations

import math

from societies.games.matches import standing
from societies.output import open_results
from societies.workload.running.report import RunReport


class MatchReport(RunReport):
    """The table of the match, and the rows that every run reports."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The table, then the rows of the run, without means of the last game."""
        rows = self.rows_of_run
        if self.last_tick < 2:
            return rows
        with open_results(self.path) as results:
            games = results.isel(game=slice(self.last_tick // 2 * 2))
            margins = games.margin.values
            ended = self.workload.endings(games.end, margins) if self.workload.ends else ""
        found = standing(margins)
        first, second = self.workload.names(self.config)
        low, high = found.points_interval
        least, most = found.margin_interval
        interval = f", 95 % interval {least:+.2f} to {most:+.2f}" if math.isfinite(most) else ""
        return [
            ("games", f"{found.games}, each player began half"),
            ("players", f"{first} against {second}"),
            ("wins", f"{found.wins} ({found.wins_beginning} beginning) to {found.losses}"),
            ("ties", str(found.ties)),
            (
                "points",
                f"{100 * found.points:.1f} %, 95 % interval {100 * low:.1f} to {100 * high:.1f}",
            ),
            ("margin", f"{found.margin:+.2f} a game{interval}"),
            *([("games ended by", ended)] if ended else []),
            *rows,
        ]
