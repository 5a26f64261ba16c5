"""What others computed of chess; tests/data/games/README.md says who."""

import json
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data" / "games"
DETAIL = ("nodes", "captures", "ep", "castles", "promotions", "checks", "mates")

PERFT = json.loads((DATA / "chess-perft.json").read_text())
PSEUDO = json.loads((DATA / "chess-pseudo-tree.json").read_text())
COUNTS = json.loads((DATA / "ngts-chess-counts.json").read_text())
EVAL = [json.loads(line) for line in (DATA / "chess-eval.jsonl").read_text().splitlines()]
