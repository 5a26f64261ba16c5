"""Which bytes are shown after some samples? Their mean, between 0 and 255, without its fraction.

Device twin: ``kernels/physics/raytracer/show.cl``.
"""

import numpy as np


def show(p, frame, tick, number):
    """Fill ``picture`` after the samples up to ``number`` and, if it is requested, ``mean``."""
    mean = frame.sum / p.num(number + 1)
    bounded = np.where(mean > 0, mean, p.num(0.0))
    bounded = np.where(bounded < 255, bounded, p.num(255.0))
    frame.picture = bounded.astype(np.uint8)
    if p.float_image:
        frame.mean = mean
