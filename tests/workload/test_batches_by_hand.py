"""Does each copy of a run in batches get its own state, logs and events? With an engine of numbers.

The engine counts: a copy's array is its number and the ticks that it has run. What real engines
do in batches: test_batches.py.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from small import small

from societies.workload import Setup
from societies.workload.declare.fields import Field, Series, series_columns, series_macros
from societies.workload.running import batches
from societies.workload.running.batches import Batches, Room
from societies.workload.running.logs import sorted_by_tick
from societies.workload.running.registry import workload
from societies.workload.running.state import checkpointed, initial_state, state_hash

FIELDS = {
    "number": Field((), "int32", "", "number of the copy"),
    "ticks": Field(("pair",), "float64", "", "ticks that it has run, twice"),
    "passing": Field((), "int32", "", "not checkpointed", checkpointed=False),
    "ended": Field((), "int32", "", "tick at which it ended"),
}


class Counting:
    """An engine of some copies at a place of the ensemble, whose numbers begin at 100."""

    def __init__(self, copies):
        self.copies, self.fields, self.parameters, self.built = copies, FIELDS, "p", "program"
        self.place, self.throttled, self.calls, self.now = 0, None, [], {}

    def at(self, place):
        self.place = place
        self.numbers = 100 + np.arange(place, place + self.copies, dtype=np.int32)

    def start(self):
        zero = np.zeros(self.copies, np.int32)
        ticks = np.zeros((self.copies, 2))
        self.now = {"number": self.numbers, "ticks": ticks, "passing": zero, "ended": zero - 1}

    def put(self, state):
        assert (state["number"] == self.numbers).all() or state["number"][-1] in self.numbers
        self.now = {name: array.copy() for name, array in state.items()}

    def load(self, state):
        assert {*state} == {"number", "ticks", "ended"}
        assert all(len(array) == self.copies for array in state.values())
        self.now = {**state, "passing": np.zeros(self.copies, np.int32)}

    def state(self):
        return {name: array.copy() for name, array in self.now.items()}

    def run_ticks(self, first, last):
        self.calls.append((self.place, first, last, self.throttled))
        count = last - first + 1
        self.now["ticks"] = self.now["ticks"] + count
        ends = self.numbers % 10 == 3  # copies 103 and 113 end in the block's last tick
        self.now["ended"] = np.where(ends, last, self.now["ended"]).astype(np.int32)
        ticks = np.arange(first, last + 1)
        self.log = 1000 * self.numbers[:, None] + ticks

    def logs(self):
        return {"series": self.log}

    def events(self):
        rows = [
            [place, tick, 7 * (100 + self.place + place)]
            for tick in (self.calls[-1][2], self.calls[-1][1])
            for place in range(self.copies)
        ]
        return {"births": np.array(rows, np.int32)}

    def measured(self):
        return {"seconds": np.array([1.0, 2.0])}

    def profiled(self):
        return "profile"

    def finish(self):
        self.now["ticks"] = self.now["ticks"] * -1

    def wait(self):
        self.calls.append("waited")


@pytest.mark.parametrize(("copies", "size"), [(7, 3), (6, 3), (5, 1), (4, 4)])
def test_every_copy_has_its_own_state_logs_and_events(copies, size):
    inner = Counting(size)
    engine = Batches(inner, copies)
    numbers = 100 + np.arange(copies)
    assert engine.count == -(-copies // size)
    assert engine.block_seconds == batches.SECONDS * engine.count
    assert (engine.parameters, engine.built, engine.throttled) == ("p", "program", False)
    assert engine.profile is None
    assert engine.logs() == engine.events() == engine.measured() == {}
    for _ in range(2):  # the second start begins again
        engine.start()
        assert engine.state()["number"].tolist() == numbers.tolist()
        assert engine.state()["ticks"].tolist() == [[0.0, 0.0]] * copies
        assert engine.ended() is None
        engine.run_ticks(1, 1)
    engine.start()
    inner.calls.clear()
    engine.throttled = True
    engine.run_ticks(1, 2)
    engine.run_ticks(3, 5)
    places = list(range(0, copies, size))
    assert inner.calls == [
        (place, first, last, True) for first, last in ((1, 2), (3, 5)) for place in places
    ]
    state = engine.state()
    assert {*state} == {*FIELDS} == {*dict(engine.each())}
    assert state["number"].tolist() == numbers.tolist()
    assert state["ticks"].tolist() == [[5.0, 5.0]] * copies
    assert engine.arrays("ticks")["ticks"].tolist() == state["ticks"].tolist()
    assert {*engine.arrays("ticks", "ended")} == {"ticks", "ended"}
    expected = [[1000 * n + tick for tick in (3, 4, 5)] for n in numbers]
    assert engine.logs()["series"].tolist() == expected
    rows = [[place, tick, 7 * (100 + place)] for tick in (3, 5) for place in range(copies)]
    assert engine.events()["births"].tolist() == rows
    assert engine.measured()["seconds"].tolist() == [len(places), 2.0 * len(places)]
    assert engine.profiled() == engine.profile == "profile"
    engine.finish()
    assert engine.state()["ticks"].tolist() == [[-5.0, -5.0]] * copies
    assert engine.hash() == state_hash(FIELDS, engine.state())
    engine.wait()
    assert inner.calls[-1] == "waited"


def test_the_last_copy_that_ends_ends_the_run():
    engine = Batches(Counting(2), 4)
    engine.start()
    engine.run_ticks(1, 3)
    assert engine.ended() is None  # copies 0 to 2 continue
    engine._parts = [{"ended": np.array([4, 9])}, {"ended": np.array([2, 3])}]
    assert engine.ended() == 9
    engine.fields = {}
    assert engine.ended() is None


@pytest.mark.parametrize(("copies", "size"), [(7, 3), (6, 2)])
def test_a_state_is_loaded_into_its_own_batches(copies, size):
    engine = Batches(Counting(size), copies)
    numbers = 100 + np.arange(copies, dtype=np.int32)
    ticks = np.stack([numbers * 1.5, numbers * 2.0], axis=1)
    state = {"number": numbers, "ticks": ticks, "ended": -numbers, "passing": numbers}
    for factor in (1.0, 3.0):  # the second state takes the place of the first
        engine.load({**state, "ticks": factor * ticks})
        found = engine.state()
        assert found["number"].tolist() == numbers.tolist()
        assert found["ticks"].tolist() == (factor * ticks).tolist()
        assert found["passing"].tolist() == [0] * copies
    last = numbers[-(copies % size or size) :].tolist()
    assert engine._parts[-1]["number"].tolist() == last + last[-1:] * (size - len(last))


def test_single_steps_are_refused():
    engine = Batches(Counting(2), 4)
    with pytest.raises(NotImplementedError):
        engine.steps(1)
    with pytest.raises(NotImplementedError):
        engine.step(None, 1)


def test_events_are_ordered_by_tick_and_within_by_copy():
    parts = [[[0, 3, 1], [1, 2, 2], [0, 2, 3]], [[2, 2, 4], [2, 1, 5]]]
    found = sorted_by_tick([np.array(part, np.int32) for part in parts])
    assert found.tolist() == [[2, 1, 5], [1, 2, 2], [0, 2, 3], [2, 2, 4], [0, 3, 1]]
    assert sorted_by_tick([], 2).shape == (0, 3)


# -- room ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("has", "in_one", "fits"),
    [(1000, 10**6, 9), (1099, 10**6, 9), (1100, 10**6, 10), (199, 10**6, 0), (10**6, 170, 4)],
)
def test_as_many_fit_as_memory_and_the_largest_array_allow(has, in_one, fits):
    """100 bytes for all, and 100 for each copy, of which 40 are in one array."""
    room = object.__new__(Room)
    room.fixed, room.bytes_per_copy, room.largest, room.has, room.in_one = 100, 100, 40, has, in_one
    assert room.copies == fits
    room._copies = "box"
    room._device = SimpleNamespace(name="this device", max_alloc=0)
    said = "memory: one box needs 200 B, this device has 199 B for it"
    assert room.lack() == ("" if fits else said)
    room.has, room._device.max_alloc = 199, 40  # the array itself fits
    assert room.lack() == said
    room.in_one = 39
    room._device.max_alloc = 39
    assert room.copies == 0 and "has an array of 40 B" in room.lack()
    room.has = 0
    assert room.copies == 2**31


@pytest.mark.parametrize(
    ("kind", "memory", "largest", "free", "has", "in_one"),
    [
        ("gpu", 1000, 300, 50, 900, 300),
        ("gpu", 1000, 0, 50, 900, 900),
        ("cpu", 1000, 300, 1500, 750, 300),
        ("cpu", 500, 0, 1500, 500, 500),
        ("cpu", 0, 0, 1500, 750, 750),
        ("cpu", 1000, 0, None, 900, 900),
    ],
)
def test_copies_have_a_share_of_a_gpus_memory_or_of_what_the_host_has_free(
    monkeypatch, kind, memory, largest, free, has, in_one
):
    """Shares of 0.9 and 0.5; a CPU's device may say less, or nothing."""
    monkeypatch.setattr(batches, "available_memory", lambda: free)
    chosen = workload("economy")
    fake = SimpleNamespace(kind=kind, global_memory=memory, max_alloc=largest)
    room = Room(Setup(chosen, small("economy")), fake)
    assert (room.has, room.in_one) == (has, in_one)


