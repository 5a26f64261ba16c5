"""What is the weighted sum of the pixels next to a pixel, from the left to the right?

A pass of a Gaussian blur, or of a box of real numbers, goes along the rows and then along the
columns (columns.py). Device twin: ``kernels/physics/blur/rows.cl``.
"""

from reference_py.physics.blur.window import summed


def rows(p, image, tick):
    """Set ``across`` to the sums along the rows of ``planes``."""
    image.across = summed(p, image.planes, 2)
