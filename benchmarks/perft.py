"""How fast are moves of chess counted, compared with the best available programs on one core?

    python benchmarks/perft.py [--device D] [--depths 5 6] [--repeats 3] [--append CSV]
    python benchmarks/perft.py --perft PROGRAM ... [--stockfish PROGRAM]

Peers are Stockfish (`go perft`; Debian: `apt install stockfish`), python-chess (two plies less, at
most 5, since it is plain Python), and with --perft any programs that print the number of nodes last
when they are handed a FEN and a depth, their start included (benchmarks/peers.md names jw1912/perft
and bulletchess). None of them has a hash table here. A peer that is not there has no rows. Ours and
the peers take turns; if a count differs, the benchmark ends.
Processor seconds add up all threads: read these if the machine has other work too.
"""

import argparse
import csv
import os
import re
import resource
import shutil
import subprocess
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import societies
from reference_py.games.chess.fen import START
from societies.games.chess.perft import WORKLOAD
from societies.workload.running.engines import DeviceEngine

COLUMNS = ("position", "depth", "program", "device", "driver", "nodes", "seconds", "processor_s")
POSITIONS = {
    "start": START,
    "kiwipete": "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
}
STOCKFISH = shutil.which("stockfish") or "/usr/games/stockfish"
ENOUGH = 0.2
"""Seconds for which a short count is repeated."""


def children_seconds():
    """Return the processor seconds of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def time_program(command, text=""):
    """Return what a program prints, seconds and processor seconds."""
    before, began = children_seconds(), time.perf_counter()
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout, time.perf_counter() - began, children_seconds() - before


def processor_seconds(process):
    """Return the processor seconds of a program that runs, to a hundredth."""
    words = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def time_stockfish(program, fen, depth):
    """Return nodes, seconds and processor seconds, without those of its start."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([program], text=True, bufsize=1, **pipes) as process:
        process.stdin.write(f"position fen {fen}\nisready\n")
        while process.stdout.readline().strip() != "readyok":
            pass
        before, began = processor_seconds(process), time.perf_counter()
        process.stdin.write(f"go perft {depth}\n")
        while not (line := process.stdout.readline()).startswith("Nodes searched"):
            pass
        seconds, used = time.perf_counter() - began, processor_seconds(process) - before
        process.stdin.write("quit\n")
    return int(line.split()[-1]), seconds, used


def time_other(program, fen, depth):
    """Return the same of a program that prints the number of nodes last."""
    out, seconds, used = time_program([program, fen, str(depth)])
    return int(re.findall(r"\d+", out)[-1]), seconds, used


def time_python_chess(fen, depth):
    """Return the same of python-chess, whose moves of the last ply are counted, not made."""
    import chess

    def perft(board, plies):
        if plies == 1:
            return board.legal_moves.count()
        total = 0
        for move in board.legal_moves:
            board.push(move)
            total += perft(board, plies - 1)
            board.pop()
        return total

    began, used = time.perf_counter(), time.process_time()
    nodes = perft(chess.Board(fen), depth)
    return nodes, time.perf_counter() - began, time.process_time() - used


def engine_of(device, fen, depth):
    """Return an engine whose kernels have been launched once."""
    config = societies.config_from_dict({"workload": "chess_perft", "fen": fen, "depth": depth})
    engine = DeviceEngine(WORKLOAD, WORKLOAD.parameters(WORKLOAD.fitted(config, device)), device)
    engine.start()
    engine.run_ticks(depth, depth)
    engine.wait()
    return engine


def time_ours(engine, fen, depth):
    """Return nodes, seconds and processor seconds of the device; the kernels are warm."""
    times, began, used = 0, time.perf_counter(), time.process_time()
    while not times or time.perf_counter() - began < ENOUGH:
        engine.run_ticks(depth, depth)
        engine.wait()
        times += 1
    seconds, used = time.perf_counter() - began, time.process_time() - used
    return int(engine.logs()["nodes"][0, 0]), seconds / times, used / times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--depths", type=int, nargs="+", default=[5, 6])
    parser.add_argument("--positions", nargs="+", default=list(POSITIONS), choices=POSITIONS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--perft", nargs="+", default=[], metavar="PROGRAM", help="each takes a FEN and a depth"
    )
    parser.add_argument("--stockfish", default=STOCKFISH, metavar="PROGRAM")
    parser.add_argument("--append", type=Path, metavar="CSV")
    options = parser.parse_args()
    device = societies.choose_device(options.device)
    print(f"{device}; driver {device.driver}; {os.cpu_count()} processors")
    rows = []
    for name in options.positions:
        fen = POSITIONS[name]
        for depth in options.depths:
            ours = partial(time_ours, engine_of(device, fen, depth))
            programs = {"Societies": (depth, ours)}
            if Path(options.stockfish).exists():
                programs["Stockfish"] = (depth, partial(time_stockfish, options.stockfish))
            for program in options.perft:
                programs[Path(program).name] = (depth, partial(time_other, program))
            if find_spec("chess"):
                programs["python-chess"] = (min(depth - 2, 5), time_python_chess)
            known = {}
            for _ in range(options.repeats):
                for program, (plies, timed) in programs.items():
                    if plies < 1:
                        continue
                    nodes, seconds, used = timed(fen, plies)
                    if known.setdefault(plies, nodes) != nodes:
                        raise SystemExit(f"{program}: {nodes} nodes, others {known[plies]}")
                    here = program == "Societies"
                    where = (str(device.name), device.driver) if here else ("one core", "")
                    rows.append((name, plies, program, *where, nodes, seconds, used))
                    print(
                        f"{name} {plies} {program:12} {nodes:>13,} {seconds:9.4f} s "
                        f"{used:9.4f} s of processors {nodes / seconds / 1e6:10.2f} M/s",
                        flush=True,
                    )
    if options.append:
        new = not options.append.exists()
        with options.append.open("a", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([COLUMNS] * new + rows)


if __name__ == "__main__":
    main()
