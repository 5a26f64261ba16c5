"""How fast is the ray tracer, compared with Embree, Mitsuba and numba, in one run?

    python benchmarks/raytracer.py [--device D] [--forms brute tree] [--peers embree numba ...]
                                   [--spheres 1000] [--size 700] [--times 5] [--append CSV]

The scene is that of configs/physics/raytracer/spheres_1000.yaml, or a grid of another size. Rays
are those that leave the camera and those that ask whether a light is hidden; what the programs do
besides differs:

ours, numba    the picture: reflections in the mirrors too, light, fog, sums
numba-cuda     the same on a GPU, a thread a pixel
embree         intersections alone, without any colour; a sphere is 320 or 80 triangles
mitsuba-*      a picture with true spheres and one ray a pixel, without mirrors

What it must cost: a sphere takes 17 operations, so brute force takes 0.76 million rays x 1000 x 17
= 13 G operations, and at least 0.11 s on two cores that do 117 G/s, 0.4 ms on an H100 (33.5 T/s).

Peers take turns with ours; each row of the table is one measurement. Processor seconds add up all
threads: read these if the machine has other work too. A peer that cannot start says why and is
left out. ``pip install embreex mitsuba numba`` (``numba-cuda`` for GPUs) brings them.
"""

import argparse
import math
import os
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from appending import append

import societies
from reference_py.physics.raytracer.camera import rays
from reference_py.physics.raytracer.parameters import Parameters, grid
from societies.physics.raytracer import WORKLOAD, rows_of_launch, traced
from societies.workload.running.engines import DeviceEngine

COLUMNS = (
    *("device", "driver", "program", "spheres", "size", "rays", "seconds", "processor_s"),
    "rays_per_s",
)
ENOUGH = 0.2
"""Seconds for which a measurement is repeated at least."""


def picture(spheres, size):
    """Return the parameters of the published picture, or of a larger or smaller grid like it."""
    side = round(spheres ** (1 / 3))
    far = side / 10
    light = (-3.2 * far, 4.56 * far, 2.57 * far)
    return Parameters(grid(side, light), size, size, camera=(-12 * far, 4.45 * far, 4.31 * far))


def rays_of(device, p):
    """Return how many rays a picture takes: one a pixel, and where something is seen one more."""
    engine = DeviceEngine(WORKLOAD, replace(p, form="tree"), device)
    engine.start()
    for step in traced(p, 0, rows_of_launch(p)):
        engine.step(step, 1)
    return p.width * p.height + int((engine.state()["sum"][0] != 0).any(2).sum())


def timed(call):
    """Return seconds and processor seconds of a call that is repeated for a while."""
    call()
    times, began, used = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < ENOUGH:
        call()
        times += 1
    return (time.perf_counter() - began) / times, (time.process_time() - used) / times


# ---------------------------------------------------------------- ours


def ours(device, p):
    """Return a call that computes a sample; on a GPU eight, and it waits for the last."""
    engine = DeviceEngine(WORKLOAD, p, device)
    engine.start()
    steps = list(traced(p, 0, rows_of_launch(p)))
    again = 1 if device.kind == "cpu" else 8

    def call():
        for _ in range(again):
            for step in steps:
                engine.step(step, 1)
        engine.wait()

    def divided():
        seconds, used = timed(call)
        return seconds / again, used / again

    return divided


# ---------------------------------------------------------------- peers


def embree(p, subdivisions):
    """Return a measurement of Embree: first hits from the camera, then whether light is hidden."""
    import trimesh
    from embreex import rtcore_scene
    from embreex.mesh_construction import TriangleMesh

    ball = trimesh.creation.icosphere(subdivisions=subdivisions)
    triangles = ball.vertices[ball.faces].astype(np.float32)
    scene = rtcore_scene.EmbreeScene()
    parts = [triangles * r + np.array((x, y, z)) for x, y, z, r in p.scene.spheres.tolist()[1:]]
    TriangleMesh(scene, np.concatenate(parts).astype(np.float32))
    far = np.float32(1e4)
    corners = np.array([(-far, -far, -1), (far, -far, -1), (far, far, -1), (-far, far, -1)])
    TriangleMesh(scene, corners[[[0, 1, 2], [0, 2, 3]]].astype(np.float32))
    origin, towards = rays(p, p.view, 0, 0, p.height)
    directions = np.stack([x.ravel() for x in towards], 1)
    origins = np.broadcast_to(np.array(origin, np.float32), directions.shape).copy()
    found = scene.run(origins, directions, query="INTERSECT", output=1)
    hit = found["primID"] >= 0
    points = origins[hit] + directions[hit] * found["tfar"][hit][:, None]
    light = p.scene.lights[0, :3].astype(np.float32)
    back = points - light
    starts = np.broadcast_to(light, back.shape).copy()
    reach = np.full(len(back), 0.999, np.float32)  # the point itself is at 1

    def call():
        scene.run(origins, directions, query="INTERSECT", output=1)
        scene.run(starts, back, dists=reach, query="OCCLUDED")

    return len(directions) + len(starts), partial(timed, call)


