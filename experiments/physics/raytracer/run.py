"""Reproduce the ray tracer's published pictures and timings, and compare its two forms.

    python experiments/physics/raytracer/run.py [--device auto] [--out results] [--pixels N]
                                                [PART ...]

Parts: pictures (figures 1 and 2), frames (seconds of a frame next to the published ones), forms
(brute force against the tree, 1 to a million spheres), precision (the tree in single and double
precision, 1000 to a million spheres), burst (how long after 150 mouse moves the last one is shown,
with and without the mailbox in which the latest event wins). With --pixels N the pictures of forms
are N x N: with a hundred brute force, too, gets to a million spheres.
README.md next to this says what to expect.
"""

import argparse
import csv
import os
import time
from dataclasses import replace
from pathlib import Path

from bursts import delay_after_burst

import societies
from reference_py.physics.raytracer.parameters import Parameters, grid
from societies.physics.raytracer import WORKLOAD, rows_of_launch, traced
from societies.workload.running.engines import DeviceEngine

HERE = Path(__file__).parent
FIGURES = {
    "figure_1_reflections": {
        "camera": (-2.4, 1.5, 2.6),
        "scene": {"grid": 4, "lights": [{"position": (-0.5, 1.5, 2.5)}]},
    },
    "figure_2_1000_spheres": {
        "camera": (-12, 4.45, 4.31),
        "scene": {"grid": 10, "lights": [{"position": (-3.2, 4.56, 2.57)}]},
    },
}
"""Keys of the pictures; camera and light of the second are ours, placed to match the published."""

PUBLISHED = {
    (1000, "Core i7-3770K"): 1.28,
    (1000, "Radeon HD 7970"): 0.055,
    (216, "Radeon HD 7970"): 1 / 60,
}
"""Seconds of a frame of 700 x 700 by number of spheres and device."""

SIDES = (1, 2, 4, 6, 10, 22, 46, 100)
LONGEST = 20.0
"""Processor seconds of a frame beyond which brute force is not tried with more spheres."""

MOVES = 150
PIXELS = 700
"""Width and height of the published pictures."""


def picture(side, pixels=PIXELS):
    """Return the published picture of 1000 spheres, or that of a larger or smaller cube like it."""
    far = side / 10
    return Parameters(
        grid(side, (-3.2 * far, 4.56 * far, 2.57 * far)),
        width=pixels,
        height=pixels,
        camera=(-12 * far, 4.45 * far, 4.31 * far),
    )


def seconds_of_frame(device, p, times=5):
    """Return seconds and processor seconds of a frame, the least of some, kernels alone."""
    engine = DeviceEngine(WORKLOAD, p, device)
    engine.start()
    steps = list(traced(p, 0, rows_of_launch(p)))
    found = []
    for _ in range(times + 1):  # the first is for the caches
        began, used = time.perf_counter(), time.process_time()
        for step in steps:
            engine.step(step, 1)
        engine.wait()
        found.append((time.perf_counter() - began, time.process_time() - used))
        if found[-1][0] > LONGEST:
            break
    found = found[1:] or found
    return min(one for one, _ in found), min(one for _, one in found)


def pictures(device, out):
    """Write figures 1 and 2."""
    for name, keys in FIGURES.items():
        path = out / f"{name}.png"
        config = societies.config_from_dict({"workload": "raytracer", **keys, "out": str(path)})
        societies.run(config, device=device, out=out / f"{name}.h5", overwrite=True)
        (out / f"{name}.h5").unlink()
        print(f"{path}", flush=True)


def frames(device, out):
    """Measure the frames whose times were published."""
    rows = [
        (spheres, where, "published", f"{seconds:.4f}", "")
        for (spheres, where), seconds in PUBLISHED.items()
    ]
    for side in (10, 6):
        for form in ("brute", "tree"):
            seconds, used = seconds_of_frame(device, replace(picture(side), form=form))
            rows.append((side**3, device.name, form, f"{seconds:.4f}", f"{used:.4f}"))
            print(f"{side**3} spheres, {form}: {1000 * seconds:.1f} ms", flush=True)
    write(out / "frames.csv", ("spheres", "device", "form", "seconds", "processor_s"), rows)


