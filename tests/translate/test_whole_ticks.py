"""Has a CPU the results of Python if it carries out all days of a block in one launch?"""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from societies.model import Bounded, DailyConfig, Events, Field, Model, Rng, Series, value
from societies.opencl import choose_device
from societies.workload.running import registry
from societies.workload.running.engines import LOG_TICKS, DeviceEngine, ReferenceEngine

NUMBERS = 300


class LotteryConfig(DailyConfig):
    """Keys."""

    workload: Literal["lottery"]
    spread: int = value(1, "How often a number is divided: 0 evenly spread, 3 skewed", "1", ge=0)
    prize: int = value(7, "What is won", "units", ge=0)


def begin(config, society, day):
    """Begin the stream."""
    society.stream = Rng.seed(config.stream_base, config.stream_gap, society.index).pack()


def draw(config, society, day):
    """Draw numbers, and put them in order."""
    rng = Rng.load(society.stream)
    drawn: list[int] = Bounded(NUMBERS)
    for _ in range(NUMBERS):
        number = rng.next() * 1000 - 2_000_000_000_000
        for _ in range(config.spread):
            number = number // (1 + rng.below(1000))
        drawn.append(number)
    drawn.sort()
    for k, number in enumerate(drawn):
        society.number[k] = number
    society.stream = rng.pack()
    if society.index == 1 and day == 6:
        society.ended = day


def pay(config, society, day):
    """Pay the prize; none is paid after the end."""
    society.won += config.prize
    if society.won % 2 == 1:
        society.prizes.append((day, society.won))
    society.series = {"all": float(society.won), "least": float(society.number[0])}


class Lottery(Model):
    """What is declared."""

    name, summary = "lottery", "a model of two phases"
    config, start, day = LotteryConfig, ("begin",), ("draw", "pay")

    def sizes(self, p):
        """Return the lengths."""
        return {"place": NUMBERS}

    def fields(self, p):
        """Return the state."""
        return {
            "number": Field(("place",), "int64", "1", "numbers in order"),
            "won": Field((), "int16", "units", "all prizes", logged=True),
            "stream": Field((), "uint64", "1", "stream", within=(1, "last state")),
            "ended": Field((), "int32", "day", "day of the end", initial=-1),
        }

    def events(self, p):
        """Return the lists of events."""
        return {"prizes": Events(2, 1)}

    def series(self, p):
        """Return the series."""
        return {"all": Series("units", "all prizes"), "least": Series("1", "least number")}


@pytest.fixture(scope="module")
def device():
    return choose_device("cpu")


def engines(device, **more):
    one = Lottery()
    p = one.parameters(LotteryConfig(workload="lottery", days=200, replicates=3, **more))
    found = DeviceEngine(one, p, device, copies=3), ReferenceEngine(one, p, copies=3)
    for engine in found:
        engine.start()
    return found


def require_same(found, expected):
    """Compare the logs, events and state of two engines."""
    for name, log in expected.logs().items():
        assert found.logs()[name].tobytes() == log.astype(found.logs()[name].dtype).tobytes(), name
    assert np.array_equal(found.events()["prizes"], expected.events()["prizes"])
    assert found.hash() == expected.hash()


def test_days_of_a_block_are_one_launch_with_the_results_of_python(device):
    engine, reference = engines(device, spread=0)
    first = 1
    for days in (LOG_TICKS, 1, 9):
        before = device.counters.launches
        for one in (engine, reference):
            one.run_ticks(first, first + days - 1)
        assert device.counters.launches == before + 1
        require_same(engine, reference)
        first += days
    assert engine.arrays("ended")["ended"].tolist() == [-1, 6, -1]
    assert engine.arrays("won")["won"][1] == 42, "the last day is completed"


def test_phases_that_are_measured_are_launched_one_by_one(device, monkeypatch):
    """The logs of both ways continue each other."""
    monkeypatch.setattr(device, "launched", None)
    engine, reference = engines(device, spread=3)
    for first, last in ((1, 3), (4, 9), (10, 12)):
        before = device.counters.launches
        if first == 4:
            engine.profiled()
        for one in (engine, reference):
            one.run_ticks(first, last)
        require_same(engine, reference)
        launches = device.counters.launches - before
        assert launches == (1 if first == 1 else 2 * (last - first + 1))


def test_a_change_of_parameters_within_a_block_ends_the_launch(device, monkeypatch):
    monkeypatch.setitem(registry._GIVEN, "lottery", (Path(), Lottery()))
    engine, reference = engines(device, interventions=[{"day": 3, "set": {"prize": 100}}])
    before = device.counters.launches
    for one in (engine, reference):
        one.run_ticks(1, 5)
    require_same(engine, reference)
    assert device.counters.launches == before + 5
    assert engine.arrays("won")["won"][0] == 3 * 7 + 2 * 100
