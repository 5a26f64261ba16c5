"""Who gave how much to whom: are the links of a day those of its trades, written down by hand?

Source: docs/model.md, "The trade network". Swaps and sales that lead to them: test_bartering.py and
test_device_market.py.
"""

import numpy as np
import pytest
from states import started

from reference_py.economy.network import begin_network, link_sale, link_swap
from reference_py.economy.state import links
from societies import config_from_dict
from societies.economy.columns import ROOM
from societies.economy.network import links as table
from societies.economy.network import network_stops, network_tables

RECORD = {"network": [1]}
INDUSTRY = 3


def test_links_are_added_up_by_giver_and_taker():
    _, s = started(agents=4, record=RECORD)
    link_swap(s, 0, 2, 5)
    link_swap(s, 2, 0, 3)
    link_swap(s, 0, 1, 1)
    link_swap(s, 0, 2, 4)
    link_sale(s, INDUSTRY, 0, 3, 9)
    link_sale(s, INDUSTRY, 0, 3, 2)
    link_sale(s, 0, 3, 0, 7)
    assert s.link_taker == [[2, 1, 3], [-1] * 3, [0, -1, -1], [0, -1, -1]]  # as they came
    assert s.link_units == [[9, 1, 0], [0] * 3, [3, 0, 0], [0] * 3]
    assert s.link_swaps == [[2, 1, 0], [0] * 3, [1, 0, 0], [0] * 3]
    assert s.link_paid == [[0, 0, 11], [0] * 3, [0] * 3, [7, 0, 0]]
    assert s.link_devices[3][INDUSTRY] == [2, 0, 0]
    assert s.link_devices[0][0] == [0, 0, 1]
    assert sum(sum(map(sum, agent)) for agent in s.link_devices) == 3


@pytest.mark.parametrize("devices", ["all", "none"])
def test_a_day_begins_without_links(devices):
    p, s = started(agents=4, record=RECORD, devices=devices)
    for giver in range(4):
        link_swap(s, giver, (giver + 1) % 4, 5)
        if devices == "all":
            link_sale(s, 2, giver, (giver + 2) % 4, 3)
    begin_network(p, s)
    room = links(p)
    assert room == 3
    assert s.link_taker == [[-1] * room] * 4
    assert s.link_units == s.link_swaps == [[0] * room] * 4
    if devices == "all":
        assert s.link_paid == [[0] * room] * 4
        assert s.link_devices == [[[0] * room] * 6] * 4
    else:
        assert not hasattr(s, "link_paid") and not hasattr(s, "link_devices")


def test_there_is_room_for_all_whom_an_agent_can_meet_in_a_day():
    """One in each round of both resource markets; with devices nine of these, and six others."""
    rounds = {"trading": {"rounds": 3}, "devices_market": {"rounds": 4}}
    for agents, devices, room in ((200, "none", 6), (200, "all", 9 * 3 + 6 * 4), (5, "all", 4)):
        p, _ = started(agents=agents, devices=devices, record=RECORD, **rounds)
        assert links(p) == room
    assert links(started(agents=1, record=RECORD)[0]) == 1


def test_the_table_has_a_row_for_each_link_in_order():
    """Of societies 7 and 8: by society, giver and taker, whatever the order in which they met."""
    _, s = started(agents=3, record=RECORD)
    _, other = started(agents=3, record=RECORD)
    link_swap(s, 2, 1, 5)
    link_swap(s, 2, 0, 6)
    link_sale(s, INDUSTRY, 0, 2, 9)
    link_swap(other, 1, 0, 4)
    names = ("link_taker", "link_units", "link_swaps", "link_paid", "link_devices")
    state = {name: np.array([getattr(one, name) for one in (s, other)]) for name in names}
    found = table(state, 7)
    rows = {name: values.tolist() for name, values in found.items()}
    assert rows["society"] == [7, 7, 7, 8]
    assert rows["giver"] == [0, 2, 2, 1]
    assert rows["taker"] == [2, 0, 1, 0]
    assert rows["units"] == [0, 6, 5, 4]
    assert rows["swaps"] == [0, 1, 1, 1]
    assert rows["units_paid"] == [9, 0, 0, 0]
    assert rows["devices"] == [[0] * 6, [0, 0, 0, 1, 0, 0], [0] * 6, [0] * 6]
    assert all(values.dtype == np.int32 for values in found.values())
    del state["link_paid"], state["link_devices"]
    assert {*table(state, 0)} == {"society", "giver", "taker", "units", "swaps"}


@pytest.mark.parametrize(("agents", "links_each"), [(1, 1), (2, 1), (5, 4), (ROOM + 9, ROOM)])
def test_a_file_has_room_for_some_links_of_every_agent(agents, links_each):
    few = {"workload": "economy", "agents": agents, "resources": 4, "days": 9, "replicates": 3}
    assert network_tables(config_from_dict(few)) == []
    assert network_stops(config_from_dict(few)) == set()
    config = config_from_dict({**few, "record": {"network": [2, 9]}})
    (found,) = network_tables(config)
    assert found.rows == 3 * agents * links_each * 2
    assert found.in_study
    assert network_stops(config) == {2, 9}
    names = [column.name for column in found.columns]
    assert names == ["society", "day", "giver", "taker", "units", "swaps"]
    with_devices = config_from_dict({**few, "devices": "all", "record": {"network": [2]}})
    (found,) = network_tables(with_devices)
    assert [column.name for column in found.columns] == [*names, "units_paid", "devices"]