def mitsuba(p, variant):
    """Return a measurement of Mitsuba's picture with one sample a pixel."""
    import mitsuba as mi

    mi.set_variant(variant)
    at = mi.ScalarTransform4f
    camera = np.array(p.camera)
    scene = {
        "type": "scene",
        "integrator": {"type": "direct", "emitter_samples": 1, "bsdf_samples": 0},
        "sensor": {
            "type": "perspective",
            "fov": 2 * math.degrees(math.atan(p.view_width / 2)),
            "to_world": at().look_at(
                camera.tolist(), (camera + np.array((1, 0, 0))).tolist(), [0, 0, 1]
            ),
            "film": {
                "type": "hdrfilm", "width": p.width, "height": p.height,
                "rfilter": {"type": "box"},
            },
            "sampler": {"type": "independent", "sample_count": 1},
        },
        "light": {
            "type": "point",
            "position": p.scene.lights[0, :3].tolist(),
            "intensity": {"type": "rgb", "value": 10.0},
        },
        "ground": {
            "type": "rectangle",
            "to_world": at().translate([0, 0, -1]).scale([1e4, 1e4, 1]),
        },
    }  # fmt: skip
    for number, (x, y, z, r) in enumerate(p.scene.spheres.tolist()[1:]):
        scene[f"s{number}"] = {"type": "sphere", "center": [x, y, z], "radius": r}
    loaded = mi.load_dict(scene)
    seed = iter(range(1, 10**9))

    def call():
        mi.set_variant(variant)  # for the whole process
        np.array(mi.render(loaded, spp=1, seed=next(seed)))

    return partial(timed, call)


def numba_functions(jit, math):
    """Return the functions of seed shading for one pixel, compiled for threads of some kind.

    Single precision, with fast arithmetic: the bits may differ from ours.
    """
    from numba import float32

    @jit
    def nearest(spheres, ox, oy, oz, dx, dy, dz, ignored, limit):
        best, number = limit, -1
        for i in range(spheres.shape[0]):
            vx, vy, vz = ox - spheres[i, 0], oy - spheres[i, 1], oz - spheres[i, 2]
            b = vx * dx + vy * dy + vz * dz
            q = b * b - (vx * vx + vy * vy + vz * vz - spheres[i, 3] * spheres[i, 3])
            if q >= 0:
                t = -b - math.sqrt(q)
                if t > 0 and t < best and i != ignored:
                    best, number = t, i
        if dz != 0:
            t = (float32(-1) - oz) / dz
            if t > 0 and t < best and ignored != spheres.shape[0]:
                best, number = t, spheres.shape[0]
        return best, number

    @jit
    def pixel(spheres, materials, light, camera, size, column, row, out):
        half, far = float32(0.5), float32(1e9)
        a, b = half - float32(column) / size, half - float32(row) / size
        length = math.sqrt(float32(1) + a * a + b * b)
        dx, dy, dz = float32(1) / length, a / length, b / length
        count = spheres.shape[0]
        t, k = nearest(spheres, camera[0], camera[1], camera[2], dx, dy, dz, -1, far)
        if k < 0:
            out[0] = out[1] = out[2] = 0
            return
        px, py, pz = camera[0] + dx * t, camera[1] + dy * t, camera[2] + dz * t
        nx, ny, nz = float32(0), float32(0), float32(1)
        if k < count:
            r = spheres[k, 3]
            nx, ny, nz = (
                (px - spheres[k, 0]) / r,
                (py - spheres[k, 1]) / r,
                (pz - spheres[k, 2]) / r,
            )
        seen = k
        if materials[k, 3] > 0:
            s = float32(2) * (dx * nx + dy * ny + dz * nz)
            _, seen = nearest(spheres, px, py, pz, dx - s * nx, dy - s * ny, dz - s * nz, k, far)
            if seen < 0:
                out[0] = out[1] = out[2] = 0
                return
        ex, ey, ez = light[0] - px, light[1] - py, light[2] - pz
        away = math.sqrt(ex * ex + ey * ey + ez * ez)
        ex, ey, ez = ex / away, ey / away, ez / away
        slope, g = ex * nx + ey * ny + ez * nz, float32(0)
        if slope >= 0:
            _, blocker = nearest(spheres, light[0], light[1], light[2], -ex, -ey, -ez, k, away)
            if blocker < 0:
                g = slope * away ** float32(-1.2)
        fog = float32(128) * min(float32(0.03) * t, float32(1))
        for i in range(3):
            value = materials[seen, i] * (half + g) - fog
            out[i] = int(min(max(value, float32(0)), float32(255)))

    return pixel


