"""Do other programs agree: OpenMM on an energy; MDAnalysis and ASE on what is in a trajectory?"""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from md_boxes import after, engine, system

import societies
from societies import config_from_dict
from societies.analysis.exporting import export


def needs(name):
    """Return the mark that skips a test where a program is not installed."""
    return pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed")


def energy_of_openmm(p, x):
    """Return the energy of atoms at (atom, axis) by OpenMM's CPU platform."""
    import openmm

    box, force = openmm.System(), openmm.NonbondedForce()
    box.setDefaultPeriodicBoxVectors(*(np.eye(3) * p.length).tolist())
    force.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(p.cutoff)
    force.setUseDispersionCorrection(False)
    force.setReactionFieldDielectric(1.0)
    for _ in range(p.atoms):
        box.addParticle(1.0)
        force.addParticle(0.0, 1.0, 1.0)
    box.addForce(force)
    platform = openmm.Platform.getPlatformByName("CPU")
    context = openmm.Context(box, openmm.VerletIntegrator(p.dt), platform)
    context.setPositions(x.tolist())
    energy = context.getState(getEnergy=True).getPotentialEnergy()
    return energy.value_in_unit(openmm.unit.kilojoule_per_mole)


@needs("openmm")
@pytest.mark.parametrize("steps", [0, 20])
def test_openmm_finds_the_same_energy(steps):
    """Of a lattice and of moved atoms, to 1e-6 of it; a plain cutoff, as OpenMM's."""
    p = replace(system("melt plain double"), variant="all_pairs")
    made = engine(p)
    if steps:
        made.run_ticks(1, steps)
    made.finish()
    state = made.state()
    expected = energy_of_openmm(p, state["x"][0].astype(np.float64))
    assert float(state["U"][0]) == pytest.approx(expected, rel=1e-6)
    other = replace(p, cutoff=p.cutoff - 0.5)
    assert float(after(other, 0)["U"][0]) != pytest.approx(expected, rel=1e-3)


@pytest.fixture(scope="module")
def trajectory(tmp_path_factory):
    """Return a result with three recorded steps of 32 atoms, and its trajectory."""
    folder = tmp_path_factory.mktemp("trajectory")
    settings = {"cells": 2, "steps": 6, "record": {"series": 2, "detail": 2}}
    config = config_from_dict({"workload": "molecular_dynamics", **settings})
    societies.run(config, out=folder / "gas.h5", device="reference")
    (path,) = export(folder / "gas.h5", "xyz", folder / "gas.xyz")
    with societies.open_results(folder / "gas.h5") as results:
        x, v = (results[f"detail_{name}"].values[0].astype(np.float64) for name in "xv")
    return path, config.length, x, v


@needs("ase")
def test_ase_reads_a_trajectory(trajectory):
    import ase.io

    path, length, x, v = trajectory
    frames = ase.io.read(path, index=":", format="extxyz")
    assert len(frames) == len(x) >= 3
    for number, frame in enumerate(frames):
        assert np.allclose(frame.positions, x[number], rtol=1e-7, atol=1e-8)
        assert np.allclose(frame.arrays["velo"], v[number], rtol=1e-7, atol=1e-8)
        assert np.allclose(frame.cell.array, np.eye(3) * length) and frame.pbc.all()
        assert frame.symbols[0] == "Ar"


@needs("MDAnalysis")
def test_mdanalysis_reads_a_trajectory(trajectory):
    import MDAnalysis

    path, _, x, _ = trajectory
    universe = MDAnalysis.Universe(str(path), format="XYZ", topology_format="XYZ")
    assert len(universe.atoms) == x.shape[1] and len(universe.trajectory) == len(x)
    for number, _frame in enumerate(universe.trajectory):
        assert np.allclose(universe.atoms.positions, x[number], rtol=1e-6, atol=1e-6)
