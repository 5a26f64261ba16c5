"""How are velocities scaled to the temperature?

Device twin: ``kernels/physics/molecular_dynamics/rescale.cl``.
"""

import math

from reference_py.physics.molecular_dynamics.energies import temperature
from reference_py.physics.molecular_dynamics.parameters import NONE


def rescale(p, box, tick):
    """Multiply all velocities by one number, so that the temperature is the one asked for."""
    if box.overlap == NONE:
        box.v = box.v * p.num(math.sqrt(p.temperature / temperature(p, box.v)))
