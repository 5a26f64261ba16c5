"""What others computed of Kalah; tests/data/games/README.md says who."""

import json
from functools import cache
from pathlib import Path

from reference_py.games.kalah.parameters import Parameters, start_board

DATA = Path(__file__).resolve().parents[2] / "data" / "games"
START = start_board()
RULES = Parameters()


def lines(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


@cache
def initial():
    """Return what is known of the start position, by depth."""
    return {
        one["depth"]: one for one in json.loads((DATA / "kalah-initial.json").read_text())["depths"]
    }


def solved():
    return json.loads((DATA / "kalah-solved.json").read_text())


MOVES, FUZZ = lines("kalah-moves.jsonl"), lines("kalah-fuzz.jsonl")
