"""How do time and memory of the economy grow with societies, agents and resources?

    python benchmarks/curves.py --device cpu --append benchmarks/results/curves-2-cores.csv
                                [--only societies agents resources] [--scenarios trade devices]
                                [--days 20] [--patience 30] [--peer PROGRAM]
    python benchmarks/curves.py --draw FIGURE.png CSV...

The first form measures days 1 to N of an economy of 48 agents and 48 resources with one of the
three varied: seconds and processor seconds over all threads, without the building of kernels and
without output, and the bytes that the run takes on the device. A curve ends with the point whose
days took longer than the patience, in seconds, or that does not fit the device. PROGRAM is the C++
program of Haney et al. as `benchmarks/README.md` says: it is called, point by point in the same
run, as ``PROGRAM SCENARIO SEED FILE DAYS AGENTS RESOURCES`` and its processor time is taken.

The second form draws tables of the first, and rows of ``economy.py`` with as many days: the time
and the memory of an agent for a day.
"""

from __future__ import annotations

import argparse
import csv
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO

from economy import ROOT, device_engine, run

import societies
from societies.economy.parameters import parameters
from societies.economy.workload import WORKLOAD
from societies.errors import SocietiesError
from societies.workload import Setup
from societies.workload.running.batches import Room

AXES = {
    "societies": [1, 4, 16, 64, 256, 1024, 4096],
    "agents": [12, 48, 192, 1000, 10_000, 100_000],
    "resources": [12, 48, 192, 512, 1024],
}
"""The points of each curve; the others of the three are 1 society, 48 agents, 48 resources."""

REPEATS = 5
"""Most measurements of a short point; the one with the least processor time counts."""

PEER_SCENARIOS = {"no_trade": "s1", "trade": "s2", "tools": "s3", "devices": "s4"}
FIELDS = (
    "device",
    "driver",
    "runtime",
    "host",
    "scenario",
    "axis",
    "societies",
    "agents",
    "resources",
    "days",
    "seconds",
    "cpu_seconds",
    "device_bytes",
)


def sizes_at(axis: str, value: int) -> dict[str, int]:
    """Return societies, agents and resources of a point."""
    return {"societies": 1, "agents": 48, "resources": 48, axis: value}


def measured(scenario: str, axis: str, value: int, days: int, device: str) -> dict[str, object]:
    """Measure a point on a device; raise SocietiesError if it does not fit."""
    sizes = sizes_at(axis, value)
    config = societies.load_config(
        ROOT / "configs" / "economy" / f"{scenario}.yaml",
        [
            f"replicates={sizes['societies']}",
            f"agents={sizes['agents']}",
            f"resources={sizes['resources']}",
            f"days={days}",
        ],
    )
    chosen = societies.choose_device(device, profiling=False)
    engine = device_engine(chosen, parameters(config))
    engine.start()
    run(engine, 1, 1)  # builds every kernel
    times = []
    while not times or (len(times) < REPEATS and sum(seconds for _, seconds in times) < 1):
        engine.start()
        engine.wait()
        began, busy = time.perf_counter(), time.process_time()
        run(engine, 1, days)
        times.append((time.process_time() - busy, time.perf_counter() - began))
    busy, seconds = min(times)
    return {
        "device": chosen.name,
        "driver": chosen.driver,
        "runtime": chosen.version,
        **sizes,
        "seconds": f"{seconds:.4f}",
        "cpu_seconds": f"{busy:.4f}",
        "device_bytes": Room(Setup(WORKLOAD, config), chosen).nbytes(sizes["societies"]),
    }


def peer_measured(
    program: str, scenario: str, axis: str, value: int, days: int, patience: float
) -> dict[str, object] | None:
    """Measure a point with the C++ program; None where it has several societies or takes long."""
    sizes = sizes_at(axis, value)
    if sizes["societies"] > 1:
        return None
    with tempfile.TemporaryDirectory() as folder:
        words = [PEER_SCENARIOS[scenario], "1", f"{folder}/out.csv", str(days)]
        words += [str(sizes["agents"]), str(sizes["resources"])]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        try:
            done = subprocess.run(
                [program, *words], capture_output=True, timeout=10 * patience, check=False
            )
        except subprocess.TimeoutExpired:
            return None
        seconds = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "device": "C++ program, one core",
        "driver": "",
        "runtime": "",
        **sizes,
        "seconds": f"{seconds:.4f}",
        "cpu_seconds": f"{busy:.4f}",
        "device_bytes": "",
    }


