"""What determines a product? The sizes of its matrices, their entries, and the rounding."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference_py.primitives.num import num_type
from reference_py.primitives.rng import STREAM_GAP, stream_base

Matrix = str | NDArray[np.floating]
"""What is in a matrix: "random", "identity", "ones", or its entries."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """A product C = A B and how it is computed.

    Attributes
    ----------
    rows, inner, columns : int
        A has rows x inner entries, B inner x columns, C rows x columns; inner may be 0.
    a, b : what is in A and in B
    seed : of the matrices that are random
    precision : "single" or "double"
    arithmetic : "fused", a product and a sum are rounded together, or "separate", each by itself
    variant : form of the kernels; results do not depend on it
    tile : side of a tile of the form "tiled", in entries
    """

    rows: int
    inner: int
    columns: int
    a: Matrix = "random"
    b: Matrix = "random"
    seed: int = 1
    precision: str = "single"
    arithmetic: str = "fused"
    variant: str = "naive"
    tile: int = 16

    @property
    def num(self):
        """The NumPy type of an entry."""
        return num_type(self.precision)

    @property
    def stream_base(self) -> int:
        """Place on the generator's orbit at which the streams of this seed begin."""
        return stream_base(self.seed)

    @property
    def stream_gap(self) -> int:
        """Draws between the starts of neighbouring streams."""
        return STREAM_GAP

    @property
    def streams(self) -> int:
        """Streams of one product: those of the rows of A are even, those of B odd."""
        return 2 * max(self.rows, self.inner)


def entries(p: Parameters, matrix: Matrix, shape):
    """Return a matrix before random numbers are drawn, which are 0 until then; ``shape`` num."""
    if isinstance(matrix, str):
        if matrix == "ones":
            return np.ones(shape, p.num)
        return np.eye(*shape, dtype=p.num) if matrix == "identity" else np.zeros(shape, p.num)
    return matrix.astype(p.num)
