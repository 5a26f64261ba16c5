"""Which way does the camera look, and which ray leaves it through a pixel?

Directions are made in double with + - * / and sqrt, and rounded to ``num`` once.
Device twin: ``kernels/physics/raytracer/camera.cl``.
"""

import math

import numpy as np

from reference_py.physics.raytracer.vectors import unit


def direction(vector):
    """Return a vector of floats made unit."""
    x, y, z = vector
    length = math.sqrt((x * x + y * y) + z * z)
    return x / length, y / length, z / length


def cross(a, b):
    """Return the vector product of two vectors of floats."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def basis(camera, look_at, up):
    """Return the vectors forward, left and up; without a point to look at, the axes."""
    if look_at is None:
        return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    forward = direction(tuple(p - c for p, c in zip(look_at, camera, strict=True)))
    left = direction(cross(up, forward))
    return forward, left, cross(forward, left)


def rays(p, view, number, first, last):
    """Return where a sample's rays begin and where they point.

    Parameters
    ----------
    view : (4, 3) num, the camera's position and basis
    number : of the sample
    first, last : rows, the last not included

    Returns
    -------
    origin, direction : each a list of x, y and z; arrays (row, column) num, those of the origin
        numbers
    """
    num = p.num
    across, down = p.offset(number)
    column, row = np.arange(p.width).astype(num), np.arange(first, last).astype(num)
    a = num(p.view_width) * (num(0.5) - (column + across) / num(p.width))
    b = num(p.view_height) * (num(0.5) - (row + down) / num(p.height))
    origin, forward, left, up = view
    towards = [(forward[i] + a[None, :] * left[i]) + b[:, None] * up[i] for i in range(3)]
    return list(origin), unit(towards)
