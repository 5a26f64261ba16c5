"""Does an explanation follow the reference, also where a user changes a rule?

Every test replays a day with a rule of the reference exchanged. What is reported must then be what
happened to the state in each step, and why, although nothing in `economy/explain` changes.
"""

import numpy as np
import pytest
from engines import ReferenceEngine
from small import small

from reference_py.economy import device_trading, invention, own_use, trading
from societies.economy.explain.agent_day import AgentListener, Trace
from societies.economy.explain.events import Attempt, Invented, OwnUse, Unit
from societies.economy.explain.replay import TradeListener, replay, sales, swaps
from societies.economy.explain.report import text
from societies.economy.parameters import parameters
from societies.economy.workload import WORKLOAD

DAY = 10


@pytest.fixture(scope="module")
def morning():
    """Return parameters and the state of a society that trades devices, on a morning."""
    p = parameters(small("economy", shocks=[]))
    engine = ReferenceEngine(p)
    engine.start()
    for day in range(1, DAY):
        engine.run_days(day, day)
    return p, engine.state()


ARRAYS = ("held", "set_aside", "units_sold", "deals", "units_paid", "devices_sold")


class Compared(TradeListener):
    """Compares what is reported of each step with what the step did to the society."""

    def __init__(self, p):
        super().__init__()
        self.p, self.compared, self.own, self.units = p, 0, [], []

    def on_own_use(self, agent, resource, **_):
        if resource is not None:
            self.own.append((agent, resource))

    def on_unit(self, agent, resource, **_):
        self.units.append((agent, resource))

    def begin(self, step, society):
        super().begin(step, society)
        self.events, self.own, self.units = [], [], []
        self.before = self.counted(society)

    def counted(self, s):
        found = {name: np.array(getattr(s, name)) for name in ARRAYS}
        found["owned"] = np.array(s.device_minutes)
        return found

    def end(self, society):
        after = self.counted(society)
        change = {name: after[name] - self.before[name] for name in after}
        check = getattr(self, f"check_{self.step.phase}", None)
        if check is not None:
            expected = {name: np.zeros_like(array) for name, array in change.items()}
            check(society, change, expected)
            self.compared += 1

    def check_trading(self, society, change, expected):
        for one in self.swapped():
            given, taken = one.swap.given, one.swap.taken
            expected["held"][[one.a, one.b], one.give] += (-given, given)
            expected["held"][[one.a, one.b], one.take] += (taken, -taken)
            expected["units_sold"][[one.a, one.b]] += (given, taken)
            expected["deals"][one.a] += 1
        for name in ("held", "units_sold", "deals"):
            assert change[name].tolist() == expected[name].tolist(), name

    def check_device_trading(self, society, change, expected):
        taken = np.zeros((self.p.agents, self.p.resources), int)
        for one in self.sold():
            for r, units in zip(one.offered, one.units, strict=True):
                expected["held"][[one.buyer, one.seller], r] += (-units, units)
                expected["units_paid"][one.buyer] += units
            expected["devices_sold"][one.seller, one.device_type] += 1
            taken[one.buyer, one.resource] = 1
        # what a maker locks for tools leaves its holdings, and stays its own
        assert (change["held"] + change["set_aside"]).tolist() == expected["held"].tolist()
        for name in ("units_paid", "devices_sold"):
            assert change[name].tolist() == expected[name].tolist(), name
        if society.market_open:
            assert np.array(society.bought).tolist() == taken.tolist()

    def check_own_use(self, society, change, expected):
        device_type = self.step.device_type
        for agent, resource in self.own:
            expected["owned"][agent, device_type, resource] += self.p.device_lifetime[device_type]
        np.testing.assert_allclose(
            change["owned"][:, device_type], expected["owned"][:, device_type]
        )

    def check_extraction(self, society, change, expected):
        for agent, resource in self.units:
            expected["held"][agent, resource] += 1
        assert change["held"].tolist() == expected["held"].tolist()

    def swapped(self):
        return [event for _, event in swaps(self.events)]

    def sold(self):
        return [event for _, event in sales(self.events)]


def compared(morning, listener=Compared):
    """Replay the day and compare every step with what is reported of it."""
    p, state = morning
    found = listener(p)
    replay(WORKLOAD, p, state, DAY, found)
    assert found.compared > 40
    return found


def explained(morning, agent=0):
    """Return the recorded events of an agent's day, and the day in words."""
    p, state = morning
    listener = AgentListener(agent)
    replay(WORKLOAD, p, state, DAY, listener)
    parts = [one for one in listener.sections if one.phase]
    begin, end = listener.sections[0].before, listener.sections[-1].after
    trace = Trace(p, 0, DAY, agent, parts, begin, end, [], "so", "so", "0" * 64)
    events = [pair for one in parts for pair in one.events]
    return events, " ".join(text(trace, full=True).split())


def all_agents(morning):
    return [explained(morning, agent) for agent in range(morning[0].agents)]


def test_with_the_rules_as_they_are_the_report_is_what_happened(morning):
    compared(morning)
    found = all_agents(morning)
    assert sum(len(swaps(events)) for events, _ in found) > 10
    assert sum(len(sales(events)) for events, _ in found) > 10


# -- the resource market -------------------------------------------------------------------------


