"""Who invents what, of what, and in which order? Rule by rule.

Source: docs/model.md, "Invention". States are set by hand, so that each rule decides alone.
"""

import copy
import math
from collections import Counter
from itertools import permutations

import pytest
from states import Draws, recipe, started, tools

from reference_py.economy import invention as inventing
from reference_py.economy.invention import (
    attempt,
    device_ingredients,
    establish,
    invention,
    most_experienced,
    tool_ingredients,
    untaken,
)
from reference_py.economy.knowledge import know_components
from reference_py.economy.streams import PURPOSES
from reference_py.primitives.rng import Rng

TOOL, MACHINE, FACTORY, INDUSTRY, DEVICE_MACHINE, DEVICE_FACTORY = range(6)
TRIES = 1800


def known_by(s):
    return [
        [any(e[device][r] > 0 for e in s.device_experience) for r in range(len(s.available))]
        for device in range(6)
    ]


# -- the order of inventors ------------------------------------------------------------------------


def test_every_order_of_inventors_is_as_likely(monkeypatch):
    p, s = started(agents=3)
    seen = []
    monkeypatch.setattr(inventing, "attempt", lambda p, s, agent, *_: seen.append(agent))
    orders = Counter()
    for _ in range(TRIES):
        seen.clear()
        invention(p, s, 1)
        orders[tuple(seen)] += 1
    assert set(orders) == set(permutations(range(3)))
    expected = TRIES / 6
    off = sum((count - expected) ** 2 / expected for count in orders.values())
    assert off < 25.7  # chi-square with 5 degrees of freedom: 1e-4


def test_inventors_are_ordered_by_the_societys_stream(monkeypatch):
    p, s = started(agents=5)
    place = PURPOSES["invention_order"]
    rng, order, seen = Rng.load(s.stream[5][place]), [0, 1, 2, 3, 4], []
    for i in (4, 3, 2, 1):
        j = rng.below(i + 1)
        order[i], order[j] = order[j], order[i]
    monkeypatch.setattr(inventing, "attempt", lambda p, s, agent, *_: seen.append(agent))
    invention(p, s, 1)
    assert seen == order
    assert s.stream[5][place] == rng.pack()


def test_the_removed_do_not_invent(monkeypatch):
    p, s = started(agents=4)
    seen = []
    monkeypatch.setattr(inventing, "attempt", lambda p, s, agent, *_: seen.append(agent))
    s.alive[2] = 0
    invention(p, s, 1)
    assert sorted(seen) == [0, 1, 3]


# -- what is known ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_who_comes_later_knows_what_was_invented_the_same_day(seed):
    """Both are sure to succeed and both consider the tools 0 and 1: each invents another one."""
    p, s = started(
        agents=2,
        resources=2,
        seed=seed,
        device={"resources_in_tool": 1, "components": 2},
        trading={"menu_size": 2},
        invention={"tool_probability": 1.0},
    )
    s.experience = [[5.0, 4.0], [4.0, 5.0]]
    s.held = [[9, 9], [9, 9]]
    invention(p, s, 7)
    assert sorted(r for _, _, _, r, *_ in s.inventions) == [0, 1]
    assert [s.recipe[TOOL][r][0] for r in (0, 1)] == [1, 0]
    assert s.invented_on[TOOL] == [7, 7]
    assert sorted(s.inventor[TOOL]) == [0, 1]


def test_components_of_an_invention_are_known_from_then_on():
    """Of a tool that only others knew, and all have forgotten meanwhile, too."""
    p, s = started()
    tools(s, {2: (0, 1), 3: (0, 1)})
    for agent in range(4):
        s.device_experience[agent][MACHINE][3] = 5.0
        s.practised[agent][MACHINE][3] = 1
    s.device_experience[2][TOOL] = [0.0, 0.0, 4.0, 0.5, 0.0]
    known = [[False] * 5 for _ in range(6)]
    establish(p, s, 2, known, 9, MACHINE, 3, [2, 3])
    assert known[MACHINE] == [False, False, False, True, False]
    assert known[TOOL] == [False, False, True, True, False]
    assert s.device_experience[2][TOOL] == [0.0, 0.0, 4.0, 1.0, 0.0]
    assert [e[MACHINE][3] for e in s.device_experience] == [0.0, 0.0, 6.0, 0.0]
    assert [e[MACHINE][3] for e in s.practised] == [0, 0, 1, 0]
    assert s.recipe[MACHINE][3] == [2, 3]
    assert (s.invented_on[MACHINE][3], s.inventor[MACHINE][3]) == (9, 2)
    assert s.inventions == [(9, 2, MACHINE, 3, 2, 3)]


