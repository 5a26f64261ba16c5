"""Do devices balance: resources, minutes of use, working time, knowledge, before and after steps?

A small society in which inventions come fast, in the reference: every type of device is invented,
made, traded, worn out and forgotten within the run, and a resource and an agent are removed.
"""

from collections import Counter

import numpy as np
import pytest
from engines import ReferenceEngine
from partners import with_tables
from small import WITH_DEVICES

from reference_py.economy import device_trading
from reference_py.economy.curves import effort
from reference_py.economy.devices import DEVICE_TYPES, device_curve, making_speed, making_time
from reference_py.economy.state import DEVICE_STATE, STATE
from societies import config_from_dict
from societies.economy.parameters import parameters
from societies.economy.schedule import day_schedule
from societies.economy.state import state_fields
from societies.workload.running.state import state_hash

pytestmark = pytest.mark.xdist_group("devices")  # its runs are shared

AGENTS, RESOURCES, DAYS = 5, 6, 28
RESOURCE_REMOVED_ON, AGENT_REMOVED_ON = 20, 24
COMPONENT_OF = {1: 0, 2: 1, 3: 2, 4: 0, 5: 4}

SETTINGS = {
    **WITH_DEVICES,
    "agents": AGENTS,
    "resources": RESOURCES,
    "days": DAYS,
    "day_length": 600.0,
    "invention": {
        "tool_probability": 0.002,
        "device_probability": 0.02,
        "min_made_for_device_maker": 1,
    },
    "shocks": [
        {"day": RESOURCE_REMOVED_ON, "remove": "resource", "index": 3, "holdings": "lose"},
        {"day": AGENT_REMOVED_ON, "remove": "agent", "index": 2},
    ],
}

MARKET = {"held", "value"}
WRITES = {
    "start_day": {
        *["device_gain", "units_paid", "devices_sold", "made_with_device", "making_minutes"],
        "devices_made",
    },
    "open_device_market": {"met", "remembered_partner", "partner_memory", "market_open"},
    "device_matching": {"bought", "device_partners", "met", "stream"},
    "device_trading": {
        *["held", "value", "set_aside", "device_minutes", "device_experience", "to_make"],
        *["devices_set_aside", "reserved_minutes", "prices", "bought"],
        *["remembered_partner", "partner_memory"],
        *["units_paid", "devices_sold"],
    },
    "own_use": {
        *["held", "set_aside", "device_minutes", "to_make", "devices_set_aside"],
        *["reserved_minutes", "prices", "device_gain"],
    },
    "production": {
        *["set_aside", "device_minutes", "device_experience", "practised", "to_make"],
        *["devices_set_aside", "devices_made", "recently_made", "overtime", "made_with_device"],
        "making_minutes",
    },
    "extraction": {
        *["held", "experience", "extracted", "minutes", "gain_per_minute", "stream", "overtime"],
        *["device_minutes", "extracted_with", "minutes_with"],
    },
    "invention": {
        *["recipe", "invented_on", "inventor", "device_experience", "practised", "stream"],
    },
    "end_day": {"value", "device_experience", "practised", "reserved_minutes"},
    "consumption": {"held", "units_sold", "deals", "stream", "device_minutes"},
}


@pytest.fixture(scope="module")
def p():
    return parameters(config_from_dict(SETTINGS))


@pytest.fixture(scope="module")
def steps(p):
    """Return (day, step, state before, state after) for every step of a run; society left out."""
    engine = ReferenceEngine(p)
    engine.start()

    def state():
        return {name: array[0] for name, array in engine.state().items()}

    result, before = [], state()
    for day in range(1, DAYS + 1):
        for step in day_schedule(p, day):
            engine.step(step, day)
            after = state()
            result.append((day, step, before, after))
            before = after
    return result


def of_phase(steps, *phases):
    chosen = [(day, step, b, a) for day, step, b, a in steps if step.phase in phases]
    assert chosen
    return chosen


