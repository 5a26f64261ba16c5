"""Does every trade make sense to both partners, and is the price what the rules say?

The reference is watched while it trades; the device gives the same bits (tests/parity).
"""

import math
from fractions import Fraction

import hypothesis.strategies as st
import pytest
from engines import ReferenceEngine
from hypothesis import given as for_all
from hypothesis import settings

from reference_py.economy import trading
from societies import config_from_dict
from societies.economy.parameters import parameters
from societies.economy.schedule import DayStep
from societies.economy.series import columns

SERIES = columns(devices=False, groups=1)

UNLIKE = [
    {"name": "meek", "count": 3, "utility": {"scale": 500.0}},
    {"name": "strong", "count": 4, "trade_power": 3.0, "extraction": {"min_effort": 2.0}},
]
MARKETS = {
    "default": {},
    "inverse price": {"trading": {"price": "inverse_geometric"}},
    "unit price": {"trading": {"price": "unit"}},
    "unequal agents": {"groups": UNLIKE},
    "unequal agents, inverse price": {"groups": UNLIKE, "trading": {"price": "inverse_geometric"}},
    "demanding": {"trading": {"min_surplus": 25.0}},
    "undemanding": {"trading": {"min_surplus": 0.0}},
    "long menus": {"trading": {"menu_size": 8, "attempts": 30}},
    "nothing is consumed": {"consumption": {"resource_lifetime": 1e12}},
}


def engine(days=8, **settings):
    config = config_from_dict(
        {
            "workload": "economy",
            "agents": 7,
            "resources": 9,
            "days": days,
            "seed": 3,
            "utility": {"min_marginal": 20.0},
            **settings,
        }
    )
    result = ReferenceEngine(parameters(config))
    result.start()
    return result


def utility(curve, units):
    """Exact utility of a number of units: a sum of marginal utilities."""
    inside = min(units, len(curve.marginal))
    return sum(map(Fraction, curve.marginal[:inside])) + Fraction(curve.floor) * (units - inside)


class Deals:
    """Every bargain of a run: the state before it, and what came of it."""

    def __init__(self, monkeypatch):
        self.agreed, self.refused, self.meetings, self.lengths = [], 0, 0, []
        self._bargain, self._meet = trading.bargain, trading.meet
        monkeypatch.setattr(trading, "bargain", self.bargain)
        monkeypatch.setattr(trading, "meet", self.meet)

    def meet(self, p, s, a, b):
        self.lengths.append(0)
        assert a != b
        self._meet(p, s, a, b)

    def bargain(self, p, s, a, b, give, take):
        before = {agent: list(s.held[agent]) for agent in (a, b)}
        sold = {agent: s.units_sold[agent] for agent in (a, b)}
        others = [list(row) for i, row in enumerate(s.held) if i not in (a, b)]
        menus = [trading.menu(p, s, agent) for agent in (a, b)]
        agreed = self._bargain(p, s, a, b, give, take)
        if self.lengths[-1] == 0:  # later in the meeting, earlier menus count as well
            assert give in menus[0] - menus[1]
            assert take in menus[1] - menus[0]
        self.lengths[-1] += 1
        assert others == [row for i, row in enumerate(s.held) if i not in (a, b)]
        if not agreed:
            self.refused += 1
            assert before == {agent: s.held[agent] for agent in (a, b)}
            assert sold == {agent: s.units_sold[agent] for agent in (a, b)}
            return agreed
        given, taken = before[a][give] - s.held[a][give], s.held[a][take] - before[a][take]
        assert (given, taken) == (
            s.held[b][give] - before[b][give],
            before[b][take] - s.held[b][take],
        )
        assert (s.units_sold[a] - sold[a], s.units_sold[b] - sold[b]) == (given, taken)
        for agent in (a, b):
            assert all(
                s.held[agent][r] == before[agent][r]
                for r in range(p.resources)
                if r not in (give, take)
            )
        self.agreed.append((a, b, give, take, given, taken, before))
        return agreed


