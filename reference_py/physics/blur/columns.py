"""What is the weighted sum of a column's sums (rows.py), from the top down? It ends the pass.

Device twin: ``kernels/physics/blur/columns.cl``.
"""

from reference_py.physics.blur.window import mean_of, summed


def columns(p, image, tick):
    """Replace the planes by the sums along the columns of ``across``; a box divides them."""
    image.planes, image.next = mean_of(p, summed(p, image.across, 1)), image.planes
