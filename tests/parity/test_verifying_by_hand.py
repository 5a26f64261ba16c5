"""Is a difference reported, whichever element of whichever array, copy and phase it is in?

The device's side is plain Python with one mistake planted. What is counted and looked for in long
runs: test_verifying.py.
"""

from __future__ import annotations

import numpy as np
import pytest
import tallies

from societies.workload import Count, Phase, Setup, Step, falls, rises
from societies.workload.checking import verify as core
from societies.workload.checking.coverage import (
    Coverage,
    Difference,
    VerifyReport,
    first_difference,
    first_different_event,
)
from societies.workload.running.engines import FINISH, ReferenceEngine
from societies.workload.running.points import with_table

DAYS, FIRST = 5, 4


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    tallies.install(monkeypatch)


class Side(ReferenceEngine):
    """Plain Python with a mistake: after a phase of a day, one entry of a copy is another."""

    def __init__(self, planted, *given, **named):
        super().__init__(*given, **named)
        self.planted, self.ran = planted, []

    def step(self, step, tick):
        super().step(step, tick)
        self.ran.append((tick, step.phase))
        if self.planted and (tick, step.phase) == self.planted[:2]:
            _, _, place, name, index, change = self.planted
            if name == "milestones":
                rows = self.copies_now[place].milestones.rows
                rows[index] = change(rows[index])
                return
            state = self.state()
            of = state[name][(place, *index)]
            state[name][(place, *index)] = change(of)
            self.put({name: state[name]})


@pytest.fixture
def verified(monkeypatch):
    """Verify a configuration on a side that has a mistake."""

    def verify(config, planted=None, workload=tallies.WORKLOAD, **more):
        def engine_of(setup, device):
            more = {"first": setup.first, "copies": setup.copies}
            sides.append(Side(planted, setup.workload, setup.p, **more))
            return sides[-1], "a side", {}

        sides = verify.sides = []
        monkeypatch.setattr(core, "engine_of", engine_of)
        return core.verify(Setup(workload, config), **more)

    return verify


def society(**more):
    return tallies.config(days=DAYS, replicates=3, first_society=FIRST, end=4, **more)


ARRAYS = {
    "tally": ((1,), "grow"),
    "gone": ((0,), "note"),
    "count": ((), "note"),
    "weight": ((1,), "grow"),
    "passing": ((), "grow"),
    "ended": ((), "note"),
    "series": ((1,), "note"),
}


def test_every_array_of_the_workload_is_tried():
    fields = tallies.WORKLOAD.arrays(society())
    assert {name for name, one in fields.items() if one.compared} == {*ARRAYS}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("place", [0, 2])
def test_a_difference_in_any_array_and_copy_is_reported(verified, name, place):
    index, phase = ARRAYS[name]
    for day in (1, 4):  # all end on day 4
        report = verified(society(), (day, phase, place, name, index, lambda x: x + 1))
        assert not report.identical and report.coverage is None
        found = report.difference
        assert (found.clock, found.tick, found.phase, found.array) == ("day", day, phase, name)
        assert found.index == (place, *index)
        assert found.device_value == found.reference_value + 1
        assert verified.sides[0].ran[-1] == (day, phase)  # nothing runs on after a difference


@pytest.mark.parametrize("tick", [0, FINISH])
def test_a_difference_before_the_first_day_or_after_the_last_is_reported(verified, tick):
    phase = "close" if tick == FINISH else "begin"
    report = verified(society(), (tick, phase, 1, "passing", (), lambda x: x - 0.5))
    found = report.difference
    assert (found.tick, found.phase, found.index) == (tick, phase, (1,))
    assert found.device_value == found.reference_value - 0.5
    without = tallies.config(days=3)  # a run that does not end early has its last steps, too
    assert not verified(without, (FINISH, "close", 1, "tally", (0,), lambda x: x + 1)).identical


def test_what_is_not_compared_may_differ(verified):
    report = verified(society(), (2, "note", 1, "scribble", (), lambda x: x + 1))
    assert report.identical and report.arrays == len(ARRAYS)
    assert report.windows == ((1, 4),) and report.ticks == 4
    assert verified(society(), days=2).windows == ((1, 2),)
    assert report.coverage.acted == {"begin": 1, "grow": 4, "note": 4, "close": 1}


