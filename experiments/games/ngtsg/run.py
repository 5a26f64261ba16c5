"""Repeat the measurements of the paper on node-based game-tree search (NGTS-G), ours next to them.

    python experiments/games/ngtsg/run.py [--device D] [--minutes M] [--only nodes limits ...]
    python experiments/games/ngtsg/run.py [--device D] [--minutes M] --figures 5 7 11

Parts, each with a CSV by device in results/ and a sentence at its end; --figures measures what the
paper's figures of these numbers need, and draws them (figures.py):

- nodes: branch and leaf calculation alone, by the size of a batch; the least batch that pays;
- limits: L_max for some values of B_max and B_max for some of L_max, without pruning;
- both: B_max = L_max without pruning, and what the paper's theory predicts for it;
- pruning: B_max = L_max with alpha-beta, the most nodes in memory, and Table 3;
- serial: how many nodes a serial search visits, which takes minutes and is known afterwards;
- lines: the share of equal lines of neighbouring positions of Connect6;
- registers: of the two calculations on an H100, by its compiler alone, and how many nodes it holds.

"One core" is our own search on the CPU's OpenCL device with one thread, in a process that is bound
to one core; a serial search counts as its number of nodes, divided by that core's rate without
pruning. It counts by its processor time, and the device by the clock on the wall: where the machine
has other work to do (column load), "times one core" is too small; the column processor adds up the
processor time of all threads. A part that is not done after --minutes leaves out the rest, and
prints that.
On a CPU the trees are one ply smaller than the paper's without pruning, and one or two with.
The published numbers are those of Li et al. (Tesla C2050, one core of a Xeon E5620).
"""

import argparse
import contextlib
import csv
import json
import os
import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from figures import FIGURES, draw, read
from registers import measured as measured_registers
from registers import write as write_registers

import societies
from reference_py.games.connect6.geometry import DIRECTIONS
from reference_py.games.connect6.moves import lines_with
from reference_py.games.connect6.search import GAME as CONNECT6
from societies import config_from_dict
from societies.errors import DeviceError
from societies.games.ngtsg.search import at_once
from societies.workload.running.engines import DeviceEngine
from societies.workload.running.registry import workload

HERE = Path(__file__).resolve().parent
GAMES = {
    "connect6": {"workload": "connect6", "width": 48, "full_width": True},
    "chess": {"workload": "chess", "rules": "pseudo_legal"},
}
PLIES = {
    "cpu": {"connect6": (3, 3), "chess": (4, 4)},
    "gpu": {"connect6": (4, 5), "chess": (5, 5)},
}
"""Plies without pruning and with it; those of a GPU are the paper's."""

SIZES = {
    "cpu": (1, 8, 40, 256, 1024, 4096, 7680),
    "gpu": (1, 8, 40, 256, 1024, *range(2560, 16385, 1280), 32768, 65536, 131072),
}
LIMIT_SIZES = {
    "cpu": (256, 1024, 4096, 7680),
    "gpu": (256, 1024, 2560, 5120, 7680, 10240, 16384, 32768, 65536, 131072),
}
LIMITS = {"cpu": (256, 1024, 4096), "gpu": (1024, 4096, 16384, 65536)}
"""Values of the limit that is not varied, a line of Figures 7 to 10 each; the paper names none."""

POOL = {"cpu": 2**21, "gpu": 2**24}
ONE_CORE_BATCH = 4096
REPEATS, SHORTEST = 8, 0.002
"""Measurements of a batch, of which the least counts, and seconds of the shortest one."""

SERIAL = "serial.csv"
"""What part `serial` keeps."""

