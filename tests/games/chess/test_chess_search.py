"""Are evaluation, moves and counts of a search those of others, in both forms and all batches?"""

import random

import numpy as np
import pytest
from chess_oracles import COUNTS, EVAL, PSEUDO
from random_boards import boards

from reference_py.games.chess import evaluation
from reference_py.games.chess.fen import read_fen
from reference_py.games.chess.rules import moves, play
from reference_py.games.chess.search import (
    MATE,
    ChessParameters,
    branch,
    decoded,
    evaluate,
    make,
    pseudo_legal_moves,
    words_of,
)
from societies import config_from_dict
from societies.games.chess import WORKLOAD
from societies.games.chess.config import most_moves
from societies.opencl import Program
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

NAMES = [one["name"] for one in EVAL]
START = PSEUDO[0]["fen"]


@pytest.mark.parametrize("one", EVAL, ids=NAMES)
def test_evaluations_of_others(one):
    position, side, *_ = read_fen(one["fen"])
    assert evaluation.worth(position) == one["e1"]
    sign = 1 if side == 0 else -1
    assert sign * evaluation.material(position) == one["M10"]
    assert len(pseudo_legal_moves(position, side)) == one["pseudo_moves"]


def negamax(p, words, plies, ply=0):
    """Return the value of a position, every line played out."""
    found = branch(p, words) if plies else []
    if not found:
        return evaluate(p, words, ply)
    return max(-negamax(p, make(p, words, move), plies - 1, ply + 1) for move in found)


@pytest.mark.parametrize("one", EVAL, ids=NAMES)
def test_best_moves_of_others(one):
    """By the legal rules; all best moves, in the reference."""
    p, (position, side, *_) = ChessParameters(legal=True), read_fen(one["fen"])
    words = words_of(position, side)
    for plies in (1, 2):
        values = {
            decoded(move).name(side): -negamax(p, make(p, words, move), plies - 1, 1)
            for move in branch(p, words)
        }
        expected, best = one["negamax"].get(str(plies)), max(values.values())
        if expected:
            assert best == expected["value"]
            assert sorted(n for n, value in values.items() if value == best) == expected["best"]


def searched(device, depth, fen=START, **settings):
    """Return results of a search by its name."""
    given = {"workload": "chess", "depth": depth, "fen": fen, "rules": "pseudo_legal", **settings}
    config = config_from_dict(given)
    p, copies = WORKLOAD.parameters(config), WORKLOAD.count(config)
    if device is None:
        engine = ReferenceEngine(WORKLOAD, p, copies=copies)
    else:
        engine = DeviceEngine(WORKLOAD, p, device, copies=copies)
    engine.start()
    tick = 1
    while engine.ended() is None:
        engine.run_ticks(tick, tick + 63)
        tick += 64
    names = ("value", "visited", "leaves", "branch_batches", "leaf_batches", "peak", "shortened")
    return engine.arrays(*names, "move", "as_good", "perhaps_as_good")


def counted(found):
    """Return the counts of the first game as the file of others has them."""
    visited = found["visited"][0]
    return {
        "value": int(found["value"][0]),
        "branches": int(visited[:-1].sum()),
        "leaves": int(visited[-1]),
        "total": int(visited.sum()),
        "leaf_batches": int(found["leaf_batches"][0]),
        "branch_batches": int(found["branch_batches"][0]),
        "peak_nodes": int(found["peak"][0]),
    }


RUNS = [(one["fen"], one["depth"], run) for one in COUNTS for run in one["runs"]]
QUICK = [(fen, depth, run) for fen, depth, run in RUNS if depth == 3 and run["batch"] in (40, 1024)]


def checked(device, form, fen, depth, run):
    batch = {"leaves": run["batch"], "branches": run["batch"]}
    found = searched(device, depth, fen, batch=batch, form=form, pool=2**23)
    assert found["shortened"].tolist() == [0]
    assert {"batch": run["batch"], **counted(found)} == run


@pytest.mark.parametrize("form", ["device", "host"])
@pytest.mark.parametrize(("fen", "depth", "run"), QUICK)
def test_counts_of_others(device, form, fen, depth, run):
    checked(device, form, fen, depth, run)


LARGE = [one for one in RUNS if one not in QUICK and one[2]["leaf_batches"] < 400]
"""Without those that are very many supersteps; tests/games/chess/counts.py has all of them."""


@pytest.mark.thorough
@pytest.mark.parametrize(("fen", "depth", "run"), LARGE)
def test_larger_counts_of_others(device, fen, depth, run):
    checked(device, "device", fen, depth, run)


@pytest.mark.parametrize("one", PSEUDO, ids=["start", "kiwipete"])
def test_the_whole_tree_of_others(device, one):
    for known in one["tree"][:4]:
        settings = {"pruning": "none", "batch": {"leaves": 2**16, "branches": 4096}}
        found = searched(device, known["depth"], one["fen"], **settings)
        assert found["value"].tolist() == [known["value"]]
        assert found["visited"].sum() == known["nodes"]
        assert found["visited"][0, -1] == known["leaves"]
        if known["depth"]:
            assert found["as_good"].tolist() == [known["n_best"]]


