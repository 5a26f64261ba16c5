"""Does the file of an economy with devices say what happened, and can the run be continued?"""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from engines import ReferenceEngine

import societies
from reference_py.economy.devices import DEVICE_TYPES
from societies import config_from_dict, plan, run
from societies.economy import schedule
from societies.economy.parameters import parameters
from societies.economy.series import columns_of
from societies.errors import Interrupted
from societies.workload.running.engines import ReferenceEngine as CoreReference

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("device files")]  # its runs are shared

DAYS = 16
SETTINGS = {
    "workload": "economy",
    "agents": 4,
    "resources": 6,
    "days": DAYS,
    "seed": 2,
    "devices": "all",
    "devices_market": {"rounds": 2},
    "trading": {"rounds": 2, "menu_size": 2},
    "device": {"resources_in_tool": 2, "components": 2},
    "invention": {"tool_probability": 0.003, "device_probability": 0.02},
    "record": {"checkpoint": 4},
}
DETAILED = {
    "replicates": 2,
    "first_society": 3,
    "record": {"checkpoint": 4, "agent": 1, "agent_resource": 1},
    "groups": [
        {"name": "makers", "count": 2, "device": {"max_effort": 20.0}},
        {"name": "others", "count": 2, "device_trade_power": 1.5},
    ],
}


def configuration(**more):
    return config_from_dict({**SETTINGS, **more})


@pytest.fixture(scope="module")
def days():
    """Return the reference's series (day, series), and its state after every day."""
    engine = ReferenceEngine(parameters(configuration()))
    engine.start()
    rows, states = [], []
    for day in range(1, DAYS + 1):
        rows.append(engine.run_days(day, day)[0, 0])
        states.append(engine.state())
    return np.array(rows), states


def test_the_series_are_in_the_file_by_their_dimensions(tmp_path, days):
    path = tmp_path / "devices.h5"
    run(configuration(), device="reference", out=path)
    names = columns_of(parameters(configuration()))
    with societies.open_results(path) as dataset:
        assert dataset.attrs["scenario"] == "trade, all devices"
        assert list(dataset["device_type"].values) == list(DEVICE_TYPES)

        def same(found, name):
            np.testing.assert_array_equal(found.values[0], days[0][:, names.index(name)])

        for name in DEVICE_TYPES:
            for variable in (
                *("devices_made", "devices_traded", "devices_held", "devices_known"),
                "inventions",
            ):
                same(dataset[variable].sel(device_type=name), f"{variable}_{name}")
            same(dataset["minutes"].sel(activity=f"making_{name}"), f"minutes_making_{name}")
        for source in ("hand", *DEVICE_TYPES[:4]):
            same(dataset["extraction_share"].sel(source=source), f"extraction_share_{source}")
            same(dataset["minutes"].sel(activity=source), f"minutes_{source}")
        for made in ("tools", "machines"):
            share = dataset["device_maker_share"].sel(made_type=made)
            same(share, f"device_maker_share_{made}")
        for name in ("units_paid_for_devices", "interdependence", "overtime"):
            same(dataset[name], name)
        assert dataset["inventions"].sum() > 10
        assert dataset["interdependence"].max() > 1


@pytest.fixture(scope="module")
def detailed(tmp_path_factory):
    """Return the file of a run of two societies, in which everything is recorded every day."""
    path = tmp_path_factory.mktemp("detail") / "detail.h5"
    run(configuration(**DETAILED), device="reference", out=path)
    return path


def test_inventions_are_events(detailed):
    """They are those of the series, and make the last recipes."""
    with xr.open_dataset(detailed, group="events/inventions") as plain:
        events = plain.where(plain.day > 0, drop=True).astype(int).load()
    with (
        societies.open_results(detailed, events="inventions") as cut,
        xr.open_dataset(detailed) as series,
    ):
        assert cut.sizes["event"] == events.sizes["event"] > 30
        frame = cut.drop_dims("component").to_dataframe()
        assert frame.day.is_monotonic_increasing
        counts = np.zeros(series.inventions.shape)
        recipe = np.full(series.recipe.shape, np.nan)
        for i in range(events.sizes["event"]):
            one = {name: int(events[name][i]) for name in frame.columns}
            society = one["society"] - DETAILED["first_society"]
            counts[society, one["day"] - 1, one["device_type"]] += 1
            place = society, one["device_type"], one["resource"]
            recipe[place] = parts = np.where(events.recipe[i] < 0, np.nan, events.recipe[i])
            if series.invented_on[place] == one["day"]:
                assert series.inventor[place] == one["inventor"]
                np.testing.assert_array_equal(series.recipe[place], parts)
        np.testing.assert_array_equal(series.inventions, counts)
        np.testing.assert_array_equal(series.recipe, recipe)
        assert cut.device_type.attrs["flag_meanings"].split() == list(DEVICE_TYPES)


