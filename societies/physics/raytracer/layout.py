"""How are the spheres of a scene arranged on a device? In groups of eight below a tree of boxes.

The tree lets rays skip spheres and changes no result (kernels/physics/raytracer/nearest.cl).
Groups consist of successive spheres in Morton's order, the order of the interleaved bits of their
centres' coordinates (G. M. Morton, 1966): neighbours in this order are mostly neighbours in space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_py.primitives import tree as tree_of

EIGHT = 8
BITS = 20
"""Bits per coordinate in a Morton number."""


@dataclass(frozen=True)
class SphereArrays:
    """The spheres in the layout that kernels read.

    Attributes
    ----------
    groups : (group, 4, 8) num, x, y, z of the centres and squares of the radii; where a group is
        not full, the square is -infinity, which no ray hits
    numbers : (group, 8) int32, numbers of the spheres, -1 where a group is not full
    boxes : (node, 6, 8) num, least and largest coordinates of the eight children of a node
    bounds : (node, 8) num, least and largest coordinates of all spheres below a node, their least
        radius, and half its inverse
    first_leaf : number of nodes above the groups; groups are numbered from it on
    """

    groups: NDArray[Any]
    numbers: NDArray[np.int32]
    boxes: NDArray[Any]
    bounds: NDArray[Any]
    first_leaf: int


def layout(spheres: NDArray[Any], *, tree: bool) -> SphereArrays:
    """Return the layout of spheres, (sphere, 4) num: centre and radius.

    With ``tree`` there are boxes, else groups in the order of the spheres.
    """
    count, num = len(spheres), spheres.dtype
    order = np.argsort(morton(spheres[:, :3]), kind="stable") if tree else np.arange(count)
    groups_count = max(1, -(-count // EIGHT))
    numbers = np.full(groups_count * EIGHT, -1, np.int32)
    numbers[:count] = order
    groups = np.zeros((4, groups_count * EIGHT), num)
    groups[3] = -np.inf
    groups[:3, :count] = spheres[order, :3].T
    groups[3, :count] = spheres[order, 3] * spheres[order, 3]
    groups = groups.reshape(4, groups_count, EIGHT).swapaxes(0, 1)
    boxes, bounds, first_leaf = np.zeros((1, 6, EIGHT), num), np.zeros((1, 8), num), 0
    if tree:
        boxes, bounds, first_leaf = boxes_of(spheres[order])
    return SphereArrays(
        np.ascontiguousarray(groups), numbers.reshape(-1, EIGHT), boxes, bounds, first_leaf
    )


def boxes_of(spheres: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return ``boxes``, ``bounds`` and ``first_leaf`` of a complete tree over ordered spheres."""
    num, centre, radius = spheres.dtype.type, spheres[:, :3], spheres[:, 3:]
    # Rounded outwards; minus the largest coordinates, so that the least of all columns are wanted.
    low = np.nextafter(np.hstack([centre, -centre]) - radius, num(-np.inf))
    least = np.hstack([low, radius])
    depth = max(1, tree_of.depth(EIGHT, max(1, -(-len(spheres) // EIGHT))))
    first_leaf = tree_of.level_start(EIGHT, depth)
    below = np.full((first_leaf, 7, EIGHT), np.inf, num)
    for level in reversed(range(depth)):
        least = _joined(least).min(1)
        start, children = tree_of.level_start(EIGHT, level), _joined(least).swapaxes(1, 2)
        below[start : start + len(children)] = children
    below[:, 3:6] *= -1
    low, high, radius = below[:, :3].min(2), below[:, 3:6].max(2), below[:, 6:].min(2)
    bounds = np.hstack([low, high, radius, num(0.5) / radius])
    return np.ascontiguousarray(below[:, :6]), bounds, first_leaf


def _joined(rows: NDArray[Any]) -> NDArray[Any]:
    """Return rows in groups of eight, (rows / 8, 8, 7); the last group is padded with infinity."""
    missing = -len(rows) % EIGHT
    filler = np.full((missing, rows.shape[1]), np.inf, rows.dtype)
    return np.concatenate([rows, filler]).reshape(-1, EIGHT, rows.shape[1])


def morton(points: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the Morton number of every point; (point,) of points (point, 3)."""
    if not len(points):
        return np.zeros(0, np.uint64)
    low = points.min(0).astype(np.float64)
    extent = float((points.max(0) - low).max()) or 1.0
    cells = ((points - low) / extent * (2**BITS - 1)).astype(np.uint64)
    number = np.zeros(len(points), np.uint64)
    for bit in range(BITS):
        for axis in range(3):
            one = (cells[:, axis] >> np.uint64(bit)) & np.uint64(1)
            number |= one << np.uint64(3 * bit + axis)
    return number
