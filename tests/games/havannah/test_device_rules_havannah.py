"""Do the tests for the winner find on a device, move after move, what others and the rules say?"""

from pathlib import Path

import numpy as np
import pytest
from havannah_oracles import GAMES, POSITIONS, bits, played

from reference_py.games.havannah.board import board_of, cell_of
from reference_py.games.havannah.parameters import BLACK, WHITE
from reference_py.games.havannah.playout import REASONS, RESULT
from societies import config_from_dict
from societies.games.havannah import WORKLOAD, tables
from societies.opencl import Program
from societies.workload.engines import DeviceEngine

HERE = Path(__file__).parent


def program(device, size, width, find=0):
    macros = {"SIZE": size, "WIDTH": width, "WINNER_FLOOD": 2, "WINNER_OFFLINE": 1, "WINNER": 1}
    macros |= {"FIND_HALVING": 0, "FIND_PLAIN": 1, "FIND_COMPRESSION": 2, "FIND": find}
    return Program(device, HERE / "winners.cl", macros=macros)


def decided(device, size, games, width, find):
    """Return the reasons after each move by forest and by flood, and the outcomes of all games."""
    board, known = board_of(size), tables(size)
    spots, padded = known["spot_of"], 2 * size + 1
    order = np.zeros((len(games), board.cells), np.uint16)
    counts, taken = np.zeros(len(games), np.uint16), np.zeros(len(games), np.uint16)
    for i, game in enumerate(games):
        cells = [cell for cell, _ in played(game)]
        last = [cells.pop(0)] if "swap" in game["moves"] else []
        counts[i] = len(cells)
        rest = [cell for cell in range(board.cells) if cell not in [*cells, *last]]
        order[i] = spots[[*cells, *rest, *last]]
        taken[i] = spots[last[0]] if last else 0
    found = {
        "by_forest": device.zeros((len(games), board.cells), np.uint8),
        "by_flood": device.zeros((len(games), board.cells), np.uint8),
        "by_offline": device.zeros(len(games), np.uint16),
    }
    program(device, size, width, find).kernel("winners")(
        order=device.array(order),
        counts=device.array(counts),
        taken=device.array(taken),
        masks=device.array(known["masks"]),
        marks=device.array(known["marks"]),
        first=device.zeros((len(games), 2 * padded), np.uint32),
        parents=device.zeros((len(games), 32 * padded), np.uint16),
        **found,
        global_size=len(games),
        local_size=1,
    )
    return {name: array.get() for name, array in found.items()}


@pytest.mark.parametrize(
    ("size", "width", "find"),
    [(10, 1, 2)]
    + [
        pytest.param(size, width, find, marks=pytest.mark.thorough)
        for size, width, find in (
            (3, 1, 1),
            (4, 16, 0),
            (5, 8, 2),
            (6, 16, 1),
            (7, 1, 2),
            (8, 8, 0),
            (9, 16, 1),
        )
    ],
)
def test_games(device, size, width, find):
    games = [game for game in GAMES if game["size"] == size]
    found = decided(device, size, games, width, find)
    for i, game in enumerate(games):
        made = len(played(game)) - ("swap" in game["moves"])
        expected = [0] * (made - 1) + [bits(game["reasons"])]
        assert found["by_forest"][i, :made].tolist() == expected, game["id"]
        assert found["by_flood"][i, :made].tolist() == expected, game["id"]
        end = int(found["by_offline"][i])
        assert (end % 2**REASONS, end >> REASONS & 7) == (made, expected[-1]), game["id"]
        if expected[-1]:  # the outcome is that of who moved last before: won by the second side
            last_by_first = made % 2 == 1
            assert end >> RESULT == (2 if last_by_first else 1), game["id"]


def settled(device, size, positions):
    """Return the reasons of boards that one side's stones, all at once, make."""
    board = board_of(size)
    config = config_from_dict(
        {"workload": "havannah", "size": size, "candidates": ["A1"], "batch": 1}
    )
    p = WORKLOAD.parameters(config)
    engine = DeviceEngine(WORKLOAD, p, device, copies=len(positions), only=("begin",))
    stones = np.zeros((len(positions), 1, board.cells), np.uint8)
    for i, names in enumerate(positions):
        stones[i, 0, [cell_of(board, name) for name in names]] = WHITE
    state = engine.state() | {"board": stones}
    state["next"][:] = BLACK
    engine.put(state)
    for step in engine.steps(0):
        engine.step(step, 0)
    return (engine.state()["settled"][:, 0] >> REASONS & 7).tolist()


@pytest.mark.parametrize(
    "size", [5, *(pytest.param(size, marks=pytest.mark.thorough) for size in (4, 6, 7, 8, 9, 10))]
)
def test_positions(device, size):
    here = [
        (one[colour], bits(one[f"{colour}_reasons"]))
        for one in POSITIONS
        if one["size"] == size
        for colour in ("white", "black")
    ]
    assert here
    assert settled(device, size, [names for names, _ in here]) == [bits for _, bits in here]
