"""What does a call of each primitive cost, and how far is that from what it must cost?

    python benchmarks/primitives.py [--device auto] [--append FILE] [--groups 1 2048]

A primitive is called over and over by every workgroup on an array in its local memory; the time of
a call is that of the loop less that of the same loop without the call. What it must cost is counted
in barriers, steps and looks (accesses to local memory) of all work-items, steps of one that works
alone, and operations (kernels/primitives tells how many); what one of each costs in a workgroup of
the same size is measured on the same device by loops of nothing else, and the floor is the sum. A
primitive can come out a little below it where a compiler overlaps what that loop does in turn.

On a CPU times are processor time over all threads, since other programs use it too; on a GPU they
are those of the clock.

Where a primitive has several methods (`DEVICE_IS_CPU` and n choose one) all of them are timed;
their checksums must be equal. Counterparts on as many numbers in all: NumPy along the last axis on
the host, and pyopencl's reduction, scan and radix sort, which work on one long array (they need
`pip install mako`).
"""

import argparse
import csv
import math
import platform
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from appending import append

import societies
from societies.opencl import Local

HERE = Path(__file__).parent
COUNTED = ("barriers", "steps", "looks", "steps_alone", "operations")
FIELDS = (
    "device",
    "host",
    "primitive",
    "method",
    "n",
    "workgroup",
    "groups",
    "nanoseconds",
    *COUNTED,
    "floor_nanoseconds",
    "times_floor",
    "checksum",
)
TIMES = 480  # in primitives.cl
FAMILIES = ("REDUCE", "SCAN", "SELECT", "SORT", "TREE")
SIZES = ((48, 64), (1000, 256))
METHODS = {
    "serial": dict.fromkeys([f"{family}_SERIALLY" for family in FAMILIES], 1),
    "levels": {
        **dict.fromkeys([f"{family}_SERIALLY" for family in FAMILIES], 0),
        "SELECT_BY_RANK": "0u",
    },
    "ranks": {
        **dict.fromkeys([f"{family}_SERIALLY" for family in FAMILIES], 0),
        "SELECT_BY_RANK": "1000000u",
    },
}
SEVERAL_METHODS = (
    *("extreme", "extreme_random", "six_smallest", "sum_real", "sum_uint", "scan"),
    *("compact_all", "sort", "tree_of_four"),
)
ONE_METHOD = (
    *("count", "permutation", "matching", "register_all", "choose", "next"),
    *("below_48", "skip", "binomial_100", "logarithm", "exponential", "power"),
)


def costs(name, method, n, lanes):
    """Return how many of `COUNTED` a call takes, as the kernel files count."""
    rows, levels = math.ceil(n / lanes), max(1, math.ceil(math.log2(n)))
    stages = levels * (levels + 1) // 2
    tree = {"barriers": levels + 1, "steps": rows + levels}
    alone = {"barriers": 2, "steps_alone": n}
    both = {
        "count": {"barriers": 3, "steps": rows},
        "permutation": {"barriers": 2, "steps": rows, "steps_alone": n},
        "matching": {"barriers": 3, "steps": 2 * rows, "steps_alone": n},
        "register_all": {"barriers": 3, "steps": rows},
        "choose": {"barriers": 3, "looks": rows * n},
        "next": {"operations": 3 * rows},
        "below_48": {"operations": 5 * rows},
        "skip": {"operations": 400 * rows},  # a product of 12 for every second bit, a division
        "binomial_100": {"operations": 80 * rows},  # 100 / 16 draws, each a test of 32 trials
        "logarithm": {"operations": 13 * rows},  # counted in pairs: multiply and add
        "exponential": {"operations": 13 * rows},
        "power": {"operations": 75 * rows},
    }
    by_method = {
        "serial": {
            **dict.fromkeys(("extreme", "sum_real", "sum_uint", "tree_of_four", "scan"), alone),
            "compact_all": {"barriers": 5, "steps": 3 * rows, "steps_alone": n},
            "six_smallest": alone,
            "sort": {"barriers": 1, "steps_alone": math.ceil(n**1.25)},
            "extreme_random": {"barriers": 2, "steps_alone": 2 * n},
        },
        "levels": {
            **dict.fromkeys(("extreme", "sum_real", "sum_uint"), tree),
            "tree_of_four": {"barriers": math.ceil(levels / 2), "steps": rows + 2 * levels},
            "scan": {"barriers": 2 * levels + 2, "steps": 2 * rows + 2 * levels},
            "compact_all": {"barriers": 2 * levels + 4, "steps": 4 * rows + 2 * levels},
            "six_smallest": {"barriers": 6 * (levels + 2), "steps": 6 * (rows + levels)},
            "sort": {"barriers": stages, "steps": math.ceil(rows / 2) * stages},
            "extreme_random": {"barriers": levels + 4, "steps": 2 * rows + levels},
        },
        "ranks": {"six_smallest": {"barriers": 4, "looks": rows * n}},
    }
    return both.get(name) or by_method[method][name]


