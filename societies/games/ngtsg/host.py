"""How does the host select and close nodes while the device calculates moves and values?

The host applies the functions of the reference to copies of the tree's arrays. The published
original divides the work in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reference_py.copies import Copy
from reference_py.games.ngtsg.parameters import NEXT_DEPTH

TREE = ("parents", "best", "states")
CHILDREN = ("first_child", "child_count", "open_children")
DEPTH = ("horizon", "low", "high")
READ: dict[str, tuple[str, ...]] = {
    "select": (*TREE, *DEPTH, "first_child", "child_count", "counts", "taken", "level"),
    "append": ("level", "horizon", "batch", "batch_counts", "taken", "root_moves"),
    "close": (
        *(*TREE, *DEPTH, "counts", "open_children", "level", "batch_first", "batch_end"),
        *("moves", "first_child", "child_count", "batch_leaves"),
    ),
}
"""Arrays that a phase reads; some of them exist only in certain searches."""

WRITTEN: dict[str, tuple[str, ...]] = {
    "select": ("states", "round", "batch", "batch_size", "batch_first", "batch_end"),
    "append": (
        *("batch_size", "batch_offsets", "batch_end", "batch_level_of", "batch_leaves"),
        *("children", "nodes_taken", "counts", "taken", "visited", "branch_batches"),
        *("leaf_batches", "shortened", "peak", "round"),
    ),
    "close": (
        *("best", "states", "open_children", "counts", "taken", "level", "ended", "leaves"),
        *("value", "move", "as_good", "perhaps_as_good", "round"),
    ),
}

AT_THE_ROOT: dict[str, tuple[str, ...]] = {
    "select": (
        *("moves", "best", *CHILDREN, "counts", "taken", "level", *DEPTH),
        *("root_moves", "repeated"),
    ),
    "append": ("batch_moves",),
}
"""Further arrays that a search of several depths reads and writes when a depth begins."""


def on_host(phase: str, twin: Callable[..., None], p: Any) -> Callable[..., None]:
    """Return a host function for a phase: it calls the reference's twin for every game."""

    def run(arrays: Mapping[str, Any], tick: int) -> None:
        more: tuple[str, ...] = ()
        if p.deepening and np.isin(arrays["level"].get(), (NEXT_DEPTH, 0)).any():
            more = AT_THE_ROOT.get(phase, ())
        names = dict.fromkeys((*READ[phase], *WRITTEN[phase], *more))
        state = {name: arrays[name].get() for name in names if name in arrays}
        written = [name for name in (*WRITTEN[phase], *more) if name in arrays]
        for game in range(len(state["level"])):
            copy = Copy(game, {name: array[game] for name, array in state.items()})
            twin(p, copy, tick)
            for name in written:
                state[name][game] = getattr(copy, name)
        for name in dict.fromkeys(written):
            arrays[name].set(state[name])

    return run
