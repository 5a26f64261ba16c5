"""Is a day of a life what the arrays of two evenings say? Six agents, worked out by hand.

Whole lives, from the states of the reference: tests/cli/test_life.py.
"""

import json
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

from reference_py.economy.devices import SOURCES
from societies import config_from_dict
from societies.economy import scene
from societies.economy.explain import life as life_module
from societies.economy.explain import trace as trace_module
from societies.economy.explain.agent_day import _recorder
from societies.economy.explain.agent_life import PARTS, Life
from societies.economy.explain.events import reason_text, worded_of_resources
from societies.economy.explain.life import _day, _ranks, resource_of, without_invention
from societies.economy.explain.trade_log import DEVICE_TRADES
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.workload import Setup

BEFORE = np.array([10.0, 8.0, 8.0, 6.0, 50.0, 1.0])
NOW = np.array([7.0, 8.0, 9.0, 8.0, 99.0, 2.0])
ALIVE = np.array([1, 1, 1, 1, 0, 1])
"""Agent 4, by far the wealthiest, has been removed today."""


def evening(wealth, alive, **more):
    zero = np.zeros(6)
    found = dict.fromkeys(
        ("income", "income_extraction", "income_swaps", "utility_consumed", "gain_per_minute"), zero
    )
    found |= {"wealth": wealth, "alive": alive, "extracted": np.zeros((6, 2), np.int32)}
    return {**found, **more}


def day(agent, number=5, devices=False, **more):
    life = Life(6, 2, 0, agent, 1, 9, devices, reached="")
    return _day(life, number, evening(BEFORE, np.ones(6, int)), evening(NOW, ALIVE, **more))


@pytest.mark.parametrize(
    ("agent", "rank", "overtook", "overtaken_by"),
    [
        (0, 4, [], [1, 2, 3]),  # 7 was 10: those with 8, 9 and 8 were behind
        (1, 2, [0], []),  # 3 has 8 as well now, which is not more; 2 had as much
        (2, 1, [0], []),
        (3, 2, [0], []),  # 1 had more and has as much: not behind
        (5, 5, [], []),
    ],
)
def test_who_left_whom_behind(agent, rank, overtook, overtaken_by):
    assert _ranks(evening(NOW, ALIVE))[agent] == rank
    found = day(agent)
    assert (found.rank, found.overtook, found.overtaken_by) == (rank, overtook, overtaken_by)
    first = day(agent, number=1)  # no agent had anything before, so none was ahead
    assert (first.overtook, first.overtaken_by) == ([], [])


def test_means_are_those_of_the_other_living():
    """Of 1, 2, 3, 4, 500, 6: without agent 1 and the one removed, 14 by 4 others."""
    found = day(1, income_extraction=np.array([1.0, 2, 3, 4, 500, 6]))
    assert (found.change["extraction"], found.mean["extraction"]) == (2.0, 14 / 4)
    changes = NOW - BEFORE - [1, 2, 3, 4, 500, 6]  # -4, -2, -2, -2, ..., -5
    assert (found.change["other"], found.mean["other"]) == (changes[1], -13 / 4)
    assert {*found.change} == {*found.mean} == {*PARTS}


def test_devices_count_where_there_are_some():
    devices = np.array([0.0, 3.0, 0, 0, 0, 0])
    made = np.zeros((6, 2, 2), np.int32)
    made[1, 1, 0] = 2
    more = {
        "wealth_devices": devices,
        "extracted_with": np.zeros((6, len(SOURCES)), int),
        "devices_made": made,
        "invented_on": np.array([[5, 5], [4, -1]]),
        "inventor": np.array([[1, 0], [1, -1]]),
    }
    more["extracted_with"][1, :3] = [4, 0, 2]
    found = day(1, devices=True, **more)
    assert (found.wealth_devices, found.change["devices"]) == (3.0, 3.0)
    assert list(found.sources.values()) == [4, 2] and found.made == {(1, 0): 2}
    assert found.invented == [(0, 0)]  # today and by this agent
    assert day(1).wealth_devices == 0.0 and day(1).sources == {}


@pytest.mark.parametrize(
    ("text", "resource"),
    [
        *(("invention:0", 0), ("invention:3", 3), ("invention:4", None), ("invention:", None)),
        *(("invention", None), ("inventions:1", None), ("invention:-1", None), ("1", None)),
    ],
)
def test_which_invention_is_left_out(text, resource):
    if resource is not None:
        assert resource_of(text, 4) == resource
        return
    with pytest.raises(
        ConfigError, match=r"expected invention:R, where R is a resource from 0 to 3"
    ):
        resource_of(text, 4)


def test_without_an_invention_all_else_is_equal():
    config = config_from_dict(
        {"workload": "economy", "resources": 4, "agents": 3, "days": 2, "devices": "all"}
    )
    found = without_invention(config, 2)
    assert found.invention.banned_of == 2
    rest = {"invention": {**config.model_dump()["invention"], "banned_of": 2}}
    assert found.model_dump() == {**config.model_dump(), **rest}
    none = config_from_dict({**config.model_dump(mode="json"), "devices": "none"})
    with pytest.raises(ConfigError, match="without: nothing is invented without devices"):
        without_invention(none, 2)


