"""Who meets whom on the device market, what is sold on it and by whom? Rule by rule.

Source: docs/model.md, "Device trade". States are set by hand, so that each rule decides alone.
"""

import copy
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from partners import gains_of, met_table, remember
from states import Draws, recipe, started, tools

from reference_py.economy import device_matching as module
from reference_py.economy import device_trading as market
from reference_py.economy import valuation
from reference_py.economy.curves import gain, loss, marginal_utility, utility_curve
from reference_py.economy.device_matching import (
    device_matching,
    matched,
    partner,
    remembered,
)
from reference_py.economy.device_trading import choice, deal, device_trading, for_sale, hand_over
from reference_py.economy.device_trading import meet as meet_for_devices
from reference_py.economy.devices import making_time
from reference_py.economy.knowledge import know_components
from reference_py.economy.open_device_market import open_device_market
from reference_py.economy.promises import reserve, unreserve

TOOL, MACHINE = 0, 1


# -- opening ---------------------------------------------------------------------------------------


def test_a_market_opens_without_meetings_and_with_older_memories():
    p, s = started()
    tools(s, {2: (0, 1)})
    s.met = [[1, 2, 3, 1, *[-1] * 8] for _ in range(4)]
    remember(s, 0, TOOL, {3: [5.0, 0.0, 4.0, 3.0, 2.0], 1: [0.0, 0.0, 0.0, 6.0, 0.0]})
    remember(s, 3, TOOL, {0: [0.0, 0.0, 0.0, 0.0, 2.0]})
    remember(s, 3, MACHINE, {0: [8.0, 0.0, 0.0, 0.0, 0.0]})
    old = [0.0, 0.0, 0.0, 0.0, 6.0]
    remember(s, 1, TOOL, {2: [1.0, 2.0, 3.0, 4.0, 5.0], 0: old, 3: [0.25, 0.0, 0.0, 0.0, 0.0]})
    open_device_market(p, s, TOOL)
    shifted = {2: [0.0, 1.0, 2.0, 3.0, 4.0], 3: [0.0, 0.25, 0.0, 0.0, 0.0]}
    assert gains_of(s, 1, TOOL) == shifted
    assert s.remembered_partner[1][TOOL] == [2, 3, -1]  # who is left moves up
    assert s.partner_memory[1][TOOL][2] == [0.0] * 5
    assert s.met == [[-1] * 12 for _ in range(4)]
    assert gains_of(s, 0, TOOL) == {3: [0.0, 5.0, 0.0, 4.0, 3.0], 1: [0.0, 0.0, 0.0, 0.0, 6.0]}
    assert gains_of(s, 3, TOOL) == {}
    assert s.partner_memory[3][TOOL] == [[0.0] * 5] * 3
    assert gains_of(s, 3, MACHINE) == {0: [8.0, 0.0, 0.0, 0.0, 0.0]}
    assert s.market_open == 1


@pytest.mark.parametrize(("agent", "r"), [(0, 0), (3, 4), (1, 2)])
def test_a_market_is_open_if_any_agent_knows_anything_of_the_type(agent, r):
    p, s = started()
    recipe(s, TOOL, r, *[k for k in range(5) if k != r][:2])
    s.market_open = 1
    open_device_market(p, s, TOOL)
    assert s.market_open == 0  # there is a recipe, but all have forgotten it
    s.device_experience[agent][TOOL][r] = 0.5
    open_device_market(p, s, MACHINE)
    assert s.market_open == 0
    open_device_market(p, s, TOOL)
    assert s.market_open == 1


def test_a_closed_market_draws_nothing_and_changes_nothing():
    p, s = started()
    s.bought = [[1] * 5 for _ in range(4)]
    open_device_market(p, s, TOOL)
    before = copy.deepcopy(vars(s))
    device_matching(p, s, TOOL, 0)
    device_trading(p, s, TOOL)
    assert vars(s) == before


