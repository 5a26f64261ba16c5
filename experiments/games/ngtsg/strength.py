"""How strong is the search of chess at equal time: against Stockfish, and against itself on a core?

    python experiments/games/ngtsg/strength.py [--games 40] [--seconds 0.1] [--device D]
        [--only skill-0 skill-3 skill-5 one-core rounds deepening both plies] [--stockfish PATH]
        [--results FOLDER]

Every match has as many games, two for each random opening of four moves with the colours exchanged,
and the same time for each move of both players. "One core" is the same search in a process of its
own, by the Universal Chess Interface, on the CPU's OpenCL device with one thread. In "rounds",
"deepening" and "both" the first player has these keys, by which a search leaves out nodes, and the
second, on the same device in this process, has not. "plies" searches
positions after ten random moves with both for that time, and compares the plies completed.
A match that was played is not played again. Rows are appended to strength.csv; the games are
written next to it in portable game notation.
"""

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rows import append

import societies
from reference_py.games.chess.fen import START, read_fen, write_fen
from reference_py.games.chess.match import after, end_of
from reference_py.games.chess.rules import moves
from societies import config_from_dict, open_results
from societies.games.chess import WORKLOAD
from societies.games.chess.config import ChessConfig
from societies.games.chess.match import write_pgn
from societies.games.chess.searcher import MOST_DEPTH, PREPARED, ChessSearcher
from societies.games.matches import standing, student
from societies.games.ngtsg.config import BatchConfig
from societies.workload import Setup

HERE = Path(__file__).resolve().parent
SKILLS = {"skill-0": 0, "skill-3": 3, "skill-5": 5}
ONE_CORE, PLIES = "one-core", "plies"
KEYS = {
    "rounds": {"rounds": [1]},
    "deepening": {"deepening": 1},
    "both": {"rounds": [1], "deepening": 1},
}
"""Keys of the first player of the match of each name."""

ONE_CORE_BATCH = {"leaves": 256, "branches": 64}
RANDOM_MOVES = 10
COLUMNS = (
    *("match", "first", "second", "games", "wins", "ties", "losses", "points", "low", "high"),
    *("plies_first", "plies_second", "plies_won", "plies_half", "positions", "device", "load"),
)
OPENING = 4


def batch_of(device):
    """Return batches that suit a device: a GPU wants many nodes at a time."""
    return {"leaves": 1024, "branches": 64} if device.kind == "cpu" else {
        "leaves": 7680, "branches": 256
    }  # fmt: skip


def opponent(name, given):
    """Return the second player of a match."""
    if name in SKILLS:
        options = [{"name": "Skill Level", "value": str(SKILLS[name])}]
        options.append({"name": "Threads", "value": "1"})
        return {"kind": "uci", "path": given.stockfish, "options": options}
    if name in KEYS:
        return {"kind": "search"}
    path = (
        "env POCL_MAX_PTHREAD_COUNT=1 societies play games/chess/play --device cpu --protocol uci"
    )
    return {"kind": "uci", "path": path, "options": [{"name": "Batch", "value": "256"}]}


def searcher_of(device, batch):
    """Return a search that is ready to run against a clock."""
    searcher = ChessSearcher(Setup(WORKLOAD, ChessConfig(batch=BatchConfig(**batch))).on(device))
    searcher.prepare(PREPARED)
    searcher.find(read_fen(START), MOST_DEPTH, seconds=1.0)
    return searcher


def answering(seconds):
    """Answer each position, a line, with the plies that one core completes in a time."""
    searcher = searcher_of(societies.choose_device("cpu"), ONE_CORE_BATCH)
    print("ready", flush=True)
    for line in sys.stdin:
        found = searcher.find(read_fen(line.strip()), MOST_DEPTH, seconds=seconds)
        print(found.depth, flush=True)


def positions(number):
    """Return positions after some random moves each."""
    drawn, found = random.Random(1), []
    while len(found) < number:
        boards = [read_fen(START)]
        while len(boards) <= RANDOM_MOVES and end_of(boards) is None:
            boards.append(after(boards[-1], drawn.choice(moves(boards[-1].position))))
        if end_of(boards) is None:
            found.append(write_fen(boards[-1]))
    return found


def plies(device, given):
    """Compare the plies that both complete of the same positions, one after the other."""
    command = [sys.executable, __file__, "--plies", "--seconds", str(given.seconds)]
    environment = {**os.environ, "POCL_MAX_PTHREAD_COUNT": "1"}
    ours, core = [], []
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()
        searcher = searcher_of(device, batch_of(device))
        for fen in positions(2 * given.games):
            board = read_fen(fen)
            ours.append(searcher.find(board, MOST_DEPTH, seconds=given.seconds).depth)
            process.stdin.write(fen + "\n")
            process.stdin.flush()
            core.append(int(process.stdout.readline()))
        process.stdin.close()
    won = np.array(ours) - np.array(core)
    half = student(len(won) - 1) * float(won.std(ddof=1)) / len(won) ** 0.5
    return {
        "match": PLIES,
        "first": "search",
        "second": "the same on one core",
        "plies_first": f"{np.mean(ours):.2f}",
        "plies_second": f"{np.mean(core):.2f}",
        "plies_won": f"{won.mean():+.2f}",
        "plies_half": f"{half:.2f}",
        "positions": len(won),
        **where(device),
    }


def where(device):
    """Return on what is measured, and how much else the machine has to do."""
    name = f"{device.name}; driver {device.driver}; {os.cpu_count()} cores"
    return {"device": name, "load": f"{os.getloadavg()[0]:.1f}"}


def played(name, device, given):
    """Play a match, and return its row."""
    first = {"kind": "search", "seconds": given.seconds, **KEYS.get(name, {})}
    second = {**opponent(name, given), "seconds": given.seconds}
    config = config_from_dict(
        {"workload": "chess_match", "games": given.games, "opening": OPENING, "seed": 1}
        | {"players": [first, second], "batch": batch_of(device)}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "match.h5"
        societies.run(config, out=path, device=given.device, allow_programs=True)
        with open_results(path) as results:
            found = standing(results.margin.values)
            titles = str(results.attrs["first_player"]), str(results.attrs["second_player"])
            write_pgn(results, given.results / f"{name}.pgn")
    return {
        "match": name,
        "first": titles[0],
        "second": titles[1].replace("societies play ", "our search: societies play "),
        "games": found.games,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "points": f"{found.points:.3f}",
        "low": f"{found.points_interval[0]:.3f}",
        "high": f"{found.points_interval[1]:.3f}",
        **where(device),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", nargs="+", default=[*SKILLS, ONE_CORE, *KEYS, PLIES])
    parser.add_argument("--stockfish", default="stockfish")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--plies", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    device = societies.choose_device("cpu" if given.plies else given.device)
    if given.plies:
        answering(given.seconds)
        return
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given.results.mkdir(parents=True, exist_ok=True)
    table = given.results / "strength.csv"
    known = set()
    if table.exists():
        with table.open(newline="") as file:
            known = {(row["match"], row["device"].split(";")[0]) for row in csv.DictReader(file)}
    for name in given.only:
        if (name, device.name) in known:
            print(f"{name}: known")
            continue
        row = plies(device, given) if name == PLIES else played(name, device, given)
        append(table, COLUMNS, row)


if __name__ == "__main__":
    main()
