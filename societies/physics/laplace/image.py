"""Which cells of a plate are bright in a picture?"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError
from societies.paths import kind_unless_file

BRIGHT = 127
"""Grey above which a pixel is a conductor, of 255."""
KINDS = ("PNG", "JPEG", "BMP", "GIF", "PPM", "TIFF", "WEBP")
"""Pictures that are read. Pillow knows more, for some of which it starts other programs (EPS)."""


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
    kind = kind_unless_file(path)
    if kind is not None:
        raise ConfigError(f"{path} is {kind}, not a file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of entries that say nothing about the pixels
            with Image.open(path, formats=KINDS) as picture:
                if picture.size != shape[::-1]:
                    (width, height), (rows, columns) = picture.size, shape
                    raise ConfigError(
                        f"{path} has {height} x {width} pixels (rows x columns), "
                        f"the plate {rows} x {columns}"
                    )
                grey = np.asarray(picture.convert("L"))
    except Image.DecompressionBombError:
        raise ConfigError(f"{path} is too large a picture") from None
    except UnidentifiedImageError:
        raise ConfigError(f"{path} is no picture, or of an unknown kind") from None
    except (OSError, SyntaxError, ValueError, RuntimeError) as error:  # Pillow's decoders' errors
        said = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be read: {said}") from None
    bright = grey > BRIGHT
    if bright[0].any() or bright[-1].any() or bright[:, 0].any() or bright[:, -1].any():
        raise ConfigError(f"{path} is bright at its border, which no conductor may touch")
    return bright
