"""Which parameters, ticks and times has an engine of plain Python, and what room has a device?"""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import tallies

from societies.errors import DeviceError, SocietiesError
from societies.workload.declare.fields import Field
from societies.workload.running import batches, engines
from societies.workload.running.engines import FINISH, Engine, ReferenceEngine, engine_on


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    tallies.install(monkeypatch)


class Five(tallies.Tallies):
    """Five copies with parameters of their own, which change after tick 2."""

    def parameters_of_copies(self, p, tick):
        return {"table": np.arange(5.0)[:, None] + 10 * tick, "all": np.array([7.0])}

    def parameters_of_copy(self, p, place, tick):
        return SimpleNamespace(**{**vars(p), "pace": 100.0 * place + tick}, place=place)

    def changes(self, p):
        return (2,)


def engine(chosen=None, **more):
    config = tallies.config(days=6, first_society=4)
    return ReferenceEngine(chosen or Five(), config, **{"first": 4, "copies": 4, **more})


def test_tables_have_the_rows_of_the_present_copies():
    one = engine(ensemble=5)
    for place, rows in ((0, [0, 1, 2, 3]), (1, [1, 2, 3, 4]), (2, [2, 3, 4, 4]), (4, [4] * 4)):
        one.at(place)
        found = one._tables_of_copies()
        assert found["table"].tolist() == [[row] for row in rows]
        assert found["all"].tolist() == [7.0] * 4
        assert found["society_numbers"].tolist() == [4 + place + i for i in range(4)]
        assert found["table"].flags.c_contiguous
        assert [p.place for p in one._parameters_now] == rows  # the last one is repeated
        assert [p.pace for p in one._parameters_now] == [100.0 * row for row in rows]
    one.at(0)
    numbered = engine(numbers=np.array([9, 9, 3]), copies=2)
    assert numbered.copy_numbers().tolist() == [9, 9]
    numbered.at(2)
    assert numbered.copy_numbers().tolist() == [3, 3]
    assert numbered._tables_of_copies()["society_numbers"].tolist() == [3, 3]


def test_parameters_change_once_after_the_tick_of_a_change():
    one, calls = engine(ensemble=5), []
    changed = one._parameters_changed
    one._parameters_changed = lambda: (calls.append(one._tick), changed())
    one.start()
    one.run_ticks(1, 2)
    assert calls == [] and one._tables_of_copies()["table"][0] == 0.0
    one.run_ticks(3, 5)
    assert calls == [3] and one._tables_of_copies()["table"][0] == 30.0
    assert [p.pace for p in one._parameters_now] == [3.0, 103.0, 203.0, 303.0]
    one.finish()  # with the parameters of the last tick
    assert calls == [3]
    one.step(next(iter(one.steps(2))), 2)
    assert calls == [3, 2]


