"""What do policies and rules of users change in markets, measures and streams? Rule by rule.

Sources: docs/model.md, "Barter", "Device trade", "Measures"; docs/design/randomness.md. What whole
days with policies and rules are: tests/invariants/test_policies.py, tests/translate.
"""

import copy
import math
from dataclasses import replace

import pytest
from partners import gains_of
from states import started, tools

from reference_py.economy import device_trading, invention, measures, trading, valuation
from reference_py.economy.consumption import consume
from reference_py.economy.curves import gain, loss, marginal_utility, utility_curve
from reference_py.economy.device_trading import deal, for_sale
from reference_py.economy.devices import whole_devices
from reference_py.economy.end_day import refresh_values
from reference_py.economy.endowment import endow
from reference_py.economy.matching import in_random_order, ordered
from reference_py.economy.policies import collect_taxes
from reference_py.economy.shocks import remove_resource
from reference_py.economy.society import new_society
from reference_py.economy.statistics import policy_statistics, society_statistics
from reference_py.economy.streams import (
    PURPOSES,
    STREAM_GAP,
    Rng,
    of_part,
    seed_all,
    stream_base,
    synchronize_draws,
)
from reference_py.economy.trading import bargain, no_preference, ranked, relative_value, score

TOOL = 0
NAN = float("nan")
TWO = [
    {"name": "a", "count": 1, "utility": {"scale": 500.0}},
    {"name": "b", "count": 2, "utility": {"scale": 700.0}},
]
TAX = {"holdings_tax": {"rate": 0.25}}


def barter(rules=(), **settings):
    """Agent 0 has much of resource 0 and agent 1 of resource 3, of which it is content with less.

    They belong to two groups.
    """
    p, s = started(agents=3, groups=TWO, **settings)
    s.held = [[60, 1, 1, 0, 1], [0, 1, 1, 90, 1], [1] * 5]
    refresh_values(p, s)
    return replace(p, rules=dict(rules)), s


def worth_of_one_more(p, s):
    return [
        [marginal_utility(utility_curve(p, agent, r), n) for r, n in enumerate(held)]
        for agent, held in enumerate(s.held)
    ]


# -- barter ----------------------------------------------------------------------------------------


def test_a_swap_counts_towards_quotas_and_taxes_of_both():
    p, s = barter(policies=TAX)
    assert bargain(p, s, 0, 1, 0, 3)
    given, taken = 60 - s.held[0][0], s.held[0][3]
    assert given != taken and given > 0 < taken
    assert s.units_given == [[given, 0, 0, 0, 0], [0, 0, 0, taken, 0], [0] * 5]
    assert s.units_received == [[0, 0, 0, taken, 0], [given, 0, 0, 0, 0], [0] * 5]
    assert bargain(p, s, 1, 0, 3, 0) in (True, False)
    p, s = barter()
    assert bargain(p, s, 0, 1, 0, 3) and not p.policies


def test_the_price_of_a_swap_is_limited(monkeypatch):
    """It is asked about the resource that is given and the one that is taken, in this order."""
    asked = []

    def limited(p, give, take, rate):
        asked.append((give, take, rate))
        return 2.0

    p, s = barter({"trading.price": lambda **_: 1.0}, policies=TAX)
    monkeypatch.setattr(trading, "limited", limited)
    assert bargain(p, s, 0, 1, 0, 3)
    assert asked == [(0, 3, 1.0)]
    assert s.held[0][3] == 2 * (60 - s.held[0][0])


@pytest.mark.parametrize("rate", [0.0, -0.5, -2.0, math.inf, NAN])
def test_at_what_is_no_price_nothing_is_swapped(rate):
    """Limits of prices do not make one of it."""
    limits = {"price_floor": 0.5, "price_cap": 2.0}
    p, s = barter({"trading.price": lambda **_: rate}, policies=limits)
    before = copy.deepcopy(s.held)
    assert not bargain(p, s, 0, 1, 0, 3) and s.held == before
    p = replace(p, rules={"trading.price": lambda **_: 9.0})
    assert bargain(p, s, 0, 1, 0, 3) and s.held[0][3] == 2 * (60 - s.held[0][0])


@pytest.mark.parametrize(
    ("held", "given", "taken", "why"),
    [
        ([60, 90], 0, 0, None),
        ([0, 90], 0, 0, "no longer holds the resource"),
        ([60, 0], 0, 0, "no longer holds the resource"),
        ([60, 90], 9, 0, "may give no more of the resource today"),
        ([1, 1], 9, 0, "may give no more of the resource today"),
        ([1, 0], 9, 0, "no longer holds the resource"),
    ],
)
def test_who_has_none_is_distinguished_from_who_may_give_none(held, given, taken, why):
    p, s = barter(policies={"quota_of": 0, "quota": 9})
    s.held[0][0], s.held[1][3] = held
    s.held[0][3], s.held[1][0] = 1, 7  # what they hold of the other resource does not matter
    s.units_given[0][0] = given
    reasons = []
    s.listener = lambda event, facts: reasons.append(facts.get("refused"))
    assert bargain(p, s, 0, 1, 0, 3) == (why is None)
    assert why is None or reasons == [(f"one of the two {why}", ())]


