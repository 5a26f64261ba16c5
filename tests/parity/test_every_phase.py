"""Does every phase of every workload give the reference's bits, alone and among other copies?

Device and reference carry out the same steps side by side. After a difference the device is handed
the reference's state, so that the phase that is wrong fails, and none that comes after it.
"""

from functools import cache

import pytest
from rooms import is_excluded
from small import forms, names, small, tried

from societies.opencl import choose_device
from societies.workload.running.engines import FINISH, DeviceEngine, ReferenceEngine
from societies.workload.running.registry import workload

FORMS = [
    (name, form)
    for name in tried()
    for form in range(len(forms(name)))
    if not is_excluded(f"{name}, form {form}")
]

ALONE = ("kalah", "laplace", "molecular_dynamics")
"""Workloads whose phases are compared with one copy, too. Most golden runs have no more."""


def configured(name, form):
    return small(name, **forms(name)[form])


def runs(name, form):
    """Return the mark of a form after the first: the second ones, and the economy's, run in CI."""
    return "ci" if form == 1 or name == "economy" else "thorough"


def cases():
    """Yield a workload, which of its forms, a phase of that and how many copies there are.

    Every form is compared with several copies, the first one of some also alone. The default has
    the first form, CI also the second, and the thorough tests the others, and those alone.
    """
    for name, form in FORMS:
        config = configured(name, form)
        share_a_run = pytest.mark.xdist_group(f"phases of {name}, form {form}")
        for phase in workload(name).phases(workload(name).parameters(config), 1):
            one = f"{name}-{phase}" + f"-form{form}" * (form > 0)
            if form > 0:
                marks = [share_a_run, getattr(pytest.mark, runs(name, form))]
                yield pytest.param(name, form, phase, 5, id=f"{one}-5", marks=marks)
            else:
                yield pytest.param(name, form, phase, 3, id=f"{one}-3", marks=share_a_run)
            if form == 0 and name in ALONE:
                marks = (share_a_run, pytest.mark.thorough)
                yield pytest.param(name, form, phase, 1, id=f"{one}-1", marks=marks)


@cache
def compared(name, form, copies):
    """Return for each phase how often it ran and changed something, and its first difference."""
    chosen, config = workload(name), configured(name, form)
    p, first = chosen.parameters(config), chosen.first(config)
    device = DeviceEngine(chosen, p, choose_device("auto"), first=first, copies=copies)
    reference = ReferenceEngine(chosen, p, first=first, copies=copies)
    watched = [array for array, field in device.fields.items() if field.compared]
    ran, acted, wrong = {}, {}, {}
    before = reference.initial()

    def carry_out(steps, tick):
        nonlocal before
        for step in steps:
            device.step(step, tick)
            reference.step(step, tick)
            found, expected = device.state(), reference.state()
            here = [one for one in watched if found[one].tobytes() != expected[one].tobytes()]
            changed = any(before[one].tobytes() != expected[one].tobytes() for one in expected)
            ran[step.phase] = ran.get(step.phase, 0) + 1
            acted[step.phase] = acted.get(step.phase, 0) + changed
            if here:
                wrong.setdefault(step.phase, f"tick {tick}, {step}: {', '.join(here)}")
                device.put(expected)
            before = expected

    for tick in range(chosen.ticks(config) + 1):
        carry_out(reference.steps(tick), tick)
        assert device.ended() == reference.ended()
        if reference.ended() is not None:
            break
    carry_out(chosen.finish(p), FINISH)
    return ran, acted, wrong


@pytest.mark.parametrize(("name", "form", "phase", "copies"), list(cases()))
def test_a_phase_is_the_references(name, form, phase, copies):
    ran, acted, wrong = compared(name, form, copies)
    assert phase not in wrong, wrong[phase]
    assert ran.get(phase, 0), f"tests/small.py: no step of {name} is {phase}"
    assert acted[phase], f"tests/small.py: {phase} changes nothing in {name}"


@pytest.mark.parametrize("name", names())
def test_a_copy_alone_is_as_it_is_among_others(name):
    """What phases hand to each other may be that of a step that only other copies needed."""
    chosen, config = workload(name), small(name)
    p, first = chosen.parameters(config), chosen.first(config)
    together, alone = (
        ReferenceEngine(chosen, p, first=number, copies=copies)
        for number, copies in ((first, 3), (first + 2, 1))
    )
    for engine in (together, alone):
        engine.start()
        engine.run_ticks(1, 5)
    expected = alone.state()
    for array, values in together.state().items():
        if together.fields[array].checkpointed or together.fields[array].logged:
            assert values[2:].tobytes() == expected[array].tobytes(), array