def test_swaps_at_a_loss_are_reported_if_they_are_carried_out(morning, monkeypatch):
    def loose(agents, held, gives, gains, min_surplus, owned):
        enough = all(units <= stock for units, stock in zip(gives, held, strict=True))
        return None if enough else ("does not have the units", agents)

    monkeypatch.setattr(trading, "refusal", loose)
    compared(morning)
    made = [one.swap for events, _ in all_agents(morning) for _, one in swaps(events)]
    least = morning[0].min_surplus
    assert sum(min(one.surplus_a, one.surplus_b) <= least for one in made) > 10
    assert all(one.refused is None for one in made)


@pytest.mark.ci
def test_a_new_reason_against_swaps_is_given_in_its_words(morning, monkeypatch):
    monkeypatch.setattr(trading, "refusal", lambda agents, *_: ("has a day off", agents[:1]))
    compared(morning)
    found = all_agents(morning)
    assert not any(swaps(events) for events, _ in found)
    assert any("it has a day off" in words for _, words in found)
    assert not any("would gain too little" in words for _, words in found)


@pytest.mark.ci
def test_surpluses_are_those_that_decided(morning, monkeypatch):
    before = [one.swap for events, _ in all_agents(morning) for _, one in swaps(events)]
    monkeypatch.setattr(trading, "loss", lambda curve, held, units: 0.0)
    compared(morning)
    after = [one.swap for events, _ in all_agents(morning) for _, one in swaps(events)]
    of_a_pair = [one.surplus_a + one.surplus_b for one in (before[0], after[0])]
    assert of_a_pair[1] > of_a_pair[0]
    assert len(after) > len(before)


def test_a_listener_that_decides_again_does_not_report_what_happened(morning, monkeypatch):
    class Deciding(Compared):
        def swapped(self):
            least = self.p.min_surplus
            return [
                one
                for one in super().swapped()
                if one.swap.surplus_a > least and one.swap.surplus_b > least
            ]

        def sold(self):
            return [
                one for one in super().sold() if one.paid < one.worth and one.cost < one.received
            ]

    compared(morning, Deciding)  # as long as no rule is changed
    monkeypatch.setattr(trading, "refusal", lambda agents, held, gives, *_: None)
    monkeypatch.setattr(trading, "proposal", lambda surplus, *_: (1, 1, surplus(1, 1)))
    compared(morning)
    with pytest.raises(AssertionError, match="held"):
        compared(morning, Deciding)
    monkeypatch.undo()
    monkeypatch.setattr(device_trading, "refusal", lambda worth, cost, paid, received: None)
    compared(morning)
    with pytest.raises(AssertionError):
        compared(morning, Deciding)


# -- devices -------------------------------------------------------------------------------------


def test_devices_sold_at_a_loss_are_reported_if_they_are_handed_over(morning, monkeypatch):
    monkeypatch.setattr(device_trading, "refusal", lambda worth, cost, paid, received: None)
    compared(morning)
    sold = [one for events, _ in all_agents(morning) for _, one in sales(events)]
    assert sum(one.paid >= one.worth or one.received <= one.cost for one in sold) > 0
    assert all(one.refused is None for one in sold)


def test_devices_that_no_agent_sells_are_refused_for_the_reason_given(morning, monkeypatch):
    monkeypatch.setattr(device_trading, "refusal", lambda *_: ("the market is closed", ()))
    compared(morning)
    found = all_agents(morning)
    assert not any(sales(events) for events, _ in found)
    assert any("the market is closed" in words for _, words in found)


@pytest.mark.ci
def test_the_device_chosen_is_the_one_reported(morning, monkeypatch):
    monkeypatch.setattr(device_trading, "choice", lambda p, s, t, buyer, goods: (goods[-1], 9e9))
    compared(morning)
    sold = [one for events, _ in all_agents(morning) for _, one in sales(events)]
    assert sold
    assert all(one.resource == one.goods[-1] and one.worth == 9e9 for one in sold)


@pytest.mark.ci
def test_what_an_agent_makes_for_itself_follows_the_rule(morning, monkeypatch):
    unwanted = own_use.unwanted

    def picky(p, s, agent, device_type, resource):
        return ("is too heavy", ()) if agent < 3 else unwanted(p, s, agent, device_type, resource)

    def decided(agent):
        events, words = explained(morning, agent)
        decisions = [one for _, one in events if isinstance(one, OwnUse)]
        return [one for one in decisions if one.resource is not None], words

    assert any(decided(agent)[0] for agent in range(3))
    monkeypatch.setattr(own_use, "unwanted", picky)
    compared(morning)
    for agent in range(3):
        made, words = decided(agent)
        assert not made
        assert "is too heavy" in words


# -- inventions ----------------------------------------------------------------------------------


@pytest.mark.ci
def test_the_probability_reported_is_the_one_drawn_against(morning, monkeypatch):
    summed = invention.summed
    monkeypatch.setattr(invention, "summed", lambda *facts: 1e9 * summed(*facts))
    found = all_agents(morning)
    tried = {
        agent: [one for _, one in events if isinstance(one, Attempt)][-1]
        for agent, (events, _) in enumerate(found)
    }
    by = {one.agent for _, one in found[0][0] if isinstance(one, Invented)}
    sure = {agent for agent, one in tried.items() if one.open and one.probability == 1.0}
    assert sure
    assert by == sure


def test_units_extracted_are_those_of_the_state(morning, monkeypatch):
    from reference_py.economy import extraction

    monkeypatch.setattr(extraction, "effort", lambda curve, experience: 37.0)
    compared(morning)
    events, _ = explained(morning)
    units = [one for _, one in events if isinstance(one, Unit)]
    assert units
    assert {one.minutes for one in units if one.source == 0} <= {37.0}