def best_of(device, call, turns=5):
    """Return the shortest of some turns, in seconds."""
    clock = time.process_time if device.kind == "cpu" else time.perf_counter
    best = math.inf
    for _ in range(turns):
        began = clock()
        call()
        best = min(best, clock() - began)
    return best


class Bench:
    """The kernels of one build on one device."""

    def __init__(self, device, method):
        self.device = device
        self.program = societies.Program(
            device, [str(HERE / "primitives.cl")], METHODS.get(method, {})
        )

    def seconds(self, name, n, lanes, groups):
        """Return seconds of a call in a workgroup when `groups` of them run, and a checksum."""
        rng = np.random.default_rng(1)
        values = self.device.array(rng.integers(0, 1 << 20, (groups, n)).astype(np.float64))
        sums = self.device.zeros(groups * lanes, np.uint32)
        room = 2 * max(n, lanes) + 32
        launch = self.program.kernel(name).bind(
            global_size=(groups * lanes,),
            local_size=(lanes,),
            values=values,
            n=n,
            repeat=1,
            sums=sums,
            v=Local(np.float64, max(n, lanes) + 16),
            w=Local(np.uint32, max(n, lanes)),
            x=Local(np.uint32, room // 2 + 16),
            mask=Local(np.uint8, n),
        )

        def timed(repeat):
            def call():
                launch(repeat=repeat)
                self.device.finish()

            return best_of(self.device, call)

        launch(repeat=2)
        self.device.finish()
        checksum = int(sums.get().sum(dtype=np.uint64) % 2**32)
        repeat = 1
        while (seconds := timed(repeat)) < 0.02 and repeat < 2**16:
            repeat *= 4
        return (timed(2 * repeat) - seconds) / repeat, checksum


def primitives(device, groups, emit):
    """Time every primitive with every method."""
    builds = {method: Bench(device, method) for method in METHODS}
    plain = builds["levels"]
    for n, lanes in SIZES:
        empty, _ = plain.seconds("staging", n, lanes, groups)
        small, _ = plain.seconds("staging", 48, lanes, groups)

        def unit(name, lanes=lanes, small=small):
            return (plain.seconds(name, 48, lanes, groups)[0] - small) / TIMES

        step = unit("steps")
        units = {
            "a barrier": max(0.0, unit("barriers") - step),  # a step before each
            "a step": step,
            "a look": unit("looks"),
            "a step alone": unit("alone"),
            "an operation": unit("operations"),
        }
        here = {"n": n, "workgroup": lanes, "groups": groups}
        for name, seconds in units.items():
            emit(primitive=name, nanoseconds=seconds * 1e9, **here)
        for name in (*ONE_METHOD, *SEVERAL_METHODS):
            found = {}
            for method, bench in builds.items():
                try:
                    counted = costs(name, method, n, lanes)
                except KeyError:
                    continue
                seconds, found[method] = bench.seconds(name, n, lanes, groups)
                floor = sum(
                    counted.get(what, 0) * cost
                    for what, cost in zip(COUNTED, units.values(), strict=True)
                )
                emit(
                    primitive=name,
                    method=method if name in SEVERAL_METHODS else "",
                    nanoseconds=(seconds - empty) * 1e9,
                    **counted,
                    floor_nanoseconds=floor * 1e9,
                    times_floor=(seconds - empty) / floor if floor else math.nan,
                    checksum=found[method],
                    **here,
                )
                if name in ONE_METHOD:
                    break
            if len(set(found.values())) > 1:
                sys.exit(f"{name}: methods differ: {found}")


def counterparts(device, groups, emit):
    """Time NumPy on the host, and pyopencl's own algorithms on the device."""
    import pyopencl.algorithm
    import pyopencl.array
    import pyopencl.reduction
    import pyopencl.scan

    queue, rng = device.queue, np.random.default_rng(1)
    for n, _ in SIZES:
        reals = rng.integers(0, 1 << 20, (groups, n)).astype(np.float64)
        words = reals.astype(np.uint32)
        host = {
            ("sum_real", "numpy"): lambda: reals.sum(axis=1),  # noqa: B023
            ("sum_uint", "numpy"): lambda: words.sum(axis=1, dtype=np.uint32),  # noqa: B023
            ("extreme", "numpy"): lambda: reals.argmax(axis=1),  # noqa: B023
            ("scan", "numpy"): lambda: words.cumsum(axis=1, dtype=np.uint32),  # noqa: B023
            ("six_smallest", "numpy"): lambda: np.argpartition(reals, 6, axis=1),  # noqa: B023
            ("sort", "numpy"): lambda: reals.argsort(axis=1, kind="stable"),  # noqa: B023
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            long_reals = pyopencl.array.to_device(queue, reals.ravel())
            long_words = pyopencl.array.to_device(queue, words.ravel())
            total = pyopencl.reduction.ReductionKernel(
                device.context,
                np.float64,
                neutral="0",
                reduce_expr="a+b",
                arguments="__global double *x",
                map_expr="x[i]",
            )
            scan = pyopencl.scan.GenericScanKernel(
                device.context,
                np.uint32,
                arguments="__global uint *x, __global uint *y",
                input_expr="x[i]",
                scan_expr="a+b",
                neutral="0",
                output_statement="y[i] = item;",
            )
            radix = pyopencl.algorithm.RadixSort(
                device.context, "__global uint *x", key_expr="x[i]", sort_arg_names=["x"]
            )
            out = pyopencl.array.empty_like(long_words)
            by_pyopencl = {
                ("sum_real", "pyopencl"): lambda: total(long_reals).get(),  # noqa: B023
                ("scan", "pyopencl"): lambda: (scan(long_words, out), queue.finish()),  # noqa: B023
                ("sort", "pyopencl"): lambda: (radix(long_words, key_bits=20), queue.finish()),  # noqa: B023
            }
            for (name, method), call in {**host, **by_pyopencl}.items():
                call()
                emit(
                    primitive=name,
                    method=method,
                    n=n,
                    groups=groups,
                    nanoseconds=best_of(device, call) * 1e9,
                )


def table(paths, n, groups):
    """Print a table of the CSV files: nanoseconds of a call and how many times the floor."""
    columns = []
    for path in paths:
        with open(path, newline="") as lines:
            rows = [r for r in csv.DictReader(lines) if r["n"] == str(n)]
        for count in groups:
            here = [r for r in rows if r["groups"] == str(count) and r["workgroup"]]
            if here:
                label = f"{here[0]['device']}, {count} group{'s' * (count > 1)}"
                columns.append((label, {(r["primitive"], r["method"]): r for r in here}))
    print(f"| n = {n} | method | " + " | ".join(label for label, _ in columns) + " |")
    print("|---" * (2 + len(columns)) + "|")
    for name, method in columns[0][1]:
        cells = []
        for _, found in columns:
            row = found.get((name, method), {})
            ns = f"{float(row['nanoseconds']):,.0f} ns" if row else ""
            floor = row.get("times_floor")
            cells.append(f"{ns} ({float(floor):.1f})" if floor else ns)
        print(f"| {name} | {method} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--groups", type=int, nargs="+", default=[1, 1024])
    parser.add_argument("--append", type=Path)
    parser.add_argument("--table", type=Path, nargs="+", metavar="CSV", help="print tables instead")
    options = parser.parse_args()
    if options.table:
        for n, _ in SIZES:
            table(options.table, n, options.groups)
            print()
        return
    device = societies.choose_device(options.device, profiling=False)
    rows = []
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()

    def emit(**row):
        for name in ("nanoseconds", "floor_nanoseconds", "times_floor"):
            if name in row:
                row[name] = f"{row[name]:.4g}"
        row = {"device": device.name, "host": platform.machine(), **row}
        rows.append(row)
        writer.writerow(row)
        sys.stdout.flush()

    for groups in options.groups:
        primitives(device, groups, emit)
        counterparts(device, groups, emit)
    if options.append:
        append(options.append, FIELDS, rows)


if __name__ == "__main__":
    main()
