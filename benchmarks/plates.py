"""Which form of Laplace's kernels is the fastest on a device, and with how many steps of a launch?

    python benchmarks/plates.py [--device gpu cuda] [--sides 200 6000] [--steps 500] [--times 5]
                                [--append CSV]

For each form: seconds of the steps by the wall clock (the least and the median), with
kernels that are not timed, as in a run; what the host needs to enqueue them; kernels launched;
seconds in kernels, by the device's own clock; and 9 bytes a cell and step (4 read, 4 written, 1 of
the mask) in GB/s, compared with a copy of the same run. ``strips`` are rows that a work-item of the
form ``rows`` takes on a GPU (STRIP in kernels/physics/laplace/sweep.cl). Forms are measured in
turn, and all must have the same bits. Devices that are missing are left out, by name.
"""

import argparse
import csv
import os
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import societies
from societies.errors import SocietiesError
from societies.opencl import Program
from societies.physics.laplace import Laplace, LaplaceConfig
from societies.workload.running.engines import LOG_TICKS, DeviceEngine

HERE = Path(__file__).parent
COLUMNS = (
    *("device", "driver", "side", "form", "steps", "least_s", "median_s", "enqueue_s"),
    *("launches", "kernels_s", "rate", "unit"),
)
FEW = 1 << 20
"""Cells up to which a plate is so small that what a launch costs decides."""


class Plates(Laplace):
    """The workload, with further macros of its kernels."""

    def __init__(self, macros):
        self._macros = macros

    def source(self, p):
        """Return the macros of the kernels."""
        source = super().source(p)
        return replace(source, macros={**source.macros, **self._macros})


def forms(side):
    """Return the settings of each form, and its macros, by name."""
    found = {"rows": ({"variant": "rows"}, {})}
    for strip in (1, 2, 4, 8, 16):
        found[f"rows, strips of {strip}"] = ({"variant": "rows"}, {"STRIP": strip})
    depths = (8, 12, 16, 20, 24) if side * side <= FEW else (4, 8, 12)
    for depth in depths:
        found[f"deep, {depth} steps"] = ({"variant": "deep", "depth": depth}, {})
    found["tiled"] = ({"variant": "tiled"}, {})
    return found


def engine_of(device, side, settings, macros, last=10**7):
    """Return an engine with the first step done of a plate without a view."""
    never = 10**7
    config = LaplaceConfig(
        side=side, steps=last, check_every=never, record={"series": never}, **settings
    )
    workload = Plates(macros)
    engine = DeviceEngine(workload, workload.parameters(config), device)
    engine.start()
    engine.run_ticks(1, 1)
    engine.wait()
    return engine


class Run:
    """Steps of one plate, again and again."""

    def __init__(self, engine, steps):
        self.engine, self.steps, self.done = engine, steps, 1

    def __call__(self):
        """Return the seconds until all is enqueued, and until it is done; and the launches."""
        before, began = self.engine.device.counters.launches, time.perf_counter()
        last = self.done + self.steps
        for first in range(self.done + 1, last + 1, LOG_TICKS):
            self.engine.run_ticks(first, min(first + LOG_TICKS - 1, last))
        enqueued = time.perf_counter() - began
        self.engine.wait()
        self.done = last
        launches = self.engine.device.counters.launches - before
        return enqueued, time.perf_counter() - began, launches


def copied(device, bytes_moved):
    """Return GB/s of a copy that moves about ``bytes_moved`` bytes."""
    items, many = (1, 64) if device.kind == "cpu" else (256, 4096)
    count = max(1 << 16, bytes_moved // 8) // many * many
    arrays = {name: device.zeros(count, np.float32) for name in "ac"}
    program = Program(
        device, HERE / "physics.cl", {"ARITHMETIC_IS_FUSED": False, "NUM_IS_DOUBLE": False}
    )
    bound = program.kernel("copy").bind(
        **arrays, many=many, global_size=count // many * items, local_size=items
    )  # fmt: skip
    seconds = []
    for _ in range(20):
        began = time.perf_counter()
        for _ in range(10):
            bound()
        device.finish()
        seconds.append((time.perf_counter() - began) / 10)
    return 8 * count / min(seconds) / 1e9


def in_kernels(asked, side, settings, macros, steps):
    """Return the seconds that the device itself counts in kernels, and the plate's hash."""
    device = societies.choose_device(asked, profiling=True)
    engine = engine_of(device, side, settings, macros, steps + 1)
    device.launched = []
    Run(engine, steps)()
    seconds = sum(launch.seconds for _, launch in device.launched)
    device.launched = None
    return seconds, engine.hash()


def measured(asked, side, options, table):
    """Measure all forms of a plate on a device, in turn."""
    device = societies.choose_device(asked, profiling=False)
    about = {"device": device.name, "driver": device.driver, "side": side, "steps": options.steps}
    limit = copied(device, 8 * side * side)
    print(f"{device}: plate {side} x {side}, {options.steps} steps; a copy {limit:.0f} GB/s")
    runs, hashes = {}, set()
    for name, (settings, macros) in forms(side).items():
        try:
            runs[name] = Run(engine_of(device, side, settings, macros), options.steps)
            runs[name]()
        except SocietiesError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    found = {name: [] for name in runs}
    for _ in range(options.times):
        for name, run in runs.items():
            found[name].append(run())
    for name, several in found.items():
        least = min(seconds for _, seconds, _ in several)
        kernels, bits = in_kernels(asked, side, *forms(side)[name], options.steps)
        hashes.add(bits)
        rate = 9e-9 * side * side * options.steps / least
        row = {
            **about,
            "form": name,
            "least_s": f"{least:.6g}",
            "median_s": f"{statistics.median(seconds for _, seconds, _ in several):.6g}",
            "enqueue_s": f"{min(enqueued for enqueued, _, _ in several):.6g}",
            "launches": several[0][2],
            "kernels_s": f"{kernels:.6g}",
            "rate": f"{rate:.4g}",
            "unit": "GB/s of one step",
        }
        table.writerow(row)
        print(
            f"  {name:20} {1e3 * least:9.3f} ms (median {1e3 * float(row['median_s']):.3f}, "
            f"enqueued {1e3 * float(row['enqueue_s']):.3f}, kernels "
            f"{1e3 * kernels:.3f}), {row['launches']} launches, {rate:.0f} GB/s, "
            f"{rate / limit:.2f} of the copy",
            flush=True,
        )
    print("  the same bits in all forms" if len(hashes) == 1 else "  BITS DIFFER")


def main():
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", nargs="+", default=["gpu", "cuda"])
    parser.add_argument("--sides", nargs="+", type=int, default=[200, 6000])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--append", type=Path, metavar="CSV")
    options = parser.parse_args()
    with open(options.append or os.devnull, "a", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            table.writeheader()
        for asked in options.device:
            for side in options.sides:
                try:
                    measured(asked, side, options, table)
                except SocietiesError as error:
                    print(f"{asked} is left out: {error}", file=sys.stderr)
                    break


if __name__ == "__main__":
    main()
