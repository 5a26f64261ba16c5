"""Is an agent's life reported truly: against the reference's own report of every single day?"""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
import yaml
from small import WITH_DEVICES

from reference_py.economy.society import new_society
from societies import config_from_dict
from societies.economy.explain import life as life_module
from societies.economy.explain import report_life
from societies.economy.explain.agent_life import PARTS, Day, Dealt, Life, Swapped
from societies.economy.explain.life import _dealt, _partner, _swapped, days_of, life
from societies.economy.parameters import parameters
from societies.economy.schedule import day_schedule
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError
from societies.workload import Setup
from societies.workload.declare.phases import Step

pytestmark = pytest.mark.ci

SETTINGS = {
    **WITH_DEVICES,
    "days": 14,
    "record": {"keep": [5]},
    "shocks": [{"day": 12, "remove": "agent", "index": 2}],
}
AGENT = 3


@pytest.fixture(scope="module")
def lived():
    return life(
        Setup(WORKLOAD, config_from_dict(SETTINGS)), days="1:14", agent=AGENT, device="reference"
    )


@pytest.fixture(scope="module")
def reported():
    """Return what the reference reports of each day."""
    from reference_py.economy.schedule import schedule

    p = parameters(config_from_dict(SETTINGS))
    society, days = new_society(p), []
    events = []
    society.listener = lambda event, facts: events.append((event, dict(facts)))
    for day in range(SETTINGS["days"] + 1):
        events.clear()
        for step in schedule(p, day):
            step.run(p, society, day)
        days.append(list(events))
    return days[1:]


def test_every_day_is_that_of_the_reference(lived, reported):
    swapped = dealt = invented = 0
    for day, events in zip(lived.days, reported, strict=True):
        given, received, gained = Counter(), Counter(), Counter()
        sold, bought, made, new, units = [], [], Counter(), [], Counter()
        bargain = offer = meeting = choice = price = None
        for event, facts in events:
            if event == "bargain":
                bargain = facts
            elif event == "proposal":
                offer = facts
            elif event == "swap" and AGENT in (bargain["a"], bargain["b"]):
                own_a = bargain["a"] == AGENT
                sides = [(bargain["give"], offer["given"]), (bargain["take"], offer["taken"])]
                (gives, g), (gets, t) = sides if own_a else sides[::-1]
                given[gives] += g
                received[gets] += t
                partner = bargain["b"] if own_a else bargain["a"]
                gained[partner] += offer["surplus_a" if own_a else "surplus_b"]
            elif event == "device_offer":
                meeting = facts
            elif event == "device_choice":
                choice = facts
            elif event == "device_price":
                price = facts
            elif event == "sale" and meeting["seller"] == AGENT:
                sold.append((meeting["device_type"], meeting["buyer"], price["received"]))
            elif event == "sale" and meeting["buyer"] == AGENT:
                bought.append((meeting["device_type"], choice["resource"], price["paid"]))
            elif event == "made" and facts["agent"] == AGENT:
                made[facts["device_type"], facts["resource"]] += 1
            elif event == "unit" and facts["agent"] == AGENT:
                units[facts["resource"]] += 1
            elif event == "invented" and facts["agent"] == AGENT:
                new.append((facts["device_type"], facts["resource"]))
        assert day.extracted == units
        assert day.made == made
        assert sorted(day.invented) == sorted(new)
        found = Counter()
        for swap in day.swaps:
            found[swap.partner] += swap.gained
        assert {a: pytest.approx(x) for a, x in gained.items()} == found
        net = Counter(received)
        net.subtract(given)
        own = Counter()
        for swap in day.swaps:
            own.update(swap.received)
            own.subtract(swap.given)
        assert {r: n for r, n in net.items() if n} == {r: n for r, n in own.items() if n}
        own_sales = [one for one in day.deals if one.sold]
        assert sum(one.count for one in own_sales) == len(sold)
        assert sum(one.util for one in own_sales) == pytest.approx(sum(u for *_, u in sold))
        assert {one.partner for one in own_sales} == {b for _, b, _ in sold}
        own_buys = [one for one in day.deals if not one.sold]
        assert sum(one.util for one in own_buys) == pytest.approx(sum(u for *_, u in bought))
        assert {(o.device_type, r) for o in own_buys for r in o.resources} == {
            (t, r) for t, r, _ in bought
        }
        swapped, dealt = swapped + len(day.swaps), dealt + len(sold) + len(bought)
        invented += len(new)
    assert swapped > 20 and dealt > 5 and invented > 2


