"""What are energy and force of two atoms at a distance? The potential of Lennard-Jones.

J. E. Lennard-Jones, "On the determination of molecular fields", 1924, cut off: as it is, shifted
so that the energy ends at 0, or so that the force does, too. Device twin:
``kernels/physics/molecular_dynamics/pair.cl``.
"""

import numpy as np


def nearest(p, d):
    """Return the shortest of the differences between an atom and all copies of another one.

    By comparison and not by copies of cells: so the difference of j and i is minus that of i and j
    to the bit.
    """
    length = p.num(p.length)
    half = length / p.num(2.0)
    return np.where(d > half, d - length, np.where(d < -half, d + length, d))


def square(d):
    """Return the square of a distance; ``d`` has x, y, z."""
    x, y, z = d
    return (x * x + y * y) + z * z


def within(p, r2):
    """Return whether two atoms at the square of a distance act on each other."""
    return r2 < p.num(p.cutoff * p.cutoff)


def energy_and_force(p, r2):
    """Return the energy of a pair, and its force over its distance, above 0 for repulsion."""
    num = p.num
    inverse = num(1.0) / r2
    sixth = (inverse * inverse) * inverse
    u = num(4.0) * (sixth * (sixth - num(1.0)))
    w = (num(24.0) * inverse) * (sixth * ((sixth + sixth) - num(1.0)))
    if p.form == "shifted":
        u = u - num(p.energy_at_cutoff)
    elif p.form == "shifted_force":
        r, slope = np.sqrt(r2), num(p.slope_at_cutoff)
        u = (u - num(p.energy_at_cutoff)) - (r - num(p.cutoff)) * slope
        w = w + slope / r
    return u, w