def components(state):
    """Return (type, resource, component) counts: 1 where a component is needed."""
    result = np.zeros((6, RESOURCES, RESOURCES), dtype=int)
    for device_type in range(6):
        for r in range(RESOURCES):
            for k in state["recipe"][device_type, r]:
                if k >= 0:
                    result[device_type, r, k] = 1
    return result


def needed(state, count):
    """Return components (agent, type, component) of numbers of devices (agent, type, resource)."""
    recipes, result = components(state), np.zeros_like(count)
    for device_type, below in COMPONENT_OF.items():
        result[:, below] += count[:, device_type] @ recipes[device_type]
    return result


def test_everything_happens_in_the_run(steps):
    """Otherwise the invariants below would hold of nothing."""
    last = steps[-1][3]
    invented = (last["recipe"][:, :, 0] >= 0).any(axis=1)
    made = sum(
        after["devices_made"].sum(axis=(0, 2)) for _, _, _, after in of_phase(steps, "production")
    )
    sold = sum(
        after["devices_sold"].sum(axis=0) for _, _, _, after in of_phase(steps, "production")
    )
    fast = sum(
        after["made_with_device"].sum(axis=0) for _, _, _, after in of_phase(steps, "production")
    )
    extracted = sum(
        after["extracted_with"].sum(axis=0) for _, _, _, after in of_phase(steps, "extraction")
    )
    print(invented, made, sold, fast, extracted)
    assert invented.all()
    assert np.all(made > 0)
    assert np.all(sold[:3] > 0)
    assert np.all(fast[:2] > 0)
    assert np.all(extracted[:4] > 0)


def test_a_step_changes_only_its_own_fields(steps):
    for day, step, before, after in steps:
        changed = {name for name in before if before[name].tobytes() != after[name].tobytes()}
        if step.phase in WRITES:
            assert changed <= WRITES[step.phase], (day, str(step))


SIGNED = {
    *["remembered_partner", "met", "stream", "series", "prices", "recipe", "inventor"],
    *["reserved_minutes", "shock_target"],
}


def test_nothing_is_negative(steps):
    for day, step, _, after in steps:
        for name in set(after) - SIGNED:
            assert np.all(after[name] >= 0), (name, day, str(step))


def test_units_are_held_or_set_aside_until_built_in_or_consumed(steps):
    for _, step, before, after in steps:
        had, has = before["held"] + before["set_aside"], after["held"] + after["set_aside"]
        if step.phase in ("trading", "device_trading"):
            assert np.array_equal(had.sum(axis=0), has.sum(axis=0))
        elif step.phase == "production":
            tools = after["devices_made"][:, 0]
            assert np.array_equal(has, had - tools @ components(before)[0])
            assert np.array_equal(after["held"], before["held"])
            assert not after["set_aside"].any()
        elif step.phase == "extraction":
            assert np.array_equal(has, had + after["extracted"])
        elif step.phase == "consumption":
            assert np.all(has <= had)
        elif step.phase != "shocks":
            assert np.array_equal(had, has), str(step)


def test_tools_set_aside_what_they_are_made_of(steps):
    for _, step, _, after in steps:
        if step.phase != "shocks":
            expected = after["to_make"][:, 0] @ components(after)[0]
            assert np.array_equal(after["set_aside"], expected), str(step)


def test_devices_change_hands_and_are_promised_but_do_not_appear(p, steps):
    """Owned minutes, less what is promised, with what promises need: trade moves, nothing more."""
    life = np.array(p.device_lifetime)[:, None]

    def balance(state):
        need = needed(state, state["to_make"].astype(int)) - state["to_make"]
        return state["device_minutes"] + life * need

    moved = 0
    for _, step, before, after in of_phase(steps, "device_trading", "own_use"):
        change = balance(after) - balance(before)
        if step.phase == "own_use":
            assert np.allclose(change, 0.0, atol=1e-6)
        else:
            assert np.allclose(change.sum(axis=0), 0.0, atol=1e-6)
            others = np.delete(change, step.device_type, axis=1)
            assert np.allclose(others, 0.0, atol=1e-6)  # only the open type changes hands
            traded = np.rint(change[:, step.device_type] / life[step.device_type])
            assert np.allclose(
                change[:, step.device_type], traded * life[step.device_type], atol=1e-6
            )
            moved += np.abs(traded).sum()
    assert moved > 100


