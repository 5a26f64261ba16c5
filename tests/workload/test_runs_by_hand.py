"""Does a run compute, record, resume and report what its definition says? Worked out by hand.

The workload adds up numbers (`tallies`), and no device is used: what device and reference share,
and the reference's engine itself, would else only be compared with themselves.
"""

from __future__ import annotations

import json
import time
from contextlib import nullcontext

import h5py
import numpy as np
import pytest
import tallies

import societies
from societies import SocietiesError
from societies.config.model import LARGEST_INTEGER
from societies.errors import DeviceError, OutputError
from societies.output import ResultFile
from societies.workload import Step
from societies.workload.declare.protocol import Setup, Workload
from societies.workload.running import devices
from societies.workload.running import run as running
from societies.workload.running.batches import Batches, OwnCopies, engine_of
from societies.workload.running.engines import FINISH, ReferenceEngine, ended_at
from societies.workload.running.file import checkpoint_of, require_checkpoint
from societies.workload.running.points import points_of, with_rows, with_table
from societies.workload.running.tables import ValueTable
from societies.workload.running.varying import unit_and_meaning
from societies.workload.running.written import LeftOut

FIRST = 4


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    tallies.install(monkeypatch)


def society(days=6, record=(), **more):
    record = {"detail": 2, "checkpoint": 2} | dict(record)
    return tallies.config(days=days, first_society=FIRST, record=record, **more)


def run(config, out, **more):
    return societies.run(config, out=out, device="reference", **more)


def cells(number, days, pace=1.0):
    """Return what a society holds after each day, (day, cell)."""
    return np.array([tallies.tally(number, day, pace) for day in range(1, days + 1)])


def engine(config, **more):
    found, _, _ = engine_of(Setup(tallies.WORKLOAD, config), "reference", **more)
    return found


# -- the engine of the reference ------------------------------------------------------------------


def test_the_reference_computes_logs_and_notes_every_tick():
    one = engine(society(replicates=3))
    assert isinstance(one, ReferenceEngine) and one.built is None
    for _ in range(2):  # the second start begins again
        one.start()
        state = one.state()
        assert state["tally"].tolist() == [[0.0, 0.0]] * 3
        assert state["weight"].tolist() == [[1.0, 2.0]] * 3  # of tick 0
        assert np.isnan(state["series"]).all()
        for first, last in ((1, 2), (3, 6)):
            one.run_ticks(first, last)
            logs, ticks = one.logs(), np.arange(first, last + 1)
            assert {*logs} == {"count", "series"}
            assert logs["count"].shape == (3, len(ticks))
            events = []
            for place in range(3):
                number = FIRST + place
                own = cells(number, last)
                assert logs["series"][place, :, 0].tolist() == own.sum(axis=1)[first - 1 :].tolist()
                before = [0.0, *own.sum(axis=1)[:-1]]
                assert logs["series"][place, :, 1].tolist() == before[first - 1 :]
                due = [day for day in range(1, last + 1) if day % (number + 2) == 0]
                assert logs["count"][place].tolist() == [sum(d <= t for d in due) for t in ticks]
                events += [[place, d, own[d - 1, 0]] for d in due if d >= first]
            assert one.events()["milestones"].tolist() == sorted(events, key=lambda e: e[1])
            assert one.measured() == {}
        assert one.state()["tally"].tolist() == [cells(FIRST + i, 6)[-1].tolist() for i in range(3)]
    assert one.ended() is None
    one.finish()
    assert one.state()["passing"].tolist() == [-1.0] * 3
    assert dict(one.each()).keys() == one.state().keys() == one.fields.keys()
    assert one.arrays("count")["count"].dtype == np.int32
    assert {*one.checkpointed_state()} == {"tally", "gone", "count"}
    assert [str(step) for step in one.steps(0)] == ["begin"]
    assert [str(step) for step in one.steps(3)] == ["grow", "note"]


