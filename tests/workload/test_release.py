"""Is a device released with the run that used it, or do its memory and contexts pile up?"""

import gc
import time
import weakref

import pytest

import societies
from societies.opencl import device as devices
from societies.opencl.debug import opencl
from societies.opencl.device import Device
from societies.paths import shipped_configurations
from societies.workload import Setup
from societies.workload.running.batches import engine_of
from societies.workload.running.registry import workload

PATIENCE = 20.0
QUICKSTARTS = [name for name in shipped_configurations() if name.endswith("/quickstart")]


class Opened:
    """Devices of which a context was opened, and these contexts, as long as they are needed."""

    def __init__(self):
        self.devices, self.contexts = weakref.WeakSet(), []

    def note(self, device, context):
        again = opencl().Context.from_int_ptr(context.int_ptr, retain=True)
        self.devices.add(device)
        self.contexts.append(again)

    @property
    def count(self):
        """How many are needed: devices, and contexts by OpenCL's own count of references."""
        needed = [one for one in self.contexts if one.reference_count > 1]
        return len(self.devices), len(needed)

    def none_is_left(self):
        """Return whether nothing is needed; PoCL's threads release a launch some time after it."""
        end = time.monotonic() + PATIENCE
        while self.count != (0, 0) and time.monotonic() < end:
            time.sleep(0.01)
        return self.count == (0, 0)


@pytest.fixture
def opened(monkeypatch):
    """Note what is opened, without the collector of cycles: nothing is to wait for that."""
    found = Opened()
    opening = Device.context.func

    def context(device):
        made = opening(device)
        found.note(device, made)
        return made

    noted = type(Device.context)(context)
    noted.__set_name__(Device, "context")
    monkeypatch.setattr(Device, "context", noted)
    gc.collect()
    gc.disable()
    yield found
    gc.enable()


@pytest.mark.ci
def test_a_run_leaves_no_device(opened, tmp_path):
    config = {"workload": "economy", "agents": 6, "resources": 5, "days": 60}
    societies.run(societies.config_from_dict(config), out=tmp_path / "run.h5")
    assert len(opened.contexts) == 1
    assert opened.none_is_left()


@pytest.mark.parametrize("name", QUICKSTARTS)
def test_an_engine_leaves_no_device(opened, name):
    config = societies.load_config(name)
    engine, _, _ = engine_of(Setup(workload(config.workload), config), "auto")
    engine.start()
    engine.wait()  # what is not done yet needs the context
    assert opened.count == (1, 1)
    del engine
    assert opened.none_is_left()


def test_contexts_in_cycles_make_room_for_another(monkeypatch):
    """A driver has room for one context only; the one that a cycle holds gives way."""

    class Full(Exception):
        pass

    class Context:
        pass

    class Driver:
        Error, alive = Full, weakref.WeakSet()

        def Context(self, _):
            if self.alive:
                raise Full
            context = Context()
            self.alive.add(context)
            return context

    driver = Driver()
    monkeypatch.setattr(devices, "opencl", lambda: driver)
    cycle = [devices._context(None)]
    cycle.append(cycle)
    with pytest.raises(Full):
        devices._context(None)
    del cycle
    assert len(driver.alive) == 1
    assert isinstance(devices._context(None), Context)