def test_a_new_engine_has_run_nothing():
    one = engine()
    assert (one.throttled, one.built, one.profile) == (False, None, None)
    assert one.logs() == {} and one._launched() == 0 and one.measured() == {}
    measured = []
    one._stopwatch = SimpleNamespace(measured=lambda n: measured.append(n) or {"n": n})
    one.ended = lambda: 9
    assert one.measured() == {"n": None}
    one._together = True
    assert one.measured() == {"n": 9}  # of ticks 1 to 9
    one._begun = 4
    assert one.measured() == {"n": 6}
    one.ended = lambda: None
    assert one.measured() == {"n": None}


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("profiled", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_every_tick_of_a_timed_workload_is_measured_and_every_phase_of_a_profile(
    timed, profiled, together
):
    chosen = type("Timed", (tallies.Tallies,), {"timed": timed})()
    one = engine(chosen)
    noted = []

    class Noting:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            noted.append(f"begin {self.name}")

        def __exit__(self, *_):
            noted.append(f"end {self.name}")

    one._stopwatch = SimpleNamespace(
        tick=lambda: Noting("tick"), reset=lambda: noted.append("reset")
    )
    one._together = together
    if profiled:
        one.profile = SimpleNamespace(
            phase=lambda name: Noting(name), ticks=lambda wait: Noting("all")
        )
    one.start()
    noted.clear()
    one.run_ticks(1, 2)
    phases = [f"{word} {name}" for name in ("grow", "note") for word in ("begin", "end")]
    tick = phases if profiled else []
    if (timed or profiled) and not together:
        tick = ["begin tick", *tick, "end tick"]
    all_of_it = ["begin all", *tick, *tick, "end all"] if profiled else [*tick, *tick]
    assert noted == ["reset", *all_of_it]


def test_times_are_those_of_the_last_ticks():
    one = engine(type("Timed", (tallies.Tallies,), {"timed": True})())
    one.start()
    for first, last in ((1, 2), (3, 5)):
        one.run_ticks(first, last)
        found = one.measured()
        assert {name: len(values) for name, values in found.items()} == {
            **{"seconds": last - first + 1, "launches": last - first + 1}
        }
        assert (found["seconds"] >= 0).all() and (found["launches"] == 0).all()


def test_a_copy_that_ended_is_left_alone_from_the_next_tick_on():
    calls = []

    class Ending(tallies.Tallies):
        def reference(self, p):
            def phase(p, s, day):
                calls.append((s.index, day))
                s.series = {"total": 0.0, "carried": 0.0}

            return dict.fromkeys(("begin", "grow", "note", "close"), phase)

    config = tallies.config(days=6, end=5)
    one = ReferenceEngine(Ending(), config, copies=4)
    one.start()
    assert calls == [(i, 0) for i in range(4)]  # tick 0
    state = one.state()
    state["ended"] = np.array([-1, 0, 2, 3])
    one.put({"ended": state["ended"]})
    calls.clear()
    one.run_ticks(2, 3)
    assert sorted(set(calls)) == [(0, 2), (0, 3), (2, 2), (3, 3)]
    calls.clear()
    one.finish()
    assert calls == [(i, FINISH) for i in range(4)]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (2**40, "written: 1099511627776 at"),
        (None, "written: None at"),
        (0.5, "written: 0.5 at"),
        ([1, 2], "rows of different lengths"),
    ],
)
def test_what_a_field_cannot_hold_is_named_with_tick_and_phase(values, said):
    one = engine(ensemble=5)
    one.start()
    one.step(next(iter(one.steps(2))), 2)
    one.copies_now[1].count = values
    with pytest.raises(SocietiesError, match=rf"2, phase \w+: the field 'count' .*{said}"):
        one.state()


def test_new_parameters_change_constant_arrays_and_no_others():
    class Weighed(tallies.Tallies):
        def fields(self, p):
            fields = super().fields(p)
            fields["weight"] = replace(fields["weight"], initial=lambda p: p.pace)
            fields["passing"] = replace(fields["passing"], initial=lambda p: p.pace)
            fields["same"] = Field((), "int32", "", "", initial=3, constant=True)
            return fields

    one = engine(Weighed(), copies=2)
    one.put({"weight": np.full((2, 2), 9.0), "passing": np.full(2, 8.0), "same": np.full(2, 5)})
    sets, put = [], one.put
    one.put = lambda state: (sets.append({*state}), put(state))
    one.set_parameters(tallies.config(days=6, first_society=4, pace=3.0))
    assert sets == [{"weight"}] and one.parameters.pace == 3.0
    assert one.state()["weight"].tolist() == [[3.0] * 2] * 2
    assert one.state()["passing"].tolist() == [8.0] * 2
    assert one.state()["same"].tolist() == [5, 5]
    assert [p.pace for p in one._parameters_now] == [3.0, 3.0]


def test_rows_outside_the_ticks_are_refused_and_not_lost():
    class Late(ReferenceEngine):
        """Stands for a device, whose kernels append at any time."""

        def events(self):
            return {"none": np.zeros((0, 3)), "deals": np.zeros((rows, 3))}

    one, rows = Late(Five(), tallies.config(), copies=2), 0
    one.start()
    one.finish()
    rows = 1
    for run, when in ((one.start, "before the first day"), (one.finish, "after the last day")):
        with pytest.raises(SocietiesError) as found:
            run()
        assert str(found.value) == f"rows are appended to 'deals' {when}, and are lost"