def test_a_tool_has_no_components_that_are_devices():
    p, s = started(device={"resources_in_tool": 2, "components": 3})
    known = known_by(s)
    before = copy.deepcopy(s.device_experience[0])
    establish(p, s, 0, known, 2, TOOL, 3, [1, 2])
    before[TOOL][3] = 6.0
    assert s.device_experience[0] == before
    assert s.recipe[TOOL][3] == [1, 2, -1]
    assert sum(map(sum, known)) == 1


def test_what_some_agent_knows_implies_knowing_the_components():
    """From industries down to tools in one pass, by the recipes of the first and the last."""
    p, s = started(agents=2)
    for device, (a, b) in {
        INDUSTRY: (3, 4),
        FACTORY: (2, 4),
        MACHINE: (1, 4),
        DEVICE_FACTORY: (0, 4),
        DEVICE_MACHINE: (0, 3),
    }.items():
        recipe(s, device, 4, a, b)
    s.device_experience[0][INDUSTRY][4] = 0.25
    know_components(p, s, 0)
    assert s.device_experience[0][FACTORY] == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert s.device_experience[0][MACHINE] == [0.0, 0.0, 1.0, 0.0, 1.0]
    assert s.device_experience[0][TOOL] == [0.0, 1.0, 0.0, 0.0, 1.0]
    assert s.device_experience[0][DEVICE_MACHINE] == [0.0] * 5
    assert not any(map(any, s.device_experience[1]))
    s.device_experience[1][DEVICE_FACTORY][4] = 3.0
    s.device_experience[1][DEVICE_MACHINE][0] = 0.5
    know_components(p, s, 1)
    assert s.device_experience[1][DEVICE_MACHINE] == [1.0, 0.0, 0.0, 0.0, 1.0]
    assert s.device_experience[1][TOOL] == [1.0, 0.0, 0.0, 1.0, 0.0]
    assert s.device_experience[1][MACHINE] == [0.0] * 5
    recipe(s, MACHINE, 0, 0, 2)
    s.device_experience[1][MACHINE][0] = 1.0
    know_components(p, s, 1)
    assert s.device_experience[1][TOOL] == [1.0, 0.0, 1.0, 1.0, 0.0]


def test_knowing_is_made_up_for_before_any_agent_tries(monkeypatch):
    p, s = started(agents=3)
    recipe(s, MACHINE, 4, 3, 4)
    recipe(s, TOOL, 4, 0, 1)
    recipe(s, TOOL, 3, 0, 1)
    for agent in range(3):
        s.device_experience[agent][MACHINE][4] = 2.0
    s.alive[1] = 0
    seen = []
    monkeypatch.setattr(inventing, "attempt", lambda p, s, a, known, rng: seen.append(known))
    invention(p, s, 1)
    assert [s.device_experience[agent][TOOL][4] for agent in range(3)] == [1.0, 0.0, 1.0]
    expected = known_by(s)
    assert len(seen) == 2
    assert seen[0] == seen[1] == expected
    assert expected[TOOL] == [False, False, False, True, True]


# -- ingredients -----------------------------------------------------------------------------------


def test_a_removed_resource_that_is_held_is_not_tinkered_with():
    """Unless it is one of the two of most experience (societies-model.md, Q19)."""
    p, s = started(
        resources=6,
        device={"resources_in_tool": 3, "components": 2},
        shocks=[{"day": 1, "remove": "resource", "index": 4, "holdings": "keep"}],
    )
    s.available[4] = 0
    s.held[0] = [9] * 6
    s.experience[0] = [50.0, 60.0, 0.0, 0.0, 0.0, 0.0]
    assert tool_ingredients(p, s, 0, Draws(2, 1)) == [0, 1, 3, 5]
    assert tool_ingredients(p, s, 0, Draws(0, 0)) == [0, 1, 2, 3]
    s.available[5] = 0
    assert tool_ingredients(p, s, 0, Draws(0, 0)) == [0, 1, 2, 3]
    s.available[3] = 0
    assert tool_ingredients(p, s, 0, Draws()) is None
    s.experience[0][4] = 70.0
    assert tool_ingredients(p, s, 0, Draws(1, 0)) == [0, 1, 2, 4]