def test_an_engine_has_parts_and_snapshots_and_takes_arrays_of_another():
    one, other = (engine(society(8, replicates=3)) for _ in range(2))
    one.start()
    other.start()
    one.run_ticks(1, 6)
    whole = one.state()
    part = one.part(["tally", "count"], 1, 2)
    assert {name: array.tolist() for name, array in part.items()} == {
        name: whole[name][1:].tolist() for name in ("tally", "count")
    }
    taken = one.snapshot()
    assert {*taken} == {"tally", "gone", "count"}
    other.adopt(one, ["tally"])
    assert other.state()["tally"].tolist() == whole["tally"].tolist()
    assert whole["count"].any() and not other.state()["count"].any()
    one.run_ticks(7, 8)
    one.restore(taken)
    assert one.state()["tally"].tolist() == whole["tally"].tolist()


def test_a_state_that_is_loaded_continues_and_what_is_constant_is_made_again():
    one, other = engine(society()), engine(society())
    one.start()
    one.run_ticks(1, 4)
    other.start()
    other.run_ticks(1, 1)
    other.load(one.state())
    assert other.state()["weight"].tolist() == [[1.0, 2.0]] * 2
    assert other.state()["passing"].tolist() == [0.0] * 2  # not of a checkpoint
    one.run_ticks(5, 6)
    other.run_ticks(5, 6)
    assert one.hash() == other.hash()
    assert one.events()["milestones"].tolist() == other.events()["milestones"].tolist()
    state = other.state()
    state["passing"][:] = 7.0
    one.put(state)
    assert one.state()["passing"].tolist() == [7.0] * 2
    other.put({"passing": state["passing"]})
    assert one.hash() == other.hash()


def test_a_copy_that_has_ended_stays_as_it_is_and_the_last_ends_the_run():
    one = engine(society(end=3))
    one.start()
    assert one.ended() is None
    one.run_ticks(1, 2)
    assert one.ended() is None
    one.run_ticks(3, 5)
    assert one.ended() == 3
    assert one.state()["tally"].tolist() == [cells(FIRST + i, 3)[-1].tolist() for i in range(2)]
    one.finish()
    assert one.state()["passing"].tolist() == [-1.0] * 2
    for ticks, expected in (([3, 5], 5), ([-1, 4], None), ([0, 0], 0)):
        assert ended_at({"ended": np.array(ticks)}) == expected
    assert ended_at({}) is None


def test_values_change_after_the_tick_of_an_intervention():
    changes = [
        {"day": 2, "set": {"pace": 10.0}},
        {"day": 4, "set": {"pace": 20.0}, "societies": [FIRST + 1]},
    ]
    one = engine(society(interventions=changes))
    one.start()
    one.run_ticks(1, 6)
    of = [[1, 1, 10, 10, 10, 10], [1, 1, 10, 10, 20, 20]]
    for place, paces in enumerate(of):
        growth = [pace + FIRST + place for pace in paces]
        assert one.state()["tally"][place, 0] == sum(growth)
    one.finish()  # with the parameters of the last tick
    two = engine(society(interventions=changes))
    two.start()
    two.run_ticks(1, 3)
    two.run_ticks(4, 6)
    assert two.hash() == one.hash()


@pytest.mark.parametrize("batch", [None, 1, 2, 3])
def test_copies_have_their_rows_and_numbers_in_every_batch(batch):
    """Numbers may repeat and have gaps, as those of a sweep with common random numbers."""
    numbers, paces = np.array([7, 4, 7, 12]), np.array([1.0, 2.0, 3.0, np.nextafter(3.0, 4.0)])
    config = with_rows(society(replicates=4), ValueTable({"pace": paces}), numbers)
    one = engine(config, batch=batch)
    assert isinstance(one, Batches) == (batch is not None)
    one.start()
    one.run_ticks(1, 2)
    one.run_ticks(3, 6)
    state = one.state()["tally"]
    for place, (number, pace) in enumerate(zip(numbers, paces, strict=True)):
        for cell in range(2):
            assert state[place, cell] == sum([pace * (cell + 1) + number] * 6), (place, cell)
    assert [row[0] for row in one.events()["milestones"]] == [1]
    points = points_of(config)
    assert [points.configs[i].pace for i in points.of[0]] == paces.tolist()  # to the last bit


