"""How is a run of products drawn? As seconds of each repetition, and the product if recorded."""

from __future__ import annotations

from typing import Any

from societies.workload.drawing.figure import drawable, require_copy, words


def figure(results: Any, *, product: int = 0) -> Any:
    """Draw how long each repetition took, and the product if it was recorded.

    Parameters
    ----------
    product : int
        Which product of the file, from 0.
    """
    from matplotlib.figure import Figure

    require_copy(results, product)
    seconds = drawable(results, "seconds", "repeat")
    drawing = Figure(figsize=(10, 4.4), layout="constrained")
    if "C" in results:
        entries = drawable(results, "C", "product", "row", "column")
        left, right = drawing.subplots(1, 2)
        image = left.imshow(entries[product].values, cmap="RdBu_r", interpolation="nearest")
        left.grid(visible=False)
        left.set(xlabel="column", ylabel="row", title="entries of C")
        drawing.colorbar(image, ax=left)
    else:
        right = drawing.subplots()
    right.plot(results["repeat"].values, 1000 * seconds.values, color="#0072B2", marker=".")
    right.set(xlabel="repeat", ylabel="time of a product [ms]", yscale="log")
    right.set(title=words(results.attrs.get("title", "")))
    right.grid(alpha=0.3)
    return drawing
