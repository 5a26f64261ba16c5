"""Does the reference play Kalah: moves, ends, evaluation, minimax, exactly as others computed?"""

import random

import pytest
from boards import flipped
from oracles import FUZZ, MOVES, RULES, START, initial, solved

from reference_py.games.kalah import parallel, rules
from reference_py.games.kalah.descend import minimax
from reference_py.games.kalah.parameters import BOTTOM, TOP, Parameters, start_board


@pytest.mark.parametrize("case", MOVES, ids=lambda case: case["note"])
def test_moves(case):
    board, following, kind = rules.play(RULES, case["board"], case["to_move"], case["move"])
    assert (board, following, kind) == (case["result"], case["next"], case["kind"])
    assert rules.is_over(RULES, board) == case["game_over"]
    assert rules.evaluate(RULES, board) == case["eval"]
    assert case["move"] in rules.moves(RULES, case["board"], case["to_move"])


@pytest.mark.parametrize("depth", range(7))
def test_the_start_position(depth):
    expected, found = initial()[depth], minimax(RULES, START, TOP, depth)
    assert (found.score, found.pit) == (expected["score"], expected["move"])
    assert (found.nodes, found.leaves) == (expected["nodes"], expected["leaves"])
    assert found.finished == expected["terminals"]


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_random_boards(depth):
    for case in FUZZ:
        found, expected = (
            minimax(RULES, case["board"], case["to_move"], depth),
            case["minimax"][str(depth)],
        )
        assert found.score == expected["score"]
        assert (found.pit, found.nodes) == (expected["move"], expected["nodes"])


def random_board(generator, p, stones):
    """Return a board with ``stones`` stones, thrown anywhere."""
    board = [0] * p.cells
    for _ in range(stones):
        board[generator.randrange(p.cells)] += 1
    return board


@pytest.mark.parametrize("pits", [1, 2, 3, 6, 8])
@pytest.mark.parametrize("empty_capture", [False, True])
def test_sides_are_alike(pits, empty_capture):
    p, generator = Parameters(pits=pits, empty_capture=empty_capture), random.Random(pits)
    for _ in range(30):
        board = random_board(generator, p, generator.randrange(1, 13 * pits))
        top = minimax(p, board, TOP, 3)
        bottom = minimax(p, flipped(p, board), BOTTOM, 3)
        assert bottom.score == -top.score
        assert bottom.pit == (top.pit - pits - 1 if top.pit >= 0 else top.pit)
        assert (bottom.nodes, bottom.finished) == (top.nodes, top.finished)


@pytest.mark.parametrize("pits", [1, 3, 6])
@pytest.mark.parametrize("plies", [0, 1, 3])
def test_the_tree_is_minimax(pits, plies):
    p, generator = Parameters(pits=pits), random.Random(plies)
    for _ in range(20):
        board, side = random_board(generator, p, 8 * pits), generator.randrange(2)
        nodes = parallel.generate(p, board, side, plies)
        answers = parallel.evaluate_nodes(p, nodes, plies)
        parallel.reduce_nodes(p, nodes, answers, plies)
        assert answers[0] == minimax(p, board, side, plies)


def test_stones_are_never_lost():
    generator = random.Random(1)
    for pits in (1, 2, 6, 8):
        p = Parameters(pits=pits, empty_capture=True)
        for _ in range(200):
            board, side = random_board(generator, p, 12 * pits), generator.randrange(2)
            for pit in rules.moves(p, board, side):
                after, _, _ = rules.play(p, board, side, pit)
                assert sum(after) == sum(board) == sum(rules.totals(p, after))


def margin(p, board, side, known):
    """Return what TOP gets more than BOTTOM if both play as well as they can."""
    key = (tuple(board), side)
    if key not in known:
        if rules.is_over(p, board):
            top, bottom = rules.totals(p, board)
            known[key] = top - bottom
        else:
            best = max if side == TOP else min
            known[key] = best(
                margin(p, *rules.play(p, board, side, pit)[:2], known)
                for pit in rules.moves(p, board, side)
            )
    return known[key]


@pytest.mark.parametrize("case", [one for one in solved() if one["pits"] * one["seeds"] <= 6])
def test_small_boards_are_worth_what_is_published(case):
    p = Parameters(case["pits"], case["seeds"], case["empty_capture"])
    assert margin(p, start_board(p.pits, p.stones), TOP, {}) == case["first_player_margin"]
