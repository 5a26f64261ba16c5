"""How fast is Kalah's whole tree, compared with the same rules in C on one core, in one run?

    python benchmarks/kalah.py [--device D] [--depths 4 6 8 10] [--forms expanded] [--append CSV]
    python benchmarks/kalah.py --games 65536 [--device D] [--append CSV]

With --games, random games instead, side by side, compared with those of OpenSpiel's mancala (`pip
install open-spiel`), one after the other from Python: another rule of capture, so speed alone is
compared; nodes are then moves.

The peer is kalah.c, compiled here with ``cc -O3 -march=native``. Both search the start position to
one depth; they take turns, and each row of the table is one measurement. Processor seconds add up
all threads: read these if the machine has other work too. If both do not find the same score, move
and number of nodes, the benchmark ends.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from appending import append

import societies
from societies.games.kalah import WORKLOAD
from societies.workload.running.engines import DeviceEngine

HERE = Path(__file__).resolve().parent
COLUMNS = ("device", "driver", "program", "depth", "nodes", "seconds", "processor_s", "nodes_per_s")
CFLAGS = ("-O3", "-march=native")
ENOUGH = 0.1
"""Seconds for which a short search is repeated."""


def peer(folder):
    """Compile kalah.c; return the program."""
    program = Path(folder) / "kalah"
    subprocess.run(["cc", *CFLAGS, str(HERE / "kalah.c"), "-o", str(program)], check=True)
    return program


def time_peer(program, depth):
    """Return score, move and nodes, seconds, and processor seconds."""
    done = subprocess.run([str(program), str(depth)], check=True, capture_output=True, text=True)
    score, move, nodes, seconds, used = done.stdout.split()
    return (int(score), int(move), int(nodes)), float(seconds), float(used)


def time_ours(engine, depth):
    """Return the same of the device; the kernels are warm."""
    times, began, used = 0, time.perf_counter(), time.process_time()
    while not times or time.perf_counter() - began < ENOUGH:
        engine.run_ticks(depth, depth)
        engine.wait()
        times += 1
    seconds, used = time.perf_counter() - began, time.process_time() - used
    found = {name: int(log[0, 0]) for name, log in engine.logs().items()}
    return (found["score"], found["pit"], found["nodes"]), seconds / times, used / times


def time_open_spiel(games):
    """Return moves, seconds and processor seconds of a number of random games of OpenSpiel."""
    import pyspiel

    game, chance, moves = pyspiel.load_game("mancala"), random.Random(1), 0
    began, used = time.perf_counter(), time.process_time()
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(chance.choice(state.legal_actions()))
            moves += 1
    return (0, 0, moves), time.perf_counter() - began, time.process_time() - used


def time_games(device, games):
    """Return the same of random games on a device; the kernels are warm."""
    from societies.games.kalah.match import WORKLOAD as MATCH

    players = [{"kind": "random"}] * 2
    config = societies.config_from_dict(
        {"workload": "kalah_match", "games": 8, "replicates": games, "players": players}
    )
    engine = DeviceEngine(MATCH, MATCH.parameters(config), device, copies=games)
    engine.start()
    engine.run_ticks(1, 1)
    engine.wait()
    began, used = time.perf_counter(), time.process_time()
    engine.run_ticks(2, 8)
    engine.wait()
    seconds, used = time.perf_counter() - began, time.process_time() - used
    return (0, 0, int(engine.logs()["moves_made"].sum())), seconds, used


def engine_of(device, depth, form, plies):
    """Return an engine whose kernels have been launched once."""
    config = societies.config_from_dict(
        {"workload": "kalah", "depth": depth, "form": form, "plies": plies}
    )
    p = WORKLOAD.parameters(WORKLOAD.fitted(config, device))
    engine = DeviceEngine(WORKLOAD, p, device)
    engine.start()
    engine.run_ticks(depth, depth)
    engine.wait()
    return engine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--depths", type=int, nargs="+", default=[4, 6, 8, 10])
    parser.add_argument("--forms", nargs="+", default=["expanded", "layers"])
    parser.add_argument("--plies", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--games", type=int, default=0)
    parser.add_argument("--append", type=Path, metavar="CSV")
    options = parser.parse_args()
    device = societies.choose_device(options.device)
    print(f"{device}; driver {device.driver}; {os.cpu_count()} processors")

    def note(program, depth, measured):
        found, seconds, used = measured
        row = (device.name, device.driver, program, depth, found[2])
        row = (*row, f"{seconds:.6g}", f"{used:.6g}", f"{found[2] / seconds:.4g}")
        if options.append:
            append(options.append, COLUMNS, [dict(zip(COLUMNS, row, strict=True))])
        rates = f"{found[2] / seconds / 1e6:8.1f} M/s  {found[2] / used / 1e6:8.1f} M/processor s"
        print(f"{program:14} depth {depth:2}  {seconds:.6f} s  {rates}", flush=True)
        return found

    if options.games:
        options.depths = []
        for _ in range(options.repeats):
            note("OpenSpiel", 0, time_open_spiel(2000))
            note("random games", 0, time_games(device, options.games))
    with tempfile.TemporaryDirectory() as folder:
        program = peer(folder)
        for depth in options.depths:
            engines = {
                form: engine_of(device, depth, form, options.plies) for form in options.forms
            }
            for _ in range(options.repeats):
                expected = note("C, one core", depth, time_peer(program, depth))
                for form, engine in engines.items():
                    if note(form, depth, time_ours(engine, depth)) != expected:
                        print(f"{form} found something else than C", file=sys.stderr)
                        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
