"""Where is each atom after a step? The first half of velocity Verlet.

W. C. Swope et al., "A computer simulation method for the calculation of equilibrium constants for
the formation of physical clusters of molecules", 1982. Device twin:
``kernels/physics/molecular_dynamics/drift.cl``.
"""

from reference_py.physics.molecular_dynamics import box as boxes
from reference_py.physics.molecular_dynamics.parameters import FINE, NONE
from reference_py.primitives.fixed import fixed_value


def drift(p, box, tick):
    """Accelerate by half a step, move by a step. A box with an overlap stands still from now on."""
    if box.overlap != NONE:
        if box.failed == FINE:
            box.failed = tick - 1
        return
    box.v = kicked(p, box.v, box.F)
    box.x = boxes.wrapped(p, box.x + box.v * p.num(p.dt))


def kicked(p, v, forces):
    """Return the velocities after half a step."""
    return v + fixed_value(forces, p.num) * p.num(p.dt / 2.0)
