"""Is a meeting on the resource market what the model's text says, step by step?

The text (societies-model.md, 5.2) is written down here a second time, in its own order and with
its own names, and both are given the same random states: unlike agents, unequal powers, all price
rules, short and long menus.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from states import started

from reference_py.economy import trading
from reference_py.economy.curves import gain, loss, marginal_utility, utility_curve
from reference_py.economy.trading import bargain, meet, menu, proposal, ranked, rounded, score

GROUPS = [
    {"name": "meek", "count": 1, "utility": {"scale": [500.0, 600.0, 600.0, 700.0, 600.0]}},
    {
        "name": "strong",
        "count": 1,
        "trade_power": 3.0,
        "utility": {"scale": [600.0, 650.0, 550.0, 600.0, 500.0]},
    },
]
MARKETS = {
    "geometric": {},
    "inverse": {"price": "inverse_geometric", "menu_size": 2},
    "unit": {"price": "unit", "attempts": 3},
    "unequal": {"menu_size": 4, "attempts": 2},
    "demanding": {"min_surplus": 40.0, "attempts": 12, "menu_size": 2},
}


# -- the text --------------------------------------------------------------------------------------


class AsWritten:
    """A meeting of A (agent 0) and B (agent 1), after 5.2.1 to 5.2.3."""

    def __init__(self, p, s):
        self.p, self.s = p, s
        self.cache = [list(s.value[0]), list(s.value[1])]
        self.held = [list(s.held[0]), list(s.held[1])]
        self.sold, self.deals = [0, 0], 0

    def mu(self, x, r, held):
        curve = utility_curve(self.p, x, r)
        if held < 0:
            return 0.0
        return curve.marginal[held] if held < len(curve.marginal) else curve.floor

    def menu(self, x):
        held = [r for r in range(self.p.resources) if self.held[x][r] > 0]
        return set(sorted(held, key=lambda r: (self.cache[x][r], r))[: self.p.menu_size])

    def score(self, x, wanted, given):
        numerator = self.cache[x][wanted]
        denominator = self.mu(x, given, self.held[x][given] - 1)
        if denominator == 0.0:
            return math.inf if numerator > 0.0 else 0.0
        return numerator / denominator

    def extend(self, attempt):
        menus = self.menu(0), self.menu(1)
        self.sell_a |= menus[0] - menus[1]
        self.sell_b |= menus[1] - menus[0]
        if not self.sell_a or not self.sell_b:
            return False
        candidates = [(b, a) for b in sorted(self.sell_a) for a in sorted(self.sell_b)]
        for i in range(self.p.attempts):
            if not candidates:
                break
            by_a = i % 2 == attempt % 2
            scores = [self.score(0, a, b) if by_a else self.score(1, b, a) for b, a in candidates]
            self.queue.append(candidates.pop(scores.index(max(scores))))
        return True

    def meeting(self):
        attempt, self.queue, self.sell_a, self.sell_b = 0, [], set(), set()
        if not self.extend(attempt):
            return
        while attempt < self.p.attempts and self.queue:
            b, a = self.queue.pop(0)
            if self.bargain(b, a):
                attempt += 1
                if attempt >= self.p.attempts or not self.extend(attempt):
                    return
            else:
                if not self.queue:
                    return
                attempt += 1

    def surplus(self, x, na, nb, b, a):
        gets, got, loses, lost = (a, na, b, nb) if x == 0 else (b, nb, a, na)
        held = self.held[x]
        more = gain(utility_curve(self.p, x, gets), held[gets], got)
        return more - loss(utility_curve(self.p, x, loses), held[loses], lost)

    def bargain(self, b, a):
        held_a, held_b = self.held
        if held_a[b] == 0 or held_b[a] == 0:
            return False
        v_a = self.mu(0, a, held_a[a]) / self.mu(0, b, held_a[b] - 1)
        v_b = self.mu(1, a, held_b[a] - 1) / self.mu(1, b, held_b[b])
        w_a, w_b = (self.p.trade_power[self.p.group_of_agent[x]] for x in (0, 1))
        if self.p.price == "unit":
            rho = 1.0
        elif w_a == w_b:
            rho = math.sqrt(v_a * v_b)
        else:
            rho = math.exp((w_b * math.log(v_a) + w_a * math.log(v_b)) / (w_a + w_b))
        rho = 1.0 / rho if self.p.price == "geometric" else rho
        for x in (0, 1):
            na, nb = self.propose(x, rho, b, a)
            if (
                na <= held_b[a]
                and nb <= held_a[b]
                and all(self.surplus(y, na, nb, b, a) > self.p.min_surplus for y in (0, 1))
            ):
                held_b[a] -= na
                held_a[a] += na
                held_a[b] -= nb
                held_b[b] += nb
                for y in (0, 1):
                    for r in (a, b):
                        self.cache[y][r] = self.mu(y, r, self.held[y][r])
                self.sold[0] += nb
                self.sold[1] += na
                self.deals += 1
                return True
        return False

    def propose(self, x, rho, b, a):
        nb = math.floor(1 / rho + 0.5) if rho <= 1.0 else 1
        offer = nb * rho
        na = math.floor(offer + 0.5)
        best = (na, nb)
        while (
            nb + 1 <= self.held[0][b]
            and na + 1 <= self.held[1][a]
            and self.surplus(x, math.floor(offer + rho + 0.5), nb + 1, b, a) > self.p.min_surplus
        ):
            if self.surplus(x, na, nb, b, a) > self.surplus(x, *best, b, a):
                best = (na, nb)
            nb += 1
            offer = nb * rho
            na = math.floor(offer + 0.5)
        return best


@pytest.mark.parametrize("market", MARKETS)
def test_meetings_are_those_of_the_text(market):
    groups = {"groups": GROUPS} if market in ("unequal", "unit") else {}
    p, s = started(
        agents=2,
        devices="none",
        device={},
        utility={"min_marginal": 20.0},
        trading={"menu_size": 3, **MARKETS[market]},
        **groups,
    )
    rng = np.random.default_rng(len(market))
    deals = several = 0
    for _ in range(150):
        s.held = (rng.random((2, 5)) ** 3 * 60).astype(int).tolist()
        s.value = [
            [marginal_utility(utility_curve(p, a, r), h) for r, h in enumerate(s.held[a])]
            for a in (0, 1)
        ]
        if rng.random() < 0.3:  # memory may be wrong in any way
            s.value = (20.0 + rng.integers(0, 5, (2, 5)) * 100.0).tolist()
        s.units_sold, s.deals = [0, 0], [0, 0]
        expected = AsWritten(p, s)
        expected.meeting()
        meet(p, s, 0, 1)
        assert s.held == expected.held
        assert s.value == expected.cache
        assert s.units_sold == expected.sold
        assert s.deals == [expected.deals, 0]
        deals += expected.deals
        several += expected.deals > 1
    assert deals > 40
    assert several > 5


# -- single rules ----------------------------------------------------------------------------------


def traders(**market):
    p, s = started(agents=2, trading={"menu_size": 2, **market})
    s.held = [[50, 0, 0, 3, 0], [0, 50, 0, 3, 0]]
    s.value = [[p.utility_curves[0].marginal[n] for n in held] for held in s.held]
    return p, s


def test_menus_hold_what_is_held_and_least_valued_the_first_of_equals():
    p, s = traders()
    s.held[0], s.value[0] = [1, 0, 1, 1, 1], [9.0, 1.0, 5.0, 5.0, 5.0]
    assert menu(p, s, 0) == {2, 3}
    s.held[0] = [0, 7, 0, 0, 0]
    assert menu(p, s, 0) == {1}
    s.held[0] = [0] * 5
    assert menu(p, s, 0) == set()


def test_what_is_not_held_is_not_worth_giving():
    p, s = traders()
    assert score(p, s, 0, 3, 0) == s.value[0][3] / p.utility_curves[0].marginal[49]
    assert score(p, s, 0, 3, 1) == math.inf
    s.value[0][3] = 0.0
    assert score(p, s, 0, 3, 1) == 0.0
    assert score(p, s, 0, 3, 0) == 0.0


def test_picks_alternate_and_equals_go_by_place():
    p, s = traders(attempts=3)
    s.held = [[5] * 5, [5] * 5]
    s.value = [[1.0, 1.0, 4.0, 3.0, 2.0], [5.0, 6.0, 1.0, 1.0, 1.0]]
    # By A: what it wants of 2, 3, 4; by B: what it wants of 0, 1.
    assert ranked(p, s, 0, 1, [0, 1], [2, 3, 4], 0) == [(0, 2), (1, 2), (0, 3)]
    assert ranked(p, s, 0, 1, [0, 1], [2, 3, 4], 1) == [(1, 2), (0, 2), (1, 3)]
    assert ranked(p, s, 0, 1, [1], [4, 2], 0) == [(1, 2), (1, 4)]


def test_who_has_run_out_of_either_cannot_bargain():
    p, s = traders()
    assert bargain(p, s, 0, 1, 0, 2) is False
    assert bargain(p, s, 0, 1, 1, 0) is False
    assert s.held == [[50, 0, 0, 3, 0], [0, 50, 0, 3, 0]]
    assert bargain(p, s, 0, 1, 0, 1)


def test_a_swap_is_accounted_for_on_both_sides_if_that_is_recorded(monkeypatch):
    """Seven units of 0 for three of 1: prices of both, gains, and links both ways."""
    monkeypatch.setattr(trading, "proposal", lambda surplus, *_: (3, 7, surplus(3, 7)))
    record = {"record": {"measures": True, "network": [1]}}
    p, s = started(agents=2, trading={"menu_size": 2}, **record)
    s.held = [[50, 0, 0, 3, 0], [0, 50, 0, 3, 0]]
    assert bargain(p, s, 0, 1, 0, 1)
    curve = p.utility_curves[0]
    gains = [gain(curve, 0, 3) - loss(curve, 50, 7), gain(curve, 0, 7) - loss(curve, 50, 3)]
    assert s.income_swaps == [pytest.approx(gains[0]), pytest.approx(gains[1])]
    assert s.priced_units == [[7, 0, 0, 0, 0], [0, 3, 0, 0, 0]]
    assert s.priced_for == [[3, 0, 0, 0, 0], [0, 7, 0, 0, 0]]
    assert s.priced_squares[0][0] == pytest.approx(7 * (3 / 7) ** 2)
    assert s.priced_squares[1][1] == pytest.approx(3 * (7 / 3) ** 2)
    assert s.link_taker == [[1], [0]]
    assert s.link_units == [[7], [3]]
    assert s.link_swaps == [[1], [1]]
    assert bargain(p, s, 1, 0, 1, 0)
    assert s.link_units == [[10], [10]] and s.link_swaps == [[2], [2]]


def test_no_agent_gives_more_than_it_has():
    """At this price A would give four for one, and has two: no loss of what it does not hold."""
    p, s = traders(price="inverse_geometric")
    s.held = [[2, 0, 0, 0, 0], [0, 50, 0, 0, 0]]
    assert bargain(p, s, 0, 1, 0, 1) is False
    assert s.held == [[2, 0, 0, 0, 0], [0, 50, 0, 0, 0]]


@pytest.mark.parametrize("stock", [(40, 9), (9, 40)])
def test_a_surplus_has_to_exceed_the_least(stock, monkeypatch):
    """One for one is all that is offered; the poorer of the two gains exactly the least."""
    monkeypatch.setattr(trading, "proposal", lambda surplus, *_: (1, 1, surplus(1, 1)))
    p, s = traders(price="unit")
    curve = p.utility_curves[0]
    s.held = [[stock[0], 1, 0, 0, 0], [1, stock[1], 0, 0, 0]]
    least = min(gain(curve, 1, 1) - loss(curve, units, 1) for units in stock)
    for surplus, agreed in ((least, False), (least * (1 - 1e-12), True)):
        p = replace(p, values={**p.values, "min_surplus": surplus})
        before = [list(held) for held in s.held]
        assert bargain(p, s, 0, 1, 0, 1) is agreed
        assert (s.held != before) is agreed


@pytest.mark.parametrize("side", [0, 1])
def test_of_equally_promising_swaps_that_of_the_lower_numbers_comes_first(side):
    """Whatever the order in which a set of 1 and 8 is gone through."""
    p, s = started(agents=2, resources=10, trading={"menu_size": 2, "attempts": 1})
    s.held = [[0] * 10, [0] * 10]
    s.held[side][1] = s.held[side][8] = 30
    s.held[1 - side][2] = 30
    s.value = [[p.utility_curves[0].marginal[n] for n in held] for held in s.held]
    meet(p, s, 0, 1)
    assert s.held[side][1] < 30
    assert s.held[side][8] == 30


def test_a_step_that_gains_the_least_only_ends_the_ladder():
    gains = {1: 5.0, 2: 6.0, 3: 0.1, 4: 7.0, 5: 8.0}
    assert proposal(lambda taken, given: gains[given], 1.0, 5, 5, 0.1)[:2] == (1, 1)
    gains[3] = 0.11
    assert proposal(lambda taken, given: gains[given], 1.0, 5, 5, 0.1)[:2] == (4, 4)
    assert proposal(lambda taken, given: gains[given], 1.0, 4, 5, 0.1)[:2] == (2, 2)
    assert proposal(lambda taken, given: gains[given], 1.0, 5, 4, 0.1)[:2] == (2, 2)


def test_swaps_with_other_groups_are_counted_besides():
    groups = [{"name": name, "count": n} for name, n in (("a", 1), ("b", 2))]
    p, s = started(agents=3, groups=groups, trading={"menu_size": 2})
    s.held = [[50, 0, 0, 3, 0], [4, 20, 0, 3, 0], [80, 0, 0, 3, 0]]
    assert bargain(p, s, 0, 1, 0, 1) is True
    given, taken, _ = s.units_sold
    assert given > taken > 0
    assert s.units_sold_outside == s.units_sold == [50 - s.held[0][0], 20 - s.held[1][1], 0]
    s.held[1] = [4, 20, 0, 3, 0]
    assert bargain(p, s, 2, 1, 0, 1)  # of one group
    assert s.units_sold_outside == [given, taken, 0]
    assert s.units_sold[2] == 80 - s.held[2][0]
    assert s.deals == [1, 0, 1]


def test_neighbours_in_the_order_of_the_round_meet(monkeypatch):
    p, s = started(agents=7, trading={"rounds": 2, "menu_size": 2})
    s.partners = [[0, 1, 2, 3, 4, 5, 6], [6, 2, 0, 4, 1, 3, 5]]
    seen = []
    monkeypatch.setattr(trading, "meet", lambda p, s, a, b: seen.append((a, b)))
    trading.trading(p, s, 1)
    assert seen == [(6, 2), (0, 4), (1, 3)]
    s.alive[4] = s.alive[1] = 0
    seen.clear()
    trading.trading(p, s, 1)
    assert seen == [(6, 2)]
    p, s = started(agents=4, trading={"rounds": 1, "menu_size": 2})
    s.partners = [[3, 0, 1, 2]]
    seen.clear()
    trading.trading(p, s, 0)
    assert seen == [(3, 0), (1, 2)]


def test_halves_are_rounded_upwards():
    assert [rounded(x) for x in (0.4, 0.5, 1.49, 1.5, 2.5)] == [0, 1, 1, 2, 3]
    assert rounded(1e300) == rounded(4e18) == 4_000_000_000_000_000_000
    assert rounded(1e15 + 0.5) == 10**15 + 1


def test_the_first_step_of_a_ladder_gives_whole_units():
    flat = {"surplus": lambda taken, given: 0.0, "min_surplus": 1.0}
    for rate, offer in ((1.0, (1, 1)), (0.4, (1, 3)), (2.6, (3, 1)), (1.4, (1, 1)), (0.6, (1, 2))):
        found = proposal(flat["surplus"], rate, 9, 9, flat["min_surplus"])[:2]
        assert found == offer


# -- reasons ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gives", "gains", "reason"),
    [
        ((5, 6), (0.2, 0.3), None),
        ((6, 6), (0.2, 0.3), ("does not have the units", (8,))),
        ((5, 7), (0.2, 0.3), ("does not have the units", (3,))),
        ((6, 7), (0.2, 0.3), ("does not have the units", (3,))),
        ((5, 6), (0.1, 0.3), ("would gain too little", (8,))),
        ((5, 6), (0.2, 0.1), ("would gain too little", (3,))),
        ((5, 6), (0.1, 0.1), ("would gain too little", (8, 3))),
    ],
)
def test_a_proposal_is_refused_because_of_the_agent_that_it_does_not_suit(gives, gains, reason):
    assert trading.refusal((8, 3), (5, 6), gives, gains, 0.1) == reason


def test_nothing_is_swapped_without_offers_on_both_sides():
    menus = {8: {1, 2}, 3: {2, 4}}
    assert trading.nothing_to_swap(menus, {1}, {4}) is None
    nothing_left = ("the offers left nothing to swap", ())
    assert trading.nothing_to_swap(menus, set(), {4}) == nothing_left
    assert trading.nothing_to_swap(menus, {1}, set()) == nothing_left
    of_one = ("held nothing to offer", (3,))
    assert trading.nothing_to_swap({8: {1}, 3: set()}, {1}, set()) == of_one
    of_both = ("held nothing to offer", (8, 3))
    assert trading.nothing_to_swap({8: set(), 3: set()}, set(), set()) == of_both
