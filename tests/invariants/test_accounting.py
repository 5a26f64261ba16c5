"""Does anything appear or vanish that should not? The device's state, before and after every step.

One society type, made to be awkward: an odd number of agents, few units beyond the utility tables,
unlike resources, a floor and a least surplus that no double hits exactly, and shocks.
"""

import numpy as np
import pytest
from engines import DeviceEngine, ReferenceEngine

from reference_py.economy import trading
from reference_py.economy.state import STATE
from societies import config_from_dict
from societies.economy.parameters import parameters
from societies.economy.schedule import DayStep, day_schedule
from societies.economy.series import columns
from societies.opencl import choose_device

SERIES = columns(devices=False, groups=1)

pytestmark = pytest.mark.xdist_group("accounting")  # its runs are shared

AGENTS, RESOURCES, SOCIETIES, DAYS = 7, 9, 40, 20

SETTINGS = {
    "workload": "economy",
    "agents": AGENTS,
    "resources": RESOURCES,
    "days": DAYS,
    "seed": 5,
    "replicates": SOCIETIES,
    "utility": {
        "min_marginal": 30.3,
        "scale": [600, 600, 600, 600, 600, 600, 500, 500, 700],
        "exponent": [2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.0, 3.0, 2.5],
    },
    "extraction": {
        "max_effort": [9, 9, 9, 9, 9, 9, 9, 6, 20],
        "min_effort": [3, 3, 3, 3, 3, 3, 2, 3, 5],
        "max_experience": [60, 60, 60, 60, 60, 60, 600, 1, 45.5],
    },
    "consumption": {"resource_lifetime": [5, 5, 5, 5, 1, 5, 10, 4, 2.5]},
    "trading": {"rounds": 3, "attempts": 20, "menu_size": 2, "min_surplus": 0.0},
    "shocks": [
        {"day": 6, "remove": "resource", "index": 3, "holdings": "lose"},
        {"day": 9, "remove": "resource", "index": "random", "holdings": "keep"},
        {"day": 12, "remove": "agent", "index": "random"},
    ],
}

# What a step may change. Nothing else of the state may differ afterwards, not by a bit.
WRITES = {
    "matching": {"partners", "stream"},
    "trading": {"held", "value", "units_sold", "deals"},
    "extraction": {"held", "experience", "extracted", "minutes", "gain_per_minute", "stream"},
    "end_day": {"value"},
    "agent_statistics": {
        *["units_extracted", "units_held", "units_traded", "resources_extracted"],
        *["largest_holding", "utility", "utility_1", "utility_2"],
    },
    "society_statistics": {"utility_total", "series"},
    "consumption": {"held", "units_sold", "deals", "stream"},
    "shocks": {name for name, field in STATE.items() if field.of_agent} | {"available"},
}


@pytest.fixture(scope="module")
def p():
    return parameters(config_from_dict(SETTINGS))


@pytest.fixture(scope="module")
def device(p):
    return DeviceEngine(choose_device("auto"), p)


@pytest.fixture(scope="module")
def steps(device, p):
    """Return (day, step, state before, state after) for every step of a run."""
    device.start()
    result, before = [], device.state()
    for day in range(1, DAYS + 1):
        for step in day_schedule(p, day):
            device.step(step, day)
            after = device.state()
            result.append((day, step, before, after))
            before = after
    return result


def of_phase(steps, phase):
    chosen = [(day, before, after) for day, step, before, after in steps if step.phase == phase]
    assert chosen
    return chosen


def total_utility(p, held):
    """Utility of every agent, (society, agent); sums of the tables, the floor beyond them."""
    result = np.zeros(held.shape[:2])
    for r in range(RESOURCES):
        curve = p.utility_curves[p.utility_curve_of[0][r]]
        end = len(curve.marginal)
        inside = np.minimum(held[:, :, r], end)
        result += np.cumsum([0.0, *curve.marginal])[inside]
        result += curve.floor * (held[:, :, r] - inside)
    return result


def test_a_step_changes_only_its_own_fields(steps):
    for day, step, before, after in steps:
        changed = {n for n in STATE if before[n].tobytes() != after[n].tobytes()}
        assert changed <= WRITES[step.phase], (day, str(step))
    seen = {step.phase for _, step, _, _ in steps}
    assert seen == set(WRITES)


def test_nothing_is_ever_negative_or_undefined(steps):
    for _, step, _, after in steps:
        for name in set(STATE) - {"stream", "series", "shock_target"}:
            assert np.all(after[name] >= 0), (name, str(step))
        if step.phase == "society_statistics":
            late = [not name.startswith(("gini_3day", "gini_paper")) for name in SERIES]
            assert np.all(after["series"][:, late] >= 0)


