"""Is a device let go with the run that used it, or do its memory and contexts pile up?"""

import gc
import weakref

import pytest

import societies
from societies.opencl import device as devices
from societies.opencl.device import Device
from societies.paths import shipped_configurations
from societies.workload.registry import workload
from societies.workload.run import engine_of

QUICKSTARTS = [name for name in shipped_configurations() if name.endswith("/quickstart")]


@pytest.fixture
def opened(monkeypatch):
    """Devices of which a context was opened, as long as somebody needs them."""
    found = weakref.WeakSet()
    opening = Device.context.func

    def context(device):
        found.add(device)
        return opening(device)

    noted = type(Device.context)(context)
    noted.__set_name__(Device, "context")
    monkeypatch.setattr(Device, "context", noted)
    gc.collect()
    gc.disable()  # what is freed below is freed since nobody refers to it
    yield found
    gc.enable()


def test_a_run_leaves_no_device(opened, tmp_path):
    config = {"workload": "economy", "agents": 6, "resources": 5, "days": 3}
    societies.run(societies.config_from_dict(config), out=tmp_path / "run.h5")
    assert not opened


@pytest.mark.parametrize("name", QUICKSTARTS)
def test_an_engine_leaves_no_device(opened, name):
    config = societies.load_config(name)
    engine, _, _ = engine_of(workload(config.workload), config, "auto")
    engine.start()
    assert len(opened) == 1
    del engine
    assert not opened


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
