"""How many random games of Havannah a second are played, compared with Castro and OpenSpiel?

    python benchmarks/havannah.py [--device D] [--sizes 10] [--seconds 3] [--castro PROGRAM]
                                  [--uct 100000] [--limit 300] [--append CSV] [--work CSV]

Games from the empty board. The peer is OpenSpiel from Python (`pip install open-spiel`). A peer
that is not installed is left out, and so is its ratio. All take turns, and each row of the table is
one measurement. Processor seconds add up all threads: read these if the machine has other work too.
With --uct, playouts a second of our search as well, of a move with that number; and with --castro,
a program of the Go Text Protocol (peers.md), compared with its search without its knowledge of the
game and rapid action value estimates, in one thread. After --limit seconds no further repeat
begins. A launch of the search with its tree on the host plays --leaves leaves out, --each times
each: 2,048 playouts on a CPU, 131,072 on a GPU, which needs some 100,000 work-items to be busy.
That with its trees on the device has one for each processor of a CPU and a playout a leaf, on a GPU
256 and 64.

What a playout must do is counted with --work CSV, by the reference with disjoint sets, and nothing
else is done then: draws, each a product of 64 bits, stones, each with three rows of bits read,
finds, the steps of these to a root, and unions. README.md has what it costs.
"""

import argparse
import csv
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import societies
from reference_py.games.havannah.board import board_of
from reference_py.games.havannah.forest import Forest
from reference_py.games.havannah.match import Strength
from reference_py.games.havannah.parameters import WHITE
from reference_py.games.havannah.playout import REASONS, playout, stream_of
from societies.games.havannah import WORKLOAD
from societies.games.havannah.players import chosen_move, evaluator
from societies.games.havannah.position import HavannahGame
from societies.workload.running.engines import DeviceEngine

COLUMNS = ("device", "driver", "program", "size", "playouts", "seconds", "processor_s")
FORMS = ("forest", "offline")
FINDS = ("plain", "halving", "compression")
WORK = ("size", "find", "playouts", "draws", "stones", "finds", "steps", "unions")
PEERS = ("OpenSpiel",)
CASTRO_PLAIN = "-e 0.5 -f 0 -a 0 -t 1"
"""Castro's parameters of plain UCT: exploration, no estimates of rapid action values, no bonus."""


def time_open_spiel(size, seconds):
    """Return games, seconds and processor seconds of OpenSpiel; None if it is not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    game, chance, games = pyspiel.load_game(f"havannah(board_size={size})"), random.Random(1), 0
    began, used = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(chance.choice(state.legal_actions()))
        games += 1
    return games, time.perf_counter() - began, time.process_time() - used


class Ours:
    """Playouts on a device; the kernels are warm."""

    def __init__(self, device, size, winner, find):
        cells = 3 * size * (size - 1) + 1
        batch = max(256, (4_000_000 if device.kind != "cpu" else 150_000) // cells)
        config = societies.config_from_dict(
            {"workload": "havannah", "size": size, "batch": batch, "winner": winner, "find": find}
        )
        self._engine = DeviceEngine(WORKLOAD, WORKLOAD.parameters(config), device)
        self._batch, self._next = batch * cells, 1
        self._engine.start()
        self.measure(0.0)

    def measure(self, seconds):
        """Return playouts, seconds and processor seconds."""
        done, began, used = 0, time.perf_counter(), time.process_time()
        while True:
            self._engine.run_ticks(self._next, self._next)
            self._engine.wait()
            self._next, done = self._next + 1, done + self._batch
            if time.perf_counter() - began >= seconds:
                return done, time.perf_counter() - began, time.process_time() - used


def time_castro_uct(program, size, playouts):
    """Return the same of one move of Castro's search; None if no program is given."""
    if program is None:
        return None
    lines = (f"boardsize {size}", f"player_params {CASTRO_PLAIN}", f"time -i {playouts} -m 60 -g 0")
    text = "\n".join((*lines, "genmove w", "quit", ""))
    before = os.times()
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    after = os.times()
    runs, milliseconds = re.search(r"Finished (\d+) runs in (\d+) msec", done.stderr).groups()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    return int(runs), max(1, int(milliseconds)) / 1000, used


def trees_of(device, playouts):
    """Return our search with its trees on a device."""
    if device.kind == "cpu":
        return Strength("trees", playouts, each=1, leaves=512, trees=os.cpu_count() or 1)
    return Strength("trees", playouts, each=64, leaves=8, trees=256, nodes=1024)


def time_uct(device, size, strength):
    """Return the same of one move of our search from the empty board."""
    evaluate = evaluator(device, size, strength, 1)
    chosen_move(HavannahGame(size), replace(strength, playouts=1), evaluate, None, 0)
    began, used = time.perf_counter(), time.process_time()
    found = chosen_move(HavannahGame(size), strength, evaluate, None, 0)
    return found.playouts, time.perf_counter() - began, time.process_time() - used