def test_parameters_of_the_same_shape_can_be_exchanged():
    one = ReferenceEngine(tallies.WORKLOAD, society(), first=FIRST, copies=2)
    one.start()
    one.run_ticks(1, 1)
    one.set_parameters(society(pace=5.0))
    one.run_ticks(2, 2)
    assert one.state()["tally"][:, 0].tolist() == [2 * (FIRST + i) + 1 + 5 for i in range(2)]


def test_a_phase_without_a_function_and_a_series_without_a_value_are_named(monkeypatch):
    original = type(tallies.WORKLOAD).reference

    def without(self, p):
        return {name: one for name, one in original(self, p).items() if name != "note"}

    def short(self, p):
        def note(p, s, day):
            s.series = {"total": 1.0}

        return {**original(self, p), "note": note}

    with monkeypatch.context() as patch:
        patch.setattr(type(tallies.WORKLOAD), "reference", without)
        one = engine(society())
        one.start()
        with pytest.raises(SocietiesError, match="no function for the phase 'note'; it has begin,"):
            one.run_ticks(1, 1)
    monkeypatch.setattr(type(tallies.WORKLOAD), "reference", short)
    turned = {0: ["begin"], 1: ["note", "grow"]}  # of which the last sets none

    def schedule(self, p, tick, seen):
        return [Step(one) for one in turned[tick]]

    monkeypatch.setattr(type(tallies.WORKLOAD), "schedule", schedule)
    one = engine(society())
    one.start()
    with pytest.raises(SocietiesError, match=r"note sets no value of the series carried, which"):
        one.run_ticks(1, 1)


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "record", "detail"),
    [(6, {}, [2, 4, 6]), (7, {"detail": 3, "series": 2}, [3, 6]), (5, {"detail": 0}, [])],
)
def test_a_file_has_every_series_detail_and_end(tmp_path, days, record, detail):
    report = run(society(days, record), tmp_path / "run.h5")
    every = record.get("series", 1)
    with societies.open_results(tmp_path / "run.h5") as found:
        assert found.society.values.tolist() == [FIRST, FIRST + 1]
        assert found.day.values.tolist() == list(range(every, days + 1, every))
        assert found.day.attrs["units"] == "day"
        assert ("detail_tally" in found) == bool(detail)
        if detail:
            assert found.detail_day.values.tolist() == detail
        assert "gone" not in found and "detail_gone" not in found
        totals = []
        for place in range(2):
            one, number = found.isel(society=place), FIRST + place
            own = cells(number, days)
            due = (np.arange(1, days + 1) % (number + 2) == 0).cumsum()
            assert one.total.values.tolist() == own.sum(axis=1)[every - 1 :: every].tolist()
            assert one["count"].values.tolist() == due[every - 1 :: every].tolist()
            carried = [*own.sum(axis=1)[:-1], np.nan]  # the next day alone tells
            np.testing.assert_array_equal(one.carried, carried[every - 1 :: every])
            assert one.tally.values.tolist() == own[-1].tolist()
            for row, day in enumerate(detail):
                assert one.detail_tally[row].values.tolist() == own[day - 1].tolist()
            totals.append(own[-1].sum())
        assert found.attrs["title"] == "tallies, 2 cells" and found.attrs["cells"] == 2
    assert (report.first_tick, report.last_tick, report.ended) == (1, days, "")
    assert report.final["total"] == np.mean(totals)
    assert report.final.keys() == {"total", "count"}
    with societies.open_results(tmp_path / "run.h5", events="milestones") as table:
        assert table.sizes["event"] == max(0, days - 5)  # of day 6, and of day 7
        if days >= 6:
            event = table.isel(event=0)
            assert (event.society, event.day, event.tally) == (FIRST, 6, cells(FIRST, 6)[-1, 0])


