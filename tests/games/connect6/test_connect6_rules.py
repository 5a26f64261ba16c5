"""Do classes, evaluation and moves agree with what others computed, and with the device?"""

import random
from dataclasses import replace

import numpy as np
import pytest
from connect6_oracles import CLASSES, EVALUATIONS, WINS, bits, stones

from reference_py.games.connect6 import classes, evaluate, geometry, moves, wins
from reference_py.games.connect6.parameters import Connect6Parameters
from reference_py.games.connect6.search import GAME
from reference_py.games.connect6.text import text_of, words_of
from societies import config_from_dict
from societies.games.connect6 import WORKLOAD, Connect6
from societies.workload.running.engines import DeviceEngine

NAMES = ("none", "D2", "L2", "D3", "L3", "T1", "T2", "T3", "SIX")
WIDE = Connect6Parameters(width=48)


class OnGpu(Connect6):
    """The search as a GPU has it: a workgroup lists the turns of a position, or weighs it."""

    def game_macros(self, p):
        return {**super().game_macros(p), "DEVICE_IS_CPU": False}


def engine(device, roots, chosen=WORKLOAD, **settings):
    """Return an engine that has searched all roots."""
    config = config_from_dict({"workload": "connect6", **settings})
    p = replace(WORKLOAD.parameters(config), roots=tuple(roots))
    made = DeviceEngine(chosen, p, device, copies=len(roots))
    made.start()
    while made.ended() is None:
        made.run_ticks(1, 1)
    return made


def of_length(table, length):
    place = classes.table_place(length, 0)
    return table[place : place + 2**length] & 15


def fnv(codes):
    found = 14695981039346656037
    for code in codes.tolist():
        found = (found ^ code) * 1099511628211 % 2**64
    return f"{found:016x}"


def test_classes_of_others(device):
    made = engine(device, [words_of([180], [])], depth=0, width=2)
    table = made.run_step.memory["classes"].get()
    assert np.array_equal(table, classes.class_table())
    for case in CLASSES:
        own = of_length(table, case["length"])
        counts = np.bincount(own, minlength=9).tolist()
        assert dict(zip(NAMES, counts, strict=True)) == case["histogram"], case["length"]
        if case["length"] <= 16:
            assert fnv(own) == case["fnv1a64"]


@pytest.mark.parametrize("length", [6, 7, 9, 11])
def test_the_table_is_the_definition(length):
    made = of_length(classes.class_table(), length)
    assert made.tolist() == [classes.class_of(length, mask) for mask in range(2**length)]
    entries = [classes.entry_of(length, mask) >> 4 for mask in range(2**length)]
    assert entries == [classes.threats(length, mask) for mask in range(2**length)]


def counted(side):
    found = {name: side.of[getattr(classes, name)] for name in ("L3", "D3", "L2", "D2")}
    return {"T": side.threats, **found, "X": side.crossings, "centre": side.centre}


@pytest.mark.parametrize("case", EVALUATIONS, ids=lambda case: case["id"])
def test_evaluations_and_moves_of_others(case):
    own, other = map(bits, stones(case))
    now, then = evaluate.both_shapes(own, other)
    assert (counted(now), counted(then)) == (case["mover"], case["opponent"])
    assert evaluate.rule_of(now, then) == (case["rule"], case["e1"])
    won = moves.immediate_win(own, other)
    lines = [geometry.lines_with(side) for side in (own, other)]
    turns = [(moves.IMMEDIATE, *won)] if won else moves.pairs(WIDE, own | other, *lines)
    assert len(turns) == case["n_moves"]
    assert sum(i * score for i, (score, _, _) in enumerate(turns, 1)) == case["moves_checksum"]
    first = [f"{text_of(a)}{text_of(b)}:{score}" for score, a, b in turns[:8]]
    assert first == case["top_moves"]