def test_a_round_draws_from_the_societys_stream_and_marks_both_of_a_pair():
    p, s = started(agents=5)
    tools(s, {2: (0, 1)})
    s.bought = [[1] * 5 for _ in range(5)]
    open_device_market(p, s, TOOL)
    streams = copy.deepcopy(s.stream)
    device_matching(p, s, TOOL, 3)
    assert s.bought == [[0] * 5 for _ in range(5)]
    assert sorted(s.device_partners) == [0, 1, 2, 3, 4]
    pairs = {frozenset(s.device_partners[i : i + 2]) for i in (0, 2)}
    of = {a: b for pair in pairs for a, b in permutations(pair)}
    assert s.met == [[-1, -1, -1, of.get(a, -1), *[-1] * 8] for a in range(5)]
    assert s.stream[:5] == streams[:5]
    assert [a != b for a, b in zip(s.stream[5], streams[5], strict=True)].count(True) == 1


def test_synchronized_rounds_of_each_type_draw_from_a_part_of_the_day_of_their_own(monkeypatch):
    drawn, of = [], module.of_part
    monkeypatch.setattr(module, "of_part", lambda p, s, *own: drawn.append(own) or of(p, s, *own))
    p, s = started(agents=5, draws={"synchronized": True})
    s.market_open = 1
    for kind in range(6):
        for round_ in range(p.device_rounds):
            device_matching(p, s, kind, round_)
    parts = 6 * p.device_rounds
    assert drawn == [(5, "device_matching", part, parts) for part in range(parts)]


def test_over_the_rounds_of_a_day_all_agents_meet_all():
    """As long as a free agent has not been met, no agent meets the same one twice."""
    p, s = started(agents=2)
    tools(s, {2: (0, 1)})
    open_device_market(p, s, TOOL)
    for round_ in range(3):
        device_matching(p, s, TOOL, round_)
        assert met_table(s.met).tolist() == [[0, 1], [1, 0]]
    p, s = started(agents=6)
    tools(s, {2: (0, 1)})
    open_device_market(p, s, TOOL)
    for round_ in range(12):
        device_matching(p, s, TOOL, round_)
    assert np.array_equal(met_table(s.met), 1 - np.eye(6))


# -- partners --------------------------------------------------------------------------------------


def test_the_partner_remembered_best_is_preferred_and_the_first_of_equals():
    p, s = started(agents=5)
    remember(s, 1, TOOL, {4: [0.0, 3.0, 0.0, 0.0, 4.0], 3: [7.0, 0.0, 0.0, 0.0, 0.0]})
    assert partner(p, s, TOOL, 1, [0, 2, 3, 4]) == 3
    remember(s, 1, TOOL, {3: [7.0, 0.0, 0.0, 0.0, 0.0], 4: [0.0, 3.0, 0.0, 0.0, 4.0]})
    assert partner(p, s, TOOL, 1, [0, 2, 3, 4]) == 3
    assert partner(p, s, TOOL, 1, [0, 2, 4]) == 4
    s.partner_memory[1][TOOL][1][0] = 0.5
    assert partner(p, s, TOOL, 1, [0, 2, 3, 4]) == 4
    assert partner(p, s, TOOL, 1, [0, 2, 3]) == 3
    assert partner(p, s, MACHINE, 1, [0, 2, 3, 4]) == 0
    assert [remembered(s, TOOL, 1, b) for b in (4, 3, 0)] == [7.5, 7.0, 0.0]
    s.met[1][:3] = [4, 0, 3]
    assert partner(p, s, TOOL, 1, [0, 2, 3, 4]) == 2
    assert partner(p, s, TOOL, 1, [0, 3, 4]) is None


def test_the_slightest_surplus_remembered_is_one():
    p, s = started(agents=4)
    remember(s, 0, TOOL, {2: [1e-20, 0.0, 0.0, 0.0, 0.0], 3: [0.0, 1e-20, 1e-20, 0.0, 0.0]})
    assert partner(p, s, TOOL, 0, [1, 2, 3]) == 3
    assert partner(p, s, TOOL, 0, [1, 2]) == 2


def test_what_deals_of_a_day_bring_is_added_up():
    _, s = started(agents=4)
    for other, surplus in ((3, 2.0), (0, 1.0), (3, 0.5)):
        market.remember_gain(s, 1, TOOL, other, surplus)
    assert gains_of(s, 1, TOOL) == {3: [2.5, 0.0, 0.0, 0.0, 0.0], 0: [1.0, 0.0, 0.0, 0.0, 0.0]}
    assert s.remembered_partner[1][TOOL] == [3, 0, -1]


@pytest.mark.parametrize("first", [0, 1])
def test_of_the_last_two_the_first_is_drawn_too(first):
    p, s = started(agents=2)
    draws = Draws(first)
    assert matched(p, s, TOOL, draws.below) == [first, 1 - first]
    assert draws.asked == [2]