def test_devices_wear_out_by_use_and_decay(p, steps):
    life, decay = np.array(p.device_lifetime)[:, None], p.daily_decay
    for _, step, before, after in of_phase(steps, "production", "extraction", "consumption"):
        old, new = before["device_minutes"], after["device_minutes"]
        lost = (old - new).sum(axis=2)
        if step.phase == "production":
            assert not lost[:, :4].any()
            assert np.all(lost[:, 4] <= after["making_minutes"][:, 0] + 1e-9)
            assert np.all(lost[:, 5] <= after["making_minutes"][:, 1] + 1e-9)
        elif step.phase == "extraction":
            assert not lost[:, 4:].any()
            assert np.all(lost[:, :4] <= after["minutes_with"][:, 1:] + 1e-9)
        else:
            expected = np.where(old > decay, old - decay * (old / life), 0.0)
            living = before["alive"] == 1
            assert np.array_equal(new[living], expected[living])


def test_promises_are_fulfilled_the_same_day(steps):
    for _, _, before, after in of_phase(steps, "production"):
        assert np.array_equal(after["devices_made"], before["to_make"])
        assert not after["to_make"].any()
        assert not after["devices_set_aside"].any()
        assert np.array_equal(
            after["practised"] > 0, (before["practised"] > 0) | (before["to_make"] > 0)
        )
        assert np.array_equal(after["recently_made"][..., 0], after["devices_made"])
        assert np.array_equal(after["recently_made"][..., 1:], before["recently_made"][..., :-1])


def test_the_days_minutes_add_up(p, steps):
    most = p.effort_curves[0].minutes[0]
    for _, step, before, after in of_phase(steps, "production", "extraction"):
        had, has, living = before["overtime"], after["overtime"], before["alive"] == 1
        if step.phase == "production":
            np.testing.assert_allclose(has, had + after["making_minutes"].sum(axis=1))
            continue
        worked = after["minutes_with"].sum(axis=1)
        np.testing.assert_allclose(worked, after["minutes"], atol=1e-9)
        free = living & (had < p.day_length)
        assert np.all(had[free] + worked[free] >= p.day_length - 1e-9)
        assert np.all(had[free] + worked[free] < p.day_length + most)
        assert not has[free].any()
        busy = living & ~free
        assert np.array_equal(has[busy], had[busy] - p.day_length)
        assert not worked[busy].any()
        assert np.array_equal(after["extracted_with"].sum(axis=1), after["extracted"].sum(axis=1))


def test_a_day_filled_by_making_is_spent_and_the_rest_carried_on(p, steps):
    day, step, _, after = of_phase(steps, "production")[-1]
    overtime = np.array([0.0, 599.5, 600.0, 600.5, 1300.0])
    state = {name: array[None] for name, array in after.items()}
    state |= {"overtime": overtime[None], "device_gain": np.full((1, AGENTS), 5000.0)}
    state["alive"] = np.ones_like(state["alive"])
    engine = ReferenceEngine(p)
    engine.load(state)
    engine.step(next(s for s in day_schedule(p, day) if s.phase == "extraction"), day)
    found = {name: array[0] for name, array in engine.state().items()}
    busy = overtime >= p.day_length
    assert busy.sum() == 3
    assert np.array_equal(found["overtime"], np.where(busy, overtime - p.day_length, 0.0))
    assert np.array_equal(found["minutes"] > 0.0, ~busy)
    assert np.array_equal(found["gain_per_minute"][busy], 5000.0 / overtime[busy])
    assert step.phase == "production"


