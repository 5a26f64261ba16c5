"""Who can make a device, when is it worth it, and what does making take? Rule by rule.

Source: docs/model.md, "What a device is worth", "Own use" and "Making". States are set by hand, so
that each rule decides alone.
"""

import pytest
from states import SMALL, recipe, started, tools

from reference_py.economy import own_use as own_use_module
from reference_py.economy import valuation
from reference_py.economy.devices import (
    device_curve,
    extracting_device,
    levels,
    making_time,
    whole_devices,
)
from reference_py.economy.own_use import decide, remember_price
from reference_py.economy.production import produce
from reference_py.economy.promises import reserve, unreserve

TOOL, MACHINE, FACTORY, INDUSTRY, DEVICE_MACHINE, DEVICE_FACTORY = range(6)


# -- curves ----------------------------------------------------------------------------------------


def test_groups_and_resources_make_devices_by_their_own_curves():
    groups = [
        {"name": "quick", "count": 1, "device": {"max_effort": [5.0, 9.0], "min_effort": 2.0}},
        {"name": "slow", "count": 2, "device": {"max_effort": [60.0, 80.0], "min_effort": 40.0}},
    ]
    p, s = started(
        agents=3,
        resources=2,
        groups=groups,
        device={"resources_in_tool": 1, "components": 2},
        trading={"menu_size": 2},
    )
    for agent, (first, second) in enumerate([(5.0, 9.0), (60.0, 80.0), (60.0, 80.0)]):
        for device in range(6):
            assert making_time(p, s, agent, device, 0) == pytest.approx(first, rel=1e-3)
            assert making_time(p, s, agent, device, 1) == pytest.approx(second, rel=1e-3)
    s.device_experience = [[[1000.0] * 2 for _ in range(6)] for _ in range(3)]
    assert [making_time(p, s, agent, TOOL, 1) for agent in range(3)] == [2.0, 40.0, 40.0]
    assert device_curve(p, 0, 0) is not device_curve(p, 1, 0)
    assert device_curve(p, 1, 0) is device_curve(p, 2, 0)


def test_groups_differ_in_what_they_promise_and_produce():
    groups = [
        {"name": "quick", "count": 1, "device": {"max_effort": 5.0, "min_effort": 5.0}},
        {"name": "slow", "count": 1, "device": {"max_effort": 60.0, "min_effort": 60.0}},
    ]
    p, s = started(agents=2, groups=groups)
    tools(s, {2: (0, 1)})
    for agent, minutes in enumerate((5.0, 60.0)):
        s.held[agent] = [9] * 5
        assert valuation.worst_case(p, s, agent, TOOL, 2)[0] == minutes
        reserve(p, s, agent, TOOL, 2)
        assert s.reserved_minutes[agent] == minutes
        produce(p, s, agent)
        assert s.overtime[agent] == s.making_minutes[agent][TOOL] == minutes


# -- who can make one ------------------------------------------------------------------------------


def test_making_has_to_end_before_the_day_does():
    """Minutes that fill the day to the last are too many."""
    p, s = started(device={**SMALL, "max_effort": 30.0, "min_effort": 30.0})
    tools(s, {2: (0, 1)})
    s.held[0] = [1, 1, 0, 0, 0]
    for reserved, possible in ((569.0, True), (570.0, False), (571.0, False)):
        s.reserved_minutes[0] = reserved
        assert valuation.can_make(p, s, 0, TOOL, 2) == possible


def test_making_takes_knowledge_and_every_component():
    p, s = started()
    tools(s, {2: (0, 4)})
    for held, possible in (
        ([1, 0, 0, 0, 1], True),
        ([0, 9, 9, 9, 1], False),
        ([1, 9, 9, 9, 0], False),
    ):
        s.held[0] = held
        assert valuation.can_make(p, s, 0, TOOL, 2) == possible
    s.held[0] = [1] * 5
    for experience, possible in ((1.0, True), (0.99, False), (0.0, False)):
        s.device_experience[0][TOOL][2] = experience
        assert valuation.can_make(p, s, 0, TOOL, 2) == possible


