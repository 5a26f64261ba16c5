"""How fast are products, plates and blurs, compared with the machine's limits and with libraries?

    python benchmarks/physics.py [limits] [matmul] [laplace] [blur]
                                 [--device D] [--times 5] [--small] [--append CSV]

What is measured of the machine comes first: fused and separate operations, copy, triad, a launch.
Then the works, each next to its peers in the same run, ours and theirs in turn:

matmul     NumPy (OpenBLAS) and CLBlast: single precision, n 1024 and 2048, all forms of the kernels
laplace    numba on all threads: sides 200, 1000, 2000 and 6000, a step
blur       OpenCV, SciPy, Pillow: 12 million pixels, neighbours (float), box r 7 and Gaussian
           sigma 2 (bytes)

What a work must cost: a product n^3 fused operations; a step 9 bytes a cell (4 read, 4 written, 1
of the mask) and 5 operations; a blur by neighbours 8 bytes a value; a blur of bytes 2.

``seconds`` is the median by a clock on the wall, ``processor_s`` the least of all threads together,
which says more where the machine has other work. ``of_limit`` is the share of the limit of the row:
that of operations for a product, of the triad for the others. A peer that is not installed is named
and left out: ``pip install numba opencv-python-headless scipy pillow``. On a GPU CuPy,
PyTorch and JAX multiply (TF32 off), CuPy and JAX relax plates, cupyx and torchvision blur. CLBlast
is no Python package but a library of the system (Debian: libclblast1, which loads libOpenCL.so.1).
"""

import argparse
import csv
import os
import statistics
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

import societies
from reference_py.physics.blur.parameters import Parameters as Blurred
from societies.opencl import Program
from societies.physics import blur, laplace, matmul
from societies.workload.running.engines import DeviceEngine

HERE = Path(__file__).parent
COLUMNS = (
    *("device", "driver", "work", "size", "program", "seconds", "processor_s", "rate", "unit"),
    "of_limit",
)
ENOUGH = 0.2
"""Seconds for which a measurement is repeated at least."""

SETTLED = 0.2
"""Seconds between programs: threads of OpenBLAS wait busily for some 2^26 cycles, and those counted
as processor time of the program after NumPy."""


