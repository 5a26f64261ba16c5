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
    limits : (7,) num, least and largest coordinates of all spheres, and the least radius
    first_leaf : number of nodes above the groups; groups are numbered from it on
    """

    groups: NDArray[Any]
    numbers: NDArray[np.int32]
    boxes: NDArray[Any]
    limits: NDArray[Any]
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
    low, high = bounds(spheres[order])
    if count:
        limits = np.array([*low.min(0), *high.max(0), spheres[:, 3].min()], num)
    else:
        limits = np.array([*[0.0] * 6, 1.0], num)
    if tree:
        boxes, first_leaf = boxes_of(low, high, num)
    else:
        boxes, first_leaf = np.zeros((1, 6, EIGHT), num), 0
    return SphereArrays(
        np.ascontiguousarray(groups), numbers.reshape(-1, EIGHT), boxes, limits, first_leaf
    )


def margins(limits: NDArray[Any], origins: NDArray[Any]) -> NDArray[Any]:
    """Return the margins by which boxes are enlarged for unit rays from some points; (point,) num.

    The margin is `box_margin` of kernels/physics/raytracer/nearest.cl, where a comment derives it,
    for rays whose squared length differs from 1 by at most 8 roundings.

    Parameters
    ----------
    limits : (7,) num, as in `SphereArrays`
    origins : (point, 3) num
    """
    unit = 2.0**-24 if limits.dtype == np.float32 else 2.0**-53
    at, of = origins.astype(np.float64), limits.astype(np.float64)
    far = np.maximum(abs(at - of[:3]), abs(of[3:6] - at))
    far2 = (far * far).sum(1)
    error = 1.05 * far2 * (16 + 8) * unit
    margin = error / (of[6] + np.sqrt(of[6] ** 2 + error))
    return np.asarray(1.01 * (margin + 64 * unit * (np.sqrt(far2) + abs(at).sum(1))), limits.dtype)


def bounds(spheres: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return least and largest coordinates of spheres, rounded outwards; (sphere, 3) num each."""
    centre, radius = spheres[:, :3], spheres[:, 3:]
    down, up = spheres.dtype.type(-np.inf), spheres.dtype.type(np.inf)
    return np.nextafter(centre - radius, down), np.nextafter(centre + radius, up)


def boxes_of(low: NDArray[Any], high: NDArray[Any], num: Any) -> tuple[NDArray[Any], int]:
    """Return the boxes of a complete tree over ordered spheres, and the nodes above the groups."""
    depth = max(1, tree_of.depth(EIGHT, max(1, -(-len(low) // EIGHT))))
    first_leaf = tree_of.level_start(EIGHT, depth)
    boxes = np.empty((first_leaf, 6, EIGHT), num)
    boxes[:, :3], boxes[:, 3:] = np.inf, -np.inf
    for level in reversed(range(depth)):
        low, high = _joined(low, np.inf).min(1), _joined(high, -np.inf).max(1)
        start, nodes = tree_of.level_start(EIGHT, level), -(-len(low) // EIGHT)
        boxes[start : start + nodes, :3] = _joined(low, np.inf).swapaxes(1, 2)
        boxes[start : start + nodes, 3:] = _joined(high, -np.inf).swapaxes(1, 2)
    return boxes, first_leaf


def _joined(rows: NDArray[Any], padding: float) -> NDArray[Any]:
    """Return rows in groups of eight, (rows / 8, 8, 3); the last group is padded."""
    missing = -len(rows) % EIGHT
    filler = np.full((missing, rows.shape[1]), padding, rows.dtype)
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
