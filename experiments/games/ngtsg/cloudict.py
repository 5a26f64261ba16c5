"""How do leaf evaluations and games of Connect6 compare with Cloudict, the program of the paper?

    python experiments/games/ngtsg/cloudict.py PROGRAM [--part evaluations games] [--games 20]
        [--depth 6] [--seconds 2] [--limit 3600] [--device D] [--results FOLDER]

PROGRAM is Cloudict's gameEngine (benchmarks/peers.md says which); it is started in its own folder,
where it finds its patterns and writes a log. "evaluations": nodes of its search a second of
processor time, over its turns from some positions, compared with our leaf evaluations on one core.
These are not the same nodes: most of its nodes are leaves, but it also lists moves, and its
evaluation is another one. "games": each pair of games begins with the same random first turn of
White, with the colours exchanged; Cloudict searches to its depth (6 by default) after its own
search for wins by threats, we have --seconds a turn. After --limit seconds no further game
begins; games that are in the table are not played again.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from rows import append
from run import one_core

import societies
from reference_py.games.connect6.match import random_turn
from reference_py.games.connect6.text import turn_text
from reference_py.primitives.rng import Rng, stream_base
from societies import config_from_dict
from societies.errors import ConfigError
from societies.games.connect6 import WORKLOAD
from societies.games.connect6.config import Connect6PositionConfig
from societies.games.connect6.game import BLACK, WHITE, Connect6Game
from societies.games.connect6.searcher import Connect6Searcher
from societies.games.matches import standing
from societies.workload import Setup

HERE = Path(__file__).resolve().parent
OURS, CLOUDICT = "search", "Cloudict"
SEARCH = {"workload": "connect6", "black": "", "width": 24, "prover": 3}
BATCHES = {"cpu": {"leaves": 1024, "branches": 64}, "gpu": {"leaves": 7680, "branches": 256}}
MOST_DEPTH, MOST_TURNS = 32, 181
POSITIONS = 4
"""Random first turns of White from which evaluations are counted."""

COLUMNS = ("device", "cloudict_depth", "seconds_a_turn", "game", "black", "winner", "end", "turns")
COLUMNS += ("cloudict_nodes", "cloudict_s", "our_nodes", "our_depth", "moves", "load")


class Cloudict:
    """Cloudict's program; its letters are a column and a row, A to S both.

    Parameters
    ----------
    path : the program
    depth : turns that it looks ahead
    """

    def __init__(self, path, depth):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        self._process = subprocess.Popen([path.resolve()], cwd=path.resolve().parent, **pipes)
        self.say(f"depth {depth}")
        self.nodes, self.seconds = 0, 0.0

    def say(self, line):
        """Send a command."""
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def begin(self, turns):
        """Begin a game whose first turns, Black's and then White's, are given."""
        self.nodes, self.seconds = 0, 0.0
        self.say("new white")
        for turn, side in zip(turns, ("black", "white"), strict=False):
            self.say(f"{side} {letters(turn)}")

    def turn(self, turn=None):
        """Return its turn, after that of the opponent or else for the side that is next."""
        self.say("next" if turn is None else f"move {letters(turn)}")
        while line := self._process.stdout.readline():
            words = line.split()
            if words[:1] == ["Node"]:
                self.nodes += int(words[-1])
            elif "Time" in line or "time" in line:
                self.seconds += float(words[-1])
            elif words[:1] == ["move"] and len(words) == 2:
                return points(words[1])
            elif line.startswith("We loss"):
                break
        raise ConfigError("it has no turn")

    def close(self):
        """End the program."""
        self.say("quit")
        self._process.wait()


def letters(turn):
    """Return a turn as Cloudict writes it: column and row of each point, as letters."""
    found = re.findall(r"([A-S])(\d+)", turn_text(turn))
    return "".join(column + chr(ord("A") + int(row) - 1) for column, row in found)


def points(text):
    """Return a turn of Cloudict as we write it."""
    pairs = zip(text[::2], text[1::2], strict=True)
    return "".join(f"{column}{ord(row) - ord('A') + 1}" for column, row in pairs)


def opened(pair):
    """Return a game after Black's first stone and a random turn of White."""
    game = Connect6Game(Connect6PositionConfig(black="", white=""))
    game.push(game.read("J10"))
    game.push(random_turn(game.position, Rng.seed(stream_base(1), 1024, pair)))
    return game