def stopped(config, path, day):
    def stop(now, days):
        if now >= day:
            raise KeyboardInterrupt

    with pytest.raises(SocietiesError):
        run(config, path, progress=stop)


def test_a_run_that_was_stopped_continues_and_one_that_is_done_is_only_read(tmp_path):
    config, path, whole = society(9), tmp_path / "run.h5", tmp_path / "whole.h5"
    straight = run(config, whole)
    stopped(config, path, 4)
    reported = []
    report = run(config, path, resume=True, progress=lambda *days: reported.append(days))
    assert (report.first_tick, report.last_tick) == (5, 9)
    assert report.state_sha256 == straight.state_sha256 and report.final == straight.final
    assert reported[0] == (4, 9) and reported[-1] == (9, 9) and reported == sorted(reported)
    again = run(config, path, resume=True)
    assert (again.first_tick, again.last_tick, again.device) == (10, 9, "reference")
    assert again.state_sha256 == straight.state_sha256 and again.final == straight.final
    assert again.building_seconds == 0.0 and 0 <= again.wall_seconds < 600
    with h5py.File(path) as file:
        sessions = [one.decode() for one in file["provenance/sessions"][()].ravel() if one]
        assert [one.split(" | ")[0] for one in sessions] == ["from day 1", "from day 5"]


def test_the_file_of_a_run_that_ended_is_shortened_when_it_ends_and_when_it_is_continued(
    tmp_path, monkeypatch
):
    """A run may be killed between its end and the cut."""
    path, seen = tmp_path / "run.h5", []
    monkeypatch.setattr(ResultFile, "shorten", lambda self: seen.append(self.path))
    for resume in (False, True):
        run(society(9, end=3), path, resume=resume)
    assert seen == [path] * 2


def test_a_run_that_ends_early_says_when(tmp_path):
    path = tmp_path / "run.h5"
    for resume in (False, True):
        report = run(society(9, end=3), path, resume=resume)
        assert (report.last_tick, report.first_tick) == (3, 4 if resume else 1)
        assert report.ended == "all copies have ended"
        expected = np.mean([cells(FIRST + i, 3)[-1].sum() for i in range(2)])
        assert report.final["total"] == expected


def test_ticks_are_yielded_one_after_the_other():
    seen = []
    for tick in societies.steps(society(5, end=4), device="reference"):
        seen.append(int(tick))
        assert tick.number == int(tick)
        own = [cells(FIRST + i, tick.number)[-1] for i in range(2)]
        assert tick.state["tally"].tolist() == [one.tolist() for one in own]
        found = tick.dataset
        assert found.society.values.tolist() == [FIRST, FIRST + 1]
        assert found.quantity.values.tolist() == ["total"]  # what is carried is known a day later
        assert found.series.sel(quantity="total").values.tolist() == [one.sum() for one in own]
        assert found.tally.attrs == {"long_name": "units", "units": "units"}
        assert found.attrs == {"workload": "tallies", "day": tick.number}
        assert len(tick.sha256) == 64
    assert seen == [1, 2, 3, 4]


class Asked(Exception):
    pass


@pytest.mark.parametrize(
    ("found", "more", "expected"),
    [
        (["a"], {}, ("a", {"batch": LARGEST_INTEGER})),
        (["a"], {"batch": 3}, ("a", {"batch": 3})),
        (["a", "b"], {}, ("several", ["a", "b"], LARGEST_INTEGER)),
        (["a", "b"], {"batch": 3}, ("several", ["a", "b"], 3)),
        (["a", "b"], {"profile": True}, ("a", {"batch": LARGEST_INTEGER, "profiling": True})),
    ],
    ids=str,
)
def test_one_device_or_several_compute_and_a_profile_is_of_the_first(
    tmp_path, monkeypatch, found, more, expected
):
    def refuse(*asked):
        raise Asked(*asked)

    monkeypatch.setattr(running, "devices_of", lambda setup, device: [*found])
    monkeypatch.setattr(running, "engine_of", lambda setup, one, **rest: refuse(one, rest))
    monkeypatch.setattr(running, "Several", lambda setup, *rest: refuse("several", *rest))
    with pytest.raises(Asked) as raised:
        societies.run(society(), out=tmp_path / "run.h5", **more)
    assert raised.value.args == expected
    assert not (tmp_path / "run.h5").exists()