def test_a_proposal_beyond_the_quota_is_distinguished_from_one_beyond_the_stock():
    """One unit costs twenty of the other: B holds them, and may give five."""
    p, s = barter({"trading.price": lambda **_: 20.0}, policies={"quota_of": 3, "quota": 5})
    reasons = []
    s.listener = lambda event, facts: event == "proposal" and reasons.append(facts["refused"])
    s.held[0][3], s.held[1][0] = 9, 9
    assert not bargain(p, s, 0, 1, 0, 3)
    assert reasons[0] == ("may not give that many units today", (1,))
    s.held[1][3] = 15
    reasons.clear()
    assert not bargain(p, s, 0, 1, 0, 3)
    assert reasons[0] == ("does not have the units", (1,))


def test_a_quota_of_what_is_given_is_distinguished_from_the_stock_too():
    p, s = barter({"trading.price": lambda **_: 1 / 20}, policies={"quota_of": 0, "quota": 5})
    reasons = []
    s.listener = lambda event, facts: event == "proposal" and reasons.append(facts["refused"])
    s.held[0][3], s.held[1][0] = 9, 9
    assert not bargain(p, s, 0, 1, 0, 3)
    assert reasons[0] == ("may not give that many units today", (0,))


def test_of_equal_scores_the_rule_of_choice_decides_for_each_side():
    asked = []

    def choice(wanted, given):
        asked.append((wanted, given))
        return 10 * wanted - given

    rules = {"trading.choice": choice, "trading.score": lambda **_: 1.0}
    p, s = barter(rules, trading={"attempts": 4})
    picks = ranked(p, s, 0, 1, [0, 1], [2, 3], 0)
    pairs = [(0, 2), (0, 3), (1, 2), (1, 3)]  # what A gives, what it takes
    assert asked == [(take, give) for give, take in pairs] + [(give, take) for give, take in pairs]
    # The lowest number first: A likes (1, 2) of 19, B then (0, 3) of -3, A (0, 2), B (1, 3).
    assert picks == [(1, 2), (0, 3), (0, 2), (1, 3)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [(-0.5, 0.0), (-3.0, 0.0), (NAN, 0.0), (0.25, 0.25), (math.inf, math.inf)],
)
def test_a_score_is_at_least_0(found, expected):
    p, s = barter({"trading.score": lambda **_: found})
    assert score(p, s, 0, 3, 0) == expected


def test_rules_of_barter_that_are_shipped():
    held = {"wanted_held": 1, "given_held": 2}
    assert relative_value(3.0, 2.0, **held) == 1.5
    assert relative_value(0.0, 0.0, **held) == 0.0 and relative_value(1.0, 0.0, **held) == math.inf
    assert no_preference(1, 2) == 0 == in_random_order(0, 1, 2, 3)


def test_a_rule_of_meetings_orders_the_random_order():
    asked = []

    def rule(**facts):
        asked.append(facts)
        return -facts["group"]

    p, _ = barter({"trading.meeting": rule})
    assert ordered(p, [1, 0, 2], 4) == [1, 2, 0]
    assert asked == [
        {"agent": agent, "agents": 3, "group": int(agent > 0), "market_round": 4}
        for agent in (1, 0, 2)
    ]
    assert ordered(replace(p, rules={}), [1, 0, 2], 4) == [1, 0, 2]


# -- devices ---------------------------------------------------------------------------------------


def device_market(resources=5, **settings):
    """Agent 1 has much of the first resource and of the last, and would like a tool of agent 0."""
    p, s = started(agents=3, groups=TWO, resources=resources, **settings)
    tools(s, {0: (1, 3), 2: (0, 1)})
    for device in range(6):
        s.device_experience[1][device] = [0.0] * resources
    none = [0] * (resources - 4)
    s.held = [[5, 5, 0, *none, 0], [300, 0, 0, *none, 400], [1] * resources]
    s.held = [row[:resources] for row in s.held]
    s.held[0][3], s.held[1][-1] = 5, 400
    refresh_values(p, s)
    s.gain_per_minute = [1.0, 1.0, 1.0]
    return p, s


