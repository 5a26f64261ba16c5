"""What others computed of Havannah; tests/data/games/README.md says who."""

import json
from pathlib import Path

from reference_py.games.havannah.board import board_of, cell_of
from reference_py.games.havannah.parameters import BLACK, BRIDGE, FORK, RING, WHITE

DATA = Path(__file__).resolve().parents[2] / "data" / "games"
BITS = {"ring": RING, "bridge": BRIDGE, "fork": FORK}
SIDES = {"W": WHITE, "B": BLACK, "draw": None}


def lines(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def whole(name):
    return json.loads((DATA / name).read_text())


GAMES, POSITIONS = lines("havannah-games.jsonl"), lines("havannah-positions.jsonl")
GEOMETRY = whole("havannah-geometry.json")
STATISTICS = {one["size"]: one for one in whole("havannah-random-stats.json")}


def bits(reasons):
    """Return reasons in words as a number."""
    return sum(BITS[one] for one in reasons)


def played(game):
    """Return the stones of a game: (cell, side) in order, a swapped first one being black."""
    board, names = board_of(game["size"]), game["moves"].split()
    swapped = names[1] == "swap"
    cells = [cell_of(board, name) for name in names if name != "swap"]
    if not swapped:
        return [(cell, (WHITE, BLACK)[i % 2]) for i, cell in enumerate(cells)]
    return [(cell, (BLACK, WHITE)[i % 2]) for i, cell in enumerate(cells)]
