"""Is a kernel faster through one of OpenCL and CUDA because of its code, or of who launches it?

    python experiments/physics/opencl_cuda/crossed.py [--results DIR] [--small]
    python experiments/physics/opencl_cuda/crossed.py --one "matmul naive 4000" --code CUDA

Each kernel runs three ways: as OpenCL compiles and launches it, the same PTX launched by CUDA, and
as CUDA compiles and launches it. (OpenCL's driver crashes on CUDA's PTX.) The first command times
them in turn and writes DIR/crossed.csv and, with registers and warps, DIR/crossed.md. The second
runs one kernel three times through CUDA, for a profiler to look at.
"""

import argparse
import csv
import hashlib
import os
import re
import statistics
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from run import HERE, binary_of, labelled

RUNS = 10
WAYS = ("OpenCL", "OpenCL"), ("OpenCL", "CUDA"), ("CUDA", "CUDA")
"""Whose code, and by whom it is launched; OpenCL's own is built first, as the next one needs it."""

COLUMNS = ("kernel", "size", "code", "launched by", "run", "seconds")
WARPS, REGISTERS, UNIT, LANES = 64, 65536, 256, 32
"""Most warps of a multiprocessor, its registers, of which a warp gets whole units, and a warp's
work-items (compute capability 9.0)."""

ENVIRONMENT = {
    **{f"envreg{axis}": "0" for axis in (0, 1, 2, 3, 4, 5)},
    "envreg6": "%nctaid.x",
    "envreg7": "%nctaid.y",
    "envreg8": "%nctaid.z",
}
"""What OpenCL's driver tells a kernel: where its workgroups and work-items begin, how many
workgroups there are. CUDA's driver does not."""

TARGET = re.compile(r"^\.target .*$", re.MULTILINE)
REGISTER = re.compile(r"mov\.[bu]32(\s+%r\d+), %(envreg\d+);")


def for_cuda(ptx):
    """Return OpenCL's PTX as CUDA's driver takes it."""
    ptx = TARGET.sub(lambda line: line[0].replace(", texmode_independent", ""), ptx)
    ptx = REGISTER.sub(lambda m: f"mov.u32{m[1]}, {ENVIRONMENT[m[2]]};", ptx)
    return re.sub(r"^\.entry", ".visible .entry", ptx, flags=re.MULTILINE)


class Crossing:
    """Programs of both devices; those of CUDA are built from either compiler's PTX."""

    def __init__(self, devices):
        from societies.opencl import program

        self.devices = devices
        self.texts = {}  # OpenCL's PTX by the kernels in it
        self._module, self._compile = program, program.compile_program

    @contextmanager
    def code(self, of):
        """Build every program inside from the PTX of the compiler ``of``."""

        def built(device, source, options):
            made, signatures = self._compile(device, source, options)
            key = tuple(sorted(signatures))
            if device is self.devices["OpenCL"]:
                given = SimpleNamespace(_cl_program=made)
                self.texts[key] = binary_of(device, given)
            elif of == "OpenCL":
                text = for_cuda(self.texts[key]).encode() + b"\0"
                made = type(made)(device.api, text, made.entries)
            return made, signatures

        self._module.compile_program = built
        try:
            yield
        finally:
            self._module.compile_program = self._compile


def workloads(small):
    """Yield what is measured: work, variant, size, workload, parameters, ticks, kernel."""
    import societies
    from societies.physics import laplace, matmul
    from societies.physics.molecular_dynamics import WORKLOAD

    sizes = {"naive": (2000, 4000), "tiled": (4000,), "blocked": (4000,)}
    for variant, edges in sizes.items():
        for n in (96,) if small else edges:
            given = {"rows": n, "inner": n, "columns": n, "variant": variant, "tile": 16}
            p = matmul.MatmulConfig(**given).parameters()
            yield "matmul", variant, n, matmul.WORKLOAD, p, 1, "multiply"
    side = 200 if small else 6000
    plate = laplace.LaplaceConfig(
        side=side, steps=10**6, variant="deep", check_every=10**5, record={"series": 10**5}
    )
    p = laplace.WORKLOAD.parameters(plate)
    yield "laplace", "deep", side, laplace.WORKLOAD, p, 50, "deep"
    cells = 6 if small else 44
    settings = {
        "workload": "molecular_dynamics", "cells": cells, "density": 0.15, "temperature": 1.4,
        "cutoff": 2.5, "dt": 0.003, "degrees": "3N", "velocities": "pairs",
        "thermostat": "rescale", "equilibrate": 400, "variant": "cell",
        "record": {"series": 10**6},
    }  # fmt: skip
    p = WORKLOAD.parameters(societies.config_from_dict(settings))
    yield "atoms", "cell", 4 * cells**3, WORKLOAD, p, 3, "forces"


def engine(workload, p, ticks, device):
    """Return a function that runs a number of ticks, and one that hashes the state after them."""
    from societies.workload.running.engines import DeviceEngine

    made = DeviceEngine(workload, p, device)
    made.start()
    made.wait()
    done = [0]

    def run():
        made.run_ticks(done[0] + 1, done[0] + ticks)
        made.wait()
        done[0] += ticks

    return run, made.hash


