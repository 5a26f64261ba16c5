"""Does the reference do to every recorded state of the peer what the peer did to it? All kinds.

The benefit of a device is evaluated by the plain loop of the model here, unit by unit, as the peer
did it; what the reference's stretches of constant effort change is counted in tests of its own.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from loops import plain_benefit
from partners import memory_table, remember
from recorded import RECORDED, TYPES, check, load, recipes, same, setting, society

from reference_py.economy import valuation
from reference_py.economy.consumption import consume, depreciate
from reference_py.economy.device_matching import matched
from reference_py.economy.device_trading import meet
from reference_py.economy.devices import MADE_BY, has_recipe, making_time
from reference_py.economy.end_day import forget, refresh
from reference_py.economy.extraction import extract
from reference_py.economy.invention import attempt, establish
from reference_py.economy.knowledge import know_components
from reference_py.economy.open_device_market import open_device_market
from reference_py.economy.own_use import decide
from reference_py.economy.production import produce
from reference_py.economy.shocks import remove_agent, remove_resource
from reference_py.economy.streams import PURPOSES
from reference_py.primitives.rng import Rng

LATE = ("late-9x12", "late-24x24", "shock-24x24")


@pytest.fixture
def plain(monkeypatch):
    """Evaluate benefits by the plain loop."""
    monkeypatch.setattr(valuation, "benefit", plain_benefit)


class Replay:
    """Recorded uniform draws in place of a random stream; a choice among one was recorded too."""

    def __init__(self, draws):
        self.draws = list(draws)

    def uniform(self):
        return self.draws.pop(0)

    def below(self, n):
        return int(self.draws.pop(0) * n)


def device_of(vector):
    return TYPES.index(vector["type"].lower())


@pytest.mark.sample
@pytest.mark.parametrize("name", RECORDED)
def test_extraction(name):
    p, vectors = setting(name), load(name, "extraction")
    assert vectors
    for v in vectors:
        a, s = v["before"]["id"], society(name, [v["before"]], v)
        choices = iter(v["choices"])

        def replayed(best, choices=choices):
            choice = next(choices)
            assert choice in best
            return choice

        extract(p, s, a, replayed)
        assert next(choices, None) is None
        check(s, v["after"])
        assert sum(s.extracted_with[a]) == len(v["choices"])


@pytest.mark.parametrize("name", RECORDED)
def test_end_of_day(name):
    p, vectors = setting(name), load(name, "end_day")
    assert vectors
    for v in vectors:
        a, s = v["before"]["id"], society(name, [v["before"]], v)
        forget(p, s, a)
        for r in range(p.resources):
            refresh(p, s, a, r)
        s.reserved_minutes[a] = s.overtime[a]
        know_components(p, s, a)
        check(s, v["after"])


@pytest.mark.parametrize("name", RECORDED)
def test_production(name):
    p, vectors = setting(name), load(name, "production")
    assert vectors
    for v in vectors:
        a, s = v["before"]["id"], society(name, [v["before"]], v)
        produce(p, s, a)
        check(s, v["after"])


def replay_own_use(p, name, v):
    s = society(name, [v["before"]], v)
    decide(p, s, v["before"]["id"], device_of(v))
    check(s, v["after"])


@pytest.mark.ci
@pytest.mark.parametrize("name", RECORDED)
def test_own_use(name, plain):
    p, vectors = setting(name), load(name, "personal_devices")
    assert vectors
    for v in vectors:
        replay_own_use(p, name, v)


def replay_device_trade(p, name, v):
    both = v["before"]["A"], v["before"]["B"]
    a, b = both[0]["id"], both[1]["id"]
    s = society(name, both, v)
    meet(p, s, device_of(v), a, b)
    check(s, v["after"]["A"])
    check(s, v["after"]["B"])
    assert sum(s.devices_sold[a]) + sum(s.devices_sold[b]) == v["after"]["n_trades"]


@pytest.mark.sample
@pytest.mark.parametrize("name", RECORDED)
def test_device_trades(name, plain):
    p, vectors = setting(name), load(name, "device_trade")
    assert vectors
    for v in vectors:
        replay_device_trade(p, name, v)


@pytest.mark.parametrize("name", RECORDED)
def test_inventions(name):
    p, vectors = setting(name), load(name, "invention")
    assert vectors
    for v in vectors:
        a, s = v["before"]["id"], society(name, [v["before"]], v)
        known = [[count > 0 for count in row] for row in v["known_by"]]
        draws = Replay(v["uniform_draws"])
        found = attempt(p, s, a, known, draws)
        assert not draws.draws
        if found is not None:
            establish(p, s, a, known, v["day"], *found)
        assert s.recipe == recipes(name, v["recipes_after"])
        check(s, v["after"])


@pytest.mark.parametrize("name", LATE)
def test_consumption(name):
    p, vectors = setting(name), load(name, "consumption")
    assert vectors
    for v in vectors:
        a, s = v["before"]["id"], society(name, [v["before"]], v)
        s.stream[a][PURPOSES["consumption"]] = Rng.seed(1, 1, 1).pack()
        consume(p, s, a)
        depreciate(p, s, a)
        check(s, v["after"], but=("held",))
        for held in (s.held[a], v["after"]["held"]):
            assert all(0 <= x <= y for x, y in zip(held, v["before"]["held"], strict=True))


@pytest.mark.parametrize("name", LATE)
def test_pairings(name):
    p, vectors = setting(name), load(name, "pairing")
    assert vectors
    for v in vectors:
        s = society(name, [], v)
        for a in range(p.agents):
            table = v["before"]["partner_memory"][a]
            remember(s, a, device_of(v), {b: row for b, row in enumerate(table) if any(row)})
            met = [b for b, yes in enumerate(v["before"]["met"][a]) if yes]
            s.met[a][: len(met)] = met
        draws = Replay(v["uniform_draws"])
        order = matched(p, s, device_of(v), draws.below)
        assert not draws.draws
        assert [list(pair) for pair in zip(order[::2], order[1::2], strict=False)] == v["pairs"]


@pytest.mark.parametrize("name", LATE[:2])
def test_memories_grow_older(name):
    p, vectors = setting(name), load(name, "memory_shift")
    assert vectors
    for v in vectors:
        s, a, device = society(name, [], v), v["before"]["id"], device_of(v)
        table = v["before"]["partner_memory"][TYPES[device]]
        remember(s, a, device, {b: row for b, row in enumerate(table) if any(row)})
        open_device_market(p, s, device)
        found = memory_table(s.remembered_partner, np.array(s.partner_memory))
        same(found[a][device], v["after"]["partner_memory"][TYPES[device]])


def replay_valuation(p, name, v):
    s, a, device = society(name, [v["before"]], v), v["before"]["id"], device_of(v)
    cost, minutes = valuation.costs(p, s, a, device)
    for r in range(p.resources):
        if not has_recipe(s, device, r):
            assert v["cost"][r] is None
            continue
        worst, units = valuation.worst_case(p, s, a, device, r)
        assert units == v["worst_resources"][r]
        found = {
            "making_time": making_time(p, s, a, device, r),
            "cost": cost[r],
            "expected_time": minutes[r],
            "worst_time": worst,
            "benefit": valuation.benefit(p, s, a, device, r),
            "buyer_value": valuation.buyers_value(p, s, a, device, r, cost[r]),
        }
        for key, value in found.items():
            same(value, v[key][r], key)


@pytest.mark.ci
@pytest.mark.parametrize("name", LATE)
def test_valuations(name, plain):
    p, vectors = setting(name), load(name, "valuation")
    assert vectors
    for v in vectors:
        replay_valuation(p, name, v)


def test_removal_of_a_resource():
    p = setting("shock-24x24")
    vectors = load("shock-24x24", "remove_resource")
    assert len(vectors) == 3
    for v in vectors:
        s = society("shock-24x24", [v["before"]], v)
        remove_resource(p, s, v["resource"], bool(v["wipe"]))
        assert s.available[v["resource"]] == 0
        check(s, v["after"])


def test_removal_of_an_agent():
    p = setting("shock-24x24")
    vectors = load("shock-24x24", "remove_agent")
    assert len(vectors) == 2
    for v in vectors:
        s = society("shock-24x24", [v["before"]], v)
        remove_agent(p, s, v["agent"])
        assert s.alive[v["before"]["id"]] == v["in_sim_after"]
        assert [p.agents, sum(s.alive)] == v["active_agents"]
        check(s, v["after"], but=("device_gain",))  # not reset by the peer; without effect


def recorded_benefits(name):
    """Yield every (society, agent, type, resource) whose benefit a recorded vector evaluates."""
    for kind in ("personal_devices", "device_trade", "valuation"):
        for v in load(name, kind):
            both = kind == "device_trade"
            agents = [v["before"][side] for side in "AB"] if both else [v["before"]]
            s, device = society(name, agents, v), device_of(v)
            for agent in agents:
                for r in range(len(s.available)):
                    if has_recipe(s, device, r):
                        yield s, agent["id"], device, r


def nudged(p, s, agent, device, resource):
    """Yield benefits by the plain loop from states that differ by less than can be measured."""
    made = MADE_BY.get(device)
    experience = s.experience[agent] if made is None else s.device_experience[agent][made]
    exact = experience[resource]
    try:
        for more in (-1e-9, 0.0, 1e-9):
            for longer in (-1e-9, 0.0, 1e-9):
                for faster in (-1e-11, 0.0, 1e-11):
                    experience[resource] = max(0.0, exact + more)
                    values = {
                        "device_lifetime": tuple(life + longer for life in p.device_lifetime),
                        "device_factor": tuple(x * (1.0 + faster) for x in p.device_factor),
                    }
                    near = replace(p, values={**p.values, **values})
                    yield plain_benefit(near, s, agent, device, resource)
    finally:
        experience[resource] = exact


# Benefits other than 0, and those of them that stretches and the plain loop see differently.
BOUNDARIES = {
    "9x12": (473, 96),
    "48x48": (1168, 14),
    "late-9x12": (352, 21),
    "late-24x24": (632, 35),
    "shock-24x24": (250, 14),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", RECORDED)
def test_stretches_differ_only_where_rounding_decides_about_a_unit(name):
    """At such a boundary the loop itself gives the other result after the slightest nudge."""
    p = setting(name)
    evaluated = boundaries = 0
    for s, agent, device, r in recorded_benefits(name):
        found = valuation.benefit(p, s, agent, device, r)
        by_loop = plain_benefit(p, s, agent, device, r)
        evaluated += by_loop != 0.0
        if math.isclose(found, by_loop, rel_tol=1e-9):
            continue
        boundaries += 1
        assert any(
            math.isclose(found, other, rel_tol=1e-6) for other in nudged(p, s, agent, device, r)
        ), (agent, device, r, found, by_loop)
    assert (evaluated, boundaries) == BOUNDARIES[name]


REPLAYS = {
    "personal_devices": replay_own_use,
    "device_trade": replay_device_trade,
    "valuation": replay_valuation,
}

# Vectors that evaluate benefits, and those of them that a unit at a boundary changes.
CHANGED = {
    "9x12": (108, 36),
    "48x48": (53, 11),
    "late-9x12": (80, 8),
    "late-24x24": (52, 11),
    "shock-24x24": (24, 6),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", RECORDED)
def test_stretches_replay_all_vectors_but_for_units_at_boundaries(name, monkeypatch):
    """As the product evaluates benefits: a vector that differs does so at such boundaries only.

    There the loop's values give what was recorded.
    """
    p, by_stretches = setting(name), valuation.benefit
    corrected = []

    def at_boundaries_by_loop(p, s, agent, device, resource):
        found = by_stretches(p, s, agent, device, resource)
        by_loop = plain_benefit(p, s, agent, device, resource)
        if math.isclose(found, by_loop, rel_tol=1e-9):
            return found
        corrected.append((agent, device, resource))
        return by_loop

    replayed = changed = 0
    for kind, replay in REPLAYS.items():
        for v in load(name, kind):
            replayed += 1
            monkeypatch.setattr(valuation, "benefit", by_stretches)
            try:
                replay(p, name, v)
            except AssertionError:
                changed += 1
                corrected.clear()
                monkeypatch.setattr(valuation, "benefit", at_boundaries_by_loop)
                replay(p, name, v)
                assert corrected
    assert (replayed, changed) == CHANGED[name]
