"""Repeat the published measurements of the gas of Lennard-Jones atoms, and its energies.

    python experiments/physics/molecular_dynamics/run.py [--device auto] [--steps 5] [--small]
                     [--out results] [PART ...]

Parts: times (the 1001 evaluations of forces of the published runs by number of atoms and variant,
by kernel, and the copies that the original made), gas (energies of the published run and their
averages), steps (the error of the energy by the length of a step). Tables and figures are written
to the folder; --draw draws the figures from the tables. README.md next to this says what to expect.
"""

import argparse
import csv
import itertools
import os
import statistics
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

import societies
from societies.physics.molecular_dynamics import WORKLOAD
from societies.workload.running.engines import LOG_TICKS, DeviceEngine

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from published_atoms import EVALUATIONS, FINDING, LOOP, PUBLISHED, TRANSFERS  # noqa: E402

CELLS = (16, 20, 24, 28, 32, 36, 40, 44)
VARIANTS = ("particle", "cell", "list")
GAS = {
    "workload": "molecular_dynamics", "density": 0.15, "temperature": 1.4, "cutoff": 2.5,
    "dt": 0.003, "degrees": "3N", "velocities": "pairs", "thermostat": "rescale",
    "equilibrate": 400,
}  # fmt: skip
"""The published gas: configs/physics/molecular_dynamics/seed.yaml."""

AVERAGES = {
    "total_energy": (1.45367, 0.03), "kinetic_energy": (2.16102, 0.03),
    "potential_energy": (-0.70734, 0.03), "pressure": (0.18978, 0.03),
    "temperature": (1.44068, 0.02),
}  # fmt: skip
"""Averages of the published program over steps 401 to 1000, and how far a chaotic gas may be."""

DRIFT = 2.6e-5
"""Range of the total energy after step 400, of a program of the same rules."""

ERRORS = {0.005: 1.1496e-3, 0.0025: 2.9005e-4, 0.00125: 7.2475e-5}
"""Largest |E - E0| an atom of a melt of 500 within time 0.15, double, by length of a step."""

CHANGES = {0.005: 1.5e-4, 0.002: 4.3e-5, 0.001: 1.3e-5}
"""Change of E an atom of a melt of 4000 between time 0 and 2, single, by length of a step."""


def advanced(engine, first, last):
    """Make steps and wait for them."""
    for at in range(first, last + 1, LOG_TICKS):
        engine.run_ticks(at, min(at + LOG_TICKS - 1, last))
    engine.wait()


def measured(engine, first, last):
    """Return seconds of some steps: wall, processor, and each kernel's by the device's timer."""
    device = engine.device
    device.launched = []
    began, used = time.perf_counter(), time.process_time()
    advanced(engine, first, last)
    wall, processor = time.perf_counter() - began, time.process_time() - used
    launched, device.launched = device.launched, None
    kernels = Counter()
    for bound, launch in launched:
        kernels[bound.kernel.name] += launch.seconds
    return wall, processor, kernels