def test_a_file_that_is_continued_stays_whatever_fails(tmp_path, monkeypatch):
    path = tmp_path / "run.h5"

    def fails(error, **more):
        def run_ticks(*_):
            raise error

        monkeypatch.setattr(ReferenceEngine, "run_ticks", run_ticks)
        with pytest.raises(type(error)):
            run(society(), path, **more)
        return not path.exists()

    assert fails(ValueError("wrong"))  # a file without a tick is removed
    assert not fails(DeviceError("lost"))
    assert not fails(ValueError("wrong"), resume=True)


def test_progress_is_shown_unless_the_caller_shows_it(tmp_path, monkeypatch):
    shown, own = [], []

    def bar(*_, notebook=False):
        assert notebook
        return nullcontext(lambda *said: shown.append(said))

    monkeypatch.setattr(running, "progress_bar", bar)
    societies.run(society(), device="reference", out=tmp_path / "a.h5")
    assert shown[-1] == (6, 6)
    shown.clear()
    of_caller = {"progress": lambda *said: own.append(said)}
    societies.run(society(), device="reference", out=tmp_path / "b.h5", **of_caller)
    assert shown == [] and own[-1] == (6, 6)


def test_what_several_devices_compute_is_named_by_them_and_closed_at_the_end(tmp_path, monkeypatch):
    closed = []

    def several(setup, devices, batch):
        one, _, facts = engine_of(setup, "reference")
        one.name, one.facts = " and ".join(devices), facts
        one.close = lambda: closed.append(one)
        return one

    monkeypatch.setattr(running, "devices_of", lambda setup, device: ["a", "b"])
    monkeypatch.setattr(running, "Several", several)
    began = time.perf_counter()
    report = societies.run(society(), out=tmp_path / "run.h5")
    assert report.device == "a and b" and len(closed) == 1
    took = time.perf_counter() - began
    assert 0 < report.building_seconds < report.wall_seconds <= took


@pytest.mark.parametrize("said", ["fits no device", ""])
def test_that_nothing_fits_is_said_before_that_there_is_no_room(tmp_path, monkeypatch, said):
    def no_room(*_, **__):
        raise OutputError("no room")

    def fit(setup):
        if said:
            raise SocietiesError(f"{setup.device} {said}")
        return 1

    monkeypatch.setattr(devices, "chosen_device", lambda name: (name, name, {}))
    monkeypatch.setattr(running, "devices_of", lambda setup, device: ["a", "b"])
    monkeypatch.setattr(running, "require_room", no_room)
    monkeypatch.setattr(running, "copies_that_fit", fit)
    with pytest.raises(SocietiesError, match="^a fits no device$" if said else "^no room$"):
        societies.run(Setup(tallies.WORKLOAD, society()), out=tmp_path / "run.h5")


def test_a_workload_may_refuse_what_it_would_write_besides(tmp_path, monkeypatch):
    def refuse(self, config, path):
        raise OutputError(f"{path.name}: {config.days}")

    monkeypatch.setattr(tallies.Tallies, "require_outputs", refuse)
    with pytest.raises(OutputError, match=r"^run.h5: 6$"):
        run(society(), tmp_path / "run.h5")
    assert not (tmp_path / "run.h5").exists()


def test_an_engine_of_some_copies_begins_with_the_first_of_them():
    one = engine(society(replicates=4), part=OwnCopies(1, 2, 2, 1), batch=9)
    one.start()
    one.run_ticks(1, 3)
    assert one.arrays("tally")["tally"].tolist() == [
        cells(FIRST + number, 3)[-1].tolist() for number in (1, 2)
    ]


A_DEVICE = object()


