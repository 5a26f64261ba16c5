"""How many nodes of each level is there room for?"""

from __future__ import annotations

from collections.abc import Sequence


def capacities(branches: Sequence[int], width: int, pool: int) -> tuple[int, ...]:
    """Return for how many nodes each level has room, from the root's to that of the leaves.

    A level needs room for the children of a batch of the level above it; ``branches`` are the most
    nodes of a batch of every level from the root's on, but for that of the leaves. If all levels
    together would have more nodes than ``pool``, those that have the most get the same, smaller
    number: batches that do not fit become shorter. No level has room for less than the children of
    a node.
    """
    needed = [1]
    for batch in branches:
        needed.append(min(batch, needed[-1]) * width)
    if sum(needed) <= pool:
        return tuple(needed)
    low, high = width, max(needed)
    while low < high:
        most = (low + high + 1) // 2
        if sum(min(one, most) for one in needed) <= pool:
            low = most
        else:
            high = most - 1
    return tuple(min(one, low) for one in needed)
