"""What are rows.py and columns.py together? A pass, in one launch on a device.

Device twin: ``kernels/physics/blur/both.cl``.
"""

from reference_py.physics.blur.window import mean_of, summed


def both(p, image, tick):
    """Replace the planes by the sums of their windows."""
    across = summed(p, image.planes, 2)
    image.planes, image.next = mean_of(p, summed(p, across, 1)), image.planes
