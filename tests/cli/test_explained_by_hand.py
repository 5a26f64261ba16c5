"""Are events, flows, rows of trades and the days of a trace recorded as they are reported, by hand?

Listeners get events made up here, and short days of a society without devices are traced from
wherever they can begin. On the reference: no device.
"""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from engines import ReferenceEngine

import societies
from reference_py.economy.curves import total_utility, utility_curve
from reference_py.economy.devices import DEVICE_TYPES
from reference_py.economy.parameters import REMOVE_AGENT, REMOVE_RESOURCE
from societies import config_from_dict
from societies.economy.explain import events, trace, trade_log
from societies.economy.explain.agent_day import AgentListener, DayPart
from societies.economy.explain.agent_life import Day, Life
from societies.economy.explain.life import life
from societies.economy.explain.replay import (
    EventTime,
    FlowListener,
    Listener,
    TradeListener,
    parameters_of_one,
)
from societies.economy.schedule import DayStep
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.workload.declare.protocol import Setup
from societies.workload.running.state import state_hash

# ---------------------------------------------------------------- events


def society(held, experience=(1.0,)):
    return SimpleNamespace(
        held=[[0], [held], [9]],
        value=[[0.0], [2.5], [9.0]],
        experience=[[0.0], list(experience), [9.0]],
        alive=[0, 1, 1],
        gain_per_minute=[0.0, 0.25, 9.0],
    )


def test_a_day_has_parts_with_what_an_agent_had_before_and_after():
    listener, held = AgentListener(1), iter(range(100))
    steps = [
        DayStep("start_day"),
        DayStep("refresh_values"),
        DayStep("matching"),
        DayStep("trading", 0),
        DayStep("trading", 1),
        DayStep("extraction"),
        DayStep("refresh_values"),
        DayStep("matching"),
        DayStep("trading", 0),
        DayStep("own_use", None, 0),
        DayStep("own_use", None, 2),
    ]
    for number, step in enumerate(steps):
        listener.begin(step, society(next(held)))
        listener.receive("utility", {"agent": 1, "utility": 10.0 * number})
        listener.receive("utility", {"agent": 2, "utility": -1.0})
        listener.receive("made", {"agent": 1, **MADE})
        listener.end(society(next(held)))
    found = listener.sections
    assert [(part.phase, part.device_type, part.market, len(part.steps)) for part in found] == [
        ("", -1, 0, 1),
        ("trading", -1, 1, 4),
        ("extraction", -1, 0, 1),
        ("trading", -1, 2, 3),
        ("own_use", 0, 0, 1),
        ("own_use", 2, 0, 1),
    ]
    assert [part.rounds for part in found] == [[], [0, 1], [0], [0], [0], [0]]
    assert [(part.before.held, part.after.held) for part in found] == [
        *(([0], [1]), ([2], [9]), ([10], [11]), ([12], [17]), ([18], [19]), ([20], [21]))
    ]
    assert [(part.before.utility, part.after.utility) for part in found] == [
        *((0.0, 0.0), (0.0, 40.0), (40.0, 50.0), (50.0, 80.0), (80.0, 90.0), (90.0, 100.0))
    ]
    first = found[0].before
    assert (first.value, first.experience, first.gain_per_minute) == ([2.5], [1.0], 0.25)
    assert first.alive is True and first.overtime == first.reserved_minutes == 0.0
    assert first.set_aside == first.device_minutes == first.to_make == []
    assert [len(part.events) for part in found] == [1, 4, 1, 3, 1, 1]
    markets = [place.market for part in found for place, _ in part.events]
    assert markets == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2]
    assert [place.step for part in found for place, _ in part.events] == steps