def test_a_sale_is_paid_by_the_curves_of_both_and_counts_towards_taxes():
    p, s = device_market(policies=TAX)
    before = copy.deepcopy(s.held)
    picked, worth = device_trading.choice(p, s, TOOL, 1, for_sale(p, s, TOOL, 0))
    cost = valuation.costs(p, s, 0, TOOL)[0][picked]
    assert deal(p, s, TOOL, 1, 0) is True
    units = [b - a for a, b in zip(s.held[1], before[1], strict=True)]
    assert units[-1] > 0 and sum(map(bool, units)) == 2
    paid = sum(loss(utility_curve(p, 1, r), before[1][r], units[r]) for r in range(5))
    got = sum(gain(utility_curve(p, 0, r), before[0][r], units[r]) for r in range(5))
    assert gains_of(s, 1, TOOL)[0][0] == pytest.approx(worth - paid)
    assert gains_of(s, 0, TOOL)[1][0] == pytest.approx(got - cost)
    assert s.units_given == [[0] * 5, units, [0] * 5]
    assert s.units_received == [units, [0] * 5, [0] * 5]
    assert s.value[:2] == worth_of_one_more(p, s)[:2]


def test_a_payment_is_asked_for_between_worth_and_cost_of_what_is_offered(monkeypatch):
    """Offers are in the order of resources, in which their worth is added up."""
    p, s = device_market(resources=12)
    s.held[1][8], s.held[1][1] = 200, 200
    refresh_values(p, s)
    asked = []

    def payment(*given):
        asked.append(given[2:])
        return [0] * 12

    monkeypatch.setattr(device_trading, "payment", payment)
    picked, worth = device_trading.choice(p, s, TOOL, 1, for_sale(p, s, TOOL, 0))
    cost = valuation.costs(p, s, 0, TOOL)[0][picked]
    assert deal(p, s, TOOL, 1, 0) is False  # for nothing
    assert asked == [(1, 0, [0, 1, 8, 11], worth, cost)] and worth != cost


def test_nothing_is_sold_that_cannot_be_made_or_is_worth_nothing():
    p, s = device_market()
    assert for_sale(p, s, TOOL, 0) == [0, 2]
    s.bought[0][2] = 1
    assert for_sale(p, s, TOOL, 0) == [0]
    s.gain_per_minute[1] = 1e9
    assert deal(p, s, TOOL, 1, 0) is False
    s.bought[0][0] = 1
    assert deal(p, s, TOOL, 1, 0) is False


@pytest.mark.parametrize(
    ("found", "worth"), [(-0.5, 0.0), (0.5, 0.5), (7.0, 7.0), (math.inf, 0.0), (NAN, 0.0)]
)
def test_the_worth_of_a_device_by_a_rule_is_a_number_above_0_or_nothing(found, worth):
    asked = []

    def rule(**facts):
        asked.append(facts)
        return found

    p, s = device_market()
    usual = valuation.benefit(p, s, 1, TOOL, 2)
    p = replace(p, rules={"device.worth": rule})
    s.device_minutes[1][TOOL][2] = 0.0
    assert valuation.benefit(p, s, 1, TOOL, 2) == worth
    (facts,) = asked
    about = {"device_type": TOOL, "resource": 2, "lifetime": p.device_lifetime[TOOL]}
    assert facts == {**about, "benefit": usual, "owned": 0.0, "gain_per_minute": 1.0}
    assert valuation.what_it_brings(**facts) == usual > 1


def test_whole_devices_are_never_more_than_the_minutes():
    """A quotient is rounded: 3 x 0.1 is more than 0.3, though 0.3 / 0.1 is 2.99... and 3 is not."""
    for tenths in range(1, 400):
        for lifetime in (0.1, 0.7, 1.1, 150.0):
            minutes = float(tenths) * lifetime
            for exact in (math.nextafter(minutes, 0.0), minutes):
                count = whole_devices(exact, lifetime)
                assert float(count) * lifetime <= exact
                assert float(count + 2) * lifetime > exact


def test_a_banned_resource_gets_no_devices(monkeypatch):
    found, established = iter([(TOOL, 3, (0, 1)), (3, 4, (0, 1))]), []
    monkeypatch.setattr(invention, "attempt", lambda *_: next(found))
    monkeypatch.setattr(invention, "establish", lambda *given: established.append(given[-3:]))
    p, s = started(agents=2, invention={"banned_of": 3})
    invention.invention(p, s, 1)
    assert established == [(3, 4, (0, 1))]


# -- evenings, measures and streams ----------------------------------------------------------------


def test_an_endowment_is_that_of_the_group_and_its_value_is_known():
    groups = [{**TWO[0], "endowment": {"units": 3}}, TWO[1]]
    p, s = started(agents=3, groups=groups, endowment={"units": [0, 1, 2, 3, 9]})
    endow(p, s)
    assert s.held == [[3] * 5, [0, 1, 2, 3, 9], [0, 1, 2, 3, 9]]
    assert s.value == worth_of_one_more(p, s) and s.value[0] != s.value[1]
    s.held[1][0] = 99
    assert s.held[2][0] == 0