def test_an_agent_that_met_all_that_are_free_takes_any_of_them():
    p, s = started(agents=5)
    s.met = [[b for b in range(5) if b != a] for a in range(5)]
    draws = Draws(4, 2, 1, 0)
    assert matched(p, s, TOOL, draws.below) == [4, 2, 1, 0, 3]
    assert not draws.draws
    s.met[0][2] = -1  # that was 3
    draws = Draws(0, 1, 1)
    assert matched(p, s, TOOL, draws.below) == [0, 3, 2, 4, 1]


# -- meetings --------------------------------------------------------------------------------------


def test_the_living_of_a_round_meet_in_pairs(monkeypatch):
    p, s = started(agents=7)
    s.market_open, s.device_partners = 1, [6, 0, 1, 2, 5, 3, 4]
    meetings = []
    monkeypatch.setattr(market, "meet", lambda p, s, device, a, b: meetings.append((device, a, b)))
    device_trading(p, s, MACHINE)
    assert meetings == [(MACHINE, 6, 0), (MACHINE, 1, 2), (MACHINE, 5, 3)]
    s.alive[6] = s.alive[2] = 0
    meetings.clear()
    device_trading(p, s, MACHINE)
    assert meetings == [(MACHINE, 5, 3)]
    meetings.clear()
    s.market_open = 0
    device_trading(p, s, MACHINE)
    assert not meetings
    p, s = started(agents=4)
    s.market_open, s.device_partners = 1, [3, 1, 0, 2]
    device_trading(p, s, TOOL)
    assert meetings == [(TOOL, 3, 1), (TOOL, 0, 2)]


@pytest.mark.parametrize(
    ("outcomes", "buyers"),
    [
        ([0, 0, 1, 1], "AB"),  # both fail: nothing has changed and nothing will
        ([1, 1, 1, 1], "AAAA"),
        ([0, 1, 1, 0], "ABBB"),
        ([1, 0, 0, 1], "AAB"),
        ([0, 1, 0, 0], "ABBA"),
    ],
)
def test_an_agent_that_succeeds_buys_again_and_else_the_other_does(monkeypatch, outcomes, buyers):
    p, s = started()
    assert p.device_attempts == 4
    results, seen = iter(outcomes), []

    def dealt(p, s, device, buyer, seller):
        assert {buyer, seller} == {1, 3}
        seen.append({1: "A", 3: "B"}[buyer])
        return bool(next(results))

    monkeypatch.setattr(market, "deal", dealt)
    meet_for_devices(p, s, TOOL, 1, 3)
    assert "".join(seen) == buyers


# -- a deal ----------------------------------------------------------------------------------------


def buyer_and_seller(**more):
    """Agent 1 has much of 0 and 3 and would like a tool 2; agent 0 can make tools 2 and 4."""
    p, s = started(agents=3, **more)
    tools(s, {2: (0, 1), 4: (0, 1)})
    for device in range(6):
        s.device_experience[1][device] = [0.0] * 5
    s.held = [[5, 5, 0, 0, 0], [400, 0, 0, 300, 0], [1, 1, 1, 1, 1]]
    s.value = [[p.utility_curves[0].marginal[n] for n in held] for held in s.held]
    s.gain_per_minute = [1.0, 1.0, 1.0]
    return p, s