def random_positions(number, seed):
    """Return words of positions: stones near each other, some with rows, a few nearly full."""
    drawn = random.Random(seed)
    found = []
    for _ in range(number):
        count = drawn.choice((3, 7, 15, 31, 63, 127, 255, 359))
        middle, spread = drawn.randrange(361), drawn.choice((2, 4, 9))
        near = [
            point
            for point in range(361)
            if abs(point // 19 - middle // 19) <= spread and abs(point % 19 - middle % 19) <= spread
        ]
        points = drawn.sample(near, min(count, len(near) - 2))
        share = drawn.uniform(0.3, 0.7)
        own = [point for point in points if drawn.random() < share]
        found.append(words_of(own, [point for point in points if point not in own]))
    return found


def compare(device, number, seed, *forms):
    """Compare values and turns of positions, all at once, by every form of the kernels."""
    positions = random_positions(number, seed)
    settings = {"width": 12, "batch": {"leaves": 12, "branches": 1}}
    found = [engine(device, positions, form, depth=1, **settings) for form in forms]
    p, states = found[0].parameters, [made.state() for made in found]
    for game, position in enumerate(positions):
        turns = GAME.branch(p, list(position))
        children = [GAME.make(p, position, turn) for turn in turns] or [position]
        at = range(1, 1 + len(turns)) if turns else [0]
        last = len(children) - 1
        value = GAME.evaluate(p, children[last], 1)
        for state in states:
            assert state["child_count"][game, 0] == len(turns), position
            assert state["moves"][game, 1 : 1 + len(turns)].tolist() == turns, position
            for child, node in zip(children, at, strict=True):
                assert state["positions"][game, node].tolist() == list(child)
            assert state["best"][game, at[last]] == value, position


def test_random_positions(device):
    """By one work-item each, and by workgroups."""
    compare(device, 25, 1, WORKLOAD, OnGpu())


@pytest.mark.thorough
def test_ten_thousand_random_positions(device):
    for seed in range(2, 12):
        compare(device, 1000, seed, WORKLOAD, OnGpu())


TURNED = tuple(
    (lambda r, c, swap=swap, down=down, left=left: (
        (18 - (c if swap else r)) if down else (c if swap else r),
        (18 - (r if swap else c)) if left else (r if swap else c),
    ))
    for swap in (False, True)
    for down in (False, True)
    for left in (False, True)
)  # fmt: skip


def test_the_value_is_the_same_from_all_sides():
    for position in random_positions(40, 5):
        sides = [geometry.points_of_bits(side) for side in evaluate.sides(position)]
        values = set()
        for turned in TURNED:
            own, other = (
                [19 * row + column for row, column in (turned(*divmod(at, 19)) for at in side)]
                for side in sides
            )
            values.add(evaluate.evaluate(WIDE, words_of(own, other), 0))
        assert len(values) == 1, position


@pytest.mark.parametrize("case", WINS, ids=lambda case: case["id"])
def test_wins_by_threats_of_others(case):
    own, other = map(bits, stones(case))
    turns, pair = wins.shortest_win(own, other, case["win_in"] or 1)
    assert turns == case["win_in"]
    if turns == 1:
        assert wins.threatened(own, other)
        assert any((own | pair) & window == window for window in wins.all_windows())
    elif turns:
        assert_wins(own, other, pair, turns)


def assert_wins(own, other, pair, turns):
    """Answer a turn in every way that meets its threats; six must follow in the turns left."""
    assert pair.bit_count() == 2
    assert not pair & (own | other)
    own |= pair
    threats = wins.threatened(own, other)
    assert threats
    assert not wins.threatened(other, own)
    free = [1 << point for point in range(361) if not (own | other) >> point & 1]
    answers = {one | two for one in free for two in free if one < two and meets(one | two, threats)}
    assert not any(meets(one, threats) for one in free)
    for answer in answers:
        left, following = wins.shortest_win(own, other | answer, turns - 1)
        assert left is not None
        if left > 1:
            assert_wins(own, other | answer, following, left)


def meets(points, threats):
    return all(empty & points for empty in threats)
