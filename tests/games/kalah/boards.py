"""Random boards of Kalah, and what a device finds of them."""

import random

import numpy as np

from reference_py.games.kalah.parameters import Parameters
from societies import config_from_dict
from societies.games.kalah import WORKLOAD
from societies.workload.running.engines import DeviceEngine

SIDES = ("top", "bottom")
RESULTS = ("score", "pit", "nodes", "leaves", "finished")


def config(depth, **settings):
    return config_from_dict({"workload": "kalah", "depth": depth, **settings})


def given(boards):
    """Return boards, (cells, side) each, as a configuration has them."""
    return [{"board": list(board), "to_move": SIDES[side]} for board, side in boards]


def searched(settings, device, ticks=None):
    """Return what a device finds at each depth, of all games: name -> (game, depth)."""
    p = WORKLOAD.parameters(settings)
    engine = DeviceEngine(WORKLOAD, p, device, copies=WORKLOAD.count(settings))
    found = {name: [] for name in RESULTS}
    engine.start()
    for tick in ticks or range(1, settings.depth + 1):
        engine.run_ticks(tick, tick)
        for name, log in engine.logs().items():
            if name in found:
                found[name].append(log[:, 0])
    return {name: np.stack(rows, axis=1) for name, rows in found.items()}


def splits(depth, most=4):
    """Return every split of a depth whose tree has at most this number of levels."""
    return [
        (pre, depth - pre - par + 1, par)
        for par in range(1, min(most, depth + 1) + 1)
        for pre in range(depth - par + 2)
    ]


def plausible(generator, p, stones):
    """Return a board that is not over, and a side."""
    while True:
        board = [0] * p.cells
        for _ in range(stones):
            board[generator.randrange(p.cells)] += 1
        if sum(board[: p.pits]) and sum(board[p.pits + 1 : -1]):
            return board, generator.randrange(2)


def extreme(p):
    """Return boards with one stone in the pits, and with nearly all stones in one of them."""
    boards = []
    for pit in (pit for pit in range(p.cells) if pit % (p.pits + 1) != p.pits):
        alone, heap = [0] * p.cells, [0] * p.cells
        alone[pit] = 1
        heap[pit], heap[(pit + p.pits + 1) % p.cells] = 47, 1
        boards += [(alone, int(pit > p.pits)), (heap, int(pit < p.pits))]
    return boards


def fuzz(seed, count, p=None):
    """Return boards of all kinds: usual numbers of stones, few, and nearly all in one pit."""
    p, generator = p or Parameters(), random.Random(seed)
    stones = [48, 48, 48, 9, 24]
    return [
        *(plausible(generator, p, generator.choice(stones)) for _ in range(count)),
        *extreme(p),
    ]


def flipped(p, board):
    """Return the board as the other side sees it."""
    half = p.pits + 1
    return [*board[half:], *board[:half]]