def test_the_parts_of_a_day_make_its_change_of_wealth(lived):
    before = 0.0
    for day in lived.days:
        assert set(day.change) == set(PARTS)
        assert sum(day.change.values()) == pytest.approx(day.wealth - before)
        before = day.wealth
    assert lived.days[-1].wealth_devices > 0.0


def test_ranks_follow_from_the_wealth_of_all(lived):
    config = config_from_dict({**SETTINGS, "record": {"measures": True}})
    p, ranks = parameters(config), []
    from engines import ReferenceEngine

    engine = ReferenceEngine(p)
    engine.start()
    for day in range(1, 15):
        for step in day_schedule(p, day):
            engine.step(step, day)
        state = engine.arrays("wealth", "alive")
        wealth = state["wealth"][0][state["alive"][0] > 0]
        ranks.append(1 + int((wealth > state["wealth"][0][AGENT]).sum()))
    assert [day.rank for day in lived.days] == ranks
    changes = np.abs(np.diff(ranks))
    turns = lived.turns()
    assert len(turns) == min(10, np.count_nonzero(changes))
    assert [abs(day.rank - lived.rank_before(day)) for day in turns] == sorted(
        changes[changes > 0], reverse=True
    )[:10]


REMOVALS = {1: 0, 3: 5, 6: 1}
"""Agents that are removed, by the day at whose end they are."""


@pytest.fixture(scope="module")
def thinned():
    """Return parameters, and the reference's evenings of a society that loses half its agents."""
    from engines import ReferenceEngine

    shocks = [{"day": day, "remove": "agent", "index": a} for day, a in REMOVALS.items()]
    config = config_from_dict({**SETTINGS, "shocks": shocks, "record": {"measures": True}})
    p = parameters(config)
    engine = ReferenceEngine(p)
    engine.start()
    names = ("alive", "wealth", "income_extraction", "income_swaps", "income_sales")
    names += ("spending_devices", "utility_consumed", "wealth_devices")
    evenings = [{name: array[0] for name, array in engine.arrays(*names).items()}]
    for day in range(1, 15):
        for step in day_schedule(p, day):
            engine.step(step, day)
        evenings.append({name: array[0] for name, array in engine.arrays(*names).items()})
    return config, evenings


@pytest.mark.parametrize("agent", [2, 3, 4])
def test_others_are_the_living_and_are_overtaken_by_wealth(thinned, agent):
    """Means, ranks and who left whom behind, from the wealth of all on every evening."""
    config, evenings = thinned
    found = life(Setup(WORKLOAD, config), days="1:14", agent=agent, device="reference")
    overtook = 0
    for day, before, now in zip(found.days, evenings, evenings[1:], strict=False):
        living = [a for a in range(6) if now["alive"][a]]
        others = [a for a in living if a != agent]
        wealth, was = now["wealth"], before["wealth"]
        assert found.mean_wealth[day.day - 1] == pytest.approx(np.mean(wealth[living]))
        assert day.rank == 1 + sum(wealth[a] > wealth[agent] for a in living)
        parts = {
            "extraction": now["income_extraction"],
            "swaps": now["income_swaps"],
            "sales": now["income_sales"],
            "payments": -now["spending_devices"],
            "consumption": -now["utility_consumed"],
            "devices": now["wealth_devices"] - before["wealth_devices"],
        }
        parts["other"] = wealth - was - sum(parts.values())
        for name, part in parts.items():
            assert day.change[name] == pytest.approx(part[agent], abs=1e-9)
            assert day.mean[name] == pytest.approx(np.mean(part[others]), abs=1e-9)
        ahead = [a for a in others if was[a] > was[agent] and wealth[a] < wealth[agent]]
        behind = [a for a in others if was[a] < was[agent] and wealth[a] > wealth[agent]]
        if day.day > 1:
            assert (day.overtook, day.overtaken_by) == (ahead, behind)
            overtook += len(ahead) + len(behind)
    assert len(found.days) == 14 and overtook > 2