MADE = {
    "device_type": 1,
    "resource": 2,
    "by": None,
    "minutes": 8.0,
    "experience": 3.0,
    "parts": [0],
    "component": 0,
}
MEETING = {"menu_a": [1], "menu_b": [2], "refused": None}
UNIT = {"resource": 1, "source": 0, "start": 2.0, "minutes": 3.0, "value": 4.0, "gain": 5.0}
PAIR = {"gained": 2.0, "met": False}
OFFER = {"device_type": 0, "goods": [1], "offered": [2]}
BARGAIN = {"give": 3, "take": 4, "rate": 1.5}
ATTEMPT = {"device_type": 0, "considered": [1], "open": [2], "experience": 3.0, "probability": 0.5}
OWN = {"device_type": 0, "resource": 1, "benefit": 5.0, "cost": 4.0}
CONSIDERED = {"resource": 1, "benefit": 5.0, "cost": 4.0, "refused": ("costs more", [])}


@pytest.mark.parametrize(
    ("event", "facts", "expected"),
    [
        ("unit", {"agent": 1, **UNIT}, events.Unit(**UNIT)),
        ("made", {"agent": 1, **MADE}, events.Made(**MADE)),
        ("attempt", {"agent": 1, **ATTEMPT}, events.Attempt(**ATTEMPT)),
        (
            "own_use",
            {"agent": 1, "considered": [CONSIDERED], **OWN},
            events.OwnUse(**OWN, considered=[events.Considered(**CONSIDERED)]),
        ),
        *(
            (name, {first: 1, second: 5, **facts}, kind(1, 5, **own))
            for name, first, second, facts, kind, own in (
                ("meeting", "a", "b", {"attempt": 0, **MEETING}, events.Meeting, MEETING),
                ("pair", "a", "b", PAIR, events.Pairing, PAIR),
                ("bargain", "a", "b", BARGAIN, events.Bargain, BARGAIN),
                ("device_offer", "buyer", "seller", OFFER, events.DeviceTry, OFFER),
            )
        ),
    ],
)
def test_an_event_concerns_its_agents_alone(event, facts, expected):
    """Those of the agent are recorded with all that was reported, those of others are not."""
    two = "agent" not in facts
    names = [name for name in ("a", "b", "buyer", "seller", "agent") if name in facts]
    for agent in (1, 5, 7):
        listener = AgentListener(agent)
        listener.receive(event, facts)
        mine = agent == 1 or (two and agent == 5)
        assert (len(listener.events) == 1) == mine
        if mine:
            # NaN of what is not known yet is no number to compare.
            found = dataclasses.asdict(listener.events[0][1])
            right = dataclasses.asdict(expected)
            assert {k: v for k, v in found.items() if v == v} == {
                k: v for k, v in right.items() if v == v
            }
    if two:
        other = AgentListener(1)
        other.receive(event, {**facts, names[0]: 5, names[1]: 1})
        assert (vars_of(other)[names[0]], vars_of(other)[names[1]]) == (5, 1)


def vars_of(listener):
    return dataclasses.asdict(listener.events[0][1])


def test_what_concerns_all_agents_and_what_is_reported_again():
    listener = AgentListener(1)
    invented = {"agent": 3, "device_type": 0, "resource": 2, "parts": [1]}
    listener.receive("invented", invented)
    listener.receive("removed", {"what": "agent", "index": 2})
    listener.receive("meeting", {"a": 1, "b": 2, "attempt": 1, **MEETING})  # after a swap
    listener.receive("of_no_kind", {"x": 1})
    assert [event for _, event in listener.events] == [
        events.Invented(**invented),
        events.Removed("agent", 2),
    ]
    everyone = Listener()
    assert everyone.concerns(4) and not Listener(3).concerns(4) and Listener(4).concerns(3, 4)


