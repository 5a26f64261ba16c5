"""Have workgroups of any size the results of Python?

In the form for GPUs, on the device under test.
"""

from typing import Literal

import numpy as np
import pytest
from gpu_form import form

from societies.model import Bounded, DailyConfig, Events, Field, Model, Rng, Series
from societies.opencl import choose_device
from societies.translate import unit
from societies.workload import Source
from societies.workload.declare import phases
from societies.workload.declare.phases import GROUPS_A_UNIT
from societies.workload.running import bound
from societies.workload.running.engines import DeviceEngine, ReferenceEngine
from societies.workload.running.launches import items_of_long

MOST = 150
COPIES = 5


class DrawsConfig(DailyConfig):
    """Keys."""

    workload: Literal["draws_of_a_test"]


def begin(config, society, day):
    """Begin the stream."""
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()


def draw(config, society, day):
    """Sort another quantity of numbers in each society every day, many of them equal."""
    rng = Rng.load(society.stream)
    drawn: list[int] = Bounded(MOST)
    for _ in range((31 * day + 67 * society.index) % MOST):
        drawn.append(rng.below(40) - 20)
    middle = len(drawn) // 2
    drawn.sort()
    total = 0
    for place, number in enumerate(drawn):
        total += place * number
    society.total = total
    ascending = sorted(society.number)
    society.number[rng.below(MOST)] = ascending[middle] + rng.below(9) + society.aged[middle] % 5
    if day == 6 + society.index:
        society.ended = day - 1
        society.ends.append((day, total))
    society.series = {"middle": float(ascending[middle]), "count": float(len(drawn))}
    society.stream = rng.pack()


def age(config, society, day, place):
    """Make a number of each place, which the next day reads, from the number that was drawn."""
    society.aged[place] = society.aged[place] // 2 + society.number[(place + 1) % MOST]


class Draws(Model):
    """What is declared."""

    name, summary = "draws_of_a_test", "a model that sorts"
    config, start, day = DrawsConfig, ("begin",), ("draw", "age")

    def sizes(self, p):
        """Return the lengths."""
        return {"place": MOST}

    def fields(self, p):
        """Return the state."""
        return {
            "number": Field(("place",), "int32", "1", "numbers"),
            "aged": Field(("place",), "int32", "1", "numbers of the phase of places"),
            "total": Field((), "int64", "1", "sum over all places"),
            "stream": Field((), "uint64", "1", "stream", within=(1, "last state")),
            "ended": Field((), "int32", "day", "day of the end", initial=-1),
        }

    def events(self, p):
        """Return the lists of events."""
        return {"ends": Events(2, 1)}

    def series(self, p):
        """Return the series."""
        return {"middle": Series("1", "a number"), "count": Series("1", "numbers drawn")}

    def source(self, p):
        """Return the macros of the form for GPUs."""
        return Source(form(0), arguments=super().source(p).arguments)


def results():
    """Return the model, its parameters, and a reference that has carried out all days."""
    one = Draws()
    p = one.parameters(DrawsConfig(workload=one.name, days=9, replicates=COPIES))
    reference = ReferenceEngine(one, p, copies=COPIES)
    reference.start()
    reference.run_ticks(1, 9)
    assert (reference.arrays("ended")["ended"] >= 0).sum() == 4
    return one, p, reference


def require_same(engine, reference):
    """Require the state, the events and the series of the reference."""
    assert engine.hash() == reference.hash()
    assert np.array_equal(engine.events()["ends"], reference.events()["ends"])
    for name, log in reference.logs().items():
        assert engine.logs()[name].tobytes() == log.tobytes(), name


@pytest.mark.ci
def test_groups_of_any_size_have_the_bits_of_python(monkeypatch):
    one, p, reference = results()
    device, like = choose_device("auto"), None
    monkeypatch.setattr(phases, "GROUPS_A_UNIT", 0)  # a launch for each phase
    for items in (1, 2):  # PoCL builds the kernel for each size of a workgroup
        monkeypatch.setattr(bound, "items_of_long", lambda *_, items=items: items)
        engine = DeviceEngine(one, p, device, copies=COPIES, like=like)
        like = engine.built
        engine.start()
        engine.run_ticks(1, 9)
        assert not engine.run_step.whole_ticks
        (launch,) = engine.run_step.launches["draw"]
        assert launch.kernel._sizes[1] == (items,)
        require_same(engine, reference)


