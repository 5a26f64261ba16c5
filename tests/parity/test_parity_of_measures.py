"""Do the kernels measure societies of which agents were removed, and which know every device?

States are drawn at random, so that experience lies where the curves are steep, and every type of
device is owned. The reference's own measures: tests/reference/test_measures_rules.py.
"""

import numpy as np
import pytest
from small import forms, small

from reference_py.economy.devices import TOOL, TYPES
from societies.opencl import choose_device
from societies.workload.running.engines import DeviceEngine, ReferenceEngine
from societies.workload.running.registry import workload

pytestmark = pytest.mark.xdist_group("phases of economy, form 1")  # its kernels

MEASURING = ("measure_extraction", "agent_measures", "society_measures")
COPIES = 5
REMOVED = [(), (0,), (4,), (1, 3), (0, 1, 2, 3)]
"""Of the five agents of each society."""


def drawn(p, state):
    """Return the state of societies on an evening, drawn again."""
    random, found = np.random.default_rng(8), {name: array.copy() for name, array in state.items()}
    reals = ("gain_per_minute", "utility", "income_swaps", "income_sales", "spending_devices")
    for name in reals:
        found[name][:] = random.uniform(1.0, 900.0, found[name].shape)
    found["held"][:] = random.integers(0, 9, found["held"].shape)
    found["extracted"][:] = random.integers(0, found["held"] + 1)
    found["units_held"][:] = found["held"].sum(-1) + random.integers(0, 9, (COPIES, p.agents))
    lifetimes = np.array(p.device_lifetime)[:, None]
    owned = random.random(found["device_minutes"].shape) < 0.7
    found["device_minutes"][:] = owned * lifetimes * random.random(owned.shape)
    found["device_experience"][:] = random.uniform(8.0, 30.0, owned.shape)
    found["recipe"][:] = -1
    for place in np.ndindex(COPIES, TYPES, p.resources):
        slots = p.resources_in_tool if place[1] == TOOL else p.components
        count = random.integers(0, slots + 1)  # 0: not invented yet
        parts = np.sort(random.choice(p.resources, count, replace=False))
        found["recipe"][place][:count] = parts
    for copy, removed in enumerate(REMOVED):
        for name, field in workload("economy").arrays(p).items():
            if field.dims[:1] == ("agent",):
                found[name][copy, list(removed)] = 0
    return found


@pytest.mark.ci
def test_measures_of_any_evening_are_the_references():
    chosen, config = workload("economy"), small("economy", **forms("economy")[1])
    p = chosen.parameters(config)
    device = DeviceEngine(chosen, p, choose_device("auto"), copies=COPIES)
    reference = ReferenceEngine(chosen, p, copies=COPIES)
    state = drawn(p, reference.initial())
    device.put(state)
    reference.put(state)
    ran = []
    for step in reference.steps(3):
        if step.phase not in MEASURING:
            continue
        device.step(step, 3)
        reference.step(step, 3)
        found, expected = device.state(), reference.state()
        for name, array in expected.items():
            assert found[name].tobytes() == array.tobytes(), (step.phase, name)
        ran.append(step.phase)
    assert tuple(ran) == MEASURING
    assert expected["alive"].sum(-1).tolist() == [5, 4, 4, 3, 1]
    assert len({*expected["minute_value"].ravel()}) == COPIES
    assert (expected["wealth_devices"] > 0.0).sum() >= 15
