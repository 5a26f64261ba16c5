"""Do both forms visit on the device what the reference visits, whatever the batches and groups?"""

import random

import numpy as np
import plain
import pytest

from reference_py.games.tictactoe.search import GAME
from societies import config_from_dict, verify
from societies.errors import ConfigError
from societies.games.ngtsg import small_batches as few
from societies.games.tictactoe import WORKLOAD
from societies.workload.running.engines import DeviceEngine

POSITIONS = {
    "three moves": "X.. .O. ...",
    "one move": "XOX OXO OX.",
    "a full board": "XOX XOO OXX",
    "already won": "XXX OO. ...",
}
COUNTS = ("value", "visited", "leaves", "branch_batches", "leaf_batches", "peak", "move")


def searched(device, work_items=None, **settings):
    """Return the parameters of a search, and its state at the end."""
    config = config_from_dict({"workload": "tictactoe", **settings})
    p = WORKLOAD.parameters(config)
    engine = DeviceEngine(WORKLOAD, p, device, work_items=work_items)
    engine.start()
    superstep = 0
    while engine.ended() is None:
        superstep += 1
        engine.run_ticks(superstep, superstep)
    return p, {name: found[0] for name, found in engine.state().items()}


def same(found, expected):
    for name in COUNTS:
        assert np.array_equal(found[name], getattr(expected, name)), name


@pytest.mark.parametrize("form", ["device", "host"])
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_counts_are_the_references(device, form, position):
    batch = {"leaves": 9, "branches": 4}
    p, found = searched(device, form=form, position=position, depth=4, batch=batch)
    same(found, plain.searched(GAME, p))
    assert int(found["ended"]) > 0


@pytest.mark.parametrize("work_items", [1, 3, 64])
def test_the_workgroup_changes_nothing(device, work_items):
    batch = {"leaves": 300, "branches": 70}
    settings = {"position": "X.. .O. ...", "depth": 5, "batch": batch}
    p, found = searched(device, work_items, **settings)
    same(found, plain.searched(GAME, p))


def test_strips_of_parents_join(device):
    """A level with more parents than a strip of select.cl has."""
    batch = {"leaves": 700, "branches": 2500}
    p, found = searched(device, depth=5, batch=batch)
    same(found, plain.searched(GAME, p))
    assert found["visited"][4] > 1024


def test_batches_do_not_change_the_value(device):
    drawn = random.Random(3)
    for _ in range(2):
        batch = {"leaves": drawn.randint(1, 99), "branches": drawn.randint(1, 99)}
        for pruning in ("none", "alpha_beta"):
            _, found = searched(
                device, position="XO. .X. ...", depth=6, batch=batch, pruning=pruning
            )
            assert int(found["value"]) == 4 - 10  # X wins with the fourth ply, whatever O does


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"position": "X"}, "1 squares"),
        ({"position": "OO. ... ..."}, "X begins"),
        ({"pool": 20, "depth": 4}, "pool"),
        ({"batch": {"branches": 0}}, "branches"),
        ({"batch": {"leaves": 2**20 + 1}}, "leaves"),
    ],
)
def test_what_cannot_be_searched_is_said(settings, message):
    with pytest.raises(ConfigError, match=message):
        config_from_dict({"workload": "tictactoe", **settings})


@pytest.mark.parametrize("form", ["device", "host"])
def test_small_batches_of_the_cpu_have_the_same_results(device, form, monkeypatch):
    """Some batches of both kinds are smaller than the least, and others are not."""
    calculated = []
    original = few.Few._calculated

    def counted(self, arrays, game, level, batch, phase):
        calculated.append((phase, len(batch)))
        return original(self, arrays, game, level, batch, phase)

    monkeypatch.setattr(few.Few, "_calculated", counted)
    least = {"min_leaves": 5, "min_branches": 3}
    settings = {"position": "X.. .O. ...", "depth": 4, "form": form}
    p, found = searched(device, batch={"leaves": 9, "branches": 4, **least}, **settings)
    plain_p, expected = searched(device, batch={"leaves": 9, "branches": 4}, **settings)
    same(found, plain.searched(GAME, plain_p))
    assert all(np.array_equal(found[name], expected[name]) for name in WORKLOAD.fields(p))
    sizes = {phase: {n for one, n in calculated if one == phase} for phase, _ in calculated}
    assert max(sizes["evaluate"]) < 5 and max(sizes["branch"]) < 3
    assert sum(n for phase, n in calculated if phase == "evaluate") < int(found["leaves"])


@pytest.mark.thorough
def test_small_batches_are_verified():
    batch = {"leaves": 9, "branches": 4, "min_leaves": 5, "min_branches": 3}
    settings = {"workload": "connect6", "depth": 2, "width": 4, "batch": batch}
    report = verify(config_from_dict(settings))
    assert report.identical, str(report)
