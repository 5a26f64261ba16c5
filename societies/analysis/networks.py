"""How much did each pair of agents trade on a day? A sparse table of volumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from societies.analysis.selecting import RUN
from societies.config.document import read_text
from societies.economy.network import COLUMNS, DEVICE_COLUMNS, NETWORK
from societies.errors import ConfigError, OutputError, option
from societies.output import open_results
from societies.output.reading import event_tables

if TYPE_CHECKING:
    import xarray as xr

SWAPS, SALES = "resource_trades", "device_trades"
"""Tables of swaps and of sales of devices; ``record.trade_log`` records them."""
LINK, TYPE = "link", "device_type"
MOST_LISTED = 12
"""Most numbers that an error message lists."""
PLACE = ("run", "society", "day", "giver", "taker")
"""Columns that identify a link; a study has the run and a result the society."""
TRADED = ("units", "swaps")
WITH_DEVICES = ("units_paid", "devices")

ABOUT = {
    "run": ("", "number of the run"),
    "society": ("", "number of the society"),
    "day": ("day", "day of the trades"),
    **{one.name: (one.units, one.long_name) for one in (*COLUMNS[2:], *DEVICE_COLUMNS)},
}
"""Unit and meaning of each column."""

Columns = dict[str, NDArray[np.int64]]
Chosen = int | Sequence[int] | None


@dataclass(frozen=True, eq=False)
class Network:
    """Links of traders, and the days and societies for which they are complete.

    Attributes
    ----------
    columns : by name, (link,) or (link, device_type) int64
    recorded : numbers of days, and of societies or runs, by the name of the column
    types : names of the types of devices
    """

    columns: Columns
    recorded: Mapping[str, Sequence[int]]
    types: Sequence[str] = ()

    def chosen(self, **asked: Chosen) -> Columns:
        """Return the links of some days and societies, or runs; the result may be empty."""
        selected = np.ones(len(self.columns["day"]), bool)
        for name, numbers in asked.items():
            if numbers is None:
                continue
            if name not in self.recorded:
                raise ConfigError(
                    f"{option(name, numbers)}: these trades have no {name}; choose by "
                    f"{' or '.join(self.recorded)}"
                )
            recorded = self.recorded[name]
            for one in np.atleast_1d(numbers).tolist():
                if one not in recorded:
                    raise ConfigError(
                        f"{option(name, one)}: its trades are not recorded; recorded: "
                        f"{_listed(recorded)}"
                    )
            selected &= np.isin(self.columns[name], numbers)
        places = [self.columns[name] for name in reversed(PLACE) if name in self.columns]
        order = np.lexsort(places)
        return {name: column[order][selected[order]] for name, column in self.columns.items()}


def trade_network(
    trades: str | PathLike[str] | xr.Dataset,
    day: Chosen = None,
    society: Chosen = None,
    run: Chosen = None,
) -> xr.Dataset:
    """Return the trade volumes between agents on recorded days as a sparse table.

    Parameters
    ----------
    trades : a result or study with ``record.network``, or a result with ``record.trade_log``, whose
        trades are added up; or its table ``trade_network`` or ``resource_trades``, as
        `open_results` returns them
    day, society : recorded days and societies to return; default: all
    run : runs to return of a study, which has runs in place of societies; default: all

    Returns
    -------
    xarray.Dataset along ``link``
        A link for each society, day and ordered pair of agents of which the first gave something to
        the second, sorted by ``society``, ``day``, ``giver``, ``taker`` (int64). ``units`` counts
        the units of all resources given in swaps (int64, units), ``swaps`` the swaps of the pair
        (int64). In a swap both agents give, so each swap counts in two links. With devices also
        ``units_paid``: units that the giver paid for devices (int64, units), and ``devices`` that
        the giver sold, (link, device_type) int64. A study has ``run`` in place of society. A day
        without trade has no links.

    Raises
    ------
    ConfigError
        If a day, society or run is not recorded.
    OutputError
        If the file has none of these tables.
    """
    network = read_network(trades, day)
    return as_dataset(network.chosen(run=run, society=society, day=day), network.types)


def read_network(trades: str | PathLike[str] | xr.Dataset, day: Chosen) -> Network:
    """Return the links of a file or of one of its tables."""
    if isinstance(trades, str | PathLike):
        return _of_file(trades, day)
    source = str(trades.encoding.get("source", ""))
    if "giver" not in trades and "a" not in trades:
        if not source:
            raise OutputError("the dataset has no trades and is of no file")
        return _of_file(source, day)
    links = "giver" in trades
    columns = _of_links(trades) if links else _of_log(trades)
    if source:
        with open_results(source) as data:
            return Network(columns, _recorded(data, NETWORK if links else SWAPS))
    rows = {name: np.unique(columns[name]).tolist() for name in PLACE[:3] if name in columns}
    return Network(columns, rows)


def _of_file(path: str | PathLike[str], day: Chosen) -> Network:
    names = event_tables(path)
    if NETWORK not in names and SWAPS not in names:
        raise OutputError(
            f"{path}: has no network; runs with record.network: [day, ...] or record.trade_log do"
        )
    with open_results(path) as data:
        types = [str(name) for name in data[TYPE].values] if TYPE in data.coords else []
        recorded = {name: _recorded(data, name) for name in (NETWORK, SWAPS) if name in names}
    if NETWORK in names:
        elsewhere = np.setdiff1d([] if day is None else day, recorded[NETWORK]["day"])
        if SWAPS not in names or not np.isin(elsewhere, recorded[SWAPS]["day"]).any():
            with open_results(path, events=NETWORK) as table:
                return Network(_of_links(table), recorded[NETWORK], types)
    with open_results(path, events=SWAPS) as swaps:
        columns = _of_log(swaps)
    if SALES in names:
        with open_results(path, events=SALES) as sales:
            columns = _joined(columns, _of_sales(sales, len(types)))
    return Network(columns, recorded[SWAPS], types)


def _recorded(data: xr.Dataset, table: str) -> dict[str, list[int]]:
    """Return the days and the societies, or runs, for which a table has all links.

    They do not follow from the table, because some of these days may have no trade.
    """
    config = read_text(str(data.attrs["configuration"]), "configuration").data
    if RUN in data.dims:
        days, last = config["record"]["network"], config["days"]
        done = data["status"].values.astype(str) == "done"
        return {"run": data[RUN].values[done].tolist(), "day": sorted(d for d in days if d <= last)}
    committed, societies = int(data["ticks_committed"]), data["society"].values.tolist()
    if table == NETWORK:
        days = config["record"]["network"]
    else:
        log = config["record"]["trade_log"]
        days, societies = log["days"], societies[: log["societies"]]
    return {"society": societies, "day": sorted(day for day in days if day <= committed)}


def _listed(numbers: Sequence[int]) -> str:
    """Return numbers as a text; for many consecutive numbers only the first and the last."""
    if len(numbers) > MOST_LISTED and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    more = f", ... ({len(numbers)} in all)" if len(numbers) > MOST_LISTED else ""
    return f"{', '.join(map(str, numbers[:MOST_LISTED]))}{more}" if len(numbers) else "none"


def _of_links(table: xr.Dataset) -> Columns:
    """Return the columns of a file's table of links, without unused rows, which have no day."""
    used = _used(table)
    names = (*PLACE, *TRADED, *WITH_DEVICES)
    return {name: table[name].values[used].astype(np.int64) for name in names if name in table}