@pytest.mark.sample
@pytest.mark.parametrize("market", MARKETS)
def test_both_gain_more_than_the_least_surplus(market, monkeypatch, endow):
    deals = Deals(monkeypatch)
    run = engine(**MARKETS[market])
    endow(run)
    run.run_days(1, 4)
    p = run.parameters
    for a, b, give, take, given, taken, held in deals.agreed:
        assert give != take
        assert given >= 1
        assert taken >= 1
        assert given <= held[a][give], "A sold what it did not have"
        assert taken <= held[b][take], "B sold what it did not have"
        for agent, gets, got, loses, lost in (
            (a, take, taken, give, given),
            (b, give, given, take, taken),
        ):
            group = p.group_of_agent[agent]
            got_curve = p.utility_curves[p.utility_curve_of[group][gets]]
            lost_curve = p.utility_curves[p.utility_curve_of[group][loses]]
            own = held[agent]
            surplus = (
                utility(got_curve, own[gets] + got)
                - utility(got_curve, own[gets])
                - utility(lost_curve, own[loses])
                + utility(lost_curve, own[loses] - lost)
            )
            assert surplus > p.min_surplus - 1e-8
    assert len(deals.agreed) > 50
    assert deals.refused > 50
    assert (
        max(deals.lengths) == p.attempts
        if market == "default"
        else max(deals.lengths) <= p.attempts
    )


def test_nothing_is_traded_before_the_first_extraction(monkeypatch):
    deals = Deals(monkeypatch)
    run = engine()
    for step in [DayStep("matching"), *(DayStep("trading", i) for i in range(12))]:
        run.step(step, 1)
    assert len(deals.lengths) == 12 * 3
    assert not any(deals.lengths)


def test_the_last_agent_of_an_odd_society_rests(monkeypatch):
    """And every other agent meets exactly one other in every round."""
    met = []
    monkeypatch.setattr(trading, "meet", lambda p, s, a, b: met.extend((a, b)))
    run = engine()
    rested = set()
    for _ in range(20):
        run.step(DayStep("matching"), 1)
        for round_ in range(12):
            met.clear()
            run.step(DayStep("trading", round_), 1)
            rest = run.state()["partners"][0, round_, -1]
            assert sorted([*met, rest]) == list(range(7))
            rested.add(int(rest))
    assert rested == set(range(7))


def test_the_removed_meet_no_agent(monkeypatch):
    pairs = []
    monkeypatch.setattr(trading, "meet", lambda p, s, a, b: pairs.append({a, b}))
    run = engine(shocks=[{"day": 0, "remove": "agent", "index": 2}])
    for _ in range(20):
        run.step(DayStep("matching"), 1)
        for round_ in range(12):
            run.step(DayStep("trading", round_), 1)
    assert {2} & set.union(*pairs) == set()
    assert len(pairs) < 20 * 12 * 3  # their partners have no other instead


@for_all(
    held=st.lists(st.integers(1, 60), min_size=18, max_size=18),
    value=st.lists(st.floats(20.0, 600.0), min_size=18, max_size=18),
    missing=st.sets(st.integers(0, 8), max_size=7),
)
@settings(max_examples=60)
def test_equal_menus_mean_no_trade(held, value, missing):
    """A menu of everything held is the same for both if they hold the same kinds."""
    run = engine(trading={"menu_size": 9})
    s, p = run.copies_now[0], run.parameters
    for agent in (0, 1):
        s.held[agent] = [0 if r in missing else held[9 * agent + r] for r in range(9)]
        s.value[agent] = value[9 * agent : 9 * agent + 9]
    before = [list(row) for row in s.held]
    trading.meet(p, s, 0, 1)
    assert s.held == before
    assert not any(s.deals)


def test_menus_are_made_from_memory():
    """What an agent believes decides what it lays out; with fresh values it knows better."""
    for fresh, sold in ((False, 0), (True, 1)):
        run = engine(trading={"menu_size": 1, "fresh_values": fresh, "price": "unit"}, resources=3)
        s = run.copies_now[0]
        s.held[0], s.value[0] = [5, 30, 0], [25.0, 500.0, 600.0]  # resource 1 is the abundant one
        s.held[1], s.value[1] = [0, 0, 30], [600.0, 600.0, 25.0]
        if fresh:
            run.step(DayStep("refresh_values"), 1)
        assert trading.menu(run.parameters, s, 0) == {sold}


# -- price -----------------------------------------------------------------------------------------

VALUES = st.floats(1e-3, 1e3)
POWERS = st.floats(1e-2, 1e2)


@for_all(most_a=VALUES, least_b=VALUES, power=POWERS)
def test_equal_powers_settle_at_the_geometric_mean_whatever_their_size(most_a, least_b, power):
    mean = math.sqrt(most_a * least_b)
    assert trading.price("geometric", most_a, least_b, power, power) == 1.0 / mean
    assert trading.price("inverse_geometric", most_a, least_b, power, power) == mean
    assert trading.price("unit", most_a, least_b, power, power) == 1.0