def measure(options: argparse.Namespace) -> None:
    """Measure all points and write a row of each as soon as it is known."""
    new = options.append is not None and not options.append.exists()
    write_rows(sys.stdout, [], header=True)
    if new:
        with open(options.append, "w", newline="") as file:
            write_rows(file, [], header=True)

    def write(scenario: str, axis: str, row: dict[str, object]) -> None:
        host = f"{platform.machine()} {platform.system()}"
        about = {"host": host, "scenario": scenario, "axis": axis, "days": options.days}
        write_rows(sys.stdout, [{**about, **row}])
        sys.stdout.flush()
        if options.append:
            with open(options.append, "a", newline="") as file:
                write_rows(file, [{**about, **row}])

    for axis in options.only:
        for scenario in options.scenarios:
            for value in AXES[axis]:
                try:
                    row = measured(scenario, axis, value, options.days, options.device)
                except SocietiesError as error:
                    print(f"{scenario}, {value} {axis}: {error}", file=sys.stderr)
                    break
                write(scenario, axis, row)
                if float(str(row["seconds"])) > options.patience:
                    print(f"{scenario}, {axis}: ends at {value}", file=sys.stderr)
                    break
            for value in AXES[axis] if options.peer else ():
                found = peer_measured(
                    options.peer, scenario, axis, value, options.days, options.patience
                )
                if found is None:
                    break
                write(scenario, axis, found)
                if float(str(found["seconds"])) > options.patience:
                    break


def write_rows(file: TextIO, rows: list[dict[str, object]], *, header: bool = False) -> None:
    """Write rows of the table, below its header if that is wanted."""
    table = csv.DictWriter(file, FIELDS, lineterminator="\n")
    if header:
        table.writeheader()
    table.writerows(rows)


def draw(path: Path, sources: list[Path]) -> None:
    """Draw time and memory of an agent for a day, along each of the three, from some tables."""
    from matplotlib.figure import Figure

    rows = [row for one in sources for row in csv.DictReader(one.read_text().splitlines())]
    # Tables of economy.py have no column of the axis: they vary the agents.
    rows = [{"axis": "agents", **row} for row in rows if row["days"] == rows[0]["days"]]
    figure = Figure(figsize=(11, 6.4), layout="constrained")
    grid = figure.subplots(2, len(AXES), sharex="col", sharey="row")
    devices = list(dict.fromkeys(row["device"] for row in rows))
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    for column, axis in enumerate(AXES):
        for device in devices:
            for number, scenario in enumerate(scenarios):
                mine = [
                    row
                    for row in rows
                    if (row["device"], row["scenario"], row["axis"]) == (device, scenario, axis)
                ]
                if not mine:
                    continue
                least = {  # of points that several tables have, the one that took least
                    int(row[axis]): row
                    for row in sorted(mine, key=lambda row: float(row["seconds"]), reverse=True)
                }
                mine = [least[x] for x in sorted(least)]
                program = "C++" in device
                look = {
                    "color": f"C{number}",
                    "marker": "o^s"[devices.index(device) % 3],
                    "linestyle": "--" if program else "-",
                    "label": f"{scenario.replace('_', ' ')}, {device}",
                }
                work = [agent_days(row) for row in mine]
                x = [int(row[axis]) for row in mine]
                gpu = "NVIDIA" in device
                spent = [float(row["seconds" if gpu else "cpu_seconds"]) for row in mine]
                grid[0, column].loglog(
                    x, [1e6 * s / w for s, w in zip(spent, work, strict=True)], **look
                )
                if not program:
                    agents = [int(row["societies"]) * int(row["agents"]) for row in mine]
                    size = [
                        int(row["device_bytes"]) / n for row, n in zip(mine, agents, strict=True)
                    ]
                    grid[1, column].loglog(x, size, **look)
        grid[1, column].set_xlabel(axis)
        for one in grid[:, column]:
            one.grid(visible=True, which="major", alpha=0.3)
    days = "/".join(dict.fromkeys(row["days"] for row in rows))
    grid[0, 0].set_ylabel(f"time of an agent for a day, µs\n(days 1 to {days})")
    grid[1, 0].set_ylabel("memory of an agent, bytes")
    handles = {
        label: handle
        for one in grid[0]
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=2, fontsize="small"
    )
    figure.savefig(path, dpi=130)


def agent_days(row: dict[str, str]) -> int:
    """Return the agent-days of a row."""
    return int(row["societies"]) * int(row["agents"]) * int(row["days"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", type=Path, help="tables to draw")
    parser.add_argument("--draw", type=Path, metavar="FIGURE")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", nargs="+", choices=AXES, default=list(AXES))
    parser.add_argument(
        "--scenarios", nargs="+", choices=PEER_SCENARIOS, default=["trade", "devices"]
    )
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--patience", type=float, default=30.0, help="seconds")
    parser.add_argument("--peer", metavar="PROGRAM")
    parser.add_argument("--append", type=Path)
    options = parser.parse_args()
    if options.draw:
        draw(options.draw, options.sources)
    else:
        measure(options)


if __name__ == "__main__":
    main()