def evaluations(given):
    """Print nodes a second of both."""
    program, nodes, seconds = Cloudict(given.program, given.depth), 0, 0.0
    for pair in range(POSITIONS):
        game = opened(pair)
        program.begin(game.moves)
        program.turn()
        nodes, seconds = nodes + program.nodes, seconds + program.seconds
    program.close()
    core = one_core("connect6", 3)
    row = {
        "program": given.program.name,
        "cloudict_depth": given.depth,
        "cloudict_nodes": nodes,
        "cloudict_nodes_per_s": round(nodes / seconds),
        "our_evaluations_per_s": round(1 / core["evaluate"]),
        "ratio": f"{seconds / nodes / core['evaluate']:.3g}",
        "our_nodes_per_s": round(core["nodes"] / core["seconds"]),
        "device": societies.choose_device("cpu").name,
        "load": f"{os.getloadavg()[0]:.1f}",
    }
    append(given.results / "cloudict-evaluations.csv", tuple(row), row)


def played(number, program, searcher, given):
    """Play a game; return its row."""
    game = opened((number - 1) // 2)
    ours = BLACK if number % 2 else WHITE
    program.begin(game.moves)
    nodes, depths, end, move = 0, [], "", None
    while not game.result and not end and len(game.moves) < MOST_TURNS:
        if game.side == ours:
            found = searcher.find(game.position, MOST_DEPTH, seconds=given.seconds)
            nodes += found.nodes
            depths.append(found.depth)
            move = found.turn
            game.push(move)
            continue
        try:
            game.push(game.read(program.turn(move)))
        except ConfigError as error:
            end, winner = f"Cloudict: {error}", OURS
    if not end:
        end = game.result
        winner = "" if game.winner is None else (OURS if game.winner == ours else CLOUDICT)
    return {
        "cloudict_depth": given.depth,
        "seconds_a_turn": given.seconds,
        "game": number,
        "black": OURS if ours == BLACK else CLOUDICT,
        "winner": winner,
        "end": end,
        "turns": len(game.moves),
        "cloudict_nodes": program.nodes,
        "cloudict_s": f"{program.seconds:.1f}",
        "our_nodes": nodes,
        "our_depth": f"{sum(depths) / max(1, len(depths)):.2f}",
        "moves": game.record(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def games(given):
    """Play games, and print the table."""
    device = societies.choose_device(given.device)
    batch = BATCHES["cpu" if device.kind == "cpu" else "gpu"]
    searcher = Connect6Searcher(
        Setup(WORKLOAD, config_from_dict({**SEARCH, "batch": batch})).on(device)
    )
    searcher.find(opened(0).position, MOST_DEPTH, seconds=2.0)  # builds what a game needs
    table, known, began = given.results / "cloudict.csv", {}, time.perf_counter()
    if table.exists():
        with table.open(newline="") as file:
            known = {int(row["game"]): row for row in csv.DictReader(file)}
    for number in range(1, given.games + 1):
        if number in known:
            continue
        if time.perf_counter() - began > given.limit:
            print(f"the time is over: {given.games - len(known)} games were not played")
            break
        program = Cloudict(given.program, given.depth)
        row = {"device": device.name, **played(number, program, searcher, given)}
        program.close()
        known[number] = row
        append(table, COLUMNS, row)
    margins = [{OURS: 1, CLOUDICT: -1}.get(row["winner"], 0) for _, row in sorted(known.items())]
    margins = margins[: len(margins) // 2 * 2]
    if margins:
        found = standing(margins)
        low, high = found.points_interval
        print(
            f"{OURS} against {CLOUDICT}: {found.wins} wins, {found.ties} ties, {found.losses} "
            f"losses; {found.points:.1%} of the points, 95 % interval {low:.1%} to {high:.1%}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--part", nargs="+", default=["evaluations", "games"])
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--limit", type=float, default=3600.0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    given = parser.parse_args()
    if not os.access(given.program, os.X_OK):
        sys.exit(f"{given.program}: no program; give the path of Cloudict (benchmarks/peers.md)")
    given.results.mkdir(parents=True, exist_ok=True)
    for part in given.part:
        {"evaluations": evaluations, "games": games}[part](given)


if __name__ == "__main__":
    main()