def test_a_small_pool_and_any_batches_find_the_same(device):
    generator, values = random.Random(4), set()
    for _ in range(6):
        batch = {name: generator.choice((1, 7, 50, 900)) for name in ("leaves", "branches")}
        pool = generator.choice((700, 1000, 20_000))
        found = searched(device, 3, rules="legal", batch=batch, pool=pool)
        values.add(int(found["value"][0]))
    assert values == {19980}


@pytest.mark.thorough
def test_fifty_pairs_of_batches_find_the_same(device):
    """With pruning or without, in the tree of the published original."""
    generator = random.Random(50)
    whole = next(one for one in PSEUDO[0]["tree"] if one["depth"] == 3)
    for _ in range(50):
        sizes = [int(2 ** generator.uniform(3, 14)) for _ in range(2)]
        batch = dict(zip(("leaves", "branches"), sizes, strict=True))
        for pruning in ("none", "alpha_beta"):
            found = searched(device, 3, batch=batch, pruning=pruning)
            assert found["value"].tolist() == [whole["value"]], batch
            if pruning == "none":
                assert found["visited"].sum() == whole["nodes"]


@pytest.mark.thorough
def test_small_batches_of_branches_visit_fewer_nodes(device):
    found = searched(device, 5, batch={"leaves": 7680, "branches": 40})
    assert int(found["value"][0]) == PSEUDO[0]["tree"][5]["value"]
    assert found["visited"].sum() == 1_208_478


def test_mate_stalemate_and_a_single_move(device):
    fens = [
        "7k/8/5K2/8/8/8/6Q1/8 w - - 0 1",  # g2g7 mates
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",  # stalemate
        "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",  # mated
        "k7/p1p1p1p1/P1P1P1P1/8/8/p1p1p1p1/P1P1P1P1/K7 w - - 0 1",  # one move
    ]
    found = searched(device, 2, "start", positions=fens, rules="legal")
    assert found["value"][:3].tolist() == [MATE - 1, 0, -MATE]
    first = [int(move) for move in found["move"]]
    assert decoded(first[0]).name(0) == "g2g7" and decoded(first[3]).name(0) == "a1b1"
    assert first[1] == first[2] == 2**32 - 1


def test_device_functions_are_the_references(device):
    given, _ = boards(400, 5)
    positions = [read_fen(board.fen()) for board in given]
    program = Program(device, "games/chess/evaluation.cl", {})
    arrays = np.array([tuple(one.position) for one in positions], program.struct("position_t"))
    for name in ("material", "gain", "worth"):
        expected = [getattr(evaluation, name)(one.position) for one in positions]
        assert program.function(name)(arrays).tolist() == expected


def test_moves_of_the_device_have_the_references_order(device):
    """The first level of a search has them, in both trees and for both colours."""
    given, _ = boards(60, 6)
    fens = [board.fen() for board in given]
    for rules in ("legal", "pseudo_legal"):
        config = config_from_dict(
            {"workload": "chess", "depth": 1, "positions": fens, "rules": rules, "pruning": "none"}
        )
        p = WORKLOAD.parameters(config)
        engine = DeviceEngine(WORKLOAD, p, device, copies=len(fens))
        engine.start()
        engine.run_ticks(1, 1)
        found = engine.arrays("moves", "positions", "counts")
        for game, root in enumerate(p.roots):
            expected = branch(p, list(root))
            count = int(found["counts"][game, 1])
            assert found["moves"][game, 1 : 1 + count].tolist() == expected
            made = [list(make(p, list(root), move)) for move in expected]
            assert found["positions"][game, 1 : 1 + count].tolist() == made


def test_the_bound_of_moves_holds():
    given, _ = boards(300, 7)
    for board in given:
        position, side, *_ = read_fen(board.fen())
        assert len(pseudo_legal_moves(position, side)) <= most_moves(position, 0)
        for move in moves(position)[:3]:
            after = play(position, move)
            assert len(pseudo_legal_moves(after, 1 - side)) <= most_moves(after, 1)


KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize(
    ("fen", "rules", "depth", "nodes"),
    [
        ("start", "pseudo_legal", 2, 421),
        ("start", "pseudo_legal", 5, 5_104_063),
        ("start", "legal", 4, 206_604),
        (KIWIPETE, "legal", 5, 197_876_243),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "legal", 3, 1),
    ],
)
def test_size_of_the_whole_tree_is_estimated(fen, rules, depth, nodes):
    config = config_from_dict({"workload": "chess", "fen": fen, "rules": rules, "depth": depth})
    assert config.nodes_estimate() == pytest.approx(nodes, rel=0.2)
