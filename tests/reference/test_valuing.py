"""Are costs, times, needs and values of devices what the model's text says?

The text (societies-model.md, 5.4) is written down here a second time, by recursion, and both are
given the same random states of a small society in which every type of device has recipes.
"""

import math

import numpy as np
import pytest
from loops import plain_benefit
from states import recipe, started

from reference_py.economy import valuation
from reference_py.economy.curves import effort
from reference_py.economy.devices import device_curve

COMPONENT = {1: 0, 2: 1, 3: 2, 4: 0, 5: 4}
MAKER = {0: 4, 1: 5}


def maketime(p, s, t, r):
    minutes = effort(device_curve(p, 0, r), s.device_experience[0][t][r])
    return minutes / speed(p, s, t, r)


def speed(p, s, t, r):
    maker = MAKER.get(t)
    if maker is None or s.device_minutes[0][maker][r] == 0.0:
        return 1.0
    return p.device_factor[maker]


def parts_of(s, t, r):
    return [k for k in s.recipe[t][r] if k >= 0]


def cost_and_time(p, s, t, r):
    """5.4.2: what can be bought costs its mean price, anything else time and components."""
    paid = [price for price in s.prices[0][t][r] if price > 0]
    if len(paid) >= p.device_memory // 2:
        return sum(paid) / len(paid), 0.0
    time = maketime(p, s, t, r)
    cost = time * s.gain_per_minute[0]
    for k in parts_of(s, t, r):
        if t == 0:
            held = s.held[0][k]
            cost += p.utility_curves[0].marginal[held - 1] if held > 0 else 0.0
        else:
            below_cost, below_time = cost_and_time(p, s, COMPONENT[t], k)
            cost += below_cost
            time += below_time
    return cost, time


def worst(p, s, t, r):
    """5.4.2: minutes and units if nothing can be bought, one device after the other."""
    time, need = maketime(p, s, t, r), {r: 1}
    while t in COMPONENT:
        below = COMPONENT[t]
        counts = dict.fromkeys(range(p.resources), 0)
        for i, n in need.items():
            for k in parts_of(s, t, i):
                counts[k] += n
        need = {}
        for k, n in counts.items():
            whole = math.floor(math.floor(s.device_minutes[0][below][k]) / p.device_lifetime[below])
            need[k] = max(0, n - whole)
            for i in range(need[k]):
                known = s.device_experience[0][below][k] + i
                time += effort(device_curve(p, 0, k), known) / speed(p, s, below, k)
        t = below
    units = [0] * p.resources
    for i, n in need.items():
        for k in parts_of(s, 0, i):
            units[k] += n
    return time, units


DEVICE = {
    "resources_in_tool": 2,
    "components": 2,
    "max_experience": 12.5,
    "lifetime": {
        "tool": 31.7,
        "machine": 47.3,
        "factory": 61.9,
        "industry": 83.1,
        "device_machine": 58.3,
        "device_factory": 77.7,
    },
}


@pytest.fixture
def states():
    """Yield parameters and random states of one agent, with recipes and without some."""
    p, s = started(
        agents=1,
        device=DEVICE,
        extraction={"max_experience": 60.0},
        invention={"min_made_for_device_maker": 2},
        devices_market={"days_to_hold": 0.25},
    )
    rng = np.random.default_rng(8)

    def random_states(count):
        for _ in range(count):
            for t in range(6):
                for r in range(5):
                    others = [k for k in range(5) if k != r]
                    parts = rng.choice(others, 2, replace=False) if t == 0 else [r, others[t % 4]]
                    parts = sorted(int(k) for k in parts)
                    recipe(s, t, r, *(parts if t < 2 or r != 3 else []))
            s.held[0] = (rng.random(5) ** 3 * 80).astype(int).tolist()
            s.experience[0] = (rng.random(5) * 70).tolist()
            s.gain_per_minute[0] = float(rng.random() * 30)
            s.device_experience[0] = (rng.random((6, 5)) * 14).tolist()
            s.device_minutes[0] = (rng.random((6, 5)) ** 5 * 130).tolist()
            for t in range(6):
                for r in range(5):
                    if rng.random() < 0.4:
                        s.device_minutes[0][t][r] = 0.0
            some = rng.random((6, 5, 5)) < 0.3
            s.prices[0] = (rng.normal(200, 300, (6, 5, 5)) * some).tolist()
            s.recently_made[0] = rng.integers(0, 3, (6, 5, 5)).tolist()
            s.reserved_minutes[0] = float(rng.integers(0, 590))
            s.available = (rng.random(5) < 0.9).astype(int).tolist()
            yield p, s

    return random_states