def test_who_cannot_make_one_lacks_knowledge_or_time_or_resources():
    p, s = started(device={**SMALL, "max_effort": 30.0, "min_effort": 30.0})
    tools(s, {2: (0, 4)})
    s.held[0] = [0, 9, 9, 9, 0]
    assert valuation.obstacle(p, s, 0, TOOL, 2) == ("lacks", [0, 4])
    s.held[0] = [1, 9, 9, 9, 0]
    assert valuation.obstacle(p, s, 0, TOOL, 2) == ("lacks", [4])
    s.reserved_minutes[0] = 570.0
    assert valuation.obstacle(p, s, 0, TOOL, 2) == ("no time to make it", ())
    s.device_experience[0][TOOL][2] = 0.5
    assert valuation.obstacle(p, s, 0, TOOL, 2) == ("knows too little", ())


def test_a_device_has_to_bring_more_than_it_costs():
    p, s = started()
    tools(s, {2: (0, 1)})
    s.held[0] = [9, 9, 0, 0, 0]
    benefit = valuation.benefit(p, s, 0, TOOL, 2)
    brings_no_more = ("brings no more than it costs", ())
    for cost, reason in ((benefit * (1 - 1e-12), None), (benefit, brings_no_more)):
        assert own_use_module.judged(p, s, 0, TOOL, 2, cost) == (benefit, reason)
    s.held[0] = [0, 9, 0, 0, 0]
    assert own_use_module.judged(p, s, 0, TOOL, 2, 0.0)[1] == ("lacks", [0])
    assert own_use_module.judged(p, s, 0, TOOL, 2, 1e9)[1] == ("lacks", [0])
    s.listener = lambda event, facts: None  # learns the benefit as well
    for cost in (0.0, 1e9):
        assert own_use_module.judged(p, s, 0, TOOL, 2, cost) == (benefit, ("lacks", [0]))


def test_whole_devices_leave_nothing_negative():
    assert [whole_devices(m, 150.0) for m in (0.0, 149.9, 150.0, 299.0, 300.0)] == [0, 0, 1, 1, 2]
    for lifetime in (0.1, 0.3, 33.3, 61.7, 150.5):
        for count in range(200):
            minutes = sum([lifetime] * count)
            found = whole_devices(minutes, lifetime)
            assert found in (count - 1, count)
            assert 0.0 <= minutes - found * lifetime < lifetime * (1 + 1e-9)


def test_the_best_device_extracts():
    _, s = started()
    assert extracting_device(s, 0, 4) is None
    for device in (TOOL, MACHINE, FACTORY, INDUSTRY):
        s.device_minutes[0][device][4] = 0.5
        assert extracting_device(s, 0, 4) == device
    s.device_minutes[0] = [[0.0] * 5 for _ in range(6)]
    s.device_minutes[0][DEVICE_MACHINE][4] = 9.0
    assert extracting_device(s, 0, 4) is None


def test_levels_lead_to_tools():
    assert levels(TOOL) == [0]
    assert levels(INDUSTRY) == [3, 2, 1, 0]
    assert levels(DEVICE_FACTORY) == [5, 4, 0]


# -- prices ----------------------------------------------------------------------------------------


def test_a_price_is_expected_after_two_purchases_of_five():
    p, s = started()
    tools(s, {2: (0, 1)})
    s.gain_per_minute[0] = 3.0
    s.prices[0][TOOL][2] = [0.0, 40.0, -7.0, -9.0, 0.0]
    made = making_time(p, s, 0, TOOL, 2)
    assert valuation.costs(p, s, 0, TOOL)[1][2] == made
    s.prices[0][TOOL][2] = [0.25, 0.0, 0.75, 0.0, 0.0]
    assert valuation.costs(p, s, 0, TOOL)[0][2] == 0.5
    s.prices[0][TOOL][2] = [20.0, 0.0, 0.0, -9.0, 40.0]
    cost, minutes = valuation.costs(p, s, 0, TOOL)
    assert (cost[2], minutes[2]) == (30.0, 0.0)
    assert cost[0] == minutes[0] == 0.0  # no recipe


def test_prices_are_remembered_newest_first():
    _, s = started()
    for price in range(1, 8):
        remember_price(s, 1, MACHINE, 3, float(price))
    assert s.prices[1][MACHINE][3] == [7.0, 6.0, 5.0, 4.0, 3.0]
    assert s.prices[0][MACHINE][3] == s.prices[1][TOOL][3] == [0.0] * 5