def test_holdings_are_what_came_less_what_went(steps):
    """Every day, agent and resource: from yesterday's units to today's, counted separately."""
    start, came, went, days = None, 0, 0, 0
    for day, step, before, after in steps:
        if start is None:
            start, came, went = before["held"].astype(int), 0, 0
        change = after["held"].astype(int) - before["held"]
        if step.phase == "extraction":
            came += after["extracted"]
        elif step.phase == "trading":
            came += np.maximum(change, 0)  # bought
            went += np.maximum(-change, 0)  # sold
        elif step.phase == "consumption":
            went += -change
            assert np.all(change <= 0)
        elif step.phase == "shocks":
            went += before["held"] - after["held"]
        last = str(step) == str(day_schedule_last(day))
        if last:
            assert np.array_equal(after["held"], start + came - went)
            start, days = None, days + 1
    assert days == DAYS


def day_schedule_last(day):
    shocks = {shock["day"] for shock in SETTINGS["shocks"]}
    return DayStep("shocks") if day in shocks else DayStep("consumption")


def test_partners_swap_and_no_other_agent_takes_part(steps, p):
    """A round moves units between the two of a pair only, and none is made or lost."""
    moved = 0
    for _, step, before, after in steps:
        if step.phase != "trading":
            continue
        change = after["held"].astype(int) - before["held"]
        sold = after["units_sold"] - before["units_sold"]
        deals = after["deals"] - before["deals"]
        order = before["partners"][:, step.round]
        society = np.arange(SOCIETIES)[:, None]
        first, second = order[:, 0 : AGENTS - 1 : 2], order[:, 1:AGENTS:2]
        assert np.all(change[society, first] == -change[society, second])
        rests = order[:, -1:]
        assert not change[society, rests].any()
        assert not sold[society, rests].any()
        # What left a holding was sold; a meeting may also sell on what it has just bought.
        assert np.all(np.maximum(-change, 0).sum(axis=2) <= sold)
        assert not deals[society, second].any()
        assert np.array_equal(deals[society, first] > 0, sold[society, first] > 0)
        assert np.array_equal(deals[society, first] > 0, sold[society, second] > 0)
        assert np.all(deals <= p.attempts)
        moved += np.abs(change).sum()
    assert moved > 1000


def test_trade_makes_no_agent_worse_off(steps, p):
    """Only those who trade change in utility, and they gain."""
    gained = 0
    for _, before, after in of_phase(steps, "trading"):
        gain = total_utility(p, after["held"]) - total_utility(p, before["held"])
        assert np.all(gain > -1e-9)
        gained += np.count_nonzero(gain > 1e-9)
    assert gained > 1000


def test_a_day_of_work_fills_the_day_and_no_more(steps, p):
    most = max(curve.minutes[0] for curve in p.effort_curves)
    for _, _, after in of_phase(steps, "extraction"):
        living = after["alive"] == 1
        assert np.all(after["minutes"][living] >= p.day_length)
        assert np.all(after["minutes"][living] < p.day_length + most)
        assert not after["minutes"][~living].any()


def test_minutes_are_those_that_the_units_take(steps, p):
    """Minutes of the day are the efforts of its units, each at the experience it began with."""
    for _, before, after in of_phase(steps, "extraction"):
        minutes = np.zeros((SOCIETIES, AGENTS))
        for r in range(RESOURCES):
            table = p.effort_curves[p.effort_curve_of[0][r]].minutes
            used = np.cumsum([0.0, *table, *[table[-1]] * 1000])
            begin = np.floor(before["experience"][:, :, r]).astype(int)
            minutes += used[begin + after["extracted"][:, :, r]] - used[begin]
        np.testing.assert_allclose(after["minutes"], minutes, rtol=1e-12)


def test_what_is_practised_is_learned_and_the_rest_fades(steps, p):
    caps = np.array(
        [p.effort_curves[p.effort_curve_of[0][r]].max_experience for r in range(RESOURCES)]
    )
    for _, before, after in of_phase(steps, "extraction"):
        worked = after["extracted"]
        assert np.array_equal(after["held"], before["held"] + worked)
        faded = np.maximum(before["experience"] - p.daily_experience_penalty, 0.0)
        expected = np.minimum(np.where(worked > 0, before["experience"] + worked, faded), caps)
        assert np.array_equal(after["experience"], expected)


