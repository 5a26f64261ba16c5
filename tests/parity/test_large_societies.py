"""Do device and reference agree where a society has more agents than a block or a workgroup?

The phases whose kernels do something else in a large society are run from states that are made up:
whole days of the reference would take too long.
"""

import numpy as np
import pytest
from engines import DeviceEngine, ReferenceEngine
from gpu_form import form
from marks import thorough_but

from societies import config_from_dict
from societies.economy import source
from societies.economy.parameters import parameters
from societies.economy.schedule import DayStep
from societies.opencl import choose_device

AGENTS, RESOURCES, ROUNDS, MEMORY = 1100, 3, 3, 2
PHASES = ("open_device_market", "device_matching", "agent_statistics", "society_statistics")
SETTINGS = {
    "workload": "economy",
    "agents": AGENTS,
    "resources": RESOURCES,
    "days": 9,
    "devices": "tools",
    "device": {"resources_in_tool": 2, "components": 2},
    "trading": {"rounds": 1, "menu_size": 2},
    "devices_market": {"rounds": ROUNDS, "memory": MEMORY},
}


@pytest.fixture(scope="module")
def reference():
    one = ReferenceEngine(parameters(config_from_dict(SETTINGS)))
    one.start()
    return one


def engine(on_cpu, phases):
    original = source.macros
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "macros", lambda p: {**original(p), **form(on_cpu)})
        p = parameters(config_from_dict(SETTINGS))
        return DeviceEngine(choose_device("auto"), p, 64, phases)


def made_up(state):
    """Return a state in which agents remember partners, hold something and some are gone."""
    rng = np.random.default_rng(5)
    state = {name: array.copy() for name, array in state.items()}
    partners, memory = state["remembered_partner"][0], state["partner_memory"][0]
    for agent in range(AGENTS):
        others = np.delete(np.arange(AGENTS), agent)
        count = rng.integers(0, ROUNDS * MEMORY + 1)
        partners[agent, 0, :count] = rng.choice(others, count, replace=False)
        memory[agent, 0, :count] = rng.integers(0, 3, (count, MEMORY))
        memory[agent, 0, :count, 0] += memory[agent, 0, :count].sum(axis=1) == 0
    state["device_experience"][0, 7, 0, 1] = 2.0
    state["held"][...] = rng.integers(0, 5, state["held"].shape)
    for name in ("utility", "utility_1", "utility_total"):
        state[name][...] = rng.integers(0, 300, state[name].shape) * 0.1  # many are equal
    state["alive"][0, rng.choice(AGENTS, 40, replace=False)] = 0
    for name in ("utility", "utility_1", "utility_total"):
        state[name][state["alive"] == 0] = 0.0
    return state


@pytest.mark.ci
@pytest.mark.parametrize("on_cpu", thorough_but([0], [0, 1]))
def test_phases_are_the_references(reference, on_cpu):
    device = engine(on_cpu, PHASES)
    state, pairs = made_up(reference.initial() | reference.state()), []
    for one in (reference, device):
        one.put(state)
    for step in (
        DayStep("open_device_market", device_type=0),
        *(DayStep("device_matching", i, 0) for i in range(ROUNDS)),
        DayStep("agent_statistics"),
        DayStep("society_statistics"),
    ):
        reference.step(step, 5)
        device.step(step, 5)
        found = device.state()
        for name, array in reference.state().items():
            assert found[name].tobytes() == array.tobytes(), (str(step), name)
        if step.phase == "device_matching":
            pairs.append(found["device_partners"][0].reshape(-1, 2))
    meetings = {tuple(sorted(pair)) for round_ in pairs for pair in round_.tolist()}
    assert len(meetings) == ROUNDS * AGENTS // 2  # there are always others: no pair meets twice
    remembered = state["remembered_partner"][0, :, 0]
    liked = [b in remembered[a] for a, b in pairs[0].tolist()]
    assert 0.3 < np.mean(liked) < 1.0  # both ways of choosing were gone
