"""Is every logged field what it was after each tick, though only what was written is copied?"""

import numpy as np
import pytest

from societies.opencl import choose_device
from societies.physics.laplace import WORKLOAD, LaplaceConfig
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, ReferenceEngine

BLOCKS = (1, 1, 3, LOG_TICKS, LOG_TICKS, 7, 40, LOG_TICKS, 2)


@pytest.fixture(scope="module")
def device():
    return choose_device("auto")


@pytest.mark.sample
@pytest.mark.parametrize("variant", ["deep", "rows"])
@pytest.mark.parametrize("every", [1, 5, 90])
def test_every_tick_has_the_value_of_the_last_write(device, variant, every):
    config = LaplaceConfig(
        side=9, steps=sum(BLOCKS), variant=variant, check_every=every, record={"series": every}
    )
    p = WORKLOAD.parameters(config)
    device_engine, reference = DeviceEngine(WORKLOAD, p, device), ReferenceEngine(WORKLOAD, p)
    engines = device_engine, reference
    for engine in engines:
        engine.start()
    tick = 0
    for number, length in enumerate(BLOCKS):
        got, wanted = [], []
        for engine, found in zip(engines, (got, wanted), strict=True):
            engine.run_ticks(tick + 1, tick + length)
            found.append(engine.logs()["change"])
        assert got[0].tobytes() == wanted[0].tobytes(), number
        assert got[0].shape == (1, length)
        tick += length
        if number == 4:  # what the host sets is no longer what was copied
            state = {"change": np.array([0.25], np.float32)}
            for engine in engines:
                engine.put(state)
    assert device_engine.hash() == reference.hash()


def test_what_is_not_written_is_not_copied(device, monkeypatch):
    config = LaplaceConfig(side=9, steps=1000, check_every=100, record={"series": 100})
    engine = DeviceEngine(WORKLOAD, WORKLOAD.parameters(config), device)
    engine.start()
    copied, real = [], device.api.enqueue_copy

    def enqueue_copy(queue, to, source, **more):
        copied.append(more)
        return real(queue, to, source, **more)

    monkeypatch.setattr(device.api, "enqueue_copy", enqueue_copy)
    for first in range(1, 401, 50):
        engine.run_ticks(first, first + 49)
    assert len(copied) == 1 + 4  # at the start, and what four looks have found
