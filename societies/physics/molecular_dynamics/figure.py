"""How is a box of atoms drawn? As its atoms at the end, and its energies over time."""

from __future__ import annotations

from typing import Any

from societies.errors import OutputError
from societies.workload.drawing.figure import drawable, require_copy, words

ENERGIES = {
    "total_energy": "#000000",
    "kinetic_energy": "#D55E00",
    "potential_energy": "#0072B2",
}


def figure(results: Any, *, box: int = 0) -> Any:
    """Draw the atoms of a box at the end, seen along z, and its energies over time.

    Parameters
    ----------
    box : int
        Which box of the file, from 0.
    """
    from matplotlib.figure import Figure

    require_copy(results, box)
    x = drawable(results, "x", "box", "atom", "axis")
    energies = {name: drawable(results, name, "box", "step") for name in ENERGIES}
    places = x[box].values
    if places.shape[-1] != 3 or not (places == places).any():
        raise OutputError("'x' holds no places, so it cannot be drawn")
    drawing = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = drawing.subplots(1, 2, width_ratios=(1, 1.2))
    size = min(30.0, 20000.0 / len(places))
    image = left.scatter(
        places[:, 0], places[:, 1], c=places[:, 2], s=size, cmap="viridis", linewidths=0
    )
    left.set(aspect="equal", xlabel="x [sigma]", ylabel="y [sigma]")
    left.set(title=words(results.attrs.get("title", "")))
    drawing.colorbar(image, ax=left, label="z [sigma]")
    for name, energy in energies.items():
        label = name.replace("_", " ")
        right.plot(results.step.values, energy[box].values, color=ENERGIES[name], label=label)
    right.set(xlabel="step", ylabel="energy of an atom [epsilon]")
    right.legend()
    right.grid(alpha=0.3)
    return drawing