def test_a_life_can_begin_anywhere(lived, tmp_path):
    from societies import run

    config, out = config_from_dict(SETTINGS), tmp_path / "run.h5"
    run(config, out=out, device="reference")
    for start, first in ((None, 8), (out, 8), (out, 6)):
        later = life(
            Setup(WORKLOAD, config),
            days=f"{first}:14",
            agent=AGENT,
            start=start,
            device="reference",
        )
        assert [day.wealth for day in later.days] == [d.wealth for d in lived.days[first - 1 :]]
        known = first == 8
        assert (later.before is not None) == known
        assert later.days[1:] == lived.days[first:]
        if known:
            assert later.days[0] == lived.days[first - 1]
            assert later.before == (lived.days[6].rank, lived.days[6].wealth)
        assert report_life.text(later)


def test_words_and_data(lived, shell, tmp_path):
    path = tmp_path / "life.yaml"
    path.write_text(yaml.safe_dump(SETTINGS))
    command = ("trace", str(path), "--agent", str(AGENT), "--days", "1:14")
    code, words, _ = shell(*command, "--device", "reference")
    assert code == 0
    assert words.strip().endswith(report_life.text(lived).strip())
    for part in ("How it fared", "Over time", "Its devices", "best partners", "rank most"):
        assert part in words
    day = lived.turns()[0]
    assert f"rank {lived.rank_before(day)} -> {day.rank}" in words
    assert f"instead of --days: --day {day.day}" in words
    one_day = (*command[:-2], "--day", str(day.day), "--device", "reference")
    assert f"day {day.day}" in shell(*one_day)[1]
    assert all(len(line) <= 100 for line in words.splitlines())
    data = json.loads(shell(*command, "--device", "reference", "-o", "json")[1])
    assert [one["rank"] for one in data["days"]] == [one.rank for one in lived.days]
    assert data["turns"] == [one.day for one in lived.turns()]
    assert "Day by day" in report_life.text(lived, full=True)


def test_a_life_that_ends():
    ended = life(
        Setup(WORKLOAD, config_from_dict(SETTINGS)), days="10:14", agent=2, device="reference"
    )
    assert ended.removed_on == 12 and len(ended.days) == 2
    assert "removed at the end of day 12" in report_life.text(ended)


def evening(alive, wealth, **more):
    """Return what a life reads in the evening of four agents that hold one resource."""
    zero = np.zeros(4)
    parts = ("income", "income_extraction", "income_swaps", "utility_consumed", "gain_per_minute")
    return {
        "alive": np.array(alive),
        "wealth": np.array(wealth, float),
        "extracted": np.zeros((4, 1), int),
        **dict.fromkeys(parts, zero),
        **{name: np.array(values, float) for name, values in more.items()},
    }


def test_removed_agents_are_no_others():
    """Agent 0 passes 1; 2 was removed yesterday, 3 today, when its numbers became zeros."""
    found = Life(4, 1, 0, 0, 1, 3, False)
    before = evening([1, 1, 0, 1], [5, 6, 0, 9])
    after = evening([1, 1, 0, 0], [8, 7, 0, 0], income_extraction=[4, 2, 0, 0])
    day = life_module._day(found, 2, before, after)
    assert (day.rank, day.overtook, day.overtaken_by) == (1, [1], [])
    assert day.change["extraction"] == 4 and day.mean["extraction"] == 2
    assert sum(day.mean.values()) == 1
    alone = evening([1, 0, 0, 0], [3, 0, 0, 0])
    assert not any(life_module._day(found, 3, after, alone).mean.values())


def test_a_rank_that_changes_by_a_removal_alone_reports_it():
    found = Life(4, 1, 0, 0, 1, 2, False, before=(2, 5.0))
    first = life_module._day(found, 1, None, evening([1] * 4, [5, 6, 2, 1]))
    second = life_module._day(
        found, 2, evening([1] * 4, [5, 6, 2, 1]), evening([1, 0, 1, 1], [5, 0, 2, 1])
    )
    found.days, found.mean_wealth = [first, second], [3.5, 8 / 3]
    assert second.overtook == second.overtaken_by == []
    assert "rank 2 -> 1;" in report_life.text(found)
    said = " ".join(report_life.text(found).split())
    assert "overtook no agent: others were removed, or equally wealthy" in said