class Bench:
    """Measurements on a device, printed and appended to a table."""

    def __init__(self, device, times, small, table):
        self.device, self.times, self.small = device, times, small
        self.table, self.limits = table, {}

    def row(self, work, size, program, seconds, processor, amount, unit, limit=""):
        """Note a measurement: ``amount`` thousand millions of ``unit`` in ``seconds``."""
        rate = amount / seconds / 1e9
        share = f"{rate / self.limits[limit]:.3f}" if limit in self.limits else ""
        known = (work, size, program, f"{seconds:.6g}", f"{processor:.6g}", f"{rate:.4g}", unit)
        one = dict(zip(COLUMNS, (self.device.name, self.device.driver, *known, share), strict=True))
        self.table.writerow(one)
        print(*(f"{value!s:>12}" for value in (*known, share)), flush=True)
        return rate

    def compare(self, work, size, programs, amount, unit, limit=""):
        """Measure programs in turn; one that raises ImportError or OSError is left out."""
        ready = {}
        for name, made in programs.items():
            try:
                run = made()
                run()
                ready[name] = run
            except (ImportError, OSError) as error:
                print(f"{work}: {name} is left out: {error}", file=sys.stderr)
        found = {name: ([], []) for name in ready}
        for _ in range(self.times):
            for name, run in ready.items():
                repeats = 0
                time.sleep(SETTLED)
                began, ran = time.perf_counter(), time.process_time()
                while not repeats or time.perf_counter() - began < ENOUGH / self.times:
                    run()
                    repeats += 1
                found[name][0].append((time.perf_counter() - began) / repeats)
                found[name][1].append((time.process_time() - ran) / repeats)
        return {
            name: self.row(
                work, size, name, statistics.median(wall), min(used), amount, unit, limit
            )
            for name, (wall, used) in found.items()
        }

    # ------------------------------------------------------------ the machine

    def of_limits(self):
        """Measure operations, copy and triad, and a launch."""
        cpu = self.device.kind == "cpu"
        groups, items = (self.device.compute_units * 4, 1) if cpu else (4096, 256)
        sums, steps = (6, 2_000_000) if cpu else (24, 20_000)
        for fused in (True, False):
            macros = {"ARITHMETIC_IS_FUSED": fused, "NUM_IS_DOUBLE": False, "SUMS": sums}
            program = Program(self.device, HERE / "physics.cl", macros)
            factors = self.device.array(np.linspace(0.5, 0.9, 16, dtype=np.float32))
            result = self.device.zeros(groups * items, np.float32)
            one = program.kernel("operations")
            bound = one.bind(
                factors=factors, result=result, steps=steps, global_size=groups * items,
                local_size=items,
            )  # fmt: skip
            name = "fused" if fused else "separate"
            amount = sums * steps * groups * items * (16 if cpu else 1) * (1 if fused else 2)
            self.limits[name] = self.compare(
                "limit", "", {name: partial(self._launched, bound)}, amount,
                "G fused operations/s" if fused else "G operations/s",
            )[name]  # fmt: skip
        count = (1 << 24) if self.small else (1 << 26)
        arrays = {name: self.device.zeros(count, np.float32) for name in "abc"}
        many = count // (64 if cpu else 4096)
        for name, used in (("copy", "ac"), ("triad", "abc")):
            bound = program.kernel(name).bind(
                **{array: arrays[array] for array in used}, many=many,
                global_size=count // many * items, local_size=items,
            )  # fmt: skip
            found = self.compare(
                "limit", count, {name: partial(self._launched, bound)},
                4 * count * len(used), "GB/s",
            )  # fmt: skip
            self.limits[name] = found[name]
        empty = Program(self.device, HERE / "empty.cl").kernel("empty")
        word = self.device.zeros(1, np.int32)
        bound = empty.bind(unused=word, global_size=1, local_size=1)

        def hundred():
            for _ in range(100):
                bound()
            self.device.finish()

        self.compare("limit", "", {"100 launches": lambda: hundred}, 100, "G launches/s")

    def _launched(self, bound):
        def run():
            bound()
            self.device.finish()

        return run

    def engine(self, workload, p):
        """Return an engine that has begun."""
        engine = DeviceEngine(workload, p, self.device)
        engine.start()
        engine.run_ticks(1, 1)
        engine.wait()
        return engine

    # ------------------------------------------------------------ the works

    def of_matmul(self):
        """Measure products of all forms compared with NumPy's."""
        cpu = self.device.kind == "cpu"
        forms = ("tiled", "vector", "wide") if cpu else ("naive", "tiled", "blocked")
        for n in (512,) if self.small else (1024, 2048) if cpu else (1024, 8192):

            def ours(form, n=n):
                config = matmul.MatmulConfig(rows=n, inner=n, columns=n, variant=form)
                engine = self.engine(matmul.WORKLOAD, config.parameters())

                def run():
                    engine.run_ticks(2, 2)
                    engine.wait()

                return run

            def numpy(n=n):
                a, b = (np.random.default_rng(i).random((n, n), np.float32) for i in (1, 2))
                return lambda: a @ b

            def clblast(n=n):
                return clblast_product(self.device, n)

            programs = {form: partial(ours, form) for form in forms if n <= 1024 or form != "tiled"}
            if not cpu:
                programs |= {
                    one.__name__.removesuffix("_product"): on_gpu(one, n)
                    for one in (cupy_product, torch_product, jax_product)
                }
            self.compare(
                "matmul", n, programs | {"clblast": clblast, "numpy": numpy}, n**3,
                "G fused operations/s", "fused",
            )  # fmt: skip

    def of_laplace(self):
        """Measure a step of plates compared with numba's."""
        sides = (200, 500) if self.small else (200, 1000, 2000, 6000)
        for side in sides:
            steps = 48

            def ours(form, side=side, steps=steps):
                config = laplace.LaplaceConfig(
                    side=side, steps=10**6, variant=form, check_every=10**5,
                    record={"series": 10**5},
                )  # fmt: skip
                engine, done = self.engine(laplace.WORKLOAD, config_of(laplace, config)), [1]

                def run():
                    engine.run_ticks(done[0] + 1, done[0] + steps)
                    engine.wait()
                    done[0] += steps

                return run

            programs = {form: partial(ours, form) for form in ("seed", "rows", "tiled", "deep")}
            if side > 2000:
                del programs["seed"]
            if self.device.kind == "cpu":
                programs["numba"] = partial(numba_steps, side, steps)
            else:
                programs["cupy"] = on_gpu(cupy_steps, side, steps)
                programs["jax"] = on_gpu(jax_steps, side, steps)
            bytes_moved = 9.0 * side * side * steps
            self.compare("laplace", side, programs, bytes_moved, "GB/s of one step", "triad")

    def of_blur(self):
        """Measure a pass compared with libraries."""
        width, height = (1000, 750) if self.small else (4000, 3000)
        planes = np.random.default_rng(1).integers(0, 256, (1, 3, height, width), np.uint8)
        pixels = 3 * width * height

        def ours(**settings):
            engine, done = self.engine(blur.WORKLOAD, Blurred(planes, **settings)), [1]

            def run():
                engine.run_ticks(done[0] + 1, done[0] + 1)
                engine.wait()
                done[0] += 1

            return run

        def cv2_blur(kernel, dtype):
            import cv2

            images = [np.ascontiguousarray(one, dtype) for one in planes[0]]
            return lambda: [kernel(cv2, one) for one in images]

        def scipy_blur(kernel):
            from scipy import ndimage

            images = [one.astype(np.float32) for one in planes[0]]
            return lambda: [kernel(ndimage, one) for one in images]

        def pillow_blur(made):
            from PIL import Image, ImageFilter

            image = Image.fromarray(np.ascontiguousarray(np.moveaxis(planes[0], 0, 2)))
            return lambda: image.filter(made(ImageFilter))

        cross = np.array([[0, 0.25, 0], [0.25, 0, 0.25], [0, 0.25, 0]], np.float32)
        size = f"{width} x {height} x 3"
        gpu = {"neighbours": {}, "box": {}, "gaussian": {}}
        if self.device.kind != "cpu":
            for kind, of_kind in gpu.items():
                of_kind["cupyx"] = on_gpu(cupyx_blur, planes[0], kind, cross)
            gpu["gaussian"]["torchvision"] = on_gpu(torchvision_blur, planes[0])
        self.compare(
            "blur neighbours", size,
            {
                "ours": partial(ours, kind="neighbours"),
                "opencv": partial(cv2_blur, lambda cv2, one: cv2.filter2D(one, -1, cross), "f4"),
                "scipy": partial(scipy_blur, lambda nd, one: nd.correlate(one, cross)),
                **gpu["neighbours"],
            },
            8 * pixels, "GB/s", "triad",
        )  # fmt: skip
        self.compare(
            "blur box 7, bytes", size,
            {
                "ours": partial(
                    ours, kind="box", radius=7, border="mirror", arithmetic="bytes"
                ),
                "opencv": partial(cv2_blur, lambda cv2, one: cv2.blur(one, (15, 15)), "u1"),
                "pillow": partial(pillow_blur, lambda filters: filters.BoxBlur(7)),
                **gpu["box"],
            },
            2 * pixels, "GB/s", "triad",
        )  # fmt: skip
        gaussian = {"kind": "gaussian", "sigma": 2.0, "radius": 8, "border": "mirror"}
        self.compare(
            "blur gaussian 2", size,
            {
                "ours, fused": partial(ours, **gaussian, variant="fused"),
                "ours, separate": partial(ours, **gaussian, variant="separate"),
                "opencv, float": partial(
                    cv2_blur, lambda cv2, one: cv2.GaussianBlur(one, (17, 17), 2.0), "f4"
                ),
                "opencv, bytes": partial(
                    cv2_blur, lambda cv2, one: cv2.GaussianBlur(one, (17, 17), 2.0), "u1"
                ),
                "scipy": partial(scipy_blur, lambda nd, one: nd.gaussian_filter(one, 2.0)),
                "pillow": partial(pillow_blur, lambda filters: filters.GaussianBlur(2)),
                **gpu["gaussian"],
            },
            8 * pixels, "GB/s", "triad",
        )  # fmt: skip


