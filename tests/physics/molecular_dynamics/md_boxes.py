"""Boxes of atoms in the reference and on a device, for the tests next to this."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from reference_py.physics.molecular_dynamics.parameters import Parameters
from reference_py.primitives.rng import stream_base
from societies.physics.molecular_dynamics import WORKLOAD
from societies.workload.running.engines import DeviceEngine, ReferenceEngine

DATA = Path(__file__).parents[2] / "data" / "physics"
SYSTEMS = json.loads((DATA / "md.json").read_text())
NIST = json.loads((DATA / "nist-lj.json").read_text())
VARIANTS = ("all_pairs", "particle", "cell", "sorted", "list")


def system(name, **more):
    """Return the parameters of a system of ``md.json``."""
    of = SYSTEMS[name]
    return Parameters(
        atoms=of["N"],
        length=float.fromhex(of["L"]),
        cutoff=of["cutoff"],
        dt=of["dt"],
        temperature=of["temperature"],
        form=of["form"],
        degrees=3 * of["N"] - 3,
        cells_of_lattice=of["nc"],
        stream_base=stream_base(of["seed"]),
        precision=name.split()[-1],
        **more,
    )


def crystal(cells, density, *, temperature=1.44, **more):
    """Return the parameters of atoms on a lattice."""
    atoms = 4 * cells**3
    return Parameters(
        atoms=atoms,
        length=(atoms / density) ** (1 / 3),
        temperature=temperature,
        degrees=3 * atoms - 3,
        cells_of_lattice=cells,
        stream_base=stream_base(1),
        **more,
    )


def placed(x, length, *, speeds=None, precision="double", **more):
    """Return the parameters of atoms at given places."""
    x = np.asarray(x, float)
    return Parameters(
        atoms=len(x),
        length=length,
        degrees=3 * len(x) - 3,
        positions=x,
        speeds=np.zeros_like(x) if speeds is None else np.asarray(speeds, float),
        velocities="file",
        precision=precision,
        **more,
    )


class AsOnGpu(type(WORKLOAD)):
    """The workload with kernels that are compiled as for a GPU."""

    def source(self, p):
        source = super().source(p)
        return replace(source, macros={**source.macros, "DEVICE_IS_CPU": False})


def engine(p, device=None, *, copies=1, first=0, work_items=None, gpu=False):
    """Return an engine that has started; without a device the reference."""
    if device is None:
        made = ReferenceEngine(WORKLOAD, p, copies=copies, first=first)
    else:
        workload = AsOnGpu() if gpu else WORKLOAD
        made = DeviceEngine(workload, p, device, copies=copies, first=first, work_items=work_items)
    made.start()
    return made


def after(p, steps, device=None, **more):
    """Return the state after some steps, energies included."""
    made = engine(p, device, **more)
    if steps:
        made.run_ticks(1, steps)
    made.finish()
    return made.state()


def different(found, expected):
    """Return the names of arrays that differ in a bit."""
    return [name for name in found if found[name].tobytes() != expected[name].tobytes()]


def digest(array):
    """Return the SHA-256 of an array's little-endian bytes."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(little.tobytes()).hexdigest()