def known(s, t):
    return [r for r in range(5) if s.recipe[t][r][0] >= 0]


def test_costs_and_expected_times(states):
    bought = 0
    for p, s in states(40):
        for t in range(6):
            cost, minutes = valuation.costs(p, s, 0, t)
            for r in range(5):
                if r not in known(s, t):
                    assert cost[r] == minutes[r] == 0.0
                elif t < 2 or 3 not in parts_of(s, t, r):  # 3 has no higher recipes
                    assert (cost[r], minutes[r]) == pytest.approx(cost_and_time(p, s, t, r))
                    bought += minutes[r] == 0.0
    assert bought > 50


def test_needs_and_who_can_meet_them(states):
    possible = 0
    for p, s in states(40):
        for t in range(6):
            for r in known(s, t):
                if t >= 2 and 3 in parts_of(s, t, r):
                    continue
                time, units = worst(p, s, t, r)
                found = valuation.worst_case(p, s, 0, t, r)
                assert found[0] == pytest.approx(time)
                assert found[1] == units
                s.held[0] = [
                    max(held, n - (i + t) % 2)
                    for i, (held, n) in enumerate(zip(s.held[0], units, strict=True))
                ]
                enough = all(n <= held for n, held in zip(units, s.held[0], strict=True))
                in_time = s.reserved_minutes[0] + time < p.day_length
                knows = s.device_experience[0][t][r] >= 1.0
                assert valuation.can_make(p, s, 0, t, r) == (enough and in_time and knows)
                possible += enough and in_time and knows
    assert possible > 50


def test_benefits_are_those_of_the_loops(states):
    """No number is whole here, so that no unit lies at a boundary."""
    positive = [0] * 6
    for p, s in states(40):
        for t in range(6):
            for r in known(s, t):
                found = valuation.benefit(p, s, 0, t, r)
                expected = plain_benefit(p, s, 0, t, r)
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), (t, r)
                positive[t] += expected != 0.0
                net = expected - s.gain_per_minute[0] * p.device_lifetime[t]
                if s.device_experience[0][t][r] >= 1.0:
                    net = min(net, 20.0)
                value = valuation.buyers_value(p, s, 0, t, r, 20.0)
                assert value == pytest.approx(max(net, 0.0), rel=1e-9, abs=1e-9)
    assert min(positive) > 15


def test_what_is_owned_counts_up_to_the_limit():
    """At the limit itself a device that extracts still brings something, a maker does not."""
    p, s = started(agents=1, devices_market={"days_to_hold": 0.25})
    s.experience[0], s.held[0] = [100.0] * 5, [4] * 5
    recipe(s, 0, 2, 0, 1)
    s.gain_per_minute[0] = 5.0
    s.device_experience[0][0][2] = 3.0
    s.recently_made[0][0][2] = [6, 0, 0, 0, 9]
    for owned, worth in ((149.9, (True, True)), (150.0, (True, False)), (150.1, (False, False))):
        s.device_minutes[0][0][2] = s.device_minutes[0][4][2] = owned
        found = [valuation.benefit(p, s, 0, device, 2) for device in (0, 4)]
        assert tuple(benefit > 0.0 for benefit in found) == worth
        assert min(found) >= 0.0