def config_of(module, config):
    """Return the parameters of a configuration of a workload."""
    return module.WORKLOAD.parameters(config)


def clblast_product(device, n):
    """Return a product by CLBlast on the device's own queue, untuned as it is installed."""
    import ctypes

    import pyopencl as cl

    library = ctypes.CDLL("libclblast.so.1")
    row_major, as_it_is, whole = 101, 111, ctypes.c_size_t
    pointer, real = ctypes.c_void_p, ctypes.c_float
    matrix = (pointer, whole, whole)
    library.CLBlastSgemm.argtypes = [
        *[ctypes.c_int] * 3, *[whole] * 3, real, *matrix, *matrix, real, *matrix,
        ctypes.POINTER(pointer), pointer,
    ]  # fmt: skip
    a, b = (device.array(one) for one in _factors(n))
    c = device.zeros((n, n), np.float32)
    if not isinstance(c.buffer, cl.Buffer):
        raise ImportError("CLBlast needs OpenCL")
    queue = pointer(device.queue.int_ptr)

    def run():
        status = library.CLBlastSgemm(
            row_major, as_it_is, as_it_is, n, n, n, 1.0, a.buffer.int_ptr, 0, n,
            b.buffer.int_ptr, 0, n, 0.0, c.buffer.int_ptr, 0, n, ctypes.byref(queue), None,
        )  # fmt: skip
        if status:
            raise OSError(f"CLBlast ends with status {status}")
        device.finish()

    return run


