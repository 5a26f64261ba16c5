"""How are atoms drawn? As balls in their box, from far away; near balls cover far ones."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

SIDE = 560
"""Pixels of a picture along each side."""

FILLS = 0.92
"""Share of the picture for the diagonal of the box, so that the box fits from every side."""

BALL = 0.5
"""Radius of a ball, in sigma."""

MOST_STAMPED = 4_000_000
"""Most pixels of all balls together; if they are more, balls are smaller, down to one pixel."""

SLOW, FAST = (0x2C, 0x5F, 0x9E), (0xE6, 0x55, 0x0D)
"""Colours of an atom at rest and of one at twice the mean speed or more."""

PAPER, EDGE = 255, 150
"""Grey of the background and of the edges of the box."""


def picture(
    x: NDArray[np.float64],
    speeds: NDArray[np.float64],
    length: float,
    around: float,
    over: float,
) -> NDArray[np.uint8]:
    """Return the picture of a box of atoms.

    Parameters
    ----------
    x : (atom, axis) positions, sigma; atoms without a position (NaN) are left out
    speeds : (atom,) sigma/tau
    length : side of the box, sigma
    around, over : angles by which the box is turned, radians; with 0 x is to the right, y upwards

    Returns
    -------
    (row, column, 4) uint8
    """
    scale = FILLS * SIDE / (math.sqrt(3.0) * length)
    finite = np.isfinite(x).all(axis=1)
    x, speeds = x[finite], speeds[finite]
    radius = BALL * scale
    if len(x):
        radius = min(radius, math.sqrt(MOST_STAMPED / (math.pi * len(x))))
    radius = max(radius, 0.5)
    place, depth = _projected(x, length, around, over, scale)
    shown = np.full((SIDE * SIDE, 3), PAPER, np.uint8)
    front = np.full(SIDE * SIDE, -np.inf)
    _balls(shown, front, place, depth, _colours(speeds), radius)
    place, depth = _projected(_edges(length), length, around, over, scale)
    pixel = np.floor(place[:, 1]).astype(np.int64) * SIDE + np.floor(place[:, 0]).astype(np.int64)
    shown[pixel[depth > front[pixel]]] = EDGE
    pixels = np.full((SIDE, SIDE, 4), 255, np.uint8)
    pixels[..., :3] = shown.reshape(SIDE, SIDE, 3)
    return pixels


def _projected(
    x: NDArray[np.float64], length: float, around: float, over: float, scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return columns and rows (point, 2) in pixels, and depths (point,), the nearer the larger."""
    centred = (x - length / 2.0) * scale
    sine, cosine = math.sin(around), math.cos(around)
    right = centred[:, 0] * cosine + centred[:, 2] * sine
    back = centred[:, 2] * cosine - centred[:, 0] * sine
    sine, cosine = math.sin(over), math.cos(over)
    up, depth = centred[:, 1] * cosine - back * sine, back * cosine + centred[:, 1] * sine
    return np.stack([SIDE / 2.0 + right, SIDE / 2.0 - up], axis=1), depth


def _edges(length: float) -> NDArray[np.float64]:
    """Return points along the twelve edges of the box, (point, axis)."""
    along = np.linspace(0.0, length, 400)
    ends = np.array([(a, b) for a in (0.0, length) for b in (0.0, length)])
    points = [
        np.insert(np.repeat(ends, len(along), axis=0), axis, np.tile(along, len(ends)), axis=1)
        for axis in range(3)
    ]
    return np.concatenate(points)


def _colours(speeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the colours of atoms, (atom, 3) in 0 .. 255."""
    mean = float(speeds.mean()) if len(speeds) else 0.0
    part = np.clip(speeds / (2.0 * mean if mean > 0.0 else 1.0), 0.0, 1.0)[:, None]
    slow, fast = np.array(SLOW, np.float64), np.array(FAST, np.float64)
    mixed: NDArray[np.float64] = slow + part * (fast - slow)
    return mixed


def _balls(
    shown: NDArray[np.uint8],
    front: NDArray[np.float64],
    place: NDArray[np.float64],
    depth: NDArray[np.float64],
    colour: NDArray[np.float64],
    radius: float,
) -> None:
    """Draw balls, and store the depth of the nearest one at each pixel.

    Balls are drawn from the farthest to the nearest; the last one that covers a pixel is visible.
    """
    reach = math.ceil(radius - 0.5)
    down, right = np.mgrid[-reach : reach + 1, -reach : reach + 1].reshape(2, -1)
    disc = (down**2 + right**2 <= radius * radius) | ((down == 0) & (right == 0))
    down, right = down[disc], right[disc]
    order = np.argsort(depth, kind="stable")
    corner = np.floor(place[order]).astype(np.int64)
    column, row = corner[:, :1] + right, corner[:, 1:] + down
    pixel = np.where(
        (column >= 0) & (column < SIDE) & (row >= 0) & (row < SIDE), row * SIDE + column, len(front)
    )
    last = np.full(len(front) + 1, -1, np.int64)
    last[pixel.ravel()] = np.arange(pixel.size)
    covered = np.flatnonzero(last[:-1] >= 0)
    ball, part = np.divmod(last[covered], len(down))
    front[covered] = depth[order][ball]
    light = _light(right / radius, down / radius) if reach > 1 else np.ones(len(down))
    shown[covered] = np.minimum(colour[order][ball] * light[part, None], 255.0).astype(np.uint8)


def _light(right: NDArray[np.float64], down: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the brightness of points on a ball, given in radii; the light is at the upper left."""
    height = np.sqrt(np.maximum(1.0 - right**2 - down**2, 0.0))
    lit: NDArray[np.float64] = 0.35 + 0.65 * np.maximum(
        0.0, -0.45 * right - 0.45 * down + 0.77 * height
    )
    return lit
