"""Are inventions as frequent, and pairs as random, as the model says?"""

import math
from collections import Counter

import pytest
from partners import remember

from reference_py.economy.device_matching import matched
from reference_py.economy.invention import attempt
from reference_py.economy.society import new_society
from reference_py.primitives.rng import STREAM_GAP, Rng
from societies import config_from_dict
from societies.economy.parameters import parameters

TRIES = 20_000


def society(**more):
    settings = {"workload": "economy", "agents": 5, "resources": 8, "devices": "all", **more}
    p = parameters(config_from_dict(settings))
    return p, new_society(p)


def attempts(p, s, known):
    rng = Rng.seed(p.stream_base, STREAM_GAP, 2)
    return [found for _ in range(TRIES) if (found := attempt(p, s, 0, known, rng)) is not None]


def nothing_known(p):
    return [[False] * p.resources for _ in range(6)]


def near(count, expected, tries=TRIES):
    """Whether a count is within five standard deviations of a binomial's mean."""
    p = expected / tries
    return abs(count - expected) < 5 * math.sqrt(tries * p * (1 - p))


def test_tools_are_invented_as_often_as_experience_says():
    p, s = society(device={"resources_in_tool": 3}, invention={"tool_probability": 1e-4})
    s.experience[0] = [100.0, 300.0, 50.0, 0.0, 400.0, 20.0, 7.0, 0.0]
    s.held[0] = [4, 9, 3, 5, 0, 4, 4, 2]  # more than 3: 0, 1, 3, 5, 6; 1 and 4 are the best
    found = attempts(p, s, nothing_known(p))
    mean_others = 2 * (100.0 + 0.0 + 20.0 + 7.0) / 4  # two of the four others
    assert near(len(found), TRIES * 1e-4 * (300.0 + 400.0 + mean_others))
    used = Counter(r for _, target, recipe in found for r in (target, *recipe))
    assert set(used) == {0, 1, 3, 4, 5, 6}
    assert used[1] == used[4] == len(found)
    assert all(device == 0 and len(recipe) == 3 for device, _, recipe in found)


@pytest.mark.parametrize("inventiveness", [1.0, 2.5])
def test_targets_are_uniform_among_what_is_open(inventiveness):
    group = {"name": "all", "count": 5, "inventiveness": inventiveness}
    p, s = society(
        device={"resources_in_tool": 2}, invention={"tool_probability": 1e-3}, groups=[group]
    )
    s.experience[0] = [60.0, 50.0, 40.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    s.held[0] = [9, 9, 9, 0, 0, 0, 0, 0]
    known = nothing_known(p)
    s.recipe[0][1], known[0][1] = [0, 2, -1, -1, -1, -1], True
    found = attempts(p, s, known)
    assert near(len(found), TRIES * 0.15 * inventiveness)
    targets = Counter(target for _, target, _ in found)
    assert set(targets) == {0, 2}
    assert near(targets[0], len(found) / 2, len(found))


def test_machines_and_device_machines_are_tried_equally_often():
    p, s = society(
        device={"resources_in_tool": 2, "components": 3}, invention={"device_probability": 1e-2}
    )
    s.experience[0] = [60.0, 50.0, 40.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    s.held[0] = [9, 9, 9, 0, 0, 0, 0, 0]
    s.device_experience[0][0] = [6.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    known = nothing_known(p)
    for r in range(5):
        s.recipe[0][r], known[0][r] = [5, 6, -1], True
    found = attempts(p, s, known)
    mean = 6.0 + 3.0 + (2.0 + 1.0) / 2  # the two best and one of the other two that it knows
    assert near(len(found), TRIES * 1e-2 * mean)
    types = Counter(device for device, _, _ in found)
    assert set(types) == {1, 4}
    assert near(types[1], len(found) / 2, len(found))
    assert all(target in recipe for _, target, recipe in found)


def test_pairs_without_memories_begin_with_anyone():
    p, s = society()
    rng = Rng.seed(p.stream_base, STREAM_GAP, 3)
    first, last = Counter(), Counter()
    for _ in range(TRIES):
        order = matched(p, s, 0, rng.below)
        assert sorted(order) == list(range(5))
        lowest = min(set(range(5)) - {order[0]})
        assert order[1] == lowest  # no agent was met: the lowest number
        first[order[0]] += 1
        last[order[4]] += 1
    assert all(near(first[a], TRIES / 5) for a in range(5))
    assert last[0] == 0  # 0 is taken first


def test_who_has_met_all_takes_anyone():
    p, s = society()
    s.met = [[b for b in range(5) if b != a] for a in range(5)]
    rng = Rng.seed(p.stream_base, STREAM_GAP, 4)
    pairs = Counter(frozenset(matched(p, s, 0, rng.below)[:2]) for _ in range(TRIES))
    assert len(pairs) == 10
    assert all(near(count, TRIES / 10) for count in pairs.values())


def test_profitable_partners_come_first():
    p, s = society()
    as_much = [2.0, 2.0, 1.0, 0.0, 0.0]  # the lower number wins
    less = [0.0, 0.0, 0.0, 0.0, 4.9]
    remember(s, 1, 0, {4: as_much, 3: [0.0, 5.0, 0.0, 0.0, 0.0], 2: less})
    draws = iter([1, 0])
    assert matched(p, s, 0, lambda n: next(draws)) == [1, 3, 0, 2, 4]
    s.met[1][0] = 3
    draws = iter([1, 0])
    assert matched(p, s, 0, lambda n: next(draws)) == [1, 4, 0, 2, 3]
