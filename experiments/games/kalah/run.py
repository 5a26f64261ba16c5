"""Reproduce Kloosterman's measurements of Kalah: splits, boards per launch, speed-up by depth.

    python experiments/games/kalah/run.py [--device D] [--only splits speedup sweep]
                                          [--depths 13 14] [--most 14] [--seconds 60]

- splits: for a split (PRE, SEQ, PAR) of depth 13 and 14, seconds, launches, boards per launch;
- speedup: seconds of a search of depth 4 to 14 by the reference, by C on one core
  (benchmarks/kalah.c), by the device in both forms;
- sweep (with --only sweep): of `expanded`, plies of a work-item, boards in flight and workgroups,
  at one depth.

Each measurement is appended to results/DEVICE.csv, and is not made again unless --again is given:
an interrupted run continues where it was. A measurement that would take longer than --seconds, by
the rate of the last one, is left out and said. From all files of results/ the tables (tables.md)
and figures (splits.png, speedup.png) are made, here or in the folder --out, next to the numbers
that Kloosterman published (Calvin College, 2013). Every search has to find the score, move and
nodes that are known.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "experiments" / "games" / "kalah"))

COLUMNS = (
    "date",
    "commit",
    "device",
    "driver",
    "what",
    "depth",
    "form",
    "split",
    "plies",
    "boards",
)
COLUMNS = (
    *COLUMNS,
    "part",
    "seconds",
    "processor_s",
    "launches",
    "boards_per_launch",
    "frontier",
    "nodes",
)
KEY = ("what", "depth", "form", "split", "plies", "boards", "part")
KNOWN = ROOT / "tests" / "data" / "games" / "kalah-initial.json"
DEEPER = {13: (26, 9, 1_932_996_768)}
"""Score, move and nodes of depths that the file of others does not have."""

BRANCHING = 4.9
"""How many times as many boards a search of one ply more looks at, at most."""

PUBLISHED_SPLITS = {
    (0, 10, 4): 9.40,
    (1, 9, 4): 11.05,
    (2, 8, 4): 10.62,
    (3, 7, 4): 11.70,
    (4, 6, 4): 14.09,
}
PUBLISHED = {
    4: (0.000068, 0.000656, 0.000919),
    5: (0.000343, 0.008957, 0.000907),
    6: (0.001658, 0.004544, 0.001054),
    7: (0.008301, 0.023702, 0.001382),
    8: (0.040561, 0.102351, 0.005487),
    9: (0.203477, 0.516266, 0.021644),
    10: (0.980497, 2.61265, 0.1048),
    11: (4.80143, 11.0873, 0.438745),
    12: (23.4349, 60.0211, 2.23596),
    13: (113.512, 231.792, 9.41622),
}
"""Seconds of one core (i7-3770K, not optimised), OpenCL on it, and OpenCL on a Radeon 7970."""


def known(depth):
    """Return score, move and nodes of the start position, None if unknown."""
    if depth in DEEPER:
        return DEEPER[depth]
    for one in json.loads(KNOWN.read_text())["depths"]:
        if one["depth"] == depth:
            return one["score"], one["move"], one["nodes"]
    return None


class Results:
    """The measurements of a device, in a file that grows.

    Parameters
    ----------
    path : of the file
    facts : date, commit, device, driver
    again : whether existing measurements are repeated
    """

    def __init__(self, path, facts, again):
        self.path, self.facts = path, facts
        self.written = set() if again else {tuple(row[k] for k in KEY) for row in read(path)}

    def has(self, row):
        """Return whether a measurement was made."""
        return tuple(str(row.get(name, "")) for name in KEY) in self.written

    def add(self, row):
        """Append a measurement, so that nothing is lost."""
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            table = csv.DictWriter(file, COLUMNS)
            if new:
                table.writeheader()
            table.writerow({**dict(zip(COLUMNS, self.facts, strict=False)), **row})
        shown = " ".join(f"{name}={value}" for name, value in row.items() if value != "")
        print(shown, flush=True)


def read(path):
    """Return the rows of a file, none if there is none."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def search(device, depth, part=0, **settings):
    """Return seconds, launches, boards per launch, frontier and nodes of a warm search."""
    import societies
    from societies.games.kalah import WORKLOAD
    from societies.games.kalah import search as declared
    from societies.workload.running.engines import DeviceEngine

    usual = declared.PART
    declared.PART = part or usual
    try:
        config = societies.config_from_dict({"workload": "kalah", "depth": depth, **settings})
        p = WORKLOAD.parameters(WORKLOAD.fitted(config, device))
        engine = DeviceEngine(WORKLOAD, p, device)
        engine.start()
        # Kernels are finished at their first launch, for each size of a workgroup: the same depth
        # once where it is short, else one less.
        warm = depth if depth < 12 else depth - 2
        engine.run_ticks(warm, warm)
        best, least = None, None
        for _ in range(5 if depth < 10 else 3 if depth < 13 else 1):
            before = time.process_time()
            engine.run_ticks(depth, depth)
            used = time.process_time() - before
            seconds = float(engine.measured()["seconds"][0])
            best, least = min(seconds, best or seconds), min(used, least or used)
            if seconds > 20:
                break
    finally:
        declared.PART = usual
    found = {name: int(log[0, 0]) for name, log in engine.logs().items()}
    wanted = known(depth)
    if wanted is not None:
        assert (found["score"], found["pit"], found["nodes"]) == wanted, (settings, found)
    return {
        "seconds": f"{best:.6g}",
        "processor_s": f"{least:.6g}",
        "launches": int(engine.measured()["launches"][0]),
        "boards_per_launch": found["boards_per_launch"],
        "frontier": found["frontier"],
        "nodes": found["nodes"],
    }