# -- fields ----------------------------------------------------------------------------------------


def test_initial_values_are_a_number_a_row_for_all_or_one_of_each_copy():
    fields = {
        "number": Field(("pair",), "float64", "", "", initial=2.5),
        "row": Field(("pair",), "int32", "", "", initial=lambda p: [p, p + 1]),
        "own": Field(("pair",), "int32", "", "", initial=lambda p: [[i, -i] for i in range(5)]),
    }
    for place, numbers in ((0, [0, 1, 2]), (2, [2, 3, 4]), (3, [3, 4, 4]), (9, [4, 4, 4])):
        found = initial_state(fields, {"pair": 2}, 3, 7, np.arange(place, place + 3))
        assert found["number"].tolist() == [[2.5, 2.5]] * 3
        assert found["row"].tolist() == [[7, 8]] * 3
        assert found["own"].tolist() == [[i, -i] for i in numbers]
    assert initial_state(fields, {"pair": 2}, 1, 7)["own"].tolist() == [[0, 0]]
    some = initial_state(fields, {"pair": 2}, 2, 7, np.array([3, 1]))["own"]
    assert some.tolist() == [[3, -3], [1, -1]]
    assert Field((), "int32", "", "").initial == 0
    assert Field(("a", "pair"), "float64", "", "").shape({"pair": 2, "a": 3}) == (3, 2)
    assert Field(("a", "pair"), "float64", "", "").nbytes({"pair": 2, "a": 3}) == 48
    with pytest.raises(NotImplementedError, match="the dimension 'b'"):
        Field(("b",), "int32", "", "x").shape({"a": 1})


