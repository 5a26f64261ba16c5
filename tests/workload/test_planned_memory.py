"""Is the memory that `societies run --dry-run` tells what a run really allocates on the device?"""

import numpy as np
import pytest

from societies.config import config_from_dict
from societies.device import Device, choose_device
from societies.economy import engine as engines
from societies.economy import phases
from societies.economy.engine import DeviceEngine
from societies.economy.parameters import parameters
from societies.economy.run import plan
from societies.economy.schedule import day_schedule
from societies.economy.state import initial_state, sizes, state_fields
from societies.running import byte_count

GROUPS = [{"name": "one", "count": 2}, {"name": "other", "count": 3}]
SHOCKS = [{"day": 1, "remove": "resource", "index": 2}, {"day": 1, "remove": "agent", "index": 1}]
CASES = {
    "plain": {"agents": 6, "resources": 9},
    "one agent": {"agents": 1, "resources": 3, "replicates": 2},
    "groups and shocks": {"agents": 5, "resources": 7, "groups": GROUPS, "shocks": SHOCKS},
    "devices of groups": {
        **{"agents": 5, "resources": 30, "devices": "all", "groups": GROUPS, "replicates": 3}
    },
    "rows and scores in global memory": {
        **{"agents": 3, "resources": 300, "devices": "tools"},
        "trading": {"menu_size": 40},
    },
}


@pytest.fixture
def allocated(monkeypatch):
    """Return the list to which the size of every array on a device is added."""
    sizes_of: list[int] = []
    allocate = Device.allocate

    def counted(self, nbytes):
        sizes_of.append(nbytes)
        return allocate(self, nbytes)

    monkeypatch.setattr(Device, "allocate", counted)
    return sizes_of


def config(**settings):
    return config_from_dict({"workload": "economy", "days": 3, **settings})


def state_bytes(p):
    lengths = sizes(p)
    return sum(
        int(np.prod(field.shape(lengths))) * np.dtype(field.dtype).itemsize
        for field in state_fields(p).values()
    )


@pytest.mark.parametrize("name", CASES)
def test_the_plan_counts_what_is_allocated(name, allocated):
    asked = config(**CASES[name])
    p = parameters(asked)
    DeviceEngine(choose_device("auto"), p)
    assert sum(allocated) == state_bytes(p) + phases.working_bytes(p)
    told = dict(plan(asked).rows)
    assert told["memory on the device"] == byte_count(sum(allocated))


def test_many_inventors_need_global_memory(allocated, monkeypatch):
    """Above 4096 agents their order does not fit local memory; the plan had left it out.

    Arrays are counted at their full size and allocated with one element: memories of partners
    alone would take gigabytes.
    """
    p = parameters(config(agents=4098, resources=2, devices="tools", replicates=2))
    expected = state_bytes(p) + phases.working_bytes(p)
    counted = []

    def small(self, shape, dtype=np.float64):
        counted.append(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        return Device.empty(self, 1, dtype)

    def unfilled(p):
        lengths = sizes(p)
        return {
            name: np.broadcast_to(np.zeros((), field.dtype), field.shape(lengths))
            for name, field in state_fields(p).items()
        }

    monkeypatch.setattr(Device, "zeros", small)
    monkeypatch.setattr(Device, "array", lambda self, a: small(self, a.shape, a.dtype))
    monkeypatch.setattr(engines, "initial_state", unfilled)
    DeviceEngine(choose_device("auto"), p)
    assert sum(counted) == expected
    assert sum(allocated) < 1000
    orders = 2 * 4098 * 4
    assert orders in counted and phases.working_bytes(p) > orders


@pytest.mark.parametrize("name", ["one agent", "groups and shocks"])
def test_the_plan_counts_what_is_launched(name):
    asked = config(**CASES[name])
    p = parameters(asked)
    engine = DeviceEngine(choose_device("auto"), p)
    engine.start()
    before = engine.device.counters.launches
    for step in day_schedule(p, 1):
        engine.step(step, 1)
    assert engine.device.counters.launches - before == phases.launches_per_day(p)
    assert dict(plan(asked).rows)["launches per day"] == str(phases.launches_per_day(p))


def test_unfilled_arrays_are_those_of_the_start():
    p = parameters(config(**CASES["devices of groups"]))
    assert state_bytes(p) == sum(array.nbytes for array in initial_state(p).values())
