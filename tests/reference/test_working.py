"""Is a day's work what the model's text says, unit by unit, by hand and with devices?

The text (societies-model.md, 5.1) is written down here a second time; both are given the same
random states and the same choices among equals. Consumption, pairings, shocks and streams: rule by
rule.
"""

import copy
import math
from collections import Counter

import numpy as np
import pytest
from states import started

from reference_py.economy import extraction as working
from reference_py.economy.consumption import consume
from reference_py.economy.curves import marginal_utility
from reference_py.economy.extraction import extract, extraction, practise
from reference_py.economy.matching import matching
from reference_py.economy.shocks import draw_shocks, remove_agent, remove_resource, shocks
from reference_py.economy.state import arrays
from reference_py.economy.streams import PURPOSE_COUNT, PURPOSES, drawing, seed_streams
from reference_py.primitives.reduce import reduce_sum
from reference_py.primitives.rng import STREAM_GAP, Rng, binomial_reserve

# -- extraction ------------------------------------------------------------------------------------


def as_written(p, s, choose):
    """Return what a day of work makes of agent 0, by name of the field."""
    held, experience = list(s.held[0]), list(s.experience[0])
    minutes = copy.deepcopy(s.device_minutes[0])
    units = [[0] * p.resources for _ in range(5)]
    spent = [[0.0] * p.resources for _ in range(5)]
    utility, effort = p.utility_curves[0], p.effort_curves[0]

    def best_device(r):
        owned = [t for t in (3, 2, 1, 0) if minutes[t][r] > 0.0]
        return (owned[0], p.device_factor[owned[0]]) if owned else (-1, 1.0)

    def minutes_of(r):
        return effort.minutes[min(int(experience[r]), len(effort.minutes) - 1)]

    time = s.overtime[0]
    began = time
    if time >= p.day_length:
        gain_per_minute, overtime = s.device_gain[0] / time, time - p.day_length
    else:
        overtime = 0.0
        while time < p.day_length:
            values = {
                r: marginal_utility(utility, held[r]) / minutes_of(r) * best_device(r)[1]
                for r in range(p.resources)
                if s.available[r]
            }
            most = max(values.values()) - p.near_best_band
            r = choose([r for r in values if values[r] >= most])
            t, factor = best_device(r)
            dt = minutes_of(r) / factor
            if t >= 0:
                minutes[t][r] = max(0.0, minutes[t][r] - dt)
            time += dt
            gain_per_minute = values[r]
            experience[r] += 1.0 / factor
            held[r] += 1
            units[t + 1][r] += 1
            spent[t + 1][r] += dt
    extracted = [sum(by_source) for by_source in zip(*units, strict=True)]
    for r in range(p.resources):
        if extracted[r] == 0:
            experience[r] = max(0.0, experience[r] - p.daily_experience_penalty)
        experience[r] = min(experience[r], effort.max_experience)
    return {
        "held": held,
        "experience": experience,
        "device_minutes": minutes,
        "gain_per_minute": gain_per_minute,
        "overtime": overtime,
        "extracted": extracted,
        "extracted_with": [sum(by_resource) for by_resource in units],
        "minutes_with": [reduce_sum(by_resource) for by_resource in spent],
        "minutes": time - began if began < p.day_length else 0.0,
    }


@pytest.mark.parametrize("band", [0.0, 15.0])
def test_a_day_of_work_is_that_of_the_text(band):
    p, s = started(
        extraction={
            "near_best_band": band,
            "max_experience": 40.5,
            "daily_experience_penalty": 2.5,
        },
        day_length=150.0,
        utility={"min_marginal": 30.0},
    )
    rng = np.random.default_rng(3)
    made_all_day = ties = 0
    for case in range(60):
        s.held[0] = (rng.random(5) ** 3 * 50).astype(int).tolist()
        s.experience[0] = (rng.random(5) * 45 * (rng.random(5) < 0.8)).tolist()
        owned = rng.random((6, 5)) * 20 * (rng.random((6, 5)) < 0.3)
        s.device_minutes[0] = owned.tolist()
        s.overtime[0] = [0.0, 149.9, 150.0, 150.5, 400.0, 60.0][case % 6]
        s.device_gain[0] = 1234.5
        s.available = [1, 1, int(case % 5 != 0), 1, int(case % 3 != 0)]
        if case % 4 == 0:
            s.held[0], s.experience[0] = [0] * 5, [0.0] * 5
            s.device_minutes[0] = [[0.0] * 5 for _ in range(6)]
        seen = []

        def choose(best, seen=seen):
            seen.append(list(best))
            return best[len(seen) % len(best)]

        expected = as_written(p, s, choose)
        offered = list(seen)
        seen.clear()
        extract(p, s, 0, choose)
        assert seen == offered
        for name, value in expected.items():
            assert getattr(s, name)[0] == value, name
        made_all_day += not seen
        ties += any(len(best) > 1 for best in seen)
    assert made_all_day == 30
    assert ties > 5


