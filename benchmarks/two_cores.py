"""How much faster are 16 societies on two cores than on one, and how long does a first day take?

    python benchmarks/two_cores.py --out FOLDER [--societies 16] [--days 500] [--peer PROGRAM]

For a machine with two cores and no other work: whether it was quiet is shown by the last column,
the processor time of one core as a share of the time by the clock, which is 1 on a quiet machine.
Each scenario is measured in turn on one core of PoCL and on two (`benchmarks/economy.py`), and next
to them the C++ program of Haney et al., where it is given. At last the first day of devices.yaml is
timed as a user starts it, with empty caches and with warm ones. Rows are written to FOLDER: those
of economy.py to `economy-*-of-2-cores.csv`, the C++ program's and the first days to `beside.csv`.

    python benchmarks/two_cores.py --out FOLDER --machine

Measures about what can be expected at most: how much two programs, which share nothing and wait for
nothing, get done at a time on two cores, relative to one of them alone. It is 2 only if each core
is as fast next to the other. Rows are written to `machine.csv`.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from societies.workload.checking.waits import CACHES, timed

ROOT = Path(__file__).parents[1]
SCENARIOS = {"no_trade": "s1", "trade": "s2", "tools": "s3", "devices": "s4"}
GOALS = {"no_trade": (0.19, 0.12), "trade": (0.7, 0.4), "tools": (3.55, 2.0), "devices": (9.5, 5.0)}
"""Processor seconds of a society: the better half of the way, the goal."""

ALONE = {
    "whole numbers": "import hashlib; work = lambda: "
    "hashlib.pbkdf2_hmac('sha512', b'a', b'b', 100_000)",
    "vectors": "import numpy as np; a = np.ones((64, 64)); work = lambda: [a @ a for _ in "
    "range(4000)]",
    "memory": "import numpy as np; a = np.ones(2**23); work = lambda: [a.sum() for _ in range(8)]",
}
"""Programs of one thread by what they keep busy: registers alone, a core's own cache, memory."""

TIMED = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
work()
done, began = 0, time.perf_counter()
while time.perf_counter() - began < 3.0:
    work()
    done += 1
print(done / (time.perf_counter() - began))
"""
"""Prints the work a second of a program on a core."""


def machine(options: argparse.Namespace) -> None:
    """Measure how much two programs do at a time, relative to one alone."""
    file, cores = options.out / "machine.csv", sorted(os.sched_getaffinity(0))[:2]
    with file.open("w", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(("program", "repeat", "alone", "beside", "times"))
        for name, program in ALONE.items():
            found = []
            for repeat in range(5):
                alone = sum(rates(program, [core])[0] for core in cores) / len(cores)
                together = sum(rates(program, cores))
                found.append(together / alone)
                row = (f"{number:.4g}" for number in (alone, together, found[-1]))
                table.writerow((name, repeat, *row))
            print(f"{name:14s}", " ".join(f"{times:.2f}" for times in found), flush=True)


def rates(program: str, cores: list[int]) -> list[float]:
    """Return the work a second of a program that runs on some cores at the same time."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program + TIMED]
    running = [
        subprocess.Popen([*command, str(core)], env=environment, stdout=subprocess.PIPE, text=True)
        for core in cores
    ]
    return [float(one.communicate()[0]) for one in running]


def economy(scenario: str, options: argparse.Namespace, cores: int) -> dict[str, str]:
    """Measure a scenario on a number of cores, and store the row."""
    file = options.out / f"economy-{cores}-of-2-cores.csv"
    command = [sys.executable, str(ROOT / "benchmarks" / "economy.py"), "--device", "cpu"]
    command += ["--societies", str(options.societies), "--days", str(options.days)]
    command += ["--scenarios", scenario, "--append", str(file)]
    environment = os.environ | {"POCL_MAX_PTHREAD_COUNT": str(cores)}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return list(csv.DictReader(file.read_text().splitlines()))[-1]


def keep(options: argparse.Namespace, what: str, seconds: float, cpu_seconds: float) -> None:
    """Write a row of what was measured next to the scenarios."""
    file = options.out / "beside.csv"
    new = not file.exists()
    with file.open("a", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        if new:
            table.writerow(("measured", "seconds", "cpu_seconds"))
        table.writerow((what, f"{seconds:.3f}", f"{cpu_seconds:.3f}"))


def peer_seconds(program: str, scenario: str, days: int) -> tuple[float, float]:
    """Return the seconds and processor seconds of the C++ program."""
    with tempfile.TemporaryDirectory() as folder:
        words = [SCENARIOS[scenario], "1", f"{folder}/out.csv", str(days)]
        return timed([program, *words], os.environ)


def first_day(folder: Path) -> tuple[float, float]:
    """Return the seconds and processor seconds of the first day of devices.yaml."""
    command = [sys.executable, "-m", "societies", "run", str(ROOT / "configs/economy/devices.yaml")]
    command += ["--days", "1", "--device", "cpu", "--overwrite", "--out", str(folder / "out.h5")]
    return timed(command, os.environ | dict.fromkeys(CACHES, str(folder)), ROOT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--societies", type=int, default=16)
    parser.add_argument("--days", type=int, default=500)
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--peer", metavar="PROGRAM")
    parser.add_argument("--machine", action="store_true", help="measure the machine alone")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"load of the last minute: {os.getloadavg()[0]:.2f}", flush=True)
    if options.machine:
        machine(options)
        return
    heads = [
        "processor s each",
        "half, goal",
        "C++ / ours",
        "one core s",
        "two cores s",
        "speed-up",
    ]
    print(f"{'scenario':10s}", *(f"{head:>17s}" for head in [*heads, "quiet (1: yes)"]), flush=True)
    for scenario in options.scenarios:
        one, two = economy(scenario, options, 1), economy(scenario, options, 2)
        each = float(one["cpu_seconds"]) / options.societies
        together = None
        if options.peer:
            seconds, together = peer_seconds(options.peer, scenario, options.days)
            keep(options, f"C++ program, {scenario}, {options.days} days", seconds, together)
        row = [
            f"{each:.3f}",
            "{} {}".format(*GOALS[scenario]),
            f"{together / each:.2f}" if together else "-",
            one["seconds"],
            two["seconds"],
            f"{float(one['seconds']) / float(two['seconds']):.2f}",
            f"{float(one['cpu_seconds']) / float(one['seconds']):.2f}",
        ]
        print(f"{scenario:10s}", *(f"{word:>17s}" for word in row), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pocl").mkdir()
        for what, goal in (("empty", 10.0), ("warm", 1.5)):
            seconds, busy = first_day(Path(folder))
            keep(options, f"first day of devices.yaml, caches {what}", seconds, busy)
            print(
                f"first day of devices.yaml, caches {what}: {seconds:.2f} s, "
                f"processor {busy:.2f} s (goal {goal} s)",
                flush=True,
            )


if __name__ == "__main__":
    main()
