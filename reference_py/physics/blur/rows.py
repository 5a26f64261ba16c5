"""What is the weighted sum of the pixels next to a pixel, from the left to the right?

A pass of a Gaussian blur, or of a box of real numbers, sweeps the rows and then the
columns (columns.py). Device twin: ``kernels/physics/blur/rows.cl``.
"""

from reference_py.physics.blur.window import summed


def rows(p, image, tick):
    """Set ``across`` to the sums along the rows of ``planes``."""
    image.across = summed(p, image.planes, 2)