@pytest.mark.parametrize("learning", [1.0, 3.0])
def test_levels_are_passed_as_long_as_they_end_before_the_use_does(learning):
    """As many as counting finds, up to the last one."""
    p, _ = started(agents=1, extraction={"max_experience": 12.0})
    curve = p.effort_curves[0]
    last = len(curve.minutes) - 1
    for level in range(last + 1):
        tie = 5.0 + (curve.total[last // 2] - curve.total[level]) / learning
        for end in (0.0, 5.0, 5.1, 13.7, 31.3, 64.9, 99.9, 1e6, tie):
            passed = 0
            while level + passed < last and (
                5.0 + (curve.total[level + passed + 1] - curve.total[level]) / learning < end
            ):
                passed += 1
            assert valuation.levels_passed(curve, level, 5.0, end, learning) == passed


@pytest.mark.parametrize(
    ("effort", "factor", "end", "units"),
    [(3.0, 27.0, 0.888888888888889, 8), (3.0, 81.0, 1.6296296296296298, 44)],
)
def test_the_units_of_a_stretch_are_counted_by_one_division(effort, factor, end, units):
    """Although, rounded, their time falls short of the end by the last bit: that is no unit."""
    p, _ = started(agents=1, extraction={"max_effort": effort, "min_effort": effort})
    assert units * effort / factor < end
    curve = p.effort_curves[0]
    assert valuation.use(curve, 1e6, 0.0, end, factor, 1.0)[0] == units


@pytest.mark.parametrize(
    ("owned", "made", "worth"),
    [(0.0, 5, False), (0.0, 6, True), (599.0, 6, True), (600.0, 10, False), (600.0, 11, True)],
)
def test_makers_are_wanted_by_those_who_make_much(owned, made, worth):
    """More than 5 within five days, for each whole one owned and one more."""
    p, s = started(agents=1)
    s.gain_per_minute[0] = 5.0
    s.device_minutes[0][4][2] = owned
    s.recently_made[0][0][2] = [0, made - 2, 0, 0, 2]
    assert (valuation.benefit(p, s, 0, 4, 2) > 0.0) == worth


def test_what_is_hardly_worth_its_time_is_worth_nothing():
    p, s = started(agents=1)
    s.experience[0], s.held[0] = [100.0] * 5, [4] * 5
    benefit = valuation.benefit(p, s, 0, 0, 2)
    for net, value in ((-0.5, 0.0), (-1e-6, 0.0), (0.5, 0.5), (2.0, 2.0)):
        s.gain_per_minute[0] = (benefit - net) / 150.0
        for experience in (0.0, 6.0):
            s.device_experience[0][0][2] = experience
            found = valuation.buyers_value(p, s, 0, 0, 2, 1e6)
            assert found == pytest.approx(value, abs=1e-9)
            assert found >= 0.0


def test_a_removed_resource_needs_no_devices():
    p, s = started(agents=1)
    s.gain_per_minute[0] = 5.0
    s.recently_made[0][0][2] = [9, 9, 9, 9, 9]
    for device in range(6):
        s.available[2] = 1
        assert device == 5 or valuation.benefit(p, s, 0, device, 2) > 0.0
        s.available[2] = 0
        assert valuation.benefit(p, s, 0, device, 2) == 0.0


def test_the_very_first_unit_does_not_count():
    """Without any minutes owned the loop begins at 0, which is not later than 0."""
    p, s = started(
        agents=1,
        extraction={"max_effort": 10.0, "min_effort": 10.0},
        device={
            "resources_in_tool": 2,
            "components": 2,
            "factor": {"tool": 2.0},
            "lifetime": {"tool": 14.0},
        },
    )
    marginal = p.utility_curves[0].marginal
    s.held[0][1] = 7
    # units of 5 minutes: at 0, 5 and 10; then at 1, 6, and 11 after the minute that is owned
    assert valuation.benefit(p, s, 0, 0, 1) == pytest.approx(marginal[8] + marginal[9])
    s.device_minutes[0][0][1] = 1.0
    expected = marginal[8] + marginal[9]
    assert valuation.benefit(p, s, 0, 0, 1) == pytest.approx(expected)
    s.device_minutes[0][0][1] = 6.0  # two units with what is owned, until 10; then until 20
    expected = marginal[9] + marginal[10]
    assert valuation.benefit(p, s, 0, 0, 1) == pytest.approx(expected)