@pytest.mark.parametrize("text", ["", "5", "0:3", "4:3", "a:b", "1:2:3", "-1:4"])
def test_days_that_are_none(text):
    with pytest.raises(ConfigError, match="expected first:last"):
        days_of(text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--days", "1:15"), "--days 15: the configuration has days 1 to 14"),
        (("--days", "1:3", "--day", "2"), "give either --day or --days"),
        ((), "give either --day or --days"),
        (("--days", "1:3", "--phase", "trading"), "--phase trading: is for one day"),
        (("--days", "13:14"), "--agent 2: was removed before day 13"),
    ],
)
def test_lives_that_are_none(words, message, shell, tmp_path):
    path = tmp_path / "life.yaml"
    path.write_text(yaml.safe_dump(SETTINGS))
    code, _, err = shell("trace", str(path), "--agent", "2", *words, "--device", "reference")
    assert code == 2
    assert message in " ".join(err.split())


# -- single steps, by hand -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "agent", "other"),
    [
        ([3, 1, 4, 0, 2], 3, 1),
        ([3, 1, 4, 0, 2], 1, 3),
        ([3, 1, 4, 0, 2], 4, 0),
        ([3, 1, 4, 0, 2], 0, 4),
        ([3, 1, 4, 0, 2], 2, None),  # the last of an odd number
        ([3, 1, 4, 0], 0, 4),
        ([3, 1], 2, None),  # not in this market
    ],
)
def test_neighbours_in_the_order_of_a_round_meet(order, agent, other):
    assert _partner(np.array(order), agent) == other


def test_what_an_agent_swapped_in_a_round():
    held = np.array([[9, 9, 9, 9], [5, 0, 7, 1]], np.int32)
    after = np.array([[9, 9, 9, 9], [2, 1, 7, 9]], np.int32)
    before = {"held": held, "income_swaps": np.array([1.0, 4.0]), "partner": 6}
    now = {"held": after, "income_swaps": np.array([1.0, 6.5])}
    assert list(_swapped(1, before, now)) == [Swapped(6, {0: 3}, {1: 1, 3: 8}, 2.5)]
    assert list(_swapped(0, before, now)) == []


def test_what_devices_an_agent_sold_and_bought_in_a_round():
    """Agent 1 sold two of type 2 to agent 0, and bought one of it of agent 0."""
    step = Step("device_trading", arguments={"device_type": 2})
    before = {
        "partner": 0,
        "devices_sold": np.array([[0, 0, 4], [7, 0, 3]]),
        "income_sales": np.array([10.0, 20.0]),
        "spending_devices": np.array([1.0, 2.0]),
    }
    after = {
        "devices_sold": np.array([[0, 0, 5], [7, 0, 5]]),
        "income_sales": np.array([11.0, 28.0]),
        "spending_devices": np.array([9.0, 5.5]),
        "bought": np.array([[0, 1, 1, 0], [1, 0, 0, 0]]),
    }
    sold, bought = _dealt(1, step, before, after)
    assert sold == Dealt(True, 2, 2, (1, 2), 0, 8.0)
    assert bought == Dealt(False, 2, 1, (0,), 0, 3.5)
    assert list(_dealt(1, step, {**before, "partner": None}, after)) == []
    only = {**after, "devices_sold": np.array([[0, 0, 4], [7, 0, 5]])}
    assert list(_dealt(1, step, before, only)) == [sold]
    assert list(_dealt(0, step, {**before, "partner": 1}, only)) == [
        Dealt(False, 2, 2, (1, 2), 1, 8.0)
    ]


def test_a_life_without_devices_and_of_a_society_by_its_number():
    """Days before the first are run; before the first of all there is no wealth."""
    few = {**SETTINGS, "devices": "none", "shocks": [], "first_society": 5, "replicates": 3}
    for name in ("device", "invention", "devices_market"):
        del few[name]
    config = config_from_dict(few)
    whole = life(Setup(WORKLOAD, config), days="1:6", agent=1, society=7, device="reference")
    assert whole.society == 7 and not whole.devices and len(whole.days) == 6
    alone = config_from_dict({**few, "first_society": 7, "replicates": 1})
    assert life(Setup(WORKLOAD, alone), days="1:6", agent=1, device="reference").days == whole.days
    other = life(Setup(WORKLOAD, config), days="1:6", agent=1, device="reference")
    assert other.society == 5 and other.days != whole.days
    assert [day.wealth_devices for day in whole.days] == [0.0] * 6
    assert whole.before is None and whole.reached.startswith("by days 1 to 6 on ")
    later = life(Setup(WORKLOAD, config), days="4:6", agent=1, society=7, device="reference")
    assert later.before == (whole.days[2].rank, whole.days[2].wealth)
    assert later.days == whole.days[3:]
    assert later.mean_wealth == whole.mean_wealth[3:]
    single = life(Setup(WORKLOAD, config), days="4:4", agent=1, society=7, device="reference")
    assert single.days == whole.days[3:4]