def numba_steps(side, steps):
    """Return steps of a plate by numba, on all threads."""
    import numba

    @numba.njit(parallel=True, fastmath=False)
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
    arrays[0][side // 2, side // 2] = 1

    def run():
        for _ in range(steps):
            step(arrays[0], arrays[1], free)
            arrays.reverse()

    return run


# ---------------------------------------------------------------- programs on a GPU


def on_gpu(made, *arguments):
    """Return a function that prepares a program on a GPU; one that fails is left out by name."""

    def prepared():
        try:
            run = made(*arguments)
            run()
        except Exception as error:
            raise ImportError(f"{type(error).__name__}: {error}") from error
        return run

    return prepared


def gpu_of_jax():
    """Return JAX, which is not to take the memory of the others."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    if jax.default_backend() != "gpu":
        raise ImportError(f"JAX has {jax.default_backend()} only")
    return jax


def _factors(n):
    return (np.random.default_rng(i).random((n, n), np.float32) for i in (1, 2))


def cupy_product(n):
    """Return a product by cuBLAS, in single precision (CUPY_TF32 is 0 unless set)."""
    import cupy

    a, b = map(cupy.asarray, _factors(n))

    def run():
        a @ b
        cupy.cuda.get_current_stream().synchronize()

    return run


def torch_product(n):
    """Return a product by cuBLAS, TF32 off."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = (torch.from_numpy(one).cuda() for one in _factors(n))

    def run():
        a @ b
        torch.cuda.synchronize()

    return run


def jax_product(n):
    """Return a product by JAX, TF32 off."""
    jax = gpu_of_jax()
    a, b = map(jax.numpy.asarray, _factors(n))
    product = jax.jit(lambda x, y: jax.numpy.matmul(x, y, precision="highest"))
    return lambda: product(a, b).block_until_ready()


def _plate(side):
    phi, free = np.zeros((side, side), np.float32), np.zeros((side, side), np.bool_)
    free[1:-1, 1:-1] = True
    phi[side // 2, side // 2] = 1
    return phi, free


def cupy_steps(side, steps):
    """Return steps of a plate by one kernel of CuPy each."""
    import cupy

    phi, free = map(cupy.asarray, _plate(side))
    step = cupy.ElementwiseKernel(
        "raw float32 old, bool inner, int32 columns",
        "float32 fresh",
        "fresh = inner ? 0.25f * (((old[i + 1] + old[i - 1]) + old[i + columns]) "
        "+ old[i - columns]) : old[i]",
        "jacobi_step",
    )
    arrays = [phi, phi.copy()]

    def run():
        for _ in range(steps):
            step(arrays[0], free, np.int32(side), arrays[1])
            arrays.reverse()
        cupy.cuda.get_current_stream().synchronize()

    return run


def jax_steps(side, steps):
    """Return steps of a plate by one loop of JAX."""
    jax = gpu_of_jax()
    np_, (phi, _) = jax.numpy, _plate(side)

    def step(_, phi):
        mean = np_.float32(0.25) * (
            ((phi[1:-1, 2:] + phi[1:-1, :-2]) + phi[2:, 1:-1]) + phi[:-2, 1:-1]
        )
        return phi.at[1:-1, 1:-1].set(mean)

    many = jax.jit(lambda phi: jax.lax.fori_loop(0, steps, step, phi))
    at = np_.asarray(phi)
    return lambda: many(at).block_until_ready()


def cupyx_blur(planes, kind, cross):
    """Return a blur of three planes by cupyx.scipy.ndimage."""
    import cupy
    from cupyx.scipy import ndimage

    dtype = np.uint8 if kind == "box" else np.float32
    images = [cupy.asarray(one.astype(dtype)) for one in planes]
    weights = cupy.asarray(cross)
    blur_of = {
        "neighbours": lambda one: ndimage.correlate(one, weights),
        "box": lambda one: ndimage.uniform_filter(one, 15, mode="mirror"),
        "gaussian": lambda one: ndimage.gaussian_filter(one, 2.0, mode="mirror"),
    }[kind]

    def run():
        for one in images:
            blur_of(one)
        cupy.cuda.get_current_stream().synchronize()

    return run


def torchvision_blur(planes):
    """Return a Gaussian blur of three planes by torchvision."""
    import torch
    from torchvision.transforms.functional import gaussian_blur

    image = torch.from_numpy(planes.astype(np.float32)).cuda()

    def run():
        gaussian_blur(image, [17, 17], [2.0, 2.0])
        torch.cuda.synchronize()

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ("limits", "matmul", "laplace", "blur")
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(parts)}; default: all")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="small sizes, to try it")
    parser.add_argument("--append", type=Path, metavar="CSV")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(f"no part {', '.join(sorted(unknown))}; there is: {', '.join(parts)}")
    device = societies.choose_device(options.device, profiling=False)  # as a run has it
    print(f"{device}; driver {device.driver}; {device.version}")
    with open(options.append or os.devnull, "a", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        if not file.tell():
            table.writeheader()
        bench = Bench(device, options.times, options.small, table)
        for part in parts:
            if not options.parts or part in options.parts:
                getattr(bench, f"of_{part}")()


if __name__ == "__main__":
    main()
