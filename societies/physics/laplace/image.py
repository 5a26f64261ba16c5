"""Which cells of a plate are bright in a picture?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from societies.errors import ConfigError
from societies.physics.pictures import picture_in

BRIGHT = 127
"""Grey value (0 to 255) above which a pixel is a conductor."""

RED, GREEN, BLUE, HALF = 19_595, 38_470, 7_471, 32_768
"""Weights of colours in grey, of 65,536 (ITU-R 601-2), and the term that rounds, as in Pillow."""


def bright_cells(path: str | Path, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which pixels are bright, (row, column) bool; none of them is on the border.

    Only the first frame is read; opacity is ignored.

    Raises
    ------
    ConfigError
        If the picture cannot be read, has another size than the plate, or is bright at the border.
    """
    planes = picture_in(path, every_frame=False).planes[0]
    if planes.shape[1:] != shape:
        (height, width), (rows, columns) = planes.shape[1:], shape
        raise ConfigError(
            f"{path} has {height} x {width} pixels (rows x columns), the plate {rows} x {columns}"
        )
    grey = planes[0]
    if len(planes) == 3:
        red, green, blue = planes.astype(np.uint32)
        grey = (RED * red + GREEN * green + BLUE * blue + HALF) >> 16
    bright: NDArray[np.bool_] = grey > BRIGHT
    if bright[0].any() or bright[-1].any() or bright[:, 0].any() or bright[:, -1].any():
        raise ConfigError(f"{path} is bright at its border, which no conductor may touch")
    return bright


def remarks(path: str | Path, shape: tuple[int, int]) -> list[str]:
    """Return sentences about ignored parts of a picture, and about one that holds no cell."""
    picture = picture_in(path, every_frame=False)
    said = [f"{path} has {lost}" for lost in picture.lost]
    if picture.has_more:
        said.append(f"{path} has more frames; the first is read")
    if not bright_cells(path, shape).any():
        said.append(f"{path} has no pixel above {BRIGHT} of 255: it holds no cell")
    return said
