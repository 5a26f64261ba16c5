"""Do many workgroups select and close what one does, superstep by superstep?

A GPU alone has these kernels, so they are built here for one, whatever the device under test is.
"""

from functools import cache

import numpy as np
import plain
import pytest

from reference_py.games.ngtsg import select
from reference_py.games.tictactoe.search import GAME
from societies import config_from_dict
from societies.games.ngtsg.groups import FEW_PARENTS
from societies.games.tictactoe import WORKLOAD, TicTacToe
from societies.opencl import choose_device
from societies.workload.running import engines

SEARCHES = {
    "rounds": {
        "position": "XO. .X. ...",
        "depth": 6,
        "batch": {"leaves": 30, "branches": 200},
        "rounds": [1, 2],
        "rounds_at": [2, 4, 6],
    },
    "depths and a window": {
        "position": "XO. .X. ...",
        "depth": 6,
        "batch": {"leaves": 90, "branches": 300},
        "rounds": [1],
        "deepening": 2,
        "aspiration": 1,
    },
    "large batches": {"depth": 5, "batch": {"leaves": 700, "branches": 2500}},
    "nothing pruned": {
        "position": "XO. .X. ...",
        "depth": 6,
        "batch": {"leaves": 90, "branches": 300},
        "pruning": "none",
    },
}


class ForGpu(TicTacToe):
    """The same searches, built as for a GPU."""

    def game_macros(self, p):
        """Return the macro that says what the device is."""
        return {**super().game_macros(p), "DEVICE_IS_CPU": 0}


@cache
def parameters(name):
    return WORKLOAD.parameters(config_from_dict({"workload": "tictactoe", **SEARCHES[name]}))


def states(engine):
    """Return the state after each superstep, all arrays in full, and after two idle ones."""
    engine.start()
    found, superstep = [], 0
    while engine.ended() is None:
        superstep += 1
        engine.run_ticks(superstep, superstep)
        found.append(engine.state())
    for more in (1, 2):
        engine.run_ticks(superstep + more, superstep + more)
        found.append(engine.state())
    return found


@cache
def expected(name, copies):
    return states(engines.ReferenceEngine(WORKLOAD, parameters(name), copies=copies))


@pytest.mark.parametrize(
    ("name", "work_items", "copies"),
    [
        ("rounds", 3, 1),
        ("depths and a window", 3, 3),
        pytest.param("depths and a window", 64, 1, marks=pytest.mark.thorough),
        pytest.param("rounds", 1, 2, marks=pytest.mark.thorough),
        pytest.param("large batches", 31, 1, marks=pytest.mark.thorough),
        pytest.param("nothing pruned", 5, 2, marks=pytest.mark.thorough),
    ],
)
def test_every_superstep_is_the_references(name, work_items, copies):
    p = parameters(name)
    engine = engines.DeviceEngine(
        ForGpu(), p, choose_device("auto"), copies=copies, work_items=work_items
    )
    assert [len(engine.run_step.launches[phase]) for phase in ("select", "close")] == [1, 2]
    found, wanted = states(engine), expected(name, copies)
    assert len(found) == len(wanted)
    for superstep, (one, other) in enumerate(zip(found, wanted, strict=True), start=1):
        for array in other.keys() - {"nodes_taken"}:  # which idle supersteps have none of
            values = other[array]
            assert np.array_equal(one[array], values), f"superstep {superstep}: {array}"


def test_the_searches_have_rounds_of_which_nothing_is_left(monkeypatch):
    """One workgroup then continues alone, through more parents than a strip of three has."""
    original, most = select.select_batch, 0

    def watched(p, game, tick):
        nonlocal most
        level = game.level
        before = game.round.copy()
        original(p, game, tick)
        if level == game.level <= p.depth and game.round[level] > before[level]:
            start = p.starts[level]
            ends = game.parents[[start, start + int(game.counts[level]) - 1]].astype(int)
            most = max(most, int(np.ptp(ends)))

    monkeypatch.setattr(select, "select_batch", watched)
    plain.searched(GAME, parameters("rounds"))
    assert most > 3 * 12


def test_a_cpu_and_small_levels_keep_one_workgroup():
    def launches(batch, copies=1):
        settings = {"workload": "tictactoe", "depth": 4, "batch": batch}
        p = WORKLOAD.parameters(config_from_dict(settings))
        table = WORKLOAD.phases(p, copies)
        return {one.on_cpu: one.groups for one in table["close"].launches}

    few, many = {"branches": 20, "leaves": 9}, {"branches": FEW_PARENTS, "leaves": 9}
    assert launches(few) == {None: 1}
    assert launches(many, 2) == {False: 2 * 3, True: 2}
    assert launches(many, 200) == {None: 200}
