"""Which moves does a tree search report as the best, and after how many playouts?"""

from __future__ import annotations

import numpy as np

from reference_py.games.havannah.board import board_of, name_of
from reference_py.games.havannah.moves import LOSES, TAKEN, TIES, WINS
from societies.games.havannah.report import BEST
from societies.output import open_results
from societies.workload.running.report import RunReport

CERTAIN = {WINS: "wins for certain", LOSES: "loses for certain", TIES: "ties for certain"}


class HavannahSearchReport(RunReport):
    """The best moves, and the rows that every run reports."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """A row for each of the best moves; playouts of several games are added up."""
        rows = [(name, text) for name, text in super().rows if name not in self.final]
        if not self.last_tick:
            return rows
        with open_results(self.path) as results:
            last = results.sel(batch=self.last_tick)
            playouts, points = (last[name].values.sum(axis=0) for name in ("playouts", "points"))
            certain = last.certain.values[0]
        worth = np.where(certain == WINS, 1, np.where(certain == LOSES, -1, 0))
        order = np.lexsort((np.arange(len(worth)), -points, -playouts, -worth))
        board = board_of(self.config.size)
        found: list[tuple[str, str]] = []
        for cell in [cell for cell in order.tolist() if certain[cell] != TAKEN][:BEST]:
            share = 100 * points[cell] / max(1, playouts[cell])
            said = f"{share:.2f} % of {playouts[cell]:,} playouts"
            if certain[cell] in CERTAIN:
                said = f"{CERTAIN[certain[cell]]}, {said}"
            name = "best move" if not found else f"move {len(found) + 1}"
            found.append((name, f"{name_of(board, cell)} (cell {cell}): {said}"))
        return [("playouts", f"{int(playouts.sum()):,}"), *found, *rows]