def times(device, out, options):
    """Measure 1001 evaluations by lists, and some of each other variant from where that ends."""
    steps = 100 if options.small else EVALUATIONS - 1
    rows = []
    for cells in (6,) if options.small else CELLS:
        settings = {**GAS, "cells": cells, "record": {"series": 10**6}}
        p = WORKLOAD.parameters(societies.config_from_dict({**settings, "variant": "list"}))
        engine = DeviceEngine(WORKLOAD, p, device)
        engine.start()
        engine.wait()
        found = {"list": (steps, measured(engine, 1, steps))}
        state = {name: engine.state()[name][0].astype(np.float64) for name in "xv"}
        later = replace(
            p, positions=state["x"], speeds=state["v"], velocities="file", rescaled=0
        )  # fmt: skip
        for variant in VARIANTS[:2]:
            other = DeviceEngine(WORKLOAD, replace(later, variant=variant), device)
            other.start()
            advanced(other, 1, 1)
            found[variant] = (options.steps, measured(other, 2, 1 + options.steps))
        for variant, (count, (wall, processor, kernels)) in found.items():
            # what the machine's other work took away, it also took from the kernels
            own = processor / device.compute_units if device.kind == "cpu" else wall
            share = own / wall if device.kind == "cpu" else 1.0
            known = (device.name, p.atoms, variant, count)
            whole = {"loop": own, **{name: share * one for name, one in kernels.items()}}
            for name, seconds in whole.items():
                taken = wall if name == "loop" else kernels[name]
                rows.append((*known, name, f"{taken:.6g}", f"{seconds * EVALUATIONS / count:.6g}"))
            said = f"{EVALUATIONS * own / count:.2f} s ({wall:.2f} s of {count} by the clock)"
            print(f"{p.atoms} atoms, {variant}: {said}", flush=True)
        host = [np.zeros((p.atoms, 3), np.float32) for _ in range(3)]
        arrays, each = [device.array(one) for one in host], []
        for _ in range(5):
            began = time.perf_counter()
            for array, one in zip(arrays, host, strict=True):
                array.set(one)
                array.get()
            each.append(time.perf_counter() - began)
        middle = statistics.median(each)
        copies = (device.name, p.atoms, "copies", 5, "x, v and F", f"{middle:.6g}")
        rows.append((*copies, f"{EVALUATIONS * middle:.6g}"))
    columns = ("device", "atoms", "variant", "evaluations", "part", "seconds", "of_1001")
    write(out / "times.csv", columns, rows)


def recorded(device, path, config):
    """Run a configuration; return its results in memory, without the file."""
    path.unlink(missing_ok=True)  # of a run that was stopped
    societies.run(societies.config_from_dict(config), device=device, out=path)
    results = societies.open_results(path).load()
    results.close()
    path.unlink()
    return results


def gas(device, out, options):
    """Repeat the published run; note its energies step by step, and their averages."""
    config = {**GAS, "cells": 5 if options.small else 16, "steps": 1000, "record": {"series": 1}}
    results = recorded(device, out / "gas.h5", config)
    series = {name: results[name].values[0] for name in AVERAGES}
    rows = [  # the start is not among them: step 1 is the first that is recorded
        (step, *(f"{series[name][step - 1]:.9g}" for name in AVERAGES))
        for step in range(1, 1001)
        if step % 5 == 0 or step > 400
    ]
    write(out / "gas.csv", ("step", *AVERAGES), rows)
    rows = []
    for name, (published, allowed) in AVERAGES.items():
        mean = series[name][400:].mean()
        rows.append((name, f"{mean:.5f}", published, allowed))
        print(f"{name}: {mean:.5f}, published {published}", flush=True)
    drift = np.ptp(series["total_energy"][400:])
    rows.append(("range of the total energy", f"{drift:.2g}", DRIFT, 1e-4))
    print(f"range of the total energy: {drift:.2g}", flush=True)
    write(out / "averages.csv", ("quantity", "ours", "published", "allowed"), rows)


def steps(device, out, options):
    """Measure the error of a melt's energy by the length of a step."""
    melt = {"workload": "molecular_dynamics", "density": 0.8442, "temperature": 1.44}
    short = {"cells": 5, "form": "shifted_force", "precision": "double"}
    long = {"cells": 5 if options.small else 10, "form": "shifted"}
    rows = []
    lasts = 0.2 if options.small else 2.0
    for settings, lasting, known in ((short, 0.15, ERRORS), (long, lasts, CHANGES)):
        atoms = 4 * settings["cells"] ** 3
        # before the first step its length matters to nothing but the kernels, which it is part of
        before = {**melt, **settings, "dt": next(iter(known)), "steps": 0}
        results = recorded(device, out / "melt.h5", before)
        start = float(results.U[0] + results.K[0]) / atoms
        for dt, published in list(known.items())[: 2 if options.small else None]:
            count = round(lasting / dt)
            config = {**melt, **settings, "dt": dt, "steps": count, "record": {"series": 1}}
            error = abs(recorded(device, out / "melt.h5", config).total_energy.values[0] - start)
            what, found = ("largest", error.max()) if settings is short else ("end", error[-1])
            rows.append((atoms, lasting, dt, what, f"{found:.4e}", published))
            print(f"dt {dt}, time {lasting}: {what} {found:.4e}, known {published}", flush=True)
    columns = ("atoms", "time", "dt", "which", "ours", "known")
    write(out / "steps.csv", columns, rows)