def test_a_tool_costs_the_last_unit_of_each_component():
    p, s = started()
    tools(s, {2: (0, 1), 3: (1, 4)})
    s.held[0] = [5, 0, 0, 0, 1]
    s.gain_per_minute[0] = 2.0
    cost, minutes = valuation.costs(p, s, 0, TOOL)
    marginal, time = p.utility_curves[0].marginal, making_time(p, s, 0, TOOL, 2)
    assert cost[2] == (time * 2.0 + marginal[4]) + 0.0  # nothing held costs nothing
    assert cost[3] == time * 2.0 + 0.0 + marginal[0]
    assert minutes == [0.0, 0.0, time, time, 0.0]


# -- own use ---------------------------------------------------------------------------------------


def test_of_equally_good_devices_the_first_is_made():
    """Again and again: its stock makes the next one of its kind worth less."""
    p, s = started(resources=6, device={"resources_in_tool": 1, "components": 2})
    tools(s, {2: (0,), 4: (1,)})
    s.held[0] = [20, 20, 0, 0, 0, 0]
    s.gain_per_minute[0] = 1.0
    original, order = own_use_module.reserve, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            own_use_module,
            "reserve",
            lambda p, s, a, d, r: order.append(r) or original(p, s, a, d, r),
        )
        decide(p, s, 0, TOOL)
    assert order[:4] == [2, 4, 2, 4]


def test_own_use_credits_the_device_and_what_it_brings():
    p, s = started()
    tools(s, {2: (0, 1)})
    s.held[0] = [9, 9, 0, 0, 0]
    s.gain_per_minute[0] = 2.0
    s.reserved_minutes[0] = 560.0  # time for one
    before = valuation.costs(p, s, 0, TOOL)[0][2]
    benefit = valuation.benefit(p, s, 0, TOOL, 2)
    minutes = making_time(p, s, 0, TOOL, 2)
    decide(p, s, 0, TOOL)
    assert s.prices[0][TOOL][2] == [-before, 0.0, 0.0, 0.0, 0.0]
    assert s.device_gain[0] == benefit - (before - minutes * 2.0)
    assert s.device_minutes[0][TOOL] == [0.0, 0.0, 150.0, 0.0, 0.0]
    assert s.reserved_minutes[0] == 560.0 + minutes
    assert s.to_make[0][TOOL] == [0, 0, 1, 0, 0]


def test_no_agent_owns_more_than_two_days_of_use():
    p, s = started()
    tools(s, {2: (0, 1)})
    s.held[0] = [1000, 1000, 0, 0, 0]
    for owned, wanted in ((1199.9, True), (1200.0, False), (1200.1, False)):
        s.device_minutes[0][TOOL][2] = owned
        refused = own_use_module.unwanted(p, s, 0, TOOL, 2)
        assert refused == (None if wanted else ("owns enough", ()))
    s.device_minutes[0][TOOL][2] = 1200.0
    assert valuation.benefit(p, s, 0, TOOL, 2) > 0.0  # more than two days' are too many here
    s.device_minutes[0][TOOL][2] = 1200.1
    assert valuation.benefit(p, s, 0, TOOL, 2) == 0.0


def test_the_stock_is_of_all_types_up_to_the_first_without_a_recipe():
    p, s = started()
    for device in range(6):
        s.device_minutes[0][device][2] = 10.0**device
    recipe(s, TOOL, 2, 0, 1)
    recipe(s, MACHINE, 2, 2, 3)
    recipe(s, INDUSTRY, 2, 2, 3)
    for device in (TOOL, MACHINE, FACTORY, INDUSTRY):
        assert valuation.stock(p, s, 0, device, 2) == 11.0
    assert valuation.stock(p, s, 0, DEVICE_MACHINE, 2) == 1e4
    assert valuation.stock(p, s, 0, DEVICE_FACTORY, 2) == 1e5


def offering(monkeypatch, p, s, benefits, costs):
    """Let agent 0 have time for one device, which brings and costs what is given."""
    tools(s, {r: [k for k in range(5) if k != r][:2] for r in benefits})
    s.held[0] = [9] * 5
    s.reserved_minutes[0] = 560.0
    monkeypatch.setattr(valuation, "benefit", lambda p, s, a, d, r: benefits[r])
    cost = [costs.get(r, 0.0) for r in range(5)]
    monkeypatch.setattr(valuation, "costs", lambda p, s, a, d: (cost, [0.0] * 5))


