"""How is a plate drawn? As potentials in colours, and the largest change of each step."""

from __future__ import annotations

from typing import Any

from societies.config.problems import suggestion
from societies.errors import ConfigError, OutputError, option
from societies.workload.drawing.figure import drawable, require_copy, words

SEED_COLOURS = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
"""Blue, green and red for the least, the middle and the greatest potential, linear in between."""

MARKED = 100
"""Largest number of points that are marked by dots; more dots would hide the line."""


def figure(results: Any, *, plate: int = 0, palette: str = "") -> Any:
    """Draw the potentials of a plate in colours, and how much its steps changed.

    Parameters
    ----------
    plate : int
        Which plate of the file, from 0.
    palette : str
        A colour map of matplotlib, viridis; default: blue, green, red.
    """
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    require_copy(results, plate)
    potential, change = (
        drawable(results, "phi", "plate", "row", "column"),
        drawable(results, "change", "plate", "step"),
    )
    if palette and palette not in colormaps:
        raise ConfigError(
            f"{option('palette', palette)}: no colour map{suggestion(palette, list(colormaps))}"
        )
    if not potential.size or potential.isnull().all():
        raise OutputError("'phi' holds no numbers, so it cannot be drawn")
    colours = palette or LinearSegmentedColormap.from_list("seed", SEED_COLOURS)
    drawing = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = drawing.subplots(1, 2, width_ratios=(1.2, 1))
    units = {name: words(results[name].attrs.get("units", "1")) for name in ("phi", "change")}
    image = left.imshow(potential[plate].values, cmap=colours, interpolation="nearest")
    left.grid(visible=False)
    left.set(xlabel="column", ylabel="row", title=words(results.attrs.get("title", "")))
    drawing.colorbar(image, ax=left, label=f"potential [{units['phi']}]")
    shown = change[plate].where(change[plate] > 0)  # 0 has no logarithm
    marker = "." if int(shown.count()) <= MARKED else ""  # a plate may have ended early
    right.plot(results.step.values, shown.values, color="#0072B2", marker=marker, linestyle="-")
    right.set(xlabel="step", ylabel=f"largest change of a cell [{units['change']}]", yscale="log")
    right.grid(alpha=0.3)
    return drawing