def test_what_is_reported_later_is_added_to_the_last_that_concerns_the_agent():
    listener = TradeListener(1)
    listener.begin(DayStep("matching"), None)
    proposal = {"by": 1, "given": 2, "taken": 3, "surplus_a": 4.0, "surplus_b": 5.0}
    listener.receive("proposal", {**proposal, "refused": None})  # of nothing that was recorded
    listener.receive("device_price", {"paid": 9.0})
    listener.receive("bargain", {"a": 1, "b": 2, **BARGAIN})
    listener.receive("proposal", {**proposal, "refused": ("too dear", [2])})
    listener.receive("proposal", {**proposal, "given": 7, "refused": None})
    listener.receive("swap", {"value_a_after": [1.0, 2.0]})
    listener.receive("bargain", {"a": 3, "b": 2, **BARGAIN})
    listener.receive("proposal", {**proposal, "refused": ("none of ours", [])})
    listener.receive("swap", {"value_a_after": [8.0, 8.0]})
    listener.receive("bargain", {"a": 2, "b": 1, **BARGAIN})
    listener.receive("proposal", {**proposal, "refused": ("too cheap", [1])})
    listener.receive("device_offer", {"buyer": 2, "seller": 1, **OFFER})
    listener.receive("device_choice", {"resource": 4, "worth": 6.0})
    listener.receive("device_price", {"paid": 5.0, "units": [2]})
    listener.receive("sale", {"value_buyer_after": [0.5], "from_stock": True})
    listener.receive("device_offer", {"buyer": 2, "seller": 3, **OFFER})
    listener.receive("sale", {"value_buyer_after": [9.0]})
    (when, bargain), (_, other), (_, sold) = listener.events
    assert other.refused == ("too cheap", [1]) and other.swap is None
    assert when == EventTime(listener.step, 1)
    assert [one.given for one in bargain.proposals] == [2, 7]
    assert bargain.refused is None and bargain.swap is bargain.proposals[1]
    assert (sold.resource, sold.worth, sold.paid, sold.units) == (4, 6.0, 5.0, [2])
    assert sold.sold and sold.from_stock and sold.value_buyer_after == [0.5]


def test_reasons_in_words():
    assert events.reason_text(None) == "" and events.reason_text(("says no", [])) == "says no"
    assert events.reason_text(("gains nothing", [3])) == "a3 gains nothing"
    assert events.reason_text(("gains nothing", [3]), {3: "it"}) == "it gains nothing"
    assert events.reason_text(("gain nothing", [3, 4])) == "both gain nothing"
    assert events.worded_of_resources(("lacks", [1, 4])) == "lacks r1, r4"
    assert events.worded_of_resources(("is full", [])) == "is full"
    assert events.worded_of_resources(None) == ""
    own = events.OwnUse(**OWN, considered=[events.Considered(**CONSIDERED)])
    assert events.facts_of(own) == {**OWN, "considered": [{**CONSIDERED, "refused": "costs more"}]}
    lacking = events.Considered(1, 5.0, 4.0, ("lacks", [2]))
    assert events.facts_of(lacking)["refused"] == "lacks r2"
    meeting = events.Meeting(1, 2, [3], [4], ("gains nothing", [2]))
    assert events.facts_of(meeting)["refused"] == "a2 gains nothing"
    assert events.facts_of(meeting)["menu_a"] == [3]


# ---------------------------------------------------------------- flows and trades


def test_flows_by_hand():
    """Three resources: two units by hand, one with a machine; a tool and a factory are made."""
    p = SimpleNamespace(resources=3, device_lifetime=[10.0, 20.0, 30.0])
    listener = FlowListener(p, 12)  # resources, tools, machines, factories
    for source, minutes in ((0, 2.0), (0, 3.0), (2, 0.5)):
        listener.receive("unit", {"agent": 0, **UNIT, "source": source, "minutes": minutes})
    made = {"agent": 0, **MADE}
    parts = {"device_type": 0, "resource": 2, "parts": [0, 1], "component": None, "by": None}
    listener.receive("made", {**made, **parts, "minutes": 5.0})
    parts = {"device_type": 2, "resource": 0, "parts": [1, 2], "component": 1, "by": 1}
    listener.receive("made", {**made, **parts, "minutes": 7.0})
    expected, total = np.zeros((13, 12)), np.zeros(12)
    expected[12, 1], total[1] = 5.5, 3  # labour in resource 1
    expected[6 + 1, 1] = 0.5  # minutes of the machine for resource 1
    tool, factory = 3 + 2, 9 + 0
    expected[12, tool], expected[[0, 1], tool], total[tool] = 5.0, 1.0, 1
    expected[12, factory], total[factory] = 7.0, 1
    expected[6 + 0, factory] = 7.0  # made with a machine of the same resource
    expected[[6 + 1, 6 + 2], factory] = 20.0  # of two machines, which are used up
    np.testing.assert_array_equal(listener.matrix, expected)
    np.testing.assert_array_equal(listener.made, total)