def forms(device, out, pixels=PIXELS):
    """Measure both forms with 1 to a million spheres, and how long either takes to set up."""
    name = "forms" if pixels == PIXELS else f"forms_{pixels}"
    rows, last = [], {"brute": 0.0, "tree": 0.0}
    for side in SIDES:
        p = picture(side, pixels)
        for form in ("brute", "tree"):
            if form == "brute" and last[form] * 8 > LONGEST:
                continue
            before = time.process_time()
            DeviceEngine(WORKLOAD, replace(p, form=form), device).start()
            set_up = time.process_time() - before
            seconds, used = seconds_of_frame(device, replace(p, form=form))
            last[form] = used
            row = (side**3, device.name, form, f"{seconds:.6f}", f"{used:.6f}", f"{set_up:.3f}")
            rows.append(row)
            print(f"{side**3} spheres, {form}: {1000 * seconds:.2f} ms", flush=True)
    columns = ("spheres", "device", "form", "seconds", "processor_s", "set_up_processor_s")
    write(out / f"{name}.csv", columns, rows)
    draw(rows, out / f"{name}.png", device)


def precision(device, out):
    """Measure the tree in both precisions: the bound on rounding enlarges its boxes."""
    rows = []
    for side in (side for side in SIDES if side >= 10):
        for kind in ("single", "double"):
            p = replace(picture(side), form="tree", precision=kind)
            seconds, used = seconds_of_frame(device, p, times=3)
            rows.append((side**3, device.name, kind, f"{seconds:.6f}", f"{used:.6f}"))
            print(f"{side**3} spheres, {kind}: {1000 * used:.1f} ms of processor time", flush=True)
    write(out / "precision.csv", ("spheres", "device", "precision", "seconds", "processor_s"), rows)


def draw(rows, path, device):
    """Draw the seconds of a frame by the number of spheres."""
    from matplotlib.figure import Figure

    used = 4 if device.kind == "cpu" else 3
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for form, colour, marker in (("brute", "#D55E00", "o"), ("tree", "#0072B2", "s")):
        points = [(row[0], 1000 * float(row[used])) for row in rows if row[2] == form]
        axes.plot(*zip(*points, strict=True), color=colour, marker=marker, label=form)
    unit = "processor time" if device.kind == "cpu" else "time"
    axes.set(xscale="log", yscale="log", xlabel="spheres", ylabel=f"{unit} of a frame [ms]")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


def burst(device, out):
    """Measure how long after the last of many moves its frame is shown."""
    config = societies.load_config("physics/raytracer/spheres_216")
    view = WORKLOAD.view(config, device=device)
    x, y, z = view.initial.camera
    states = [replace(view.initial, camera=(x, y + 0.01 * n, z)) for n in range(MOVES)]
    list(view.frames(view.initial))
    rows = []
    for newest in (True, False):
        delay = delay_after_burst(view, states, newest_only=newest)
        what = "mailbox: the latest event wins" if newest else "queue: each event in its turn"
        rows.append((what, device.name, MOVES, f"{delay:.3f}"))
        print(f"{what}: {delay:.3f} s after the last of {MOVES} moves", flush=True)
    write(out / "burst.csv", ("what", "device", "moves", "seconds"), rows)


def write(path, columns, rows):
    """Write a table; the load of the machine belongs to what was measured."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow((*columns, "load"))
        load = f"{os.getloadavg()[0]:.1f}"
        writer.writerows((*row, "" if "published" in row else load) for row in rows)


PARTS = {one.__name__: one for one in (pictures, frames, forms, precision, burst)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--pixels", type=int, default=PIXELS, help="width and height, of forms")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}: {', '.join(PARTS)}")
    options.out.mkdir(parents=True, exist_ok=True)
    device = societies.choose_device(options.device)
    print(device, flush=True)
    for part in options.parts or PARTS:
        more = {"pixels": options.pixels} if part == "forms" else {}
        PARTS[part](device, options.out, **more)


if __name__ == "__main__":
    main()
