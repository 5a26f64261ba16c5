"""How is a run of the ray tracer drawn? As its picture, and the seconds of each sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from societies.errors import OutputError
from societies.workload.drawing.figure import drawable, require_copy, words


def figure(results: Any, *, frame: int = 0) -> Any:
    """Draw the picture, and how long its samples took.

    Parameters
    ----------
    frame : int
        Which frame of the file, from 0.
    """
    from matplotlib.figure import Figure

    require_copy(results, frame)
    pictures = drawable(results, "picture", "frame", "row", "column", "channel")
    seconds = drawable(results, "seconds", "sample")
    if not pictures.size:
        raise OutputError("'picture' holds no pixels, so it cannot be drawn")
    drawing = Figure(figsize=(10, 4.8), layout="constrained")
    left, right = drawing.subplots(1, 2, width_ratios=(1.4, 1))
    left.imshow(pictures[frame].values.astype(np.uint8), interpolation="nearest")
    left.grid(visible=False)
    left.set(title=words(results.attrs.get("title", "")), xlabel="column", ylabel="row")
    right.plot(results["sample"].values, 1000 * seconds.values, color="#0072B2", marker=".")
    right.set(xlabel="sample", ylabel="time of a sample [ms]", ylim=(0, None))
    right.grid(alpha=0.3)
    return drawing
