"""How is a rating drawn? As a board with the share of wins of every candidate."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_py.games.havannah.board import board_of
from reference_py.games.havannah.parameters import BLACK, EMPTY, WHITE
from societies.errors import ConfigError, OutputError, option
from societies.games.havannah.position import game_of
from societies.workload.drawing.figure import drawable, require_copy

GREY = "grey"
_HEXAGON = 0.577
"""Distance from the centre of a hexagon to its corners, if centres are 1 apart."""


def figure(results: Any, *, game: int = 0, colours: str = GREY) -> Any:
    """Draw the board with the share of the playouts that each candidate won.

    Parameters
    ----------
    game : int
        Which game of the file, from 0.
    colours : str
        grey: from 0 for the fewest wins to 100 for the most, dark is good; or a name of
        matplotlib's colour maps, with a scale of shares.
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.patches import RegularPolygon

    require_copy(results, game)
    found = {
        name: drawable(results, name, "game", "batch", "candidate")
        for name in ("wins", "losses", "draws")
    }
    size = int(results.attrs.get("size", 0))
    if not 3 <= size <= 10:
        raise OutputError(f"size {size} in the file is not that of a board, 3 to 10")
    if colours != GREY and colours not in colormaps:
        raise ConfigError(f"{option('colours', colours)}: grey, or a colour map of matplotlib")
    counts = {name: _last(array[game]) for name, array in found.items()}
    playouts = sum(counts.values())
    shares = counts["wins"] / np.maximum(playouts, 1)
    low, high = float(shares.min()), float(shares.max())
    span = max(high - low, 1e-12)
    board = board_of(size)
    moves = str(results.attrs.get("moves", ""))
    stones = game_of(size, True, moves).stones
    rated = {int(cell): float(s) for cell, s in zip(results.candidate.values, shares, strict=True)}
    drawing = Figure(figsize=(7, 6.4), layout="constrained")
    axes = drawing.add_subplot()
    for cell, (x, y) in enumerate(board.places):
        centre = (x - y / 2, -y * 0.8660254)
        face: Any = "white"
        if cell in rated:
            level = (rated[cell] - low) / span
            face = str(1 - level) if colours == GREY else colormaps[colours](level)
        axes.add_patch(
            RegularPolygon(centre, 6, radius=_HEXAGON, facecolor=face, edgecolor="0.6", lw=0.6)
        )
        if stones[cell] != EMPTY:
            colour = {WHITE: "white", BLACK: "black"}[stones[cell]]
            axes.plot(*centre, "o", ms=90 / (2 * size), mfc=colour, mec="#D55E00", mew=1.5)
        elif cell in rated and size <= 6:
            dark = level > 0.5 if colours == GREY else False
            text = f"{100 * level:.0f}" if colours == GREY else f"{100 * rated[cell]:.1f}"
            ink = "white" if dark else "black"
            axes.annotate(text, centre, ha="center", va="center", fontsize=8, color=ink)
    for y in range(2 * size - 1):
        x = max(0, y - size + 1)
        axes.annotate(
            chr(ord("A") + y), (x - y / 2 - 0.9, -y * 0.866), ha="center", va="center", fontsize=8
        )
    best = max(rated, key=lambda cell: (rated[cell], -cell))
    x, y = board.places[best]
    mark = (x - y / 2, -y * 0.8660254)
    axes.add_patch(RegularPolygon(mark, 6, radius=_HEXAGON, fill=False, edgecolor="#D55E00", lw=2))
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_axis_off()
    scale = "0 (white) to 100 (black): " if colours == GREY else ""
    axes.set_title(
        f"share of {int(playouts.max()):,} playouts won by each move, best framed\n"
        f"{scale}{100 * low:.2f} % to {100 * high:.2f} %",
        fontsize=10,
    )
    return drawing


def _last(counts: Any) -> Any:
    """Return the counts after the last batch that was written."""
    values = counts.values
    written = ~np.isnan(values).any(axis=1)
    if not written.any():
        raise OutputError("the file has no batch yet")
    return values[written][-1]
