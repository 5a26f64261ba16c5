"""Where is each atom before the first step, and how fast?

Normal velocities are drawn by the polar method (G. Marsaglia and T. A. Bray, 1964), freed of the
motion of the whole and scaled to the temperature. Device twin:
``kernels/physics/molecular_dynamics/start.cl``.
"""

import math

import numpy as np

from reference_py.physics.molecular_dynamics import box as boxes
from reference_py.physics.molecular_dynamics.sums import sum_of_squares
from reference_py.primitives.reduce import reduce_sum
from reference_py.primitives.rng import Rng
from reference_py.primitives.softmath import soft_log

SMALL = 1e-6
"""Largest component of a velocity of ``pairs``."""


def start(p, box, tick):
    """Take atoms into the box, fill ``v``. Atom i of box k draws from stream ``k atoms + i``."""
    wrap(p, box)
    if p.velocities == "zero":
        box.v = np.zeros((p.atoms, 3), p.num)
    elif p.velocities == "file":
        box.v = p.speeds.astype(p.num)
    elif p.velocities == "pairs":
        box.v = opposite_pairs(p, box).astype(p.num)
    else:
        box.v = at_temperature(p, normal_velocities(p, box)).astype(p.num)


def wrap(p, box):
    """Take atoms that are outside the box to their places in it."""
    box.x = boxes.wrapped(p, box.x)


def stream(p, box, atom):
    """Return the random numbers of an atom."""
    return Rng.seed(p.stream_base, p.stream_gap, box.index * p.atoms + atom)


def normal_velocities(p, box):
    """Return independent normal numbers with variance 1; (atom, axis) float64."""
    found = []
    for atom in range(p.atoms):
        rng = stream(p, box, atom)
        x, y = normal_pair(rng)
        z, _ = normal_pair(rng)
        found.append((x, y, z))
    return np.array(found)


def normal_pair(rng):
    """Return two independent normal numbers."""
    while True:
        u = 2.0 * rng.uniform() - 1.0
        v = 2.0 * rng.uniform() - 1.0
        s = u * u + v * v
        if 0.0 < s < 1.0:
            f = math.sqrt((-2.0 * soft_log(s)) / s)
            return u * f, v * f


def at_temperature(p, v):
    """Return the velocities without the motion of the whole, scaled to the temperature."""
    for axis in range(3):
        v[:, axis] = v[:, axis] - reduce_sum(v[:, axis].tolist()) / p.atoms
    k2 = sum_of_squares(v)
    return v * math.sqrt((p.degrees * p.temperature) / k2)


def opposite_pairs(p, box):
    """Return small velocities; those of atoms 2 i and 2 i + 1 are opposite; (atom, axis) float64.

    Of an odd number of atoms the last one rests.
    """
    v = np.zeros((p.atoms, 3))
    for atom in range(0, p.atoms - 1, 2):
        rng = stream(p, box, atom)
        v[atom] = [(2.0 * rng.uniform() - 1.0) * SMALL for _ in range(3)]
        v[atom + 1] = -v[atom]
    return v
