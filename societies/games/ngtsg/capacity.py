"""How many nodes of each level of a search tree fit the memory?"""

from __future__ import annotations

from collections.abc import Sequence


def capacities(branches: Sequence[int], width: int, pool: int) -> tuple[int, ...]:
    """Return the capacity of each level in nodes, from the root's level to that of the leaves.

    A level needs room for the children of a batch of the level above. ``branches`` holds the
    largest batch of each level from the root's to the last one above the leaves. If all levels
    together need more nodes than ``pool``, the largest levels get the same, smaller capacity;
    batches that do not fit become smaller. Every level has room for the children of one node.
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
