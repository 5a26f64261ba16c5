"""What does the file of a rating hold? The counts of each candidate, with its cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_py.games.havannah.board import board_of, name_of
from societies.output import Coordinate
from societies.workload.running.contents import SeriesAndDetail


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
