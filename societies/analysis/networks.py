"""Who traded how much with whom on a day: a sparse table of the volumes, and a figure of it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from societies.analysis.drawing import finished, new_panels
from societies.errors import ConfigError, OutputError, SocietiesError, option
from societies.output import open_results
from societies.output.reading import event_tables
from societies.workload.figure import COLOURS

if TYPE_CHECKING:
    import xarray as xr

    from societies.analysis.drawing import Cases

NETWORK = "trade_network"
"""The table of links, which ``record.network`` asks for."""
SWAPS, SALES = "resource_trades", "device_trades"
"""The tables of swaps and of sales of devices, which ``record.trade_log`` asks for."""
LINK, TYPE = "link", "device_type"
PLACE = ("society", "day", "giver", "taker")
TRADED = ("units", "swaps")
WITH_DEVICES = ("units_paid", "devices")
MOST_NAMED = 60
"""Agents whose numbers fit around a circle."""

ABOUT = {
    "run": ("", "number of the run"),
    "society": ("", "number of the society"),
    "day": ("day", "day of the trades"),
    "giver": ("index", "agent that gave"),
    "taker": ("index", "agent that was given"),
    "units": ("units", "units given in swaps, all resources"),
    "swaps": ("1", "swaps between the two, in which each gave the other"),
    "units_paid": ("units", "units paid for devices, all resources"),
    "devices": ("1", "devices sold by the giver"),
}
"""Unit and meaning of each column."""

Columns = dict[str, NDArray[np.int64]]


def trade_network(
    trades: str | PathLike[str] | xr.Dataset,
    day: int | Sequence[int] | None = None,
    society: int | Sequence[int] | None = None,
) -> xr.Dataset:
    """Return the trade volumes between agents on recorded days as a sparse table.

    Parameters
    ----------
    trades : path or xarray.Dataset
        A result with ``record.network``, or with ``record.trade_log``, whose trades are added up; a
        result's table ``trade_network`` or ``resource_trades`` as `open_results` returns it; or a
        study, opened, with links of the last day (``record.final: [link_taker, link_units, ...]``).
    day, society : int or several, optional
        Which of those that are recorded; default: all. Of a study they are not asked.

    Returns
    -------
    xarray.Dataset along ``link``
        A link for each society, day and ordered pair of agents of whom one gave the other anything,
        in this order: ``society``, ``day``, ``giver``, ``taker`` (int64), ``units`` that went from
        giver to taker in swaps, of all resources (int64, units), and ``swaps`` between the two
        (int64). A swap gives something both ways, so each pair is there twice. With devices also
        ``units_paid`` by the giver for devices (int64, units) and ``devices`` that the giver sold,
        (link, device_type) int64. A study has ``run`` in place of society and day.

    Raises
    ------
    ConfigError
        If a day or society is not recorded.
    OutputError
        If the file has none of these tables.
    """
    if not isinstance(trades, str | PathLike):
        if "final_link_taker" in trades:
            return _dataset(_of_study(trades))
        columns = _of_links(trades) if "giver" in trades else _of_log(trades)
        return _dataset(_chosen(columns, day, society))
    names, types = event_tables(trades), _device_types(trades)
    if NETWORK not in names and SWAPS not in names:
        raise OutputError(
            f"{trades}: has no network; runs with record.network: [day, ...] or record.trade_log do"
        )
    if NETWORK in names:
        with open_results(trades, events=NETWORK) as table:
            columns = _of_links(table)
        only_logged = np.setdiff1d([] if day is None else day, columns["day"])
    if NETWORK not in names or (only_logged.size and SWAPS in names):
        with open_results(trades, events=SWAPS) as swaps:
            columns = _of_log(swaps)
        if SALES in names:
            with open_results(trades, events=SALES) as sales:
                columns = _joined(columns, _of_sales(sales, len(types)))
    return _dataset(_chosen(columns, day, society), types)


def _device_types(path: str | PathLike[str]) -> list[str]:
    with open_results(path) as data:
        return [str(name) for name in data[TYPE].values] if TYPE in data.coords else []


def _of_links(table: xr.Dataset) -> Columns:
    """Return the columns of a file's own table of links; unused rows have no day."""
    there = _used(table)
    found = {name: table[name].values[there].astype(np.int64) for name in (*PLACE, *TRADED)}
    return found | {
        name: table[name].values[there].astype(np.int64) for name in WITH_DEVICES if name in table
    }


def _of_log(swaps: xr.Dataset) -> Columns:
    """Add the swaps of a log up to links."""
    there = _used(swaps)
    names = ("society", "day", "a", "b", "units_given", "units_taken")
    society, day, a, b, given, taken = (swaps[one].values[there].astype(np.int64) for one in names)
    both = np.stack([np.tile(society, 2), np.tile(day, 2), np.append(a, b), np.append(b, a)])
    units = np.append(given, taken)
    return _added(both, {"units": units, "swaps": np.ones_like(units)})