def test_a_deal_is_booked_on_the_right_sides():
    """What the buyer pays the seller gets; the seller sold, the buyer bought."""
    p, s = buyer_and_seller()
    before = copy.deepcopy(s.held)
    curve = p.utility_curves[0]
    cost = valuation.costs(p, s, 0, TOOL)[0][2]
    worth = valuation.benefit(p, s, 1, TOOL, 2) - 1.0 * 150.0
    assert choice(p, s, TOOL, 1, [2, 4]) == (2, worth)  # both are worth as much: the first
    assert deal(p, s, TOOL, 1, 0)
    units = [s.held[0][r] - before[0][r] + s.set_aside[0][r] for r in range(5)]
    assert units == [b - a for a, b in zip(s.held[1], before[1], strict=True)]
    assert sum(units) > 0
    paid = sum(loss(curve, before[1][r], units[r]) for r in (0, 3))
    got = sum(gain(curve, before[0][r], units[r]) for r in (0, 3))
    assert s.devices_sold == [[1, 0, 0, 0, 0, 0], [0] * 6, [0] * 6]
    assert s.bought == [[0] * 5, [0, 0, 1, 0, 0], [0] * 5]
    assert s.units_paid == [0, sum(units), 0]
    assert gains_of(s, 0, TOOL) == {1: [pytest.approx(got - cost), 0.0, 0.0, 0.0, 0.0]}
    assert gains_of(s, 1, TOOL) == {0: [pytest.approx(worth - paid), 0.0, 0.0, 0.0, 0.0]}
    assert s.prices[1][TOOL][2] == [pytest.approx(paid), 0.0, 0.0, 0.0, 0.0]
    assert s.prices[0][TOOL][2] == [pytest.approx(cost - got), 0.0, 0.0, 0.0, 0.0]
    assert s.device_minutes[1][TOOL] == [0.0, 0.0, 150.0, 0.0, 0.0]
    assert s.to_make[0][TOOL] == [0, 0, 1, 0, 0]
    assert s.device_experience[1][TOOL] == [0.0, 0.0, 2.0, 0.0, 0.0]
    for agent in (0, 1):
        assert s.value[agent] == [curve.marginal[n] for n in s.held[agent]]


def test_a_deal_is_accounted_for_on_both_sides_if_that_is_recorded():
    """What the seller receives is its income, what the buyer pays its spending; and the links."""
    p, s = buyer_and_seller(record={"measures": True, "network": [1]})
    before, curve = copy.deepcopy(s.held), p.utility_curves[0]
    assert deal(p, s, TOOL, 1, 0)
    units = [b - a for a, b in zip(s.held[1], before[1], strict=True)]
    paid = sum(loss(curve, before[1][r], units[r]) for r in (0, 3))
    got = sum(gain(curve, before[0][r], units[r]) for r in (0, 3))
    assert got != pytest.approx(paid)
    assert s.income_sales == [pytest.approx(got), 0.0, 0.0]
    assert s.spending_devices == [0.0, pytest.approx(paid), 0.0]
    assert [taker[0] for taker in s.link_taker] == [1, 0, -1]
    assert [paid[0] for paid in s.link_paid] == [0, sum(units), 0]
    assert [sold[TOOL][0] for sold in s.link_devices] == [1, 0, 0]
    assert sum(map(sum, s.link_units)) == sum(map(sum, s.link_swaps)) == 0
    p, s = buyer_and_seller()
    assert deal(p, s, TOOL, 1, 0)
    assert not hasattr(s, "income_sales") and not hasattr(s, "link_paid")


def test_what_is_paid_to_other_groups_is_counted_besides():
    groups = [{"name": name, "count": n} for name, n in (("a", 1), ("b", 2))]
    p, s = buyer_and_seller(groups=groups)
    assert deal(p, s, TOOL, 1, 0)
    assert s.units_paid_outside == s.units_paid
    assert s.units_paid[1] > 0
    tools(s, {2: (0, 1), 4: (0, 1)})
    s.held[2] = [5, 5, 0, 0, 0]
    for device in range(6):
        s.device_experience[1][device] = [0.0] * 5
    outside, paid = s.units_paid_outside[1], s.units_paid[1]
    assert deal(p, s, TOOL, 1, 2)
    assert s.units_paid[1] > paid
    assert s.units_paid_outside[1] == outside


def test_what_was_bought_in_a_round_is_not_sold_on_in_it():
    p, s = buyer_and_seller()
    assert for_sale(p, s, TOOL, 0) == [2, 4]
    assert for_sale(p, s, TOOL, 1) == []  # knows neither
    s.bought[0][2] = 1
    assert for_sale(p, s, TOOL, 0) == [4]
    s.reserved_minutes[0] = 590.0
    assert for_sale(p, s, TOOL, 0) == []


def test_without_goods_or_anything_to_pay_with_there_is_no_deal():
    for change in ("nothing to pay with", "nothing to sell", "nothing wanted"):
        p, s = buyer_and_seller()
        if change == "nothing to pay with":
            s.held[1] = [0] * 5
        elif change == "nothing to sell":
            s.held[0][1] = 0
        else:
            s.gain_per_minute[1] = 1e6
        before = copy.deepcopy(vars(s))
        assert not deal(p, s, TOOL, 1, 0), change
        assert vars(s) == before