def test_the_last_ticks_of_some_arrays_are_remembered():
    one = engine(ensemble=5)
    one.start()
    one.remember(("count", "tally"), 3)
    one.run_ticks(1, 5)
    found = one.remembered((3, 5), 1, 2)
    assert [*found] == [3, 5] and [*found[3]] == ["count", "tally"]
    again = engine(ensemble=5)
    again.start()
    for first, last in ((1, 3), (4, 5)):
        again.run_ticks(first, last)
        assert found[last]["tally"].tolist() == again.state()["tally"][1:3].tolist()


def test_an_engine_without_a_side_says_nothing_of_its_own():
    one = object.__new__(Engine)
    for name in ("arrays", "logs", "events", "wait", "_parameters_changed", "_reset"):
        with pytest.raises(NotImplementedError):
            getattr(one, name)()


# -- room -----------------------------------------------------------------------------------------


def room(numbered=True, events=True, memory=10**6, kind="gpu", part=None, copies_table=True):
    """Return the room of copies with arrays of known lengths."""
    rows = {"values": np.zeros((2, 4)), "none": np.zeros((0, 4)), "one": np.zeros((1, 2))}

    class Declared:
        copies = "box"

        def parameters_of_copies(self, p, tick):
            assert tick == 0
            return rows if copies_table else {}

        def events(self, p):
            return {"e": SimpleNamespace(columns=3, rows=2)} if events else {}

        def phases(self, p, copies):
            return {"fill": SimpleNamespace(on=lambda on_cpu: copies)}

    Declared.numbered = numbered
    tables = {"table": np.zeros(10), "values": np.zeros((2, 4)), "number": 5}
    setup = SimpleNamespace(
        workload=Declared(),
        p=None,
        sizes={"x": 3},
        source=SimpleNamespace(arguments=tables),
        fields={
            "a": Field(("x",), "int32", "", ""),
            "b": Field((), "float64", "", "", logged=True),
        },
    )
    device = SimpleNamespace(kind=kind, global_memory=memory, max_alloc=0, name="Card")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            batches,
            "scratch_memory",
            lambda phases: {"s": SimpleNamespace(nbytes=100 + 7 * phases["fill"])},
        )
        patch.setattr(batches, "available_memory", lambda: memory)
        return batches.Room(setup, device, part)


ROWS_OF_ALL = 65
"""Rows of a log: those of 64 ticks and one before."""


def test_a_copy_takes_its_rows_arrays_logs_events_and_scratch_memory():
    rows = [4 * 8, 0, 2 * 8]  # of the tables of copies
    fields, log = [3 * 4, 8], ROWS_OF_ALL * 8
    events = 4 + 4 * 3 * (64 * 2 + 1)  # a row more than fits, which shows that it did not
    found = room()
    assert found.bytes_per_copy == sum(rows) + sum(fields) + log + 4 + events + 7
    assert found.fixed == 10 * 8 + 100  # what all share: a table, and scratch memory
    assert found.largest == events
    assert found.nbytes(3) == found.fixed + 3 * found.bytes_per_copy
    assert room(numbered=False).bytes_per_copy == found.bytes_per_copy - 4
    without = room(events=False)
    assert without.bytes_per_copy == found.bytes_per_copy - events and without.largest == log
    alike = room(copies_table=False)  # a table of values that all copies share
    assert alike.bytes_per_copy == found.bytes_per_copy - sum(rows)
    assert alike.fixed == found.fixed + 2 * 4 * 8


def test_processes_share_a_device():
    whole = room()
    part = batches.OwnCopies(0, 5, processes=6, of_device=2)
    assert room(part=part).has == whole.has // 2
    assert room(kind="cpu", part=part).has == room(kind="cpu").has // 6
    assert (part.first, part.copies) == (0, 5)


def test_where_nothing_fits_the_device_is_refused():
    small = room(memory=150)
    assert small.copies == 0  # less than what all copies share
    with pytest.raises(DeviceError, match=r"Card has .* for it\nmake it smaller, or take another"):
        batches.require_fit(small)
    assert "one box needs" in small.lack()
    assert batches.require_fit(room()) is None and room().lack() == ""


