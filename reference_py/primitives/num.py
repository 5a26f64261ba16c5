"""Which number does a physical workload calculate with? Single or double precision.

Python has no single precision, so NumPy carries these numbers: scalars and arrays of ``num``,
combined element by element by ``+ - * /``, `numpy.sqrt` and comparisons, each rounded once. NumPy's
sums, products of matrices and other functions are not used: their order or rounding is not defined.
Device twin: ``kernels/primitives/num.cl``.
"""

import numpy as np


def num_type(precision):
    """Return the NumPy type of ``precision``, "single" or "double"."""
    return {"single": np.float32, "double": np.float64}[precision]