@pytest.mark.parametrize("side", ["buyer", "seller"])
def test_both_sides_have_to_gain(monkeypatch, side):
    """To pay exactly what the device is worth, or to get exactly what it costs, is no gain."""
    p, s = buyer_and_seller()
    curve, units = p.utility_curves[0], [40, 0, 0, 10, 0]
    paid = received = 0.0
    for r in (0, 3):
        paid += loss(curve, s.held[1][r], units[r])
        received += gain(curve, s.held[0][r], units[r])
    worth, cost = (paid, 1.0) if side == "buyer" else (1e6, received)
    monkeypatch.setattr(market, "payment", lambda *_: units)
    monkeypatch.setattr(market, "choice", lambda *_: (2, worth))
    monkeypatch.setattr(valuation, "costs", lambda *_: ([cost] * 5, [0.0] * 5))
    assert deal(p, s, TOOL, 1, 0) is False
    worth, cost = worth * (1 + 1e-12), cost * (1 - 1e-12)
    monkeypatch.setattr(market, "choice", lambda *_: (2, worth))
    monkeypatch.setattr(valuation, "costs", lambda *_: ([cost] * 5, [0.0] * 5))
    assert deal(p, s, TOOL, 1, 0) is True


def test_a_promise_is_worth_what_keeping_it_costs():
    p, s = buyer_and_seller()
    s.gain_per_minute[1] = 1e6  # no device is worth its time
    assert choice(p, s, TOOL, 1, [2, 4]) == (None, 0.0)
    s.to_make[1][TOOL][4] = 1
    cost = valuation.costs(p, s, 1, TOOL)[0]
    assert choice(p, s, TOOL, 1, [2, 4]) == (4, cost[4])
    s.to_make[1][TOOL][2] = 1
    assert cost[2] == cost[4]
    assert choice(p, s, TOOL, 1, [2, 4]) == (2, cost[2])  # the first of equals
    assert choice(p, s, TOOL, 1, [4, 2]) == (4, cost[4])


def test_a_device_from_stock_is_handed_over_whole():
    p, s = buyer_and_seller()
    for stock, promised, left in ((149.0, 1, 149.0), (150.0, 0, 0.0), (310.0, 0, 160.0)):
        s.device_minutes[0][TOOL][2], s.to_make[0][TOOL][2] = stock, 0
        s.device_minutes[1][TOOL][2] = 20.0
        hand_over(p, s, TOOL, 1, 0, 2)
        assert s.to_make[0][TOOL][2] == promised
        assert s.device_minutes[0][TOOL][2] == left
        assert s.device_minutes[1][TOOL][2] == 170.0


def test_a_device_bought_in_place_of_a_promise_lifts_the_promise():
    p, s = buyer_and_seller()
    s.device_minutes[0][TOOL][2] = 150.0
    s.to_make[1][TOOL][2], s.set_aside[1] = 2, [2, 2, 0, 0, 0]
    minutes = making_time(p, s, 1, TOOL, 2)
    s.reserved_minutes[1] = 2 * minutes
    s.device_experience[1][TOOL][2] = 1.0
    held = list(s.held[1])
    hand_over(p, s, TOOL, 1, 0, 2)
    assert s.to_make[1][TOOL][2] == 1
    assert s.set_aside[1] == [1, 1, 0, 0, 0]
    assert s.held[1] == [held[0] + 1, held[1] + 1, *held[2:]]
    assert s.device_minutes[1][TOOL][2] == 0.0
    assert s.reserved_minutes[1] == pytest.approx(minutes)
    s.device_minutes[0][TOOL][2] = 150.0
    hand_over(p, s, TOOL, 1, 0, 2)  # the last promise
    assert s.to_make[1][TOOL][2] == 0
    assert s.device_minutes[1][TOOL][2] == 0.0


def test_buyers_learn_the_components_and_forget_nothing():
    p, s = buyer_and_seller()
    recipe(s, MACHINE, 2, 2, 4)
    s.device_experience[0][MACHINE][2] = 9.0
    s.device_experience[1][MACHINE][2] = 7.0
    s.device_experience[1][TOOL] = [0.0, 0.0, 3.0, 0.0, 0.0]
    s.device_minutes[0][MACHINE][2] = 300.0
    hand_over(p, s, MACHINE, 1, 0, 2)
    assert s.device_experience[1][MACHINE][2] == 7.0
    assert s.device_experience[1][TOOL] == [0.0, 0.0, 3.0, 0.0, 1.0]


