"""How are the trade volumes of a day drawn: as links between agents, and as a table?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.drawing import finished, new_panels
from societies.analysis.networks import as_dataset, read_network
from societies.analysis.selecting import RUN
from societies.config.document import read_text
from societies.errors import SocietiesError
from societies.workload.drawing.figure import COLOURS

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.drawing import Cases

MOST_NAMED = 60
"""Most agents whose numbers fit around the circle."""


def draw_trade_network(
    cases: Cases, *, day: int | None = None, society: int | None = None, run: int | None = None
) -> Any:
    """Draw the trade volumes between agents: as links, and as a table of volumes.

    Parameters
    ----------
    cases : one result with ``record.network`` or ``record.trade_log``, or one study with
        ``record.network``
    day : a recorded day; default: the last
    society : a recorded society; default: the first
    run : run of a study; default: the first
    """
    from matplotlib.ticker import MaxNLocator

    (data,) = cases.values()
    network = read_network(str(data.encoding["source"]), day)
    of = "run" if RUN in data.dims else "society"
    asked: dict[str, int | None] = {"run": run, "society": society, "day": day}
    for name, default in ((of, 0), ("day", -1)):
        recorded = network.recorded[name]
        if not len(recorded):
            raise SocietiesError(f"has no {name} of which the trades are recorded yet")
        asked[name] = recorded[default] if asked[name] is None else asked[name]
    links = as_dataset(network.chosen(**asked), network.types)
    last, chosen, count = asked["day"], asked[of], _agents(data, asked[of])
    volume = np.zeros((count, count))
    volume[links.giver.values, links.taker.values] = links.units.values
    what = "Units given"
    if "units_paid" in links:
        volume[links.giver.values, links.taker.values] += links.units_paid.values
        what = "Units swapped and paid"
    figure, (left, right) = new_panels(2)
    _circle(left, volume)
    left.set_title(f"Trade between agents, day {last}")
    shown = np.where(volume > 0, volume, np.nan)
    image = right.imshow(shown, origin="lower", cmap="cividis", interpolation="nearest")
    right.grid(visible=False)
    right.set(xlabel="agent that was given", ylabel="agent that gave")
    right.set_title(f"{what}, {of} {chosen}")
    right.locator_params(integer=True)
    if volume.any():
        figure.colorbar(image, ax=right, label="units", ticks=MaxNLocator(integer=True))
    else:
        right.text(0.5, 0.5, "no trade", transform=right.transAxes, ha="center", va="center")
    return finished(figure, cases, "", legend=False, marks=False, along=False)


def _agents(data: xr.Dataset, run: int | None) -> int:
    """Return the number of agents in a society, or in a run of a study."""
    if "agents" in data.coords:
        return int(data["agents"].sel({RUN: run}))
    if RUN in data.dims:
        return int(read_text(str(data.attrs["configuration"]), "configuration").data["agents"])
    return int(data.attrs["agents"])


def _circle(axes: Any, volume: Any) -> None:
    """Draw agents on a circle (larger if they gave more) and links (darker for more units)."""
    from matplotlib.collections import LineCollection

    count = len(volume)
    angle = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    x, y = np.cos(angle), np.sin(angle)
    between = np.triu(volume + volume.T)
    one, other = np.nonzero(between)
    weight = between[one, other]
    order = np.argsort(weight, kind="stable")  # the strongest lie on top
    one, other, weight = one[order], other[order], weight[order] / weight.max(initial=1)
    ends = [((x[i], y[i]), (x[j], y[j])) for i, j in zip(one, other, strict=True)]
    colours = [(0.0, 0.27, 0.45, alpha) for alpha in (0.05 + 0.9 * weight).tolist()]
    axes.add_collection(LineCollection(ends, colors=colours, linewidths=0.3 + 2.7 * weight))
    strength = volume.sum(1)
    axes.scatter(x, y, s=12 + 90 * strength / max(1, strength.max()), color=COLOURS[1], zorder=3)
    if count <= MOST_NAMED:
        for agent in range(count):
            place = 1.17 * x[agent], 1.17 * y[agent]
            axes.annotate(str(agent), place, ha="center", va="center", fontsize=7)
    axes.set(xlim=(-1.28, 1.28), ylim=(-1.28, 1.28), aspect="equal", xticks=[], yticks=[])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