def test_without_devices_a_day_begins_at_nothing():
    p, s = started(devices="none", device={})
    extract(p, s, 0, lambda best: best[0])
    assert sum(s.extracted[0]) == 67
    minutes = p.effort_curves[0].minutes
    assert s.minutes[0] == pytest.approx(sum(sum(minutes[:n]) for n in s.extracted[0]))
    assert not hasattr(s, "extracted_with")


@pytest.mark.parametrize(("effort", "units"), [(10.0, 60), (9.99, 61), (10.01, 60)])
@pytest.mark.parametrize("devices", ["none", "all"])
def test_a_day_that_is_full_to_the_minute_is_over(devices, effort, units):
    same = {"max_effort": effort, "min_effort": effort}
    p, s = started(devices=devices, device={}, extraction=same)
    extract(p, s, 0, lambda best: best[0])
    assert sum(s.extracted[0]) == units
    assert s.minutes[0] == pytest.approx(units * effort)


@pytest.mark.parametrize(
    ("units", "experience", "expected"),
    [
        (0, 10.0, 7.0),
        (0, 3.0, 0.0),
        (0, 1.0, 0.0),
        (1, 10.0, 10.0),
        (1, 605.0, 600.0),
        (0, 609.0, 600.0),
        (0, 601.0, 598.0),
    ],
)
def test_experience_fades_and_is_capped(units, experience, expected):
    p, s = started()
    for r in (0, 4):
        s.extracted[1][r], s.experience[1][r] = units, experience
    practise(p, s, 1)
    assert s.experience[1] == [expected, 0.0, 0.0, 0.0, expected]


def test_every_agent_draws_from_its_own_stream(monkeypatch):
    p, s = started(agents=3)
    s.alive[1] = 0
    drawn = {}

    def draws(p, s, agent, choose):
        drawn[agent] = [choose(list(range(1000))) for _ in range(5)]

    monkeypatch.setattr(working, "extract", draws)
    extraction(p, s)
    assert set(drawn) == {0, 2}
    for agent, numbers in drawn.items():
        purpose = PURPOSES["extraction"]
        rng = Rng.load(started(agents=3)[1].stream[agent][purpose])
        assert numbers == [rng.below(1000) for _ in range(5)]
        assert s.stream[agent][purpose] == rng.pack()


# -- consumption -----------------------------------------------------------------------------------


def test_each_resource_draws_after_the_most_that_those_before_it_could():
    groups = [
        {"name": "a", "count": 1, "consumption": {"resource_lifetime": [5.0, 2.0, 9.0, 1.0, 5.0]}},
        {"name": "b", "count": 1, "consumption": {"resource_lifetime": 3.0}},
    ]
    p, s = started(agents=2, groups=groups)
    for agent in (0, 1):
        s.held[agent] = [7, 300, 0, 12, 40]
        stream = s.stream[agent][PURPOSES["consumption"]]
        rng, expected = Rng.load(stream), []
        for units, threshold in zip(s.held[agent], p.consumption_threshold[agent], strict=True):
            expected.append(units - Rng(rng.x, rng.c).binomial(units, threshold))
            rng.skip(binomial_reserve(units))
        consume(p, s, agent)
        assert s.held[agent] == expected
        assert s.stream[agent][PURPOSES["consumption"]] == rng.pack()
    assert s.held[0][3] == 0  # a lifetime of one day
    assert s.held[1][1] < 250


# -- pairings --------------------------------------------------------------------------------------


def test_all_orders_of_every_round_are_as_likely():
    p, s = started(agents=3, trading={"rounds": 2, "menu_size": 2})
    orders = [Counter(), Counter()]
    for _ in range(3000):
        matching(p, s)
        for round_ in (0, 1):
            orders[round_][tuple(s.partners[round_])] += 1
    for counts in orders:
        assert len(counts) == 6
        off = sum((count - 500) ** 2 / 500 for count in counts.values())
        assert off < 25.7  # chi-square with 5 degrees of freedom: 1e-4


def test_rounds_follow_each_other_on_the_societys_stream():
    p, s = started(agents=5, trading={"rounds": 3, "menu_size": 2})
    place = PURPOSES["resource_matching"]
    rng, expected = Rng.load(s.stream[5][place]), []
    for _ in range(3):
        order = [0, 1, 2, 3, 4]
        for i in (4, 3, 2, 1):
            j = rng.below(i + 1)
            order[i], order[j] = order[j], order[i]
        expected.append(order)
    matching(p, s)
    assert s.partners == expected
    assert s.stream[5][place] == rng.pack()


# -- shocks ----------------------------------------------------------------------------------------