PUBLISHED_NODES = {
    ("connect6", "branch"): 37, ("connect6", "evaluate"): 97,
    ("chess", "branch"): 29, ("chess", "evaluate"): 23,
}  # fmt: skip
PUBLISHED_LIMITS = {"connect6": 70.8, "chess": 11.8}
PUBLISHED_BOTH = {"connect6": (10_750, 89.95), "chess": (7680, 11.43)}
PUBLISHED_PRUNING = {"connect6": (7424, 10.58), "chess": (7680, 7.26)}
PUBLISHED_TABLE_3 = {
    "connect6": (24_503_857, 2_653_180, 260_225_329),
    "chess": (5_104_063, 3_694_481, 5_104_063),
}
"""Nodes visited in batches, by a serial search, and of the whole tree."""
PUBLISHED_LEAST, PUBLISHED_LINES = 39, 0.94
PUBLISHED_REGISTERS = {("chess", "branch_batch"): 30, ("chess", "evaluate_batch"): 33}


class Late(Exception):
    """Raised when the time of a part is over."""


def engine_of(game, plies, pruning, leaves, branches, device, pool):
    """Return an engine for a search."""
    settings = {**GAMES[game], "depth": plies, "pruning": pruning, "pool": pool}
    settings["batch"] = {"leaves": leaves, "branches": branches}
    config = config_from_dict(settings)
    chosen = workload(config.workload)
    needed = 1 + plies * config.most_moves
    if needed > pool:
        raise ValueError(f"a pool of {pool} nodes, and {needed} are needed")
    return DeviceEngine(chosen, chosen.parameters(config), device)


def searched(engine, until=float("inf")):
    """Return what a search finds, its batches, and the seconds that it takes."""
    engine.start()
    engine.wait()
    began, worked, superstep = time.perf_counter(), time.process_time(), 0
    while engine.ended() is None:
        many = at_once(superstep)
        engine.run_ticks(superstep + 1, superstep + many)
        superstep += many
        if time.perf_counter() > until:
            raise Late
    engine.wait()
    names = ("value", "visited", "leaves", "peak", "leaf_batches", "branch_batches", "shortened")
    found = {name: int(np.sum(of[0])) for name, of in engine.arrays(*names).items()}
    found["seconds"], found["processor"] = time.perf_counter() - began, time.process_time() - worked
    return found


def best(engine, until, repeats=2):
    """Return the fastest of some searches; the first one builds the kernels and does not count."""
    searched(engine, until)
    return min((searched(engine, until) for _ in range(repeats)), key=lambda one: one["seconds"])


def _timed(engine, step, tick):
    """Return seconds and processor seconds of a step, from enough steps to be measured."""
    times = 1
    while True:
        engine.wait()
        began, worked = time.perf_counter(), time.process_time()
        for _ in range(times):
            engine.step(step, tick)
        engine.wait()
        seconds, processor = time.perf_counter() - began, time.process_time() - worked
        if seconds >= SHORTEST:
            return seconds / times, processor / times
        times *= 4


def batch_seconds(engine, phase, size):
    """Return seconds, of both clocks, of a phase for a batch of a size; None if there is none."""
    p = engine.parameters
    wanted = p.depth if phase == "evaluate" else p.depth - 1
    engine.start()
    for tick in range(1, 2 + p.depth):
        level = int(engine.arrays("level")["level"][0])
        for step in engine.steps(tick):
            engine.step(step, tick)
            if step.phase != phase or level != wanted:
                continue
            if int(engine.arrays("batch_size")["batch_size"][0]) < size:
                return None
            # The least of some: a machine with other work to do is late now and then.
            both_clocks = [_timed(engine, step, tick) for _ in range(REPEATS)]
            return tuple(min(values) for values in zip(*both_clocks, strict=True))
    return None