# -- deals as the text has them (societies-model.md, 5.5.2) ----------------------------------------


def deal_as_written(p, s, t, buyer, seller):
    """Carry out a deal after the text, bundles unit by unit; return whether there was one."""
    mu = [lambda r, h, x=x: marginal_utility(utility_curve(p, x, r), h) for x in range(p.agents)]
    held_b, held_s = s.held[buyer], s.held[seller]
    menu = [r for r in range(p.resources) if held_b[r] > 0]
    menu = sorted(sorted(menu, key=lambda r: (s.value[buyer][r], r))[: p.menu_size])
    goods = []
    for r in range(p.resources):
        minutes, units = valuation.worst_case(p, s, seller, t, r)
        if (
            s.device_experience[seller][t][r] >= 1.0
            and not s.bought[seller][r]
            and all(need <= held for need, held in zip(units, held_s, strict=True))
            and s.reserved_minutes[seller] + minutes < p.day_length
        ):
            goods.append(r)
    if not menu or not goods:
        return False
    best, pick, cost_b = 0.0, None, valuation.costs(p, s, buyer, t)[0]
    for r in goods:
        worth = valuation.buyers_value(p, s, buyer, t, r, cost_b[r])
        if worth > best:
            best, pick = worth, r
        if s.to_make[buyer][t][r] > 0 and cost_b[r] > best:
            best, pick = cost_b[r], r
    if pick is None:
        return False
    loss_s = valuation.costs(p, s, seller, t)[0][pick]
    takes, total = [0] * p.resources, 0.0
    while total < loss_s and (left := [r for r in menu if takes[r] < held_b[r]]):
        r = max(left, key=lambda r: (mu[seller](r, held_s[r] + takes[r]), -r))
        total += mu[seller](r, held_s[r] + takes[r])
        takes[r] += 1
    gives, total, last = [0] * p.resources, 0.0, None
    while total < best and (left := [r for r in menu if gives[r] < held_b[r]]):
        last = min(left, key=lambda r: (mu[buyer](r, held_b[r] - gives[r] - 1), r))
        total += mu[buyer](last, held_b[last] - gives[last] - 1)
        gives[last] += 1
    if total >= best:
        gives[last] -= 1
    pow_b, pow_s = (p.devices.trade_power[p.group_of_agent[x]] for x in (buyer, seller))
    offer, paid, got = [0] * p.resources, 0.0, 0.0
    for r in menu:
        middle = (takes[r] * pow_b + gives[r] * pow_s) / (pow_b + pow_s)
        offer[r] = min(held_b[r], int(middle + 0.5))
        paid += loss(utility_curve(p, buyer, r), held_b[r], offer[r])
        got += gain(utility_curve(p, seller, r), held_s[r], offer[r])
    if not (paid < best and loss_s < got):
        return False
    if s.device_minutes[seller][t][pick] < p.device_lifetime[t]:
        reserve(p, s, seller, t, pick)
    else:
        s.device_minutes[seller][t][pick] -= p.device_lifetime[t]
    s.device_experience[buyer][t][pick] = max(s.device_experience[buyer][t][pick], 2.0)
    know_components(p, s, buyer)
    if s.to_make[buyer][t][pick] > 0:
        unreserve(p, s, buyer, t, pick)
    else:
        s.device_minutes[buyer][t][pick] += p.device_lifetime[t]
    for r in menu:
        held_b[r] -= offer[r]
        held_s[r] += offer[r]
    for x in (buyer, seller):
        s.value[x] = [mu[x](r, s.held[x][r]) for r in range(p.resources)]
    for x, other, gained in ((seller, buyer, got - loss_s), (buyer, seller, best - paid)):
        gains = gains_of(s, x, t)
        gains.setdefault(other, [0.0] * 5)[0] += gained
        remember(s, x, t, gains)
    s.prices[buyer][t][pick] = [paid, *s.prices[buyer][t][pick][:-1]]
    s.prices[seller][t][pick] = [-(got - loss_s), *s.prices[seller][t][pick][:-1]]
    s.bought[buyer][pick] = 1
    s.units_paid[buyer] += sum(offer)
    s.devices_sold[seller][t] += 1
    return True