def test_copies_have_their_own_values_on_both_sides(verified):
    """Differences of parameters would else be hidden: the reference has those of each copy."""
    table = with_table(society(), {"pace": [1.0, 2.0, 5.0]})
    assert verified(table).identical
    expected = [tallies.tally(FIRST + i, 4, pace) for i, pace in enumerate((1.0, 2.0, 5.0))]
    assert verified.sides[0].state()["tally"].tolist() == expected
    changed = society(interventions=[{"day": 2, "set": {"pace": 3.0}, "societies": [FIRST + 1]}])
    assert verified(changed).identical
    report = verified(changed, (3, "grow", 1, "tally", (0,), lambda x: x - 2.0))
    assert report.difference.device_value == 3 * (FIRST + 1) + 3.0
    assert report.difference.reference_value == 3 * (FIRST + 1) + 5.0


class Resting(tallies.Tallies):
    """Ends each day with a phase that does nothing."""

    def __init__(self, **counts):
        self.counts = lambda p: counts

    def phases(self, p, copies):
        return {**super().phases(p, copies), "rest": Phase()}

    def schedule(self, p, tick, seen):
        return [*super().schedule(p, tick, seen), *[Step("rest")] * (tick > 0)]

    def reference(self, p):
        return {**super().reference(p), "rest": lambda p, s, day: None}


def test_rows_of_lists_are_compared_and_counted(verified):
    """Of societies 0, 1 and 2 milestones are on days 2 and 4, on day 3, and on day 4."""
    config = tallies.config(days=DAYS, replicates=3)
    report = verified(config, (4, "note", 0, "milestones", -1, lambda row: (*row[:1], 70)))
    found = report.difference
    assert (found.tick, found.phase, found.array) == (4, "note", "events milestones")
    assert (found.index, found.device_value) == ((0, 0, 1), 70)  # the first of its day
    report = verified(config, workload=Resting())
    assert report.identical and report.coverage.counts == {"milestones": 4}
    assert report.coverage.totals == {"rows of 'milestones'": 4}
    assert report.coverage.acted["rest"] == 0 and report.coverage.acted["note"] == DAYS
    none = verified(tallies.config(days=1), workload=Resting()).coverage
    assert none.counts == {"milestones": 0} and none.nowhere == {"milestones"}
    count = Count(("note",), rises("count"), "milestones", ("total",))
    for name in ("milestones", "reached"):  # a list that the workload counts itself
        found = verified(config, workload=Resting(**{name: count})).coverage
        assert (found.counts, found.totals) == ({name: 4.0}, {"milestones": 4.0})


NAN = np.float64("nan")
PAYLOAD = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]


@pytest.mark.parametrize(
    ("found", "expected", "index"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]], None),
        ([[1.0, 2.0], [3.0, 4.5]], [[1.0, 2.0], [3.0, 4.0]], (1, 1)),
        ([[1.0, 0.0], [9.0, 4.5]], [[1.0, -0.0], [3.0, 4.0]], (0, 1)),
        ([NAN, 1.0], [NAN, 1.0], None),
        ([PAYLOAD, 1.0], [NAN, 1.0], None),  # IEEE 754 leaves these bits to the device
        ([PAYLOAD, 1.0], [1.0, NAN], (0,)),
        ([1.0, np.nextafter(2.0, 3.0)], [1.0, 2.0], (1,)),
    ],
)
def test_bits_are_compared_and_the_first_is_named(found, expected, index):
    one, other = np.array(found), np.array(expected)
    same = np.array([1, 2], np.int32)
    seen = first_difference(
        "day", 3, "grow", {"b": one, "a": same, "c": same}, {"a": same, "b": other}
    )
    if index is None:
        assert seen is None
        return
    assert (seen.clock, seen.tick, seen.phase, seen.array) == ("day", 3, "grow", "b")
    assert seen.index == index and all(type(one) is int for one in seen.index)
    values = np.array([seen.device_value, seen.reference_value])
    wanted = np.array([one[index], other[index]])
    assert np.array_equal(values, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(values), np.signbit(wanted))


@pytest.mark.parametrize(
    "dtype", ["int32", "uint32", "uint64", "int64", "float32", "uint8", "bool"]
)
def test_arrays_of_every_type_are_compared(dtype):
    one = np.array([[0, 1], [1, 0]], dtype)
    other = one.copy()
    assert first_difference("day", 1, "p", {"x": one}, {"x": other}) is None
    other[1, 0] = 0
    seen = first_difference("day", 1, "p", {"x": one}, {"x": other})
    assert (seen.index, seen.device_value, seen.reference_value) == ((1, 0), 1, 0)