def test_buyers_learn_what_they_take_apart(p, steps):
    learnt = 0
    for _, step, before, after in of_phase(steps, "device_trading"):
        bought = (after["bought"] > before["bought"]).nonzero()
        for agent, r in zip(*bought, strict=True):
            experience = after["device_experience"][agent]
            assert experience[step.device_type, r] >= p.min_held_experience
            below = COMPONENT_OF.get(step.device_type)
            parts = [k for k in after["recipe"][step.device_type, r] if k >= 0]
            assert below is None or (experience[below, parts] >= 1.0).all()
            learnt += before["device_experience"][agent, step.device_type, r] < 2.0
    assert learnt > 5


def test_recipes_stay_while_any_agent_knows_them(steps):
    inventions = 0
    for day, step, before, after in steps:
        changed = (before["recipe"] != after["recipe"]).any(axis=2) | (
            before["invented_on"] != after["invented_on"]
        )
        if not changed.any():
            continue
        assert step.phase == "invention"
        assert not (before["device_experience"] > 0)[:, changed].any()
        assert np.all(after["invented_on"][changed] == day)
        inventions += changed.sum()
        for device_type, r in np.argwhere(changed):
            parts = [k for k in after["recipe"][device_type, r] if k >= 0]
            assert len(set(parts)) == len(parts) == 3
            assert sorted(parts) == parts
            assert (r in parts) == (device_type > 0)
            inventor = after["inventor"][device_type, r]
            assert after["device_experience"][inventor, device_type, r] == 6.0
    assert inventions > 20


def test_who_knows_a_device_knows_its_components(steps):
    for _, _, _, after in of_phase(steps, "end_day"):
        recipes = components(after)
        for device_type, below in COMPONENT_OF.items():
            knows = after["device_experience"][:, device_type] > 0
            implied = knows.astype(int) @ recipes[device_type] > 0
            assert np.all(after["device_experience"][:, below][implied] >= 1.0)


def test_deals_are_between_partners_and_please_both(steps):
    deals = 0
    for _, step, before, after in of_phase(steps, "device_trading"):
        sold = after["devices_sold"] - before["devices_sold"]
        gained = with_tables(after)["partner_memory"] - with_tables(before)["partner_memory"]
        pairs = after["device_partners"][: AGENTS - 1].reshape(-1, 2)
        assert not sold[:, np.arange(6) != step.device_type].any()
        moved = (after["held"] + after["set_aside"] - before["held"] - before["set_aside"]).copy()
        paid = after["units_paid"] - before["units_paid"]
        for a, b in pairs:
            assert np.array_equal(moved[a], -moved[b])  # what one pays the other gets
            assert np.abs(moved[a]).sum() <= paid[a] + paid[b]
            assert moved[a].sum() == paid[b] - paid[a]
            moved[a] = moved[b] = 0
            happened = sold[a].sum() + sold[b].sum()
            mutual = gained[a, step.device_type, b, 0], gained[b, step.device_type, a, 0]
            assert [surplus > 0 for surplus in mutual] == [happened > 0] * 2
            deals += happened
        outside = gained.copy()
        for a, b in pairs:
            outside[a, step.device_type, b, 0] = outside[b, step.device_type, a, 0] = 0.0
        assert not outside.any()
        assert not moved.any()
    assert deals > 50


def worst_case(p, s, agent, device_type, resource):
    """Return minutes and resources for one device if nothing can be bought, unit by unit."""
    minutes, need = making_time(p, s, agent, device_type, resource), {resource: 1}
    while device_type in COMPONENT_OF:
        below, parts = COMPONENT_OF[device_type], Counter()
        for r, count in need.items():
            for k in s.recipe[device_type][r]:
                parts[k] += count if k >= 0 else 0
        device_type, need = below, {}
        for k, count in parts.items():
            owned = int(s.device_minutes[agent][device_type][k])
            need[k] = max(0, count - int(owned / p.device_lifetime[device_type]))
            known, curve = s.device_experience[agent][device_type][k], device_curve(p, agent, k)
            series = sum(effort(curve, known + i) for i in range(need[k]))
            minutes += series / making_speed(p, s, agent, device_type, k)
    units = Counter()
    for r, count in need.items():
        for k in s.recipe[device_type][r]:
            units[k] += count if k >= 0 else 0
    return minutes, units


