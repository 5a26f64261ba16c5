"""What others computed of Connect6; tests/data/games/README.md says who."""

import json
from pathlib import Path

from reference_py.games.connect6.text import point_of

DATA = Path(__file__).resolve().parents[2] / "data" / "games"


def lines(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def stones(case):
    """Return the points of the side to move and those of the other."""
    black, white = ([point_of(one) for one in case[side].split()] for side in ("black", "white"))
    return (black, white) if case["to_move"] == "B" else (white, black)


def bits(points):
    return sum(1 << point for point in points)


CLASSES = json.loads((DATA / "connect6-classes.json").read_text())
EVALUATIONS, TREES = lines("connect6-eval.jsonl"), lines("connect6-tree.jsonl")
WINS = lines("connect6-wins.jsonl")
EVERY_TREE = [case for case in TREES if case["w"] != 48 or case["depth"] < 4]
EVERY_TREE = [case for case in EVERY_TREE if "nodes" in case]