def vectors(device, n):
    """Return what multiplies by the vectors of future.cl, and what gives a hash of the product."""
    from societies.opencl import Program

    random = np.random.default_rng(1)
    arrays = {name: device.array(random.random((n, n), np.float32)) for name in "ab"}
    arrays["c"] = device.array(np.zeros((n, n), np.float32))
    kernel = Program(device, HERE / "future.cl").kernel("product_vector")
    bound = kernel.bind(**arrays, n=n, global_size=(n // 4, n), local_size=(32, 8))

    def run():
        bound()
        device.finish()

    return run, lambda: hashlib.sha256(arrays["c"].get()).hexdigest()


def cases(small):
    """Yield a name, a size, a kernel, and what makes it run on a device."""
    for work, variant, size, workload, p, ticks, kernel in workloads(small):
        yield (
            f"{work} {variant}", size, kernel,
            lambda device, w=workload, p=p, ticks=ticks: engine(w, p, ticks, device),
        )  # fmt: skip
    n = 256 if small else 2048
    yield "product by vectors", n, "product_vector", lambda device: vectors(device, n)


def timed(device, run, kernel):
    """Return the device's seconds of a kernel in a run, and the kernel."""
    device.launched = []
    run()
    launched, device.launched = device.launched, None
    ours = [(bound, launch) for bound, launch in launched if bound.kernel.name == kernel]
    return sum(launch.seconds for _, launch in ours), ours[-1][0]


def warps(device, bound):
    """Return registers of a work-item and warps on a multiprocessor, as far as they limit these."""
    driver = device.api.driver
    what = driver.CU_FUNC_ATTRIBUTE_NUM_REGS
    registers = int(driver.funcGetAttribute(what, bound.kernel._cl_kernel.function))
    (_, local) = bound.sizes
    of_group = -(-int(np.prod(local)) // LANES)
    each = -(-registers * LANES // UNIT) * UNIT
    return registers, min(WARPS, REGISTERS // each) // of_group * of_group


def measure(crossing, options):
    """Time every kernel in every way."""
    options.results.mkdir(parents=True, exist_ok=True)
    facts = {}
    with open(options.results / "crossed.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for name, size, kernel, make in cases(options.small):
            ways = {}
            for way in WAYS:
                with crossing.code(way[0]):
                    device = crossing.devices[way[1]]
                    ways[way] = (device, *make(device))
            times, bits = {way: [] for way in ways}, set()
            for number in range(RUNS + 1):
                for way, (device, run, result) in ways.items():
                    seconds, bound = timed(device, run, kernel)
                    if number:
                        times[way].append(seconds)
                        table.writerow((name, size, *way, number, f"{seconds:.6g}"))
                    else:
                        bits.add(result())
                    if way[1] == "CUDA" and not number:
                        facts[name, size, way[0]] = warps(device, bound)
            file.flush()
            row = ", ".join(
                f"{of} by {by} {1e3 * statistics.median(each):.4g}"
                for (of, by), each in times.items()
            )
            print(f"{name} {size}: {row} ms; {len(bits)} hash", flush=True)
            yield name, size, times, facts, len(bits)


def written(rows):
    """Return the medians as a table."""
    lines = [
        "| kernel | OpenCL's code by OpenCL, by CUDA, and CUDA's by CUDA, ms "
        "| OpenCL's / CUDA's, each by its own and both by CUDA | registers | warps | bits |",
        "|---|---|---|---|---|---|",
    ]
    for name, size, times, facts, hashes in rows:
        ms = [1e3 * statistics.median(times[way]) for way in WAYS]
        pairs = [[facts[name, size, of][i] for of in ("OpenCL", "CUDA")] for i in (0, 1)]
        registers, many = (" and ".join(map(str, one)) for one in pairs)
        bits = "same" if hashes == 1 else "DIFFERENT"
        lines.append(
            f"| {name} {size} | {', '.join(f'{one:.4g}' for one in ms)} "
            f"| {ms[0] / ms[2]:.3f}, {ms[1] / ms[2]:.3f} | {registers} | {many} | {bits} |"
        )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=HERE / "results", metavar="DIR")
    parser.add_argument("--small", action="store_true", help="small sizes, to try it")
    parser.add_argument("--one", metavar="KERNEL SIZE", help="run this one alone, through CUDA")
    parser.add_argument("--code", choices=("OpenCL", "CUDA"), default="CUDA")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SOCIETIES_CACHE_DIR"] = cache
        chosen(Crossing(labelled(["gpu", "cuda"])), options, parser)


def chosen(crossing, options, parser):
    """Do what the options say."""
    if options.one:
        for name, size, _, make in cases(options.small):
            if f"{name} {size}" == options.one:
                with crossing.code(options.code):
                    if options.code == "OpenCL":
                        make(crossing.devices["OpenCL"])
                    run, _ = make(crossing.devices["CUDA"])
                for _ in range(3):
                    run()
                return
        parser.error(f"no kernel {options.one}")
    rows = list(measure(crossing, options))
    (options.results / "crossed.md").write_text(written(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
