"""What is reported of a box of atoms? Energies, temperature, pressure, momentum.

Device twin: ``kernels/physics/molecular_dynamics/energies.cl``.
"""

import math

from reference_py.physics.molecular_dynamics.sums import sum_of_squares
from reference_py.primitives.reduce import reduce_sum, reduce_sum_long

QUANTUM = 2.0**-37
"""Half the unit of ``u`` and ``w``, in which each pair is counted twice."""


def energies(p, box, tick):
    """Fill ``U``, ``W``, ``K``, ``T``, ``P`` and the series, which are per atom."""
    box.U = reduce_sum_long(box.u.tolist()) * QUANTUM + p.tail_energy
    box.W = reduce_sum_long(box.w.tolist()) * QUANTUM
    box.K = kinetic(box.v)
    box.T = temperature(p, box.v)
    box.P = ((p.degrees * box.T) + box.W) / (3.0 * p.volume)
    x, y, z = (reduce_sum(box.v[:, axis].tolist()) for axis in range(3))
    box.series = {
        "potential_energy": box.U / p.atoms,
        "kinetic_energy": box.K / p.atoms,
        "total_energy": (box.U + box.K) / p.atoms,
        "temperature": box.T,
        "pressure": box.P,
        "momentum": math.sqrt((x * x + y * y) + z * z),
    }


def kinetic(v):
    """Return the kinetic energy of all atoms."""
    return 0.5 * sum_of_squares(v)


def temperature(p, v):
    """Return the temperature that the velocities stand for."""
    return (2.0 * kinetic(v)) / p.degrees