def test_values_are_remembered_before_consumption(steps, p):
    for _, before, after in of_phase(steps, "end_day"):
        for r in range(RESOURCES):
            curve = p.utility_curves[p.utility_curve_of[0][r]]
            worth = np.array([*curve.marginal, curve.floor])
            held = np.minimum(before["held"][:, :, r], len(curve.marginal))
            living = before["alive"] == 1
            assert np.array_equal(after["value"][:, :, r][living], worth[held][living])


def test_a_lifetime_of_a_day_leaves_nothing(steps):
    short = SETTINGS["consumption"]["resource_lifetime"].index(1)
    for _, before, after in of_phase(steps, "consumption"):
        assert not after["held"][:, :, short].any()
        assert after["held"].sum() < before["held"].sum()
        assert not after["units_sold"].any()
        assert not after["deals"].any()
    assert any(before["held"][:, :, short].any() for _, before, _ in of_phase(steps, "consumption"))


def test_what_is_removed_stays_removed(steps):
    for day, step, before, after in steps:
        lost = after["available"] == 0
        assert np.all(
            lost.sum(axis=1) == (day > 6) + (day > 9) + (step.phase == "shocks" and day < 12)
        )
        dead = after["alive"] == 0
        assert np.all(dead.sum(axis=1) == (day > 12 or (step.phase == "shocks" and day == 12)))
        if step.phase == "extraction":
            assert not after["extracted"].transpose(0, 2, 1)[lost].any()
        for name, field in STATE.items():
            if field.of_agent and name != "alive":
                assert np.all(after[name][dead] == field.initial), name
        if step.phase == "shocks" and day == 6:
            assert before["held"][:, :, 3].any()
            assert not after["held"][:, :, 3].any()
            assert not after["experience"][:, :, 3].any()
    assert np.all(steps[-1][3]["shock_target"][:, 0] == 3)


def test_the_series_are_the_sums_of_the_agents(steps):
    for _, before, after in of_phase(steps, "society_statistics"):
        row = dict(zip(SERIES, after["series"].T, strict=True))
        living = before["alive"].sum(axis=1)
        for name, per_agent in {
            "units_extracted": before["extracted"].sum(axis=2),
            "units_held": before["held"].sum(axis=2),
            "units_traded": before["units_sold"],
            "deals": before["deals"],
            "resources_extracted": (before["extracted"] > 0).sum(axis=2),
        }.items():
            assert np.array_equal(row[name], per_agent.sum(axis=1) / living), name
        assert np.array_equal(row["agents_alive"], living)
        assert np.array_equal(row["units_held_max"], before["held"].max(axis=(1, 2)))
        np.testing.assert_allclose(row["minutes_hand"], before["minutes"].sum(axis=1) / living)


def test_units_traded_twice_the_deals_at_least(steps):
    """A deal moves a unit each way or more."""
    for _, before, _ in of_phase(steps, "society_statistics"):
        assert np.all(before["units_sold"].sum(axis=1) >= 2 * before["deals"].sum(axis=1))


@pytest.mark.ci
def test_a_resource_for_itself_moves_nothing(device, p, monkeypatch):
    """Sale lists grow over a meeting, so a resource can be on both: A may give r for r.

    With a least surplus of 0, rounding beyond the table can make that look like a gain to both.
    Whatever they think of it, the holdings must not change, on the device as in the reference.
    """
    swaps = []
    original = trading.bargain

    def watched(p, s, a, b, give, take):
        before = [list(s.held[agent]) for agent in (a, b)]
        agreed = original(p, s, a, b, give, take)
        if agreed and give == take:
            swaps.append(before == [s.held[agent] for agent in (a, b)])
        return agreed

    monkeypatch.setattr(trading, "bargain", watched)
    reference = ReferenceEngine(p)
    rng = np.random.default_rng(1)
    device.start()
    state = device.state()
    shape = state["held"].shape
    for _ in range(8):
        state["held"] = (rng.random(shape) ** 4 * 400).astype(np.int32)  # some of it nothing
        state["value"] = rng.random(shape)  # memory may be stale in any way
        for engine in (device, reference):
            engine.load(state)
            for step in (DayStep("matching"), *(DayStep("trading", i) for i in range(p.rounds))):
                engine.step(step, 1)
        found, expected = device.state(), reference.state()
        for name in STATE:
            assert found[name].tobytes() == expected[name].tobytes(), name
        assert np.array_equal(found["held"].sum(axis=1), state["held"].sum(axis=1))
    assert swaps, "no such swap came about: nothing was tested"
    assert all(swaps)