# ---------------------------------------------------------------- tables and figures


def write(path, columns, rows):
    """Write a table; the load of the machine belongs to what was measured."""
    load = f"{os.getloadavg()[0]:.1f}"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow((*columns, "load"))
        writer.writerows((*row, load) for row in rows)


def read(path):
    """Return the rows of a table, none if there is no such table."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def figure_of(title, x, y):
    """Return a figure and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.4), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    return figure, axes


COLOURS = {"particle": "#0072B2", "cell": "#009E73", "list": "#CC79A7"}
THEIRS = ("#E69F00", "#D55E00")
MARKERS = {"particle": "o", "cell": "s", "list": "^"}


def draw_times(out):
    """Draw figures 4 to 7 of the publication."""
    rows = read(out / "times.csv")
    if not rows:
        return
    device = rows[0]["device"]
    sums = Counter()
    for row in rows:
        forces = row["part"] == "forces" or row["part"] in FINDING
        for part in (row["part"], *(["finding and forces"] if forces else [])):
            sums[row["variant"], part, int(row["atoms"])] += float(row["of_1001"])

    def line(axes, variant, part, style="-", **more):
        points = sorted((n, s) for (v, of, n), s in sums.items() if (v, of) == (variant, part))
        colour = COLOURS.get(variant, "black")
        axes.plot(*zip(*points, strict=True), style, color=colour, ms=4, lw=1.2,
                  marker=MARKERS.get(variant, "v"), **more)  # fmt: skip

    def saved(figure, axes, number):
        axes.set(xscale="log", yscale="log")
        figure.legend(fontsize=7, ncols=2, loc="outside lower center")
        figure.savefig(out / f"figure_{number}.png", dpi=110)

    figure, axes = figure_of("Figure 4: 1001 evaluations of forces", "atoms", "seconds in kernels")
    for (variant, known), (place, api) in itertools.product(
        PUBLISHED.items(), enumerate(("OpenCL", "CUDA"))
    ):
        values = [pair[place] for pair in known.values()]
        axes.plot(list(known), values, "--", color=THEIRS[place], lw=1,
                  marker=MARKERS[variant], ms=3, label=f"C2070, {api}, {variant}")  # fmt: skip
    for variant in VARIANTS:
        line(axes, variant, "finding and forces", label=f"{device}, {variant}")
    saved(figure, axes, 4)

    figure, axes = figure_of("Figure 5: the whole loop of 1001 steps", "atoms", "seconds")
    for place, name in enumerate(("C2070, OpenCL", "C2070, CUDA", "one core, as published")):
        colour = (*THEIRS, "grey")[place]
        values = [one[place] for one in LOOP.values()]
        axes.plot(list(LOOP), values, "--", color=colour, lw=1, label=name)
    for variant in VARIANTS:
        line(axes, variant, "loop", label=f"{device}, {variant}")
    saved(figure, axes, 5)

    figure, axes = figure_of("Figure 6: kernels and copies of 1001 steps", "atoms", "seconds")
    for (place, api), (atoms, values) in itertools.product(
        enumerate(("OpenCL", "CUDA")), TRANSFERS.items()
    ):
        axes.plot([atoms], [values[place]], "x", color=THEIRS[place], label=f"C2070, {api}: copies")
    for place, api in enumerate(("OpenCL", "CUDA")):
        known = PUBLISHED["particle"]
        values = [pair[place] for pair in known.values()]
        axes.plot(list(known), values, "--", color=THEIRS[place], lw=1,
                  label=f"C2070, {api}: kernels, particle")  # fmt: skip
    for variant in ("particle", "list"):
        line(axes, variant, "finding and forces", label=f"{device}: kernels, {variant}")
    line(axes, "copies", "x, v and F", ":", label=f"{device}: if it copied as the original did")
    saved(figure, axes, 6)

    draw_kernels(out, sums)