def test_a_tool_takes_what_is_held_in_numbers():
    p, s = started(resources=6, device={"resources_in_tool": 3, "components": 2})
    s.experience[0] = [0.0, 0.0, 5.0, 0.0, 9.0, 0.0]
    s.held[0] = [3, 4, 0, 5, 0, 3]  # more than 3: 1 and 3
    assert tool_ingredients(p, s, 0, Draws(0, 0)) == [1, 2, 3, 4]
    s.held[0][3] = 3
    assert tool_ingredients(p, s, 0, Draws()) is None


def test_of_equal_experience_the_first_counts():
    assert most_experienced([0.0, 3.0, 3.0, 1.0], set()) == 1
    assert most_experienced([0.0, 3.0, 3.0, 1.0], {1}) == 2
    assert most_experienced([0.0, 0.0, 0.0], {0}) == 1
    assert most_experienced([0.0, 0.0, 7.0], {2}) == 0


def test_components_are_ones_own_first_and_then_what_others_know():
    p, s = started(resources=6, device={"resources_in_tool": 2, "components": 4})
    tools(s, dict.fromkeys((2, 3, 4, 5), (0, 1)))
    recipe(s, TOOL, 0, 1, 2)
    recipe(s, TOOL, 1, 0, 2)
    s.device_experience[0][TOOL] = [2.0, 0.0, 5.0, 3.0, 0.0, 0.0]
    known = known_by(s)
    assert known[TOOL] == [True, False, True, True, True, True]  # no agent remembers 1
    assert device_ingredients(p, s, 0, MACHINE, known, Draws(0, 1)) == [0, 2, 3, 5]
    assert device_ingredients(p, s, 0, MACHINE, known, Draws(0, 0)) == [0, 2, 3, 4]
    s.available[4] = 0
    assert device_ingredients(p, s, 0, MACHINE, known, Draws(0, 0)) == [0, 2, 3, 5]
    s.available[5] = 0
    assert device_ingredients(p, s, 0, MACHINE, known, Draws()) == []
    s.available = [1, 1, 0, 1, 1, 1]  # the best of its own is removed, and taken all the same
    assert device_ingredients(p, s, 0, MACHINE, known, Draws(0, 1)) == [0, 2, 3, 5]
    s.device_experience[0][TOOL], s.available = [0.0] * 6, [1] * 6
    assert known_by(s)[TOOL] == [False, False, True, True, True, True]
    assert device_ingredients(p, s, 0, MACHINE, known_by(s), Draws()) == []  # knows none itself


def test_an_agent_that_has_made_one_device_begins_with_it():
    """However little it knows of it; nothing it does not know is among the two best."""
    p, s = started(resources=6, device={"resources_in_tool": 2, "components": 3})
    tools(s, dict.fromkeys((2, 3, 4, 5), (0, 1)))
    for little in (0.5, 1.0, 7.0):
        s.device_experience[0][TOOL] = [0.0, 0.0, 0.0, little, 0.0, 0.0]
        rng = Draws(2, 0)
        assert device_ingredients(p, s, 0, MACHINE, known_by(s), rng) == [2, 3, 5]
        assert rng.asked == [3, 2]
        s.device_experience[0][TOOL][4] = little / 2
        rng = Draws(0)
        assert device_ingredients(p, s, 0, MACHINE, known_by(s), rng) == [2, 3, 4]
        assert rng.asked == [2]
        s.device_experience[0][TOOL][5] = little / 4
        rng = Draws(0)
        assert device_ingredients(p, s, 0, MACHINE, known_by(s), rng) == [3, 4, 5]
        assert rng.asked == [1]


def test_ones_own_are_not_counted_as_what_others_know_too():
    p, s = started(resources=6, device={"resources_in_tool": 2, "components": 4})
    tools(s, dict.fromkeys((3, 4, 5), (0, 1)))
    s.device_experience[0][TOOL] = [0.0, 0.0, 0.0, 5.0, 3.0, 0.5]
    assert device_ingredients(p, s, 0, MACHINE, known_by(s), Draws()) == []


def test_what_was_forgotten_by_all_is_open_again():
    _p, s = started()
    recipe(s, TOOL, 0, 1, 2)
    recipe(s, TOOL, 3, 1, 2)
    known = [[r == 3 for r in range(5)] for _ in range(6)]
    assert untaken(s, TOOL, [0, 2, 3], known) == [0, 2]


