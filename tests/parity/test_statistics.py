"""Do device and reference count a day with devices, or of groups, alike to the last bit?

Days are run by the reference; its state before the statistics is put onto the device.
"""

import functools

import numpy as np
import pytest
from engines import DeviceEngine, ReferenceEngine
from marks import in_turn, thorough_but

from reference_py.economy.devices import DEVICE_TYPES
from societies import config_from_dict
from societies.economy import series
from societies.economy.parameters import parameters
from societies.economy.schedule import day_schedule
from societies.economy.series import columns_of
from societies.opencl import choose_device

SETTINGS = {
    "workload": "economy",
    "seed": 3,
    "devices": "all",
    "devices_market": {"rounds": 2},
    "trading": {"rounds": 2, "menu_size": 2},
    "device": {"resources_in_tool": 2, "components": 2},
    "invention": {"tool_probability": 0.003, "device_probability": 0.02},
}
GROUPS = [
    {"name": "able", "count": 2, "device": {"max_effort": 20.0}},
    {"name": "strong", "count": 1, "device_trade_power": 2.5},
    {"name": "plain", "count": 3},
]
SHOCKS = [
    {"day": 7, "remove": "agent", "index": 2},  # the only strong one
    {"day": 9, "remove": "resource", "index": 1, "holdings": "lose"},
]
CASES = {
    "5x7": {"agents": 5, "resources": 7, "replicates": 2},
    "groups and shocks": {
        "agents": 6,
        "resources": 6,
        "replicates": 2,
        "groups": GROUPS,
        "shocks": SHOCKS,
    },
    "70 resources": {"agents": 3, "resources": 70},
    "one agent": {"agents": 1, "resources": 6},
    "groups without devices": {
        "agents": 6,
        "resources": 6,
        "devices": "none",
        "groups": [{key: g[key] for key in ("name", "count")} for g in GROUPS],
        "shocks": SHOCKS,
    },
}
DAYS, PHASES = 15, ("agent_statistics", "society_statistics")


@functools.cache
def evenings(name):
    """Return parameters, the state before and after the statistics of each day, and all series."""
    p = parameters(config_from_dict({**SETTINGS, "days": DAYS, **CASES[name]}))
    reference = ReferenceEngine(p)
    reference.start()
    found = []
    for day in range(1, DAYS + 1):
        for step in day_schedule(p, day):
            before = reference.state() if step.phase == PHASES[0] else None
            reference.step(step, day)
            if before:
                found.append([before])
            elif step.phase == PHASES[1]:
                found[-1].append(reference.state())
    return p, found


IN_WORKGROUPS = [(name, None) for name in CASES]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "workgroup"),
    thorough_but(IN_WORKGROUPS, [*IN_WORKGROUPS, *in_turn([*CASES], [1, 7], 1)], 2),
)
def test_statistics(name, workgroup):
    p, days = evenings(name)
    compare(DeviceEngine(choose_device("auto"), p, workgroup, PHASES), days)


def compare(device, days):
    p = device.parameters
    steps = [step for step in day_schedule(p, 1) if step.phase in PHASES]
    for day, (before, after) in enumerate(days, start=1):
        for field, array in before.items():
            device._state[field].set(array)
        for step in steps:
            device.step(step, day)
        for field, array in device.state().items():
            assert array.tobytes() == after[field].tobytes(), (day, field)


@pytest.mark.ci
@pytest.mark.parametrize("name", thorough_but(["groups and shocks"], ["5x7", "groups and shocks"]))
def test_series_may_stand_in_any_order(name, monkeypatch):
    """Kernels find each series by its name, also those of all types, sources or groups."""
    before = columns_of(evenings(name)[0])
    for table in ("SERIES", "DEVICE_SERIES", "GROUP_SERIES", "GROUP_DEVICE_SERIES"):
        monkeypatch.setattr(series, table, shuffled(getattr(series, table)))
    p, days = evenings.__wrapped__(name)
    assert columns_of(p) != before
    compare(DeviceEngine(choose_device("auto"), p, None, PHASES), days)


def shuffled(table):
    names = np.random.default_rng(1).permutation(list(table))
    return {str(name): table[name] for name in names}


@pytest.mark.thorough
def test_events_and_knowledge_of_whole_days():
    """What the device logs over several days is what the reference lists, block after block."""
    inventive = {
        "device": {"resources_in_tool": 4, "components": 3},
        "invention": {"tool_probability": 0.0005, "device_probability": 0.01},
    }
    settings = {"workload": "economy", "agents": 6, "resources": 9, "devices": "all", **inventive}
    p = parameters(config_from_dict({**settings, "days": 14, "seed": 7, "replicates": 2}))
    device, reference = DeviceEngine(choose_device("auto"), p), ReferenceEngine(p)
    for engine in (device, reference):
        engine.start()
    found = 0
    for first, last in ((1, 4), (5, 13), (14, 14)):
        np.testing.assert_array_equal(device.run_days(first, last), reference.run_days(first, last))
        events = reference.events()["inventions"]
        np.testing.assert_array_equal(device.events()["inventions"], events)
        assert np.isin(events[:, 1], np.arange(first, last + 1)).all()
        knowing = reference.logs()["agents_knowing"]
        assert knowing.shape == (2, last - first + 1, len(DEVICE_TYPES), 9)
        np.testing.assert_array_equal(device.logs()["agents_knowing"], knowing)
        found += len(events)
    assert found > 10