@pytest.mark.ci
def test_no_agent_sells_what_it_cannot_make(monkeypatch):
    sales, original = [], device_trading.hand_over

    def hand_over(p, s, device_type, buyer, seller, resource):
        assert s.device_experience[seller][device_type][resource] >= 1.0
        minutes, units = worst_case(p, s, seller, device_type, resource)
        assert s.reserved_minutes[seller] + minutes < p.day_length + 1e-9
        assert all(count <= s.held[seller][k] for k, count in units.items())
        assert not s.bought[seller][resource]
        sales.append(device_type)
        original(p, s, device_type, buyer, seller, resource)

    monkeypatch.setattr(device_trading, "hand_over", hand_over)
    final(30, day_length=300.0)
    assert len(set(sales)) > 2
    assert len(sales) > 100


def test_what_is_removed_takes_its_devices_along(steps):
    for day, step, before, after in steps:
        if step.phase != "shocks":
            continue
        if day == RESOURCE_REMOVED_ON:
            assert before["device_minutes"][:, :, 3].any()
            assert not after["device_minutes"][:, :, 3].any()
            assert np.array_equal(before["device_experience"], after["device_experience"])
        else:
            for name, field in (STATE | DEVICE_STATE).items():
                if field.of_agent and name != "alive":
                    assert np.all(after[name][2] == field.initial), name
            assert (after["remembered_partner"] == 2).any()  # the others remember


def test_the_days_series_follow_from_the_agents(p, steps):
    names, fast_days = list(parameters_series(p)), 0
    for day, _, before, after in of_phase(steps, "society_statistics"):
        row = dict(zip(names, after["series"], strict=True))
        living = before["alive"].sum()
        units = before["extracted_with"].sum(axis=0)
        for source, name in enumerate(("hand", *DEVICE_TYPES[:4])):
            assert row[f"extraction_share_{name}"] == units[source] / units.sum()
            minutes = before["minutes_with"][:, source].sum() / living
            np.testing.assert_allclose(row[f"minutes_{name}"], minutes, rtol=1e-12)
        for device_type, name in enumerate(DEVICE_TYPES):
            made = before["devices_made"][:, device_type].sum()
            assert row[f"devices_made_{name}"] == made / living
            assert (
                row[f"devices_traded_{name}"]
                == before["devices_sold"][:, device_type].sum() / living
            )
            known = (before["device_experience"][:, device_type] > 0).any(axis=0).sum()
            assert row[f"devices_known_{name}"] == known
            assert row[f"inventions_{name}"] == (before["invented_on"][device_type] == day).sum()
            made_fast = before["made_with_device"][:, device_type].sum()
            if name in ("tool", "machine"):
                share = made_fast / made if made else 0.0
                assert row[f"device_maker_share_{name}s"] == share
                fast_days += share > 0.0
            minutes = before["making_minutes"][:, device_type].sum() / living
            np.testing.assert_allclose(row[f"minutes_making_{name}"], minutes, rtol=1e-12)
            lifetimes = (
                before["device_minutes"][:, device_type].sum() / p.device_lifetime[device_type]
            )
            np.testing.assert_allclose(row[f"devices_held_{name}"], lifetimes / living, rtol=1e-12)
        shares = [row[f"extraction_share_{name}"] for name in DEVICE_TYPES[:4]]
        contained = np.dot(shares, [3, 9, 27, 81])
        np.testing.assert_allclose(row["interdependence"], contained, rtol=1e-12)
        np.testing.assert_allclose(row["overtime"], before["overtime"].sum() / living, rtol=1e-12)
        assert row["units_paid_for_devices"] == before["units_paid"].sum() / living
    assert fast_days > 5


def parameters_series(p):
    from societies.economy.series import columns_of

    return columns_of(p)


# -- other societies -------------------------------------------------------------------------------


def final(days, **more):
    p = parameters(config_from_dict({**SETTINGS, "shocks": [], **more}))
    engine = ReferenceEngine(p)
    engine.start()
    engine.run_days(1, days)
    state = engine.state()
    assert state.keys() == state_fields(p).keys()
    return state