def means(series, detail):
    """Return every series that the detail tells, by its name, recomputed."""
    alive = series.agents_alive
    types = {"agent_devices_made": "devices_made", "agent_devices_sold": "devices_traded"}
    found = {name: detail[of].sum("agent") / alive for of, name in types.items()}
    extracted = detail.agent_extracted_with.sum("agent")
    share = extracted / extracted.sum("source")
    lifetime = xr.DataArray([150.0, 300, 600, 1200, 600, 600], dims="device_type")
    contained = xr.DataArray([0, 2, 4, 8, 16], dims="source")
    return found | {
        "units_extracted": detail.agent_units_extracted.sum("agent") / alive,
        "units_held": detail.agent_units_held.sum("agent") / alive,
        "units_traded": detail.agent_units_traded.sum("agent") / alive,
        "utility": detail.agent_utility.sum("agent") / alive,
        "utility_median": detail.agent_utility.median("agent"),
        "minutes": detail.agent_minutes.sum("agent") / alive,
        "overtime": detail.agent_overtime.sum("agent") / alive,
        "units_paid_for_devices": detail.agent_units_paid.sum("agent") / alive,
        "devices_held": detail.agent_device_minutes.sum("agent") / alive / lifetime,
        "extraction_share": share,
        "interdependence": (share * contained).sum("source"),
        "resources_extracted": (detail.extracted > 0).sum(("agent", "resource")) / alive,
        "devices_known": (detail.agents_knowing > 0).sum("resource"),
    }


def test_every_mean_follows_from_the_agents(detailed):
    with xr.open_dataset(detailed) as found:
        for name, expected in means(found, found).items():
            xr.testing.assert_allclose(found[name], expected.transpose(*found[name].dims))
        assert (found.devices_held.max(("society", "day")) > 0).sum() >= 4
        made = found.made.sum("resource").transpose(*found.agent_devices_made.dims)
        np.testing.assert_array_equal(made, found.agent_devices_made)
        by_agent = found.agent_extracted_with.sum("source")
        np.testing.assert_array_equal(by_agent, found.agent_units_extracted)
        np.testing.assert_array_equal(found.extracted.sum("resource"), by_agent)
        # Experience in the evening: what any agent knows has been counted.
        knowing = (found.device_experience > 0).sum("agent")
        np.testing.assert_array_equal(knowing, found.agents_knowing)


def test_groups_add_up_to_the_society(detailed):
    with xr.open_dataset(detailed) as found:
        assert list(found.group.values) == ["makers", "others"]
        assert list(found.agent_group.values) == [0, 0, 1, 1]
        living = found.group_agents_alive
        np.testing.assert_array_equal(living.sum("group"), found.agents_alive)
        for group, own in {
            "group_units_extracted": found.agent_units_extracted,
            "group_units_held": found.agent_units_held,
            "group_units_traded": found.agent_units_traded,
            "group_utility": found.agent_utility,
            "group_units_paid_for_devices": found.agent_units_paid,
            "group_devices_made": found.agent_devices_made,
        }.items():
            expected = own.groupby(found.agent_group).sum("agent").rename(agent_group="group")
            expected = expected.assign_coords(group=found.group) / living
            xr.testing.assert_allclose(found[group], expected.transpose(*found[group].dims))
        for outside, whole in (
            ("group_units_traded_outside", "group_units_traded"),
            ("group_units_paid_outside", "group_units_paid_for_devices"),
        ):
            assert (found[outside] <= found[whole]).all()
            assert 0 < found[outside].sum() < found[whole].sum()


def test_what_is_one_line_away_is_one_line_away(detailed):
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    rows = re.findall(r"^\|.*\| `run\..*$", page, re.MULTILINE)
    lines = [line for row in rows for line in re.findall(r"`(run\..*?)`", row)]
    assert len(lines) > 25
    with xr.open_dataset(detailed) as run:
        for line in lines:
            assert {"society", "day"} <= set(eval(line, {"run": run}).dims), line
        making = run.minutes.isel(activity=slice(5, None)).activity.values
        assert all(name.startswith("making") for name in making)


def test_in_groups_of_one_all_trade_is_outside(tmp_path):
    path = tmp_path / "alone.h5"
    groups = [{"name": str(i), "count": 1} for i in range(4)]
    run(configuration(groups=groups), device="reference", out=path)
    with xr.open_dataset(path) as found:
        for whole, outside in (
            ("group_units_traded", "group_units_traded_outside"),
            ("group_units_paid_for_devices", "group_units_paid_outside"),
        ):
            assert found[whole].sum() > 0
            np.testing.assert_array_equal(found[outside], found[whole])


