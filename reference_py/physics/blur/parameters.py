"""What determines a blurred picture? Its pixels, the window, and what lies beyond the borders."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

BORDERS = ("available", "replicate", "reflect", "mirror", "wrap", "constant")


@dataclass(frozen=True, eq=False)
class Parameters:
    """An image, or several of one size, and how they are blurred.

    Attributes
    ----------
    image : (frame, channel, row, column) uint8
    kind : "neighbours", "box" or "gaussian"
    passes : how often the image is blurred
    radius : pixels that a window reaches to each side; of neighbours unused
    sigma : of gaussian, standard deviation in pixels
    border : what stands for pixels beyond the border, one of `BORDERS`
    arithmetic : what planes hold between passes: "float", "bytes" or, of neighbours, "seed", bytes
        whose fractions are cut off
    variant : form of the kernels; results do not depend on it
    """

    image: NDArray[np.uint8] = field(repr=False)
    kind: str = "neighbours"
    passes: int = 1
    radius: int = 1
    sigma: float = 1.0
    border: str = "available"
    arithmetic: str = "float"
    variant: str = "separate"

    @property
    def width(self) -> int:
        """Columns of the image."""
        return self.image.shape[3]

    @property
    def height(self) -> int:
        """Rows of the image."""
        return self.image.shape[2]

    @property
    def channels(self) -> int:
        """Planes of the image that are blurred."""
        return self.image.shape[1]

    @property
    def whole(self) -> bool:
        """Whether planes hold bytes between passes."""
        return self.arithmetic != "float"

    @property
    def dtype(self):
        """The NumPy type of a plane."""
        return np.uint8 if self.whole else np.float32


def pattern(width, height):
    """Return an image without any order that repeats soon; (1, channel, row, column) uint8.

    Red is 7 x + 13 y, green x^2 + 3 y and blue x XOR y, all modulo 256.
    """
    y, x = np.mgrid[:height, :width]
    planes = [(7 * x + 13 * y) % 256, (x * x + 3 * y) % 256, (x ^ y) % 256]
    return np.stack(planes)[None].astype(np.uint8)
