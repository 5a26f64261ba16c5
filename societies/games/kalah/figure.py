"""How is a search of Kalah drawn? Size of the tree and best score against depth."""

from __future__ import annotations

from typing import Any

from societies.workload.drawing.figure import drawable, require_copy


def figure(results: Any, *, game: int = 0) -> Any:
    """Draw how the tree of a game grows with depth, and which score is found.

    Parameters
    ----------
    game : int
        Which game of the file, from 0.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    require_copy(results, game)
    found = {
        name: drawable(results, name, "game", "depth")
        for name in ("nodes", "leaves", "score", "pit")
    }
    one = {name: array[game].values for name, array in found.items()}
    depths = results.depth.values
    drawing = Figure(figsize=(10, 4), layout="constrained")
    left, right = drawing.subplots(1, 2)
    left.plot(depths, one["nodes"], "o-", color="#0072B2", label="boards looked at")
    left.plot(depths, one["leaves"], ".--", color="#56B4E9", label="of these at full depth")
    left.set(xlabel="depth [plies]", ylabel="boards", yscale="log")
    left.legend()
    right.step(depths, one["score"], "o-", where="mid", color="#D55E00")
    for depth, score, pit in zip(depths, one["score"], one["pit"], strict=True):
        if score == score and pit >= 0:  # unfinished depths hold NaN
            right.annotate(f"{pit:.0f}", (depth, score), (0, 7), textcoords="offset points")
    right.set(xlabel="depth [plies]", ylabel="score, as TOP sees it")
    right.set_title("numbers: cell of the best move", fontsize="medium")
    right.margins(y=0.15)
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return drawing
