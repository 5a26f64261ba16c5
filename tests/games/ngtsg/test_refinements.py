"""Do the keys beyond the published search leave its value alone, and are their counts the same?"""

import random
from dataclasses import replace
from itertools import product

import plain
import pytest
from literal import alpha_beta
from marks import in_turn, thorough_but
from test_algorithm import SIZES, random_game
from test_device_search import COUNTS, same, searched

from reference_py.games.chess.search import GAME as CHESS
from reference_py.games.tictactoe.search import GAME
from societies import config_from_dict, plan, run
from societies.errors import ConfigError
from societies.games.chess import WORKLOAD as CHESS_SEARCH
from societies.output import open_results
from societies.workload.running.engines import DeviceEngine

ALL = {"rounds": [1, 3], "deepening": 2, "aspiration": 1}


def drawn_keys(drawn):
    """Return some of the keys, drawn at random, as parameters."""
    keys = {}
    if drawn.random() < 0.6:
        keys["rounds"] = tuple(sorted(drawn.sample(range(1, 7), drawn.randint(1, 4))))
        keys["rounds_at"] = tuple(sorted(drawn.sample(range(1, 7), drawn.randint(0, 4))))
    if drawn.random() < 0.3:
        keys["principal_variation"] = True
    if drawn.random() < 0.6:
        keys["deepening"] = drawn.randint(1, 3)
        keys["aspiration"] = drawn.choice((0, 1, 2, 10, 300))
    if drawn.random() < 0.4:
        keys["near_root"] = tuple(drawn.choice(SIZES) for _ in range(drawn.randint(1, 6)))
    return keys


def drawn_trees(seed, number):
    """Yield rules, parameters with such keys and the root of random trees and searches."""
    drawn = random.Random(seed)
    for tree in range(number):
        width, depth = drawn.randint(1, 6), drawn.randint(0, 6)
        rules = random_game.game(tree, width, drawn.choice((2, 5, 20, 1000)), drawn.choice((0, 30)))
        sizes, rooms = (drawn.choice(SIZES), drawn.choice(SIZES)), drawn.choice((None, None, width))
        keys = drawn_keys(drawn)
        yield rules, plain.parameters(depth, True, *sizes, width, [tree], rooms, **keys), [tree]


def test_no_key_changes_the_value():
    repeated = 0
    for rules, p, root in drawn_trees(9, 300):
        game = plain.searched(rules, p)
        repeated += int(game.repeated) if p.deepening else 0
        assert int(game.value) == alpha_beta(rules, p, root)[0], p
    assert repeated > 30


def test_the_move_is_one_of_the_best():
    for rules, p, root in drawn_trees(10, 100):
        game = plain.searched(rules, p)
        values = [
            -alpha_beta(rules, p, rules.make(p, root, move), 1)[0]
            for move in (rules.branch(p, root) if p.depth else [])
        ]
        if values:
            best = [move for move, value in enumerate(values) if value == max(values)]
            assert int(game.move) in best, p
            assert int(game.as_good) <= len(best) <= int(game.as_good + game.perhaps_as_good), p


def test_batches_of_one_are_serial_alpha_beta_with_rounds_too():
    for rules, p, root in drawn_trees(11, 100):
        one = replace(p, most_leaves=1, most_branches=1, deepening=0, aspiration=0)
        game = plain.searched(rules, one)
        assert (int(game.value), int(game.visited.sum())) == alpha_beta(rules, p, root), p


def test_rounds_that_no_node_reaches_change_nothing():
    for rules, p, _ in drawn_trees(12, 50):
        without = replace(p, rounds=(), principal_variation=False, near_root=())
        found = plain.searched(rules, replace(without, rounds=(p.width,)))
        same(vars(found), plain.searched(rules, without))


VISITING = [
    {"rounds": [1]},
    {"rounds": [1, 3], "rounds_at": [2, 4], "deepening": 2},
    {"rounds": [2, 3, 5], "principal_variation": True},
    {"deepening": 1},
    {"deepening": 2, "aspiration": 1},
    {**ALL, "batch": {"leaves": 9, "branches": 4, "near_root": [1, 2]}},
    {**ALL, "batch": {"leaves": 9, "branches": 4, "min_leaves": 5, "min_branches": 3}},
]


