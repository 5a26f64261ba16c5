"""Does a search of Connect6 find what others found, whatever its form and batches?"""

import random

import pytest
from connect6_oracles import EVERY_TREE, TREES
from marks import thorough_but

from reference_py.games.connect6.text import turn_text
from societies import config_from_dict
from societies.errors import ConfigError
from societies.games.connect6 import WORKLOAD
from societies.workload.running.engines import DeviceEngine


def searched(device, case, **settings):
    """Return the state of a search of a case."""
    sides = {"black": case["black"], "white": case["white"]}
    depth = {"depth": case["depth"], "width": case["w"]}
    config = config_from_dict({"workload": "connect6", **sides, **depth, **settings})
    engine = DeviceEngine(WORKLOAD, WORKLOAD.parameters(config), device)
    engine.start()
    superstep = 0
    while engine.ended() is None:
        superstep += 1
        engine.run_ticks(superstep, superstep)
    return {name: found[0] for name, found in engine.state().items()}


ONE_WIDTH = [case for case in EVERY_TREE if case["w"] == 8]
"""Kernels are built for each width."""


@pytest.mark.parametrize(
    "case",
    thorough_but(ONE_WIDTH, EVERY_TREE),
    ids=lambda case: f"{case['depth']} turns, {case['w']} wide",
)
def test_whole_trees_of_others(device, case):
    found = searched(device, case, pruning="none")
    assert int(found["value"]) == case["value"]
    assert turn_text(int(found["move"])) == case["best_pair"]
    assert int(found["visited"].sum()) == case["nodes"]
    assert int(found["leaves"]) == case["leaves"]


@pytest.mark.thorough
def test_the_values_of_larger_trees(device):
    for case in TREES:
        if "nodes" not in case:
            found = searched(device, case, batch={"leaves": 512, "branches": 16})
            assert int(found["value"]) == case["value"]
            assert turn_text(int(found["move"])) == case["best_pair"]


@pytest.mark.thorough
def test_every_node_of_the_published_tree(device):
    case = {"black": "J10", "white": "", "depth": 4, "w": 48}
    found = searched(device, case, pruning="none", full_width=True)
    assert found["visited"].tolist() == [48**ply for ply in range(5)]
    assert int(found["visited"].sum()) == 5_421_361


@pytest.mark.thorough
def test_every_node_of_the_published_tree_of_five_turns(device):
    """An H100 needs a second and 3 GiB; a core of a CPU, ten minutes."""
    if device is None or device.kind != "gpu":
        pytest.skip("260 million nodes are for a GPU")
    case = {"black": "J10", "white": "", "depth": 5, "w": 48}
    batch = {"leaves": 2**20, "branches": 2**16}
    found = searched(device, case, pruning="none", full_width=True, batch=batch, pool=16_000_000)
    assert int(found["visited"].sum()) == 260_225_329
    assert int(found["value"]) == 2021


def some_searches(number):
    """Yield sizes of batches, drawn at random."""
    drawn = random.Random(7)
    for _ in range(number):
        yield {"leaves": drawn.randint(1, 300), "branches": drawn.randint(1, 60)}


def check_sizes(device, number):
    case = {"black": "L8 M8 J10 K11 L12", "white": "N7 J9 L9 K10 J11 H13", "depth": 3, "w": 8}
    value = next(
        one["value"] for one in EVERY_TREE if all(one[name] == of for name, of in case.items())
    )
    for batch in some_searches(number):
        for pruning in ("none", "alpha_beta"):
            found = searched(device, case, batch=batch, pruning=pruning)
            assert int(found["value"]) == value, batch


def test_batches_do_not_change_the_value(device):
    check_sizes(device, 2)


@pytest.mark.thorough
def test_fifty_batches_do_not_change_the_value(device):
    check_sizes(device, 50)


@pytest.mark.parametrize(
    "batch",
    [
        pytest.param({"leaves": 1, "branches": 1}, marks=pytest.mark.thorough),
        {"leaves": 40, "branches": 3},
    ],
)
def test_both_forms_visit_the_same_nodes(device, batch):
    case = {"black": "J10", "white": "", "depth": 3, "w": 5}
    forms = [searched(device, case, form=form, batch=batch) for form in ("device", "host")]
    assert forms[0].keys() == forms[1].keys()
    for name in forms[0]:
        assert (forms[0][name] == forms[1][name]).all(), name
    assert int(forms[0]["visited"].sum()) < 1 + 5 + 25 + 125


def test_the_smallest_pool_is_enough(device):
    case = {"black": "J10", "white": "", "depth": 3, "w": 8}
    found = searched(device, case, pool=25, batch={"leaves": 40, "branches": 40})
    assert int(found["value"]) == 1985
    assert int(found["shortened"]) > 0
    assert int(found["peak"]) <= 25


@pytest.mark.parametrize("pool", [2353, 2352])
def test_the_plan_says_if_the_pool_is_smaller_than_full_batches_need(pool):
    """Which are 1, 48 and 48 * 48 nodes."""
    tree = {"black": "J10", "depth": 2, "width": 48, "batch": {"branches": 48}, "pool": pool}
    config = config_from_dict({"workload": "connect6", **tree})
    row = dict(WORKLOAD.plan_rows(config, WORKLOAD.parameters(config)))["nodes in memory"]
    said = "; full batches need 2,353, so a full level takes smaller ones" if pool < 2353 else ""
    assert row == f"at most {pool:,} of a game{said}"


def test_a_game_that_is_over(device):
    won = {"black": "A1 B1 C1 D1 E1 F1 S19", "white": "A3 A5 A7 C3 C5 C7", "depth": 2, "w": 8}
    found = searched(device, won)
    assert (int(found["value"]), int(found["visited"].sum())) == (-20000, 1)
    assert int(found["move"]) == 2**32 - 1


def test_the_first_stone_of_a_game_goes_to_the_centre(device):
    found = searched(device, {"black": "", "white": "", "depth": 1, "w": 8})
    assert turn_text(int(found["move"])) == "J10"
    assert int(found["visited"].sum()) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"black": "T1"}, "'T1' is not a point"),
        ({"black": "J20"}, "'J20' is not a point"),
        ({"black": "J10", "white": "J10 A1"}, "J10 is taken already"),
        ({"black": "A1 B1"}, "2 black and 0 white stones"),
        ({"black": "A1", "to_move": "black"}, "1 black and 0 white stones"),
        ({"pruning": "none", "depth": 9}, "without pruning"),
        ({"pool": 10}, "pool"),
        ({"batch": {"leaves": 0}}, "leaves"),
    ],
)
def test_what_cannot_be_searched_is_said(settings, message):
    with pytest.raises(ConfigError, match=message):
        config_from_dict({"workload": "connect6", **settings})