def splits(depth):
    """Return the published splits, for this depth, and those with other trees."""
    usual = [(pre, depth - 3 - pre, 4) for pre in range(5)]
    return [*usual, (0, depth - 2, 3), (0, depth - 1, 2), (2, depth - 4, 3)]


def measure_splits(results, device, depths, limit):
    """Measure every split of these depths."""
    for depth in depths:
        for split in splits(depth):
            row = {"what": "splits", "depth": depth, "form": "layers"}
            row["split"] = " ".join(map(str, split))
            if results.has(row):
                continue
            expected = rate_of(results.path, "layers", depth)
            if expected > limit:
                print(f"left out: {row} would take some {expected:.0f} s")
                continue
            results.add(row | search(device, depth, form="layers", split=list(split)))


def rate_of(path, form, depth):
    """Return how many seconds a search takes by the one before that is nearest; 0: unknown."""
    rows = [row for row in read(path) if row["form"] == form and int(row["depth"]) <= depth]
    if not rows:
        return 0.0
    near = max(rows, key=lambda row: int(row["depth"]))
    return float(near["seconds"]) * BRANCHING ** (depth - int(near["depth"]))


def measure_speedup(results, device, most, limit):
    """Measure reference, C and device from depth 4 on."""
    with tempfile.TemporaryDirectory() as folder:
        for form, once in (
            ("reference", by_reference),
            ("C", by_c(Path(folder))),
            ("expanded", lambda depth: search(device, depth)),
            ("layers", lambda depth: search(device, depth, form="layers")),
        ):
            for depth in range(4, most + 1):
                row = {"what": "speedup", "depth": depth, "form": form}
                if results.has(row):
                    continue
                if rate_of(results.path, form, depth) > limit:
                    print(f"left out: {form} from depth {depth} on: more than {limit} s")
                    break
                results.add(row | once(depth))


def by_reference(depth):
    """Return seconds and nodes of the reference."""
    from reference_py.games.kalah.descend import minimax
    from reference_py.games.kalah.parameters import Parameters, start_board

    began, before = time.perf_counter(), time.process_time()
    found = minimax(Parameters(), list(start_board()), 0, depth)
    seconds, used = time.perf_counter() - began, time.process_time() - before
    assert (found.score, found.pit, found.nodes) == known(depth)
    return {"seconds": f"{seconds:.6g}", "processor_s": f"{used:.6g}", "nodes": found.nodes}


def by_c(folder):
    """Return what measures C on one core."""
    program = folder / "kalah"
    source = ROOT / "benchmarks" / "kalah.c"
    subprocess.run(["cc", "-O3", "-march=native", str(source), "-o", str(program)], check=True)

    def once(depth):
        done = subprocess.run([program, str(depth)], check=True, capture_output=True, text=True)
        _, _, nodes, seconds, used = done.stdout.split()
        return {"seconds": seconds, "processor_s": used, "nodes": int(nodes)}

    return once


def measure_sweep(results, device, depth):
    """Measure `expanded` with other plies, boards in flight and workgroups."""
    for part in (64, 32, 128, 256):
        for plies in (4, 5, 3, 6):
            for boards in (2**20, 2**18, 2**22):
                row = {"what": "sweep", "depth": depth, "form": "expanded", "plies": plies}
                row |= {"boards": boards, "part": part}
                if not results.has(row):
                    settings = {"plies": plies, "boards": boards, "alone": 0}
                    results.add(row | search(device, depth, part, **settings))


def main():
    import report

    import societies
    from societies.workload.running.provenance import git_commit

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", nargs="+", default=["speedup", "splits"])
    parser.add_argument("--depths", type=int, nargs="+", default=[13, 14], help="of the splits")
    parser.add_argument("--most", type=int, default=14, help="largest depth of the speed-up")
    parser.add_argument("--sweep", type=int, default=13, help="depth of the sweep")
    parser.add_argument("--seconds", type=float, default=60.0, help="longest search that is begun")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--tables", action="store_true", help="make tables and figures alone")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.tables:
        device = societies.choose_device(options.device)
        name = re.sub(r"[^a-z0-9]+", "-", device.name.lower()).strip("-")
        now = datetime.now(UTC).date().isoformat()
        facts = (now, git_commit(), device.name, device.driver)
        results = Results(options.out / f"{name}.csv", facts, options.again)
        print(f"{device}; driver {device.driver}; to {results.path}")
        if "speedup" in options.only:
            measure_speedup(results, device, options.most, options.seconds)
        if "splits" in options.only:
            measure_splits(results, device, options.depths, options.seconds)
        if "sweep" in options.only:
            measure_sweep(results, device, options.sweep)
    rows = [row for path in sorted(options.out.glob("*.csv")) for row in read(path)]
    folder = HERE if options.out.resolve() == HERE / "results" else options.out
    report.write(rows, PUBLISHED, PUBLISHED_SPLITS, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