# -- attempts --------------------------------------------------------------------------------------


def inventor(p, s):
    """Agent 0 tinkers with the resources 0 to 2, whose tools are all known."""
    tools(s, {0: (1, 2), 1: (0, 2), 2: (0, 1)})
    s.experience[0] = [60.0, 50.0, 40.0, 0.0, 0.0]
    s.held[0] = [9, 9, 9, 0, 0]
    s.device_experience[0][TOOL] = [6.0, 5.0, 0.0, 0.0, 0.0]
    return known_by(s)


def test_a_tool_that_is_open_ends_the_day_successful_or_not():
    p, s = started(invention={"tool_probability": 0.002})
    known = inventor(p, s)
    known[TOOL][1] = False
    chance = 0.002 * 150.0
    rng = Draws(0, chance - 1e-9, 0)
    assert attempt(p, s, 0, known, rng) == (TOOL, 1, [0, 2])
    assert not rng.draws
    rng = Draws(0, chance)
    assert attempt(p, s, 0, known, rng) is None
    assert not rng.draws


def test_one_coin_decides_between_machines_and_machines_for_tools():
    p, s = started(invention={"device_probability": 0.01})
    known = inventor(p, s)
    sure = 0.01 * 11.0 - 1e-9
    assert attempt(p, s, 0, known, Draws(0, 0, sure, 1)) == (MACHINE, 1, [0, 1])
    assert attempt(p, s, 0, known, Draws(0, 1, sure, 0)) == (DEVICE_MACHINE, 0, [0, 1])
    assert attempt(p, s, 0, known, Draws(0, 1, 0.01 * 11.0)) is None


def test_higher_devices_come_after_lower_ones_in_the_same_attempt():
    p, s = started()
    known = inventor(p, s)
    for device in (MACHINE, FACTORY, DEVICE_MACHINE):
        for r in (0, 1):
            recipe(s, device, r, 0, 1)
            known[device][r] = True
            s.device_experience[0][device][r] = 2.0
    # nothing drawn for the components: both of its own are taken
    assert attempt(p, s, 0, known, Draws(0, 0, 0.0, 1)) == (INDUSTRY, 1, [0, 1])
    assert attempt(p, s, 0, known, Draws(0, 1, 0.0, 0)) == (DEVICE_FACTORY, 0, [0, 1])
    for r in (0, 1):
        recipe(s, INDUSTRY, r, 0, 1)
        known[INDUSTRY][r] = True
    assert attempt(p, s, 0, known, Draws(0, 0)) is None


def test_without_enough_to_tinker_with_nothing_is_tried():
    p, s = started()
    known = inventor(p, s)
    s.held[0] = [3] * 5
    rng = Draws()
    assert attempt(p, s, 0, known, rng) is None
    assert not rng.asked


def test_the_coin_has_two_sides_and_choices_are_among_what_is_open():
    p, s = started()
    known = inventor(p, s)
    rng = Draws(0, 1, 0.0, 1)
    assert attempt(p, s, 0, known, rng) == (DEVICE_MACHINE, 1, [0, 1])
    assert rng.asked == [1, 2, 2]
    known[TOOL][2] = known[TOOL][0] = False
    rng = Draws(0, 0.0, 1)
    assert attempt(p, s, 0, known, rng) == (TOOL, 2, [0, 1])
    assert rng.asked == [1, 2]


def test_with_tools_only_nothing_else_is_tried():
    p, s = started(devices="tools")
    known = inventor(p, s)
    rng = Draws(0)
    assert attempt(p, s, 0, known, rng) is None
    assert not rng.draws


def test_the_inventive_succeed_more_often():
    groups = [
        {"name": "dull", "count": 2, "inventiveness": 0.5},
        {"name": "bright", "count": 2, "inventiveness": 2.0},
    ]
    p, s = started(groups=groups, invention={"tool_probability": 0.002})
    known = inventor(p, s)
    known[TOOL][1] = False
    for name in ("experience", "held", "device_experience"):
        getattr(s, name)[3] = getattr(s, name)[0]
    for agent, chance in ((0, 0.15), (3, 0.6)):
        assert attempt(p, s, agent, known, Draws(0, chance - 1e-9, 0)) is not None
        assert attempt(p, s, agent, known, Draws(0, chance + 1e-9)) is None
    assert math.isclose(p.devices.inventiveness[1], 2.0)