@pytest.mark.parametrize(
    ("benefits", "made"),
    [
        ({0: 20.5}, 0),
        ({4: 20.5}, 4),
        ({4: 20.0}, None),
        ({0: 19.5}, None),
        ({0: 25.0, 2: 30.0, 4: 29.0}, 2),
        ({0: 24.0, 1: 23.0, 4: 25.0}, 4),
        ({0: 30.0, 2: 30.0}, 0),
    ],
)
def test_the_largest_net_benefit_decides_if_there_is_any(monkeypatch, benefits, made):
    p, s = started()
    offering(monkeypatch, p, s, benefits, dict.fromkeys(benefits, 20.0))
    decide(p, s, 0, TOOL)
    assert s.to_make[0][TOOL] == [int(r == made) for r in range(5)]
    assert s.device_gain[0] == (0.0 if made is None else benefits[made] - 20.0)


def test_a_costly_device_of_larger_benefit_is_not_the_better_one(monkeypatch):
    p, s = started()
    offering(monkeypatch, p, s, {0: 90.0, 3: 30.0}, {0: 80.0, 3: 10.0})
    decide(p, s, 0, TOOL)
    assert s.to_make[0][TOOL] == [0, 0, 0, 1, 0]


# -- production ------------------------------------------------------------------------------------


def maker_of_tools(minutes, promises):
    """Return a society whose agent 0 has promised tools, and owns a device that makes them."""
    p, s = started(device={**SMALL, "max_effort": 27.0, "min_effort": 27.0})
    tools(s, {2: (0, 1)})
    s.device_minutes[0][DEVICE_MACHINE][2] = minutes
    s.to_make[0][TOOL][2] = promises
    s.set_aside[0] = [promises, promises, 0, 0, 0]
    return p, s


def test_each_of_two_promises_of_one_kind_counts_as_made_with_a_device():
    """3 minutes each, by a machine that makes tools nine times as fast."""
    p, s = maker_of_tools(100.0, 2)
    produce(p, s, 0)
    assert s.made_with_device[0] == [2, 0, 0, 0, 0, 0]
    assert s.device_minutes[0][DEVICE_MACHINE][2] == 94.0
    assert s.overtime[0] == s.making_minutes[0][TOOL] == 6.0
    assert s.device_experience[0][TOOL][2] == (6.0 + 1.0 / 9.0) + 1.0 / 9.0


def test_a_maker_that_wears_out_makes_no_more():
    """The one that it begins is made with it: minutes left do not become negative."""
    p, s = maker_of_tools(4.0, 4)
    produce(p, s, 0)
    assert s.made_with_device[0] == [2, 0, 0, 0, 0, 0]
    assert s.device_minutes[0][DEVICE_MACHINE][2] == 0.0
    assert s.overtime[0] == 3.0 + 3.0 + 27.0 + 27.0
    assert s.device_experience[0][TOOL][2] == ((6.0 + 1.0 / 9.0) + 1.0 / 9.0) + 1.0 + 1.0


def test_production_is_counted_and_its_components_are_gone():
    p, s = maker_of_tools(0.0, 3)
    s.overtime[0] = 10.0
    s.devices_made[0][TOOL][2] = 1
    s.recently_made[0][TOOL][2] = [7, 6, 5, 4, 3]
    s.recently_made[0][TOOL][1] = [1, 0, 0, 0, 0]
    s.devices_set_aside[0][TOOL] = [1, 4, 0, 0, 0]
    s.to_make[0][MACHINE][3] = 2
    recipe(s, MACHINE, 3, 0, 1)
    produce(p, s, 0)
    assert s.recently_made[0][TOOL][2] == [3, 7, 6, 5, 4]
    assert s.recently_made[0][TOOL][1] == [0, 1, 0, 0, 0]
    assert s.devices_made[0][TOOL] == [0, 0, 4, 0, 0]
    assert s.to_make[0][TOOL] == s.to_make[0][MACHINE] == [0] * 5
    assert s.set_aside[0] == [0] * 5
    assert s.devices_set_aside[0][TOOL] == [0, 2, 0, 0, 0]  # made on purpose: never locked
    assert s.practised[0][TOOL] == [0, 0, 1, 0, 0]
    assert s.made_with_device[0] == [0] * 6
    assert s.making_minutes[0] == [81.0, 54.0, 0.0, 0.0, 0.0, 0.0]
    assert s.overtime[0] == 10.0 + 81.0 + 54.0
    assert s.device_experience[0][MACHINE][3] == 4.0  # two of them teach 2 each


