"""Where are the atoms before the first step, and what is a box?

Device twin: ``kernels/physics/molecular_dynamics/box.cl``.
"""

import numpy as np

CORNERS = ((0.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.5, 0.0, 0.5), (0.0, 0.5, 0.5))
"""Atoms of a cell of the face-centred cubic lattice, in sides of the cell."""

# A box, a copy of the workload, has these arrays; N is the number of atoms.
#
# x, v : (N, 3) num, positions in 0 <= x < L and velocities
# F : (N, 3) int64, force on each atom in units of 2^-36
# u, w : (N,) int64, sums over an atom's pairs of energy and of distance times force, 2^-36 each
# overlap : lowest atom that is too close to another one, or that left the box; NONE: there is none
# failed : int, the step after which the box stands still because of that, or FINE
# U, W, K, T, P : floats, energies, virial, temperature and pressure (energies.py)


def positions(p):
    """Return where the atoms begin; (atom, axis) num. They are wrapped into the box afterwards."""
    if p.positions is not None:
        return p.positions.astype(p.num)
    side = np.arange(p.cells_of_lattice)
    iz, iy, ix = (axis.ravel() for axis in np.meshgrid(side, side, side, indexing="ij"))
    a = p.length / p.cells_of_lattice
    of_cell = [
        np.stack([(ix + bx) * a, (iy + by) * a, (iz + bz) * a], axis=1) for bx, by, bz in CORNERS
    ]
    return np.stack(of_cell, axis=1).reshape(p.atoms, 3).astype(p.num)


def inside(p, x):
    """Return for each atom whether it is in the box, ``0 <= x < L``; (atom,) bool."""
    length = p.num(p.length)
    return ((x >= 0) & (x < length)).all(axis=1)


def wrapped(p, x):
    """Return the same places inside the box; NaN for what is further away than its length."""
    length = p.num(p.length)
    x = np.where(x >= length, x - length, x)
    x = np.where(x < 0, x + length, x)
    x = np.where(x == length, p.num(0.0), x)  # what was just below 0, and is rounded
    return np.where((x >= 0) & (x < length), x, p.num(np.nan))
