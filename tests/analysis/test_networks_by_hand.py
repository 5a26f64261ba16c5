"""Which links does a file of trades have on the days that are asked for? Tables written by hand."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from societies.analysis import networks, trade_network
from societies.analysis.networks import as_dataset, read_network
from societies.economy.network import COLUMNS, DEVICE_COLUMNS
from societies.errors import ConfigError, OutputError


def table(source="", **columns):
    data = xr.Dataset({name: ("row", np.array(column)) for name, column in columns.items()})
    data.encoding["source"] = source
    return data


LINKS = {
    "society": [1, 0, 0, 1],
    "day": [2.0, 4.0, 2.0, np.nan],
    "giver": [0, 5, 0, 7],
    "taker": [3, 0, 5, 7],
    "units": [7, 8, 9, 99],
    "swaps": [1, 2, 3, 99],
}
SWAPS = {
    "society": [0, 0],
    "day": [3.0, 5.0],
    "a": [1, 2],
    "b": [2, 1],
    "units_given": [10, 30],
    "units_taken": [20, 40],
}
SALES = {
    "society": [0, 0, 0],
    "day": [3.0, 3.0, 0.0],
    "buyer": [1, 1, 1],
    "seller": [6, 6, 6],
    "device_type": [1, 0, 0],
    "units_paid": [4, 0, 50],
}
RECORD = """days: 9
record: {network: [9, 4, 2], trade_log: {days: [5, 3, 8], societies: 1}}
"""


def filed(monkeypatch, committed=8, types=("tool", "factory"), configuration=RECORD, **tables):
    """Let every path be a file of two societies with these tables."""
    coords = {"society": [0, 1]} | ({"device_type": list(types)} if types else {})
    data = xr.Dataset({"ticks_committed": committed}, coords, {"configuration": configuration})
    own = {name: table(**columns) for name, columns in tables.items()}
    monkeypatch.setattr(networks, "event_tables", lambda path: list(own))
    monkeypatch.setattr(
        networks, "open_results", lambda path, events=None: own[events] if events else data
    )


def rows(data):
    names = [name for name in ("day", "giver", "taker", "units", "swaps") if name in data]
    return np.transpose([data[name].values for name in names]).tolist()


OF_LINKS = [[2, 0, 5, 9, 3], [4, 5, 0, 8, 2], [2, 0, 3, 7, 1]]
"""Sorted by society, day, giver and taker."""
OF_LOG = [[3, 1, 2, 10, 1], [3, 1, 6, 0, 0], [3, 2, 1, 20, 1], [3, 6, 1, 0, 0]]
OF_BOTH_DAYS = [*OF_LOG, [5, 1, 2, 40, 1], [5, 2, 1, 30, 1]]


def test_recorded_links_are_sorted_and_chosen(monkeypatch):
    filed(monkeypatch, trade_network=LINKS)
    assert rows(trade_network("f")) == OF_LINKS
    assert rows(trade_network("f", day=2)) == [OF_LINKS[0], OF_LINKS[2]]
    assert rows(trade_network("f", day=[4, 2], society=0)) == OF_LINKS[:2]
    found = read_network("f", None)
    assert found.recorded == {"society": [0, 1], "day": [2, 4]}
    assert "device_type" not in trade_network("f").coords
    with pytest.raises(ConfigError, match=r"^day=9: its trades are not recorded; recorded: 2, 4$"):
        trade_network("f", day=9)
    with pytest.raises(
        ConfigError, match=r"^run=1: these trades have no run; choose by society or"
    ):
        trade_network("f", run=1)
    filed(monkeypatch, committed=9, trade_network=LINKS)
    assert read_network("f", None).recorded["day"] == [2, 4, 9]


def test_a_log_is_added_up_with_its_sales(monkeypatch):
    filed(monkeypatch, resource_trades=SWAPS, device_trades=SALES)
    found = trade_network("f")
    assert rows(found) == OF_BOTH_DAYS
    assert found.units_paid.values.tolist() == [0, 4, 0, 0, 0, 0]
    assert found.devices.values.tolist() == [[0, 0], [0, 0], [0, 0], [1, 1], [0, 0], [0, 0]]
    assert found.device_type.values.tolist() == ["tool", "factory"]
    assert found.devices.dims == ("link", "device_type") and found.devices.dtype == np.int64
    assert read_network("f", None).recorded == {"society": [0], "day": [3, 5, 8]}
    assert trade_network("f", day=8).sizes["link"] == 0
    filed(monkeypatch, types=(), resource_trades=SWAPS)
    bare = trade_network("f", day=5)
    assert rows(bare) == OF_BOTH_DAYS[4:] and not {"devices", "device_type"} & {*bare.variables}
    filed(monkeypatch, resource_trades=SWAPS)
    assert not {"devices", "device_type"} & {*trade_network("f").variables}


def test_a_file_with_both_tables_answers_from_the_one_that_has_the_days(monkeypatch):
    filed(monkeypatch, trade_network=LINKS, resource_trades=SWAPS, device_trades=SALES)
    for day in (None, 2, [2, 4]):
        assert "units_paid" not in trade_network("f", day=day)
    assert rows(trade_network("f")) == OF_LINKS
    assert rows(trade_network("f", day=3)) == OF_LOG
    assert rows(trade_network("f", day=[5, 3])) == OF_BOTH_DAYS
    for day in ([3, 7], [7, 3], [2, 3]):
        with pytest.raises(ConfigError, match=r"recorded: 3, 5, 8$"):
            trade_network("f", day=day)
    with pytest.raises(ConfigError, match=r"recorded: 2, 4$"):
        trade_network("f", day=7)


def test_a_file_without_either_table_says_how_they_are_recorded(monkeypatch):
    filed(monkeypatch, device_trades=SALES)
    with pytest.raises(OutputError, match=r"^f: has no network; runs with record\.network: \[day"):
        trade_network("f")
    with pytest.raises(OutputError, match="has no trades and is of no file"):
        trade_network(table(units=[1]))


def test_a_study_has_runs_that_are_done_and_days_that_were_run(monkeypatch):
    config = "days: 5\nrecord: {network: [5, 3, 9]}\n"
    links = {"run" if name == "society" else name: one for name, one in LINKS.items()}
    data = xr.Dataset({}, {"run": [4, 5, 6], "status": ("run", ["done", "failed", "done"])})
    data.attrs["configuration"] = config
    own = table(**links)
    monkeypatch.setattr(networks, "event_tables", lambda path: ["trade_network"])
    monkeypatch.setattr(networks, "open_results", lambda path, events=None: own if events else data)
    assert read_network("s", None).recorded == {"run": [4, 6], "day": [3, 5]}
    with pytest.raises(ConfigError, match=r"^run=5: its trades are not recorded; recorded: 4, 6$"):
        trade_network("s", run=5)


def test_a_table_of_a_file_knows_what_the_file_recorded(monkeypatch):
    tables = {"trade_network": LINKS, "resource_trades": SWAPS}
    filed(monkeypatch, **tables)
    links, swaps = (table("f", **one) for one in (LINKS, SWAPS))
    assert read_network(links, None).recorded == {"society": [0, 1], "day": [2, 4]}
    assert read_network(swaps, None).recorded == {"society": [0], "day": [3, 5, 8]}
    assert rows(trade_network(links)) == OF_LINKS
    assert rows(trade_network(table("f", gini=[1.0]))) == OF_LINKS
    assert read_network(table(**LINKS), None).recorded == {"society": [0, 1], "day": [2, 4]}
    assert read_network(table(**SWAPS), None).recorded == {"society": [0], "day": [3, 5]}


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (range(1, 13), ", ".join(map(str, range(1, 13)))),
        (range(1, 14), "1 to 13"),
        ([*range(2, 14), 15], f"{', '.join(map(str, range(2, 14)))}, ... (13 in all)"),
        ([1, *range(3, 15)], f"1, {', '.join(map(str, range(3, 14)))}, ... (13 in all)"),
        ([7], "7"),
        ([], "none"),
    ],
)
def test_many_days_are_listed_in_few_words(monkeypatch, days, said):
    config = f"record: {{network: {[*days]}}}"
    filed(monkeypatch, committed=99, configuration=config, trade_network=LINKS)
    with pytest.raises(ConfigError) as error:
        trade_network("f", day=50)
    assert str(error.value).endswith(f"recorded: {said}")


def test_types_of_devices_name_their_columns():
    columns = {"day": np.array([1]), "devices": np.array([[2, 3]])}
    found = as_dataset(columns, ["tool", "factory"])
    assert found.device_type.values.tolist() == ["tool", "factory"]
    assert as_dataset(columns).devices.values.tolist() == [[2, 3]]
    assert not as_dataset(columns).coords
    assert not as_dataset({"day": np.array([1])}, ["tool"]).coords


def test_links_have_the_units_and_meanings_of_the_file():
    links = as_dataset({name: np.array([1]) for name in networks.ABOUT})
    for column in (*COLUMNS, *DEVICE_COLUMNS):
        about = {"units": column.units, "long_name": column.long_name}
        assert column.name == "day" or links[column.name].attrs == about
    assert links.swaps.attrs["units"] == "swaps"