def measured(devices, groups, policies):
    settings = {"groups": TWO} if groups else {}
    settings |= {"policies": {**TAX, "transfer": {"equal": 0.5}}} if policies else {}
    p, s = started(agents=3, record={"measures": True}, devices=devices, **settings)
    s.held = [[9, 8, 0, 4, 1], [0, 2, 2, 2, 2], [5, 0, 0, 0, 5]]
    refresh_values(p, s)
    s.income_extraction = [10.0, 20.0, 60.0]
    return p, s


@pytest.mark.parametrize("devices", ["all", "none"])
@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("policies", [False, True])
def test_there_is_a_number_for_every_measure(devices, groups, policies):
    p, s = measured(devices, groups, policies)
    if policies:
        s.redistributed = [1.0, 2.0, -9.0]
    measures.agent_measures(p, s)
    measures.society_measures(p, s)
    names = measures.measure_names(p)
    assert len(names) == len(s.measures) == len({*names})
    found = dict(zip(names, s.measures, strict=True))
    assert found["income"] == pytest.approx(sum(s.income) / 3)
    assert ("disposable_income" in found) == ("gini_disposable_income" in found) == policies
    if policies:
        assert s.disposable_income == [a + b for a, b in zip(s.income, (1, 2, -9), strict=True)]
        assert found["disposable_income"] == pytest.approx(found["income"] - 2.0)
    assert ("wealth_devices" in found) == (devices == "all")
    if groups:
        assert found["group_income_0"] == s.income[0]
        assert found["group_income_1"] == pytest.approx((s.income[1] + s.income[2]) / 2)
    assert ("group_income_0" in found) == groups


@pytest.mark.parametrize("lose", [False, True])
def test_a_resource_that_is_lost_is_lost_in_the_fund(lose):
    p, s = started(agents=2, policies=TAX)
    s.fund = [4.0, 5.0, 6.0, 7.0, 8.0]
    remove_resource(p, s, 1, lose)
    assert s.fund == [4.0, 0.0 if lose else 5.0, 6.0, 7.0, 8.0]
    p, s = started(agents=2)
    remove_resource(p, s, 1, lose)
    assert not s.available[1]


def test_series_of_policies_are_means_over_the_living_and_what_the_fund_has():
    p, s = started(agents=4, policies=TAX)
    s.held = [[8, 0, 4, 0, 0]] * 2 + [[0] * 5] * 2
    s.held = [list(row) for row in s.held]
    collect_taxes(p, s)
    s.units_transferred = [4, 0, 0, 5]
    expected = {"units_taxed": 6 / 3, "units_transferred": 9 / 3, "units_in_fund": 6.0}
    assert policy_statistics(s, 3) == expected
    s.alive[2] = 0
    society_statistics(p, s, 1)
    p, s = started(agents=4)
    society_statistics(p, s, 1)


SYNCHRONIZED = {"draws": {"synchronized": True}}


def test_parts_of_a_stream_are_equally_far_apart():
    p, s = started()
    packed = s.stream[1][PURPOSES["consumption"]]
    for part, parts in ((0, 4), (1, 4), (3, 4), (4, 5)):
        expected = Rng.load(packed)
        expected.skip(part * (STREAM_GAP // parts))
        assert of_part(p, s, 1, "consumption", part, parts).pack() == expected.pack()
    assert s.stream[1][PURPOSES["consumption"]] == packed


def test_synchronized_consumption_draws_of_each_resource_by_itself():
    p, s = started(**SYNCHRONIZED)
    s.held[1] = [40, 50, 60, 70, 80]
    chance = p.consumption_threshold[0]
    taken = [
        of_part(p, s, 1, "consumption", r, 5).binomial(held, chance[r])
        for r, held in enumerate(s.held[1])
    ]
    streams = copy.deepcopy(s.stream)
    consume(p, s, 1)
    assert s.held[1] == [a - b for a, b in zip([40, 50, 60, 70, 80], taken, strict=True)]
    assert all(taken) and s.stream == streams


def test_synchronized_streams_begin_again_each_day_and_those_of_futures_part_after_the_fan():
    p, s = started(**SYNCHRONIZED, days=9, replicates=4, fan={"day": 3, "futures": 2})
    s.index = 3
    for day, base, index in ((3, p.stream_base, 1), (4, p.future_base, 3)):
        synchronize_draws(p, s, day)
        found = copy.deepcopy(s.stream)
        seed_all(p, s, stream_base(base + day), index)
        assert s.stream == found
    p, s = started()
    before = copy.deepcopy(s.stream)
    synchronize_draws(p, s, 3)
    assert s.stream == before


def test_a_society_is_the_first_unless_said():
    p, _ = started()
    assert new_society(p).index == 0 and new_society(p, 4).index == 4
