"""Measure every workload of the report through OpenCL and through CUDA, from the same kernel files.

    python experiments/physics/opencl_cuda/run.py [--devices gpu cuda] [--seconds 140]
                     [--results DIR] [--pack FILE.tgz] [--small] [PART ...]
    python experiments/physics/opencl_cuda/run.py --draw [--results DIR]

Parts: launches, matmul, laplace, blur, atoms, future, more (the sizes that the others leave out).
Every measurement is a row of DIR/measurements.csv, written at once; a run that is cut short loses
nothing. What no time is left for is noted as left out. The text DIR/report.md and the figures are
made at the end, and again by --draw, from the table and without any device. README.md next to this
says what is measured and how.
"""

import argparse
import csv
import hashlib
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import tokenize
from functools import partial
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "agg")

import numpy as np
from ptx import class_of, opcodes
from report import ON_CPU

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
COLUMNS = ("device", "work", "variant", "size", "quantity", "detail", "run", "value", "unit")
PARTS = ("launches", "matmul", "laplace", "blur", "atoms", "future", "threads", "more")
RUNS = 10
LAPLACE_STEPS, BLUR_PASSES, ATOM_STEPS = 500, 100, 20
BLOCK = 50
"""Ticks that are enqueued at once."""

HASHED = 200e6
"""Bytes of arrays beyond which bits are not compared: it would take longer than the runs."""