def test_batches_are_as_few_as_possible_and_nearly_equal():
    for copies, fit, asked in product(range(1, 13), (1, 2, 5, 20), (None, 1, 3, 99)):
        found = batches.batch_size(copies, fit, asked)
        most = min(fit, asked or copies, copies)
        assert 1 <= found <= most
        count = -(-copies // most)
        assert -(-copies // found) == count  # no more batches than needed
        assert found == 1 or -(-copies // (found - 1)) > count  # and none smaller would do


class Given:
    """Stands for an engine, and holds what it was made of."""

    def __init__(self, *given, **more):
        self.given, self.more = given, more

    def at(self, place):
        self.place = place


class OnDevice(Given):
    pass


class InBatches(Given):
    pass


@pytest.fixture
def stand_ins(monkeypatch):
    """Engines that compute nothing; return the copies that fit, and what room was asked for."""
    fit, asked = SimpleNamespace(copies=3, lack=lambda: ""), []
    for module in (batches, engines):
        monkeypatch.setattr(module, "DeviceEngine", OnDevice)
        monkeypatch.setattr(module, "ReferenceEngine", Given)
    monkeypatch.setattr(batches, "Batches", InBatches)
    monkeypatch.setattr(batches, "Room", lambda *of: asked.append(of) or fit)
    monkeypatch.setattr(
        batches, "chosen_device", lambda device, profiling: (device, "name", {"profile": profiling})
    )
    return fit, asked


def test_an_engine_is_of_the_device_the_copies_and_the_program_that_are_asked_for(stand_ins):
    fit, asked = stand_ins
    chosen = SimpleNamespace(work_items=lambda *of: of)
    numbers = SimpleNamespace(numbers="n")
    setup = SimpleNamespace(workload=chosen, p="p", first=5, copies=8, config=numbers, device="gpu")
    setup.on = lambda device: SimpleNamespace(**{**vars(setup), "device": device})
    usual = {"first": 5, "copies": 8, "numbers": "n", "chosen": None}
    # Without a size of batches, single steps can be run: all copies are in one.
    one, name, facts = batches.engine_of(setup, "gpu", like="built", profiling=True)
    assert (type(one), name, facts) == (OnDevice, "name", {"profile": True}) and asked == []
    assert (one.given, one.more) == ((chosen, "p", "gpu"), {"like": "built", **usual})
    one, _, _ = batches.engine_of(setup, None)
    assert (type(one), one.given, one.more) == (Given, (chosen, "p"), {"ensemble": 8, **usual})
    some = np.array([1, 6])
    one, _, _ = batches.engine_of(setup, "gpu", some=some)
    assert one.more["chosen"] is some and one.more["copies"] == 2
    assert one.more["work_items"] == ("p", 8, "gpu")  # its program is that of all copies
    part = batches.OwnCopies(4, 2, 2, 1)
    assert batches.engine_of(setup, "gpu", part=part)[0].place == 4
    # As many as fit, in batches that are nearly equal in size.
    many, _, _ = batches.engine_of(setup, "gpu", batch=8)
    (inner, *rest), (room,) = many.given, asked
    assert (type(many), rest, inner.more["copies"]) == (InBatches, [8, 0], 3)
    assert (room[0].device, *room[1:]) == ("gpu", "gpu", None)
    assert type(batches.engine_of(setup, None, batch=8)[0]) is Given  # all fit a host
    fit.lack = lambda: "memory: too little"
    with pytest.raises(DeviceError, match="memory: too little\nmake it smaller"):
        batches.engine_of(setup, "gpu", batch=8)


def test_an_engine_on_no_device_is_that_of_plain_python(stand_ins):
    for device, kind, given in (
        (None, Given, ("workload", "p")),
        ("gpu", OnDevice, ("workload", "p", "gpu")),
    ):
        one = engine_on(device, "workload", "p", copies=3)
        assert (type(one), one.given, one.more) == (kind, given, {"copies": 3})
