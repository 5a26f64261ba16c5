"""Which pixel stands for one beyond the border?

Device twin: ``kernels/physics/blur/border.cl``.
"""

import numpy as np

OUTSIDE = -1
"""Place of a pixel that no other one stands for."""


def source_of(i, length, border):
    """Return the place that stands for place ``i`` of a row of ``length``, or `OUTSIDE`.

    With "constant" a pixel outside is 0 and counts; with "available" it is left out.
    """
    if 0 <= i < length:
        return i
    if border == "replicate":
        return 0 if i < 0 else length - 1
    if border == "reflect":
        j = i % (2 * length)
        return 2 * length - 1 - j if j >= length else j
    if border == "mirror":
        if length == 1:
            return 0
        j = i % (2 * length - 2)
        return 2 * length - 2 - j if j >= length else j
    if border == "wrap":
        return i % length
    return OUTSIDE


def shifted(planes, offset, axis, border):
    """Return the planes moved by ``offset`` along an axis, 1 or 2; pixels outside are 0."""
    length = planes.shape[axis]
    places = np.array([source_of(i + offset, length, border) for i in range(length)])
    moved = np.take(planes, np.maximum(places, 0), axis)
    shape = (-1, 1) if axis == 1 else (-1,)
    return np.where((places != OUTSIDE).reshape(shape), moved, planes.dtype.type(0))


def counted(length, radius, border):
    """Return how many pixels of a window count at each place of a row; (length,) int64."""
    if border != "available":
        return np.full(length, 2 * radius + 1)
    at = np.arange(length)
    return np.minimum(at + radius, length - 1) - np.maximum(at - radius, 0) + 1
