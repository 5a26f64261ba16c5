"""How is a match drawn? As the points of the first player, game after game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from societies.workload.drawing.figure import drawable, require_copy


def figure(results: Any, match: int, wilson: Callable[[float, int], tuple[float, float]]) -> Any:
    """Return a figure of one match: points so far with their interval, and all margins.

    Parameters
    ----------
    match : int
        Index of the match in the file.
    wilson : function that returns the interval of a share, given the number of games
    """
    from matplotlib.figure import Figure

    require_copy(results, match)
    found = drawable(results, "margin", "match", "game")
    margins = found[match].dropna("game").values
    games = np.arange(1, len(margins) + 1)
    points = np.cumsum((np.sign(margins) + 1) / 2) / games
    intervals = [wilson(float(share), i + 1) for i, share in enumerate(points)]
    drawing = Figure(figsize=(10, 4), layout="constrained")
    left, right = drawing.subplots(1, 2)
    left.fill_between(
        games, *zip(*intervals, strict=True), color="#56B4E9", alpha=0.35, label="95 % interval"
    )
    left.plot(games, points, color="#0072B2", label="points of the first player")
    left.axhline(0.5, color="0.5", linewidth=0.8)
    left.set(xlabel="games", ylabel="share of the points so far", ylim=(0, 1))
    left.legend(loc="lower right")
    unit = results.margin.attrs.get("units", "1")
    bins = np.arange(margins.min() - 0.5, margins.max() + 1.5)
    right.hist(margins, bins=bins, color="#D55E00")
    right.axvline(0, color="0.5", linewidth=0.8)
    right.set(xlabel=f"margin of the first player [{unit}]", ylabel="games")
    return drawing
