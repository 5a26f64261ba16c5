"""How is a run of a blur drawn? As the blurred picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from societies.errors import OutputError
from societies.workload.drawing.figure import drawable, require_copy, words


def figure(results: Any, *, image: int = 0) -> Any:
    """Draw the blurred picture.

    Parameters
    ----------
    image : int
        Which image of the file, from 0.
    """
    from matplotlib.figure import Figure

    require_copy(results, image)
    pictures = drawable(results, "picture", "image", "channel", "row", "column")
    if not pictures.size or pictures.sizes["channel"] not in (1, 3):
        raise OutputError("'picture' is neither grey nor coloured, so it cannot be drawn")
    channels = pictures[image].values.astype(np.uint8)
    pixels = channels[0] if len(channels) == 1 else np.moveaxis(channels, 0, 2)
    drawing = Figure(figsize=(6.4, 5.2), layout="constrained")
    axes = drawing.subplots()
    axes.imshow(pixels, interpolation="nearest", cmap="gray", vmin=0, vmax=255)
    axes.grid(visible=False)
    axes.set(title=words(results.attrs.get("title", "")), xlabel="column", ylabel="row")
    return drawing
