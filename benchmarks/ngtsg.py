"""How much faster is a search in batches on a device than the same search on one core, in one run?

    python benchmarks/ngtsg.py [--device D] [--config games/connect6/search] [--set a.b=c ...]
        [--pruned rounds=[1] ...] [--batches 40 256 1024 7680] [--whole 10750] [--serial N]
        [--rate R] [--two-cores] [--append CSV]

Three searches are timed, the best of some repeats each:

- one core: the whole tree, nothing pruned, in large batches on the CPU's OpenCL device with one
  thread, in a process that is bound to one core. This is its rate for nodes of this tree. Batches
  of one node would only measure launches, so the time of a serial search with alpha-beta is
  `serial_nodes`, which batches of one node count exactly, divided by that rate: a search without
  any cost of its own;
- the whole tree on the device: `ratio` is the one core's time, divided by the device's;
- alpha-beta on the device, in batches of each size: `ratio` is the time of the serial search,
  divided by that of the device to the same value. Keys that only change what is pruned are given
  by --pruned, for these alone.

With --batches and nothing behind it only the whole tree is searched: all 260,225,329 nodes of five
turns of Connect6 are counted by a GPU in a second, with 3 GiB of memory, by

    python benchmarks/ngtsg.py --set depth=5 --set full_width=true --set pool=16000000 --rate 650000
        --serial 340622 --whole 1048576 --batches

With --two-cores only the whole tree is searched, by one core and by two.

With --serial the serial search is not run, and its known number of nodes is given instead. With
--rate, the nodes a second of one core that another run has measured, the core has no rows; with
--whole 0 as well the whole tree is not searched: for trees that one core would need minutes for.

All must find the same value, or the benchmark ends. On a machine that has other work to do the
numbers are rough.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from societies import load_config
from societies.games.ngtsg.search import at_once
from societies.opencl import choose_device
from societies.workload.running.engines import DeviceEngine
from societies.workload.running.registry import workload

SHOWN = ("search", "pruning", "batch", "value", "nodes", "serial_nodes", "launches", "seconds")
SHOWN = (*SHOWN, "nodes_per_s", "ratio")
WHOLE = 10_750
"""Batches of the whole tree, if not said otherwise."""
COLUMNS = (*SHOWN, "config", "device", "driver", "supersteps", "peak", "processor")


def searched(engine):
    """Search once; return what was found and the seconds that it took."""
    engine.start()
    engine.wait()
    began, worked, superstep = time.perf_counter(), time.process_time(), 0
    launches = engine.device.counters.launches
    while engine.ended() is None:
        many = at_once(superstep)
        engine.run_ticks(superstep + 1, superstep + many)
        superstep += many
    engine.wait()
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    found = {name: of[0] for name, of in engine.arrays("value", "visited", "peak").items()}
    return {
        "value": int(found["value"]),
        "nodes": int(found["visited"].sum()),
        "peak": int(found["peak"]),
        "supersteps": engine.ended(),
        "launches": engine.device.counters.launches - launches,
        "seconds": seconds,
        "processor": processor,
    }


def opened(name):
    """Return a device whose launches are not timed, as in a run."""
    return choose_device(name, profiling=False)


def engine_of(config, device):
    """Return an engine for a configuration."""
    chosen = workload(config.workload)
    return DeviceEngine(chosen, chosen.parameters(config), device)


def best(engine, repeats):
    """Return the fastest of some searches; the first one builds the kernels and does not count."""
    searched(engine)
    return min((searched(engine) for _ in range(repeats)), key=lambda one: one["seconds"])


def on_cores(given, cores=1):
    """Return the search of the whole tree by a number of cores, in a separate process."""
    command = [sys.executable, __file__, f"--cores={cores}", "--config", given.config]
    command += [f"--repeats={given.repeats}", f"--whole={given.whole or WHOLE}"]
    for change in [*given.changes, *given.core]:
        command += ["--set", change]
    environment = {**os.environ, "POCL_MAX_PTHREAD_COUNT": str(cores)}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    """Print the table, and append it to a file if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--config", default="games/connect6/search")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--pruned", action="append", default=[], help="keys of alpha-beta alone")
    parser.add_argument("--batches", type=int, nargs="*", default=[40, 256, 1024, 7424, 7680])
    parser.add_argument(
        "--whole", type=int, default=WHOLE, help="batches of the whole tree; 0: by one core alone"
    )
    parser.add_argument("--core", action="append", default=[], help="keys of one core's search")
    parser.add_argument("--serial", type=int, metavar="N", help="nodes of the serial search")
    parser.add_argument("--rate", type=float, metavar="R", help="nodes a second of one core")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--append", type=Path)
    parser.add_argument(
        "--two-cores", action="store_true", help="the whole tree by one core and by two, no more"
    )
    parser.add_argument("--cores", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()

    def config(pruning, batch, *keys):
        sizes = [f"batch.leaves={batch}", f"batch.branches={batch}", f"pruning={pruning}"]
        return load_config(given.config, [*given.changes, *sizes, *keys])

    if given.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.cores])
        whole = engine_of(config("none", given.whole), opened("cpu"))
        print(json.dumps(best(whole, given.repeats)))
        return
    alone = None if given.rate else on_cores(given)
    rate = given.rate or alone["nodes"] / alone["seconds"]
    serial = given.serial
    if serial is None and not given.two_cores:
        serial = searched(engine_of(config("alpha_beta", 1), opened("cpu")))["nodes"]
    device, cpu, rows = opened(given.device), opened("cpu"), []

    def row(what, pruning, batch, found, seconds, on=device):
        if rows and found["value"] != rows[0]["value"]:
            sys.exit(f"{what}: the value is {found['value']}, and it was {rows[0]['value']}")
        facts = {"search": what, "device": on.name, "driver": on.driver, "pruning": pruning}
        keys = [*given.changes, *(given.pruned if pruning == "alpha_beta" else [])]
        names = {"config": " ".join([given.config, *keys]), "batch": batch}
        numbers = {
            "serial_nodes": serial,
            "seconds": f"{found['seconds']:.4g}",
            "processor": f"{found['processor']:.4g}",
            "nodes_per_s": round(found["nodes"] / found["seconds"]),
            "ratio": f"{seconds / found['seconds']:.3g}",
        }
        rows.append({**names, **facts, **found, **numbers})
        print(" ".join(f"{name}={rows[-1][name]}" for name in SHOWN), flush=True)

    if alone and not given.core:
        row("one core", "none", given.whole, alone, alone["seconds"], cpu)
    if given.two_cores:
        row("two cores", "none", given.whole, two := on_cores(given, 2), alone["seconds"], cpu)
        print(
            f"processor seconds of two cores and of one: {two['processor']:.4g}, "
            f"{alone['processor']:.4g}"
        )
    elif given.whole:
        found = best(engine_of(config("none", given.whole), device), given.repeats)
        row("device", "none", given.whole, found, found["nodes"] / rate)
    for batch in [] if given.two_cores else given.batches:
        found = best(engine_of(config("alpha_beta", batch, *given.pruned), device), given.repeats)
        row("device", "alpha_beta", batch, found, serial / rate)
    if given.append:
        new, columns = not given.append.exists(), list(COLUMNS)
        if not new:  # an older file has fewer columns
            with given.append.open(newline="") as file:
                columns = next(csv.reader(file))
        with given.append.open("a", newline="") as file:
            table = csv.DictWriter(file, columns, extrasaction="ignore")
            if new:
                table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
