"""Is the memory that `societies run --dry-run` tells what a run really allocates on the device?"""

from types import SimpleNamespace

import numpy as np
import pytest
from engines import DeviceEngine
from marks import thorough_but

from societies import config_from_dict, load_config, plan
from societies.economy.parameters import parameters
from societies.economy.workload import WORKLOAD
from societies.opencl import Device, choose_device
from societies.workload import Setup
from societies.workload.running import batches, engines
from societies.workload.running.batches import Room
from societies.workload.running.launches import scratch_memory
from societies.workload.running.plan import state_bytes
from societies.workload.running.points import with_table
from societies.workload.running.registry import workload
from societies.workload.running.state import initial_state
from societies.workload.running.sufficiency import byte_count

GROUPS = [{"name": "one", "count": 2}, {"name": "other", "count": 3}]
SHOCKS = [{"day": 1, "remove": "resource", "index": 2}, {"day": 1, "remove": "agent", "index": 1}]
CASES = {
    "plain": {"agents": 6, "resources": 9, "days": 40},
    "one agent": {"agents": 1, "resources": 2, "days": 15, "replicates": 2},
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


LONG = ("rows and scores in global memory", "devices of groups")


@pytest.mark.ci
@pytest.mark.parametrize("name", thorough_but(CASES.keys() - set(LONG), CASES))
def test_the_plan_counts_what_is_allocated(name, allocated):
    asked = config(**CASES[name])
    device = choose_device("auto")
    DeviceEngine(device, parameters(asked))
    setup = Setup(WORKLOAD, asked)
    assert sum(allocated) == Room(setup, device).nbytes(setup.copies)
    reported = dict(plan(asked).rows)
    assert reported["memory on the device"] == byte_count(sum(allocated))


@pytest.mark.ci
def test_values_that_differ_from_copy_to_copy_are_counted(allocated):
    asked = config(agents=6, resources=9, replicates=3)
    table = {"trading.min_surplus": np.array([0.1, 0.2, 0.3])}
    setup, device = Setup(WORKLOAD, with_table(asked, table)), choose_device("auto")
    DeviceEngine(device, setup.p)
    assert sum(allocated) == Room(setup, device).nbytes(3)


@pytest.mark.ci
def test_many_inventors_need_global_memory(allocated, monkeypatch):
    """Above 4096 agents their order does not fit local memory; the plan had left it out.

    Arrays are counted at their full size and allocated with one element: memories of partners
    alone would take gigabytes.
    """
    asked = config(agents=4098, resources=2, devices="tools", replicates=2)
    p, counted = parameters(asked), []
    expected = Room(Setup(WORKLOAD, asked), choose_device("auto")).nbytes(2)

    empty = Device.empty

    def small(self, shape, dtype=np.float64):
        counted.append(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        found = empty(self, 1, dtype)
        found.shape = shape if isinstance(shape, tuple) else (shape,)  # logs have that of the state
        return found

    def unfilled(fields, p, copies, place):
        return {name: np.zeros((), field.dtype) for name, field in fields.items()}

    monkeypatch.setattr(Device, "zeros", small)
    monkeypatch.setattr(Device, "empty", small)
    monkeypatch.setattr(Device, "array", lambda self, a: small(self, a.shape, a.dtype))
    monkeypatch.setattr(engines, "initial_values", unfilled)
    DeviceEngine(choose_device("auto"), p)
    assert sum(counted) == expected
    assert sum(allocated) < 1000
    orders = 2 * 4098 * 4
    assert orders in counted


@pytest.mark.ci
@pytest.mark.parametrize("name", ["one agent", "groups and shocks"])
def test_the_plan_counts_what_is_launched(name):
    asked = config(**CASES[name])
    p = parameters(asked)
    engine = DeviceEngine(choose_device("auto"), p)
    engine.start()
    launches = []
    for day in (1, asked.days):
        before = engine.device.counters.launches
        engine.run_ticks(day, day)  # steps that are launched alone need more
        launches.append(engine.device.counters.launches - before)
    first, last = launches
    expected = str(first) if first == last else f"{first} in day 1, {last} in day {asked.days}"
    assert dict(plan(asked).rows)["launches per day"] == expected


def test_unfilled_arrays_are_those_of_the_start():
    setup = Setup(WORKLOAD, config(**CASES["devices of groups"]))
    arrays = initial_state(setup.fields, setup.sizes, setup.copies, setup.p).values()
    assert state_bytes(setup) == sum(array.nbytes for array in arrays)


@pytest.mark.ci
def test_more_ticks_than_can_be_logged():
    found = workload("laplace")
    config = load_config("physics/laplace/quickstart")
    engine = engines.DeviceEngine(found, found.parameters(config), choose_device("auto"))
    engine.start()
    most = engines.LOG_TICKS
    with pytest.raises(ValueError, match=f"{most + 1} ticks at once; {most} can be logged"):
        engine.run_ticks(1, most + 1)


@pytest.mark.parametrize("settings", [{"trade": False}, {}, {"devices": "all"}])
def test_forms_of_a_gpu_for_many_copies_are_counted(settings, monkeypatch):
    """Few copies have another form of extraction, which needs less memory."""
    setup = Setup(WORKLOAD, config(agents=6, resources=9, replicates=2000, **settings))
    gpu = SimpleNamespace(kind="gpu", compute_units=2, global_memory=2**36, max_alloc=2**34)
    counted = Room(setup, gpu).nbytes(2000)
    table = {name: one.on(False, 2, False) for name, one in WORKLOAD.phases(setup.p, 2000).items()}
    allocated = sum(one.nbytes for one in scratch_memory(table).values())
    monkeypatch.setattr(batches, "scratch_memory", lambda phases: {})
    assert allocated <= counted - Room(setup, gpu).nbytes(2000) <= 1.02 * allocated + 2**16