def test_a_hash_is_of_names_types_shapes_and_bytes_of_what_is_checkpointed_and_compared():
    import hashlib

    fields = {
        "a": Field((), "int32", "", ""),
        "free": Field((), "int32", "", "", compared=False),
        "passing": Field((), "int32", "", "", checkpointed=False),
        "same": Field((), "int32", "", "", constant=True),
        "b": Field(("pair",), "float64", "", ""),
    }
    one, two = np.array([1, 2], np.int32), np.array([[0.5, 1.0], [2.0, -1.0]])
    state = {"b": two, "a": one, "free": one, "passing": one, "same": one}
    assert [*checkpointed(fields, state)] == ["a", "free", "b"]
    assert [*checkpointed(fields, {"b": two})] == ["b"]
    text = b"a <i4 (2,)\n" + one.tobytes() + b"b <f8 (2, 2)\n" + two.tobytes()
    expected = hashlib.sha256(text).hexdigest()
    assert state_hash(fields, state) == expected
    assert state_hash(fields, {**state, "b": two.astype(">f8")}) == expected
    assert state_hash(fields, {**state, "free": one + 1, "passing": one + 1}) == expected
    for name in ("a", "b"):
        assert state_hash(fields, {**state, name: state[name] + 1}) != expected
    assert state_hash(fields, {**state, "b": two.reshape(1, 4)}) != expected
    assert state_hash(fields, {**state, "a": one.astype(np.int64)}) != expected


def test_series_are_numbered_in_order():
    series = {"gini": Series("1", ""), "made": Series("1", "", ("kind",)), "other": Series("1", "")}
    columns = series_columns(
        series | {"price": Series("1", "", log="prices")}, {"kind": ("a", "b")}
    )
    assert columns == {"gini": ["gini"], "made": ["made_a", "made_b"], "other": ["other"]}
    places = {"SERIES_gini": 0, "SERIES_made_a": 1, "SERIES_made_b": 2, "SERIES_other": 3}
    assert series_macros(columns) == {"SERIES": 4, **places}