@pytest.mark.parametrize("r", [0, 4])
@pytest.mark.parametrize("device", [TOOL, INDUSTRY, DEVICE_FACTORY])
def test_a_single_promise_is_fulfilled_whatever_the_device_and_the_resource(device, r):
    p, s = started()
    for level in levels(device)[:-1]:
        recipe(s, level, r, r, 2)
    recipe(s, TOOL, r, 1, 3)
    recipe(s, TOOL, 2, 1, 3)
    s.to_make[0][device][r] = 1
    s.recently_made[0][device][r] = [5, 4, 3, 2, 1]
    produce(p, s, 0)
    assert s.to_make[0][device] == [0] * 5
    assert s.devices_made[0][device][r] == s.practised[0][device][r] == 1
    assert s.recently_made[0][device][r] == [1, 5, 4, 3, 2]
    learned = (1.0, 2.0, 4.0, 8.0, 4.0, 8.0)[device]
    assert s.device_experience[0][device][r] == learned
    assert s.overtime[0] == pytest.approx(27.0)


# -- promises --------------------------------------------------------------------------------------


def machines(p, s):
    """A machine 2 of the tools 2 and 3; whole tools 2 in stock, none of 3."""
    tools(s, {2: (0, 1), 3: (1, 4)})
    recipe(s, MACHINE, 2, 2, 3)
    for agent in range(p.agents):
        s.device_experience[agent][MACHINE][2] = 6.0
        s.held[agent] = [10] * 5
    s.device_minutes[0][TOOL][2] = 310.0


def test_whole_components_are_locked_and_the_rest_is_promised():
    p, s = started()
    machines(p, s)
    machine, tool = making_time(p, s, 0, MACHINE, 2), making_time(p, s, 0, TOOL, 3)
    reserve(p, s, 0, MACHINE, 2)
    assert s.to_make[0][MACHINE] == [0, 0, 1, 0, 0]
    assert s.to_make[0][TOOL] == [0, 0, 0, 1, 0]
    assert s.device_minutes[0][TOOL][2] == 160.0
    assert s.devices_set_aside[0][TOOL] == [0, 0, 1, 0, 0]
    assert s.held[0] == [10, 9, 10, 10, 9]
    assert s.set_aside[0] == [0, 1, 0, 0, 1]
    assert s.reserved_minutes[0] == machine + tool


def test_a_promise_taken_back_gives_all_back():
    p, s = started()
    machines(p, s)
    for _ in range(3):
        reserve(p, s, 0, MACHINE, 2)
    assert s.to_make[0][TOOL] == [0, 0, 1, 3, 0]
    for _ in range(3):
        unreserve(p, s, 0, MACHINE, 2)
    assert not any(map(any, s.to_make[0]))
    assert not any(map(any, s.devices_set_aside[0]))
    assert s.held[0] == [10] * 5
    assert s.set_aside[0] == [0] * 5
    assert s.device_minutes[0][TOOL] == [0.0, 0.0, 310.0, 0.0, 0.0]
    assert s.reserved_minutes[0] == pytest.approx(0.0, abs=1e-9)


def test_the_time_given_back_is_what_making_takes_now():
    p, s = started()
    tools(s, {2: (0, 1)})
    s.held[0] = [5] * 5
    reserve(p, s, 0, TOOL, 2)
    reserved = s.reserved_minutes[0]
    s.device_experience[0][TOOL][2] = 40.0
    unreserve(p, s, 0, TOOL, 2)
    assert s.reserved_minutes[0] == reserved - 9.0 > 0.0


def test_what_is_neither_locked_nor_promised_is_not_given_back():
    """A promise of a component may have been bought back before."""
    p, s = started()
    machines(p, s)
    reserve(p, s, 0, MACHINE, 2)
    unreserve(p, s, 0, TOOL, 3)
    held = list(s.held[0])
    unreserve(p, s, 0, MACHINE, 2)
    assert s.to_make[0][TOOL] == [0] * 5
    assert s.held[0] == held == [10] * 5


