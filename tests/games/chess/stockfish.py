"""Are as many sequences of moves counted as Stockfish counts, from positions of random games?

    python tests/games/chess/stockfish.py [--positions 200] [--depth 4] [--device D]
        [--stockfish PATH] [--append CSV]

Positions with castles, captures en passant, promotions and checks, as random_boards.py draws them.
Exit code 1 on a difference, which is named.
"""

import argparse
import csv
import shutil
import subprocess
import sys
import time
from pathlib import Path

from random_boards import boards

import societies
from societies import config_from_dict
from societies.games.chess.perft import WORKLOAD
from societies.workload.running.engines import DeviceEngine

AT_ONCE = 10


def counts(fens, depth, device):
    """Return our counts of some positions."""
    given = config_from_dict({"workload": "chess_perft", "depth": depth, "positions": fens})
    config = WORKLOAD.fitted(given, device)
    engine = DeviceEngine(WORKLOAD, WORKLOAD.parameters(config), device, copies=len(fens))
    engine.start()
    for ply in range(1, depth + 1):
        engine.run_ticks(ply, ply)
    return engine.arrays("nodes")["nodes"].tolist()


def counts_of_stockfish(program, fens, depth):
    """Return its counts."""
    lines = "".join(f"position fen {fen}\ngo perft {depth}\n" for fen in fens)
    done = subprocess.run(
        [program], input=f"{lines}quit\n", stdout=subprocess.PIPE, text=True, check=True
    )
    start = "Nodes searched: "
    return [int(li.removeprefix(start)) for li in done.stdout.splitlines() if li.startswith(start)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--stockfish", default=shutil.which("stockfish") or "/usr/games/stockfish")
    parser.add_argument("--append", type=Path)
    given = parser.parse_args()
    device = societies.choose_device(given.device)
    drawn, kinds = boards(20 * given.positions, 11)
    fens = [one.fen() for one in drawn[::20] if any(one.legal_moves)]
    nodes, wrong, began = 0, 0, time.perf_counter()
    for first in range(0, len(fens), AT_ONCE):
        some = fens[first : first + AT_ONCE]
        ours = counts(some, given.depth, device)
        theirs = counts_of_stockfish(given.stockfish, some, given.depth)
        for fen, one, other in zip(some, ours, theirs, strict=True):
            nodes += one
            if one != other:
                wrong += 1
                print(f"{fen}: {one}, and Stockfish counts {other}")
    row = {
        "positions": len(fens),
        "depth": given.depth,
        "nodes": nodes,
        "different": wrong,
        "seconds": f"{time.perf_counter() - began:.0f}",
        "device": device.name,
        "driver": device.driver,
    }
    print(" ".join(f"{name}={value}" for name, value in row.items()), f"of games with {kinds}")
    if given.append:
        new = not given.append.exists()
        with given.append.open("a", newline="") as file:
            table = csv.DictWriter(file, row)
            if new:
                table.writeheader()
            table.writerow(row)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
