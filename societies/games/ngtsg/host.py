"""How does the host select and close nodes, while the device calculates moves and values?

It carries out the functions of the reference on copies of the arrays of the tree: the division of
labour of the published original.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reference_py.copies import Copy

TREE = ("parents", "best", "states")
DEPTH = ("horizon", "low", "high")
READ: dict[str, tuple[str, ...]] = {
    "select": (*TREE, *DEPTH, "first_child", "child_count", "counts", "taken", "level"),
    "append": ("level", "horizon", "batch", "batch_counts", "taken"),
    "close": (*TREE, *DEPTH, "counts", "open_children", "level", "batch_first", "batch_end"),
    "compact": (*TREE, *DEPTH, "moves", "first_child", "child_count", "level", "batch_leaves"),
    "next_depth": ("moves",),
}
"""Arrays that a phase reads; those of the state that only some searches have are among them."""

WRITTEN: dict[str, tuple[str, ...]] = {
    "select": ("states", "round", "batch", "batch_size", "batch_first", "batch_end"),
    "append": (
        *("batch_size", "batch_offsets", "batch_end", "batch_level_of", "batch_leaves"),
        *("children", "nodes_taken", "counts", "taken", "visited", "branch_batches"),
        *("leaf_batches", "shortened", "peak", "round"),
    ),
    "close": ("best", "states", "open_children"),
    "compact": (
        *("counts", "taken", "level", "ended", "leaves", "value", "move", "as_good"),
        *("perhaps_as_good", "round"),
    ),
    "next_depth": (
        *("best", "states", "first_child", "child_count", "open_children", "counts", "taken"),
        *("level", *DEPTH, "root_moves", "repeated"),
    ),
}


def on_host(phase: str, twin: Callable[..., None], p: Any) -> Callable[..., None]:
    """Return the function of a phase that calls its twin in the reference for every game."""

    def run(arrays: Mapping[str, Any], tick: int) -> None:
        names = dict.fromkeys((*READ[phase], *WRITTEN[phase]))
        state = {name: arrays[name].get() for name in names if name in arrays}
        written = [name for name in WRITTEN[phase] if name in arrays]
        for game in range(len(state["level"])):
            copy = Copy(game, {name: array[game] for name, array in state.items()})
            twin(p, copy, tick)
            for name in written:
                state[name][game] = getattr(copy, name)
        for name in written:
            arrays[name].set(state[name])

    return run
