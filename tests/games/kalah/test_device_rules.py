"""Do the device functions that hold a rule give, called by themselves, what the reference says?"""

import random

import numpy as np
import pytest
from oracles import MOVES

from reference_py.games.kalah import rules
from reference_py.games.kalah.parameters import BOTTOM, TOP, Parameters
from societies.opencl import Program

FILE = "games/kalah/rules.cl"


def program(device, p):
    return Program(device, FILE, {"PITS": p.pits, "EMPTY_CAPTURE": p.empty_capture})


def packed(board, pits):
    """Return some pits as a long has them: a byte each, the first the lowest."""
    return sum(board[cell] << (8 * i) for i, cell in enumerate(pits))


def seen(p, board, side):
    """Return what a side sees of a board: own and other pits, and the value."""
    own, other = (packed(board, rules.pits_of(p, one)) for one in (side, 1 - side))
    value = rules.evaluate(p, board)
    return own, other, value if side == TOP else -value


def check(device, p, cases):
    """Compare `play`, `next_view` and `is_over` for boards, sides and moves, all at once."""
    built = program(device, p)
    views = np.array([seen(p, board, side) for board, side, _ in cases], built.struct("view_t"))
    first = [rules.pits_of(p, side).start for _, side, _ in cases]
    chosen = np.array([move - start for (_, _, move), start in zip(cases, first, strict=True)])
    after = built.function("play")(views, chosen.astype(np.uint32))
    following = built.function("next_view")(after)
    over = built.function("is_over")(following)
    for i, (board, side, move) in enumerate(cases):
        expected, mover, kind = rules.play(p, board, side, move)
        own, other, value = seen(p, expected, side)
        assert (int(after["own"][i]), int(after["other"][i])) == (own, other), (board, move)
        assert int(after["value"][i]) == value, (board, move)
        store = rules.store_of(p, side)
        assert int(after["banked"][i]) == expected[store] - board[store]
        assert bool(after["again"][i]) == (kind == rules.AGAIN)
        shown = tuple(int(following[name][i]) for name in ("own", "other", "value"))
        assert shown == seen(p, expected, mover)
        assert bool(over[i]) == rules.is_over(p, expected)


def test_moves_of_others(device):
    p = Parameters()
    check(device, p, [(case["board"], case["to_move"], case["move"]) for case in MOVES])


@pytest.mark.thorough
@pytest.mark.parametrize("pits", [1, 2, 3, 6, 7, 8])
@pytest.mark.parametrize("empty_capture", [False, True])
def test_moves_of_random_boards(device, pits, empty_capture):
    """Up to 192 stones: many laps."""
    p, generator = Parameters(pits, empty_capture=empty_capture), random.Random(pits)
    cases = []
    while len(cases) < 300:
        board = [0] * p.cells
        for _ in range(generator.choice([3, 8 * pits, 24 * pits])):
            board[generator.choice(range(p.cells))] += 1
        if generator.random() < 0.3:  # nearly all in one pit
            cell = generator.randrange(p.cells)
            board = [0] * p.cells
            board[cell], board[(cell + 1) % p.cells] = generator.randrange(1, 191), 1
        side = generator.choice([TOP, BOTTOM])
        cases += [(board, side, move) for move in rules.moves(p, board, side)]
    check(device, p, cases)
