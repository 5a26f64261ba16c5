"""What does every other free cell become in a step of successive over-relaxation?

Black cells have red neighbours alone, which sweep.py has relaxed before.
Device twin: ``kernels/physics/laplace/black.cl``.
"""

from reference_py.physics.laplace.sweep import red, stepped


def black(p, plate, tick):
    """Relax the black cells of ``next``."""
    plate.next = stepped(p, plate.next, plate.free & ~red(p))
