"""Does the file of an economy with devices say what happened, and can the run be continued?"""

import numpy as np
import pytest

import societies
from societies.config import config_from_dict
from societies.economy import schedule
from societies.economy.engine import ReferenceEngine
from societies.economy.parameters import parameters
from societies.economy.results import inventions
from societies.economy.run import plan, run
from societies.economy.state import DEVICE_TYPES, series_of
from societies.errors import Interrupted

DAYS = 16
SETTINGS = {
    "workload": "economy",
    "agents": 4,
    "resources": 6,
    "days": DAYS,
    "seed": 2,
    "devices": "all",
    "devices_market": {"rounds": 2},
    "trading": {"rounds": 2},
    "device": {"resources_in_tool": 2, "components": 2},
    "invention": {"tool_probability": 0.003, "device_probability": 0.02},
    "record": {"checkpoint": 4},
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
    names = list(series_of(parameters(configuration())))
    with societies.open_results(path) as dataset:
        assert dataset.attrs["scenario"] == "trade, all devices"
        assert list(dataset["device_type"].values) == list(DEVICE_TYPES)

        def same(found, name):
            np.testing.assert_array_equal(found.values[0], days[0][:, names.index(name)])

        for name in DEVICE_TYPES:
            for variable in ("devices_made", "devices_traded", "devices_known", "inventions"):
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


def test_inventions_are_events(days):
    rows, states = days
    names = list(series_of(parameters(configuration())))
    total = 0
    for day in range(1, DAYS + 1):
        events = inventions(states[day - 1], day, day)
        for t, name in enumerate(DEVICE_TYPES):
            count = sum(event.device_type == name for event in events)
            assert count == rows[day - 1, names.index(f"inventions_{name}")]
            total += count
            for event in events:
                if event.device_type == name:
                    recipe = states[day - 1]["recipe"][0, t, event.resource]
                    assert list(event.recipe) == [k for k in recipe if k >= 0]
                    assert 0 <= event.inventor < 4
                    assert event.day == day
    assert total == len(inventions(states[-1], 1, DAYS))  # nothing was invented twice


def test_a_run_is_continued_where_it_was_stopped(tmp_path, monkeypatch):
    path, whole = tmp_path / "cut.h5", tmp_path / "whole.h5"
    expected = run(configuration(), device="reference", out=whole).state_sha256
    original = ReferenceEngine.run_days

    def stopped(self, first, last):
        if first > 6:
            raise KeyboardInterrupt
        return original(self, first, last)

    monkeypatch.setattr(ReferenceEngine, "run_days", stopped)
    with pytest.raises(Interrupted):
        run(configuration(), device="reference", out=path)
    monkeypatch.undo()
    report = run(configuration(), device="reference", out=path, resume=True)
    assert report.first_day > 1
    assert report.state_sha256 == expected


def test_the_plan_counts_the_arrays_of_devices():
    def memory(devices):
        rows = dict(plan(configuration(devices=devices), device="reference").rows)
        return float(rows["memory on the device"].split()[0])

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
