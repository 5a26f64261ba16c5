"""Which node is where in the array of a complete k-ary tree, and what are totals of subtrees?

Node 0 is the root; the children of node i are ``k i + 1 .. k i + k``. Levels 0 .. depth; k = 1 is a
chain. Device twin: ``kernels/primitives/tree.cl``, where ``NONE`` stands for the parent of the
root and for everything that raises here: use these functions to plan arrays.
"""

import functools
from collections.abc import Callable, Sequence

MOST_NODES = 2**32 - 2
"""Nodes of the largest tree: their number must be below 2**32 - 1, the device's ``NONE``."""


def parent(k: int, i: int) -> int | None:
    """Parent of node i; None for the root."""
    check(k)
    return None if i == 0 else (i - 1) // k


def child(k: int, i: int, j: int) -> int:
    """Child j of node i, ``0 <= j < k``."""
    check(k)
    if not 0 <= j < k:
        raise ValueError(f"child {j} of a node with {k}: choose 0 to {k - 1}")
    return fitting(k * i + 1 + j, f"child {j} of node {i}", k)


def nodes(k: int, depth: int) -> int:
    """Nodes of a tree with the levels 0 .. depth: ``(k**(depth + 1) - 1) / (k - 1)``.

    Raises
    ------
    ValueError
        If there are more than 32 bits can number.
    """
    check(k)
    if depth < 0:
        raise ValueError(f"a tree of depth {depth}: choose 0 or more")
    if k == 1:
        return fitting(depth + 1, f"depth {depth}", k)
    # 2**32 nodes are too many already, so no power beyond that is worked out
    return fitting((k ** (min(depth, 32) + 1) - 1) // (k - 1), f"depth {depth}", k)


def level_start(k: int, level: int) -> int:
    """First node of a level: the number of nodes above it."""
    check(k)
    return nodes(k, level - 1) if level else 0


def level(k: int, i: int) -> int:
    """Level of node i."""
    check(k)
    if k == 1:
        return i
    steps = 0
    while i > 0:
        i = (i - 1) // k
        steps += 1
    return steps


def depth(k: int, leaves: int) -> int:
    """Smallest depth whose last level has room for the leaves."""
    check(k)
    if k == 1 and leaves > 1:
        raise ValueError(f"{leaves} leaves in a chain: the last level of a tree with k = 1 is one")
    levels = 0
    while k**levels < leaves:
        levels += 1
    nodes(k, levels)
    return levels


def build(k: int, depth: int, leaves: Sequence[float], empty: float) -> list[float]:
    """The last level of a tree: the leaves, and ``empty`` for those that are missing."""
    width = nodes(k, depth) - level_start(k, depth)
    if len(leaves) > width:
        raise ValueError(f"{len(leaves)} leaves in a last level of {width}: choose a larger depth")
    return [*leaves, *[empty] * (width - len(leaves))]


def tree_sum(k: int, depth: int, last_level: Sequence[float]) -> list[float]:
    """All nodes: a node is the sum of its children, added up from the first to the last."""
    return totals(k, depth, last_level, lambda a, b: a + b)


def tree_min(k: int, depth: int, last_level: Sequence[float]) -> list[float]:
    """All nodes: a node is its smallest child, the first of equal ones; NaN only if all are."""
    return totals(k, depth, last_level, lambda a, b: b if a != a or b < a else a)


def tree_max(k: int, depth: int, last_level: Sequence[float]) -> list[float]:
    """All nodes: a node is its largest child, the first of equal ones; NaN only if all are."""
    return totals(k, depth, last_level, lambda a, b: b if a != a or b > a else a)


def totals(
    k: int,
    depth: int,
    last_level: Sequence[float],
    joined: Callable[[float, float], float],
) -> list[float]:
    """All nodes of a tree from its last level, by joining siblings from the first to the last."""
    levels = [list(last_level)]
    for _ in range(depth):
        below = levels[0]
        siblings = [below[first : first + k] for first in range(0, len(below), k)]
        levels.insert(0, [functools.reduce(joined, children) for children in siblings])
    return [node for nodes_of_level in levels for node in nodes_of_level]


def check(k: int) -> None:
    """Raise for a number of children that makes no tree."""
    if k < 1:
        raise ValueError(f"a tree with k = {k} children: choose 1 or more")


def fitting(count: int, what: str, k: int) -> int:
    """The number itself, unless 32 bits cannot number all nodes."""
    if count > MOST_NODES:
        raise ValueError(f"{what} of a tree with k = {k} does not fit 32 bits")
    return count