@pytest.mark.parametrize(("begin", "known"), [(3, True), (4, True), (5, False)])
def test_a_life_from_a_file_begins_at_the_last_checkpoint_before_it(monkeypatch, begin, known):
    """The evening before is known if it was run, not if it is that of the checkpoint."""
    seen = []

    def checkpoint_of(setup, path, day):
        seen.append((str(path), day))
        return begin, {}

    monkeypatch.setattr(trace_module, "checkpoint_of", checkpoint_of)
    monkeypatch.setattr(trace_module, "state_of_one", lambda state, place: {"of": place})
    monkeypatch.setattr(trace_module, "ReferenceEngine", lambda *_, first: engine)
    monkeypatch.setattr(trace_module, "run_days", lambda engine, first, last, *_: seen.append(last))
    monkeypatch.setattr(life_module, "_live", lambda *_, known, progress: seen.append(known))
    engine = Mock()
    config = config_from_dict({"workload": "economy", "days": 9, "replicates": 3})
    asked = {"days": "6:9", "agent": 0, "society": 2, "start": "a.h5", "device": "reference"}
    found = life_module.life(Setup(WORKLOAD, config), **asked)
    assert seen == [("a.h5", 5), 5, known] and (found.first, found.society) == (6, 2)
    engine.load.assert_called_once_with({"of": 2})
    engine.start.assert_not_called()


def test_every_evening_has_what_policies_gave_and_took_where_there_are_some():
    def read(devices, *fields):
        names = []
        engine = Mock(fields=fields)
        engine.arrays = lambda *asked: names.extend(asked) or {}
        life_module._evening(engine, devices)
        return names

    plain, all_of_it = read(False), read(True, "redistributed")
    assert "redistributed" not in plain and "invented_on" not in plain
    assert all_of_it == [*plain, *life_module.DEVICE_EVENING, "redistributed"]


def test_data_of_a_life_have_those_of_its_twin():
    alone, twin = (Life(6, 2, number, 0, 1, 9, False, reached="") for number in (3, 4))
    assert alone.data()["without"] is None
    alone.without = twin
    assert alone.data()["without"]["society"] == 4


def test_a_twin_without_an_invention_is_for_a_life_from_the_first_day_on(monkeypatch):
    config = config_from_dict({"workload": "economy", "days": 2, "devices": "all"})
    asked = {"agent": 0, "without": "invention:1"}
    with pytest.raises(ConfigError, match="without='invention:1': is of a life"):
        WORKLOAD.trace(config, day=1, **asked)
    monkeypatch.setattr(life_module, "life", lambda *_, **__: Life(6, 2, 0, 0, 1, 2, True))
    with pytest.raises(
        ConfigError, match="the twin lives from day 1 on; leave out the argument start"
    ):
        WORKLOAD.trace(config, days="1:2", start="a.h5", **asked)
    monkeypatch.setattr(life_module, "life", lambda setup, **_: Life(6, 2, 0, 0, 1, 2, True))
    found = json.loads(WORKLOAD.trace(config, days="1:2", form="json", **asked))
    assert found["without_of"] == 1 and found["without"]["without"] is None
    found = json.loads(WORKLOAD.trace(config, days="1:2", form="json", agent=0))
    assert found["without"] is None


def test_a_page_shows_the_society_and_the_trades_of_each_day():
    config = config_from_dict({"workload": "economy", "agents": 5, "days": 2})
    assert WORKLOAD.watched(config) == scene.watched(config)
    p = WORKLOAD.parameters(config)
    assert WORKLOAD.scene(p) == scene.scene(p, WORKLOAD.fields(p), WORKLOAD.series(p))


def test_reasons_name_who_and_what_they_are_about():
    names = {3: "it"}
    assert reason_text(("refuses", (3,)), names) == "it refuses"
    assert reason_text(("refuses", (4,)), names) == reason_text(("refuses", (4,))) == "a4 refuses"
    assert reason_text(("refuse", (3, 4)), names) == "both refuse"
    assert (reason_text(("nothing", ())), reason_text(None)) == ("nothing", "")
    assert worded_of_resources(("knows no", (2, 5))) == "knows no r2, r5"
    assert (worded_of_resources(("nothing", ())), worded_of_resources(None)) == ("nothing", "")


def test_a_payment_ends_where_its_resource_is_minus_one():
    """As the table says itself, and as its readers take for missing."""
    nothing = {one.name: one.none for one in DEVICE_TRADES if one.dim and one.dtype == "int32"}
    assert nothing == {"paid_resource": -1, "paid_units": 0}


def test_of_an_agent_only_its_own_events_are_stored():
    events = []
    listener = SimpleNamespace(concerns=lambda agent: agent == 3, keep=events.append)
    record = _recorder(dict)
    record(listener, 2, minutes=1.0)
    record(listener, 3, minutes=2.0)
    assert events == [{"minutes": 2.0}]