def test_the_first_different_event_is_named_by_copy_row_and_column():
    """Rows have the copy, the tick and numbers; those of a copy stand in their order."""
    rows = np.array([[0, 7, 5, 6], [0, 7, 1, 2], [2, 7, 8, 9], [2, 7, 3, 4]])
    empty = rows[:0]

    def found(a, b, name="x"):
        one = first_different_event("day", 7, "sell", {name: a, "y": empty}, {name: b, "y": empty})
        return one and (
            one.clock,
            one.tick,
            one.phase,
            one.array,
            one.index,
            one.device_value,
            one.reference_value,
        )

    assert found(rows, rows.copy()) is None and found(empty, empty) is None
    for at, column, place in ((0, 3, (0, 0, 2)), (1, 1, (0, 1, 0)), (2, 2, (2, 0, 1))):
        other = rows.copy()
        other[at, column] = 50
        other[-1, 3] = 60  # which is later
        expected = ("day", 7, "sell", "events x", place, 50, int(rows[at, column]))
        assert found(other, rows) == expected
    moved = rows[[1, 2, 3, 0]]  # a row of another tick is read after those of other copies
    moved[-1, 1] = 9
    assert found(moved, rows) == ("day", 7, "sell", "events x", (0, 0, 1), 1, 5)
    number = ("day", 7, "sell", "events x, number of rows")
    assert found(rows[[0, 2]], rows) == (*number, (0,), 1, 2)
    assert found(rows[:3], rows) == (*number, (2,), 1, 2)
    assert found(rows, empty) == (*number, (0,), 2, 0)
    assert found(empty, rows[2:]) == (*number, (2,), 0, 2)


def test_the_first_array_in_order_of_the_fields_is_named():
    one, other = np.array([1]), np.array([2])
    seen = first_difference("day", 1, "p", {"a": one, "b": one}, {"b": other, "a": other})
    assert seen.array == "b"


# -- what has happened ----------------------------------------------------------------------------


def test_events_are_counted_by_what_rises_or_falls():
    before, after = np.array([5, 1, 7], np.uint32), np.array([2, 4, 7], np.uint32)
    states = {"x": before}, {"x": after}
    assert (rises("x")(*states), falls("x")(*states)) == (3.0, 3.0)
    assert (rises("x")(*states[::-1]), falls("x")({"x": after + 1}, {"x": after})) == (3.0, 3.0)
    assert Count(("a",), rises("x"), "risen").series == ()


def coverage(acted, counts=(), shown=(), nowhere=()):
    counts = dict(counts)
    totals = {f"{name}s": n for name, n in counts.items()}
    return Coverage("day", acted, counts, totals, dict(shown), frozenset(nowhere))


@pytest.mark.parametrize(
    ("found", "missing", "text"),
    [
        (coverage({"a": 1}), [], "the only phase acted"),
        (coverage({"a": 2, "b": 1}), [], "all 2 phases acted"),
        (
            coverage({"a": 2, "b": 0}, {"sale": 1234, "loss": 0}),
            ["b", "loss"],
            "1 of 2 phases acted: 1,234 sales\n"
            "warning: did not happen on the days compared: b, loss",
        ),
        (
            coverage({"a": 0}, {"loss": 0, "gift": 0}, {"a": 7}, ["gift"]),
            ["a", "loss", "gift"],
            "0 of 1 phase acted\n"
            "warning: did not happen on the days compared: a (day 7 has it), loss\n"
            "warning: happens on no day of this run: gift",
        ),
    ],
)
def test_what_acted_is_reported_and_what_did_not(found, missing, text):
    assert found.missing == missing and str(found) == text


def test_a_report_says_which_days_were_compared():
    def report(**more):
        return str(VerifyReport(True, "day", 5, 3, "here", **more))

    assert report() == "identical: 5 days, 3 arrays"
    assert report(windows=((1, 5),)) == "identical: 5 days, 3 arrays"
    assert report(after=9) == "identical: 5 days from day 10 on, 3 arrays"
    several = report(windows=((1, 2), (7, 7), (9, 10)), after=1)
    assert several == "identical: 5 days (1 to 2, 7, 9 to 10), 3 arrays"
    assert report(coverage=coverage({"a": 1})) == (
        "identical: 5 days, 3 arrays\nthe only phase acted"
    )
    found = Difference("day", 2, "sell", "held", (0, 4), 1.5, 2)
    assert report(difference=found) == (
        "different: day 2, phase sell, array held, index [0, 4]: device 1.5, reference 2"
    )