def one_core(game, plies):
    """Return rate and seconds a node of one core, from a process of its own."""
    command = [sys.executable, __file__, "--one-core", game, str(plies)]
    environment = {**os.environ, "POCL_MAX_PTHREAD_COUNT": "1"}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measured_one_core(game, plies):
    """Measure the same in this process, bound to one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    device, pool = societies.choose_device("cpu"), POOL["cpu"]
    size = ONE_CORE_BATCH
    found = best(engine_of(game, plies, "none", size, size, device, pool), float("inf"), 1)
    node = {}
    for phase in ("branch", "evaluate"):
        # Few enough to exist in both games one ply above the leaves.
        engine = engine_of(game, 3, "none", 256, 256, device, pool)
        node[phase] = batch_seconds(engine, phase, 256)[1] / 256
    return {"seconds": found["processor"], "nodes": found["visited"], **node}


class Report:
    """Rows, figures and time of a run on a device."""

    def __init__(self, device, results, minutes):
        self.device, self.results = device, results
        self.kind = "cpu" if device.kind == "cpu" else "gpu"
        self.name = re.sub(r"[^a-z0-9]+", "-", device.name.lower()).strip("-")
        self.seconds, self._cores = 60 * minutes, {}
        self.games, self.whats = tuple(GAMES), ("L_max", "B_max")
        results.mkdir(parents=True, exist_ok=True)

    def core(self, game):
        """Return the measurements of one core, made once."""
        if game not in self._cores:
            self._cores[game] = one_core(game, PLIES["cpu"][game][0])
        return self._cores[game]

    def engine(self, game, pruning, leaves, branches):
        """Return an engine for a search on the device."""
        plies = PLIES[self.kind][game][pruning == "alpha_beta"]
        return engine_of(game, plies, pruning, leaves, branches, self.device, POOL[self.kind])

    def each(self, part, rows, measure):
        """Return what is measured for each of some tuples, as long as there is time."""
        until, found = time.perf_counter() + self.seconds, []
        for row in rows:
            try:
                if time.perf_counter() > until:
                    raise Late
                one = measure(until, *row)
            except Late:
                left = len(rows) - rows.index(row)
                print(f"{part}: the time is over, {left} of {len(rows)} measurements left out")
                break
            if one is not None:
                facts = dict(zip(("game", "what", "size"), row[:3], strict=True))
                found.append({**facts, **one, "load": f"{os.getloadavg()[0]:.1f}"})
        return found

    def write(self, part, rows):
        """Write rows to the file of a part, in which the lines that were not measured remain."""
        path = self.results / f"{self.name}-{part}.csv"
        made = {(row.get("game"), row.get("what")) for row in rows}
        rest = [row for row in read(path) if (row.get("game"), row.get("what")) not in made]
        rows = sorted(
            [*rest, *({"device": self.device.name, **row} for row in rows)],
            key=lambda row: str(row.get("game")),
        )
        columns = dict.fromkeys(name for row in rows for name in row)
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, columns)
            table.writeheader()
            table.writerows(rows)

    def draw(self, part):
        """Draw the figures of a part."""
        for number, figure in FIGURES.items():
            if figure.part == part and figure.game in self.games:
                draw(self.results, self.name, number)


def largest(rows, y, **like):
    """Return the row with the largest value among those that are like that; None of none."""
    some = [row for row in rows if all(row[name] == value for name, value in like.items())]
    return max(some, key=lambda row: float(row[y]), default=None)


def nodes(report):
    """Measure branch and leaf calculation alone."""

    def measure(until, game, phase, size):
        engine = report.engine(game, "none", size, size)
        clocks = batch_seconds(engine, phase, size)
        if clocks is None:
            return None
        seconds = clocks[0]
        core = report.core(game)[phase] * size
        clocked = {"seconds": f"{seconds:.4g}", "processor": f"{clocks[1]:.4g}"}
        return {**clocked, "times one core": f"{core / seconds:.3g}"}

    kinds = ("branch", "evaluate")
    sizes = SIZES[report.kind]
    asked = [(game, kind, size) for game in report.games for kind in kinds for size in sizes]
    rows = report.each("nodes", asked, measure)
    report.write("nodes", rows)
    report.draw("nodes")
    said = []
    for (game, kind), published in PUBLISHED_NODES.items():
        top = largest(rows, "times one core", game=game, what=kind)
        if top is None:
            continue
        pays = [
            row["size"] for row in rows
            if (row["game"], row["what"]) == (game, kind) and float(row["times one core"]) > 1
        ]  # fmt: skip
        least = min(pays) if pays else "none"
        said.append(
            f"{game} {kind}: {top['times one core']} times one core at {top['size']} (published "
            f"{published}), least batch measured that pays {least} (published {PUBLISHED_LEAST})"
        )
    return "; ".join(said)


def limits(report):
    """Measure L_max for some values of B_max, and the other way round."""

    def measure(until, game, what, size, other):
        leaves, branches = (size, other) if what == "L_max" else (other, size)
        found = best(report.engine(game, "none", leaves, branches), until, 1)
        core = report.core(game)
        alone = core["seconds"] / core["nodes"] * found["visited"]
        return {
            "other": other, "nodes": found["visited"], "seconds": f"{found['seconds']:.4g}",
            "processor": f"{found['processor']:.4g}",
            "times one core": f"{alone / found['seconds']:.3g}",
        }  # fmt: skip

    # The lines of each figure in turn, so that none is missing where the time is over.
    asked = [
        (game, what, size, other)
        for size in reversed(LIMIT_SIZES[report.kind]) for game in report.games
        for what in report.whats for other in LIMITS[report.kind]
    ]  # fmt: skip
    rows = report.each("limits", asked, measure)
    rows.sort(key=lambda row: (row["game"], row["what"], row["other"], row["size"]))
    report.write("limits", rows)
    report.draw("limits")
    said = []
    for game, published in PUBLISHED_LIMITS.items():
        top = largest(rows, "times one core", game=game)
        if top is None:
            continue
        gains = {}
        for what in report.whats:
            each = []
            for other in LIMITS[report.kind]:
                wanted = (game, what, other)
                line = [
                    float(row["times one core"]) for row in rows
                    if (row["game"], row["what"], row["other"]) == wanted
                ]  # fmt: skip
                each += [max(line) / line[0]] if line else []
            gains[what] = max(each, default=0.0)
        brought = ", ".join(f"{what} at most {gain:.2f} times" for what, gain in gains.items())
        verdict = ""
        if len(gains) == 2:
            found = "confirmed" if gains["L_max"] > gains["B_max"] else "not confirmed here"
            verdict = f": that leaf batches matter more is {found}"
        said.append(
            f"{game}: best {top['times one core']} times one core (published {published}); "
            f"a larger limit brings: {brought}{verdict}"
        )
    return "; ".join(said)


def theory(rows, report):
    """Return the mean error of T = t0 + m_l t(l) + m_b t(b), t being that of one batch alone.

    The times of single batches are those of part ``nodes``; t0 is the mean of what they leave.
    """
    path = report.results / f"{report.name}-nodes.csv"
    if not path.exists():
        return None
    with path.open(newline="") as file:
        alone = list(csv.DictReader(file))
    errors = []
    for game in GAMES:
        times = {}
        for phase in ("branch", "evaluate"):
            line = [one for one in alone if (one["game"], one["what"]) == (game, phase)]
            times[phase] = [int(o["size"]) for o in line], [float(o["seconds"]) for o in line]
        own = [row for row in rows if row["game"] == game]
        if not own or not times["branch"][0] or not times["evaluate"][0]:
            continue
        model = np.array([
            row["leaf_batches"] * np.interp(row["leaves a batch"], *times["evaluate"])
            + row["branch_batches"] * np.interp(row["branches a batch"], *times["branch"])
            for row in own
        ])  # fmt: skip
        real = np.array([float(row["seconds"]) for row in own])
        each = np.array([row["leaf_batches"] + row["branch_batches"] for row in own])
        # What a superstep costs besides (select, close, ...) is part of the time of a batch.
        more, start = np.linalg.lstsq(np.c_[each, np.ones(len(own))], real - model, rcond=None)[0]
        predicted = model + more * each + start
        for row, one in zip(own, predicted, strict=True):
            row["predicted"] = f"{one:.4g}"
        errors.append(
            f"{game} mean error {np.mean(np.abs(predicted - real) / real):.0%} with "
            f"{1e6 * more:.0f} us a superstep besides and t0 = {1000 * start:.3g} ms"
        )
    return "; ".join(errors)


def both(report):
    """Measure B_max = L_max without pruning."""

    def measure(until, game, what, size):
        found = best(report.engine(game, "none", size, size), until, 1)
        core = report.core(game)
        alone = core["seconds"] / core["nodes"] * found["visited"]
        leaves = found["leaves"]
        return {
            "nodes": found["visited"], "peak": found["peak"],
            "leaf_batches": found["leaf_batches"], "branch_batches": found["branch_batches"],
            "leaves a batch": round(leaves / found["leaf_batches"]),
            "branches a batch": round((found["visited"] - leaves) / found["branch_batches"]),
            "shortened": found["shortened"], "seconds": f"{found['seconds']:.4g}",
            "processor": f"{found['processor']:.4g}",
            "times one core": f"{alone / found['seconds']:.3g}",
        }  # fmt: skip

    sizes = [size for size in SIZES[report.kind] if size >= 40]
    asked = [(game, "no pruning", size) for size in reversed(sizes) for game in report.games]
    rows = report.each("both", asked, measure)
    rows.sort(key=lambda row: (row["game"], row["size"]))
    error = theory(rows, report)
    report.write("both", rows)
    report.draw("both")
    said = []
    for game, (size, ratio) in PUBLISHED_BOTH.items():
        top = largest(rows, "times one core", game=game)
        if top:
            said.append(
                f"{game}: {top['times one core']} times one core at {top['size']} "
                f"(published {ratio} at {size})"
            )
    if error:
        said.append(f"theory: {error}")
    return "; ".join(said)


def serially(game, plies, until):
    """Search one node at a time, on the CPU."""
    cpu = societies.choose_device("cpu", profiling=False)
    return searched(engine_of(game, plies, "alpha_beta", 1, 1, cpu, POOL["cpu"]), until)


def known_serial(report):
    """Return the searches of one node at a time that part `serial` has stored: (game, plies)."""
    found = {}
    for path in {report.results / SERIAL, HERE / "results" / SERIAL}:
        if path.exists():
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    numbers = {name: int(row[name]) for name in ("value", "visited")}
                    found[row["game"], int(row["plies"])] = numbers
    return found


def serial(report):
    """Count the nodes of a serial search with alpha-beta, the same on all devices; keep them."""
    asked = {(game, plies[game][1]) for plies in PLIES.values() for game in GAMES}
    until, found = time.perf_counter() + report.seconds, known_serial(report)
    try:
        for game, plies in sorted(asked - set(found), key=lambda one: one[1]):
            found[game, plies] = serially(game, plies, until)
    except Late:
        print("serial: the time is over")
    with (report.results / SERIAL).open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["game", "plies", "value", "visited"])
        table.writerows((*key, one["value"], one["visited"]) for key, one in sorted(found.items()))
    return "; ".join(f"{g}, {n} plies: {one['visited']:,}" for (g, n), one in sorted(found.items()))


def pruning(report):
    """Measure B_max = L_max with alpha-beta; Table 3."""
    known = known_serial(report)
    serial = {game: known.get((game, PLIES[report.kind][game][1])) for game in GAMES}
    tried = set()

    def measure(until, game, what, size):
        if serial[game] is None and game not in tried:
            tried.add(game)
            with contextlib.suppress(Late):
                serial[game] = serially(game, PLIES[report.kind][game][1], until)
        found = best(report.engine(game, "alpha_beta", size, size), until, 1)
        row = {
            "nodes": found["visited"], "peak": found["peak"], "shortened": found["shortened"],
            "seconds": f"{found['seconds']:.4g}",
            "processor": f"{found['processor']:.4g}", "serial nodes": "", "times one core": "",
        }  # fmt: skip
        if serial[game]:
            if serial[game]["value"] != found["value"]:
                sys.exit(f"{game}: the value of batches of {size} is another than the serial one")
            core = report.core(game)
            alone = core["seconds"] / core["nodes"] * serial[game]["visited"]
            row["serial nodes"] = serial[game]["visited"]
            row["times one core"] = f"{alone / found['seconds']:.3g}"
        return row

    sizes = [size for size in SIZES[report.kind] if size >= 40]
    asked = [(game, "alpha-beta", size) for size in reversed(sizes) for game in report.games]
    rows = report.each("pruning", asked, measure)
    rows.sort(key=lambda row: (row["game"], row["size"]))
    report.write("pruning", rows)
    report.draw("pruning")
    said = []
    for game, (size, ratio) in PUBLISHED_PRUNING.items():
        own = [row for row in rows if row["game"] == game and row["times one core"]]
        if not own:
            continue
        top = largest(own, "times one core", game=game)
        near = min(own, key=lambda row: abs(row["size"] - size))
        batch, alone, whole = PUBLISHED_TABLE_3[game]
        said.append(
            f"{game}, {PLIES[report.kind][game][1]} plies: {top['times one core']} times one core "
            f"at {top['size']} (published {ratio} at {size}); batches of {near['size']} visit "
            f"{near['nodes']:,} nodes, a serial search {near['serial nodes']:,}: "
            f"{near['nodes'] / near['serial nodes']:.1f} times (published {batch:,} and {alone:,} "
            f"of {whole:,}: {batch / alone:.2f} times)"
        )
    return "; ".join(said)


def lines(report):
    """Count equal lines of neighbouring leaves, in the order of a search."""
    config = config_from_dict({**GAMES["connect6"], "depth": 2, "width": 12})
    p = workload("connect6").parameters(config)
    leaves = []
    for turn in CONNECT6.branch(p, p.roots[0]):
        child = CONNECT6.make(p, p.roots[0], turn)
        leaves += [CONNECT6.make(p, child, reply) for reply in CONNECT6.branch(p, child)]

    def all_lines(position):
        own, other = (sum(w << 32 * i for i, w in enumerate(half))
                      for half in (position[:12], position[12:]))  # fmt: skip
        mine, others = lines_with(own), lines_with(other)
        return [(mine[d][k], others[d][k]) for d in range(len(DIRECTIONS))
                for k in range(len(mine[d]))]  # fmt: skip

    drawn = [all_lines(leaf) for leaf in leaves]
    share = float(np.mean([
        np.mean([a == b for a, b in zip(one, two, strict=True)])
        for one, two in pairwise(drawn)
    ]))  # fmt: skip
    report.write("lines", [{"leaves": len(leaves), "share of equal lines": f"{share:.4f}"}])
    return (
        f"{share:.1%} of the {len(drawn[0])} lines of a leaf are those of the leaf before it "
        f"(published {PUBLISHED_LINES:.0%}, of which lines is not said)"
    )


def registers(report):
    """Compile both calculations for an H100, which needs no GPU; the saw-tooth that follows."""
    try:
        rows = measured_registers()
    except DeviceError as error:
        return f"left out: {error}"
    write_registers(report.results, rows)
    return "; ".join(
        f"{row['game']} {row['kernel']}: {row['registers']} registers (published "
        f"{PUBLISHED_REGISTERS.get((row['game'], row['kernel']), 'nothing')}), {row['warps']} "
        f"warps a multiprocessor, {row['nodes_at_a_time']:,} nodes at a time"
        for row in rows
    )


PARTS = {"nodes": nodes, "limits": limits, "both": both, "serial": serial}
PARTS |= {"pruning": pruning, "lines": lines, "registers": registers}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--figures", nargs="+", type=int, default=[], choices=list(FIGURES))
    parser.add_argument("--minutes", type=float, default=5.0, help="of each part, at most")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--one-core", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one_core:
        game, plies = given.one_core
        print(json.dumps(measured_one_core(game, int(plies))))
        return
    device = societies.choose_device(given.device, profiling=False)  # as in a run
    report = Report(device, given.results, given.minutes)
    print(f"{report.device}; driver {report.device.driver}; {os.cpu_count()} cores")
    if report.kind == "cpu":
        print(f"on a CPU the trees are small: plies without pruning and with {PLIES['cpu']}")
    for number in given.figures:
        figure = FIGURES[number]
        report.games, report.whats = (figure.game,), (figure.what,) if figure.what else ()
        print(f"figure {number}: {PARTS[figure.part](report)}", flush=True)
    for part in [] if given.figures else given.only:
        print(f"{part}: {PARTS[part](report)}", flush=True)


if __name__ == "__main__":
    main()