def test_first_and_last_resources_are_promised_like_others():
    p, s = started()
    tools(s, {0: (1, 4), 4: (0, 2)})
    recipe(s, MACHINE, 0, 0, 4)
    recipe(s, MACHINE, 4, 0, 4)
    s.held[0] = [10] * 5
    s.device_minutes[0][TOOL] = [150.0, 0.0, 0.0, 0.0, 150.0]
    for r in (0, 4):
        reserve(p, s, 0, MACHINE, r)
    assert s.to_make[0][MACHINE] == [1, 0, 0, 0, 1]
    assert s.devices_set_aside[0][TOOL] == [1, 0, 0, 0, 1]
    assert s.to_make[0][TOOL] == [1, 0, 0, 0, 1]
    assert s.held[0] == [9, 9, 9, 10, 9]
    minutes = [making_time(p, s, 0, MACHINE, 0), making_time(p, s, 0, TOOL, 0)]
    assert s.reserved_minutes[0] == pytest.approx(2 * sum(minutes))
    for r in (4, 0):
        unreserve(p, s, 0, MACHINE, r)
    assert s.to_make[0][MACHINE] == s.to_make[0][TOOL] == s.devices_set_aside[0][TOOL] == [0] * 5
    assert s.held[0] == [10] * 5
    assert s.device_minutes[0][TOOL] == [150.0, 0.0, 0.0, 0.0, 150.0]
    assert s.reserved_minutes[0] == pytest.approx(0.0, abs=1e-9)


def test_a_promise_of_its_own_outlives_that_of_a_machine():
    """A locked component is unlocked; it was not promised, so no promise of one is taken back."""
    p, s = started()
    machines(p, s)
    s.device_minutes[0][TOOL] = [0.0, 0.0, 150.0, 150.0, 0.0]
    reserve(p, s, 0, MACHINE, 2)
    reserve(p, s, 0, TOOL, 2)
    unreserve(p, s, 0, MACHINE, 2)
    assert s.to_make[0][TOOL] == [0, 0, 1, 0, 0]
    assert s.device_minutes[0][TOOL] == [0.0, 0.0, 150.0, 150.0, 0.0]
    assert s.held[0] == [9, 9, 10, 10, 10]


# -- worst cases -----------------------------------------------------------------------------------


def test_the_worst_case_counts_what_has_to_be_made():
    """Two industries' worth of levels: tools for machines for a factory, less what is owned."""
    p, s = started(device={**SMALL, "max_effort": 20.0, "min_effort": 10.0, "max_experience": 2.0})
    tools(s, {0: (1, 2), 1: (3, 4)})
    for device in (MACHINE, FACTORY):
        for r in (0, 1):
            recipe(s, device, r, 0, 1)
    for device in (TOOL, MACHINE, FACTORY):
        s.device_experience[0][device][:2] = [0.0, 0.0]
    e0, e1 = device_curve(p, 0, 0).minutes[:2]
    minutes, units = valuation.worst_case(p, s, 0, FACTORY, 0)
    # a factory; machines 0 and 1; tools 0 and 1 for each of them, the second after the first
    assert minutes == pytest.approx(e0 + 2 * e0 + 2 * (e0 + e1))
    assert units == [0, 2, 2, 2, 2]
    s.device_minutes[0][MACHINE][1] = 301.0
    minutes, units = valuation.worst_case(p, s, 0, FACTORY, 0)
    assert minutes == pytest.approx(e0 + e0 + 2 * e0)
    assert units == [0, 1, 1, 1, 1]
    s.device_minutes[0][TOOL] = [299.9, 149.9, 0.0, 0.0, 0.0]
    s.device_minutes[0][DEVICE_MACHINE][1] = 1.0
    minutes, units = valuation.worst_case(p, s, 0, FACTORY, 0)
    assert minutes == pytest.approx(e0 + e0 + e0 / 9.0)
    assert units == [0, 0, 0, 1, 1]


def test_making_in_series_continues_at_the_least_effort():
    p, _ = started(device={**SMALL, "max_effort": 20.0, "min_effort": 10.0, "max_experience": 3.0})
    curve = p.devices.effort_curves[0]
    efforts = [*curve.minutes, *[10.0] * 20]
    for begin in range(8):
        for count in range(9):
            expected = sum(efforts[begin : begin + count])
            assert valuation.minutes_in_series(curve, begin + 0.5, count) == pytest.approx(expected)