class Bench:
    """Measurements on some devices in turn, written to a table as they come."""

    def __init__(self, devices, table, file, seconds, small, folder):
        self.devices, self.small, self.folder = devices, small, folder
        self._table, self._file = table, file
        self._end, self._whole = time.perf_counter() + seconds, seconds
        self._took = {}
        self._seen = set()
        self._ptx = caught_ptx()

    def note(self, device, work, variant, size, quantity, value, unit, detail="", run=""):
        """Write a row."""
        value = f"{value:.6g}" if isinstance(value, float) else value
        row = (device, work, variant, size, quantity, detail, run, value, unit)
        self._table.writerow(dict(zip(COLUMNS, row, strict=True)))

    def left(self):
        """Return how many seconds are left."""
        return self._end - time.perf_counter()

    def attempt(self, work, variant, size, function):
        """Measure something if there is time; a failure is noted, and the next one begins."""
        expected = 1.3 * self._took.get((work, variant), 0.0) + 1.0
        if self.left() < expected:
            self.note("", work, variant, size, "left out", f"{self.left():.0f} s left", "")
            print(f"left out: {work} {variant} {size}", flush=True)
            return
        began = time.perf_counter()
        try:
            said = function(work, variant, size) or ""
        except Exception as error:
            said = f"FAILED: {type(error).__name__}: {' '.join(str(error).split())}"
            self.note("", work, variant, size, "failed", said, "")
        took = time.perf_counter() - began
        self._took[work, variant] = max(took, self._took.get((work, variant), 0.0))
        self._file.flush()
        print(
            f"{self.left():6.0f} s left  {work} {variant} {size}: {took:.1f} s  {said}", flush=True
        )

    # ------------------------------------------------------------ what is measured of a program

    def built(self, label, device, work, variant, size, make):
        """Build a program twice, the second time from the cache; return it."""
        key = (label, work, variant, size)
        for kind in ("first build", "warm build"):
            self._ptx.clear()
            began = time.perf_counter()
            program = make()
            took = time.perf_counter() - began
            if key in self._seen:
                return program
            self.note(label, work, variant, size, kind, took, "s")
            if kind == "first build":
                self._count(label, device, program, work, variant, size)
        self._seen.add(key)
        return program

    def _count(self, label, device, program, work, variant, size):
        """Note the instructions of every kernel, if PTX is what the compiler gives."""
        text = self._ptx[-1] if self._ptx else binary_of(device, program)
        if ".entry" not in text:
            return
        folder = self.folder / "ptx"
        folder.mkdir(exist_ok=True)
        (folder / f"{work}-{variant}-{size}-{label}.ptx".replace(" ", "_")).write_text(text)
        for kernel, counts in opcodes(text).items():
            for opcode, count in sorted(counts.items()):
                self.note(
                    label, work, variant, size, f"instructions: {class_of(opcode)}", count,
                    "1", f"{kernel} {opcode}",
                )  # fmt: skip

    def engines(self, work, variant, size, workload, p):
        """Return an engine that has begun for each device, by its label."""
        from societies.opencl import Program
        from societies.workload.declare.phases import kernel_files
        from societies.workload.running.engines import DeviceEngine

        found = {}
        for label, device in self.devices.items():
            source = workload.source(p)
            files = kernel_files(workload.phases(p, 1))
            number = workload.work_items(p, 1, device)
            named = {source.work_items: number} if source.work_items else {}
            macros, header = {**source.macros, **named}, source.header
            make = partial(Program, device, files, macros=macros, header=header)
            self.built(label, device, work, variant, size, make)
            found[label] = DeviceEngine(workload, p, device)
            found[label].start()
            found[label].wait()
        return found

    def runs(self, work, variant, size, programs, at_most):
        """Run each program RUNS times, in turn; note host's and device's seconds of each run.

        ``programs`` has, by the label of a device, what runs and waits. Three runs are the least;
        there are no more once ``at_most`` seconds are used up.
        """
        began, host = time.perf_counter(), {label: [] for label in programs}
        at_most = min(at_most, self.left())
        for run in range(RUNS):
            for label, program in programs.items():
                device = self.devices[label]
                device.launched = []
                started = time.perf_counter()
                program()
                host[label].append(time.perf_counter() - started)
                launched, device.launched = device.launched, None
                self.note(label, work, variant, size, "host", host[label][-1], "s", run=run)
                taken = {}
                for bound, launch in launched:
                    taken.setdefault(bound.kernel.name, []).append(launch.seconds)
                for kernel, each in taken.items():
                    note = partial(self.note, label, work, variant, size, detail=kernel, run=run)
                    note("kernel", math.fsum(each), "s")
                    if not run:
                        note("launches", len(each), "1")
            if run >= 2 and time.perf_counter() - began > at_most:
                break
        medians = {label: statistics.median(times) for label, times in host.items()}
        return ", ".join(f"{label} {1e3 * one:.3f} ms" for label, one in medians.items())

    def workload(self, work, variant, size, workload, p, ticks, at_most=4.0):
        """Measure runs of a number of ticks of a workload; compare the bits after the first."""
        engines = self.engines(work, variant, size, workload, p)
        done = dict.fromkeys(engines, 0)

        def advance(label):
            first, last = done[label] + 1, done[label] + ticks
            for at in range(first, last + 1, BLOCK):
                engines[label].run_ticks(at, min(at + BLOCK - 1, last))
            engines[label].wait()
            done[label] = last

        arrays = sum(field.nbytes(engine.sizes) for engine in engines.values()
                     for field in engine.fields.values() if field.checkpointed)  # fmt: skip
        for label, engine in engines.items():
            advance(label)
            if arrays < HASHED:
                self.note(label, work, variant, size, "bits", engine.hash(), "SHA-256")
        programs = {label: partial(advance, label) for label in engines}
        return self.runs(work, variant, size, programs, at_most)

    # ------------------------------------------------------------ launches and copies

    def launches(self):
        """Measure launches that do nothing, and copies."""
        self.attempt("launch", "empty", "1", self._launch)
        sizes = (4096, 1 << 20, 1 << 24) if self.small else (4096, 1 << 18, 1 << 24, 1 << 28)
        for nbytes in sizes:
            self.attempt("copy", "pageable", nbytes, self._copy)

    def _launch(self, work, variant, size):
        from societies.opencl import Program

        for label, device in self.devices.items():
            program = self.built(
                label, device, "future", "all", "", partial(Program, device, HERE / "future.cl")
            )
            word = device.zeros(1, np.int32)
            bound = program.kernel("empty").bind(unused=word, global_size=1, local_size=1)
            raw = program.kernel("empty").new_handle()
            raw.set_arg(0, word.buffer)
            launch = partial(device.api.enqueue_nd_range_kernel, device.queue, raw, (1,), (1,))
            many = 100 if self.small else 1000
            for run, (name, function) in itertools.product(
                range(RUNS), (("ours", bound), ("pyopencl's own call", launch))
            ):
                began = time.perf_counter()
                for _ in range(many):
                    function()
                enqueued = time.perf_counter() - began
                device.finish()
                whole = time.perf_counter() - began
                note = partial(self.note, label, work, variant, size, run=run, unit="s")
                note("enqueued, each", enqueued / many, detail=name)
                note("in a row, each", whole / many, detail=name)
                began = time.perf_counter()
                for _ in range(many // 10):
                    function()
                    device.finish()
                note("alone", (time.perf_counter() - began) / (many // 10), detail=name)

    def _copy(self, work, variant, size):
        host = np.arange(size // 4, dtype=np.float32)
        for label, device in self.devices.items():
            array = device.array(host)
            array.get()
            for run in range(RUNS):
                note = partial(self.note, label, work, variant, size, run=run, unit="s")
                began = time.perf_counter()
                array.set(host)
                device.finish()
                note("to the device", time.perf_counter() - began)
                began = time.perf_counter()
                array.get()
                note("to the host", time.perf_counter() - began)

    # ------------------------------------------------------------ the report's workloads

    def matmul(self, more=False):
        """Measure products of the report's two forms, of ours, and of cuBLAS."""
        cpu = any(device.kind == "cpu" for device in self.devices.values())
        sizes = (3000, 6000, 10000) if more else (1000, 2000, 4000, 8000)
        if self.small or cpu:
            sizes = (300,) if more else (256, 512)
        for n in sizes:
            for variant in ("naive", "tiled", "vector" if cpu else "blocked"):
                self.attempt("matmul", variant, n, self._matmul)
            if "CUDA" in self.devices:
                self.attempt("matmul", "cuBLAS", n, self._cublas)

    def _matmul(self, work, variant, n):
        from societies.physics import matmul

        config = matmul.MatmulConfig(rows=n, inner=n, columns=n, variant=variant, tile=16)
        return self.workload(work, variant, n, matmul.WORKLOAD, config.parameters(), 1, 3.0)

    def _cublas(self, work, variant, n):
        import cupy

        random = cupy.random.default_rng(1)
        factors = [random.random((n, n), np.float32) for _ in range(2)]
        product = cupy.empty_like(factors[0])

        def run():
            cupy.matmul(*factors, out=product)
            cupy.cuda.runtime.deviceSynchronize()

        run()
        return self.runs(work, variant, n, {"CUDA": run}, 2.0)

    def laplace(self, more=False):
        """Measure 500 steps of the report's form (two kernels), and of ours."""
        sizes = (300, 400, 1200, 1600, 3000, 4000) if more else (200, 800, 2000, 6000)
        variants = ("seed", "deep") if more else ("seed", "rows", "tiled", "deep")
        if self.small:
            sizes = (100,) if more else (200, 400)
        for side, variant in itertools.product(sizes, variants):
            self.attempt("laplace", variant, side, self._laplace)

    def _laplace(self, work, variant, side):
        from societies.physics import laplace

        config = laplace.LaplaceConfig(
            side=side, steps=10**6, variant=variant, check_every=10**5, record={"series": 10**5}
        )
        p = laplace.WORKLOAD.parameters(config)
        return self.workload(work, variant, side, laplace.WORKLOAD, p, LAPLACE_STEPS, 2.0)

    def blur(self, more=False):
        """Measure 100 passes of the report's blur of bytes, of floats, and Gaussians."""
        sizes = (16384, 614185, 1920000) if more else (256, 65536, 262144, 786432, 10640014)
        if self.small:
            sizes = (1024,) if more else (256, 16384)
        for pixels, variant in itertools.product(sizes, ("seed", "float", "gaussian")):
            self.attempt("blur", variant, pixels, self._blur)

    def _blur(self, work, variant, pixels):
        from reference_py.physics.blur.parameters import Parameters
        from societies.physics import blur

        height = math.isqrt(pixels * 3 // 4)
        while pixels % height and height > math.isqrt(pixels // 3):
            height -= 1
        width = pixels // height
        image = np.random.default_rng(1).integers(0, 256, (1, 3, height, width), np.uint8)
        settings = {
            "seed": {"kind": "neighbours", "arithmetic": "seed"},
            "float": {"kind": "neighbours"},
            "gaussian": {
                "kind": "gaussian", "sigma": 2.0, "radius": 8, "border": "mirror",
                "variant": "fused",
            },
        }[variant]  # fmt: skip
        p = Parameters(image, **settings)
        return self.workload(work, variant, pixels, blur.WORKLOAD, p, BLUR_PASSES, 2.0)

    def atoms(self, more=False):
        """Measure steps of the report's gas, by atoms and by cells as it did, and by lists."""
        sizes = (20, 28, 32, 36, 40) if more else (16, 24, 44)
        variants = ("particle", "cell") if more else ("particle", "cell", "list")
        if self.small:
            sizes = (8,) if more else (6,)
        for cells, variant in itertools.product(sizes, variants):
            self.attempt("atoms", variant, 4 * cells**3, self._atoms)

    def _atoms(self, work, variant, atoms):
        import societies
        from societies.physics.molecular_dynamics import WORKLOAD

        settings = {
            "workload": "molecular_dynamics", "cells": round((atoms / 4) ** (1 / 3)),
            "density": 0.15, "temperature": 1.4, "cutoff": 2.5, "dt": 0.003, "degrees": "3N",
            "velocities": "pairs", "thermostat": "rescale", "equilibrate": 400, "variant": variant,
            "record": {"series": 10**6},
        }  # fmt: skip
        p = WORKLOAD.parameters(societies.config_from_dict(settings))
        self._transfers(work, variant, atoms)
        return self.workload(work, variant, atoms, WORKLOAD, p, ATOM_STEPS, 5.0)

    def _transfers(self, work, variant, atoms):
        """Measure the copies of positions, velocities and forces that the report made each step."""
        if variant != "particle":
            return
        host = [np.zeros((atoms, 3), np.float32) for _ in range(3)]
        for label, device in self.devices.items():
            arrays = [device.array(one) for one in host]
            for run in range(RUNS):
                began = time.perf_counter()
                for array, one in zip(arrays, host, strict=True):
                    array.set(one)
                    array.get()
                took = time.perf_counter() - began
                self.note(label, work, variant, atoms, "transfers", took, "s", run=run)

    # ------------------------------------------------------------ future considerations

    def future(self):
        """Measure what the report leaves to others, one thing at a time."""
        n = 256 if self.small else 2048
        for variant in ("product_one", "product_four", "product_vector"):
            self.attempt("future", variant, n, self._product)
        count = (1 << 18) if self.small else (1 << 24)
        for variant in ("branch_none", "branch_agreed", "branch_diverging"):
            self.attempt("future", variant, count, self._line)
        side = 300 if self.small else 4096
        for variant in ("blur_conditions", "blur_padded", "blur_line"):
            self.attempt("future", variant, side, self._plane)
        for variant in ("window_plain", "window_restrict", "window_constant"):
            self.attempt("future", variant, count, self._window)

    def threads(self):
        """Measure OpenCL on the CPU of this machine compared with numba's threads."""
        import societies

        others, self.devices = self.devices, {ON_CPU: societies.choose_device("cpu")}
        for side in (200, 400) if self.small else (200, 1000, 2000):
            for variant in ("rows", "deep"):
                self.attempt("laplace", variant, side, self._laplace)
            self.attempt("laplace", "numba", side, self._numba)
        self.devices = others

    def _small(self, work, variant, size, arrays, sizes, result, **numbers):
        """Measure a kernel of future.cl; note the bits of one of its arrays."""
        from societies.opencl import Program

        programs = {}
        for label, device in self.devices.items():
            program = self.built(
                label, device, "future", "all", "", partial(Program, device, HERE / "future.cl")
            )
            memory = {name: device.array(one) for name, one in arrays.items()}
            bound = program.kernel(variant).bind(
                **memory, **numbers, global_size=sizes[0], local_size=sizes[1]
            )

            def run(bound=bound, device=device):
                bound()
                device.finish()

            run()
            bits = hashlib.sha256(result(memory)).hexdigest()
            self.note(label, work, variant, size, "bits", bits, "SHA-256")
            programs[label] = run
        return self.runs(work, variant, size, programs, 1.5)

    def _product(self, work, variant, n):
        random = np.random.default_rng(1)
        arrays = {name: random.random((n, n), np.float32) for name in "ab"}
        arrays["c"] = np.zeros((n, n), np.float32)
        wide = n if variant == "product_one" else n // 4
        sizes = ((wide, n), (32, 8))
        return self._small(work, variant, n, arrays, sizes, lambda m: m["c"].get(), n=n)

    def _line(self, work, variant, count):
        arrays = {"from": np.random.default_rng(1).random(count, np.float32)}
        arrays["into"] = np.zeros(count, np.float32)
        return self._small(
            work, variant, count, arrays, ((count,), (256,)), lambda m: m["into"].get()
        )

    def _plane(self, work, variant, side):
        planes = np.random.default_rng(1).random((3, side, side), np.float32)
        padded = variant != "blur_conditions"
        if padded:
            planes = np.pad(planes, ((0, 0), (1, 1), (1, 1)))
        arrays = {"from": planes, "into": np.zeros_like(planes)}
        inside = (slice(None), slice(1, -1), slice(1, -1)) if padded else ()

        def result(memory):
            return np.ascontiguousarray(memory["into"].get()[inside])

        sizes = ((side, side, 3), (32, 8, 1))
        if variant == "blur_line":
            sizes = ((3 * side * side,), (256,))
        return self._small(
            work, variant, side, arrays, sizes, result, width=side, height=side, planes=3
        )

    def _window(self, work, variant, count):
        random, taps = np.random.default_rng(1), 17
        arrays = {
            "from": random.random(count + taps, np.float32),
            "weights": random.random(taps, np.float32),
            "into": np.zeros(count, np.float32),
        }
        return self._small(
            work, variant, count, arrays, ((count,), (256,)), lambda m: m["into"].get(),
            count=count, taps=taps,
        )  # fmt: skip

    def _numba(self, work, variant, side):
        """Measure the same steps by numba, on all threads of this machine."""
        import numba

        @numba.njit(parallel=True)
        def step(phi, after, free):
            rows, columns = phi.shape
            for i in numba.prange(1, rows - 1):
                for j in range(1, columns - 1):
                    new = np.float32(0.25) * (
                        ((phi[i, j + 1] + phi[i, j - 1]) + phi[i + 1, j]) + phi[i - 1, j]
                    )
                    after[i, j] = new if free[i, j] else phi[i, j]

        arrays = [np.zeros((side, side), np.float32) for _ in range(2)]
        free = np.zeros((side, side), np.bool_)
        free[1:-1, 1:-1] = True
        middle = slice(side // 2 - 1, side // 2 + 1)
        free[middle, middle] = False
        for one in arrays:
            one[middle, middle] = 1

        def run():
            for _ in range(LAPLACE_STEPS):
                step(arrays[0], arrays[1], free)
                arrays.reverse()

        run()
        for number in range(RUNS):
            began = time.perf_counter()
            run()
            took = time.perf_counter() - began
            self.note("numba", work, variant, side, "host", took, "s", run=number)
            if self.left() < 5:
                break

    def more(self):
        """Measure the sizes that were left out before."""
        for part in (self.atoms, self.matmul, self.laplace, self.blur):
            part(more=True)


def caught_ptx():
    """Return a list to which NVRTC's PTX is added from now on."""
    from societies.opencl.cuda import compiler

    texts, compile_text = [], compiler.compile_text

    def noted(*given):
        made = compile_text(*given)
        texts.append(made[0])
        return made

    compiler.compile_text = noted
    return texts


def binary_of(device, program):
    """Return the binary of an OpenCL program as text: with NVIDIA, PTX."""
    try:
        wanted = device.api.program_info.BINARIES
        return bytes(program._cl_program.get_info(wanted)[0]).decode("ascii", "replace")
    except AttributeError:
        return ""


def code_lines(path):
    """Return the lines of a file that hold code: no comments, docstrings or empty lines."""
    if path.suffix != ".py":
        rows = (row.strip() for row in path.read_text().splitlines())
        return sum(1 for row in rows if row and not row.startswith("//"))
    layout = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
    lines, begins = set(), True
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type in (tokenize.COMMENT, tokenize.ENDMARKER):
                continue
            if token.type in layout:
                begins = True
            elif not (begins and token.type == tokenize.STRING):
                lines.update(range(token.start[0], token.end[0] + 1))
                begins = False
    return len(lines)


def host_code(bench):
    """Note how many lines of code both device layers and the workloads have."""
    layer = ROOT / "societies/opencl"
    groups = {
        "layer, OpenCL": sorted(layer.glob("*.py")),
        "layer, CUDA in addition": sorted((layer / "cuda").glob("*.[pc]*")),
    }
    for name in ("matmul", "laplace", "blur", "molecular_dynamics"):
        groups[name] = [ROOT / f"societies/physics/{name}/__init__.py"]
    for name, paths in groups.items():
        lines = sum(code_lines(path) for path in paths)
        bench.note("", name, "", "", "lines of host code", lines, "1")


def clocks():
    """Return what nvidia-smi says of driver and clocks; empty without it."""
    fields = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,temperature.gpu,power.draw"
    command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def labelled(names):
    """Return the devices by a short label: CUDA, OpenCL, or OpenCL and a number."""
    import societies

    found = {}
    for name in names:
        device = societies.choose_device(name)
        label = first = "CUDA" if device.index.startswith("cuda") else "OpenCL"
        for number in itertools.count(2):
            if label not in found:
                break
            label = f"{first} {number}"
        found[label] = device
    return found


def facts_of(devices):
    """Return what is known of the machine before anything is measured."""
    return {
        "devices": {
            label: {
                "name": device.name,
                "platform": device.platform,
                "version": device.version,
                "driver": device.driver,
                "platform_version": device.platform_version,
                "options": list(device.build_options),
                "kind": device.kind,
            }
            for label, device in devices.items()
        },
        "python": sys.version.split()[0],
        "date": time.strftime("%Y-%m-%d"),
        "clocks before": clocks(),
    }


def measure(options):
    """Make the table, and facts.json about the machine."""
    options.results.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    devices = labelled(options.devices)
    facts, record = facts_of(devices), options.results / "facts.json"
    record.write_text(json.dumps(facts, indent=1) + "\n")
    for label, device in devices.items():
        print(f"{label}: {device}; {device.version}; driver {device.driver}", flush=True)
    with open(options.results / "measurements.csv", "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        seconds = options.seconds - (time.perf_counter() - began)
        bench = Bench(devices, table, file, seconds, options.small, options.results)
        host_code(bench)
        for part in PARTS:
            if not options.parts or part in options.parts:
                getattr(bench, part)()
    facts |= {"seconds": round(time.perf_counter() - began, 1), "clocks after": clocks()}
    record.write_text(json.dumps(facts, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; default: all")
    parser.add_argument("--devices", nargs="+", default=["gpu", "cuda"], metavar="D")
    parser.add_argument("--seconds", type=float, default=140.0, help="of the whole run")
    parser.add_argument("--results", type=Path, default=HERE / "results", metavar="DIR")
    parser.add_argument("--pack", type=Path, metavar="FILE.tgz", help="put DIR into one file too")
    parser.add_argument("--small", action="store_true", help="small sizes, to try it")
    parser.add_argument("--draw", action="store_true", help="figures and text from the table alone")
    options = parser.parse_intermixed_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there is: {', '.join(PARTS)}")
    from report import Measurements, figures, written

    if not options.draw:
        with tempfile.TemporaryDirectory() as cache:
            # A first build finds nothing in these caches, neither ours nor the driver's.
            os.environ["SOCIETIES_CACHE_DIR"] = f"{cache}/societies"
            os.environ["CUDA_CACHE_PATH"] = f"{cache}/driver"
            try:
                measure(options)
            except KeyboardInterrupt:
                print("interrupted: all measurements so far are in the table", flush=True)
    table = Measurements(options.results)
    (options.results / "report.md").write_text(written(table), encoding="utf-8")
    figures(table, options.results)
    if options.pack:
        with tarfile.open(options.pack, "w:gz") as packed:
            packed.add(options.results, "results")


if __name__ == "__main__":
    main()