@pytest.mark.parametrize(
    ("keys", "form"),
    thorough_but(
        [*((keys, "device") for keys in VISITING), (VISITING[1], "host")],
        [*product(VISITING, ("device", "host"))],
        2,
    ),
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_both_forms_visit_what_the_reference_visits(device, form, keys):
    settings = {"position": "X.. .O. ...", "depth": 5, "batch": {"leaves": 9, "branches": 4}}
    p, found = searched(device, form=form, **{**settings, **keys})
    expected = plain.searched(GAME, replace(p, min_leaves=0, min_branches=0))
    same(found, expected)
    if p.deepening:
        assert int(found["repeated"]) == int(expected.repeated)
        assert found["root_moves"][:7].tolist() == expected.root_moves[:7].tolist()


@pytest.mark.parametrize("work_items", [1, 3, 64])
def test_the_workgroup_changes_nothing(device, work_items):
    batch = {"leaves": 700, "branches": 2500}  # more parents than a strip of select.cl has
    p, found = searched(device, work_items, depth=5, batch=batch, **ALL)
    same(found, plain.searched(GAME, p))


BATCH = {"leaves": 1024, "branches": 1024}
ROUNDS = [1, 5, 10, 20]
CHESS_COUNTS = [  # three plies: keys, nodes visited, batches of branches and of leaves, most stored
    ({}, (8613, 3, 8, 9323)),
    ({"principal_variation": True}, (8409, 6, 11, 8923)),
    ({"rounds": [1]}, (4660, 7, 10, 8497)),
    ({"rounds": ROUNDS}, (2890, 18, 60, 941)),
    ({"deepening": 2}, (8410, 4, 9, 9323)),
    ({"rounds": [1], "deepening": 2}, (4392, 8, 12, 5286)),
    ({"rounds": [1], "rounds_at": [1, 2], "deepening": 2}, (4225, 8, 8, 5286)),
    ({"batch": {**BATCH, "near_root": [1, 8]}}, (8558, 7, 9, 3802)),
]
"""Found by the reference."""

LARGE, SMALL = {"leaves": 7680, "branches": 7680}, {"leaves": 7680, "branches": 40}
FIVE_PLIES = [  # of docs/games.md: keys, nodes visited, supersteps, most stored
    ({}, (1_812_180, 260, 417_605)),
    ({"principal_variation": True}, (1_820_006, 274, 417_247)),
    ({"batch": {**LARGE, "near_root": [1, 1, 16]}}, (1_808_651, 350, 248_877)),
    ({"deepening": 1}, (1_765_222, 265, 417_864)),
    ({"deepening": 2}, (1_398_779, 210, 417_348)),
    ({"deepening": 2, "aspiration": 60_000}, (1_376_684, 208, 417_707)),
    ({"rounds": [1]}, (1_234_756, 209, 422_489)),
    ({"rounds": [1], "deepening": 2}, (591_967, 149, 275_558)),
    ({"rounds": [1], "deepening": 2, "aspiration": 60_000}, (578_801, 144, 275_558)),
    ({"rounds": [1], "rounds_at": [1, 2, 4], "deepening": 4}, (668_648, 113, 284_151)),
    ({"rounds": ROUNDS}, (492_696, 1560, 31_541)),
    ({"rounds": ROUNDS, "deepening": 2}, (296_345, 1492, 24_796)),
    ({"batch": SMALL}, (1_208_478, 2369, 4498)),
    ({"batch": SMALL, "rounds": [1]}, (678_166, 2152, 4506)),
    ({"batch": SMALL, "rounds": [1], "deepening": 2}, (436_584, 1290, 4228)),
    (
        {"batch": SMALL, "rounds": ROUNDS, "deepening": 2, "aspiration": 60_000},
        (259_930, 2831, 3105),
    ),
]


def chess(device, depth, **keys):
    """Return results of a search of chess from the start, in the published original's tree."""
    given = {"workload": "chess", "rules": "pseudo_legal", "depth": depth, **keys}
    p = CHESS_SEARCH.parameters(config_from_dict(given))
    if device is None:
        return vars(plain.searched(CHESS, p))
    engine = DeviceEngine(CHESS_SEARCH, p, device)
    engine.start()
    tick = 0
    while engine.ended() is None:
        engine.run_ticks(tick + 1, tick + 64)
        tick += 64
    return {name: array[0] for name, array in engine.arrays(*COUNTS, "ended").items()}


def counted(found):
    """Return the counts of a search as the first list has them."""
    names = ("branch_batches", "leaf_batches", "peak")
    return (int(found["visited"].sum()), *(int(found[name]) for name in names))


@pytest.mark.parametrize(
    ("form", "number"),
    thorough_but(
        in_turn(["device", "host"], range(len(CHESS_COUNTS)), len(CHESS_COUNTS) // 2),
        [*product(("device", "host"), range(len(CHESS_COUNTS)))],
        2,
    ),
)
def test_counts_of_chess(device, form, number):
    keys, counts = CHESS_COUNTS[number]
    found = chess(device, 3, form=form, **{"batch": BATCH, **keys})
    assert (int(found["value"]), counted(found)) == (19980, counts)


@pytest.mark.thorough
@pytest.mark.parametrize(("keys", "counts"), CHESS_COUNTS, ids=str)
def test_counts_of_chess_are_the_references(keys, counts):
    found = chess(None, 3, **{"batch": BATCH, **keys})
    assert (int(found["value"]), counted(found)) == (19980, counts)


@pytest.mark.thorough
@pytest.mark.parametrize(("keys", "counts"), FIVE_PLIES, ids=str)
def test_counts_of_five_plies(device, keys, counts):
    found = chess(device, 5, **{"batch": LARGE, **keys})
    assert int(found["value"]) == 70646
    assert (int(found["visited"].sum()), int(found["ended"]), int(found["peak"])) == counts


class Stop(Exception):
    """Ends a run in the middle."""


@pytest.mark.parametrize("form", ["device", pytest.param("host", marks=pytest.mark.thorough)])
def test_a_search_that_was_stopped_continues(tmp_path, form):
    """Wherever it was: between rounds, between depths, within a window."""
    settings = {"position": "X.. .O. ...", "depth": 5, "batch": {"leaves": 40, "branches": 7}}
    given = {"workload": "tictactoe", "form": form, **settings, **ALL}
    config = config_from_dict({**given, "record": {"checkpoint": 5}})
    straight = run(config, out=tmp_path / "straight.h5")

    for until in (7, 90):

        def progress(tick, _, until=until):
            if tick >= until:
                raise Stop

        path = tmp_path / f"{until}.h5"
        with pytest.raises(Stop):
            run(config, out=path, progress=progress)
        again = run(config, out=path, resume=True, device="reference" if until == 90 else "auto")
        assert again.state_sha256 == straight.state_sha256


def test_the_file_and_the_report_say_what_was_searched(tmp_path):
    given = {"workload": "tictactoe", "position": "XO. XO. ...", "depth": 4, **ALL}
    found = run(config_from_dict(given), out=tmp_path / "depths.h5")
    rows = dict(found.rows)
    with open_results(tmp_path / "depths.h5", events="supersteps") as steps:
        assert sorted(set(steps.horizon.values.tolist())) == [2, 4]
        assert int(steps.nodes_taken.sum()) == int(rows["nodes visited"].split()[0])
    with open_results(tmp_path / "depths.h5") as results:
        if int(results.repeated[0]):
            assert "window missed" in rows


def test_a_plan_says_which_depths_and_how_much_room():
    given = {"workload": "tictactoe", "depth": 7, "deepening": 3, "batch": {"near_root": [1, 2]}}
    rows = dict(plan(config_from_dict(given)).rows)
    assert rows["depths searched one after the other"] == "1, 4, 7"
    assert rows["nodes of each level"].startswith("1, 9, 18, 162, ")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pruning": "none", "rounds": [1]}, "rounds: it only changes what is pruned, and pruning"),
        ({"pruning": "none", "deepening": 1}, "deepening: it only changes what is pruned"),
        ({"pruning": "none", "principal_variation": True}, "principal_variation: it only changes"),
        ({"rounds": [2, 5, 5]}, r"5 after 5; the numbers ascend"),
        ({"rounds": [0]}, "rounds"),
        ({"rounds": [1], "rounds_at": [2, 1]}, "1 after 2; the levels ascend"),
        (
            {"depth": 4, "rounds": [1], "rounds_at": [2, 9]},
            "level 9; the last one, of the leaves, is 4",
        ),
        ({"rounds": [1], "rounds_at": [0]}, "rounds_at"),
        ({"deepening": 4, "depth": 4}, "4 plies less than 4 is not a valid depth"),
        ({"aspiration": 5}, "the window is laid around the value of the depth before; deepening"),
        ({"batch": {"branches": 8, "near_root": [4, 9]}}, "9 nodes; batch.branches allows 8"),
        ({"depth": 2, "batch": {"near_root": [1, 1, 1]}}, "3 levels; above the leaves there are 2"),
    ],
)
def test_keys_that_contradict_each_other_are_said(settings, message):
    with pytest.raises(ConfigError, match=message):
        config_from_dict({"workload": "tictactoe", **settings})


def test_a_key_without_effect_is_said():
    given = {"workload": "tictactoe", "rounds": [1, 4], "principal_variation": True}
    (warning,) = config_from_dict(given).warnings()
    assert "search the leftmost line first" in warning.message
    (warning,) = config_from_dict({"workload": "tictactoe", "rounds_at": [1]}).warnings()
    assert "no level is gone through in rounds" in warning.message