@pytest.mark.ci
def test_a_workgroup_that_carries_out_whole_days_has_the_bits_of_python(monkeypatch):
    one, p, reference = results()
    monkeypatch.setattr(phases, "GROUPS_A_UNIT", COPIES)
    engine = DeviceEngine(one, p, choose_device("auto"), copies=COPIES)
    engine.start()
    before = engine.device.counters.launches
    engine.run_ticks(1, 9)
    assert engine.device.counters.launches == before + 1
    require_same(engine, reference)


@pytest.mark.ci
def test_phases_of_long_programs_that_sort_have_a_workgroup_for_each_society(monkeypatch):
    """The others keep their work-items, and more societies have the usual launch."""
    monkeypatch.setattr(unit, "SHORT", 0)
    one, p, reference = results()
    monkeypatch.setattr(bound, "items_of_long", lambda *_: 1)
    for most, kernel in ((COPIES, "draw_together_kernel"), (0, "draw_kernel")):
        monkeypatch.setattr(phases, "GROUPS_A_UNIT", most)
        engine = DeviceEngine(one, p, choose_device("auto"), copies=COPIES)
        names = [engine.run_step._phases[name].launches[0].kernel for name in ("draw", "age")]
        assert names == [kernel, "age_kernel"]
        engine.start()
        engine.run_ticks(1, 9)
        require_same(engine, reference)


def guarded(config, society, day):
    """Sort on some days only."""
    if day > 2:
        society.number.sort()


def left(config, society, day):
    """Sort unless something holds."""
    if society.total > 5:
        return
    society.number.sort()


def keyed(config, society, day):
    """Sort otherwise than by the numbers themselves."""
    society.number.sort(reverse=True)


def test_all_work_items_sort_only_what_every_society_sorts_once(monkeypatch):
    one = Draws()
    monkeypatch.setattr(Draws, "day", ("draw", "guarded", "left", "keyed"))
    unit = one.unit(one.parameters(DrawsConfig(workload=one.name)))
    assert [name for name, kernel in unit.kernels.items() if kernel.sorts] == ["draw"]
    assert unit.text.count("    sort_together(") == 2


@pytest.mark.parametrize(
    ("groups", "on_cpu", "units", "pays"),
    [
        (10_000, True, 2, True),
        (GROUPS_A_UNIT * 132, False, 132, True),
        (GROUPS_A_UNIT * 132 + 1, False, 132, False),
    ],
)
def test_whole_days_are_one_launch_while_compute_units_have_few_societies(
    groups, on_cpu, units, pays
):
    joined = phases.Joined((), phases.Launch("file", groups), on_cpu=None)
    assert joined.pays(on_cpu, units) == pays


@pytest.mark.parametrize(
    ("count", "units", "items"),
    [
        (1, 132, 1),
        (GROUPS_A_UNIT * 132, 132, 1),
        (GROUPS_A_UNIT * 132 + 1, 132, 2),
        (4 * GROUPS_A_UNIT * 132, 132, 4),
        (4 * GROUPS_A_UNIT * 132 + 1, 132, 32),
        (1000, 1, 32),
    ],
)
def test_long_work_items_are_spread_over_all_compute_units_first(count, units, items):
    assert items_of_long(32, count, units) == items


def test_gpus_carry_out_whole_days_of_short_programs_alone(monkeypatch):
    one = Draws()
    for short, on_cpu in ((unit.SHORT, None), (0, True)):
        monkeypatch.setattr(unit, "SHORT", short)
        p = one.parameters(DrawsConfig(workload=one.name, days=9, replicates=COPIES))
        assert one.phases(p, COPIES)["draw"].joined.on_cpu is on_cpu
        text = one.unit(p).text
        assert ("#if DEVICE_IS_CPU\n__kernel void all_phases_kernel" in text) == (on_cpu is True)
