"""Is each part of a comparison right by itself: windows, days alone, counts, and what is missing?

The engine is a list of what was asked of it; whole verifications: test_verifying.py.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from societies.workload.checking.verify import Comparison
from societies.workload.running.engines import ENDED, LOG_TICKS, SERIES


class Engine:
    """Runs ticks alone, with a series that is above 0 and a row of a list on days of ``sales``."""

    def __init__(self, end=None, sales=()):
        self.end, self.sales, self.ran = end, set(sales), []

    def events(self):
        first, last = self.ran[-1]
        rows = [[0, day] for day in sorted(self.sales) if first <= day <= last]
        return {"deals": np.array(rows, int).reshape(-1, 2), "others": np.zeros((0, 2), int)}

    def ended(self):
        done = max((tick for _, tick in self.ran), default=0)
        return self.end if self.end is not None and done >= self.end else None

    def run_ticks(self, first, last):
        assert 1 <= last - first + 1 <= LOG_TICKS
        self.ran.append((first, last))

    def logs(self):
        first, last = self.ran[-1]
        sold = [[float(day in self.sales), np.nan] for day in range(first, last + 1)]
        return {SERIES: np.array([np.zeros((last - first + 1, 2)), sold])}

    def state(self):
        return {"x": np.zeros(1)}

    @property
    def days(self):
        return [day for first, last in self.ran for day in range(first, last + 1)]


def comparison(engine=None, last=300, **more):
    """Return a comparison of days of which nothing is known yet."""
    one = object.__new__(Comparison)
    facts = {"engine": engine or Engine(), "clock": "day", "_last": last, "end": last}
    facts |= {"difference": None, "windows": [], "planned": 0, "_done": 0, "loaded": []}
    facts |= {"_due": {}, "_acted": {}, "_counts": {}, "_kinds": {}, "_places": {}, "_fields": {}}
    facts |= {"_counted": ()}
    one.__dict__.update({**facts, **more})
    one._progress = lambda done, ticks, doing: None
    one.load = one.loaded.append
    return one


@pytest.mark.parametrize("length", [0, 1, 2, 63, 64, 65, 66, 128, 129, 130, 200])
def test_days_alone_are_all_days_once(length):
    one = comparison()
    one.run_on(7, 7 + length - 1)
    assert one.engine.days == list(range(7, 7 + length))
    assert len(one.loaded) == (length > 0)  # both sides continue from the device's state


def test_after_the_end_no_days_are_run_alone():
    one = comparison(Engine(end=70))
    one.run_on(3, 300)
    assert one.engine.ran == [(3, 66), (67, 130)] and not one.loaded


@pytest.mark.parametrize(
    ("first", "last", "end", "found", "days"),
    [
        (1, 3, None, None, [1, 2, 3]),
        (0, 2, None, None, [0, 1, 2]),
        (1, 3, 0, None, []),  # all copies have ended
        (1, 3, None, "differs", []),
        (1, 9, 2, None, [1, 2]),
        (0, 1, 0, None, [0]),  # `ended` is not known before tick 0
    ],
)
def test_a_window_ends_with_the_copies_or_a_difference(first, last, end, found, days):
    compared = []
    one = comparison(difference=found)

    def tick(number):
        compared.append(number)
        return None

    def ended():
        assert compared or first > 0
        return end if end is not None and max(compared, default=0) >= end else None

    one._tick, one.engine.ended = tick, ended
    one.window(first, last)
    assert compared == days
    shown = [day for day in days if day > 0]
    assert one.windows == ([(shown[0], shown[-1])] if shown else [])
    assert one.end == (end if end is not None and days else 300)


def test_what_a_phase_did_is_counted_under_its_own_name_or_that_before_its_part():
    kinds = {
        "sales": SimpleNamespace(phases=("sell",), of=lambda before, after: 3.0),
        "tools": SimpleNamespace(phases=("make (tools)",), of=lambda before, after: 5.0),
    }
    one = comparison(_kinds=kinds, _counts={"sales": 0, "tools": 0})
    old, new = {"x": np.zeros(1)}, {"x": np.ones(1)}
    for phase in ("sell", "sell (tools)", "make (tools)", "make (machines)", "make", "rest"):
        one._note(phase, old, new, {})
    one._note("sell", old, old, {})  # changed nothing
    assert one._counts == {"sales": 6.0, "tools": 5.0}
    assert one._acted == {
        **{"sell": 1, "sell (tools)": 1, "make (tools)": 1, "make (machines)": 1},
        **{"make": 1, "rest": 1},
    }


def test_rows_that_a_phase_appends_are_counted_and_are_a_change():
    one = comparison(_counted=("deals",), _counts={"deals": 0})
    same = {"x": np.zeros(1)}
    for rows in (0, 2, 1):
        one._note("sell", same, same, {"deals": rows})
    assert one._counts == {"deals": 3} and one._acted == {"sell": 2}


def test_steps_are_listed_from_before_the_first_tick_to_the_last(monkeypatch):
    monkeypatch.setattr("societies.workload.checking.verify.MOST_LISTED", 4)
    plan = {0: ["begin"], 1: ["grow"], 2: ["grow", "grow"], 3: ["sell"], 4: ["grow"], 5: ["late"]}
    chosen = SimpleNamespace(
        schedule=lambda p, tick, seen: plan[tick], part=lambda step, tick: f"a {step}"
    )
    every = {"a begin": [0], "a grow": [1, 2, 4], "a sell": [3]}
    for last, days in ((9, 4), (4, 4), (3, 3), (0, 0)):
        found = comparison(last=last, workload=chosen)._listed(None)
        assert found == {
            name: own for name, ticks in every.items() if (own := [t for t in ticks if t <= days])
        }


def looking(engine, *, due=(), counted=0, ends=False, last=300):
    kinds = {"sale": SimpleNamespace(series=("sold",))}
    return comparison(
        engine,
        last=last,
        _due=dict(due),
        _counts={"sale": counted},
        _kinds=kinds,
        _places={"sold": 0},
        _fields={ENDED: None} if ends else {},
    )


def test_days_of_what_is_missing_are_looked_for_to_the_end():
    one = looking(Engine(sales=(5, 77, 300)), due={"late": [150], "often": [1, 2]}, last=300)
    one._acted = {"often": 2}
    happens, whole = one.look_ahead(3)
    assert (happens, whole) == ({"late": [150], "sale": [5, 77, 300]}, True)
    assert one.engine.days == list(range(3, 301))
    assert [end - first + 1 for first, end in one.engine.ran[:8]] == [1, 2, 4, 8, 16, 32, 64, 64]


def test_days_with_rows_of_lists_that_had_none_are_looked_for_too():
    counts = {"deals": 0, "others": 4}
    for seconds, days, last in ((None, [5, 77], 300), (60.0, [5], 6)):
        one = comparison(Engine(sales=(5, 77)), _counted=("deals", "others"), _counts=counts)
        assert one.look_ahead(3, seconds) == ({"deals": days}, seconds is None)
        assert one.engine.ran[-1][1] in (last, 5)
    one = comparison(Engine(), _counted=("deals",), _counts={"deals": 1})
    assert one.look_ahead(3) == ({}, True) and one.engine.ran == []


def test_nothing_is_looked_for_that_was_seen_unless_the_end_is_not_known():
    one = looking(Engine(), counted=4, due={"late": [150]})
    assert one.look_ahead(3) == ({"late": [150]}, True) and one.engine.ran == []
    one = looking(Engine(end=100), counted=4, ends=True, due={"late": [100, 101, 150]})
    assert one.look_ahead(3) == ({"late": [100]}, True)  # the others come after the end
    assert one.end == 100 and one.engine.days == list(range(3, 130))  # of the block that has it
    one = looking(Engine(end=100), counted=4, ends=True)
    assert one.look_ahead(3, seconds=60.0) == ({}, True) and one.engine.ran == []
    assert looking(Engine(), last=2).look_ahead(3) == ({}, True)
    assert looking(Engine(sales=(3,)), last=3).look_ahead(3) == ({"sale": [3]}, True)


def test_with_a_time_it_is_enough_that_everything_happens_once(monkeypatch):
    one = looking(Engine(sales=(4, 200)))
    assert one.look_ahead(3, seconds=60.0) == ({"sale": [4]}, False)
    assert one.engine.days == [3, 4, 5]
    clock = iter([0.0, 0.0, 2.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    one = looking(Engine())
    assert one.look_ahead(3, seconds=1.0) == ({}, False) and one.engine.days == [3]


def test_what_is_missing_says_where_it_happens():
    kinds = {
        "sale": SimpleNamespace(total="sold", series=("sold",)),
        "gift": SimpleNamespace(total="sold", series=()),
        "loss": SimpleNamespace(total="lost", series=("lost",)),
        "deal": SimpleNamespace(total="sold", series=("sold",)),
    }
    due = {"begin": [0], "grow": [1, 2, 3], "late": [3], "never": [9], "first": [1, 2]}
    one = comparison(
        _kinds=kinds,
        _counts={"sale": 0, "gift": 2, "loss": 0, "deal": 1},
        _due=due,
        _acted={"grow": 2, "surprise": 1, "begin": 1},
        end=3,
    )
    found = one.coverage(0, {"late": [7, 3], "sale": [8, 5]}, True)
    assert found.acted == {"begin": 1, "grow": 2, "late": 0, "first": 0, "surprise": 1}
    assert found.totals == {"sold": 3, "lost": 0} and found.clock == "day"
    assert found.missing == ["late", "first", "sale", "loss"]
    assert found.shown_by == {"late": 3, "sale": 5} and found.nowhere == {"loss"}
    later = one.coverage(2, {}, False)  # days from 3 on, which does not say what happens nowhere
    assert later.acted == {"grow": 2, "late": 0, "surprise": 1}
    assert later.nowhere == frozenset()