def draw_kernels(out, sums):
    """Draw which share of a step each kernel takes, by atoms and variant."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    kernels = dict.fromkeys(
        part for _, part, _ in sums if part not in ("loop", "finding and forces", "x, v and F")
    )
    for axes, variant in zip(figure.subplots(1, 3, sharey=True), VARIANTS, strict=True):
        sizes = sorted({n for v, _, n in sums if v == variant})
        below = np.zeros(len(sizes))
        for number, kernel in enumerate(kernels):
            values = np.array([sums[variant, kernel, n] for n in sizes]) / EVALUATIONS
            each = 1e9 * values / np.array(sizes)
            axes.bar(range(len(sizes)), each, bottom=below, color=f"C{number % 10}",
                     hatch="//" if number > 9 else "", label=kernel)  # fmt: skip
            below += each
        axes.set(title=variant, xlabel="thousand atoms")
        axes.set_xticks(range(len(sizes)), [f"{n / 1000:.0f}" for n in sizes], fontsize=7)
    figure.axes[0].set_ylabel("nanoseconds an atom and step")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize=7)
    figure.suptitle("Figure 7: a step by kernel")
    figure.savefig(out / "figure_7.png", dpi=110)


def draw_gas(out):
    """Draw the energies of the published run."""
    rows = read(out / "gas.csv")
    if not rows:
        return
    figure, axes = figure_of(
        "The published run: heated for 400 steps, then alone", "step", "epsilon an atom"
    )
    at = [int(row["step"]) for row in rows]
    names = ("total_energy", "kinetic_energy", "potential_energy")
    for name, colour in zip(names, COLOURS.values(), strict=True):
        label = name.replace("_", " ")
        axes.plot(at, [float(row[name]) for row in rows], color=colour, lw=1.2, label=label)
        axes.plot([400, 1000], [AVERAGES[name][0]] * 2, "--", color=colour, lw=1,
                  label=f"{label}, published average")  # fmt: skip
    axes.axvline(400, color="grey", lw=0.8)
    figure.legend(fontsize=7, ncols=3, loc="outside lower center")
    figure.savefig(out / "gas.png", dpi=110)


def draw_steps(out):
    """Draw the error of the energy by the length of a step."""
    rows = read(out / "steps.csv")
    if not rows:
        return
    figure, axes = figure_of(
        "Error of the energy by the length of a step", "dt [tau]", "|E - E0| an atom [epsilon]"
    )
    for which, colour, name in (
        ("largest", "#0072B2", "the largest within time 0.15"),
        ("end", "#009E73", "between time 0 and 2"),
    ):
        of = [row for row in rows if row["which"] == which]
        at = [float(row["dt"]) for row in of]
        axes.plot(at, [float(row["ours"]) for row in of], "o-", color=colour, label=name)
        axes.plot(at, [float(row["known"]) for row in of], "x--", color="#D55E00",
                  label=f"{name}, known")  # fmt: skip
        first = float(of[0]["ours"])
        axes.plot(at, [first * (dt / at[0]) ** 2 for dt in at], ":", color="grey", lw=1,
                  label="dt squared" if which == "end" else None)  # fmt: skip
    axes.set(xscale="log", yscale="log")
    axes.legend(fontsize=7)
    figure.savefig(out / "steps.png", dpi=110)


PARTS = {one.__name__: one for one in (gas, steps, times)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--steps", type=int, default=5, help="of the variants that are no list")
    parser.add_argument("--small", action="store_true", help="few atoms, to try it")
    parser.add_argument("--draw", action="store_true", help="draw the figures only")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}: {', '.join(PARTS)}")
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.draw:
        device = societies.choose_device(options.device)
        print(device, flush=True)
        for part in options.parts or PARTS:
            PARTS[part](device, options.out, options)
    for draw in (draw_times, draw_gas, draw_steps):
        draw(options.out)


if __name__ == "__main__":
    main()