class CountedForest(Forest):
    """Groups of stones that count what is done to them, their copies' work included."""

    def __init__(self, board, find, work):
        super().__init__(board, find)
        self._work = work

    def copy(self):
        """Return an empty forest: playouts here begin on the empty board."""
        return CountedForest(self.board, self.find, self._work)

    def root(self, cell):
        """Return the root of a stone's group."""
        self._work["finds"] += 1
        at = cell
        while self._parent[at] != at:
            at = self._parent[at]
            self._work["steps"] += 1
        return super().root(cell)

    def _unite(self, a, b):
        self._work["unions"] += a != b
        return super()._unite(a, b)


def work_of(size, find, playouts):
    """Return a row of what playouts from the empty board do on the average."""
    config = societies.config_from_dict({"workload": "havannah", "size": size, "winner": "forest"})
    p, work = WORKLOAD.parameters(config), dict.fromkeys(WORK[3:], 0)
    forest = CountedForest(board_of(size), find, work)
    for number in range(playouts):
        end = playout(p, forest, WHITE, stream_of(p, SimpleNamespace(index=0), number))
        stones = end & (2**REASONS - 1)
        work["stones"] += stones
        work["draws"] += min(stones, p.cells - 1)  # the last cell of a board is not drawn
    return size, find, playouts, *(f"{number / playouts:.2f}" for number in work.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--find", default="halving")
    parser.add_argument("--castro", type=Path, metavar="PROGRAM")
    parser.add_argument("--uct", type=int, default=0)
    parser.add_argument("--each", type=int, default=0, help="0: 32 on a CPU, 256 on a GPU")
    parser.add_argument("--leaves", type=int, default=0, help="0: 64 on a CPU, 512 on a GPU")
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--append", type=Path, metavar="CSV")
    parser.add_argument("--work", type=Path, metavar="CSV")
    options = parser.parse_args()
    if options.work:
        rows = [work_of(size, find, 1000) for size in options.sizes for find in FINDS]
        for row in rows:
            print(", ".join(f"{name} {what}" for name, what in zip(WORK, row, strict=True)))
        with options.work.open("w", newline="") as file:
            csv.writer(file).writerows([WORK, *rows])
        return 0
    device = societies.choose_device(options.device)
    print(f"{device}; driver {device.driver}; {os.cpu_count()} processors")
    each, leaves = (32, 64) if device.kind == "cpu" else (256, 512)
    each, leaves = options.each or each, options.leaves or leaves
    rows, rates, began = [], {}, time.perf_counter()

    def note(program, size, measured):
        if measured is None:
            return
        playouts, seconds, used = measured
        rows.append((device.name, device.driver, program, size, *measured))
        rates.setdefault((program, size), []).append(playouts / seconds)
        used = max(used, 1e-3)
        each = f"{playouts / seconds:12,.0f} playouts/s {playouts / used:12,.0f} per processor s"
        print(f"{program:20} size {size:2} {each}", flush=True)

    for size in options.sizes:
        ours = {form: Ours(device, size, form, options.find) for form in FORMS}
        for repeat in range(options.repeats):
            if repeat and time.perf_counter() - began > options.limit:
                print(f"the time is over after {repeat} of {options.repeats} repeats")
                break
            for form, one in ours.items():
                note(form, size, one.measure(options.seconds))
            note("OpenSpiel", size, time_open_spiel(size, min(2.0, options.seconds)))
            if options.uct:
                host = Strength("uct", options.uct, each=each, leaves=leaves)
                note("UCT", size, time_uct(device, size, host))
                trees = trees_of(device, options.uct)
                note("UCT in trees", size, time_uct(device, size, trees))
                theirs = time_castro_uct(options.castro, size, min(options.uct, 100_000))
                note("Castro UCT, one", size, theirs)
    for (program, size), found in rates.items():
        peers = {
            name: sorted(rates[name, size])[len(rates[name, size]) // 2]
            for name in (*PEERS, "Castro UCT, one")
            if (name, size) in rates and (name in PEERS) == (program in FORMS)
        }
        middle = sorted(found)[len(found) // 2]
        said = ", ".join(f"{middle / rate:.2f} x {name}" for name, rate in peers.items())
        if said and (program in FORMS or program in ("UCT", "UCT in trees")):
            print(f"{program}, size {size}: {middle:,.0f} playouts/s: {said}")
    if options.append:
        new = not options.append.exists()
        with options.append.open("a", newline="") as file:
            table = csv.writer(file)
            table.writerows([COLUMNS, *rows] if new else rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