def test_a_setup_is_that_of_the_device(monkeypatch):
    """A workload may choose values for a device; what was made of other values is made again."""
    setup = Setup(tallies.WORKLOAD, society())
    assert setup.p is setup.config
    other = society(pace=7.0)
    monkeypatch.setattr(
        tallies.Tallies, "fitted", lambda self, config, device: other if device else config
    )
    assert "p" in setup.on(None).__dict__ and "p" not in setup.on(A_DEVICE).__dict__
    assert "p" in setup.on("reference").__dict__ and setup.on("reference").device is None
    assert setup.on(A_DEVICE).p is other
    reported = []
    monkeypatch.setattr(tallies.Tallies, "computed_on", lambda self, *of: reported.append(of))
    assert setup.source is not None and reported == []
    own = setup.on(A_DEVICE)
    assert own.source is not None and reported == [(other, A_DEVICE)]
    same = Setup(tallies.WORKLOAD, other)
    assert same.source is not None and same.on(None).__dict__["source"] is same.source
    assert same.on(A_DEVICE).source is not None and reported == [(other, A_DEVICE)] * 2
    monkeypatch.setattr(tallies.Tallies, "fitted", lambda self, config, device: other)
    one, _, _ = engine_of(setup, "reference")
    assert one.parameters is other


@pytest.mark.parametrize("allow", [False, True])
def test_programs_run_in_runs_and_steps_only_if_they_are_allowed(monkeypatch, tmp_path, allow):
    seen = []
    monkeypatch.setattr(running, "allowing", lambda allowed, ticks: seen.append(allowed) or ticks)
    societies.steps(society(), device="reference", **({"allow_programs": True} if allow else {}))
    assert seen == [allow]
    monkeypatch.setattr(running, "allowed", lambda allowed: nullcontext(seen.append(allowed)))
    societies.run(society(), device="reference", out=tmp_path / "a.h5", allow_programs=allow)
    assert seen == [allow, allow]


# -- where a file comes from ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of six days with checkpoints of days 4 and 6."""
    path = tmp_path_factory.mktemp("made") / "made.h5"
    with tallies.installed():
        run(society(), path)
    return path


def at(path, config, last=None):
    return checkpoint_of(Setup(tallies.WORKLOAD, config), path, last)


def test_the_newest_checkpoint_up_to_a_day_is_taken(made):
    for last, day in ((None, 6), (6, 6), (5, 4), (4, 4)):
        tick, state = at(made, society(20, {"detail": 1}), last)
        assert tick == day
        assert state["tally"].tolist() == [cells(FIRST + i, day)[-1].tolist() for i in range(2)]
    said = r"has no checkpoint of day 3 or before; it has those of days 4 and 6\n"
    with pytest.raises(SocietiesError, match=said):
        at(made, society(), 3)


def test_a_file_without_such_a_checkpoint_says_what_it_has(tmp_path):
    run(society(3, {"checkpoint": 0}), tmp_path / "none.h5")
    for last in (None, 2):
        with pytest.raises(SocietiesError, match=r"which record.checkpoint switched off"):
            at(tmp_path / "none.h5", society(), last)
    run(society(5, {"checkpoint": 50}), tmp_path / "one.h5")
    with pytest.raises(SocietiesError, match=r"or before; it has that of day 5\n"):
        at(tmp_path / "one.h5", society(), 4)
    run(society(6, {"keep": [2, 3]}), tmp_path / "four.h5")
    with pytest.raises(SocietiesError, match=r"or before; it has those of days .*, .*, .* and 6\n"):
        at(tmp_path / "four.h5", society(), 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pace": 2.0}, r"with another configuration: pace is 1.0 in the file and 2.0 here\n"),
        (
            {"pace": 2.0, "seed": 9},
            r"another configuration: seed is 1 in the file and 9 here \(and",
        ),
        ({"days": 9}, "with another configuration: days is 6 in the file and 9 here"),
        ({"record": {"detail": 1}}, "record.detail is 2 in the file and 1 here"),
        (
            {"interventions": [{"day": 1, "set": {"pace": 2.0}}]},
            "another configuration: interventions.*",
        ),
    ],
)
def test_a_run_continues_only_with_its_own_configuration(made, settings, message):
    with pytest.raises(SocietiesError, match=message):
        run(society(**settings), made, resume=True)