@for_all(least_b=VALUES, more=st.floats(1.01, 100.0), a=POWERS, b=POWERS, factor=st.floats(1.1, 10))
def test_power_moves_the_price_towards_the_others_limit(least_b, more, a, b, factor):
    """A sells b for a. It wants many a for one b: at most 1 / least_b of them can be had."""
    most_a = least_b * more
    rate = trading.price("geometric", most_a, least_b, a, b)
    assert 1.0 / most_a < rate < 1.0 / least_b or rate == pytest.approx(1.0 / most_a)
    tiny = 1.0 + 1e-12
    assert trading.price("geometric", most_a, least_b, a * factor, b) >= rate / tiny
    assert trading.price("geometric", most_a, least_b, a, b * factor) <= rate * tiny
    total = trading.price("geometric", most_a, least_b, 1e9, 1e-3)
    assert total == pytest.approx(1.0 / least_b, rel=1e-9)
    total = trading.price("geometric", most_a, least_b, 1e-3, 1e9)
    assert total == pytest.approx(1.0 / most_a, rel=1e-9)


@for_all(most_a=VALUES, least_b=VALUES, a=POWERS, b=POWERS)
def test_the_inverse_rule_is_the_price_upside_down(most_a, least_b, a, b):
    price = trading.price("geometric", most_a, least_b, a, b)
    assert trading.price("inverse_geometric", most_a, least_b, a, b) * price == pytest.approx(1.0)


def test_powers_of_any_equal_size_change_no_bit_of_a_society(endow):
    plain = engine()
    groups = [{"name": str(i), "count": n, "trade_power": 2.5} for i, n in enumerate((3, 4))]
    strong = engine(groups=groups)
    for run in (plain, strong):
        endow(run)
        run.run_days(1, 4)
    assert plain.run_days(5, 5)[0, 0, SERIES.index("units_traded")] > 0
    strong.run_days(5, 5)
    for name, array in plain.state().items():
        other = strong.state()[name]
        if name == "series":  # with groups there are some of each group besides
            other = other[:, : array.shape[1]]
        assert array.tobytes() == other.tobytes(), name


def test_the_strong_do_better(endow):
    """The same goods, the same meetings: with ten times the power the one half gains more."""
    groups = [
        {"name": "weak", "count": 4, "trade_power": 1.0},
        {"name": "strong", "count": 4, "trade_power": 10.0},
    ]
    market = [DayStep("matching"), *(DayStep("trading", i) for i in range(12))]
    gains = []
    for power in (1.0, 10.0):
        groups[1]["trade_power"] = power
        run = engine(agents=8, groups=groups, replicates=20)
        endow(run)
        run.step(DayStep("agent_statistics"), 1)
        before = run.state()["utility"]
        for step in market:
            run.step(step, 1)
        run.step(DayStep("agent_statistics"), 1)
        gain = run.state()["utility"] - before
        gains.append((gain[:, :4].mean(), gain[:, 4:].mean()))
    (weak_before, strong_before), (weak, strong) = gains
    assert weak < weak_before
    assert strong > strong_before


# -- offers ----------------------------------------------------------------------------------------


@for_all(
    rate=st.floats(0.02, 50.0),
    stock_given=st.integers(1, 60),
    stock_taken=st.integers(1, 60),
    slope=st.floats(0.5, 30.0),
    cost=st.floats(0.5, 30.0),
)
def test_an_offer_is_on_the_ladder_and_the_best_before_its_end(
    rate, stock_given, stock_taken, slope, cost
):
    """The ladder has a step for every unit given; what is proposed is no worse than any but the
    last step reached, and the smallest of equal ones."""

    def surplus(taken, given):
        return 100.0 * slope * math.sqrt(taken) - cost * given * given

    def taken_for(given):
        return math.floor(given * rate + 0.5)

    taken, given, best = trading.proposal(surplus, rate, stock_given, stock_taken, 0.1)
    first = math.floor(1.0 / rate + 0.5) if rate <= 1.0 else 1
    assert given >= first
    assert taken == taken_for(given)
    assert best == surplus(taken, given)
    assert given == first or (given <= stock_given and taken <= stock_taken)
    last = first
    while (
        last + 1 <= stock_given
        and taken_for(last) + 1 <= stock_taken
        and surplus(math.floor(last * rate + rate + 0.5), last + 1) > 0.1
    ):
        last += 1
    candidates = [(surplus(taken_for(n), n), -n) for n in range(first, last)]
    assert given == (-max(candidates)[1] if candidates else first)
    assert given < last or last == first


def test_of_equal_offers_the_smallest_is_made():
    assert trading.proposal(lambda taken, given: 5.0, 2.0, 50, 50, 0.1)[:2] == (2, 1)
    assert trading.proposal(lambda taken, given: 5.0, 0.25, 50, 50, 0.1)[:2] == (1, 4)