@pytest.mark.parametrize(
    ("devices", "kinds"), [("none", []), ("tools", ["tool"]), ("all", list(DEVICE_TYPES))]
)
def test_goods_have_names(devices, kinds):
    config = SimpleNamespace(devices=devices, resources=2)
    right = [f"{kind} {r}" for kind in ("resource", *kinds) for r in (0, 1)]
    assert trade_log.goods(config) == right


def test_rows_of_trades_by_hand():
    place = EventTime(DayStep("trading", 3), 2)
    bargain = events.Bargain(
        *(4, 6, 1, 2, 0.5, 0.25, 3.0),
        *([10.0, 11.0], [20.0, 21.0], [12.0, 9.0], [18.0, 23.0]),
        [events.Proposal(6, 7, 8, 1.5, 2.5, None)],
    )
    refused = events.Bargain(4, 6, 1, 2, proposals=bargain.proposals)
    sale = events.DeviceTry(
        *(6, 4, 1, [0], [5, 3, 2], 8, 90.0, 40.0, [2, 0, 1], 60.0, 55.0, 30.0, 15.0),
        *([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [1.5, 2.0, 3.5], [3.5, 5.0, 5.5], True),
    )
    trades = [(17, place, one) for one in (refused, bargain, sale)]
    (row,) = trade_log._swap_rows(9, trades)
    assert row == (
        *(17, 9, 2, 3, 4, 6, 6, 1, 2, 7, 8, 3.0, 0.5, 0.25),
        *(10.0, 12.0, 11.0, 9.0, 20.0, 18.0, 21.0, 23.0, 1.5, 2.5),
    )
    columns = trade_log._columns(trade_log.RESOURCE_TRADES, [row])
    assert columns["society"].tolist() == [17] and columns["value_b_taken_after"].tolist() == [23.0]
    assert list(columns) == [column.name for column in trade_log.RESOURCE_TRADES]
    rows = trade_log._sale_rows(9, trades, 4)
    found = trade_log._columns(trade_log.DEVICE_TRADES, rows, 4)
    nan = math.nan
    right = {
        **{"society": 17, "day": 9, "market": 2, "round": 3, "buyer": 6, "seller": 4},
        **{"device_type": 1, "resource": 8, "from_stock": 1, "units_paid": 3},
        **{"worth": 90.0, "cost": 40.0, "paid": 60.0, "received": 55.0},
        **{"surplus_buyer": 30.0, "surplus_seller": 15.0},
        "paid_resource": [5, 2, -1, -1],
        "paid_units": [2, 1, 0, 0],
        "value_buyer_before": [1.0, 3.0, nan, nan],
        "value_buyer_after": [1.5, 3.5, nan, nan],
        "value_seller_before": [4.0, 6.0, nan, nan],
        "value_seller_after": [3.5, 5.5, nan, nan],
    }
    assert list(found) == list(right)
    for name, values in right.items():
        np.testing.assert_array_equal(found[name], [values], err_msg=name)
    nothing = trade_log._columns(trade_log.DEVICE_TRADES, [], 4)
    assert nothing["paid_units"].shape == (0, 4) and nothing["day"].shape == (0,)


LOG = {"trade_log": {"days": [3, 5], "societies": 2}}


@pytest.mark.parametrize(
    ("record", "devices", "stops", "replayed", "coordinates", "tables"),
    [
        ({}, "none", set(), {}, [], []),
        (LOG, "none", {2, 3, 4, 5}, {3: 2, 5: 2}, [], ["resource_trades"]),
        (
            LOG,
            "tools",
            {2, 3, 4, 5},
            {3: 2, 5: 2},
            ["payment"],
            ["resource_trades", "device_trades"],
        ),
        ({"input_output": True}, "tools", {6, 7}, {7: 3}, ["output", "input"], []),
        (
            {"input_output": True, **LOG},
            "none",
            {2, 3, 4, 5, 6, 7},
            {3: 2, 5: 2, 7: 3},
            ["output", "input"],
            ["resource_trades"],
        ),
    ],
)
def test_what_a_log_needs(record, devices, stops, replayed, coordinates, tables):
    settings = {"agents": 4, "resources": 5, "days": 7, "replicates": 3, "devices": devices}
    config = config_from_dict({"workload": "economy", **settings, "record": record})
    log = trade_log.TradeLog(Setup(WORKLOAD, config))
    assert log.stops() == stops
    replays = {day: log.societies(day) for day in range(1, 9)}
    assert {day: count for day, count in replays.items() if count} == replayed
    assert [one.name for one in log.coordinates()] == coordinates
    assert [one.name for one in log.tables()] == tables
    whole = ["input_output", "input_total", "output_total"]
    assert [one.name for one in log.variables()] == (whole if record.get("input_output") else [])
    log.write(None, None, 3, {}, None)  # of which there is no morning: nothing happens


# ---------------------------------------------------------------- days and lives from anywhere


SETTINGS = {
    "workload": "economy",
    "agents": 4,
    "resources": 5,
    "days": 9,
    "day_length": 60.0,
    "replicates": 2,
    "first_society": 3,
    "trading": {"rounds": 1, "menu_size": 2},
    "interventions": [{"day": 7, "set": {"day_length": 90.0}, "societies": [4]}],
    "shocks": [
        {"day": 2, "remove": "resource", "index": 1},
        {"day": 6, "remove": "agent", "index": 2},
    ],
    "record": {"keep": [4]},
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return a configuration, a file with the state after day 4, and society 4 after each day."""
    config = config_from_dict(SETTINGS)
    path = tmp_path_factory.mktemp("recorded") / "run.h5"
    societies.run(config, device="reference", out=path)
    p = parameters_of_one(WORKLOAD.parameters(config), 4)
    engine = ReferenceEngine(p)
    engine.start()
    states = [engine.state()]
    for day in range(1, 10):
        engine.run_days(day, day)
        states.append(engine.state())
    return SimpleNamespace(config=config, path=path, p=p, states=states)


@pytest.mark.parametrize(
    ("day", "start", "reached", "before"),
    [
        (1, False, "at once, on the first day", []),
        (2, False, "by day 1 on reference", [1]),
        (4, False, "by days 1 to 3 on reference", [1, 2, 3]),
        (5, True, "from the checkpoint of day 4 in {}", []),
        (6, True, "from the checkpoint of day 4 in {}, by day 5 on reference", [5]),
        (9, True, "from the checkpoint of day 4 in {}, by days 5 to 8 on reference", [5, 6, 7, 8]),
    ],
)
def test_a_day_is_reached_from_where_it_can_be(recorded, day, start, reached, before):
    heard = []
    found = trace.trace(
        Setup(WORKLOAD, recorded.config),
        day=day,
        agent=1,
        society=4,
        start=recorded.path if start else None,
        device="reference",
        progress=lambda done, days: heard.append((done, days)),
    )
    assert found.reached == reached.format(recorded.path)
    first = (4 if start else 0, day)
    assert heard == [first, *((one, day) for one in before), (day, day)]
    assert (found.society, found.day, found.agent) == (4, day, 1)
    assert found.state_sha256 == state_hash(WORKLOAD.fields(recorded.p), recorded.states[day])
    assert found.checked == "the day was run by the reference alone"
    for snapshot, state in ((found.morning, day - 1), (found.evening, day)):
        assert snapshot.held == recorded.states[state]["held"][0, 1].tolist()
        assert snapshot.experience == recorded.states[state]["experience"][0, 1].tolist()
        assert snapshot.value == recorded.states[state]["value"][0, 1].tolist()
        worth = [
            total_utility(utility_curve(found.parameters, 1, r), n)
            for r, n in enumerate(snapshot.held)
        ]
        assert snapshot.utility == pytest.approx(sum(worth))
    assert found.morning.utility != found.evening.utility
    assert found.parameters.day_length == (90.0 if day > 7 else 60.0)
    assert found.recipes == []
    assert [part.phase for part in found.sections][-1] == "shocks" or day not in (2, 6)


def test_a_part_of_a_day_and_parts_that_are_none(recorded):
    trading = trace.trace(
        Setup(WORKLOAD, recorded.config), day=2, agent=0, phase="trading", device="reference"
    )
    assert trading.society == 3 and {part.phase for part in trading.sections} == {"trading"}
    for phase in ("own_use", "invention", "matching"):
        with pytest.raises(ConfigError, match=f"phase={phase!r}: the parts of day 3 are trading, "):
            trace._require_phase(recorded.p, 3, phase)
    trace._require_phase(recorded.p, 3, None)
    trace._require_phase(recorded.p, 2, "shocks")
    with pytest.raises(ConfigError, match="the parts of day 3 are trading, extraction, "):
        trace._require_phase(recorded.p, 3, "shocks")


@pytest.mark.parametrize(
    ("day", "agent", "number", "message"),
    [
        (0, 0, 3, "day=0: the configuration has days 1 to 9"),
        (10, 0, 3, "day=10: the configuration has days 1 to 9"),
        (1, -1, 3, "agent=-1: the agents are 0 to 3"),
        (1, 4, 3, "agent=4: the agents are 0 to 3"),
        (1, 0, 2, "society=2: the configuration's societies are 3 to 4"),
        (1, 0, 5, "society=5: the configuration's societies are 3 to 4"),
    ],
)
def test_what_does_not_exist_is_refused(recorded, day, agent, number, message):
    with pytest.raises(ConfigError, match=message):
        trace.require_agent(recorded.config, day, agent, number)
    for right in ((1, 0, 3), (9, 3, 4)):
        trace.require_agent(recorded.config, *right)
    alone = config_from_dict({**SETTINGS, "replicates": 1, "interventions": []})
    with pytest.raises(ConfigError, match="the configuration's only society is 3"):
        trace.require_agent(alone, 1, 0, 4)


def test_a_removed_agent_has_no_day(recorded):
    with pytest.raises(ConfigError, match="agent=2: was removed at the end of day 6, before day 8"):
        trace.trace(Setup(WORKLOAD, recorded.config), day=8, agent=2, society=4, device="reference")
    shocks = [(2, REMOVE_RESOURCE), (4, REMOVE_AGENT), (5, REMOVE_AGENT)]
    p = SimpleNamespace(shocks=[SimpleNamespace(day=day, remove=what) for day, what in shocks])
    state = {"alive": np.array([[1, 0, 1]]), "shock_target": np.array([[1, 0, 1]])}
    trace._require_alive(p, state, 0, 9)
    with pytest.raises(ConfigError, match="at the end of day 5, before day 9"):
        trace._require_alive(p, state, 1, 9)


def test_recipes_are_lists_of_what_they_need():
    assert trace._recipes({"recipe": np.array([[[[0, 2, -1], [-1, -1, -1]]]])}) == [[[0, 2], []]]


class Counting:
    def __init__(self):
        self.ran = []

    def run_ticks(self, first, last):
        self.ran.append((first, last))


def test_the_parameters_of_one_society_are_for_it_alone():
    whole = WORKLOAD.parameters(config_from_dict({**SETTINGS, "interventions": []}))
    one = parameters_of_one(whole, 4)
    assert (one.first_society, one.societies, one.seed) == (4, 1, whole.seed)
    assert (whole.first_society, whole.societies) == (3, 2)


def test_days_are_run_and_reported_one_by_one():
    engine, heard = Counting(), []
    trace.run_days(engine, 3, 5, lambda *one: heard.append(one), 8)
    assert engine.ran == [(3, 3), (4, 4), (5, 5)]
    assert heard == [(2, 8), (3, 8), (4, 8), (5, 8)]
    trace.run_days(engine, 6, 5, None, 8)
    assert len(engine.ran) == 3


@pytest.mark.parametrize(
    ("days", "start", "reached", "known"),
    [
        ("1:3", False, "by days 1 to 3 on reference", None),
        ("5:6", True, "from the checkpoint of day 4 in {}, by days 5 to 6 on reference", None),
        ("7:9", True, "from the checkpoint of day 4 in {}, by days 5 to 9 on reference", True),
        ("3:5", False, "by days 1 to 5 on reference", True),
    ],
)
def test_a_life_is_reached_from_where_it_can_be(recorded, days, start, reached, known):
    """Its units are those of the states; a measure of the evening before is not in a checkpoint."""
    heard = []
    found = life(
        Setup(WORKLOAD, recorded.config),
        days=days,
        agent=1,
        society=4,
        start=recorded.path if start else None,
        device="reference",
        progress=lambda done, of: heard.append((done, of)),
    )
    first, last = map(int, days.split(":"))
    assert found.reached == reached.format(recorded.path)
    assert [day.day for day in found.days] == list(range(first, last + 1))
    begin = 4 if start else 0
    assert heard == [(begin, last), *((day, last) for day in range(begin + 1, last + 1))]
    assert (found.before is not None) == bool(known)
    for day in found.days:
        extracted = recorded.states[day.day]["extracted"][0, 1]
        assert day.extracted == {r: n for r, n in enumerate(extracted.tolist()) if n}
        assert day.wealth_devices == 0.0 and not day.made and not day.deals
        assert bool(day.change) == (known is not None or first == 1 or day.day > first)
    plain = life(
        Setup(WORKLOAD, recorded.config), days=days, agent=1, society=4, device="reference"
    )
    for one, other in zip(found.days[1:], plain.days[1:], strict=True):
        assert one == other
    assert found.mean_wealth == plain.mean_wealth


def test_ranks_before_and_the_largest_turns():
    ranks = [4, 4, 1, 3, 2, 3]
    days = [Day(7 + i, rank, *(0.0,) * 3, {}, {}, {}, {}, 0.0) for i, rank in enumerate(ranks)]
    whole = Life(5, 1, 0, 0, 7, 12, False, days, before=(5, 1.0))
    assert [whole.rank_before(day) for day in days] == [5, 4, 4, 1, 3, 2]
    assert [day.day for day in whole.turns()] == [9, 10, 7, 11, 12]  # of equal ones the first
    unknown = dataclasses.replace(whole, before=None)
    assert unknown.rank_before(days[0]) is None
    assert [day.day for day in unknown.turns()] == [9, 10, 11, 12]
    many = [dataclasses.replace(days[0], day=7 + i, rank=1 + i % 2) for i in range(15)]
    assert len(Life(5, 1, 0, 0, 7, 21, False, many).turns()) == 10


def test_rounds_are_those_of_the_part_itself():
    part = DayPart("trading", -1, 1, None, None)
    part.steps = [DayStep("matching", 5), DayStep("trading", 0), DayStep("trading", 1)]
    assert part.rounds == [0, 1]
