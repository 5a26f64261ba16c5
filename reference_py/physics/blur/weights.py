"""How much has each pixel of a window part in a Gaussian blur?"""

import numpy as np

from reference_py.primitives.softmath import soft_exp


def weights(sigma, radius):
    """Return the weights of the offsets from -radius to radius; (offset,) float32, sum about 1."""
    spread = (2.0 * sigma) * sigma
    raw = [soft_exp(-(float(k * k) / spread)) for k in range(-radius, radius + 1)]
    total = 0.0
    for one in raw:
        total = total + one
    return np.array([one / total for one in raw]).astype(np.float32)


def weights_of(p):
    """Return the weights of a window of the image's blur; those of a box are 1, and not used."""
    if p.kind == "gaussian":
        return weights(p.sigma, p.radius)
    return np.ones(2 * p.radius + 1, np.float32)
