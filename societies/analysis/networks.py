"""Who traded how much with whom on a day: a sparse table of the volumes, and a figure of it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from societies.analysis.drawing import finished, new_panels
from societies.errors import ConfigError, SocietiesError, option
from societies.output import open_results
from societies.workload.figure import COLOURS

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.drawing import Cases

SWAPS = "resource_trades"
"""The table of swaps, which ``record.trade_log`` asks for."""
LINK = "link"
MOST_NAMED = 60
"""Agents whose numbers fit around a circle."""


def trade_network(
    trades: str | PathLike[str] | xr.Dataset,
    day: int | Sequence[int] | None = None,
    society: int | Sequence[int] | None = None,
) -> xr.Dataset:
    """Return the trade volumes between agents as a sparse table, from the swaps of logged days.

    Parameters
    ----------
    trades : path or xarray.Dataset
        A result with ``record.trade_log``, or its table ``resource_trades`` as `open_results`
        returns it.
    day, society : int or several, optional
        Which of those that are logged; default: all.

    Returns
    -------
    xarray.Dataset along ``link``
        A link for each society, day and ordered pair of agents of whom one gave the other anything,
        in this order: ``society``, ``day``, ``giver``, ``taker`` (int64), ``units`` that went from
        giver to taker, of all resources (int64, units), and ``swaps`` between the two (int64). A
        swap gives something both ways, so each pair is there twice.

    Raises
    ------
    ConfigError
        If a day or society is not logged.
    OutputError
        If the file has no table of swaps.
    """
    import xarray as xr

    if isinstance(trades, str | PathLike):
        with open_results(trades, events=SWAPS) as table:
            return trade_network(table, day, society)
    columns = [trades[name].values for name in ("society", "day", "a", "b")]
    there = np.isfinite(columns[1].astype(float)) & (columns[1] > 0)  # other rows are unused
    chosen = there.copy()
    for name, column, asked in (("society", columns[0], society), ("day", columns[1], day)):
        if asked is None:
            continue
        logged = np.unique(column[there]).astype(int).tolist()
        for one in np.atleast_1d(asked).tolist():
            if one not in logged:
                said = ", ".join(map(str, logged)) or "none"
                raise ConfigError(
                    f"{option(name, one)}: no trades of it are logged; logged: {said}"
                )
        chosen &= np.isin(column, asked)
    *when, a, b = (column[chosen].astype(np.int64) for column in columns)
    given, taken = (
        trades[f"units_{way}"].values[chosen].astype(np.int64) for way in ("given", "taken")
    )
    both = np.concatenate([np.stack([*when, a, b], 1), np.stack([*when, b, a], 1)])
    links, place = np.unique(both, axis=0, return_inverse=True)
    place = place.ravel()  # NumPy 2.0 gives it two dimensions
    units, swaps = np.zeros(len(links), np.int64), np.bincount(place, minlength=len(links))
    np.add.at(units, place, np.concatenate([given, taken]))
    meanings = {
        "society": ("", "number of the society"),
        "day": ("day", "day of the trades"),
        "giver": ("index", "agent that gave"),
        "taker": ("index", "agent that was given"),
    }
    found = {
        name: (LINK, links[:, i], {"units": unit, "long_name": meaning})
        for i, (name, (unit, meaning)) in enumerate(meanings.items())
    }
    found["units"] = LINK, units, {"units": "units", "long_name": "units given, all resources"}
    about = {"units": "1", "long_name": "swaps between the two, in which each gave the other"}
    found["swaps"] = LINK, swaps.astype(np.int64), about
    return xr.Dataset(found)


def draw_trade_network(cases: Cases, *, day: int | None = None, society: int | None = None) -> Any:
    """Draw who traded how much with whom: links between agents, and the table of volumes.

    Parameters
    ----------
    cases : one result with ``record.trade_log``
    day : of those that are logged; default: the last
    society : of those that are logged; default: the first
    """
    from matplotlib.ticker import MaxNLocator

    if len(cases) > 1:
        raise SocietiesError("is one of several results: a network is that of one")
    data = next(iter(cases.values()))
    source = data.encoding.get("source", "")
    if "agents" not in data.attrs or not source:
        raise SocietiesError("has no trades; a figure of them takes the file of an economy")
    links = trade_network(str(source), day, society)
    if not links.sizes[LINK]:
        raise SocietiesError("has no trades on the days that are logged")
    chosen = int(links.society.values[0] if society is None else society)
    links = links.isel({LINK: np.flatnonzero(links.society.values == chosen)})
    last = int(links.day.values.max() if day is None else day)
    links = links.isel({LINK: np.flatnonzero(links.day.values == last)})
    count = int(data.attrs["agents"])
    volume = np.zeros((count, count))
    volume[links.giver.values, links.taker.values] = links.units.values
    figure, (left, right) = new_panels(2)
    _circle(left, volume)
    left.set_title(f"Trade between agents, day {last}")
    shown = np.where(volume > 0, volume, np.nan)
    image = right.imshow(shown, origin="lower", cmap="cividis", interpolation="nearest")
    right.grid(visible=False)
    right.set(xlabel="agent that was given", ylabel="agent that gave")
    right.set_title(f"Units given, society {chosen}")
    right.locator_params(integer=True)
    figure.colorbar(image, ax=right, label="units", ticks=MaxNLocator(integer=True))
    return finished(figure, cases, "", legend=False, marked=False)


def _circle(axes: Any, volume: Any) -> None:
    """Draw agents on a circle, larger the more they gave, and links, darker the more went over."""
    from matplotlib.collections import LineCollection

    count = len(volume)
    angle = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    x, y = np.cos(angle), np.sin(angle)
    between = np.triu(volume + volume.T)
    one, other = np.nonzero(between)
    weight = between[one, other]
    order = np.argsort(weight, kind="stable")  # the strongest lie on top
    one, other, weight = one[order], other[order], weight[order] / weight.max()
    ends = [((x[i], y[i]), (x[j], y[j])) for i, j in zip(one, other, strict=True)]
    colours = [(0.0, 0.27, 0.45, alpha) for alpha in (0.05 + 0.9 * weight).tolist()]
    axes.add_collection(LineCollection(ends, colors=colours, linewidths=0.3 + 2.7 * weight))
    strength = volume.sum(1)
    axes.scatter(x, y, s=12 + 90 * strength / strength.max(), color=COLOURS[1], zorder=3)
    if count <= MOST_NAMED:
        for agent in range(count):
            place = 1.12 * x[agent], 1.12 * y[agent]
            axes.annotate(str(agent), place, ha="center", va="center", fontsize=7)
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal", xticks=[], yticks=[])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
