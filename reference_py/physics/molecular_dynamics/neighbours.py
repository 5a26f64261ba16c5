"""Which atoms are near an atom?

The reference tries all pairs and needs no lists; this says what those of a device must hold. Device
twin: ``kernels/physics/molecular_dynamics/neighbours.cl``.
"""

import numpy as np

from reference_py.physics.molecular_dynamics.pair import nearest, square


def neighbours(p, x, atom):
    """Return the other atoms that are nearer than cutoff and skin."""
    r2 = square([nearest(p, x[atom, axis] - x[:, axis]) for axis in range(3)])
    near = r2 < p.num(p.reach * p.reach)
    near[atom] = False
    return set(np.flatnonzero(near).tolist())
