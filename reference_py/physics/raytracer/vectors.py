"""What are the dot product, the difference and the length of vectors, operation for operation?

A vector is a list of x, y and z, each a number or an array of ``num``.
Device twin: ``kernels/physics/raytracer/vectors.cl``.
"""

import numpy as np

from reference_py.primitives.softmath import soft_pow


def dot(a, b):
    """Return the dot product."""
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]


def minus(a, b):
    """Return the difference."""
    return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]


def plus(a, b):
    """Return the sum."""
    return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]


def times(s, a):
    """Return the vector s a."""
    return [s * a[0], s * a[1], s * a[2]]


def over(a, s):
    """Return the vector a / s."""
    return [a[0] / s, a[1] / s, a[2] / s]


def unit(a):
    """Return the vector of length 1."""
    return over(a, np.sqrt(dot(a, a)))


def faded(distance, falloff):
    """Return which share of light is left at a distance, of the distance's type."""
    return type(distance)(soft_pow(float(distance), -falloff))