@pytest.mark.parametrize("every", [0, 3])
def test_knowledge_is_counted_as_often_as_asked(tmp_path, detailed, every):
    path = tmp_path / "knowledge.h5"
    record = {"device": every, "society": 2, "checkpoint": 3}
    settings = {key: value for key, value in DETAILED.items() if key != "record"}
    run(configuration(**settings, record=record, days=8), device="reference", out=path)
    with societies.open_results(path) as found, xr.open_dataset(detailed) as whole:
        if every == 0:
            assert "agents_knowing" not in found
            return
        expected = whole.agents_knowing[:, every - 1 : 8 : every]
        assert list(found.device_day.values) == list(expected.day.values)
        np.testing.assert_array_equal(found.agents_knowing, expected)
        assert found.agents_knowing.dtype == np.uint8


def test_a_run_is_continued_where_it_was_stopped(tmp_path, monkeypatch):
    path, whole = tmp_path / "cut.h5", tmp_path / "whole.h5"
    expected = run(configuration(), device="reference", out=whole).state_sha256
    original = CoreReference.run_ticks

    def stopped(self, first, last):
        if first > 6:
            raise KeyboardInterrupt
        return original(self, first, last)

    monkeypatch.setattr(CoreReference, "run_ticks", stopped)
    with pytest.raises(Interrupted):
        run(configuration(), device="reference", out=path)
    monkeypatch.undo()
    report = run(configuration(), device="reference", out=path, resume=True)
    assert report.first_day > 1
    assert report.state_sha256 == expected


def test_the_data_of_a_continued_run_are_the_same(tmp_path, detailed, monkeypatch):
    path = tmp_path / "cut.h5"
    original = CoreReference.run_ticks

    def stopped(self, first, last):
        if first > 9:
            raise KeyboardInterrupt
        return original(self, first, last)

    monkeypatch.setattr(CoreReference, "run_ticks", stopped)
    with pytest.raises(Interrupted):
        run(configuration(**DETAILED), device="reference", out=path)
    monkeypatch.undo()
    run(configuration(**DETAILED), device="reference", out=path, resume=True)
    with h5py.File(path) as found, h5py.File(detailed) as whole:
        names = []
        whole.visit(names.append)
        datasets = [name for name in names if isinstance(whole[name], h5py.Dataset)]
        assert "events/inventions/recipe" in datasets
        for name in datasets:
            if not name.startswith(("checkpoint", "provenance")):
                same = found[name][()].tobytes() == whole[name][()].tobytes()
                assert same or whole[name].dtype == object, name


def test_without_devices_nothing_is_added(tmp_path):
    path = tmp_path / "plain.h5"
    run(configuration(devices="none", days=4), device="reference", out=path)
    with xr.open_dataset(path) as found, h5py.File(path) as file:
        assert set(found.dims) == {"society", "day", "quantile", "activity"}
        assert not [name for name in found if "device" in name or "group" in name]
        assert "events" not in file


def test_the_plan_counts_the_arrays_of_devices():
    def memory(devices):
        rows = dict(plan(configuration(devices=devices), device="reference").rows)
        return float(rows["memory of the state"].split()[0])

    assert memory("all") > 5 * memory("none")


def phases(**more):
    steps = schedule.day_schedule(parameters(configuration(**more)), 1)
    return [str(step) for step in steps]


MARKET = ["matching", "trading (round 0)", "trading (round 1)"]


def of_type(name):
    rounds = [
        f"{phase} ({name}, round {i})"
        for i in range(2)
        for phase in ("device_matching", "device_trading")
    ]
    return [f"open_device_market ({name})", *rounds, f"own_use ({name})", *MARKET]


EVENING = ["invention", "end_day", "agent_statistics", "society_statistics", "consumption"]


def test_a_day_with_devices_has_the_phases_of_the_model():
    order = ["industry", "factory", "device_factory", "machine", "device_machine", "tool"]
    types = [phase for name in order for phase in of_type(name)]
    morning = ["start_day", *MARKET, *types, "production", *MARKET]
    assert phases() == [*morning, "extraction", *MARKET, *EVENING]


def test_with_tools_only_the_market_opens_as_often():
    morning = ["start_day", *MARKET * 6, *of_type("tool"), "production", *MARKET]
    assert phases(devices="tools") == [*morning, "extraction", *MARKET, *EVENING]


def test_without_trade_there_is_own_use():
    own = [phase for phase in phases(trade=False) if phase.startswith("own_use")]
    assert len(own) == 6
    assert not [phase for phase in phases(trade=False) if "trading" in phase or "match" in phase]
