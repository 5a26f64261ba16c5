"""Is an agent's life reported truly: against the reference's own report of every single day?"""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
import yaml

from reference_py.economy.society import new_society
from societies import config_from_dict
from societies.economy.explain import life as life_module
from societies.economy.explain import report_life
from societies.economy.explain.agent_life import PARTS, Life
from societies.economy.explain.life import days_of, life
from societies.economy.parameters import parameters
from societies.economy.schedule import day_schedule
from societies.economy.workload import WORKLOAD
from societies.errors import ConfigError

SETTINGS = {
    "workload": "economy",
    "agents": 6,
    "resources": 6,
    "days": 14,
    "day_length": 150.0,
    "seed": 4,
    "devices": "all",
    "utility": {"min_marginal": 2.5},
    "extraction": {"max_experience": 150.0},
    "trading": {"rounds": 2, "menu_size": 3},
    "devices_market": {"rounds": 4},
    "device": {"resources_in_tool": 3, "components": 3},
    "invention": {
        "tool_probability": 0.02,
        "device_probability": 0.1,
        "min_made_for_device_maker": 1,
    },
    "record": {"keep": [5]},
    "shocks": [{"day": 12, "remove": "agent", "index": 2}],
}
AGENT = 3


@pytest.fixture(scope="module")
def lived():
    return life(WORKLOAD, config_from_dict(SETTINGS), days="1:14", agent=AGENT, device="reference")


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
    from societies.economy.engine import ReferenceEngine

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


def test_a_life_can_begin_anywhere(lived, tmp_path):
    from societies import run

    config, out = config_from_dict(SETTINGS), tmp_path / "run.h5"
    run(config, out=out, device="reference")
    for start, first in ((None, 8), (out, 8), (out, 6)):
        later = life(
            WORKLOAD, config, days=f"{first}:14", agent=AGENT, start=start, device="reference"
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
    ended = life(WORKLOAD, config_from_dict(SETTINGS), days="10:14", agent=2, device="reference")
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


def test_a_rank_that_changes_by_a_removal_alone_says_so():
    found = Life(4, 1, 0, 0, 1, 2, False, before=(2, 5.0))
    first = life_module._day(found, 1, None, evening([1] * 4, [5, 6, 2, 1]))
    second = life_module._day(
        found, 2, evening([1] * 4, [5, 6, 2, 1]), evening([1, 0, 1, 1], [5, 0, 2, 1])
    )
    found.days, found.mean_wealth = [first, second], [3.5, 8 / 3]
    assert second.overtook == second.overtaken_by == []
    assert "rank 2 -> 1;" in report_life.text(found)
    said = " ".join(report_life.text(found).split())
    assert "passed nobody: others were removed, or equally wealthy" in said


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