def _of_sales(sales: xr.Dataset, types: int) -> Columns:
    """Add the sales of devices of a log up to links: units to the seller, devices to the buyer."""
    there = _used(sales)
    names = ("society", "day", "buyer", "seller", "device_type", "units_paid")
    society, day, buyer, seller, kind, paid = (
        sales[one].values[there].astype(np.int64) for one in names
    )
    ends = np.append(buyer, seller), np.append(seller, buyer)
    both = np.stack([np.tile(society, 2), np.tile(day, 2), *ends])
    devices = np.zeros((2 * len(kind), types), np.int64)
    devices[len(kind) + np.arange(len(kind)), kind] = 1
    return _added(both, {"units_paid": np.append(paid, 0 * paid), "devices": devices})


def _used(table: xr.Dataset) -> NDArray[np.bool_]:
    days = table["day"].values.astype(float)
    used: NDArray[np.bool_] = np.isfinite(days) & (days > 0)
    return used


def _added(places: NDArray[np.int64], amounts: Columns) -> Columns:
    """Add up the amounts of equal places, (place, row), and put these in order."""
    links, row = np.unique(places.T, axis=0, return_inverse=True)
    row = row.ravel()  # NumPy 2.0 gives it two dimensions
    found: Columns = dict(zip(PLACE, links.T.astype(np.int64), strict=True))
    for name, amount in amounts.items():
        total = np.zeros((len(links), *amount.shape[1:]), np.int64)
        np.add.at(total, row, amount)
        found[name] = total
    return found


def _joined(one: Columns, other: Columns) -> Columns:
    """Return the links of both, with 0 of what one of them lacks."""
    counts = [len(each["giver"]) for each in (one, other)]
    places = np.concatenate([np.stack([each[name] for name in PLACE]) for each in (one, other)], 1)
    amounts = {}
    for name in (*TRADED, *WITH_DEVICES):
        width = (one if name in one else other)[name].shape[1:]
        parts = [
            each[name] if name in each else np.zeros((count, *width), np.int64)
            for each, count in zip((one, other), counts, strict=True)
        ]
        amounts[name] = np.concatenate(parts)
    return _added(places, amounts)


def _of_study(study: xr.Dataset) -> Columns:
    """Return the links that each run of a study had on its last day."""
    taker = study["final_link_taker"].transpose("run", "agent", LINK)
    values = taker.values
    run, giver, place = np.nonzero(np.isfinite(values.astype(float)) & (values >= 0))
    order = np.lexsort((values[run, giver, place], giver, run))
    run, giver, place = run[order], giver[order], place[order]
    found = {"run": taker["run"].values[run], "giver": giver, "taker": values[run, giver, place]}
    fields = {"units": "link_units", "swaps": "link_swaps", "units_paid": "link_paid"}
    for name, field in fields.items():
        if f"final_{field}" in study:
            amounts = study[f"final_{field}"].transpose("run", "agent", LINK).values
            found[name] = amounts[run, giver, place]
    if "final_link_devices" in study:
        amounts = study["final_link_devices"].transpose("run", "agent", LINK, TYPE).values
        found["devices"] = amounts[run, giver, place]
    return {name: column.astype(np.int64) for name, column in found.items()}


def _chosen(
    columns: Columns, day: int | Sequence[int] | None, society: int | Sequence[int] | None
) -> Columns:
    """Return the links of the days and societies that are asked for."""
    chosen = np.ones(len(columns["day"]), bool)
    for name, asked in (("society", society), ("day", day)):
        if asked is None:
            continue
        logged = np.unique(columns[name]).tolist()
        for one in np.atleast_1d(asked).tolist():
            if one not in logged:
                said = ", ".join(map(str, logged)) or "none"
                raise ConfigError(
                    f"{option(name, one)}: no trades of it are logged; logged: {said}"
                )
        chosen &= np.isin(columns[name], asked)
    order = np.lexsort([columns[name] for name in reversed(PLACE)])
    return {name: column[order][chosen[order]] for name, column in columns.items()}


def _dataset(columns: Columns, types: Sequence[str] = ()) -> xr.Dataset:
    import xarray as xr

    found = {}
    for name, (unit, meaning) in ABOUT.items():
        if name in columns:
            dims = (LINK, TYPE) if columns[name].ndim == 2 else (LINK,)
            found[name] = dims, columns[name], {"units": unit, "long_name": meaning}
    return xr.Dataset(found, coords={TYPE: list(types)} if types and "devices" in found else {})


def draw_trade_network(cases: Cases, *, day: int | None = None, society: int | None = None) -> Any:
    """Draw who traded how much with whom: links between agents, and the table of volumes.

    Parameters
    ----------
    cases : one result with ``record.network`` or ``record.trade_log``
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
    right.set_title(f"{what}, society {chosen}")
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