@pytest.mark.ci
def test_equal_groups_change_nothing():
    groups = [
        {"name": name, "count": n, "device": {"max_effort": 27.0}}
        for name, n in (("a", 2), ("b", 3))
    ]
    fields = state_fields(parameters(config_from_dict(SETTINGS)))
    assert state_hash(fields, final(12)) == state_hash(fields, final(12, groups=groups))


@pytest.mark.ci
def test_unlike_groups_run(p):
    groups = [
        {
            "name": "inventors",
            "count": 2,
            "inventiveness": 20.0,
            "device": {"max_experience": 10.5},
        },
        {"name": "strong", "count": 3, "device_trade_power": 3.0, "device": {"min_effort": 5.0}},
    ]
    state = final(12, groups=groups)
    inventors = state["inventor"][state["inventor"] >= 0]
    assert np.count_nonzero(inventors < 2) > np.count_nonzero(inventors >= 2)


def test_tools_only():
    state = final(20, devices="tools")
    assert (state["recipe"][0, 0, :, 0] >= 0).any()
    assert not (state["recipe"][0, 1:] >= 0).any()
    assert not state["device_minutes"][0, :, 1:].any()
    assert state["device_minutes"][0, :, 0].any()


def test_without_trade_every_agent_makes_its_own():
    state = final(20, trade=False)
    assert state["device_minutes"].any()
    assert not state["partner_memory"].any()
    assert (state["remembered_partner"] == -1).all()
    assert (state["met"] == -1).all()
    assert not state["devices_sold"].any()


def test_a_society_of_one():
    state = final(10, agents=1)
    assert state["recipe"].max() >= 0


EDGES = {
    "two resources": {
        "resources": 2,
        "device": {"resources_in_tool": 1, "components": 2},
        "trading": {"menu_size": 2},
    },
    "odd numbers": {
        "device": {
            "resources_in_tool": 4,
            "components": 2,
            "factor": {"tool": 2.5, "machine": 7.3, "device_machine": 4.5},
            "lifetime": {"tool": 33.3, "machine": 150.5, "device_machine": 61.7},
            "experience_for_making": {"tool": 0.3, "machine": 5.5},
            "max_experience": 12.5,
            "daily_decay": 0.7,
        },
    },
    "lives shorter than a unit's effort": {
        "device": {
            "resources_in_tool": 2,
            "components": 2,
            "lifetime": {"tool": 0.5, "machine": 0.3, "device_machine": 0.1},
        },
    },
    "no decay, no practice needed": {
        "device": {"resources_in_tool": 2, "components": 2, "daily_decay": 0.0, "min_effort": 27.0},
    },
    "short memories": {"devices_market": {"memory": 2, "production_memory": 1, "attempts": 1}},
    "no meetings": {"devices_market": {"rounds": 0}},
    "long way to go": {"devices_market": {"days_to_hold": 0.01}},
    "slow makers": {
        "device": {
            "resources_in_tool": 2,
            "components": 2,
            "min_effort": 300.0,
            "max_effort": 590.0,
        },
    },
    "per-resource efforts": {
        "device": {
            "resources_in_tool": 3,
            "components": 3,
            "max_effort": [27, 20, 10, 5, 40, 27],
            "min_effort": [9, 20, 1, 0.5, 8, 9],
            "max_experience": [40, 1, 6, 300, 2.5, 40],
        },
    },
    "one price for one": {"trading": {"price": "unit", "rounds": 2, "menu_size": 3}},
    "fresh values": {"trading": {"fresh_values": True, "rounds": 2, "menu_size": 3}},
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", EDGES)
def test_edges(name):
    """Runs, and neither minutes nor counts become negative or undefined."""
    state = final(15, **EDGES[name])
    for field in set(state) - SIGNED - {"utility_1", "utility_2"}:
        assert np.all(state[field] >= 0), field
    assert np.all(np.isfinite(state["prices"]))
    assert (state["recipe"] >= 0).any()