def _of_log(swaps: xr.Dataset) -> Columns:
    """Add up the swaps of a trade log to links."""
    used = _used(swaps)
    names = ("society", "day", "a", "b", "units_given", "units_taken")
    society, day, a, b, given, taken = (swaps[one].values[used].astype(np.int64) for one in names)
    both = np.stack([np.tile(society, 2), np.tile(day, 2), np.append(a, b), np.append(b, a)])
    units = np.append(given, taken)
    return _added(both, {"units": units, "swaps": np.ones_like(units)})


def _of_sales(sales: xr.Dataset, types: int) -> Columns:
    """Add up the sales of a trade log to links: units go to the seller, devices to the buyer."""
    used = _used(sales)
    names = ("society", "day", "buyer", "seller", "device_type", "units_paid")
    society, day, buyer, seller, kind, paid = (
        sales[one].values[used].astype(np.int64) for one in names
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
    """Add up the amounts of rows with equal `PLACE` columns, and sort by these columns."""
    links, row = np.unique(places.T, axis=0, return_inverse=True)
    row = row.ravel()  # NumPy 2.0 gives it two dimensions
    found: Columns = dict(zip(PLACE[1:], links.T.astype(np.int64), strict=True))
    for name, amount in amounts.items():
        total = np.zeros((len(links), *amount.shape[1:]), np.int64)
        np.add.at(total, row, amount)
        found[name] = total
    return found


def _joined(one: Columns, other: Columns) -> Columns:
    """Return the links of both, with 0 in columns that one of them lacks."""
    counts = [len(each["giver"]) for each in (one, other)]
    stacked = [np.stack([each[name] for name in PLACE[1:]]) for each in (one, other)]
    places = np.concatenate(stacked, axis=1)
    amounts = {}
    for name in (*TRADED, *WITH_DEVICES):
        width = (one if name in one else other)[name].shape[1:]
        parts = [
            each[name] if name in each else np.zeros((count, *width), np.int64)
            for each, count in zip((one, other), counts, strict=True)
        ]
        amounts[name] = np.concatenate(parts)
    return _added(places, amounts)


def as_dataset(columns: Columns, types: Sequence[str] = ()) -> xr.Dataset:
    """Return links as a dataset along ``link``."""
    import xarray as xr

    found = {}
    for name, (unit, meaning) in ABOUT.items():
        if name in columns:
            dims = (LINK, TYPE) if columns[name].ndim == 2 else (LINK,)
            found[name] = dims, columns[name], {"units": unit, "long_name": meaning}
    return xr.Dataset(found, coords={TYPE: list(types)} if types and "devices" in found else {})
