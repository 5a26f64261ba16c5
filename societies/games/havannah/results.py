"""What do the file and the report of a rating hold, and the report of a tree search?

The counts of each candidate, with its cell; reports list the best moves.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from reference_py.games.havannah.board import board_of, name_of
from reference_py.games.havannah.moves import LOSES, TAKEN, TIES, WINS
from societies.games.havannah.position import REASONS
from societies.output import Coordinate, open_results
from societies.workload.running.contents import SeriesAndDetail
from societies.workload.running.report import RunReport

BEST = 5
"""Number of moves that are listed."""


class RatingReport(RunReport):
    """The best moves, how the playouts ended, and the rows that every run reports."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """A row for each of the best moves; playouts of several games are added up."""
        rows = self.rows_of_run
        if not self.last_tick:
            return rows
        config = self.config
        with open_results(self.path) as results:
            last = results.sel(batch=self.last_tick)
            counts = {name: last[name].values.sum(axis=0) for name in ("wins", "losses", "draws")}
            cells = results.candidate.values
            kinds = results.finishes.values.sum(axis=(0, 1))
            lengths = float(results.lengths.values.sum())
        playouts = int(sum(counts[name][0] for name in counts))
        order = np.lexsort((cells, -counts["wins"]))[:BEST]
        board = board_of(config.size)
        found = []
        for place, i in enumerate(order):
            share = int(counts["wins"][i]) / playouts
            said = f"{100 * share:.2f} % +- {100 * sqrt(share * (1 - share) / playouts):.2f}"
            name = "best move" if not place else f"move {place + 1}"
            found.append((name, f"{name_of(board, int(cells[i]))} (cell {cells[i]}): {said}"))
        whole = playouts * len(cells)
        ends = {
            name: sum(kinds[kind] for kind in range(8) if kind & bit)
            for bit, name in REASONS.items()
        }
        said = ", ".join(f"{name} {100 * count / whole:.2f} %" for name, count in ends.items())
        return [
            ("playouts", f"{playouts:,} of each of {len(cells)} candidates"),
            *found,
            ("ended by", f"{said}, draw {100 * kinds[0] / whole:.2f} %"),
            ("mean length", f"{lengths / whole:.2f} stones"),
            *rows,
        ]


CERTAIN = {WINS: "wins for certain", LOSES: "loses for certain", TIES: "ties for certain"}


class HavannahSearchReport(RunReport):
    """The best moves, and the rows that every run reports."""

    @property
    def rows(self) -> list[tuple[str, str]]:
        """A row for each of the best moves; playouts of several games are added up."""
        rows = self.rows_of_run
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


class RatingContents(SeriesAndDetail):
    """The default contents; the coordinate of a candidate is its cell."""

    def coordinates(self) -> list[Coordinate]:
        """Return the coordinates of the file."""
        cells = np.array(self.config.cells())
        meaning = "cell of the candidate move, counted row by row"
        named = {
            "candidate": Coordinate("candidate", cells, "", meaning),
            "kind": Coordinate(
                "kind", np.arange(8), "", "structures of the last stone: 1 ring + 2 bridge + 4 fork"
            ),
        }
        return [named.get(one.name, one) for one in super().coordinates()]

    def attributes(self) -> dict[str, str | int]:
        """Return the attributes of the file that describe the rated position."""
        config: Any = self.config
        game = config.game()
        names = " ".join(name_of(board_of(config.size), cell) for cell in config.cells())
        title = f"havannah, size {config.size}, {config.playouts} playouts of each candidate"
        return {
            "title": title,
            "size": config.size,
            "moves": " ".join(game.moves),
            "candidates": names,
            "first_playout": config.first_playout,
        }