def test_a_table_is_part_of_the_configuration(tmp_path, made):
    tables = {"pace": [1.0, 2.0]}, {"pace": [1.0, np.nextafter(2.0, 3.0)]}
    run(society(), tmp_path / "table.h5", table=tables[0])
    for path, table, message in (
        (made, tables[0], "made without a table of parameters, this is with one\n.* without"),
        (tmp_path / "table.h5", None, "made with a table of parameters, this is without one\n"),
        (tmp_path / "table.h5", tables[1], "with another table of parameters: some keys or numb"),
    ):
        with pytest.raises(SocietiesError, match=message):
            run(society(), path, table=table, resume=True)
    assert run(society(), tmp_path / "table.h5", table=tables[0], resume=True).last_tick == 6
    with societies.open_results(tmp_path / "table.h5") as found:
        assert found.pace.values.tolist() == [1.0, 2.0]
        assert found.pace.attrs["units"] == "units"
        assert found.attrs["varied"] == "pace" and len(found.attrs["table_sha256"]) == 64
    with societies.open_results(made) as found:
        assert "varied" not in found.attrs


def test_another_version_or_workload_is_refused(made, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(type(tallies.WORKLOAD), "version", "2")
        with pytest.raises(SocietiesError, match="by model version 1, this is 2: results differ"):
            run(society(), made, resume=True)
    laplace = societies.config_from_dict({"workload": "laplace", "side": 8, "steps": 6})
    with pytest.raises(
        SocietiesError, match=r"is a result of the workload tallies, the .* of lapl"
    ):
        run(laplace, made, resume=True)


def test_a_state_that_cannot_be_is_not_resumed(tmp_path, made):
    """Of a run that has ended: its last checkpoint is of the day of the end."""
    config, state = society(9, end=3), at(made, society())[1]
    setup = Setup(tallies.WORKLOAD, config)
    ended = {**state, "ended": np.array([3, -1])}
    require_checkpoint(setup, made, 6, ended)
    for days, tick in (([3, 4], 4), ([4, 4], 4)):
        require_checkpoint(
            Setup(tallies.WORKLOAD, config), made, tick, {**ended, "ended": np.array(days)}
        )
    for days, message in (
        ([3, 3], "all societies have ended by 3"),
        ([-2, -1], "ended"),
        ([7, -1], "ended"),
    ):
        with pytest.raises(SocietiesError, match=message):
            require_checkpoint(
                Setup(tallies.WORKLOAD, config), made, 6, {**ended, "ended": np.array(days)}
            )
    with pytest.raises(SocietiesError, match="tally"):
        wrong = {**ended, "tally": state["tally"] + tallies.LIMIT}
        require_checkpoint(setup, made, 6, wrong)


# -- what is declared -----------------------------------------------------------------------------


def test_what_a_workload_does_not_declare_has_a_default():
    chosen, p = tallies.WORKLOAD, society(replicates=3)
    assert (chosen.ticks(p), chosen.count(p), chosen.first(p)) == (6, 3, FIRST)
    assert chosen.count(object()) == 1 and chosen.first(object()) == 0
    assert chosen.ticks_key == "days"
    assert chosen.lengths(p) == {"cell": 2, "series": 2}
    series = chosen.arrays(p)["series"]
    assert (series.logged, series.checkpointed, series.dims) == (True, False, ("series",))
    assert [*Workload.arrays(chosen, p)][-1] == "series"
    assert "series" not in Bare().arrays(p)
    assert Bare().changes(p) == ()
    assert Bare().parameters_of_copy(p, 1, 3) is p and Bare().fitted(p, None) is p
    assert [*chosen.busy(p, 3, 5)] == [3, 4, 5]
    assert chosen.work_done(p, 6) == 18.0
    assert not chosen.timed_together(p) and chosen.not_repeatable(p) == ""
    assert Bare().settled(p) == {}
    assert (
        chosen.why_ended(p, {}) == "all copies have ended"
        and chosen.headlines() == ()
        and chosen.programs(p) == ()
    )
    assert (
        Bare().kernel_text(p, "grow") is None
        and Bare().limits(p, 1) == {}
        and Bare().counts(p) == {}
    )
    step = next(iter(chosen.schedule(p, 1, {})))
    assert chosen.part(step, 1) == "grow"
    with pytest.raises(NotImplementedError, match="workload bare does not define phases"):
        Bare().phases(p, 1)
    for one in ("open_ended", "timed", "numpy", "part_is_phase"):
        assert getattr(Bare, one) is False
    left = LeftOut({"tally": 1})
    assert left.state == {"tally": 1}


class Bare(Workload):
    name = "bare"

    def fields(self, p):
        return {}


@pytest.mark.parametrize(
    ("items", "sizes", "most", "expected"),
    [(32, {"a": 5}, 64, 32), (128, {"a": 5}, 64, 64)],
)
def test_work_items_are_those_declared_as_far_as_a_device_has_them(items, sizes, most, expected):
    class Sized(Bare):
        def sizes(self, p):
            return sizes

    class Device:
        max_workgroup = most

    Sized.items = items
    assert Sized().work_items(None, 1, Device()) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("pace", ("units", "What is added every day")),
        ("goal.bonus", ("units", "What a milestone brings")),
        ("goal", ("", "What happens at milestones")),
        ("goal.nothing", ("", "What happens at milestones")),
        ("pace.nothing", ("units", "What is added every day")),
        ("nothing", ("", "")),
    ],
)
def test_a_key_has_its_unit_and_meaning(key, expected):
    assert unit_and_meaning(tallies.TalliesConfig, key) == expected


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"days": 0}, "days: must be at least 1, got 0"),
        ({"days": 10_000_001}, "days: must be at most 10000000, got 10000001"),
        ({"record": {"keep": [0]}}, "record.keep.0: must be at least 1, got 0"),
        ({"record": {"keep": [3, 2, 3]}}, "record.keep.2: day 3 is listed twice"),
        ({"record": {"keep": [3], "checkpoint": "never"}}, "record.keep: needs checkpoints"),
        ({"record": {"detail": -1}}, "record.detail: must be at least 0, got -1"),
        ({"first_society": -1}, "first_society: must be at least 0, got -1"),
    ],
)
def test_keys_of_daily_models_have_limits(settings, message):
    with pytest.raises(SocietiesError, match=message):
        tallies.config(**settings)
    for good in ({"days": 1}, {"days": 10_000_000}, {"record": {"checkpoint": 0}}):
        tallies.config(**good)


def test_defaults_and_warnings_of_daily_models():
    config = societies.config_from_dict({"workload": "tallies"})
    assert (config.days, config.seed, config.replicates, config.first_society) == (100, 1, 1, 0)
    assert (config.record.detail, config.record.checkpoint, config.record.keep) == (0, "auto", ())
    assert config.streams() == 1 and config.stream_gap > 0
    assert config.stream_base != tallies.config(seed=2).stream_base
    assert [*config.warnings()] == []
    assert [*tallies.config(days=8, record={"detail": 8}).warnings()] == []
    (warning,) = tallies.config(days=8, record={"detail": 9}).warnings()
    assert warning.path == ("record", "detail")
    assert warning.message.startswith("9 days are more than the run has (8): none of this")


def test_a_config_is_written_as_it_was_read(made):
    with h5py.File(made) as file:
        text = file.attrs["configuration"]
    assert json.loads(json.dumps(society().model_dump()))["pace"] == 1.0
    assert "pace: 1.0" in text and "first_society: 4" in text
    assert FINISH == -1 and with_table(society(), {"pace": [1, 2]}).table.rows == 2
