"""Which force acts on each atom, and which energy has it? All pairs are tried.

What a pair adds is made a whole number first, so sums may be taken in any order: cells and lists,
which find the same pairs in another one, give the same bits. The force of j on i is minus that of
i on j, so all forces add up to 0 exactly. Device twin:
``kernels/physics/molecular_dynamics/forces.cl``.
"""

import numpy as np

from reference_py.physics.molecular_dynamics import box as boxes
from reference_py.physics.molecular_dynamics.pair import energy_and_force, nearest, square, within
from reference_py.physics.molecular_dynamics.parameters import NONE
from reference_py.primitives.fixed import fits, fixed_of

PAIRS_AT_ONCE = 1 << 20
"""Pairs that NumPy is handed at once: a matter of speed and memory."""


def forces(p, box, tick, energies):
    """Fill ``F`` and, if ``energies`` is not 0, ``u`` and ``w``; note what is too close."""
    force = np.zeros((p.atoms, 3), np.int64)
    energy, virial = np.zeros(p.atoms, np.int64), np.zeros(p.atoms, np.int64)
    too_close = ~boxes.inside(p, box.x)
    rows = max(1, PAIRS_AT_ONCE // p.atoms)
    for first in range(0, p.atoms, rows):
        i, d, r2 = pairs_of(p, box.x, first, min(first + rows, p.atoms))
        with np.errstate(all="ignore"):
            u, w = energy_and_force(p, r2)
            terms = [w * component for component in d] + [u, w * r2]
        good = np.logical_and.reduce([fits(term) for term in terms])
        too_close[i[~good]] = True
        i, terms = i[good], [fixed_of(term[good]) for term in terms]
        for axis in range(3):
            np.add.at(force[:, axis], i, terms[axis])
        np.add.at(energy, i, terms[3])
        np.add.at(virial, i, terms[4])
    box.F = force
    if energies:
        box.u, box.w = energy, virial
    if too_close.any():
        box.overlap = min(box.overlap, int(np.argmax(too_close)))
    assert box.overlap <= NONE


def pairs_of(p, x, first, last):
    """Return the pairs of atoms ``first`` to ``last - 1`` that act on each other.

    Returns
    -------
    i : (pair,) the atom
    d : three (pair,) num, from the other atom to this one
    r2 : (pair,) num, square of the distance
    """
    d = [nearest(p, x[first:last, None, axis] - x[None, :, axis]) for axis in range(3)]
    r2 = square(d)
    near = within(p, r2)
    near[np.arange(last - first), np.arange(first, last)] = False
    i, j = np.nonzero(near)
    return i + first, [component[i, j] for component in d], r2[i, j]
