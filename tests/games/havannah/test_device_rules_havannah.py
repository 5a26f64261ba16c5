"""Do the tests for the winner find on a device, move after move, what others and the rules say?"""

from pathlib import Path

import numpy as np
import pytest
from havannah_oracles import GAMES, POSITIONS, bits, played, whole

from reference_py.games.havannah.board import board_of, cell_of
from reference_py.games.havannah.parameters import BLACK, WHITE
from reference_py.games.havannah.playout import REASONS, RESULT
from societies import config_from_dict
from societies.games.havannah import WORKLOAD, board_tables
from societies.opencl import Program
from societies.workload.running.engines import DeviceEngine

HERE = Path(__file__).parent


def program(device, size, width, find=0):
    macros = {"SIZE": size, "WIDTH": width, "WINNER_FLOOD": 2, "WINNER_OFFLINE": 1, "WINNER": 1}
    macros |= {"FIND_HALVING": 0, "FIND_PLAIN": 1, "FIND_COMPRESSION": 2, "FIND": find}
    return Program(device, HERE / "winners.cl", macros=macros)


def decided(device, size, games, width, find):
    """Return the reasons after each move by forest and by flood, and the outcomes of all games."""
    board, known = board_of(size), board_tables(size)
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


def settled(device, size, stones):
    """Return the reasons that stones of one side, all at once, make: (position, cell) of 0 or 1."""
    config = config_from_dict(
        {"workload": "havannah", "size": size, "candidates": ["A1"], "batch": 1}
    )
    p = WORKLOAD.parameters(config)
    engine = DeviceEngine(WORKLOAD, p, device, copies=len(stones), only=("begin",))
    state = engine.state() | {"board": (WHITE * stones[:, None]).astype(np.uint8)}
    state["next"][:] = BLACK
    engine.put(state)
    for step in engine.steps(0):
        engine.step(step, 0)
    return engine.state()["settled"][:, 0] >> REASONS & 7


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
    board = board_of(size)
    stones = np.zeros((len(here), board.cells), np.uint8)
    for row, (names, _) in zip(stones, here, strict=True):
        row[[cell_of(board, name) for name in names]] = 1
    assert settled(device, size, stones).tolist() == [bits for _, bits in here]


def symmetries(board):
    """Return the twelve ways to turn and mirror a board: of each cell, where it comes to."""
    cells, middle = {place: cell for cell, place in enumerate(board.places)}, board.size - 1
    ways = []
    for mirrored in (False, True):
        places = [(x - middle, y - middle) for x, y in board.places]
        places = [(y, x) for x, y in places] if mirrored else places
        for _ in range(6):
            places = [(x - y, x) for x, y in places]
            ways.append([cells[x + middle, y + middle] for x, y in places])
    return ways


@pytest.mark.thorough
def test_the_smallest_board_is_solved_line_by_line(device):
    """The device judges all sets of stones of a side; every line of play is followed from there.

    Positions that are turned or mirrored are one. A move that wins is made, one that would win for
    the other side is prevented; all else is tried.
    """
    board, known = board_of(3), whole("havannah-solved-3.json")["value"]
    cells, half, part = range(19), 2**10, 2**16
    won = np.concatenate(
        [
            settled(device, 3, np.arange(first, first + part)[:, None] >> np.array(cells) & 1) != 0
            for first in range(0, 2**19, part)
        ]
    ).tolist()
    images = [
        [[sum(1 << way[c] for c in cells if k >> c & 1) for k in range(half)],
         [sum(1 << way[c + 10] for c in range(9) if k >> c & 1) for k in range(half // 2)]]
        for way in symmetries(board)
    ]  # fmt: skip
    values = {}

    def value(own, other):
        """Return what a position is worth to who moves next and has the stones ``own``."""
        position = min(
            (low[own % half] | high[own // half], low[other % half] | high[other // half])
            for low, high in images
        )
        if position not in values:
            empty = [c for c in cells if not (own | other) >> c & 1]
            threats = [c for c in empty if won[other | 1 << c]]
            if any(won[own | 1 << c] for c in empty):
                values[position] = 1
            elif len(threats) > 1:
                values[position] = -1
            else:
                worth = 0 if not empty else -1
                for c in threats or empty:
                    worth = max(worth, -value(other, own | 1 << c))
                    if worth == 1:
                        break
                values[position] = worth
        return values[position]

    assert [-value(0, 1 << cell) for cell in cells] == known
