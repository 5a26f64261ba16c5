"""What are several steps of a plate? One after the other.

Device twin: ``kernels/physics/laplace/deep.cl``.
"""

from reference_py.physics.laplace.sweep import stepped


def deep(p, plate, tick, steps):
    """Fill ``next`` with the potentials after ``steps`` steps from ``phi``."""
    plate.next = plate.phi
    for _ in range(steps):
        plate.next = stepped(p, plate.next, plate.free)
