"""How fast is each atom after a step? The second half of velocity Verlet.

Device twin: ``kernels/physics/molecular_dynamics/kick.cl``.
"""

from reference_py.physics.molecular_dynamics.drift import kicked
from reference_py.physics.molecular_dynamics.parameters import NONE


def kick(p, box, tick):
    """Accelerate by half a step, with the forces at the new places."""
    if box.overlap == NONE:
        box.v = kicked(p, box.v, box.F)
