"""What does the economy tell the core of its sizes, tables and days? Worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from reference_py.economy.tables import utility_curve
from societies import config_from_dict
from societies.economy import variables
from societies.economy.network import network_stops, network_tables
from societies.economy.results import DayRecorder, describe_tables, recorded_days
from societies.economy.series import columns_of
from societies.economy.state import MOST_UNITS, state_fields
from societies.economy.workload import WORKLOAD
from societies.workload import Block
from societies.workload.declare.protocol import Setup
from societies.workload.running.points import with_table

SIZES = {"workload": "economy", "agents": 6, "resources": 5, "days": 30}
GROUPS = {"groups": [{"name": "x", "count": 2}, {"name": "y", "count": 4}]}


def economy(**settings):
    return config_from_dict({**SIZES, **settings})


def ensemble(config, **columns):
    return WORKLOAD.parameters(with_table(config, columns))


# -- tables of several societies


def test_the_tables_of_several_societies_are_described():
    found = ensemble(economy(), **{"utility.min_marginal": [20.0, 50.0, 20.0]})
    lengths = [len(utility_curve(600.0, 2.5, f, 20_000).marginal) for f in (50.0, 20.0)]
    whole = f"2 tables of {lengths[0]} to {lengths[1]} units"
    assert found.describe_curves() == describe_tables(found) == whole
    for holding, cut in ((lengths[1], False), (lengths[1] - 1, True), (lengths[0], True)):
        found._set(largest_holding=holding)
        assert found.tables_cut_off is cut
    assert describe_tables(found) == f"{whole} (cut off at more than an agent will hold)"
    (curve,) = WORKLOAD.parameters(economy()).utility_curves
    assert describe_tables(WORKLOAD.parameters(economy())) == f"{len(curve.marginal)} units"
    assert dict(WORKLOAD.plan_rows(economy(**GROUPS), found))["agents per group"] == "2, 4"


@pytest.mark.parametrize("devices", ["none", "tools", "all"])
def test_only_with_devices_there_are_tables_of_making(devices):
    found = ensemble(economy(devices=devices), **{"trading.min_surplus": [0.5, 1.0]})
    for p in (found, found.of(1, 1), found.only(1).of(0, 1)):
        assert (p.devices is None) == (devices == "none")
        assert devices == "none" or p.devices.tools_only == (devices == "tools")
    for name in ("making_table", "effort_total_table"):
        assert (name in found.curves()) == (devices != "none")
    for name in ("making_curve_table", "inventiveness_table"):
        assert (name in WORKLOAD.parameters_of_copies(found, 1)) == (devices != "none")
    assert found.of(1, 1) is found.of(1, 9)
    assert found.of(0, 1).values["min_surplus"] == 0.5
    alone = found.only(1)
    assert (alone.first_society, alone.societies) == (1, 1)
    assert WORKLOAD.parameters_of_copies(WORKLOAD.parameters(economy()), 1) == {}


def test_parameters_change_after_the_days_of_interventions():
    set_on = [{"day": day, "set": {"day_length": 60.0 + day}} for day in (4, 9)]
    p = WORKLOAD.parameters(economy(interventions=set_on))
    assert list(WORKLOAD.changes(p)) == [4, 9]
    assert list(WORKLOAD.changes(WORKLOAD.parameters(economy()))) == []
    days = [1, 4, 5, 9, 10]
    lengths = [WORKLOAD.parameters_of_copy(p, 0, day).day_length for day in days]
    assert lengths == [600.0, 600.0, 64.0, 64.0, 69.0]
    one = WORKLOAD.parameters(economy())
    assert WORKLOAD.parameters_of_copy(one, 0, 7) is one


# -- sizes


def test_inventions_have_room_for_one_of_each_agent_or_device():
    assert WORKLOAD.events(WORKLOAD.parameters(economy())) == {}
    for agents, rows in ((6, 6), (40, 30)):  # 6 types of 5 resources
        p = WORKLOAD.parameters(economy(agents=agents, devices="all", device={"components": 4}))
        (events,) = WORKLOAD.events(p).values()
        assert (events.columns, events.rows) == (4 + p.component_slots, rows)


@pytest.mark.parametrize(
    ("kind", "units", "copies", "items"),
    [("cpu", 1, 9, 40), ("gpu", 3, 8, 64), ("gpu", 3, 9, 32), ("cpu", 3, 9, 40)],
)
def test_a_crowded_gpu_has_one_warp_for_each_agent(kind, units, copies, items):
    """16 agents for each compute unit: 48 in all, which 8 societies of 6 are and 9 are not."""
    device = SimpleNamespace(kind=kind, compute_units=units, warp=32, max_workgroup=256)
    p = WORKLOAD.parameters(economy(resources=40))
    assert WORKLOAD.work_items(p, copies, device) == items


def test_work_is_counted_in_days_of_agents():
    assert WORKLOAD.work_done(economy(replicates=4), 10) == 240.0
    assert WORKLOAD.headlines()[-1] == "gini" and len(WORKLOAD.headlines()) == 5
    assert WORKLOAD.seconds(economy(), None) > 0.0


def test_units_are_counted_in_half_of_32_bits():
    assert MOST_UNITS == 1073741823


@pytest.mark.parametrize(("every", "days"), [(0, []), (1, [1, 2, 3]), (2, [2]), (3, [3]), (4, [])])
def test_days_that_are_recorded(every, days):
    found = recorded_days(every, 3)
    assert found.tolist() == days and found.dtype == np.int64


def test_the_network_of_a_day_beyond_the_last_is_not_recorded():
    config = economy(record={"network": [7, 30, 31]}, replicates=3)
    assert network_stops(config) == {7, 30}
    (table,) = network_tables(config)
    assert table.in_study and table.name == "trade_network"
    assert [one.name for one in table.columns] == [
        *("society", "day", "giver", "taker", "units", "swaps")
    ]
    (table,) = network_tables(economy(record={"network": [7]}, devices="tools"))
    assert [one.name for one in table.columns][-2:] == ["units_paid", "devices"]
    assert network_tables(economy()) == [] and network_stops(economy()) == set()


# -- series and variables


def test_a_detail_is_described_by_its_first_field():
    fields = state_fields(WORKLOAD.parameters(economy(devices="all")))
    minutes = variables.AGENT_DEVICE_DETAIL["agent_minutes"].variable("m", "agent_day", fields)
    assert minutes.dims == ("society", "agent_day", "agent", "activity")
    assert minutes.long_name == "minutes spent today by activity" and minutes.units == "min"
    held = variables.RESOURCE_DETAIL["held"].variable("held", "day", fields)
    assert held.units == "units" and held.dims == ("society", "day", "agent", "resource")
    extracted = variables.RESOURCE_DETAIL["extracted"].variable("extracted", "day", fields)
    assert extracted.long_name == fields["extracted"].meaning


def test_the_means_of_the_last_day_are_those_of_the_file():
    """Over the societies, of every series that is known on that day and is in no family."""
    recorder = DayRecorder(Setup(WORKLOAD, economy(replicates=2)))
    names = list(columns_of(recorder.p))
    values = np.arange(2 * 3 * len(names), dtype=float).reshape(2, 3, len(names))
    found = recorder.means(Block(4, 6, {"series": values}, {}, dict, None))
    assert found["gini"] == values[:, 2, names.index("gini")].mean()
    assert not {"gini_3day", "gini_paper", "hhi_0", "minutes_hand", "hhi"} & set(found)
    assert {"utility", "agents_alive", "units_held_max"} < set(found)
    days = {name: (("society", "day"), values[:, :, i]) for i, name in enumerate(names)}
    data = xr.Dataset(days, {"day": [4, 5, 6]})
    assert recorder.recorded_means(data, 6) == found
    assert recorder.recorded_means(data, 7) == {}


def test_groups_begin_with_their_own_units():
    groups = [
        {"name": "x", "count": 2},
        {"name": "y", "count": 3, "endowment": {"units": 7}},
        {"name": "z", "count": 1, "endowment": {"units": [1, 2, 3, 4, 5]}},
    ]
    found = WORKLOAD.parameters(economy(groups=groups, endowment={"units": 9}))
    assert found.endowment == ((9,) * 5, (7,) * 5, (1, 2, 3, 4, 5))
    assert found.group_of_agent == (0, 0, 1, 1, 1, 2)


def test_each_society_of_a_table_has_the_rows_of_its_groups():
    own = {"endowment": {"units": 4}, "transfer_share": 0.25, "trade_power": 3.0}
    config = economy(groups=[{"name": "x", "count": 2, **own}, {"name": "y", "count": 4}])
    taxed = {"policies.transfer.equal": [0.5, 0.25]}
    found = WORKLOAD.parameters_of_copies(ensemble(config, **taxed), 1)
    assert found["endowment_table"].reshape(2, 2, 5).tolist() == [[[4] * 5, [0] * 5]] * 2
    assert found["endowment_table"].dtype == np.int32
    assert found["transfer_share_table"].tolist() == [[0.25, 0.0]] * 2
    assert found["trade_power_table"].tolist() == [[3.0, 1.0]] * 2
    found = WORKLOAD.parameters_of_copies(ensemble(economy(), **taxed), 1)
    assert found["transfer_share_table"].tolist() == [[0.0]] * 2
    assert found["trade_power_table"].tolist() == [[1.0]] * 2
    assert "endowment_table" not in found
    found = WORKLOAD.parameters_of_copies(ensemble(economy(), day_length=[500.0, 600.0]), 1)
    assert "transfer_share_table" not in found
