"""Which bytes are shown at the end? The planes, rounded to even halves, between 0 and 255.

Device twin: ``kernels/physics/blur/rounding.cl``.
"""

import numpy as np


def rounding(p, image, tick):
    """Set ``picture``."""
    if p.whole:
        image.picture = image.planes.copy()
    else:
        whole = np.rint(image.planes)
        image.picture = np.minimum(np.maximum(whole, 0), 255).astype(np.uint8)
