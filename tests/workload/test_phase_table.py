"""Do launches, arguments and memory follow from the table of phases, as it says?"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from societies.errors import DeviceError
from societies.opencl import Program, choose_device
from societies.workload.declare.phases import (
    Joined,
    Launch,
    Phase,
    Scratch,
    Step,
    kernel_files,
    phase,
)
from societies.workload.running.bound import BoundPhases
from societies.workload.running.launches import launches_of, scratch_memory

FILE = str(Path(__file__).with_name("phase_cases.cl"))
LANES = 8


@pytest.fixture(scope="module")
def program():
    return Program(choose_device("auto"), FILE)


@pytest.fixture
def bound(program):
    """Return a function that binds a table, with arrays as they are at the start."""

    def make(table, on_cpu=False, tick="tick"):
        device = program.device
        arrays = {
            "notes": device.zeros((8, 4), np.int32),
            "next": device.zeros(1, np.uint32),
            "old": device.array(np.arange(4, dtype=np.int32)),
            "new": device.zeros(4, np.int32),
        }
        return BoundPhases(
            table,
            program,
            arrays=arrays,
            arguments={"lane_count": LANES, "table": np.array([7], np.int32)},
            changing=("factor",),
            work_items=LANES,
            on_cpu=on_cpu,
            tick=tick,
        ), arrays

    return make


def noted(arrays):
    return arrays["notes"].get()[: arrays["next"].get()[0]].tolist()


def test_a_kernel_is_handed_tick_and_arguments_of_the_step(bound):
    run, arrays = bound({"note": phase(FILE, 3)})
    run(Step("note", "twice", {"factor": 5}), 2)
    run(Step("note", "", {"factor": 6}), 4)
    assert noted(arrays) == [[2, 5, 7, 3], [4, 6, 7, 3]]
    assert str(Step("note", "twice", {"factor": 5})) == "note (twice)" and str(Step("a")) == "a"


def test_what_does_not_change_and_what_no_kernel_asks_for(bound):
    run, arrays = bound({"note": phase(FILE, 1, arguments={"factor": 9})})
    run(Step("note", "", {"factor": 5}), 3)  # the table says otherwise
    assert noted(arrays) == [[3, 9, 7, 1]]
    run, arrays = bound({"note": phase(FILE, 1)})
    run(Step("note", "", {"factor": 8, "other": 1}), 3)  # no kernel has a parameter `other`
    assert noted(arrays) == [[3, 8, 7, 1]]


def test_a_clock_of_another_name(bound):
    run, arrays = bound({"note": phase(FILE, 1, arguments={"tick": 0})}, tick="factor")
    run(Step("note"), 6)
    assert noted(arrays) == [[0, 6, 7, 1]]
    run, arrays = bound({"note": phase(FILE, 1)}, tick="factor")
    run(Step("note"), 6)  # a kernel may call it either
    assert noted(arrays) == [[6, 6, 7, 1]]


def test_a_kernel_is_launched_for_each_value_that_is_due(bound):
    table = {"note": phase(FILE, 2, each=("factor", lambda tick: range(tick)))}
    run, arrays = bound(table)
    for tick in (0, 2, 1):
        run(Step("note"), tick)
    assert noted(arrays) == [[2, 0, 7, 2], [2, 1, 7, 2], [1, 0, 7, 2]]
    assert [launches_of(table, [Step("note"), Step("note")], tick) for tick in (0, 3)] == [0, 6]


def test_the_step_says_how_many_groups(bound):
    table = {"note": phase(FILE, lambda step: 2 * step["most"] + step["tick"])}
    run, arrays = bound(table)
    run(Step("note", "", {"factor": 5, "most": 1}), 1)  # no kernel has a parameter `most`
    run(Step("note", "", {"factor": 6, "most": 3}), 2)
    assert noted(arrays) == [[1, 5, 7, 3], [2, 6, 7, 8]]
    run(Step("note", "", {"factor": 7, "most": 0}), 0)  # none are no launch
    assert len(noted(arrays)) == 2
    steps = [Step("note", "", {"most": most}) for most in (0, 1, 3)]
    assert launches_of(table, steps, 0) == 2


def test_no_groups_are_no_launch_and_global_sizes_are_rounded_up(bound):
    table = {
        "no group": phase(FILE, 0, kernel="note"),
        "note": phase(FILE, global_size=LANES + 1),
    }
    run, arrays = bound(table)
    before = run._program.device.counters.launches
    run(Step("no group"), 1)
    assert run._program.device.counters.launches == before
    run(Step("note"), 1)
    assert noted(arrays) == [[1, 0, 7, 2]]
    assert launches_of(table, [Step("no group"), Step("note")], 1) == 1


@pytest.mark.parametrize("on_cpu", [False, True])
def test_a_launch_for_some_devices_and_steps_that_are_joined_on_a_gpu(bound, on_cpu):
    whole = Launch(FILE, 5, "note")
    table = {
        "note": Phase(
            (Launch(FILE, 1, on_cpu=True), Launch(FILE, 2, on_cpu=False), Launch(FILE, 3)),
            joined=Joined(("second", "third"), whole),
        ),
        "second": phase(FILE, 6, kernel="note"),
        "third": phase(FILE, 7, kernel="note"),
    }
    alone = [1, 3] if on_cpu else [2, 3]
    kind = SimpleNamespace(kind="cpu" if on_cpu else "gpu", compute_units=1, orders_workgroups=True)
    for names, groups in (
        (("second", "note", "second", "third"), [6, *([*alone, 6, 7] if on_cpu else [5])]),
        (("note", "third", "note"), [*alone, 7, *alone]),  # others follow
    ):
        run, arrays = bound(table, on_cpu)
        steps = tuple(Step(name) for name in names)
        before = run._program.device.counters.launches
        run.all(steps, 2)
        assert [row[3] for row in noted(arrays)] == groups
        assert run._program.device.counters.launches - before == len(groups)
        assert launches_of(table, steps, 2, kind) == len(groups)
        assert "notes" in run.written
    run, arrays = bound(table, on_cpu)
    run(Step("note"), 1)  # a step that is looked at is carried out by itself
    assert [row[3] for row in noted(arrays)] == alone


@pytest.mark.parametrize("on_cpu", [False, True])
def test_phases_share_memory_swap_arrays_and_may_be_alone(bound, on_cpu):
    memory = Scratch((LANES,), "int32", shared="memory")
    table = {
        "fill": phase(FILE, 1, alone_on_cpu=True, scratch={"shared": memory}),
        "advance": Phase(
            (Launch(FILE, 1, items=4, scratch={"shared": memory}),), swaps=(("old", "new"),)
        ),
    }
    run, arrays = bound(table, on_cpu)
    for name in ("fill", "advance", "advance", "advance"):
        run(Step(name), 1)
    items = 1 if on_cpu else LANES
    assert arrays["old"].get().tolist() == [i + 3 * items for i in range(4)]
    assert run.memory["memory"].get().tolist() == [items] * items + [0] * (LANES - items)
    assert [one.nbytes for one in scratch_memory(table).values()] == [LANES * 4]
    assert kernel_files(table) == [FILE]


def test_only_cached_memory_is_cleared_when_the_state_is_replaced(bound):
    shared = {"shared": Scratch((LANES,), "int32", "cached", cached=True)}
    other = {"shared": Scratch((LANES,), "int32", "other")}
    table = {"fill": phase(FILE, 1, scratch=shared), "advance": phase(FILE, 1, scratch=other)}
    run, _ = bound(table)
    for memory in run.memory.values():
        memory.fill(3)
    run.forget()
    assert run.memory["cached"].get().tolist() == [0] * LANES
    assert run.memory["other"].get().tolist() == [3] * LANES


def test_scratch_memory_is_counted_as_it_is_allocated(bound, program, monkeypatch):
    table = {
        "fill": phase(FILE, 0, scratch={"shared": Scratch((0, 5), "int32")}),
        "advance": phase(FILE, 0, scratch={"shared": Scratch((3, 5), "int32")}),
    }
    allocated = []
    allocate = type(program.device).allocate
    bound({})
    monkeypatch.setattr(
        type(program.device), "allocate", lambda self, n: allocated.append(n) or allocate(self, n)
    )
    bound(table)
    assert sorted(allocated) == sorted([8 * 4 * 4, 4, 16, 16, 20, 60])  # the arrays, then scratch
    assert [one.nbytes for one in scratch_memory(table).values()] == [20, 60]


def test_what_is_shared_has_one_shape():
    table = {
        "fill": phase(FILE, 1, scratch={"shared": Scratch((3,), "int32", shared="memory")}),
        "advance": phase(FILE, 1, scratch={"shared": Scratch((4,), "int32", shared="memory")}),
    }
    with pytest.raises(ValueError, match=r"scratch memory memory: .*3.*4"):
        scratch_memory(table)


def test_a_parameter_that_no_one_gives(bound):
    with pytest.raises(DeviceError, match="kernel asks: its parameter nowhere has no value"):
        bound({"asks": phase(FILE, 1)})


def test_a_phase_on_the_host(bound):
    seen = []

    def host(arrays, tick, factor):
        seen.append((tick, factor, arrays["old"].get().sum()))

    run, _ = bound({"look": Phase(host=host)})
    run(Step("look", "", {"factor": 2}), 5)
    assert seen == [(5, 2, 6)]


def test_groups_that_a_word_on_the_device_counts(bound):
    table = {"fill": phase(FILE, "next", scratch={"shared": Scratch((64,), "int32", "memory")})}
    run, arrays = bound(table)
    for groups in (1, 3):
        arrays["next"].set(np.array([groups], np.uint32))
        run(Step("fill"), 1)
        assert (run.memory["memory"].get() > 0).sum() == groups * LANES
