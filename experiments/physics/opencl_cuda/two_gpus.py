"""What do two GPUs of one machine bring over one? Figure 8 of the report.

    python experiments/physics/opencl_cuda/two_gpus.py [--devices D D] [--results DIR]
    python experiments/physics/opencl_cuda/two_gpus.py --draw [--results DIR]

A run of a workload is on one device, so work that falls into independent parts is divided: the rows
of a product, and the societies of an ensemble, half to each device, from a thread of its own. A
time is from when all parts are ready to when the last has ended, by a host timer; the least of five
after one that is not counted. The parts' rows are compared with those of the whole, bit by bit. The
table is two_gpus.csv, the figure figure_8.png. Without two devices it prints an error.
"""

import argparse
import csv
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import yaml

import societies
from societies import config_from_dict
from societies.opencl import list_devices
from societies.workload.running.engines import LOG_TICKS, DeviceEngine
from societies.workload.running.registry import workload

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
COLUMNS = ("device", "driver", "work", "size", "devices", "seconds", "same")
SIZES = (1024, 2048, 4096, 8192)
SOCIETIES, DAYS = (64, 256, 1000), 300
TIMES = 5


def ready(device, settings, ticks):
    """Return a run of a configuration on a device, and its ticks."""
    config = config_from_dict(settings)
    one = workload(config.workload)
    p = one.parameters(config)
    made = DeviceEngine(one, p, device, first=one.first(config), copies=one.count(config))
    return made, ticks


def go(run):
    """Carry out a run to its end."""
    made, ticks = run
    for first in range(1, ticks + 1, LOG_TICKS):
        made.run_ticks(first, min(ticks, first + LOG_TICKS - 1))
    made.wait()


def least_seconds(runs):
    """Return the least seconds in which all runs were carried out side by side."""
    found = []
    with ThreadPoolExecutor(len(runs)) as pool:
        for _ in range(TIMES + 1):
            for made, _ in runs:
                made.start()
                made.wait()
            began = time.perf_counter()
            list(pool.map(go, runs))
            found.append(time.perf_counter() - began)
    return min(found[1:])


def products(folder, n):
    """Return the settings of a product of n x n matrices, whole and in halves of its rows."""
    rng = np.random.default_rng(1)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    names = {"A": a, "B": b, "upper": a[: n // 2], "lower": a[n // 2 :]}
    for name, matrix in names.items():
        np.save(folder / f"{name}.npy", matrix)

    def of(name, rows):
        sizes = {"rows": rows, "inner": n, "columns": n}
        files = {"a": f"{folder / name}.npy", "b": f"{folder / 'B'}.npy"}
        return {"workload": "matmul", "variant": "blocked", **sizes, **files}

    return of("A", n), [of("upper", n // 2), of("lower", n // 2)]


def ensembles(scenario, copies):
    """Return the settings of a number of societies, whole and in halves."""
    settings = yaml.safe_load((ROOT / f"configs/economy/{scenario}.yaml").read_text())
    settings |= {"days": DAYS, "replicates": copies}
    half = copies // 2
    return settings, [
        settings | {"replicates": half},
        settings | {"replicates": copies - half, "first_society": half},
    ]


def measure(table, devices, work, size, settings, ticks, array, axis):
    """Measure one device and two, and compare what they computed."""
    whole, parts = settings
    results = []
    for used in (devices[:1], devices):
        each = [whole] if len(used) == 1 else parts
        runs = [ready(device, one, ticks) for device, one in zip(used, each, strict=True)]
        seconds = least_seconds(runs)
        arrays = [made.arrays(array)[array] for made, _ in runs]
        results.append(np.concatenate(arrays, axis=axis))
        same = int(np.array_equal(results[0], results[-1]))
        row = (used[0].name, used[0].driver, work, size, len(used), f"{seconds:.6g}", same)
        table.writerow(dict(zip(COLUMNS, row, strict=True)))
        print(*(f"{value!s:>14}" for value in row[2:]), flush=True)


def draw(results):
    """Draw how many times as fast two devices are as one."""
    import matplotlib.pyplot as plt

    with open(results / "two_gpus.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    seconds = {(r["work"], int(r["size"]), r["devices"]): float(r["seconds"]) for r in rows}
    figure, axes = plt.subplots(figsize=(7, 4.6))
    for marker, work in zip("os^", dict.fromkeys(r["work"] for r in rows), strict=False):
        sizes = sorted(size for w, size, count in seconds if w == work and count == "2")
        times = [seconds[work, s, "1"] / seconds[work, s, "2"] for s in sizes]
        axes.plot(sizes, times, marker=marker, label=work)
    axes.axhline(2, color="gray", linestyle=":")
    axes.set(title=f"Figure 8: two of {rows[0]['device']} over one", ylim=(0, 2.2), xscale="log")
    axes.set(xlabel="side of the matrices, or societies", ylabel="times as fast as one")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(results / "figure_8.png", dpi=110)


def main():
    """Measure, or draw what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--devices", nargs=2, metavar="D", help="default: the first two GPUs")
    parser.add_argument("--results", type=Path, default=HERE / "results", metavar="DIR")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--societies", type=int, nargs="*", default=SOCIETIES)
    parser.add_argument("--draw", action="store_true", help="the figure from the table alone")
    options = parser.parse_args()
    if options.draw:
        draw(options.results)
        return 0
    if options.devices:
        devices = [societies.choose_device(name, profiling=False) for name in options.devices]
    else:
        found = [one.index for one in list_devices() if one.kind == "gpu"][:2]
        devices = [societies.choose_device(index, profiling=False) for index in found]
    if len(devices) < 2:
        print("figure 8 needs two GPUs: there is one, or none", file=sys.stderr)
        return 1
    options.results.mkdir(parents=True, exist_ok=True)
    with (
        open(options.results / "two_gpus.csv", "w", newline="") as file,
        tempfile.TemporaryDirectory() as folder,
    ):
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        for n in options.sizes:
            measure(table, devices, "product", n, products(Path(folder), n), 1, "C", -2)
            file.flush()
        for copies in options.societies:
            measure(table, devices, "trade", copies, ensembles("trade", copies), DAYS, "held", 0)
            file.flush()
    draw(options.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
