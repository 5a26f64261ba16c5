"""Which cells of a plate are bright in a picture?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError

BRIGHT = 127
"""Grey above which a pixel is a conductor, of 255."""


def bright_cells(path: str | Path, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which pixels are bright; (row, column), those of the border never.

    Raises
    ------
    ConfigError
        If there is no such picture, it is not of the plate's size, or it is bright at the border.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise ConfigError("reading a picture needs Pillow: pip install 'societies[plot]'") from None
    try:
        with Image.open(path) as picture:
            grey = np.asarray(picture.convert("L"))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ConfigError(f"{path} is too large a picture") from None
    except UnidentifiedImageError:
        raise ConfigError(f"{path} is no picture, or of an unknown kind") from None
    except (OSError, SyntaxError, ValueError) as error:  # Pillow's decoders raise all of these
        raise ConfigError(f"{path} cannot be read: {error}") from None
    if grey.shape != shape:
        (height, width), (rows, columns) = grey.shape, shape
        raise ConfigError(
            f"{path} has {height} x {width} pixels (rows x columns), the plate {rows} x {columns}"
        )
    bright = grey > BRIGHT
    if bright[0].any() or bright[-1].any() or bright[:, 0].any() or bright[:, -1].any():
        raise ConfigError(f"{path} is bright at its border, which no conductor may touch")
    return bright