UNLIKE = [
    {"name": "a", "count": 1, "device_trade_power": 0.4, "utility": {"scale": 700.0}},
    {"name": "b", "count": 1, "device_trade_power": 2.5, "device": {"max_effort": 20.0}},
]


@pytest.mark.sample
@pytest.mark.parametrize("agents", ["alike", "unlike"])
def test_deals_are_those_of_the_text(agents):
    """Random states, in which there is a deal, or none for one reason or another."""
    p, s = started(
        agents=2,
        resources=12,
        utility={"min_marginal": 30.0},
        trading={"menu_size": 4},
        **({"groups": UNLIKE} if agents == "unlike" else {}),
    )
    tools(s, {r: sorted(((r + 1) % 12, (r + 5) % 12)) for r in range(12)})
    for r in range(6):
        recipe(s, MACHINE, r, r, 11 - r)
    rng, fresh = np.random.default_rng(5), copy.deepcopy(vars(s))
    deals = refused = 0
    for case in range(100):
        vars(s).update(copy.deepcopy(fresh))
        s.held = (rng.random((2, 12)) ** 3 * [[150], [40]]).astype(int).tolist()
        s.value = [
            [marginal_utility(utility_curve(p, a, r), h) for r, h in enumerate(s.held[a])]
            for a in (0, 1)
        ]
        s.gain_per_minute = (rng.random(2) ** 2 * 60).tolist()
        s.experience = (rng.random((2, 12)) * 300).tolist()
        s.device_experience = (rng.random((2, 6, 12)) ** 2 * 8).tolist()
        s.device_minutes = (rng.random((2, 6, 12)) ** 4 * 400).tolist()
        s.to_make[0][TOOL] = (rng.random(12) < 0.2).astype(int).tolist()
        s.set_aside = [[20] * 12, [20] * 12]
        s.bought = (rng.random((2, 12)) < 0.1).astype(int).tolist()
        s.prices = (rng.random((2, 6, 12, 5)) * 900 * (rng.random((2, 6, 12, 5)) < 0.2)).tolist()
        s.reserved_minutes = [float(rng.integers(0, 500)) for _ in range(2)]
        device = case % 3 == 0
        expected = SimpleNamespace(**copy.deepcopy(vars(s)), listener=None)
        agreed = deal_as_written(p, expected, int(device), 0, 1)
        assert deal(p, s, int(device), 0, 1) is agreed
        for name, value in vars(expected).items():
            if name not in ("units_paid_outside", "listener"):
                assert getattr(s, name) == value, name
        deals += agreed
        refused += not agreed
    assert deals > 15
    assert refused > 15


# -- what a buyer pays at most ---------------------------------------------------------------------


def test_who_can_make_it_pays_no_more_than_that_costs():
    p, s = buyer_and_seller()
    net = valuation.benefit(p, s, 1, TOOL, 2) - 150.0
    assert valuation.buyers_value(p, s, 1, TOOL, 2, 3.0) == net > 3.0
    for experience, value in ((0.99, net), (1.0, 3.0), (6.0, 3.0)):
        s.device_experience[1][TOOL][2] = experience
        assert valuation.buyers_value(p, s, 1, TOOL, 2, 3.0) == value
    s.gain_per_minute[1] = valuation.benefit(p, s, 1, TOOL, 2) / 150.0 + 1.0
    assert valuation.buyers_value(p, s, 1, TOOL, 2, 3.0) == 0.0


def test_no_device_is_sold_without_goods_or_offers_or_a_gain_of_both():
    assert market.nothing_to_trade([1], [2]) is None
    assert market.nothing_to_trade([], [2]) == ("the seller can make none", ())
    assert market.nothing_to_trade([], []) == ("the seller can make none", ())
    assert market.nothing_to_trade([1], []) == ("the buyer holds nothing to pay with", ())
    too_dear = ("the price is not below its worth to the buyer", ())
    too_cheap = ("the price does not exceed the seller's cost", ())
    for worth, cost, paid, received, reason in (
        (9.0, 2.0, 8.9, 2.1, None),
        (9.0, 2.0, 9.0, 2.1, too_dear),
        (9.0, 2.0, 9.0, 2.0, too_dear),
        (9.0, 2.0, 8.9, 2.0, too_cheap),
    ):
        assert market.refusal(worth, cost, paid, received) == reason
