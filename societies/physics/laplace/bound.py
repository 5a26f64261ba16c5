"""After how many steps does a plate meet its tolerance at the latest?

A step is linear: its change is a symmetric matrix times the change of the step before. On a plate
with no held cells except its border, the largest eigenvalue of Jacobi's rule is

    (cos(pi / (rows - 1)) + cos(pi / (columns - 1))) / 2,

and held cells inside only make it smaller (interlacing). So in every step the Euclidean norm of the
changes falls by at least that factor. No cell changes by more than the norm; in the first step no
cell changes by more than the largest difference of potentials.

This holds in exact arithmetic. A tolerance near the rounding of the numbers may never be met, and
the plate ends after this number of steps all the same.
"""

from __future__ import annotations

import math


def most_steps(shape: tuple[int, int], ratio: float, spread: float, tolerance: float) -> float:
    """Return after how many steps the tolerance is met.

    Parameters
    ----------
    shape : rows and columns
    ratio : ratio of the heat equation; 1/4 is Jacobi's rule
    spread : largest difference of potentials
    tolerance : above 0
    """
    rows, columns = shape
    first = spread * math.sqrt(rows * columns)
    if first <= tolerance:
        return 1.0
    # 1 - cos x loses its digits on large plates; 2 sin(x / 2)^2 does not.
    slow = math.sin(math.pi / (2 * (rows - 1))) ** 2 + math.sin(math.pi / (2 * (columns - 1))) ** 2
    # The eigenvalues of heat lie between 1 - 4 ratio (2 - slow), at least -(1 - slow), and
    # 1 - 4 ratio slow. On 3 x 3 cells one step settles the only free cell: slow is 1.
    slow = min(4 * ratio * slow, 2 - 4 * ratio * (2 - slow), 1 - 1e-12)
    return 1 - math.log(first / tolerance) / math.log1p(-slow)