def numba_arrays(p):
    """Return scene and camera as arrays of singles."""
    return (
        p.scene.spheres.astype(np.float32),
        p.scene.materials.astype(np.float32),
        p.scene.lights[0, :3].astype(np.float32),
        np.array(p.camera, np.float32),
    )


def numba_cpu(p):
    """Return a measurement of brute force by numba on all cores, and its picture."""
    import numba

    pixel = numba_functions(numba.njit(fastmath=True), math)
    out = np.zeros((p.height, p.width, 3), np.uint8)
    arrays, size = numba_arrays(p), np.float32(p.width)

    @numba.njit(parallel=True, fastmath=True)
    def trace(spheres, materials, light, camera, size, out):
        for row in numba.prange(out.shape[0]):
            for column in range(out.shape[1]):
                pixel(spheres, materials, light, camera, size, column, row, out[row, column])

    return partial(timed, lambda: trace(*arrays, size, out)), out


def numba_cuda(p):
    """Return a measurement of brute force by numba on a GPU, and its picture on the device."""
    if not hasattr(np, "row_stack"):  # numba-cuda asks for it, NumPy 2.5 has it no more
        np.row_stack = np.vstack  # noqa: NPY201
    from numba import cuda

    pixel = numba_functions(cuda.jit(device=True, fastmath=True), math)
    out = cuda.device_array((p.height, p.width, 3), np.uint8)
    arrays, size = [cuda.to_device(one) for one in numba_arrays(p)], np.float32(p.width)

    @cuda.jit(fastmath=True)
    def trace(spheres, materials, light, camera, size, out):
        column, row = cuda.grid(2)
        if row < out.shape[0] and column < out.shape[1]:
            pixel(spheres, materials, light, camera, size, column, row, out[row, column])

    blocks = (-(-p.width // 16), -(-p.height // 16))

    def call():
        trace[blocks, (16, 16)](*arrays, size, out)
        cuda.synchronize()

    return partial(timed, call), out


PEERS = {
    "numba": lambda p, count: (count, numba_cpu(p)[0]),
    "numba-cuda": lambda p, count: (count, numba_cuda(p)[0]),
    "embree-320": lambda p, count: embree(p, 2),
    "embree-80": lambda p, count: embree(p, 1),
    "mitsuba-scalar_rgb": lambda p, count: (count, mitsuba(p, "scalar_rgb")),
    "mitsuba-llvm_ad_rgb": lambda p, count: (count, mitsuba(p, "llvm_ad_rgb")),
    "mitsuba-cuda_ad_rgb": lambda p, count: (count, mitsuba(p, "cuda_ad_rgb")),
}
ON_CPU = ("numba", "embree-320", "embree-80", "mitsuba-scalar_rgb", "mitsuba-llvm_ad_rgb")
ON_GPU = ("numba-cuda", "mitsuba-cuda_ad_rgb")


def started(name, p, count):
    """Return the rays and the measurement of a peer, or None: it says why it cannot start."""
    try:
        number, measure = PEERS[name](p, count)
        measure()  # some fail only when they compile
        return number, measure
    except Exception as error:
        print(f"{name} cannot start: {type(error).__name__}: {error}".splitlines()[0], flush=True)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--forms", nargs="*", default=["brute", "tree"])
    parser.add_argument("--peers", nargs="*", choices=PEERS, help="default: those of the device")
    parser.add_argument("--spheres", type=int, nargs="+", default=[1000])
    parser.add_argument("--size", type=int, default=700)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--append", type=Path, help="CSV file")
    options = parser.parse_args()
    device = societies.choose_device(options.device)
    peers = options.peers
    if peers is None:
        peers = ON_CPU if device.kind == "cpu" else ON_GPU
    print(f"{device}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    for spheres in options.spheres:
        p = picture(spheres, options.size)
        count = rays_of(device, p)
        programs = {
            f"ours, {form}": (count, ours(device, replace(p, form=form))) for form in options.forms
        }
        programs |= {name: one for name in peers if (one := started(name, p, count))}
        rows = {name: [] for name in programs}
        for _ in range(options.times):
            for name, (number, measure) in programs.items():
                seconds, used = measure()
                rows[name].append((number, seconds, used))
                if options.append:
                    row = (device.name, device.driver, name, len(p.scene.spheres) - 1)
                    row = (*row, options.size, number, f"{seconds:.6f}", f"{used:.6f}")
                    row = (*row, f"{number / seconds:.4g}")
                    append(options.append, COLUMNS, [dict(zip(COLUMNS, row, strict=True))])
        for name, ((number, *_), *_) in rows.items():
            best = min(seconds for _, seconds, _ in rows[name])
            used = min(used for _, _, used in rows[name])
            print(
                f"{name:20} {number:9,} rays {1000 * best:9.2f} ms {number / best / 1e6:8.1f} M/s"
                f"   processor {1000 * used:8.1f} ms {number / max(used, 1e-9) / 1e6:7.1f} M/s",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