RANDOM = [
    {"day": 2, "remove": "resource", "index": 1, "holdings": "keep"},
    {"day": 2, "remove": "resource", "index": "random", "holdings": "lose"},
    {"day": 3, "remove": "agent", "index": "random"},
    {"day": 3, "remove": "resource", "index": "random", "holdings": "keep"},
    {"day": 4, "remove": "agent", "index": 2},
    {"day": 4, "remove": "agent", "index": "random"},
]


def test_random_shocks_draw_among_what_no_other_removes():
    p, s = started(resources=6, shocks=RANDOM)
    seen = []
    for seed in range(500):
        s.stream[p.agents][PURPOSES["shocks"]] = Rng.seed(1, 1000, seed).pack()
        rng = Rng.load(s.stream[p.agents][PURPOSES["shocks"]])
        first = [0, 2, 3, 4, 5][rng.below(5)]
        agent = [0, 1, 3][rng.below(3)]
        second = [r for r in (0, 2, 3, 4, 5) if r != first][rng.below(4)]
        other = [a for a in (0, 1, 3) if a != agent][rng.below(2)]
        draw_shocks(p, s)
        assert s.shock_target == [1, first, agent, second, 2, other]
        assert s.stream[p.agents][PURPOSES["shocks"]] == rng.pack()
        seen.append(tuple(s.shock_target))
    assert len(set(seen)) > 100  # of 120


def test_shocks_happen_on_their_day_and_take_what_they_say():
    p, s = started(resources=4, shocks=RANDOM)
    s.shock_target = [1, 3, 0, 2, 2, 1]
    s.held = [[5, 6, 7, 8] for _ in range(4)]
    s.experience = [[1.0, 2.0, 3.0, 4.0] for _ in range(4)]
    shocks(p, s, 1)
    assert s.available == s.alive == [1, 1, 1, 1]
    shocks(p, s, 2)
    assert s.available == [1, 0, 1, 0]
    assert s.held == [[5, 6, 7, 0]] * 4
    assert s.experience == [[1.0, 2.0, 3.0, 0.0]] * 4
    shocks(p, s, 3)
    assert s.available == [1, 0, 0, 0]
    assert s.alive == [0, 1, 1, 1]
    assert s.held == [[0] * 4, *[[5, 6, 7, 0]] * 3]
    shocks(p, s, 4)
    assert s.alive == [0, 0, 0, 1]


@pytest.mark.parametrize("lose", [False, True])
def test_a_removed_resource_takes_its_devices_along(lose):
    p, s = started()
    s.device_minutes = [[[9.0] * 5 for _ in range(6)] for _ in range(4)]
    s.device_experience = [[[7.0] * 5 for _ in range(6)] for _ in range(4)]
    s.held = [[3] * 5 for _ in range(4)]
    remove_resource(p, s, 2, lose)
    assert s.device_minutes == [[[9.0, 9.0, 0.0, 9.0, 9.0]] * 6] * 4
    assert s.device_experience == [[[7.0] * 5] * 6] * 4
    assert s.held == [[3, 3, 0 if lose else 3, 3, 3]] * 4
    assert s.available == [1, 1, 0, 1, 1]


def test_a_removed_resource_without_devices():
    p, s = started(devices="none", device={})
    s.held = [[3] * 5 for _ in range(4)]
    remove_resource(p, s, 4, True)
    assert s.held == [[3, 3, 3, 3, 0]] * 4


def test_a_removed_agent_is_as_before_the_first_day():
    p, s = started(agents=3)
    _, fresh = started(agents=3)
    of_agent = [name for name, array in arrays(p).items() if array.of_agent]
    for name in of_agent:
        setattr(s, name, np.full(np.shape(getattr(s, name)), 5).tolist())
    remove_agent(p, s, 1)
    for name in of_agent:
        if name != "alive":
            assert getattr(s, name)[1] == getattr(fresh, name)[1], name
        assert getattr(s, name)[0] != getattr(s, name)[1], name
    assert s.alive[1] == 0


# -- streams ---------------------------------------------------------------------------------------


def test_streams_are_numbered_by_society_owner_and_purpose():
    p, s = started(agents=3)
    s.index = 2
    seed_streams(p, s)
    number = 2 * 4 * PURPOSE_COUNT
    for owner in range(4):
        for purpose in range(PURPOSE_COUNT):
            expected = Rng.seed(p.stream_base, STREAM_GAP, number).pack()
            assert s.stream[owner][purpose] == expected
            number += 1


def test_a_stream_continues_where_it_was():
    p, s = started()
    place = PURPOSES["invention"]
    whole = Rng.load(s.stream[1][place])
    expected, found = [whole.next() for _ in range(6)], []
    for _ in range(3):
        with drawing(p, s, 1, "invention") as rng:
            found += [rng.next(), rng.next()]
    assert found == expected
    assert math.isfinite(sum(found))