def day_of(number, change, *, invented=(), deals=(), overtook=()):
    zero = dict.fromkeys(PARTS, 0.0)
    wealth = 100.0 * number + sum(change.values())
    return Day(
        number, 1, wealth, 0.0, 0.0, {**zero, **change}, zero, {}, {}, 1.0,
        invented=list(invented), deals=list(deals), overtook=list(overtook),
    )  # fmt: skip


def test_a_life_begins_with_the_cause():
    found = Life(4, 5, 0, 3, 7, 9, True, mean_wealth=[1.0, 1.0, 1.0])
    deals = [Dealt(True, 0, 30, (2,), 1, 50.0), Dealt(True, 0, 2, (2, 4), 0, 9.0)]
    found.days = [
        day_of(7, {"extraction": 1.0}, invented=[(0, 2), (0, 4)]),
        day_of(8, {"sales": 59.0}, deals=deals),
        day_of(9, {"consumption": -20.0}),
    ]
    first = " ".join(report_life.text(found).split("\n\n")[0].split())
    assert first == (
        "Agent 3 grew richer than the others: it invented tool 2 on day 7, when no agent knew one, "
        "and sold 31 of them; sales of devices brought it 59 util more than them."
    )
    found.days = [day_of(9, {"consumption": -20.0, "sales": 1.0})]
    assert "grew poorer than the others: it consumed 20 util more than them." in report_life.text(
        found
    )


def test_rounding_errors_are_no_reasons():
    parts = {"extraction": 5.0, "other": 3e-11, "swaps": 1e-13}
    assert "units made into devices" not in report_life._why(day_of(2, parts, overtook=[1]))
    nothing = report_life._why(day_of(2, {"other": 3e-11}, overtook=[1]))
    assert "devices" not in nothing and nothing.endswith("; overtook a1")


def test_the_twin_without_an_invention_shows_what_it_was_worth(lived):
    invented = [resource for day in lived.days for _, resource in day.invented]
    assert invented, "the agent of these tests invents something"
    resource = invented[0]
    config = config_from_dict(SETTINGS)
    asked = {"agent": AGENT, "days": "1:14", "device": "reference"}
    said = WORKLOAD.trace(config, **asked, without=f"invention:{resource}")
    assert f"Without the inventions for r{resource}" in said and "instead of" in said
    twin = json.loads(
        WORKLOAD.trace(config, **asked, without=f"invention:{resource}", form="json")
    )["without"]
    assert not any(r == resource for day in twin["days"] for _, r in day["invented"])
    plain = json.loads(WORKLOAD.trace(config, **asked, form="json"))
    same = [a == b for a, b in zip(plain["days"], twin["days"], strict=True)]
    first = min(
        day for day, events in enumerate(json_inventions(SETTINGS), 1) if resource in events
    )
    assert all(same[: first - 1]) and not all(same)
    for wrong, message in (
        ("invention:6", "a resource from 0 to 5"),
        ("tool:1", "expected invention:R"),
    ):
        with pytest.raises(ConfigError, match=message):
            WORKLOAD.trace(config, **asked, without=wrong)
    with pytest.raises(ConfigError, match="is of a life"):
        WORKLOAD.trace(config, agent=AGENT, day=3, without="invention:1", device="reference")


def json_inventions(settings):
    """Return the resources whose devices are invented on each day, by the reference."""
    from reference_py.economy.schedule import live

    p = parameters(config_from_dict(settings))
    society = new_society(p)
    live(p, society, 0, settings["days"])
    days = [set() for _ in range(settings["days"])]
    for day, _, _, resource, *_ in society.inventions:
        days[day - 1].add(resource)
    return days
